//! Every change, and by whom.

use cronwright_core::time::Millis;
use serde_json::Value;

use super::cells::{Reader, to_json};
use super::{Database, Query, Row, StoreError, all, change, page};

/// A change somebody made.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// When.
    pub at: Millis,
    /// The token's name, or `system`.
    pub actor: String,
    /// What, as `noun.verb`: `job.create`, `token.revoke`.
    pub action: String,
    /// On what: an id, or `-`.
    pub object: String,
    /// Particulars, never a secret.
    pub detail: Value,
    /// The request; with action and object it makes the entry unique.
    pub request_id: String,
}

/// An entry and its place in the order of entries.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    /// Grows with every entry.
    pub id: u64,
    /// The entry.
    pub entry: AuditEntry,
}

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[
    ("audit::APPEND", APPEND),
    ("audit::LIST", LIST),
    ("audit::PRUNE", PRUNE),
];

const APPEND: &str = "
INSERT INTO audit (at, actor, action, object, detail, request_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (request_id, action, object) DO NOTHING";

const LIST: &str = "
SELECT audit_id, at, actor, action, object, detail, request_id FROM audit WHERE audit_id < ?1 ORDER BY audit_id DESC LIMIT ?2";

const PRUNE: &str = "DELETE FROM audit WHERE audit_id IN (SELECT audit_id FROM audit WHERE at < ?1 ORDER BY at LIMIT ?2)";

/// Adds an entry; one request's entry about one action on one object is added once.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn append(db: &impl Database, entry: &AuditEntry) -> Result<(), StoreError> {
    let values = [
        entry.at.into(),
        entry.actor.as_str().into(),
        entry.action.as_str().into(),
        entry.object.as_str().into(),
        to_json("audit", "detail", &entry.detail)?.into(),
        entry.request_id.as_str().into(),
    ];
    change(db, Query::new(APPEND, values)).await?;
    Ok(())
}

/// A page of entries, newest first, before the one with the number `before`.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn list(
    db: &impl Database,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<AuditRow>, StoreError> {
    // Numbers travel as doubles, exact up to 2⁵³.
    let before = Millis(
        before
            .and_then(|id| i64::try_from(id).ok())
            .unwrap_or(1 << 53),
    );
    all(
        db.read(Query::new(LIST, [before.into(), page(limit)]))
            .await?,
        read,
    )
}

/// Removes at most `limit` entries older than `before`. Answers how many.
pub(super) async fn prune(
    db: &impl Database,
    before: Millis,
    limit: u32,
) -> Result<u64, StoreError> {
    change(db, Query::new(PRUNE, [before.into(), limit.into()])).await
}

fn read(row: Row) -> Result<AuditRow, StoreError> {
    let mut row = Reader::new("audit", row);
    Ok(AuditRow {
        id: row.int("audit_id")?,
        entry: AuditEntry {
            at: row.millis("at")?,
            actor: row.text("actor")?,
            action: row.text("action")?,
            object: row.text("object")?,
            detail: row.json("detail")?,
            request_id: row.text("request_id")?,
        },
    })
}
