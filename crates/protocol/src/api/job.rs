//! Jobs.

use cronwright_core::job::def::ScheduleSpec;
use cronwright_core::job::view::JobView;
use cronwright_core::schedule::{Zone, rfc3339, rfc3339_at};
use cronwright_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::preview::{Words, warnings, words};
use super::role::Role;
use super::run::Run;
use crate::document::{Document, ExecutorForm, write};

/// A job: its document, and how it stands. The document's part may be edited and sent back as it is;
/// what only the server knows is ignored then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The document.
    #[serde(flatten)]
    pub document: Document,
    /// Counts the edits from 1; the ETag.
    pub revision: u32,
    /// Counts the changes of the schedule from 1.
    pub schedule_version: u32,
    /// The object that holds the job.
    pub shard: u16,
    /// When it was created.
    pub created_at: String,
    /// When it was last edited, paused or resumed.
    pub updated_at: String,
    /// The schedule in words.
    pub schedule_text: Words,
    /// What may be other than meant about the schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Words>,
    /// The next planned instant, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_due: Option<String>,
    /// The same on the wall of the job's zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_due_local: Option<String>,
    /// The newest run, ended or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run: Option<Run>,
    /// The newest runs, oldest first, at most 20.
    #[serde(default)]
    pub recent: Vec<Recent>,
    /// Median duration of the last successful runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_ms: Option<i64>,
    /// Runs that have not ended, oldest first.
    #[serde(default)]
    pub open_runs: Vec<String>,
    /// Why the job is quarantined, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
}

/// One of the newest runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Recent {
    /// Which run.
    pub schedule_id: String,
    /// Where it stands.
    pub status: String,
    /// How long it took or has taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<i64>,
}

/// Jobs, by id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobPage {
    /// The jobs.
    pub items: Vec<Job>,
    /// Give it as `cursor` for the next page; missing on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A change of status alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct StatusRequest {
    /// `ENABLED`, or `PAUSED`, for which `DISABLED` is another word.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "PAUSED"))]
    pub status: String,
}

/// What stands for a header's value before those who may not see it.
const HIDDEN: &str = "***";

impl Job {
    /// The job as its shard has it, for a reader of that role: viewers do not see the values of headers,
    /// which may be credentials.
    #[must_use]
    pub fn of(view: &JobView, reader: Role, now: Millis) -> Self {
        let enabled = view.status == cronwright_core::job::view::JobStatus::Enabled;
        let mut document = write(&view.definition, enabled);
        if reader < Role::Operator
            && let ExecutorForm::Http(task) = &mut document.executor
        {
            task.headers
                .values_mut()
                .for_each(|value| HIDDEN.clone_into(value));
        }
        document.status = Some(view.status.as_str().to_owned());
        let id = &view.definition.job_id;
        let recent = view.recent.iter().map(|run| Recent {
            schedule_id: run.id.to_string(),
            status: run.state.as_str().to_owned(),
            ms: run.ms,
        });
        Self {
            document,
            revision: view.revision,
            schedule_version: view.schedule_version,
            shard: view.at.shard,
            created_at: rfc3339(view.created_at),
            updated_at: rfc3339(view.updated_at),
            schedule_text: words(&view.definition.schedule),
            warnings: warnings(&view.definition.schedule, now),
            next_due: view.next_due.map(rfc3339),
            next_due_local: view
                .next_due
                .and_then(|at| local(&view.definition.schedule, at)),
            last_run: view.last.as_ref().map(|run| Run::of(id, run)),
            recent: recent.collect(),
            usual_ms: view.usual_ms,
            open_runs: view.open.iter().map(ToString::to_string).collect(),
            quarantined: view.quarantined.clone(),
        }
    }
}

/// An instant on the wall of the schedule's zone, if it has one.
fn local(spec: &ScheduleSpec, at: Millis) -> Option<String> {
    let ScheduleSpec::Cron { zone, .. } = spec else {
        return None;
    };
    let zone = Zone::get(zone).ok()?;
    Some(rfc3339_at(at, zone.offset_seconds_at(at)))
}
