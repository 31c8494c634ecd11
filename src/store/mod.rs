//! D1, one file per table: the only SQL in the Worker.
//!
//! Runs, jobs and endpoints are copies of what the objects hold; no machine decides from them. Apps,
//! tokens, sessions and the audit live here alone.
//!
//! A write may have happened although its answer was lost, so every write can be repeated. A storage
//! failure is a [`StoreError`], never an absence.

pub mod apps;
pub mod audit;
pub mod endpoints;
pub mod jobs;
pub mod retention;
pub mod runs;
pub mod sessions;
pub mod setup;
pub mod tokens;

mod cells;
#[cfg(target_arch = "wasm32")]
mod d1;
mod error;
mod run_row;

pub use cells::{Cell, Query, Row};
pub use error::StoreError;

/// What a database does for the store. D1 in the Worker; SQLite itself in the tests, so that the code
/// that ships is the code that is tested.
pub trait Database {
    /// Rows of one query, their cells in the order of its columns.
    fn read(&self, query: Query) -> impl Future<Output = Result<Vec<Row>, StoreError>>;

    /// Writes of one transaction, and what each of them changed.
    fn write(&self, queries: Vec<Query>) -> impl Future<Output = Result<Vec<Written>, StoreError>>;
}

/// What a write changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows inserted, updated or deleted.
    pub changes: u64,
    /// What the platform bills: rows and index entries.
    pub rows_written: u64,
}

/// Every statement of the store by name, for the test that explains each against the schema.
#[must_use]
pub fn statements() -> Vec<(&'static str, &'static str)> {
    [
        apps::STATEMENTS,
        audit::STATEMENTS,
        endpoints::STATEMENTS,
        jobs::STATEMENTS,
        retention::STATEMENTS,
        runs::STATEMENTS,
        sessions::STATEMENTS,
        setup::STATEMENTS,
        tokens::STATEMENTS,
    ]
    .concat()
}

/// Rows a page of a list has at most.
pub const PAGE_LIMIT: u32 = 500;

/// The limit of a page as a cell.
fn page(limit: u32) -> Cell {
    limit.clamp(1, PAGE_LIMIT).into()
}

/// The first of the rows, read.
fn first<T>(
    rows: Vec<Row>,
    read: impl Fn(Row) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    rows.into_iter().next().map(read).transpose()
}

/// All rows, read.
fn all<T>(
    rows: Vec<Row>,
    read: impl Fn(Row) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(read).collect()
}

/// Runs one write and tells how many rows it changed.
async fn change(db: &impl Database, query: Query) -> Result<u64, StoreError> {
    let written = db.write(vec![query]).await?;
    Ok(written.iter().map(|one| one.changes).sum())
}
