//! Typed stubs of the objects, each with a time limit.

use std::time::Duration;

use cronwright_core::ids::{EndpointId, JobId};
use futures_util::future::{Either, select};
use serde::Serialize;
use serde::de::DeserializeOwned;
use worker::{Delay, Env, Method, Request, RequestInit, Stub};

use super::message::{EndpointAsk, EndpointReply, ShardAsk, ShardReply};

/// Why an object gave no answer. What it was asked may or may not have happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// It did not answer in time.
    #[error("{object} did not answer within {limit_ms} ms")]
    Timeout {
        /// Which object.
        object: String,
        /// The limit.
        limit_ms: u64,
    },
    /// It failed.
    #[error("{object} failed: {detail}")]
    Failed {
        /// Which object.
        object: String,
        /// What it said.
        detail: String,
    },
}

/// Time limit of an ordinary question, in ms.
pub const ASK_LIMIT_MS: u64 = 10_000;

/// The number of shards among which new jobs are spread: `JOB_SHARDS`, 1–1,024, default 16.
#[must_use]
pub fn job_shards(env: &Env) -> u16 {
    env.var("JOB_SHARDS")
        .ok()
        .and_then(|text| text.to_string().parse().ok())
        .filter(|n| (1..=1024).contains(n))
        .unwrap_or(16)
}

/// Asks shard `shard`.
///
/// # Errors
/// When it fails or does not answer in time.
pub async fn ask_shard(env: &Env, shard: u16, ask: &ShardAsk) -> Result<ShardReply, HostError> {
    let limit = match ask {
        ShardAsk::AwaitRun { wait_ms, .. } => ASK_LIMIT_MS.saturating_add(u64::from(*wait_ms)),
        _ => ASK_LIMIT_MS,
    };
    ask_object(env, "JOB_SHARD", &format!("shard-{shard}"), ask, limit).await
}

/// Asks the shard where a new job of that id would live.
///
/// # Errors
/// When it fails or does not answer in time.
pub async fn ask_home(env: &Env, job: &JobId, ask: &ShardAsk) -> Result<ShardReply, HostError> {
    ask_shard(env, job.home_shard(job_shards(env)), ask).await
}

/// Asks the shard that holds a job, wherever that is: its home first, then where D1 knows it, and every
/// shard when D1 is away. The answer is a refusal with `job_not_found` when none holds it.
///
/// # Errors
/// When a shard fails or does not answer in time.
pub async fn locate_job(env: &Env, job: &JobId, ask: &ShardAsk) -> Result<ShardReply, HostError> {
    let home = job.home_shard(job_shards(env));
    let reply = ask_shard(env, home, ask).await?;
    if !is_elsewhere(&reply) {
        return Ok(reply);
    }
    match crate::deliver::directory::shard_of(env, job).await {
        Ok(Some(shard)) if shard != home => ask_shard(env, shard, ask).await,
        Ok(_) => Ok(reply),
        Err(_) => {
            for shard in (0..job_shards(env)).filter(|shard| *shard != home) {
                let other = ask_shard(env, shard, ask).await?;
                if !is_elsewhere(&other) {
                    return Ok(other);
                }
            }
            Ok(reply)
        }
    }
}

fn is_elsewhere(reply: &ShardReply) -> bool {
    matches!(reply, ShardReply::Refused(refusal) if refusal.code == "job_not_found")
}

/// Pokes the second clock: it ticks if this minute has not been ticked, and arms itself.
///
/// # Errors
/// When it fails or does not answer in time.
pub async fn poke_clock(env: &Env) -> Result<(), HostError> {
    ask_object::<(), serde_json::Value>(env, "CLOCK", "clock", &(), 25_000)
        .await
        .map(drop)
}

/// Asks a callback endpoint.
///
/// # Errors
/// When it fails or does not answer in time.
pub async fn ask_endpoint(
    env: &Env,
    endpoint: &EndpointId,
    ask: &EndpointAsk,
) -> Result<EndpointReply, HostError> {
    ask_object(env, "ENDPOINT", endpoint.as_str(), ask, ASK_LIMIT_MS).await
}

async fn ask_object<A: Serialize, R: DeserializeOwned>(
    env: &Env,
    binding: &str,
    name: &str,
    ask: &A,
    limit_ms: u64,
) -> Result<R, HostError> {
    let failed = |detail: String| HostError::Failed {
        object: name.to_owned(),
        detail,
    };
    // A stub is broken after an error, so each question makes its own.
    let stub = env
        .durable_object(binding)
        .and_then(|space| space.get_by_name(name))
        .map_err(|error| failed(error.to_string()))?;
    let body = serde_json::to_string(ask).map_err(|error| failed(error.to_string()))?;
    let answer = send(stub, name, &body);
    let limit = Delay::from(Duration::from_millis(limit_ms));
    let text = match select(std::pin::pin!(answer), limit).await {
        Either::Left((answer, _)) => answer.map_err(failed)?,
        Either::Right(_) => {
            return Err(HostError::Timeout {
                object: name.to_owned(),
                limit_ms,
            });
        }
    };
    serde_json::from_str(&text).map_err(|error| failed(format!("unreadable answer: {error}")))
}

#[expect(clippy::disallowed_methods, reason = "the one door to the objects")]
async fn send(stub: Stub, name: &str, body: &str) -> Result<String, String> {
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_body(Some(body.into()));
    // The name travels in the path: after a restart an object cannot ask the runtime for it.
    let request = Request::new_with_init(&format!("https://object/{name}"), &init)
        .map_err(|error| error.to_string())?;
    let mut response = stub
        .fetch_with_request(request)
        .await
        .map_err(|error| error.to_string())?;
    let status = response.status_code();
    let text = response.text().await.map_err(|error| error.to_string())?;
    if status == 200 {
        Ok(text)
    } else {
        Err(format!(
            "status {status}: {}",
            text.chars().take(200).collect::<String>()
        ))
    }
}
