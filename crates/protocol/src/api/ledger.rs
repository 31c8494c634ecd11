//! Why a run went as it did.

use cronwright_core::job::run as core;
use cronwright_core::schedule::rfc3339;
use serde::{Deserialize, Serialize};

/// Every transition of a run, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ledger {
    /// The run.
    pub schedule_id: String,
    /// The rows.
    pub rows: Vec<LedgerRow>,
}

/// One transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LedgerRow {
    /// When.
    pub at: String,
    /// The status after it.
    pub to: String,
    /// Who or what: `schedule`, `executor`, `recovery`, `receiver`, or a token's name.
    pub by: String,
    /// Why.
    pub why: String,
    /// Fence of the attempt it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
}

impl Ledger {
    /// The ledger of a run.
    #[must_use]
    pub fn of(run: &core::Run) -> Self {
        let rows = run.ledger.iter().map(|row| LedgerRow {
            at: rfc3339(row.at),
            to: row.to.as_str().to_owned(),
            by: row.by.clone(),
            why: row.why.clone(),
            fence: row.fence,
        });
        Self {
            schedule_id: run.id.to_string(),
            rows: rows.collect(),
        }
    }
}
