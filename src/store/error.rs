//! Why the store has no answer.

use std::fmt;

/// Why the store has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The database failed or did not answer in time. A write may or may not have happened.
    Unavailable(String),
    /// A stored value is not what its column promises.
    Corrupt {
        /// Which table.
        table: &'static str,
        /// Which column.
        column: &'static str,
        /// What was found.
        detail: String,
    },
}

impl StoreError {
    /// A value that its column does not promise.
    pub(super) fn corrupt(
        table: &'static str,
        column: &'static str,
        detail: impl fmt::Display,
    ) -> Self {
        // Long values would drown the log, and may be secret.
        let detail = detail.to_string().chars().take(120).collect();
        Self::Corrupt {
            table,
            column,
            detail,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(detail) => write!(f, "the database did not answer: {detail}"),
            Self::Corrupt {
                table,
                column,
                detail,
            } => write!(f, "{table}.{column} holds what it should not: {detail}"),
        }
    }
}

impl std::error::Error for StoreError {}
