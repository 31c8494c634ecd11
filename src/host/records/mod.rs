//! What objects keep in their own SQLite, as keyed records.

pub mod jobs;
pub mod meta;
pub mod single;
pub mod sql;
pub mod wheel;

pub use sql::{Sql, StorageError};
