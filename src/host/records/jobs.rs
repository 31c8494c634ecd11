//! The records of many jobs: definitions, positions, runs.
//!
//! A job's position (its head) is stored with whatever run changed along with it, so that a trigger
//! writes one row and an outcome one more. The copy with the highest `rev` is the true one: it lies in
//! the job's own row, in one of its newest [`NEWEST`] runs, or in a run that was not settled when one
//! of those was written.

use std::collections::BTreeMap;

use cronwright_core::ids::{JobId, JobRef, RunId};
use cronwright_core::job::def::Definition;
use cronwright_core::job::run::Run;
use cronwright_core::job::{Change, Head, JobMachine};
use cronwright_core::time::Millis;
use worker::SqlStorageValue;

use super::sql::{Row, Sql, StorageError, read, write};

/// Runs read with a job, besides the unsettled ones.
const NEWEST: u64 = 3;

const CREATE: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS jobs (number INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, definition TEXT NOT NULL, head TEXT NOT NULL, projected INTEGER NOT NULL DEFAULT 0, quarantine TEXT)",
    "CREATE INDEX IF NOT EXISTS jobs_unprojected ON jobs (number) WHERE projected = 0",
    // One integer for job and run: rows of this size do not fit the small cells of a table without rowid.
    "CREATE TABLE IF NOT EXISTS runs (place INTEGER PRIMARY KEY, tag TEXT NOT NULL, run TEXT NOT NULL, head TEXT)",
];
const INSERT_JOB: &str = "INSERT INTO jobs (number, job_id, definition, head) VALUES (?, ?, ?, ?)";
const PUT_JOB: &str = "UPDATE jobs SET definition = ?, head = ?, projected = 0 WHERE number = ?";
const PUT_HEADS: &str =
    "UPDATE jobs SET head = j.value ->> 1 FROM json_each(?) AS j WHERE number = j.value ->> 0";
const PUT_RUN: &str = "INSERT INTO runs (place, tag, run, head) VALUES ";
const ON_CONFLICT: &str =
    " ON CONFLICT (place) DO UPDATE SET run = excluded.run, head = coalesce(excluded.head, head)";
const JOB_BY_ID: &str = "SELECT number FROM jobs WHERE job_id = ?";
const JOB: &str = "SELECT definition, head, quarantine FROM jobs WHERE number = ?";
const NEWEST_RUNS: &str =
    "SELECT place, run, head FROM runs WHERE place >= ? AND place < ? ORDER BY place DESC LIMIT 3";
const RUNS_FROM: &str =
    "SELECT place, run, head FROM runs WHERE place >= ? AND place < ? ORDER BY place LIMIT ?";
const RUNS_BEFORE: &str =
    "SELECT place, run, head FROM runs WHERE place >= ? AND place < ? ORDER BY place DESC LIMIT ?";
const RUN_BY_TAG: &str = "SELECT place, run, head FROM runs WHERE place >= ? AND place < ? AND tag = ? ORDER BY place DESC LIMIT 1";
const RUN_BY_KEY: &str = "SELECT place, run, head FROM runs WHERE place = ?";
const NEXT_NUMBER: &str = "SELECT coalesce(max(number), 0) + 1 FROM jobs";
const COUNT: &str = "SELECT count(*) FROM jobs";
const UNPROJECTED: &str = "SELECT number FROM jobs WHERE projected = 0 LIMIT 200";
const SET_PROJECTED: &str =
    "UPDATE jobs SET projected = 1 WHERE number IN (SELECT value FROM json_each(?))";
const SET_QUARANTINE: &str = "UPDATE jobs SET quarantine = ? WHERE number = ?";
const DROP_RUNS: &str = "DELETE FROM runs WHERE place >= ? AND place < ?";
/// Looks at the oldest rows only: a busy job's history is not read every hour.
const DROP_OLD_RUNS: &str = "DELETE FROM runs WHERE place IN (SELECT place FROM runs WHERE place >= ?1 AND place < ?2 ORDER BY place LIMIT 5000) \
     AND (place < ?3 OR run ->> '$.triggeredAt' < ?4)";
const DROP_JOB: &str = "DELETE FROM jobs WHERE number = ?";
const NUMBERS_FROM: &str = "SELECT number FROM jobs WHERE number >= ? ORDER BY number LIMIT ?";

