//! The body of a callback.

use cronwright_core::ids::JobId;
use cronwright_core::job::run::Run;
use cronwright_core::schedule::rfc3339;
use serde::{Deserialize, Serialize};

/// What a receiver is told of a run that has ended. Put a unique index on `scheduleId`: a callback may
/// come more than once, and is then the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallbackBody {
    /// The job.
    pub job_id: String,
    /// The run: the same over all attempts of the callback.
    pub schedule_id: String,
    /// Counts the runs of the job from 1; callbacks of a job arrive in this order.
    pub seq: u64,
    /// `SUCCESS`, `FAILED`, `TIMED_OUT` or `CANCELLED`.
    pub status: String,
    /// The planned instant, or that of the trigger.
    pub planned_at: String,
    /// When the first attempt was handed over; missing if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// When the run ended.
    pub ended_at: String,
    /// Attempts of the run, the last one included.
    pub attempt: u32,
    /// Fence of the last attempt: refuse a lower one than you have seen for the job.
    pub fence: u64,
    /// Stable code of what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// One line about the result, or the JSON that the job answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl CallbackBody {
    /// What is told of `run`, which has ended.
    #[must_use]
    pub fn of(job: &JobId, run: &Run) -> Self {
        let result = run.result.as_ref();
        Self {
            job_id: job.to_string(),
            schedule_id: run.id.to_string(),
            seq: run.seq,
            status: run.state.as_str().to_owned(),
            planned_at: rfc3339(run.planned_at()),
            started_at: run.started_at.map(rfc3339),
            ended_at: rfc3339(run.ended_at.unwrap_or(run.triggered_at)),
            attempt: run.attempts,
            fence: run.fence,
            error_code: result.and_then(|result| result.error_code.clone()),
            summary: result.and_then(|result| result.summary.clone()),
        }
    }
}

/// The bytes of the body.
#[must_use]
pub fn body(job: &JobId, run: &Run) -> String {
    // Every value here has a JSON form.
    serde_json::to_string(&CallbackBody::of(job, run)).unwrap_or_default()
}
