//! Runs: one row each, written when they end, or when they still run after five seconds.

use cronwright_core::ids::RunId;
use cronwright_core::outcome::RunState;
use cronwright_core::time::Millis;

use super::cells::{Reader, to_json};
use super::run_row::{read, tuple};
use super::{Cell, Database, Query, StoreError, all, change, first, page};

pub use super::run_row::{RunRow, TriggerKind};

/// Which runs a list shows, newest planned instant first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only in these states; empty means all.
    pub states: Vec<RunState>,
    /// Only before this run: the cursor.
    pub before: Option<RunId>,
    /// How many, at most [`super::PAGE_LIMIT`].
    pub limit: u32,
}

/// A trigger this late counts as late. The partial index says the same.
pub const LATE_MS: i64 = 5_000;

/// What the head of the page counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Failed or timed out.
    pub failed: u64,
    /// Triggered [`LATE_MS`] late or more.
    pub late: u64,
    /// Not ended; runs younger than five seconds are not in D1 yet.
    pub running: u64,
}

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[
    ("runs::PROJECT", PROJECT),
    ("runs::GET", GET),
    ("runs::LATEST", LATEST),
    ("runs::LATEST_NOTABLE", LATEST_NOTABLE),
    ("runs::COUNTS", COUNTS),
    ("runs::PRUNE", PRUNE),
];

// One statement for any number of rows: D1 takes at most 100 bound values.
const PROJECT: &str = "
INSERT INTO runs (at, run_id, job_id, shard, number, seq, rev, revision, state, trigger_kind, trigger_by, trigger_run,
  attempts, losses, fence, late_ms, triggered_at, started_at, ended_at, duration_ms, http_status, error_code, summary,
  callback, range_count, ledger)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
  value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16,
  value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, value ->> 24, value ->> 25
FROM json_each(?1) WHERE true
ON CONFLICT (at, run_id) DO UPDATE SET rev = excluded.rev, revision = excluded.revision, state = excluded.state,
  attempts = excluded.attempts, losses = excluded.losses, fence = excluded.fence, started_at = excluded.started_at,
  ended_at = excluded.ended_at, duration_ms = excluded.duration_ms, http_status = excluded.http_status,
  error_code = excluded.error_code, summary = excluded.summary, callback = excluded.callback,
  range_count = excluded.range_count, ledger = excluded.ledger
WHERE excluded.rev > runs.rev";

const GET: &str = "
SELECT run_id, job_id, seq, rev, revision, state, trigger_kind, trigger_by, trigger_run, attempts, losses, fence, late_ms,
  triggered_at, started_at, ended_at, duration_ms, http_status, error_code, summary, callback, range_count, ledger
FROM runs WHERE at = ?1 AND run_id = ?2";

const LATEST: &str = "
SELECT run_id, job_id, seq, rev, revision, state, trigger_kind, trigger_by, trigger_run, attempts, losses, fence, late_ms,
  triggered_at, started_at, ended_at, duration_ms, http_status, error_code, summary, callback, range_count, ledger
FROM runs WHERE (at, run_id) < (?1, ?2) AND (?3 IS NULL OR state IN (SELECT value FROM json_each(?3)))
ORDER BY at DESC, run_id DESC LIMIT ?4";

// The condition of the partial index, word for word, or SQLite does not use it.
const LATEST_NOTABLE: &str = "
SELECT run_id, job_id, seq, rev, revision, state, trigger_kind, trigger_by, trigger_run, attempts, losses, fence, late_ms,
  triggered_at, started_at, ended_at, duration_ms, http_status, error_code, summary, callback, range_count, ledger
FROM runs INDEXED BY runs_notable
WHERE (state <> 'SUCCESS' OR late_ms >= 5000) AND (at, run_id) < (?1, ?2) AND state IN (SELECT value FROM json_each(?3))
ORDER BY at DESC, run_id DESC LIMIT ?4";