/// Makes the tables.
///
/// # Errors
/// When storage fails.
pub fn open(sql: &Sql) -> Result<(), StorageError> {
    CREATE
        .iter()
        .try_for_each(|text| sql.run(text, vec![]).map(drop))
}

/// The number of the next job. Numbers are never used twice: a deleted job's row stays until the newest
/// number has moved on.
///
/// # Errors
/// When storage fails.
pub fn next_number(sql: &Sql) -> Result<u32, StorageError> {
    let rows = sql.run(NEXT_NUMBER, vec![])?;
    let number = rows.first().and_then(|row| row.number(0)).unwrap_or(1);
    let floor = super::meta::get(sql, "next_number")?
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let number = number.max(floor);
    super::meta::put(sql, "next_number", &number.saturating_add(1).to_string())?;
    u32::try_from(number)
        .map_err(|_| StorageError("the shard has no number left for a new job".to_owned()))
}

/// The number of a job.
///
/// # Errors
/// When storage fails.
pub fn number_of(sql: &Sql, job: &JobId) -> Result<Option<u32>, StorageError> {
    let rows = sql.run(JOB_BY_ID, vec![job.as_str().to_owned().into()])?;
    Ok(rows
        .first()
        .and_then(|row| row.number(0))
        .and_then(|number| u32::try_from(number).ok()))
}

/// A job as it was read: a machine, or the reason why there is none.
pub enum Loaded {
    /// Ready to step.
    Machine(Box<JobMachine>),
    /// Quarantined, now or earlier.
    Poisoned {
        /// Why.
        why: String,
        /// What can be shown of it.
        records: Option<Box<(Definition, Head)>>,
    },
}

/// Reads a job; none when there is none of that number.
///
/// # Errors
/// When storage fails.
pub fn load(sql: &Sql, at: JobRef) -> Result<Option<Loaded>, StorageError> {
    let rows = sql.run(JOB, vec![i64::from(at.number).into()])?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let stored = (|| -> Result<(Definition, Head, Vec<Run>), StorageError> {
        let definition = read("definition", row.text(0))?;
        let mut head: Head = read("head", row.text(1))?;
        let runs = load_runs(sql, at.number, &mut head)?;
        Ok((definition, head, runs))
    })();
    let quarantine = row.text(2);
    Ok(Some(match stored {
        Err(error) => Loaded::Poisoned {
            why: error.to_string(),
            records: None,
        },
        Ok((definition, head, _)) if !quarantine.is_empty() => Loaded::Poisoned {
            why: quarantine.to_owned(),
            records: Some(Box::new((definition, head))),
        },
        Ok((definition, head, runs)) => {
            let shown = Box::new((definition.clone(), head.clone()));
            match JobMachine::restore(at, definition, head, runs) {
                Ok(machine) => Loaded::Machine(Box::new(machine)),
                Err(error) => Loaded::Poisoned {
                    why: format!("the schedule cannot be used any more: {error}"),
                    records: Some(shown),
                },
            }
        }
    }))
}

fn load_runs(sql: &Sql, number: u32, head: &mut Head) -> Result<Vec<Run>, StorageError> {
    let newest = sql.run(NEWEST_RUNS, vec![place(number, 0), end(number)])?;
    let mut runs = Vec::with_capacity(newest.len());
    take_runs(&newest, head, &mut runs)?;
    let oldest = runs.iter().map(|run: &Run| run.seq).min().unwrap_or(1);
    // Of older runs, those that still matter.
    if head.settled_below < oldest {
        let older = sql.run(
            RUNS_FROM,
            vec![
                place(number, head.settled_below),
                place(number, oldest),
                i64::from(u32::MAX).into(),
            ],
        )?;
        take_runs(&older, head, &mut runs)?;
    }
    Ok(runs)
}

fn take_runs(rows: &[Row], head: &mut Head, runs: &mut Vec<Run>) -> Result<(), StorageError> {
    for row in rows {
        let run: Run = read("run", row.text(1))?;
        let stored = row.text(2);
        if !stored.is_empty() {
            let other: Head = read("head", stored)?;
            if other.rev > head.rev {
                *head = other;
            }
        }
        runs.push(run);
    }
    Ok(())
}

/// The largest `seq`: a run every second for 68 years.
pub const MAX_SEQ: u64 = (1 << SEQ_BITS) - 1;

/// Bits of a run's place that hold its `seq`; those above hold the job's number.
const SEQ_BITS: u32 = 31;

