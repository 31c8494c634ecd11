//! Small facts of an object: its name, the version of its storage, counters.

use super::sql::{Sql, StorageError};

/// Version of the storage format. Every past version stays readable.
pub const FORMAT: i64 = 1;

const CREATE: &str =
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID";
const GET: &str = "SELECT value FROM meta WHERE key = ?";
const PUT: &str = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
const DROP: &str = "DELETE FROM meta WHERE key = ?";

/// Makes the table.
///
/// # Errors
/// When storage fails, or was written by a newer version of this program.
pub fn open(sql: &Sql) -> Result<(), StorageError> {
    sql.run(CREATE, vec![])?;
    match get(sql, "format")?.map(|text| text.parse::<i64>()) {
        None => put(sql, "format", &FORMAT.to_string()),
        Some(Ok(format)) if format <= FORMAT => Ok(()),
        Some(other) => Err(StorageError(format!(
            "storage format {other:?} is newer than this program's {FORMAT}: deploy the newer version again"
        ))),
    }
}

/// A value.
///
/// # Errors
/// When storage fails.
pub fn get(sql: &Sql, key: &str) -> Result<Option<String>, StorageError> {
    Ok(sql
        .run(GET, vec![key.to_owned().into()])?
        .first()
        .map(|row| row.text(0).to_owned()))
}

/// Stores a value.
///
/// # Errors
/// When storage fails.
pub fn put(sql: &Sql, key: &str, value: &str) -> Result<(), StorageError> {
    sql.run(PUT, vec![key.to_owned().into(), value.to_owned().into()])
        .map(drop)
}

/// Drops a value.
///
/// # Errors
/// When storage fails.
pub fn drop_key(sql: &Sql, key: &str) -> Result<(), StorageError> {
    sql.run(DROP, vec![key.to_owned().into()]).map(drop)
}
