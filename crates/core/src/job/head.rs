//! What is kept of a job besides its definition and its runs.

use serde::{Deserialize, Serialize};

use super::view::JobStatus;
use crate::ids::JobId;
use crate::time::Millis;

/// The job's position. A host stores it with whatever record changes together with it, so that a
/// trigger is one row; the copy with the highest `rev` is the true one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Grows with every stored change.
    pub rev: u64,
    /// Whether the schedule is on.
    pub status: JobStatus,
    /// Counts the edits from 1.
    pub revision: u32,
    /// Counts the changes of the schedule from 1.
    pub schedule_version: u32,
    /// When the job was created.
    pub created_at: Millis,
    /// When it was last edited, paused or resumed.
    pub updated_at: Millis,
    /// The next planned instant, without jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_due: Option<Millis>,
    /// Every planned instant up to here has its record, or is not owed one; `next_due` is the first after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_to: Option<Millis>,
    /// `seq` of the newest run.
    pub last_seq: u64,
    /// The newest fence given out.
    pub last_fence: u64,
    /// Ends of runs that were counted so far.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub ends: u64,
    /// Every run with a lower `seq` is settled.
    pub settled_below: u64,
    /// Every run with a `seq` up to here is in D1 in its final form. Kept up lazily: behind is harmless.
    #[serde(default)]
    pub projected: u64,
    /// Runs up to `projected` that have changed since, and that D1 lacks in their new form; few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<u64>,
    /// Durations in ms of the last successful runs, newest last, at most [`DURATIONS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub durations: Vec<i64>,
    /// Jobs that run after this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependents: Vec<JobId>,
    /// Other jobs that have not heard yet that this one (no longer) runs after them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkOwed>,
    /// The tz database with which `next_due` was computed.
    pub tzdb: String,
}

/// Longest list of [`Head::changed`].
const MAX_CHANGED: usize = 64;

/// Durations kept for the median.
pub const DURATIONS: usize = 20;

/// Word owed to another job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkOwed {
    /// The job to tell.
    pub job: JobId,
    /// Whether this job runs after it from now on.
    pub on: bool,
}

impl Head {
    /// The head of a new job.
    pub(super) fn new(now: Millis, enabled: bool) -> Self {
        Self {
            rev: 0,
            status: if enabled {
                JobStatus::Enabled
            } else {
                JobStatus::Paused
            },
            revision: 1,
            schedule_version: 1,
            created_at: now,
            updated_at: now,
            next_due: None,
            recorded_to: None,
            last_seq: 0,
            last_fence: 0,
            ends: 0,
            settled_below: 1,
            projected: 0,
            changed: Vec::new(),
            durations: Vec::new(),
            dependents: Vec::new(),
            links: Vec::new(),
            tzdb: crate::schedule::tzdb_version().to_owned(),
        }
    }

    /// Median of the kept durations, in ms.
    #[must_use]
    pub fn usual_ms(&self) -> Option<i64> {
        let mut sorted = self.durations.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }

    /// Notes that an ended run has changed. When too many have, all from the first of them count.
    pub(super) fn note_changed(&mut self, seq: u64) {
        if seq > self.projected || self.changed.contains(&seq) {
            return;
        }
        self.changed.push(seq);
        if self.changed.len() > MAX_CHANGED {
            let first = self.changed.drain(..).min().unwrap_or(seq);
            self.projected = first.saturating_sub(1);
        }
    }

    /// Takes one more duration.
    pub(super) fn took(&mut self, ms: i64) {
        if self.durations.len() >= DURATIONS {
            self.durations.remove(0);
        }
        self.durations.push(ms);
    }
}
