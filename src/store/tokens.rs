//! Tokens: who may do what.

use cronwright_core::ids::JobId;
use cronwright_core::time::{HOUR, Millis};

use super::cells::{Reader, to_json};
use super::{Cell, Database, Query, Row, StoreError, all, change, first, page};

/// A token, without the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    /// Its public id.
    pub id: String,
    /// For people; the audit names it.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The jobs it is limited to; none means all.
    pub jobs: Option<Vec<JobId>>,
    /// When it was created.
    pub created_at: Millis,
    /// By which token, or `setup`.
    pub created_by: String,
    /// When it ends by itself.
    pub expires_at: Option<Millis>,
    /// When it was revoked.
    pub revoked_at: Option<Millis>,
    /// When it was last used, to the hour.
    pub last_used_at: Option<Millis>,
}

impl TokenRow {
    /// Whether it opens anything at `now`.
    #[must_use]
    pub fn is_live(&self, now: Millis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// What a token may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look.
    Viewer,
    /// Look, and change jobs and runs.
    Operator,
    /// Everything.
    Admin,
}

impl Role {
    /// Every role, the weakest first.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    /// The name on the wire and in D1.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }

    /// The role of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[
    ("tokens::CREATE", CREATE),
    ("tokens::BY_HASH", BY_HASH),
    ("tokens::GET", GET),
    ("tokens::LIST", LIST),
    ("tokens::REVOKE", REVOKE),
    ("tokens::TOUCH", TOUCH),
];

const CREATE: &str = "
INSERT INTO tokens (token_id, hash, name, role, jobs, created_at, created_by, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (token_id) DO NOTHING";

const BY_HASH: &str = "
SELECT token_id, name, role, jobs, created_at, created_by, expires_at, revoked_at, last_used_at FROM tokens WHERE hash = ?1";

const GET: &str = "
SELECT token_id, name, role, jobs, created_at, created_by, expires_at, revoked_at, last_used_at FROM tokens WHERE token_id = ?1";

const LIST: &str = "
SELECT token_id, name, role, jobs, created_at, created_by, expires_at, revoked_at, last_used_at FROM tokens
WHERE token_id > ?1 ORDER BY token_id LIMIT ?2";

const REVOKE: &str = "UPDATE tokens SET revoked_at = ?2 WHERE token_id = ?1 AND revoked_at IS NULL";

const TOUCH: &str = "UPDATE tokens SET last_used_at = ?2 WHERE token_id = ?1 AND (last_used_at IS NULL OR last_used_at < ?3)";

/// Keeps a new token; `hash` is the SHA-256 of the token in hexadecimal. Marks of use and revocation in
/// `token` are not kept. False if there is a token of that id.
///
/// # Errors
/// When the database fails.
pub async fn create(db: &impl Database, token: &TokenRow, hash: &str) -> Result<bool, StoreError> {
    Ok(change(db, Query::new(CREATE, values(token, hash)?)).await? > 0)
}

/// The token with that hash, live or not: see [`TokenRow::is_live`].
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn by_hash(db: &impl Database, hash: &str) -> Result<Option<TokenRow>, StoreError> {
    first(db.read(Query::new(BY_HASH, [hash.into()])).await?, read)
}

/// The token of that id, live or not.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn get(db: &impl Database, id: &str) -> Result<Option<TokenRow>, StoreError> {
    first(db.read(Query::new(GET, [id.into()])).await?, read)
}

/// A page of tokens, live or not, in the order of their ids.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn list(
    db: &impl Database,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<TokenRow>, StoreError> {
    all(
        db.read(Query::new(LIST, [after.unwrap_or("").into(), page(limit)]))
            .await?,
        read,
    )
}

/// Revokes a token; its sessions end with it. False if it is gone or was revoked before.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn revoke(db: &impl Database, id: &str, now: Millis) -> Result<bool, StoreError> {
    Ok(change(db, Query::new(REVOKE, [id.into(), now.into()])).await? > 0)
}

/// Notes that a token was used, at most once an hour, so that reading costs no rows written. Call it only
/// where [`TokenRow::last_used_at`] is an hour old, to save the request too.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn touch(db: &impl Database, id: &str, now: Millis) -> Result<(), StoreError> {
    change(
        db,
        Query::new(TOUCH, [id.into(), now.into(), now.plus(-HOUR).into()]),
    )
    .await?;
    Ok(())
}

/// The values of [`CREATE`], which setup uses too.
pub(super) fn values(token: &TokenRow, hash: &str) -> Result<Vec<Cell>, StoreError> {
    let jobs = token
        .jobs
        .as_ref()
        .map(|jobs| to_json("tokens", "jobs", jobs))
        .transpose()?;
    Ok(vec![
        token.id.as_str().into(),
        hash.into(),
        token.name.as_str().into(),
        token.role.as_str().into(),
        jobs.into(),
        token.created_at.into(),
        token.created_by.as_str().into(),
        token.expires_at.into(),
    ])
}

fn read(row: Row) -> Result<TokenRow, StoreError> {
    read_from(&mut Reader::new("tokens", row))
}

/// The columns of a token, in the order of [`GET`].
pub(super) fn read_from(row: &mut Reader) -> Result<TokenRow, StoreError> {
    Ok(TokenRow {
        id: row.text("token_id")?,
        name: row.text("name")?,
        role: row.word("role", Role::parse)?,
        jobs: row.opt_word("jobs", |text| serde_json::from_str(text).ok())?,
        created_at: row.millis("created_at")?,
        created_by: row.text("created_by")?,
        expires_at: row.opt_millis("expires_at")?,
        revoked_at: row.opt_millis("revoked_at")?,
        last_used_at: row.opt_millis("last_used_at")?,
    })
}
