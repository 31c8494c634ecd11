//! The record of one run, all attempts included.

use serde::{Deserialize, Serialize};

use super::def::CallbackTarget;
use crate::ids::{JobId, RunId};
use crate::outcome::{CallbackState, FetchFault, RunState};
use crate::time::Millis;

/// A run: what was planned, what happened, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Counts the runs of a job from 1, in the order they were recorded.
    pub seq: u64,
    /// The public id, `scheduleId`.
    pub id: RunId,
    /// What made it.
    pub trigger: Trigger,
    /// When it was recorded.
    pub triggered_at: Millis,
    /// Counts the stored changes of this record, so that a late copy never replaces a newer one.
    pub rev: u32,
    /// Where it stands.
    pub state: RunState,
    /// The definition's revision that the last attempt used.
    pub revision: u32,
    /// Attempts that count against the retry policy.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub attempts: u32,
    /// Attempts that were lost by infrastructure; they count separately, at most three.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub losses: u32,
    /// Fence of the last attempt; 0 before the first.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub fence: u64,
    /// The attempt that is out, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<Active>,
    /// Why the run waits, and for what; only while it has no active attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// End of the whole run, if it has a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Millis>,
    /// When the first attempt was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    /// When the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// The how-manieth end of its job this was: clocks may stand still or go back. 0 for runs that ended
    /// before this was counted, and while it is open.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub ended_as: u64,
    /// Result of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<AttemptResult>,
    /// Latest report of the callee while it runs, at most 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// Input of a manual run, as JSON text; a replay has the input of the run it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<String>,
    /// For a record that stands for many missed occurrences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<SkippedRange>,
    /// Where the callback stands.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub callback: CallbackState,
    /// The number of the endpoint's latest word about the callback: a lower one is old news.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub callback_word: u32,
    /// Effects that other objects have not acknowledged yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owed: Vec<Owed>,
    /// Every transition, oldest first; at most [`LEDGER_ROWS`], the middle is dropped with a mark.
    pub ledger: Vec<LedgerRow>,
}

/// Rows kept in a run's ledger.
pub const LEDGER_ROWS: usize = 60;

/// What stands in the ledger for rows that were dropped.
const LEFT_OUT: &str = "from here on, rows of this long story are left out";

/// What made a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Trigger {
    /// A planned instant.
    Schedule {
        /// How late the trigger was, in ms.
        #[serde(default)]
        late_ms: i64,
    },
    /// A planned instant that was missed and is made up for.
    CatchUp {
        /// How late the trigger was, in ms.
        late_ms: i64,
    },
    /// By hand or through the API.
    Manual {
        /// Who asked.
        by: String,
    },
    /// A past run again.
    Replay {
        /// Which.
        of: RunId,
        /// Who asked.
        by: String,
    },
    /// Another job's run ended.
    After {
        /// That job.
        job: JobId,
        /// That run.
        run: RunId,
        /// How it ended.
        ended: RunState,
    },
}

/// The attempt that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Active {
    /// Which right it holds.
    pub fence: u64,
    /// When it was handed over.
    pub since: Millis,
    /// When its time limit ends.
    pub timeout: Millis,
    /// When "may be stuck" is raised.
    pub warn: Millis,
    /// The callee answered 202: only `/complete` or a limit ends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    /// "May be stuck" was raised.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warned: bool,
    /// It was asked to stop, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stop>,
}

/// Why an attempt was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// On request.
    Cancel,
    /// A newer run takes its place.
    Replaced,
    /// The job was deleted.
    Deleted,
    /// The run's deadline passed.
    Deadline,
}

/// Why a run without an active attempt waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Waits {
    /// For the runs before it.
    Queue,
    /// For its next attempt.
    Retry {
        /// Not before.
        until: Millis,
    },
    /// For the time limit of a lost attempt, so that two never run at once.
    Lost {
        /// Not before.
        until: Millis,
        /// The run ends then, and this is why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<Stop>,
    },
}

/// What an attempt came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptResult {
    /// HTTP status, where there was a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Stable code of what went wrong: `http_500`, `timeout`, `network`, `blocked_target`, `lost`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// One line for people: the response's last line, or what went wrong. At most 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Captured output, at most 16 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Whether the output was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Duration of the attempt in ms, by the executor's clock.
    pub ms: i64,
}

/// The latest report of a callee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// When it arrived.
    pub at: Millis,
    /// 0–100, if the callee said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// What it said, at most 1,000 characters.
    pub message: String,
}

/// Many missed occurrences in one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedRange {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Millis,
    /// The last of them; the run's own instant.
    pub last: Millis,
}

/// Something another object has to be told, until it says that it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Owed {
    /// The endpoint has to take the callback.
    Callback {
        /// Where it goes: an edit after the end of the run changes nothing.
        target: CallbackTarget,
    },
    /// A job that runs after this one has to be told.
    Dependent {
        /// Which.
        job: JobId,
    },
}

/// One transition: when, to where, by whom, why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// When.
    pub at: Millis,
    /// The state after it.
    pub to: RunState,
    /// Who or what: `schedule`, `executor`, `recovery`, `receiver`, or a token's name.
    pub by: String,
    /// Why, in one clause.
    pub why: String,
    /// Fence of the attempt it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
}

impl Run {
    /// Whether the run has not ended yet.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.state.is_terminal()
    }

    /// Whether nothing about the run remains to be done.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.state.is_terminal() && self.owed.is_empty() && self.callback != CallbackState::Pending
    }

    /// The planned instant, or that of the trigger.
    #[must_use]
    pub fn planned_at(&self) -> Millis {
        self.id.at
    }

    /// Moves to `to` and says so in the ledger.
    pub(super) fn enter(&mut self, at: Millis, to: RunState, by: &str, why: impl Into<String>) {
        self.state = to;
        self.note(at, by, why);
    }

    /// A ledger row that changes no state.
    pub(super) fn note(&mut self, at: Millis, by: &str, why: impl Into<String>) {
        let fence = (self.fence > 0).then_some(self.fence);
        if self.ledger.len() >= LEDGER_ROWS {
            // The beginning and the end tell the story; repeats fill the middle.
            let middle = LEDGER_ROWS / 2;
            if let Some(row) = self.ledger.get_mut(middle) {
                LEFT_OUT.clone_into(&mut row.why);
            }
            self.ledger.remove(middle.saturating_add(1));
        }
        self.ledger.push(LedgerRow {
            at,
            to: self.state,
            by: by.to_owned(),
            why: why.into(),
            fence,
        });
    }
}

impl FetchFault {
    /// A sentence for people.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Timeout => "no complete response within the time limit",
            Self::Network => "the connection failed or broke off",
            Self::BlockedTarget => "the target is one that is never called from here",
            Self::Redirect => "a redirect was not followed",
            Self::Aborted => "stopped",
            Self::Internal => "the request could not be sent",
        }
    }
}
