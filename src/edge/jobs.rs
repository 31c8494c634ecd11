//! Reading one job; looking at a schedule or a document without saving it.

use cronwright_core::ids::JobId;
use cronwright_core::job::view::{JobStatus, JobView};
use cronwright_protocol::api::{Job, Validation, preview as preview_of};
use cronwright_protocol::document::{
    BareSchedule, IdRule, ReadContext, read, read_schedule, write,
};
use cronwright_protocol::problem::Code;

use super::auth::no_job;
use super::call::Call;
use super::error::{Answer, Failure, no_such, unexpected};
use super::limits;
use super::respond::Reply;
use crate::host::client::locate_job;
use crate::host::message::{ShardAsk, ShardReply};

/// The job of the path.
pub fn job_id(call: &Call) -> Answer<JobId> {
    call.params
        .get("jobId")
        .parse()
        .map_err(no_such(Code::JobNotFound))
}

/// The job as its shard has it; one that is being deleted is gone for its owner.
pub async fn find(call: &Call, job: &JobId) -> Answer<JobView> {
    let view = find_any(call, job).await?;
    if view.status == JobStatus::Deleted {
        return Err(no_job(job));
    }
    Ok(view)
}

/// The same, with jobs that are being deleted.
pub async fn find_any(call: &Call, job: &JobId) -> Answer<JobView> {
    view(locate_job(&call.env, job, &ShardAsk::Job { job: job.clone() }).await?)
}

/// The job in a reply; a refusal becomes a problem.
pub fn view(reply: ShardReply) -> Answer<JobView> {
    match reply {
        ShardReply::Job(view) => Ok(*view),
        ShardReply::Refused(refusal) => Err(refusal.into()),
        other => Err(unexpected(&format!("{other:?}"))),
    }
}

/// A job as the answer to a request, with its revision as the ETag.
pub fn shown(call: &Call, status: u16, view: &JobView) -> Answer<Reply> {
    let job = Job::of(view, call.caller.role, call.now);
    Ok(Reply::json(status, &job)?.header("etag", format!("\"{}\"", view.revision)))
}

/// `GET /api/v1/jobs/{jobId}`.
pub async fn get(call: &Call) -> Answer<Reply> {
    let job = job_id(call)?;
    if !call.caller.reach.holds(&job) {
        return Err(no_job(&job));
    }
    shown(call, 200, &find(call, &job).await?)
}

/// The revision that the writer has seen, by `If-Match`.
pub fn if_match(call: &Call) -> Answer<Option<u32>> {
    let Some(text) = call.header("if-match") else {
        return Ok(None);
    };
    if text.trim() == "*" {
        return Ok(None);
    }
    let tag = text.trim().trim_start_matches("W/").trim_matches('"');
    let revision = tag
        .parse()
        .map_err(|_| Failure::parameter("If-Match", "send the ETag of the job, such as \"3\""))?;
    Ok(Some(revision))
}

/// `POST /api/v1/jobs/preview`.
pub async fn preview(call: &mut Call) -> Answer<Reply> {
    let fields = limits::fields(call).await?;
    let (targets, id) = (call.targets(), stand_in()?);
    let context = ReadContext {
        now: call.now,
        id: IdRule::Default(&id),
        targets: &targets,
    };
    Reply::json(
        200,
        &preview_of(&read_schedule(fields, &context)?, call.now),
    )
}

/// `POST /api/v1/jobs/validate`: what is wrong with the document is the answer, not a problem.
pub async fn validate(call: &mut Call) -> Answer<Reply> {
    let bytes = limits::bytes(call, "application/json").await?;
    let (targets, id) = (call.targets(), stand_in()?);
    let context = ReadContext {
        now: call.now,
        id: IdRule::Default(&id),
        targets: &targets,
    };
    let validation = match read(&bytes, &context) {
        Ok(read) => {
            let definition = &read.definition;
            let bare = BareSchedule {
                spec: definition.schedule.clone(),
                start_at: definition.start_at,
                end_at: definition.end_at,
                count: 5,
            };
            Validation {
                valid: true,
                errors: Vec::new(),
                document: Some(write(definition, read.enabled.unwrap_or(true))),
                preview: Some(preview_of(&bare, call.now)),
            }
        }
        Err(unread) if unread.code == Code::InvalidDocument => Validation {
            errors: unread.errors,
            ..Validation::default()
        },
        Err(unread) => return Err(unread.into()),
    };
    Reply::json(200, &validation)
}

/// The id of a document that is not saved.
fn stand_in() -> Answer<JobId> {
    "job_id-made-when-saved"
        .parse()
        .map_err(no_such(Code::Internal))
}
