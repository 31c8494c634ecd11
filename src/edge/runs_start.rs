//! Starting and stopping runs on request.

use cronwright_core::job::def::Overlap;
use cronwright_protocol::api::{Run, RunRequest};
use cronwright_protocol::document::OVERLAPS;
use serde_json::json;

use super::call::{Call, random_hex};
use super::error::{Answer, Failure};
use super::jobs::job_id;
use super::respond::Reply;
use super::runs::{ask, live, run_id, run_of};
use super::{audit, limits};
use crate::host::client::locate_job;
use crate::host::message::{RunOfJob, ShardAsk, ShardReply};

/// Longest wait for the end of a run.
const LONGEST_WAIT_MS: u32 = 25_000;
/// Bytes of a run's input.
const MOST_PARAMS: usize = 16 * 1024;

/// `POST /api/v1/jobs/{jobId}/runs`.
pub async fn run_now(call: &mut Call) -> Answer<Reply> {
    let (job, wait, key) = (job_id(call)?, wait(call)?, key(call)?);
    let request: RunRequest = limits::body(call, &["params", "overlap"]).await?;
    let overlap = request.overlap.as_deref().map(overlap).transpose()?;
    let params = request.params.map(|params| params.to_string());
    if params
        .as_ref()
        .is_some_and(|params| params.len() > MOST_PARAMS)
    {
        return Err(Failure::field(
            "params",
            "length",
            format!("at most {MOST_PARAMS} bytes of JSON"),
        ));
    }
    let question = ShardAsk::RunNow {
        job: job.clone(),
        key,
        params,
        overlap,
        by: call.caller.name.clone(),
    };
    let started = match locate_job(&call.env, &job, &question).await? {
        ShardReply::Refused(refusal) => return Err(refusal.into()),
        reply => run_of(reply)?,
    };
    if !started.repeated {
        audit::done(call, &started.run.id.to_string(), json!({"jobId": job})).await;
    }
    let Some(wait_ms) = wait else {
        let status = if started.repeated { 200 } else { 201 };
        return shown(status, &started);
    };
    if !started.run.is_open() {
        return shown(200, &started);
    }
    let id = started.run.id.clone();
    match ask(
        call,
        &id,
        &ShardAsk::AwaitRun {
            run: id.clone(),
            wait_ms,
        },
    )
    .await
    .and_then(run_of)
    {
        Ok(run) if !run.run.is_open() => shown(200, &run),
        Ok(run) => shown(202, &run),
        // The run is recorded whether or not its end could be waited for.
        Err(_) => shown(202, &started),
    }
}

fn shown(status: u16, run: &RunOfJob) -> Answer<Reply> {
    let reply = Reply::json(status, &Run::of(&run.job_id, &run.run))?;
    Ok(reply.header("location", format!("/api/v1/runs/{}", run.run.id)))
}

/// The caller's idempotency key. The same key is the same run, whoever sends it: a system that retries
/// may have been given a new token.
fn key(call: &Call) -> Answer<String> {
    let Some(key) = call.header("idempotency-key") else {
        return Ok(format!("made:{}", random_hex::<16>()));
    };
    if key.len() > 255 || key.chars().any(char::is_control) {
        return Err(Failure::parameter(
            "Idempotency-Key",
            "1 to 255 characters, without control characters",
        ));
    }
    Ok(format!("given:{key}"))
}

/// `?wait=25s`: seconds with or without their unit, or `ms`.
fn wait(call: &Call) -> Answer<Option<u32>> {
    let Some(text) = call.param("wait") else {
        return Ok(None);
    };
    let (digits, unit) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    let scale = match unit {
        "" | "s" => Some(1_000_u32),
        "ms" => Some(1),
        _ => None,
    };
    let ms = scale
        .zip(digits.parse::<u32>().ok())
        .and_then(|(scale, number)| number.checked_mul(scale));
    match ms {
        Some(ms) if ms <= LONGEST_WAIT_MS => Ok(Some(ms)),
        _ => Err(Failure::parameter("wait", "write 1s to 25s")),
    }
}

fn overlap(name: &str) -> Answer<Overlap> {
    let known = OVERLAPS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, overlap)| *overlap);
    known.ok_or_else(|| {
        Failure::field(
            "overlap",
            "unknown_value",
            "use skip, queue, replace or allow",
        )
    })
}

/// `POST /api/v1/runs/{scheduleId}/replay`.
pub async fn replay(call: &Call) -> Answer<Reply> {
    let (id, key) = (run_id(call)?, key(call)?);
    live(call, &id).await?;
    let replayed = run_of(
        ask(
            call,
            &id,
            &ShardAsk::Replay {
                run: id.clone(),
                key,
                by: call.caller.name.clone(),
            },
        )
        .await?,
    )?;
    if !replayed.repeated {
        audit::done(call, &replayed.run.id.to_string(), json!({"of": id})).await;
    }
    shown(if replayed.repeated { 200 } else { 201 }, &replayed)
}

/// `POST /api/v1/runs/{scheduleId}/cancel`.
pub async fn cancel(call: &Call) -> Answer<Reply> {
    let id = run_id(call)?;
    live(call, &id).await?;
    let run = run_of(
        ask(
            call,
            &id,
            &ShardAsk::Cancel {
                run: id.clone(),
                by: call.caller.name.clone(),
            },
        )
        .await?,
    )?;
    audit::done(call, &id.to_string(), json!({"jobId": run.job_id})).await;
    shown(202, &run)
}