/// Where a run is kept: job by job, run by run.
fn place(number: u32, seq: u64) -> SqlStorageValue {
    let seq = i64::try_from(seq.min(MAX_SEQ)).unwrap_or(0);
    ((i64::from(number) << SEQ_BITS) | seq).into()
}

/// The first place after a job's runs.
fn end(number: u32) -> SqlStorageValue {
    place(number.saturating_add(1), 0)
}

/// Stores a new job's row.
///
/// # Errors
/// When storage fails.
pub fn insert(sql: &Sql, machine: &JobMachine) -> Result<(), StorageError> {
    let definition = write("definition", machine.definition())?;
    let head = write("head", machine.head())?;
    let id = machine.definition().job_id.as_str().to_owned();
    sql.run(
        INSERT_JOB,
        vec![
            i64::from(machine.at().number).into(),
            id.into(),
            definition.into(),
            head.into(),
        ],
    )
    .map(drop)
}

/// Stores what many turns changed, with one statement for each kind of record.
///
/// # Errors
/// When storage fails.
pub fn commit(sql: &Sql, changes: Vec<(u32, Change)>) -> Result<(), StorageError> {
    let mut runs: Vec<(u32, u64, String, String, Option<String>)> =
        Vec::with_capacity(changes.len());
    let mut heads: BTreeMap<u32, String> = BTreeMap::new();
    let mut definitions: Vec<(u32, String)> = Vec::new();
    // Within a turn the head comes last, after the runs that changed with it.
    for (number, change) in changes {
        match change {
            Change::Definition(definition) => {
                definitions.push((number, write("definition", &definition)?))
            }
            Change::Run(run) => {
                runs.push((number, run.seq, tag_of(&run.id), write("run", &run)?, None))
            }
            Change::Head(head) => {
                let text = write("head", &head)?;
                let with_definition = definitions.last().filter(|(of, _)| *of == number).is_some();
                let newest = head.last_seq.saturating_sub(NEWEST);
                let beside = runs
                    .last_mut()
                    .filter(|(of, seq, ..)| *of == number && *seq > newest);
                match beside {
                    Some((.., slot)) if !with_definition => *slot = Some(text),
                    _ => drop(heads.insert(number, text)),
                }
            }
        }
    }
    if !runs.is_empty() {
        put_runs(sql, runs)?;
    }
    let with_definition: Vec<u32> = definitions.iter().map(|(number, _)| *number).collect();
    for (number, definition) in definitions {
        let head = heads.get(&number).cloned().unwrap_or_default();
        sql.run(
            PUT_JOB,
            vec![definition.into(), head.into(), i64::from(number).into()],
        )?;
    }
    heads.retain(|number, _| !with_definition.contains(number));
    if !heads.is_empty() {
        let heads: Vec<(u32, String)> = heads.into_iter().collect();
        sql.run(PUT_HEADS, vec![write("heads", &heads)?.into()])?;
    }
    Ok(())
}

/// Rows in one statement: it may have a hundred parameters.
const ROWS: usize = 25;

fn put_runs(
    sql: &Sql,
    runs: Vec<(u32, u64, String, String, Option<String>)>,
) -> Result<(), StorageError> {
    let mut rest = runs.into_iter();
    loop {
        let rows: Vec<_> = rest.by_ref().take(ROWS).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let text = format!(
            "{PUT_RUN}{}{ON_CONFLICT}",
            vec!["(?, ?, ?, ?)"; rows.len()].join(", ")
        );
        let mut binds = Vec::with_capacity(rows.len().saturating_mul(4));
        for (number, seq, tag, run, head) in rows {
            binds.extend([
                place(number, seq),
                tag.into(),
                run.into(),
                head.map_or(SqlStorageValue::Null, Into::into),
            ]);
        }
        sql.run(&text, binds)?;
    }
}

/// The part of a run's id after the job: what a trigger is recognised by.
fn tag_of(id: &RunId) -> String {
    use cronwright_core::ids::RunTag;
    match &id.tag {
        // A manual run is the same run whenever its key comes again.
        RunTag::Manual(hash) => format!("m{hash}"),
        RunTag::Replay(hash) => format!("r{hash}"),
        RunTag::Occurrence(_) | RunTag::After(_) => id.to_string(),
    }
}

/// A run by its id, or by the key of the trigger that made it.
///
/// # Errors
/// When storage fails.
pub fn run(sql: &Sql, id: &RunId) -> Result<Option<Run>, StorageError> {
    one(&sql.run(
        RUN_BY_TAG,
        vec![
            place(id.job.number, 0),
            end(id.job.number),
            tag_of(id).into(),
        ],
    )?)
}

