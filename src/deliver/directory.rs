//! Where a job lives, when its id alone does not tell.

use cronwright_core::ids::JobId;
use worker::Env;

use crate::store;

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
