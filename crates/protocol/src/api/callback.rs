//! Callback endpoints and their deliveries.

use cronwright_core::ids::JobId;
use cronwright_core::schedule::rfc3339;
use serde::{Deserialize, Serialize};

/// Where the callbacks of one app and URL go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// The endpoint's id.
    pub endpoint_id: String,
    /// The app whose secret signs.
    pub app_id: String,
    /// Where to.
    pub url: String,
    /// `closed` (deliveries flow), `open` (they wait) or `half_open` (one probe is out).
    pub breaker: String,
    /// Failures since the last success.
    pub failures_in_a_row: u32,
    /// Since when the breaker has not been closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// When a probe is let through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_at: Option<String>,
    /// Deliveries that wait.
    pub waiting: u64,
    /// Attempts under way.
    pub in_flight: u64,
    /// Dead letters, kept for replay.
    pub dead: u64,
    /// Counters since the endpoint was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<EndpointCounters>,
    /// Live versions of the signing key, newest first.
    #[serde(default)]
    pub key_versions: Vec<u32>,
    /// When the endpoint was created.
    pub created_at: String,
}

/// Counters of an endpoint since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointCounters {
    /// Posts that were made.
    pub attempts: u64,
    /// Deliveries that were taken.
    pub delivered: u64,
    /// Deliveries that were given up.
    pub dead: u64,
}

/// Endpoints, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EndpointPage {
    /// The endpoints. Counts may be a minute old; one endpoint alone is exact.
    pub items: Vec<Endpoint>,
    /// Give it as `cursor` for the next page; missing on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The push of one run's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The run.
    pub schedule_id: String,
    /// The job.
    pub job_id: String,
    /// The order within the job.
    pub seq: u64,
    /// `waiting`, `in_flight`, `done` or `dead`.
    pub state: String,
    /// Attempts used up in this round.
    pub attempts: u32,
    /// Attempts it may use up.
    pub attempts_max: u32,
    /// How often it was replayed.
    pub round: u32,
    /// No attempt before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// When it was taken in.
    pub enqueued_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Why it was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Its newest attempts, oldest first.
    pub history: Vec<Attempt>,
}

/// One post to a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Which attempt.
    pub attempt: u32,
    /// When it began.
    pub at: String,
    /// The receiver's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// How long it took.
    pub ms: i64,
    /// The beginning of a refusal's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// Deliveries of one endpoint, newest runs first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeliveryPage {
    /// The deliveries.
    pub items: Vec<Delivery>,
}

/// What a replay set going.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// Whether it was accepted; deliveries follow in their order.
    pub accepted: bool,
}

/// What is pushed to an outside system when a run has ended. Written once per run: every attempt posts
/// the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallbackBody {
    /// The job.
    pub job_id: String,
    /// The run; build a unique index on it.
    pub schedule_id: String,
    /// Counts the runs of the job from 1.
    pub seq: u64,
    /// `SUCCESS`, `FAILED`, `TIMED_OUT` or `CANCELLED`; what was skipped is not called back.
    pub status: String,
    /// The planned instant.
    pub planned_at: String,
    /// When the first attempt was handed over.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// Attempts it took.
    pub attempt: u32,
    /// What went wrong.
    pub error_code: Option<String>,
    /// One line for people.
    pub summary: Option<String>,
    /// Fence of the last attempt.
    pub fence: u64,
}

impl CallbackBody {
    /// The result of a run.
    #[must_use]
    pub fn of(job: &JobId, run: &cronwright_core::job::run::Run) -> Self {
        let result = run.result.as_ref();
        Self {
            job_id: job.to_string(),
            schedule_id: run.id.to_string(),
            seq: run.seq,
            status: run.state.as_str().to_owned(),
            planned_at: rfc3339(run.planned_at()),
            started_at: run.started_at.map(rfc3339),
            ended_at: run.ended_at.map(rfc3339),
            attempt: run.attempts,
            error_code: result.and_then(|result| result.error_code.clone()),
            summary: result.and_then(|result| result.summary.clone()),
            fence: run.fence,
        }
    }
}
