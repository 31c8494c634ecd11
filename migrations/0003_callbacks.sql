-- Outside systems that take callbacks. Their secrets are derived from the master secret and a key
-- version, and are stored nowhere.
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

-- Where callbacks of one app and URL go. Queue and breaker live in the endpoint's object; the columns of
-- state are a copy that may be a minute old.
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

CREATE INDEX endpoints_by_app ON endpoints (app_id, endpoint_id);
