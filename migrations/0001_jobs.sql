-- Jobs as lists and filters need them: a copy of what the shards hold, rebuilt from them at any time.
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

-- Search reads this narrow index and fetches a definition only where it matches.
CREATE INDEX jobs_search ON jobs (job_id, name, status);
CREATE INDEX jobs_by_status ON jobs (status);

CREATE TABLE job_labels (
  job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
  label  TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (job_id, label)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_labels_by_label ON job_labels (label, job_id, value);