const COUNTS: &str = "
SELECT count(*) FILTER (WHERE state IN ('FAILED', 'TIMED_OUT')),
  count(*) FILTER (WHERE late_ms >= 5000),
  count(*) FILTER (WHERE state IN ('TRIGGERED', 'DISPATCHED', 'RUNNING', 'LOST', 'UNKNOWN'))
FROM runs INDEXED BY runs_notable WHERE (state <> 'SUCCESS' OR late_ms >= 5000) AND at >= ?1";

// Open runs stay, however old: they are what somebody has to look at.
const PRUNE: &str = "
DELETE FROM runs WHERE (at, run_id) IN (
  SELECT at, run_id FROM runs
  WHERE at < ?1 AND state IN ('SUCCESS', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'SKIPPED') ORDER BY at LIMIT ?2)";

/// Bytes of JSON in one statement; D1 takes values of at most 2 MB.
const CHUNK_BYTES: usize = 1_000_000;

/// Takes over runs as they stand, in one transaction and, unless they are very long, one statement. A
/// newer copy is never replaced by an older one. Answers how many rows were written, as the platform bills.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn project(db: &impl Database, runs: &[RunRow]) -> Result<u64, StoreError> {
    let mut queries = Vec::new();
    let mut chunk = String::from("[");
    for run in runs {
        let json = to_json("runs", "run_id", &tuple(run)?)?;
        if chunk.len() > 1 && chunk.len().saturating_add(json.len()) > CHUNK_BYTES {
            queries.push(Query::new(
                PROJECT,
                [(std::mem::replace(&mut chunk, String::from("[")) + "]").into()],
            ));
        }
        if chunk.len() > 1 {
            chunk.push(',');
        }
        chunk.push_str(&json);
    }
    if chunk.len() > 1 {
        queries.push(Query::new(PROJECT, [(chunk + "]").into()]));
    }
    if queries.is_empty() {
        return Ok(0);
    }
    Ok(db
        .write(queries)
        .await?
        .iter()
        .map(|written| written.rows_written)
        .sum())
}

/// One run.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn get(db: &impl Database, id: &RunId) -> Result<Option<RunRow>, StoreError> {
    first(
        db.read(Query::new(GET, [id.at.into(), id.to_string().into()]))
            .await?,
        read,
    )
}

/// The newest runs of all jobs. The last one's id is the next page's cursor.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn latest(db: &impl Database, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
    // Without a cursor, from beyond every instant that fits a double.
    let (at, id) = filter
        .before
        .as_ref()
        .map_or((Millis(1 << 53), String::new()), |run| {
            (run.at, run.to_string())
        });
    let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
    // Successes are most of the table; whoever does not ask for them reads the small index.
    let notable = !states.is_empty() && !filter.states.contains(&RunState::Success);
    let states = if states.is_empty() {
        Cell::Null
    } else {
        to_json("runs", "state", &states)?.into()
    };
    let sql = if notable { LATEST_NOTABLE } else { LATEST };
    all(
        db.read(Query::new(
            sql,
            [at.into(), id.into(), states, page(filter.limit)],
        ))
        .await?,
        read,
    )
}

/// What failed, was late or still runs, of the runs planned since `since`.
///
/// # Errors
/// When the database fails.
pub async fn counts(db: &impl Database, since: Millis) -> Result<RunCounts, StoreError> {
    let read = |row| {
        let mut row = Reader::new("runs", row);
        Ok(RunCounts {
            failed: row.int("failed")?,
            late: row.int("late")?,
            running: row.int("running")?,
        })
    };
    Ok(first(db.read(Query::new(COUNTS, [since.into()])).await?, read)?.unwrap_or_default())
}

/// Removes at most `limit` ended runs planned before `before`, oldest first. Answers how many.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn prune(db: &impl Database, before: Millis, limit: u32) -> Result<u64, StoreError> {
    change(db, Query::new(PRUNE, [before.into(), limit.into()])).await
}
