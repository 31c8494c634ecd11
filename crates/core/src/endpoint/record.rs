//! What is stored. Every past form stays readable: fields are only added, with defaults.

use serde::{Deserialize, Serialize};

use super::breaker::Breaker;
use crate::ids::{AppId, EndpointId, JobId, RunId};
use crate::job::def::CallbackPreset;
use crate::outcome::FetchFault;
use crate::time::Millis;

/// The version of these records; `tests/endpoint_golden` holds a file of each.
pub const RECORD_VERSION: u32 = 1;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The endpoint's own record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Whose secret signs.
    pub app: AppId,
    /// Where to.
    pub url: String,
    /// Versions of the signing key that are live, newest first; one, or two during a rotation.
    pub key_versions: Vec<u32>,
    /// Whether attempts are let through.
    #[serde(default)]
    pub breaker: Breaker,
    /// When the first delivery came.
    pub created_at: Millis,
    /// Counters since then.
    #[serde(default)]
    pub stats: Stats,
}

impl Config {
    /// The endpoint's id.
    #[must_use]
    pub fn id(&self) -> EndpointId {
        EndpointId::of(&self.app, &self.url)
    }
}

/// Counters since the endpoint was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Stats {
    /// Deliveries that ended with a 2xx answer; a replayed one counts again.
    pub delivered: u64,
    /// Deliveries that were given up; a replayed one counts again.
    pub failed: u64,
    /// Attempts that ended, lost ones included.
    pub attempts: u64,
    /// When an attempt last got a 2xx answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_delivered_at: Option<Millis>,
    /// When an attempt last failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failed_at: Option<Millis>,
}

/// One run's result on its way to the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Whose result; `scheduleId` and `webhook-id` on the wire.
    pub run: RunId,
    /// Whose run; deliveries of one job go in order.
    pub job: JobId,
    /// The order within the job.
    pub seq: u64,
    /// How long it is tried.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preset: CallbackPreset,
    /// Where it stands.
    pub state: DeliveryState,
    /// Attempts used up in this round.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attempts: u32,
    /// Attempts ever started, lost ones and earlier rounds included: the number of the latest one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub starts: u32,
    /// Attempts of this round that were lost by us.
    #[serde(default, skip_serializing_if = "is_default")]
    pub losses: u32,
    /// How often it was replayed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub round: u32,
    /// The number of the latest word to the job's shard; 0 when there was none yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub word: u32,
    /// No attempt before this instant.
    pub not_before: Millis,
    /// When it was taken in.
    pub enqueued_at: Millis,
    /// When the patience with it ends; see [`patience_ms`](super::patience_ms).
    pub give_up_at: Millis,
    /// When it was delivered or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// Why it was given up: `http_<status>`, a [`FetchFault`]'s name, or `expired`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The newest [`HISTORY_MAX`](super::HISTORY_MAX) attempts, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<AttemptRow>,
    /// Whether the job's shard knows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settle: Settle,
    /// The same bytes on every attempt.
    pub body: String,
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum DeliveryState {
    /// For its time, its turn or the breaker.
    Waiting,
    /// An attempt is under way.
    InFlight {
        /// Its number: [`Delivery::starts`].
        attempt: u32,
        /// When it started.
        since: Millis,
        /// When it counts as timed out, if no word has come.
        deadline: Millis,
    },
    /// The receiver answered 2xx.
    Done,
    /// Given up (`CALLBACK_FAILED`); kept for replay.
    Dead,
}

impl DeliveryState {
    /// The state without its details.
    #[must_use]
    pub const fn word(self) -> StateWord {
        match self {
            Self::Waiting => StateWord::Waiting,
            Self::InFlight { .. } => StateWord::InFlight,
            Self::Done => StateWord::Done,
            Self::Dead => StateWord::Dead,
        }
    }
}

/// Where a delivery stands, in one word, for filters and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the same as DeliveryState")]
pub enum StateWord {
    Waiting,
    InFlight,
    Done,
    Dead,
}

impl StateWord {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::InFlight, Self::Done, Self::Dead];

    /// The name in the API and in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::InFlight => "in_flight",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|word| word.as_str() == name)
    }
}

/// One attempt, as kept for the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRow {
    /// Its number.
    pub attempt: u32,
    /// When it started.
    pub at: Millis,
    /// The answer's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong on the way; [`FetchFault::Aborted`] when we lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FetchFault>,
    /// How long it took, in ms.
    pub ms: i64,
    /// The beginning of a failed answer's body. Text from outside: never markup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// Whether the job's shard has taken our latest word about a delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Settle {
    /// There was none yet.
    #[default]
    Unsettled,
    /// It was told, and has not said that it knows.
    Owed {
        /// How often it was told.
        told: u32,
        /// When it is told again.
        again_at: Millis,
    },
    /// It knows.
    Acked,
}
