//! Outside systems that take callbacks.

use cronwright_core::ids::AppId;
use cronwright_core::time::Millis;

use super::cells::Reader;
use super::{Database, Query, Row, StoreError, all, change, first, page};

/// An app. Its secrets are derived from the master secret and a key version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppRow {
    /// Chosen by the owner.
    pub id: AppId,
    /// For people.
    pub name: String,
    /// The version of the secret that signs.
    pub key_version: u32,
    /// The version that signs too, and until when, during a rotation.
    pub previous: Option<(u32, Millis)>,
    /// When it was created.
    pub created_at: Millis,
    /// By which token.
    pub created_by: String,
}

impl AppRow {
    /// The versions of the secret that are live at `now`, newest first.
    #[must_use]
    pub fn live_versions(&self, now: Millis) -> Vec<u32> {
        let previous = self
            .previous
            .filter(|(_, until)| now < *until)
            .map(|(version, _)| version);
        std::iter::once(self.key_version).chain(previous).collect()
    }
}

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[
    ("apps::CREATE", CREATE),
    ("apps::GET", GET),
    ("apps::LIST", LIST),
    ("apps::ROTATE", ROTATE),
    ("apps::RETIRE", RETIRE),
];

const CREATE: &str = "
INSERT INTO apps (app_id, name, key_version, created_at, created_by) VALUES (?1, ?2, 1, ?3, ?4) ON CONFLICT (app_id) DO NOTHING";

const GET: &str = "
SELECT app_id, name, key_version, previous_version, previous_until, created_at, created_by FROM apps WHERE app_id = ?1";

const LIST: &str = "
SELECT app_id, name, key_version, previous_version, previous_until, created_at, created_by FROM apps
WHERE app_id > ?1 ORDER BY app_id LIMIT ?2";

// Names the version it replaces: a repeated call does not rotate twice.
const ROTATE: &str = "
UPDATE apps SET key_version = key_version + 1, previous_version = key_version, previous_until = ?3
WHERE app_id = ?1 AND key_version = ?2";

const RETIRE: &str = "
UPDATE apps SET previous_version = NULL, previous_until = NULL WHERE app_id = ?1 AND key_version = ?2";

/// Ends the key before the one of version `seen`, before its time. False if the app has moved on.
///
/// # Errors
/// When the database fails.
pub async fn retire(db: &impl Database, id: &AppId, seen: u32) -> Result<bool, StoreError> {
    Ok(change(db, Query::new(RETIRE, [id.as_str().into(), seen.into()])).await? > 0)
}

/// Registers an app with version 1 of its secret. False if there is one of that id already.
///
/// # Errors
/// When the database fails.
pub async fn create(
    db: &impl Database,
    id: &AppId,
    name: &str,
    now: Millis,
    by: &str,
) -> Result<bool, StoreError> {
    Ok(change(
        db,
        Query::new(
            CREATE,
            [id.as_str().into(), name.into(), now.into(), by.into()],
        ),
    )
    .await?
        > 0)
}

/// One app.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn get(db: &impl Database, id: &AppId) -> Result<Option<AppRow>, StoreError> {
    first(db.read(Query::new(GET, [id.as_str().into()])).await?, read)
}

/// A page of apps, in the order of their ids.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn list(
    db: &impl Database,
    after: Option<&AppId>,
    limit: u32,
) -> Result<Vec<AppRow>, StoreError> {
    let after = after.map_or("", AppId::as_str);
    all(
        db.read(Query::new(LIST, [after.into(), page(limit)]))
            .await?,
        read,
    )
}

/// Makes version `seen + 1` the one that signs; `seen` signs too until `until`. False if the app is gone
/// or its version is no longer `seen`.
///
/// # Errors
/// When the database fails.
pub async fn rotate(
    db: &impl Database,
    id: &AppId,
    seen: u32,
    until: Millis,
) -> Result<bool, StoreError> {
    Ok(change(
        db,
        Query::new(ROTATE, [id.as_str().into(), seen.into(), until.into()]),
    )
    .await?
        > 0)
}

fn read(row: Row) -> Result<AppRow, StoreError> {
    let mut row = Reader::new("apps", row);
    Ok(AppRow {
        id: row.word("app_id", |text| text.parse().ok())?,
        name: row.text("name")?,
        key_version: row.int("key_version")?,
        previous: row
            .opt_int("previous_version")?
            .zip(row.opt_millis("previous_until")?),
        created_at: row.millis("created_at")?,
        created_by: row.text("created_by")?,
    })
}
