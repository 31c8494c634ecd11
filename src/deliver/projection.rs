//! Rows for D1.

use cronwright_core::endpoint::EndpointView;
use cronwright_core::ids::JobId;
use cronwright_core::job::run::Run;
use cronwright_core::job::view::JobView;
use cronwright_core::time::Millis;
use worker::Env;

use crate::store;

/// Writes jobs and runs as they stand; gives the number of rows written for runs.
///
/// # Errors
/// When D1 does not take them. They may have been written all the same; to write them again is harmless.
pub async fn write(
    env: &Env,
    jobs: &[JobView],
    deleted: &[JobId],
    runs: &[(JobId, Run)],
) -> Result<u64, String> {
    let text = |error: store::StoreError| error.to_string();
    let db = env.d1("DB").map_err(|error| error.to_string())?;
    for job in jobs {
        store::jobs::upsert(&db, job).await.map_err(text)?;
    }
    for job in deleted {
        store::jobs::delete(&db, job).await.map_err(text)?;
    }
    if runs.is_empty() {
        return Ok(0);
    }
    let rows: Vec<store::runs::RunRow> = runs
        .iter()
        .map(|(job, run)| store::runs::RunRow::from(job, run))
        .collect();
    store::runs::project(&db, &rows).await.map_err(text)
}

/// Writes an endpoint's row as it stands.
///
/// # Errors
/// When D1 does not take it.
pub async fn write_endpoint(env: &Env, view: &EndpointView, time: Millis) -> Result<(), String> {
    let db = env.d1("DB").map_err(|error| error.to_string())?;
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let breaker = store::endpoints::Breaker::parse(view.breaker)
        .ok_or_else(|| format!("no breaker state is called {}", view.breaker))?;
    let row = store::endpoints::EndpointRow {
        id: view.endpoint_id.clone(),
        app: view.app.clone(),
        url: view.url.clone(),
        breaker,
        waiting: count(view.queue_length),
        dead: count(view.dead),
        created_at: view.created_at,
        updated_at: time,
    };
    store::endpoints::upsert(&db, &row)
        .await
        .map_err(|error| error.to_string())
}

/// Removes what is older than its retention, a bounded number of rows.
///
/// # Errors
/// When D1 does not answer.
pub async fn sweep(env: &Env, time: Millis) -> Result<(), String> {
    let db = env.d1("DB").map_err(|error| error.to_string())?;
    store::retention::sweep(&db, time, &store::retention::Retention::default())
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}
