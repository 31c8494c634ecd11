//! The one door to an object's own SQLite.
//!
//! Only `raw()` is used to read: its iterator returns errors, while `one()` on no row hangs the
//! request for ever.

use std::cell::Cell;
use std::rc::Rc;

use worker::{SqlStorage, SqlStorageValue, Storage};

/// Storage failed. What was asked did not happen; what is in memory may be ahead of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("storage: {0}")]
pub struct StorageError(pub String);

/// An object's SQLite, with counts of what it was asked.
#[derive(Clone)]
pub struct Sql {
    raw: SqlStorage,
    written: Rc<Cell<u64>>,
}

/// One row, column by column.
pub struct Row(Vec<SqlStorageValue>);

impl Sql {
    /// The SQLite of this storage.
    pub fn new(storage: &Storage) -> Self {
        Self {
            raw: storage.sql(),
            written: Rc::new(Cell::new(0)),
        }
    }

    /// Runs one statement and gives all its rows.
    ///
    /// # Errors
    /// When SQLite refuses it.
    pub fn run(&self, text: &str, binds: Vec<SqlStorageValue>) -> Result<Vec<Row>, StorageError> {
        let wrap = |error: worker::Error| StorageError(error.to_string());
        #[expect(
            clippy::disallowed_methods,
            reason = "the one door to an object's SQLite"
        )]
        let cursor = self.raw.exec(text, binds).map_err(wrap)?;
        let rows = cursor
            .raw()
            .map(|row| row.map(Row).map_err(wrap))
            .collect::<Result<Vec<_>, _>>()?;
        self.count(u64::try_from(cursor.rows_written()).unwrap_or(0));
        Ok(rows)
    }

    /// Rows written since the object was loaded; an alarm counts as one.
    pub fn written(&self) -> u64 {
        self.written.get()
    }

    /// Counts rows that something else than a statement wrote.
    pub fn count(&self, rows: u64) {
        self.written.set(self.written.get().saturating_add(rows));
    }
}

impl Row {
    /// Text in a column; empty when it is anything else.
    pub fn text(&self, column: usize) -> &str {
        match self.0.get(column) {
            Some(SqlStorageValue::String(text)) => text,
            _ => "",
        }
    }

    /// A number in a column; none when it is anything else.
    pub fn number(&self, column: usize) -> Option<i64> {
        match self.0.get(column) {
            Some(SqlStorageValue::Integer(number)) => Some(*number),
            _ => None,
        }
    }
}

/// Reads a record that was stored as JSON.
///
/// # Errors
/// When it is not what is expected: the name of the record is in the message.
pub fn read<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, StorageError> {
    serde_json::from_str(text)
        .map_err(|error| StorageError(format!("{what} cannot be read: {error}")))
}

/// Writes a record as JSON.
///
/// # Errors
/// When it has no JSON form, which no record of ours lacks.
pub fn write<T: serde::Serialize>(what: &str, value: &T) -> Result<String, StorageError> {
    serde_json::to_string(value)
        .map_err(|error| StorageError(format!("{what} cannot be written: {error}")))
}