/// A run by its place.
///
/// # Errors
/// When storage fails.
pub fn run_at(sql: &Sql, number: u32, seq: u64) -> Result<Option<Run>, StorageError> {
    one(&sql.run(RUN_BY_KEY, vec![place(number, seq)])?)
}

fn one(rows: &[Row]) -> Result<Option<Run>, StorageError> {
    rows.first().map(|row| read("run", row.text(1))).transpose()
}

/// Up to `limit` runs below `before`, newest first.
///
/// # Errors
/// When storage fails.
pub fn runs_before(
    sql: &Sql,
    number: u32,
    before: u64,
    limit: u32,
) -> Result<Vec<Run>, StorageError> {
    let rows = sql.run(
        RUNS_BEFORE,
        vec![
            place(number, 0),
            place(number, before),
            i64::from(limit).into(),
        ],
    )?;
    rows.iter().map(|row| read("run", row.text(1))).collect()
}

/// Up to `limit` runs from `from` on, oldest first.
///
/// # Errors
/// When storage fails.
pub fn runs_from(sql: &Sql, number: u32, from: u64, limit: u32) -> Result<Vec<Run>, StorageError> {
    let until = from.saturating_add(u64::from(limit));
    let rows = sql.run(
        RUNS_FROM,
        vec![
            place(number, from),
            place(number, until),
            i64::from(limit).into(),
        ],
    )?;
    rows.iter().map(|row| read("run", row.text(1))).collect()
}

/// Jobs in the shard.
///
/// # Errors
/// When storage fails.
pub fn count(sql: &Sql) -> Result<u64, StorageError> {
    Ok(sql
        .run(COUNT, vec![])?
        .first()
        .and_then(|row| row.number(0))
        .and_then(|n| u64::try_from(n).ok())
        .unwrap_or(0))
}

/// Jobs whose definition D1 does not have, at most 200.
///
/// # Errors
/// When storage fails.
pub fn unprojected(sql: &Sql) -> Result<Vec<u32>, StorageError> {
    numbers(&sql.run(UNPROJECTED, vec![])?)
}

/// D1 has the definitions of these jobs.
///
/// # Errors
/// When storage fails.
pub fn set_projected(sql: &Sql, jobs: &[u32]) -> Result<(), StorageError> {
    sql.run(SET_PROJECTED, vec![write("numbers", &jobs)?.into()])
        .map(drop)
}

/// Keeps a job from being stepped, or lets it again.
///
/// # Errors
/// When storage fails.
pub fn set_quarantine(sql: &Sql, number: u32, why: Option<&str>) -> Result<(), StorageError> {
    let why = why.map_or(SqlStorageValue::Null, |why| why.to_owned().into());
    sql.run(SET_QUARANTINE, vec![why, i64::from(number).into()])
        .map(drop)
}

/// Job numbers from `from` on, in order.
///
/// # Errors
/// When storage fails.
pub fn numbers_from(sql: &Sql, from: u32, limit: u32) -> Result<Vec<u32>, StorageError> {
    numbers(&sql.run(
        NUMBERS_FROM,
        vec![i64::from(from).into(), i64::from(limit).into()],
    )?)
}

fn numbers(rows: &[Row]) -> Result<Vec<u32>, StorageError> {
    Ok(rows
        .iter()
        .filter_map(|row| row.number(0))
        .filter_map(|number| u32::try_from(number).ok())
        .collect())
}

/// Drops old runs of a job below `safe`: those below `too_many`, and those triggered before `before`.
///
/// # Errors
/// When storage fails.
pub fn drop_old_runs(
    sql: &Sql,
    number: u32,
    safe: u64,
    too_many: u64,
    before: Millis,
) -> Result<(), StorageError> {
    if safe <= 1 {
        return Ok(());
    }
    sql.run(
        DROP_OLD_RUNS,
        vec![
            place(number, 0),
            place(number, safe),
            place(number, too_many),
            before.0.into(),
        ],
    )
    .map(drop)
}

/// Forgets a deleted job and its runs.
///
/// # Errors
/// When storage fails.
pub fn forget(sql: &Sql, number: u32) -> Result<(), StorageError> {
    sql.run(DROP_RUNS, vec![place(number, 0), end(number)])?;
    sql.run(DROP_JOB, vec![i64::from(number).into()]).map(drop)
}
