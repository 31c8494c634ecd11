//! Creating, changing and deleting jobs.

use cronwright_core::ids::JobId;
use cronwright_core::job::def::{Definition, ScheduleSpec};
use cronwright_core::job::view::JobStatus;
use cronwright_protocol::api::StatusRequest;
use cronwright_protocol::document::{IdRule, Read, ReadContext, read};
use cronwright_protocol::problem::{Code, FieldError, Problem};
use serde_json::json;

use super::auth::no_job;
use super::call::{Call, random_hex};
use super::error::{Answer, Failure, no_such, unexpected};
use super::jobs::{find, find_any, if_match, job_id, shown, view};
use super::respond::Reply;
use super::{audit, limits};
use crate::host::client::{ask_home, locate_job};
use crate::host::message::{ShardAsk, ShardReply};
use crate::store;

/// Jobs that may run one after another: `after` is a trigger, not a workflow.
const LONGEST_CHAIN: usize = 32;

/// `POST /api/v1/jobs`.
pub async fn create(call: &mut Call) -> Answer<Reply> {
    let bytes = limits::bytes(call, "application/json").await?;
    let id: JobId = format!("job_{}", random_hex::<8>())
        .parse()
        .map_err(no_such(Code::Internal))?;
    let read = read_document(call, &bytes, IdRule::Default(&id))?;
    let id = read.definition.job_id.clone();
    if !call.caller.reach.holds(&id) {
        return Err(Failure::new(
            Code::RoleMissing,
            "a token that is limited to jobs creates only those",
        ));
    }
    check_links(call, &read.definition).await?;
    // A job of that id may live on another shard than a new one would.
    match find_any(call, &id).await {
        Ok(known) if known.status == JobStatus::Deleted => {
            let detail =
                format!("job {id} is being deleted; its id is free when its last run has ended");
            return Err(Failure::new(Code::JobDeleted, detail));
        }
        Ok(known) => {
            let mut problem = Problem::new(
                Code::JobExists,
                format!("job {id} exists already; use PUT to change it"),
            );
            problem.revision = Some(known.revision);
            return Err(problem.into());
        }
        Err(failure) if failure.problem.code == Code::JobNotFound => {}
        Err(failure) => return Err(failure),
    }
    let by = call.caller.name.clone();
    let ask = ShardAsk::Create {
        definition: Box::new(read.definition),
        enabled: read.enabled.unwrap_or(true),
        by,
    };
    let made = view(ask_home(&call.env, &id, &ask).await?)?;
    audit::done(call, id.as_str(), json!({"revision": made.revision})).await;
    Ok(shown(call, 201, &made)?.header("location", format!("/api/v1/jobs/{id}")))
}

/// `PUT /api/v1/jobs/{jobId}`.
pub async fn replace(call: &mut Call) -> Answer<Reply> {
    let (id, revision) = (job_id(call)?, if_match(call)?);
    let bytes = limits::bytes(call, "application/json").await?;
    let read = read_document(call, &bytes, IdRule::Fixed(&id))?;
    check_links(call, &read.definition).await?;
    let by = call.caller.name.clone();
    let ask = ShardAsk::Replace {
        definition: Box::new(read.definition),
        enabled: read.enabled,
        revision,
        by,
    };
    let changed = view(locate_job(&call.env, &id, &ask).await?)?;
    audit::done(call, id.as_str(), json!({"revision": changed.revision})).await;
    shown(call, 200, &changed)
}

fn read_document(call: &Call, bytes: &[u8], id: IdRule<'_>) -> Answer<Read> {
    let targets = call.targets();
    Ok(read(
        bytes,
        &ReadContext {
            now: call.now,
            id,
            targets: &targets,
        },
    )?)
}

