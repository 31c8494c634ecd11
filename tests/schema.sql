CREATE TABLE apps (
  app_id           TEXT    NOT NULL PRIMARY KEY,
  name             TEXT    NOT NULL,
  key_version      INTEGER NOT NULL CHECK (key_version >= 1),
  -- During a rotation the previous version signs too.
  previous_version INTEGER CHECK (previous_version < key_version),
  previous_until   INTEGER,
  created_at       INTEGER NOT NULL,
  created_by       TEXT    NOT NULL,
  CHECK ((previous_version IS NULL) = (previous_until IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  audit_id   INTEGER NOT NULL PRIMARY KEY,
  at         INTEGER NOT NULL,
  actor      TEXT    NOT NULL,
  action     TEXT    NOT NULL,
  object     TEXT    NOT NULL,
  detail     TEXT    NOT NULL CHECK (json_valid(detail)),
  request_id TEXT    NOT NULL,
  -- A write whose answer was lost is repeated: it must not count twice.
  UNIQUE (request_id, action, object)
) STRICT;

CREATE TABLE endpoints (
  endpoint_id TEXT    NOT NULL PRIMARY KEY,
  app_id      TEXT    NOT NULL,
  url         TEXT    NOT NULL,
  breaker     TEXT    NOT NULL CHECK (breaker IN ('closed', 'open', 'half_open')),
  waiting     INTEGER NOT NULL,
  dead        INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job_labels (
  job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
  label  TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (job_id, label)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
  job_id        TEXT    NOT NULL PRIMARY KEY,
  -- Where the job lives: its object, and its number there.
  shard         INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  name          TEXT    NOT NULL,
  status        TEXT    NOT NULL CHECK (status IN ('ENABLED', 'PAUSED', 'DELETED')),
  revision      INTEGER NOT NULL,
  schedule_kind TEXT    NOT NULL CHECK (schedule_kind IN ('cron', 'every', 'at', 'after', 'none')),
  schedule_text TEXT,
  dialect       TEXT    CHECK (dialect IN ('quartz', 'unix', 'unix-seconds')),
  time_zone     TEXT,
  -- Every kind that is planned: a CHECK cannot be changed without copying the table.
  executor_kind TEXT    NOT NULL CHECK (executor_kind IN ('http', 'shell', 'sql', 'gpu', 'handler')),
  target        TEXT,
  owner         TEXT,
  pool          TEXT,
  app_id        TEXT,
  definition    TEXT    NOT NULL CHECK (json_valid(definition)),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
  -- The planned instant, or that of the trigger, in ms since the epoch.
  at           INTEGER NOT NULL,
  run_id       TEXT    NOT NULL,
  job_id       TEXT    NOT NULL,
  shard        INTEGER NOT NULL,
  number       INTEGER NOT NULL,
  seq          INTEGER NOT NULL,
  -- Counts the changes of the record: an older copy never replaces a newer one.
  rev          INTEGER NOT NULL,
  revision     INTEGER NOT NULL,
  state        TEXT    NOT NULL CHECK (state IN ('TRIGGERED', 'DISPATCHED', 'RUNNING', 'LOST', 'UNKNOWN', 'SUCCESS', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'SKIPPED')),
  trigger_kind TEXT    NOT NULL CHECK (trigger_kind IN ('schedule', 'catch_up', 'manual', 'replay', 'after')),
  -- Who asked, for a manual run or a replay.
  trigger_by   TEXT,
  -- The run that was replayed, or whose end was the trigger.
  trigger_run  TEXT,
  attempts     INTEGER NOT NULL,
  losses       INTEGER NOT NULL,
  fence        INTEGER NOT NULL,
  late_ms      INTEGER NOT NULL,
  triggered_at INTEGER NOT NULL,
  started_at   INTEGER,
  ended_at     INTEGER,
  duration_ms  INTEGER,
  http_status  INTEGER,
  error_code   TEXT,
  summary      TEXT,
  callback     TEXT    NOT NULL CHECK (callback IN ('NONE', 'PENDING', 'DONE', 'FAILED')),
  -- How many missed occurrences the row stands for.
  range_count  INTEGER,
  -- Transitions as a JSON array: a row for each would multiply the rows written per run.
  ledger       TEXT    NOT NULL CHECK (json_valid(ledger)),
  PRIMARY KEY (at, run_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  -- SHA-256 of the cookie's value, in hexadecimal.
  hash       TEXT    NOT NULL PRIMARY KEY,
  token_id   TEXT    NOT NULL REFERENCES tokens (token_id),
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE setup (
  only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
  token_id TEXT    NOT NULL,
  at       INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
  token_id     TEXT    NOT NULL PRIMARY KEY,
  -- SHA-256 of the token, in hexadecimal; the token itself is shown once.
  hash         TEXT    NOT NULL UNIQUE,
  name         TEXT    NOT NULL,
  role         TEXT    NOT NULL CHECK (role IN ('admin', 'operator', 'viewer')),
  -- The jobs it is limited to, as a JSON array of ids; NULL means all.
  jobs         TEXT    CHECK (jobs IS NULL OR json_valid(jobs)),
  created_at   INTEGER NOT NULL,
  created_by   TEXT    NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER
) STRICT;

CREATE INDEX audit_by_time ON audit (at);

CREATE INDEX endpoints_by_app ON endpoints (app_id, endpoint_id);

CREATE INDEX job_labels_by_label ON job_labels (label, job_id, value);

CREATE INDEX jobs_by_status ON jobs (status);

CREATE INDEX jobs_search ON jobs (job_id, name, status);

CREATE INDEX runs_notable ON runs (at, run_id, state, late_ms) WHERE state <> 'SUCCESS' OR late_ms >= 5000;

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE INDEX sessions_by_token ON sessions (token_id);
