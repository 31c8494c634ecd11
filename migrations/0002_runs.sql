-- One row per run, and one row written for a run that simply succeeds (DESIGN.md, cost): the key is the
-- planned instant and the public id, which contains that instant, so that both "the newest" and "this
-- one" are key seeks. Runs of one job come from its shard.
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

-- What failed, is late, was skipped or is still running. A run that succeeded in time is never in it.
CREATE INDEX runs_notable ON runs (at, run_id, state, late_ms) WHERE state <> 'SUCCESS' OR late_ms >= 5000;
