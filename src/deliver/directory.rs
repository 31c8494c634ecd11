//! Where things are, when their ids alone do not tell.

use cronwright_core::ids::{EndpointId, JobId};
use worker::Env;

use crate::store;

/// Endpoints read at a time, and at most.
const PAGE: u32 = 200;
const MOST: usize = 5_000;

/// Every callback endpoint that D1 knows of, up to a limit.
///
/// # Errors
/// When D1 does not answer.
pub async fn endpoints(env: &Env) -> Result<Vec<EndpointId>, String> {
    let db = env.d1("DB").map_err(|error| error.to_string())?;
    let mut ids: Vec<EndpointId> = Vec::new();
    while ids.len() < MOST {
        let page = store::endpoints::list(&db, None, ids.last(), PAGE)
            .await
            .map_err(|error| error.to_string())?;
        if page.is_empty() {
            break;
        }
        ids.extend(page.into_iter().map(|row| row.id));
    }
    Ok(ids)
}

/// The shard that D1 knows a job on; it differs from the job's home when `JOB_SHARDS` was raised later.
///
/// # Errors
/// When D1 does not answer.
pub async fn shard_of(env: &Env, job: &JobId) -> Result<Option<u16>, String> {
    let db = env.d1("DB").map_err(|error| error.to_string())?;
    let row = store::jobs::get(&db, job)
        .await
        .map_err(|error| error.to_string())?;
    Ok(row.map(|row| row.at.shard))
}
