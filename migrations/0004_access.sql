-- Who may do what. With apps, the only tables that cannot be rebuilt from the objects.
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

-- A browser's session. Role and scope are those of its token, so that revoking a token ends its sessions.
CREATE TABLE sessions (
  -- SHA-256 of the cookie's value, in hexadecimal.
  hash       TEXT    NOT NULL PRIMARY KEY,
  token_id   TEXT    NOT NULL REFERENCES tokens (token_id),
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX sessions_by_token ON sessions (token_id);

-- At most one row: whoever writes it first is the first administrator.
CREATE TABLE setup (
  only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
  token_id TEXT    NOT NULL,
  at       INTEGER NOT NULL
) STRICT;

-- Every change and by whom. Rows are added and, after their retention, removed; never changed.
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

CREATE INDEX audit_by_time ON audit (at);
