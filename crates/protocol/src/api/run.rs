//! Runs.

use cronwright_core::ids::JobId;
use cronwright_core::job::run as core;
use cronwright_core::schedule::rfc3339;
use serde::{Deserialize, Serialize};

/// A run, all attempts included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The run's id: the same here, in logs, in the callee's headers and in every callback.
    #[cfg_attr(feature = "openapi", schema(example = "run_3_1f_mh2k9a00_v1"))]
    pub schedule_id: String,
    /// The job.
    pub job_id: String,
    /// Counts the runs of the job from 1.
    pub seq: u64,
    /// `TRIGGERED`, `DISPATCHED`, `RUNNING`, `LOST`, `UNKNOWN`, `SUCCESS`, `FAILED`, `TIMED_OUT`,
    /// `CANCELLED` or `SKIPPED`; the last five are final.
    pub status: String,
    /// What made it.
    pub trigger: TriggeredBy,
    /// The planned instant, or that of the trigger.
    pub planned_at: String,
    /// When it was recorded.
    pub triggered_at: String,
    /// When the first attempt was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// From start to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Attempts so far that count against `retryTimes`.
    pub attempt: u32,
    /// Attempts that were lost by infrastructure.
    pub losses: u32,
    /// Fence of the last attempt; 0 before the first.
    pub fence: u64,
    /// The job's revision that the last attempt used.
    pub revision: u32,
    /// HTTP status of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// What went wrong: `http_500`, `timeout`, `network`, `blocked_target`, `lost`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Latest report of the callee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<ProgressReport>,
    /// What an open run without an attempt waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waiting>,
    /// End of the whole run, if it has a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<String>,
    /// The many missed occurrences that this record stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkippedRange>,
    /// Where the callback stands: `NONE`, `PENDING`, `DONE` or `FAILED`.
    pub callback: String,
}

/// What made a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TriggeredBy {
    /// `schedule`, `catch_up`, `manual`, `replay` or `after`.
    pub kind: String,
    /// Who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How late the trigger was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_ms: Option<i64>,
    /// The run that is replayed, or whose end was the trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// The latest report of a callee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProgressReport {
    /// When it arrived.
    pub at: String,
    /// 0–100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// What it said.
    pub message: String,
}

/// What an open run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// `queue`, `retry` or `lost`.
    #[serde(rename = "for")]
    pub reason: String,
    /// Not before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// Many missed occurrences in one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SkippedRange {
    /// How many.
    pub count: u64,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// The last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// Runs, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The runs.
    pub items: Vec<Run>,
    /// Give it as `cursor` for the next page; missing on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Run {
    /// The run of a job, as its shard has it.
    #[must_use]
    pub fn of(job: &JobId, run: &core::Run) -> Self {
        let result = run.result.as_ref();
        let duration =
            |end: cronwright_core::time::Millis| run.started_at.map(|start| end.since(start));
        Self {
            schedule_id: run.id.to_string(),
            job_id: job.to_string(),
            seq: run.seq,
            status: run.state.as_str().to_owned(),
            trigger: TriggeredBy::of(&run.trigger),
            planned_at: rfc3339(run.planned_at()),
            triggered_at: rfc3339(run.triggered_at),
            started_at: run.started_at.map(rfc3339),
            ended_at: run.ended_at.map(rfc3339),
            duration_ms: run.ended_at.and_then(duration),
            attempt: run.attempts,
            losses: run.losses,
            fence: run.fence,
            revision: run.revision,
            http_status: result.and_then(|result| result.status),
            error_code: result.and_then(|result| result.error_code.clone()),
            summary: result.and_then(|result| result.summary.clone()),
            progress: run.progress.as_ref().map(ProgressReport::of),
            waits: run.waits.as_ref().map(Waiting::of),
            deadline_at: run.deadline.map(rfc3339),
            skipped: run.range.as_ref().map(SkippedRange::of),
            callback: run.callback.as_str().to_owned(),
        }
    }
}

impl TriggeredBy {
    fn of(trigger: &core::Trigger) -> Self {
        let kind = |kind: &str| Self {
            kind: kind.to_owned(),
            ..Self::default()
        };
        match trigger {
            core::Trigger::Schedule { late_ms } => Self {
                late_ms: Some(*late_ms),
                ..kind("schedule")
            },
            core::Trigger::CatchUp { late_ms } => Self {
                late_ms: Some(*late_ms),
                ..kind("catch_up")
            },
            core::Trigger::Manual { by } => Self {
                by: Some(by.clone()),
                ..kind("manual")
            },
            core::Trigger::Replay { of, by } => Self {
                by: Some(by.clone()),
                run: Some(of.to_string()),
                ..kind("replay")
            },
            core::Trigger::After { job, run, ended: _ } => Self {
                by: Some(job.to_string()),
                run: Some(run.to_string()),
                ..kind("after")
            },
        }
    }
}

impl ProgressReport {
    fn of(progress: &core::Progress) -> Self {
        Self {
            at: rfc3339(progress.at),
            percent: progress.percent,
            message: progress.message.clone(),
        }
    }
}

impl Waiting {
    fn of(waits: &core::Waits) -> Self {
        let (reason, until) = match waits {
            core::Waits::Queue => ("queue", None),
            core::Waits::Retry { until, .. } => ("retry", Some(*until)),
            core::Waits::Lost { until, .. } => ("lost", Some(*until)),
        };
        Self {
            reason: reason.to_owned(),
            until: until.map(rfc3339),
        }
    }
}

impl SkippedRange {
    fn of(range: &core::SkippedRange) -> Self {
        Self {
            count: range.count,
            first: Some(rfc3339(range.first)),
            last: Some(rfc3339(range.last)),
        }
    }
}
