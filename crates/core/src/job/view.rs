//! What others may read of a job. Read-only, and the same for the API, the pages and rebuilds.

use serde::{Deserialize, Serialize};

use super::def::Definition;
use super::run::Run;
use crate::ids::{JobRef, RunId};
use crate::outcome::RunState;
use crate::time::Millis;

/// Whether a job's schedule is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobStatus {
    /// Occurrences fire.
    Enabled,
    /// No occurrence fires; manual runs do.
    Paused,
    /// Gone for its owner; its last runs are still being settled.
    Deleted,
}

impl JobStatus {
    /// The name on the wire and in D1.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "ENABLED",
            Self::Paused => "PAUSED",
            Self::Deleted => "DELETED",
        }
    }

    /// The status of that name; `DISABLED` is taken for `PAUSED`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "ENABLED" => Some(Self::Enabled),
            "PAUSED" | "DISABLED" => Some(Self::Paused),
            "DELETED" => Some(Self::Deleted),
            _ => None,
        }
    }
}

/// A job as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    /// Where it lives.
    pub at: JobRef,
    /// The saved definition.
    pub definition: Definition,
    /// Counts the edits from 1; the ETag.
    pub revision: u32,
    /// Counts the changes of the schedule from 1; part of every occurrence's id.
    pub schedule_version: u32,
    /// Whether the schedule is on.
    pub status: JobStatus,
    /// When it was created.
    pub created_at: Millis,
    /// When it was last edited, paused or resumed.
    pub updated_at: Millis,
    /// The next planned instant.
    pub next_due: Option<Millis>,
    /// Runs that have not ended, oldest first.
    pub open: Vec<RunId>,
    /// The newest run, ended or not.
    pub last: Option<Run>,
    /// States of the newest runs, oldest first, at most 20.
    pub recent: Vec<RecentRun>,
    /// Median duration of the last successful runs, in ms.
    pub usual_ms: Option<i64>,
    /// Why the job is quarantined, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
}

/// One bar of the small run chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentRun {
    /// Which run.
    pub id: RunId,
    /// Where it stands.
    pub state: RunState,
    /// How long it took or has taken.
    pub ms: Option<i64>,
}
