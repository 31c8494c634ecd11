//! Reading runs: from their shard while it has them, from the database afterwards.

use cronwright_core::ids::RunId;
use cronwright_protocol::api::{Ledger, Run, RunPage};
use cronwright_protocol::problem::Code;

use super::auth::no_job;
use super::call::Call;
use super::error::{Answer, Failure, no_such, unexpected};
use super::jobs::{find, job_id};
use super::respond::Reply;
use super::rows;
use crate::host::client::{ask_shard, job_shards, locate_job};
use crate::host::message::{RunOfJob, ShardAsk, ShardReply};
use crate::store;
use crate::store::runs::{RunFilter, RunRow};

/// Pages that are read on for a token that sees few of the runs.
const MOST_PAGES: usize = 5;

/// The run of the path.
pub fn run_id(call: &Call) -> Answer<RunId> {
    call.params
        .get("scheduleId")
        .parse()
        .map_err(no_such(Code::RunNotFound))
}

/// The answer about a run that does not exist, and about one that is none of the caller's business.
pub fn no_run(id: &RunId) -> Failure {
    Failure::new(
        Code::RunNotFound,
        format!("there is no run {id}, or it is older than what is kept"),
    )
}

/// Asks the shard of a run. An object is made by being asked, so only shards that can exist are.
pub async fn ask(call: &Call, id: &RunId, ask: &ShardAsk) -> Answer<ShardReply> {
    if id.job.shard >= job_shards(&call.env) {
        return Err(no_run(id));
    }
    match ask_shard(&call.env, id.job.shard, ask).await? {
        ShardReply::Refused(refusal) => Err(refusal.into()),
        reply => Ok(reply),
    }
}

/// The run in a reply.
pub fn run_of(reply: ShardReply) -> Answer<RunOfJob> {
    match reply {
        ShardReply::Run(run) => Ok(*run),
        other => Err(unexpected(&format!("{other:?}"))),
    }
}

/// The run as its shard has it, if the caller reaches its job.
pub async fn live(call: &Call, id: &RunId) -> Answer<RunOfJob> {
    let run = run_of(ask(call, id, &ShardAsk::Run { run: id.clone() }).await?)?;
    if call.caller.reach.holds(&run.job_id) {
        Ok(run)
    } else {
        Err(no_run(id))
    }
}

/// A run wherever it is kept.
enum Kept {
    Live(Box<RunOfJob>),
    Row(Box<RunRow>),
}

async fn kept(call: &Call) -> Answer<Kept> {
    let id = run_id(call)?;
    match live(call, &id).await {
        Ok(run) => Ok(Kept::Live(Box::new(run))),
        Err(failure)
            if matches!(
                failure.problem.code,
                Code::RunNotFound | Code::ObjectUnavailable
            ) =>
        {
            let row = store::runs::get(&call.db()?, &id).await?;
            row.filter(|row| call.caller.reach.holds(&row.job_id))
                .map(|row| Kept::Row(Box::new(row)))
                .ok_or(failure)
        }
        Err(failure) => Err(failure),
    }
}

/// `GET /api/v1/runs/{scheduleId}`.
pub async fn get(call: &Call) -> Answer<Reply> {
    match kept(call).await? {
        Kept::Live(run) => Reply::json(200, &Run::of(&run.job_id, &run.run)),
        Kept::Row(row) => Reply::json(200, &rows::run(&row)),
    }
}

/// `GET /api/v1/runs/{scheduleId}/ledger`.
pub async fn ledger(call: &Call) -> Answer<Reply> {
    match kept(call).await? {
        Kept::Live(run) => Reply::json(200, &Ledger::of(&run.run)),
        Kept::Row(row) => Reply::json(200, &rows::ledger(&row)),
    }
}

/// `GET /api/v1/runs/{scheduleId}/output`: always a download, never shown by a browser as anything else.
pub async fn output(call: &Call) -> Answer<Reply> {
    let id = run_id(call)?;
    let text = match kept(call).await? {
        Kept::Live(run) => run.run.result.and_then(|result| {
            let mark = if result.truncated {
                "\n…[truncated]\n"
            } else {
                ""
            };
            // A short output is its own summary, and kept once.
            result
                .output
                .or(result.summary)
                .map(|output| format!("{output}{mark}"))
        }),
        // The database keeps the summary alone.
        Kept::Row(row) => row.summary,
    };
    Ok(
        Reply::text("text/plain; charset=utf-8", text.unwrap_or_default()).header(
            "content-disposition",
            format!("attachment; filename=\"{id}.txt\""),
        ),
    )
}

/// `GET /api/v1/runs`.
pub async fn list(call: &Call) -> Answer<Reply> {
    let states = rows::states(call.param("status"))?;
    let mut before: Option<RunId> = match call.param("cursor") {
        None => None,
        Some(text) => Some(
            text.parse()
                .map_err(|_| Failure::parameter("cursor", "this is no cursor"))?,
        ),
    };
    let limit = call.limit();
    let keep = usize::try_from(limit).unwrap_or(usize::MAX);
    let (db, mut items, mut more) = (call.db()?, Vec::new(), true);
    for _ in 0..MOST_PAGES {
        let page = store::runs::latest(
            &db,
            &RunFilter {
                states: states.clone(),
                before: before.clone(),
                limit,
            },
        )
        .await?;
        more = page.len() == keep;
        for row in page {
            before = Some(row.id.clone());
            if call.caller.reach.holds(&row.job_id) && items.len() < keep {
                items.push(rows::run(&row));
            }
            if items.len() == keep {
                break;
            }
        }
        if !more || items.len() == keep {
            break;
        }
    }
    let more = more || items.len() == keep;
    let next_cursor = before
        .filter(|_| more && !items.is_empty())
        .map(|id| id.to_string());
    Reply::json(200, &RunPage { items, next_cursor })
}

/// `GET /api/v1/jobs/{jobId}/runs`.
pub async fn of_job(call: &Call) -> Answer<Reply> {
    let job = job_id(call)?;
    let states = rows::states(call.param("status"))?;
    let before = match call.param("cursor") {
        None => None,
        // Sequence numbers are integers of SQLite: 63 bits.
        Some(text) => Some(
            text.parse::<u64>()
                .ok()
                .filter(|seq| i64::try_from(*seq).is_ok())
                .ok_or_else(|| Failure::parameter("cursor", "this is no cursor"))?,
        ),
    };
    let ask = ShardAsk::Runs {
        job: job.clone(),
        before,
        limit: call.limit(),
        states,
    };
    match locate_job(&call.env, &job, &ask).await? {
        ShardReply::Runs(page) => {
            let items = page
                .runs
                .iter()
                .map(|run| Run::of(&page.job_id, run))
                .collect();
            Reply::json(
                200,
                &RunPage {
                    items,
                    next_cursor: page.next_before.map(|seq| seq.to_string()),
                },
            )
        }
        ShardReply::Refused(refusal) => Err(refusal.into()),
        other => Err(unexpected(&format!("{other:?}"))),
    }
}

/// `GET /api/v1/tasks/{jobId}`.
pub async fn latest_of_job(call: &Call) -> Answer<Reply> {
    let job = job_id(call)?;
    if !call.caller.reach.holds(&job) {
        return Err(no_job(&job));
    }
    match find(call, &job).await?.last {
        Some(run) => Reply::json(200, &Run::of(&job, &run)),
        None => Err(Failure::new(
            Code::RunNotFound,
            format!("job {job} has not run yet"),
        )),
    }
}
