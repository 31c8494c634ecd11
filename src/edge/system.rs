//! Health, metrics, rebuild.

use std::collections::BTreeMap;
use std::fmt::Write;

use cronwright_core::schedule::tzdb_version;
use cronwright_protocol::api::{Health, RebuildRequest, Rebuilt};
use futures_util::future::join_all;
use serde_json::json;

use super::call::Call;
use super::error::{Answer, Failure, unexpected};
use super::respond::Reply;
use super::{audit, limits};
use crate::host::client::{ask_shard, job_shards};
use crate::host::message::{DumpPage, DumpPosition, ShardAsk, ShardReply};
use crate::store;
use crate::store::runs::RunRow;

/// The release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Jobs and runs that one step of a rebuild writes: within the requests that one invocation may make on
/// the smallest plan.
const STEP: u32 = 30;

/// `GET /health`: nothing about the inside.
pub fn health() -> Answer<Reply> {
    Reply::json(
        200,
        &Health {
            ok: true,
            version: VERSION.to_owned(),
            tzdb_version: tzdb_version().to_owned(),
        },
    )
}

/// `GET /api/v1/system/metrics`: the shards' counters added up, and how many jobs there are.
pub async fn metrics(call: &Call) -> Answer<Reply> {
    let shards = job_shards(&call.env);
    let replies =
        join_all((0..shards).map(|shard| ask_shard(&call.env, shard, &ShardAsk::Stats))).await;
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut silent = 0_u32;
    for reply in replies {
        match reply {
            Ok(ShardReply::Stats(stats)) => stats
                .into_iter()
                .for_each(|(name, value)| *sums.entry(name).or_default() += value),
            Ok(_) | Err(_) => silent = silent.saturating_add(1),
        }
    }
    let mut text = String::new();
    let mut line = |name: &str, help: &str, value: f64| {
        // Writing to a text does not fail.
        let _ = write!(
            text,
            "# HELP cronwright_{name} {help}\n# TYPE cronwright_{name} gauge\ncronwright_{name} {value}\n"
        );
    };
    line("shards", "Shards that are configured.", f64::from(shards));
    line(
        "shards_silent",
        "Shards that did not answer.",
        f64::from(silent),
    );
    if let Ok(counts) = store::jobs::count(&call.db()?).await {
        #[expect(clippy::cast_precision_loss, reason = "a gauge")]
        for (name, help, count) in [
            (
                "jobs_enabled",
                "Jobs with their schedule on.",
                counts.enabled,
            ),
            ("jobs_paused", "Paused jobs.", counts.paused),
        ] {
            line(name, help, count as f64);
        }
    }
    for (name, value) in &sums {
        line(&safe(name), "Sum over the shards.", *value);
    }
    Ok(Reply::text(
        "text/plain; version=0.0.4; charset=utf-8",
        text,
    ))
}

/// A name that Prometheus takes.
fn safe(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect()
}

/// `POST /api/v1/system/rebuild`: one step.
pub async fn rebuild(call: &mut Call) -> Answer<Reply> {
    let request: RebuildRequest = limits::body(call, &["cursor", "shards"]).await?;
    let shards = request.shards.unwrap_or_else(|| job_shards(&call.env));
    if !(1..=1024).contains(&shards) {
        return Err(Failure::field("shards", "out_of_range", "1 to 1024"));
    }
    let (shard, from) = match request.cursor.as_deref() {
        None => (0, None),
        Some(text) => position(text)
            .filter(|(shard, _)| *shard < shards)
            .ok_or_else(|| Failure::field("cursor", "invalid", "this is no cursor"))?,
    };
    let page = match ask_shard(&call.env, shard, &ShardAsk::Dump { from, limit: STEP }).await? {
        ShardReply::Dump(page) => page,
        ShardReply::Refused(refusal) => return Err(refusal.into()),
        other => return Err(unexpected(&format!("{other:?}"))),
    };
    write(call, &page).await?;
    let next_cursor = match page.next {
        Some(next) => Some(format!("{shard}.{}.{}", next.number, next.seq)),
        None => shard
            .checked_add(1)
            .filter(|next| *next < shards)
            .map(|next| format!("{next}.0.0")),
    };
    if request.cursor.is_none() {
        audit::done(call, "-", json!({"shards": shards})).await;
    }
    let count = |items: usize| u64::try_from(items).unwrap_or(u64::MAX);
    Reply::json(
        200,
        &Rebuilt {
            jobs: count(page.jobs.len()),
            runs: count(page.runs.len()),
            done: next_cursor.is_none(),
            next_cursor,
        },
    )
}

async fn write(call: &Call, page: &DumpPage) -> Answer<()> {
    let db = call.db()?;
    for job in &page.jobs {
        if job.status == cronwright_core::job::view::JobStatus::Deleted {
            store::jobs::delete(&db, &job.definition.job_id).await?;
        } else {
            store::jobs::upsert(&db, job).await?;
        }
    }
    let rows: Vec<RunRow> = page
        .runs
        .iter()
        .map(|run| RunRow::from(&run.job_id, &run.run))
        .collect();
    store::runs::project(&db, &rows).await?;
    Ok(())
}

/// `shard.number.seq`.
fn position(text: &str) -> Option<(u16, Option<DumpPosition>)> {
    let mut parts = text.split('.');
    let (shard, number, seq) = (
        parts.next()?.parse().ok()?,
        parts.next()?.parse().ok()?,
        parts.next()?.parse::<u64>().ok()?,
    );
    i64::try_from(seq).ok()?;
    parts
        .next()
        .is_none()
        .then_some((shard, Some(DumpPosition { number, seq })))
}