/// `PATCH /api/v1/jobs/{jobId}`.
pub async fn set_status(call: &mut Call) -> Answer<Reply> {
    let id = job_id(call)?;
    let request: StatusRequest = limits::body(call, &["status"]).await?;
    let enabled = match request.status.as_str() {
        "ENABLED" => true,
        "PAUSED" | "DISABLED" => false,
        _ => {
            return Err(Failure::field(
                "status",
                "unknown_value",
                "use ENABLED or PAUSED",
            ));
        }
    };
    check_revision(call, &id).await?;
    let ask = ShardAsk::SetEnabled {
        job: id.clone(),
        enabled,
        by: call.caller.name.clone(),
    };
    let changed = view(locate_job(&call.env, &id, &ask).await?)?;
    audit::done(
        call,
        id.as_str(),
        json!({"status": changed.status.as_str()}),
    )
    .await;
    shown(call, 200, &changed)
}

/// `DELETE /api/v1/jobs/{jobId}`.
pub async fn delete(call: &Call) -> Answer<Reply> {
    let id = job_id(call)?;
    check_revision(call, &id).await?;
    let ask = ShardAsk::Delete {
        job: id.clone(),
        by: call.caller.name.clone(),
    };
    match locate_job(&call.env, &id, &ask).await? {
        ShardReply::Done | ShardReply::Job(_) => {}
        ShardReply::Refused(refusal) => return Err(refusal.into()),
        other => return Err(unexpected(&format!("{other:?}"))),
    }
    audit::done(call, id.as_str(), json!({})).await;
    Ok(Reply::empty(204))
}

/// Refuses when the job is no longer as the writer has seen it.
async fn check_revision(call: &Call, id: &JobId) -> Answer<()> {
    let Some(seen) = if_match(call)? else {
        return Ok(());
    };
    let current = find(call, id).await?.revision;
    if current == seen {
        return Ok(());
    }
    let mut problem = Problem::new(
        Code::RevisionMismatch,
        format!("the job is at revision {current}, not {seen}"),
    );
    problem.revision = Some(current);
    Err(problem.into())
}

/// What a definition names must exist: the app that signs, and the job it runs after.
async fn check_links(call: &Call, definition: &Definition) -> Answer<()> {
    let mut errors = Vec::new();
    if let Some(callback) = &definition.callback
        && callback.app.as_str() != "default"
        && let Ok(None) = store::apps::get(&call.db()?, &callback.app).await
    {
        let error = FieldError::new(
            "callbackApp",
            "app_unknown",
            format!("there is no app {}", callback.app),
        );
        errors.push(error.hint("create it first: POST /api/v1/apps"));
    }
    if let ScheduleSpec::After { job, .. } = &definition.schedule {
        errors.extend(check_chain(call, &definition.job_id, job).await?);
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Problem::fields(Code::InvalidDocument, errors).into())
    }
}

/// Follows the jobs that trigger one another back to their beginning.
async fn check_chain(call: &Call, start: &JobId, first: &JobId) -> Answer<Option<FieldError>> {
    let mut upstream = first.clone();
    let mut walked = vec![start.to_string()];
    loop {
        walked.push(upstream.to_string());
        if upstream == *start {
            return Ok(Some(FieldError::new(
                "after",
                "after_cycle",
                format!(
                    "jobs would trigger one another in a circle: {}",
                    walked.join(" after ")
                ),
            )));
        }
        if walked.len() > LONGEST_CHAIN {
            return Ok(Some(FieldError::new(
                "after",
                "after_too_long",
                format!("more than {LONGEST_CHAIN} jobs would trigger one another"),
            )));
        }
        let found = if call.caller.reach.holds(&upstream) {
            find(call, &upstream).await
        } else {
            Err(no_job(&upstream))
        };
        match found {
            Ok(view) => match view.definition.schedule {
                ScheduleSpec::After { job, .. } => upstream = job,
                ScheduleSpec::Cron { .. }
                | ScheduleSpec::Every { .. }
                | ScheduleSpec::At { .. }
                | ScheduleSpec::None => return Ok(None),
            },
            Err(failure) if failure.problem.code != Code::JobNotFound => return Err(failure),
            Err(_) if upstream == *first => {
                return Ok(Some(
                    FieldError::new(
                        "after.jobId",
                        "job_unknown",
                        format!("there is no job {first}"),
                    )
                    .hint("create it first"),
                ));
            }
            // An upstream further back is gone, or none of the caller's business.
            Err(_) => return Ok(None),
        }
    }
}
