//! What is saved of a job. Every value here has been checked; `cronwright-protocol` reads documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{AppId, EndpointId, JobId};
use crate::schedule::Dialect;
use crate::time::{HOUR, Millis, SECOND};

/// The saved definition of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// Chosen by the owner, unique.
    pub job_id: JobId,
    /// Shown and searched; 1–200 characters.
    pub name: String,
    /// Free text, at most 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who answers for the job, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// At most 20 labels for filters and grants.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What produces planned instants.
    pub schedule: ScheduleSpec,
    /// No occurrence before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Millis>,
    /// No occurrence at or after this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_at: Option<Millis>,
    /// Every start is late by one fixed amount in `0..=jitter_ms`, derived from the job's id.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub jitter_ms: i64,
    /// Windows in which occurrences are skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blackouts: Vec<Blackout>,
    /// What a run does.
    pub executor: Executor,
    /// The pool whose agents run it; none means the edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// How the pool picks an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_strategy: Option<RouteStrategy>,
    /// The key of `consistency_hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_key: Option<String>,
    /// Limit of one attempt, 100 ms to 24 h.
    pub timeout_ms: i64,
    /// Limit of a whole run, all attempts and waits included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<i64>,
    /// When a running attempt "may be stuck"; none means three times the job's median duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_after_ms: Option<i64>,
    /// Retries of failed attempts.
    pub retry: RetryPolicy,
    /// What happens to occurrences that passed without a start.
    pub misfire: MisfirePolicy,
    /// What happens when the previous run is still active.
    pub overlap: Overlap,
    /// With [`Overlap::Queue`], how many runs may wait; 1–100.
    pub queue_limit: u32,
    /// Where results go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<CallbackTarget>,
}

/// The rule that produces planned instants, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum ScheduleSpec {
    /// A cron text in a dialect and a zone.
    Cron {
        /// As the owner wrote it.
        text: String,
        /// Resolved at creation, never guessed again.
        dialect: Dialect,
        /// IANA name.
        zone: String,
    },
    /// A period in UTC from an anchor.
    Every {
        /// At least 1,000 ms.
        period_ms: i64,
        /// An instant of the series.
        anchor: Millis,
    },
    /// Once.
    At {
        /// When.
        at: Millis,
    },
    /// When a run of another job ends.
    After {
        /// The other job.
        job: JobId,
        /// Which ends count.
        on: AfterOn,
    },
    /// Only by hand or through the API.
    None,
}

/// Which ends of the other job's run trigger this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterOn {
    /// It succeeded; otherwise this job's run is recorded as skipped.
    Success,
    /// It failed, timed out or was lost for good.
    Failure,
    /// It ended in any way.
    Finish,
}

/// A window in which occurrences are skipped, on the job's wall clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Blackout {
    /// From one instant up to (not including) another.
    Between {
        /// First skipped instant.
        from: Millis,
        /// First instant that fires again.
        until: Millis,
    },
    /// Every week, on these days, between two times of day; wraps over midnight when `from > until`.
    Weekly {
        /// Days on which the window begins, 0 = Sunday … 6 = Saturday.
        days: Vec<u8>,
        /// Minutes since midnight, 0–1439.
        from_minute: u16,
        /// Minutes since midnight, 0–1440; not included.
        until_minute: u16,
    },
}

/// What a run does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Executor {
    /// An HTTP request.
    Http(HttpTask),
}

/// An HTTP job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpTask {
    /// Where to.
    pub url: String,
    /// `GET`, `POST`, `PUT`, `PATCH`, `DELETE` or `HEAD`.
    pub method: String,
    /// Sent as they are; names are lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Body template; `{{scheduleId}}`, `{{jobId}}`, `{{plannedAt}}`, `{{attempt}}`, `{{fence}}` and
    /// `{{params}}` are filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Inclusive ranges of status codes that mean success.
    pub expect: Vec<(u16, u16)>,
    /// Whether the callee may answer 202 and report the result later.
    pub mode: HttpMode,
}

/// Who says that an HTTP run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpMode {
    /// The response is the result.
    Sync,
    /// 202 means "accepted": the callee then calls `/complete`.
    Accepted,
}

/// How a pool picks an agent for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the design's own")]
pub enum RouteStrategy {
    RoundRobin,
    WeightedRoundRobin,
    Random,
    LeastActive,
    ConsistencyHash,
    Broadcast,
    Sharding,
    Pinned,
}

/// Retries of failed attempts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// Retries after the first attempt, 0–20.
    pub times: u32,
    /// Waits in ms before each retry; the last repeats. Never empty.
    pub delays_ms: Vec<i64>,
    /// After which outcomes.
    pub on: Vec<RetryOn>,
}

impl RetryPolicy {
    /// The wait before retry number `retry` (0 is the first retry).
    #[must_use]
    pub fn delay_ms(&self, retry: u32) -> i64 {
        let index = usize::try_from(retry).unwrap_or(usize::MAX);
        self.delays_ms
            .get(index)
            .or(self.delays_ms.last())
            .copied()
            .unwrap_or(60 * SECOND)
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            times: 0,
            delays_ms: vec![30 * SECOND, 120 * SECOND, 300 * SECOND],
            on: vec![RetryOn::Failed, RetryOn::TimedOut],
        }
    }
}

/// An outcome that may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RetryOn {
    /// The attempt failed.
    Failed,
    /// The attempt ran over its limit.
    TimedOut,
}

/// What happens to occurrences that passed without a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MisfirePolicy {
    /// Which of them still run.
    pub policy: Misfire,
    /// Occurrences older than this are never made up for.
    pub catch_up_window_ms: i64,
    /// With [`Misfire::CatchUp`], how many at most; 1–100.
    pub max_catch_up: u32,
}

impl Default for MisfirePolicy {
    fn default() -> Self {
        Self {
            policy: Misfire::FireOnce,
            catch_up_window_ms: HOUR,
            max_catch_up: 10,
        }
    }
}

/// Which missed occurrences still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Misfire {
    /// The newest, once.
    FireOnce,
    /// None.
    Skip,
    /// Each, up to a limit.
    CatchUp,
}

/// What happens when the previous run is still active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// The new run is recorded as skipped.
    Skip,
    /// The new run waits, up to the queue's limit.
    Queue,
    /// The old run is cancelled; the new one starts when it is confirmed dead.
    Replace,
    /// Both run.
    Allow,
}

/// Where the results of a job go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackTarget {
    /// Whose secret signs.
    pub app: AppId,
    /// Where to.
    pub url: String,
    /// How long deliveries are tried.
    pub preset: CallbackPreset,
}

impl CallbackTarget {
    /// The endpoint that queues these callbacks.
    #[must_use]
    pub fn endpoint(&self) -> EndpointId {
        EndpointId::of(&self.app, &self.url)
    }
}

/// How long a delivery is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallbackPreset {
    /// 1 + 5 attempts over 12.6 minutes.
    #[default]
    Standard,
    /// 12 attempts over 75 hours.
    Durable,
}
