//! Where callbacks go: a copy of what the endpoints' objects hold.

use cronwright_core::ids::{AppId, EndpointId};
use cronwright_core::time::Millis;

use super::cells::Reader;
use super::{Database, Query, Row, StoreError, all, change, first, page};

/// An endpoint, as of its last projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointRow {
    /// Derived from app and URL.
    pub id: EndpointId,
    /// Whose secret signs.
    pub app: AppId,
    /// Where to.
    pub url: String,
    /// How its breaker stands.
    pub breaker: Breaker,
    /// Deliveries that wait.
    pub waiting: u32,
    /// Deliveries that were given up and can be replayed.
    pub dead: u32,
    /// When its first callback arrived.
    pub created_at: Millis,
    /// When this copy was made.
    pub updated_at: Millis,
}

/// How a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// Deliveries go out.
    Closed,
    /// Deliveries wait.
    Open,
    /// One probe is out.
    HalfOpen,
}

impl Breaker {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Closed, Self::Open, Self::HalfOpen];

    /// The name in D1.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[
    ("endpoints::UPSERT", UPSERT),
    ("endpoints::GET", GET),
    ("endpoints::LIST", LIST),
    ("endpoints::LIST_OF_APP", LIST_OF_APP),
];

const UPSERT: &str = "
INSERT INTO endpoints (endpoint_id, app_id, url, breaker, waiting, dead, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (endpoint_id) DO UPDATE SET breaker = excluded.breaker, waiting = excluded.waiting, dead = excluded.dead,
  updated_at = excluded.updated_at
WHERE excluded.updated_at > endpoints.updated_at";

const GET: &str = "
SELECT endpoint_id, app_id, url, breaker, waiting, dead, created_at, updated_at FROM endpoints WHERE endpoint_id = ?1";

const LIST: &str = "
SELECT endpoint_id, app_id, url, breaker, waiting, dead, created_at, updated_at FROM endpoints
WHERE endpoint_id > ?1 ORDER BY endpoint_id LIMIT ?2";

const LIST_OF_APP: &str = "
SELECT endpoint_id, app_id, url, breaker, waiting, dead, created_at, updated_at FROM endpoints
WHERE app_id = ?3 AND endpoint_id > ?1 ORDER BY endpoint_id LIMIT ?2";

/// Takes over an endpoint as it stands, unless a newer copy is here already.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn upsert(db: &impl Database, endpoint: &EndpointRow) -> Result<(), StoreError> {
    let values = [
        endpoint.id.as_str().into(),
        endpoint.app.as_str().into(),
        endpoint.url.as_str().into(),
        endpoint.breaker.as_str().into(),
        endpoint.waiting.into(),
        endpoint.dead.into(),
        endpoint.created_at.into(),
        endpoint.updated_at.into(),
    ];
    change(db, Query::new(UPSERT, values)).await?;
    Ok(())
}

/// One endpoint.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn get(db: &impl Database, id: &EndpointId) -> Result<Option<EndpointRow>, StoreError> {
    first(db.read(Query::new(GET, [id.as_str().into()])).await?, read)
}

/// A page of endpoints, of one app or of all, in the order of their ids.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn list(
    db: &impl Database,
    app: Option<&AppId>,
    after: Option<&EndpointId>,
    limit: u32,
) -> Result<Vec<EndpointRow>, StoreError> {
    let mut values = vec![after.map_or("", EndpointId::as_str).into(), page(limit)];
    let mut sql = LIST;
    if let Some(app) = app {
        sql = LIST_OF_APP;
        values.push(app.as_str().into());
    }
    all(db.read(Query::new(sql, values)).await?, read)
}

fn read(row: Row) -> Result<EndpointRow, StoreError> {
    let mut row = Reader::new("endpoints", row);
    Ok(EndpointRow {
        id: row.word("endpoint_id", |text| text.parse().ok())?,
        app: row.word("app_id", |text| text.parse().ok())?,
        url: row.text("url")?,
        breaker: row.word("breaker", Breaker::parse)?,
        waiting: row.int("waiting")?,
        dead: row.int("dead")?,
        created_at: row.millis("created_at")?,
        updated_at: row.millis("updated_at")?,
    })
}
