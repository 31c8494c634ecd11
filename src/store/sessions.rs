//! Sessions of browsers. Each belongs to a token and can do what the token can.

use cronwright_core::time::{MINUTE, Millis};

use super::cells::Reader;
use super::tokens::{self, TokenRow};
use super::{Database, Query, Row, StoreError, change, first};

/// A session and its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// When it began.
    pub created_at: Millis,
    /// When it was last used, to ten minutes.
    pub seen_at: Millis,
    /// When it ends by itself.
    pub expires_at: Millis,
    /// When it was ended.
    pub revoked_at: Option<Millis>,
    /// What it can do.
    pub token: TokenRow,
}

impl SessionRow {
    /// Whether it opens anything at `now`, when an unused one lasts `idle_ms`.
    #[must_use]
    pub fn is_live(&self, now: Millis, idle_ms: i64) -> bool {
        self.revoked_at.is_none()
            && now < self.expires_at
            && now.since(self.seen_at) < idle_ms
            && self.token.is_live(now)
    }
}

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[
    ("sessions::CREATE", CREATE),
    ("sessions::FIND", FIND),
    ("sessions::TOUCH", TOUCH),
    ("sessions::REVOKE", REVOKE),
];

const CREATE: &str = "
INSERT INTO sessions (hash, token_id, created_at, seen_at, expires_at) VALUES (?1, ?2, ?3, ?3, ?4) ON CONFLICT (hash) DO NOTHING";

const FIND: &str = "
SELECT sessions.created_at, seen_at, sessions.expires_at, sessions.revoked_at, tokens.token_id, name, role, jobs,
  tokens.created_at, created_by, tokens.expires_at, tokens.revoked_at, last_used_at
FROM sessions CROSS JOIN tokens ON tokens.token_id = sessions.token_id WHERE sessions.hash = ?1";

const TOUCH: &str = "UPDATE sessions SET seen_at = ?2 WHERE hash = ?1 AND seen_at < ?3";

const REVOKE: &str = "UPDATE sessions SET revoked_at = ?2 WHERE hash = ?1 AND revoked_at IS NULL";

/// Begins a session; `hash` is the SHA-256 of the cookie's value in hexadecimal.
///
/// # Errors
/// When the database fails, also where there is no such token.
pub async fn create(
    db: &impl Database,
    hash: &str,
    token_id: &str,
    now: Millis,
    expires_at: Millis,
) -> Result<(), StoreError> {
    change(
        db,
        Query::new(
            CREATE,
            [hash.into(), token_id.into(), now.into(), expires_at.into()],
        ),
    )
    .await?;
    Ok(())
}

/// The session with that hash, live or not: see [`SessionRow::is_live`].
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn find(db: &impl Database, hash: &str) -> Result<Option<SessionRow>, StoreError> {
    first(db.read(Query::new(FIND, [hash.into()])).await?, read)
}

/// Notes that a session was used, at most every ten minutes.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn touch(db: &impl Database, hash: &str, now: Millis) -> Result<(), StoreError> {
    change(
        db,
        Query::new(
            TOUCH,
            [hash.into(), now.into(), now.plus(-10 * MINUTE).into()],
        ),
    )
    .await?;
    Ok(())
}

/// Ends a session. False if it is gone or had ended before.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn revoke(db: &impl Database, hash: &str, now: Millis) -> Result<bool, StoreError> {
    Ok(change(db, Query::new(REVOKE, [hash.into(), now.into()])).await? > 0)
}

fn read(row: Row) -> Result<SessionRow, StoreError> {
    let mut row = Reader::new("sessions", row);
    Ok(SessionRow {
        created_at: row.millis("created_at")?,
        seen_at: row.millis("seen_at")?,
        expires_at: row.millis("expires_at")?,
        revoked_at: row.opt_millis("revoked_at")?,
        token: tokens::read_from(&mut row)?,
    })
}
