//! Jobs, as lists and filters need them.

use std::collections::BTreeMap;

use cronwright_core::ids::{JobId, JobRef};
use cronwright_core::job::def::{Definition, Executor, ScheduleSpec};
use cronwright_core::job::view::{JobStatus, JobView};
use cronwright_core::time::Millis;

use super::cells::{Reader, to_json};
use super::{Cell, Database, Query, Row, StoreError, all, change, first, page};

/// A job as D1 has it. What changes with every run (the next instant, the last run) is not here: ask
/// the shard.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// Where it lives.
    pub at: JobRef,
    /// Whether its schedule is on.
    pub status: JobStatus,
    /// Counts the edits from 1.
    pub revision: u32,
    /// The saved definition, id and name included.
    pub definition: Definition,
    /// When it was created.
    pub created_at: Millis,
    /// When it was last edited, paused or resumed.
    pub updated_at: Millis,
}

/// Which jobs a list shows, in the order of their ids.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Part of the name or the id; case does not matter for ASCII letters.
    pub q: Option<String>,
    /// Only this status.
    pub status: Option<JobStatus>,
    /// Only with this label.
    pub label: Option<LabelFilter>,
    /// Only after this id: the cursor.
    pub after: Option<JobId>,
    /// How many, at most [`super::PAGE_LIMIT`].
    pub limit: u32,
}

/// A label, with any or with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelFilter {
    /// The label.
    pub label: String,
    /// Its value; none means any.
    pub value: Option<String>,
}

/// How many jobs there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// With their schedule on.
    pub enabled: u64,
    /// Paused.
    pub paused: u64,
}

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[
    ("jobs::UPSERT", UPSERT),
    ("jobs::DELETE", DELETE),
    ("jobs::DELETE_OLDER", DELETE_OLDER),
    ("jobs::DROP_LABELS", DROP_LABELS),
    ("jobs::ADD_LABELS", ADD_LABELS),
    ("jobs::GET", GET),
    ("jobs::LIST", LIST),
    ("jobs::LIST_BY_LABEL", LIST_BY_LABEL),
    ("jobs::COUNT", COUNT),
    ("jobs::NAMES", NAMES),
];

// A job that was deleted and made anew has a later `created_at`: copies of the old one lose against it.
const UPSERT: &str = "
INSERT INTO jobs (job_id, shard, number, name, status, revision, schedule_kind, schedule_text, dialect, time_zone,
  executor_kind, target, owner, pool, app_id, definition, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
ON CONFLICT (job_id) DO UPDATE SET shard = excluded.shard, number = excluded.number, name = excluded.name,
  status = excluded.status, revision = excluded.revision, schedule_kind = excluded.schedule_kind,
  schedule_text = excluded.schedule_text, dialect = excluded.dialect, time_zone = excluded.time_zone,
  executor_kind = excluded.executor_kind, target = excluded.target, owner = excluded.owner, pool = excluded.pool,
  app_id = excluded.app_id, definition = excluded.definition, created_at = excluded.created_at, updated_at = excluded.updated_at
WHERE (excluded.created_at, excluded.updated_at, excluded.revision) >= (jobs.created_at, jobs.updated_at, jobs.revision)";

const DELETE: &str = "DELETE FROM jobs WHERE job_id = ?1";

const DELETE_OLDER: &str = "DELETE FROM jobs WHERE job_id = ?1 AND created_at <= ?2";

const DROP_LABELS: &str = "DELETE FROM job_labels WHERE job_id = ?1";

// From the stored definition, so that the labels are those of whichever copy won.
const ADD_LABELS: &str = "
INSERT INTO job_labels (job_id, label, value)
SELECT jobs.job_id, each.key, each.value FROM jobs, json_each(jobs.definition, '$.labels') AS each WHERE jobs.job_id = ?1";

const GET: &str = "SELECT shard, number, status, revision, definition, created_at, updated_at FROM jobs WHERE job_id = ?1";

// `instr` where one would expect LIKE: D1 refuses LIKE patterns of more than 50 bytes.
const LIST: &str = "
SELECT shard, number, status, revision, definition, created_at, updated_at FROM jobs INDEXED BY jobs_search
WHERE job_id > ?1 AND (?2 IS NULL OR status = ?2)
  AND (?3 IS NULL OR instr(lower(name), ?3) > 0 OR instr(lower(job_id), ?3) > 0)
ORDER BY job_id LIMIT ?4";

const LIST_BY_LABEL: &str = "
SELECT shard, number, status, revision, definition, created_at, updated_at
FROM job_labels CROSS JOIN jobs USING (job_id)
WHERE job_labels.label = ?5 AND job_labels.job_id > ?1 AND (?6 IS NULL OR job_labels.value = ?6)
  AND (?2 IS NULL OR status = ?2)
  AND (?3 IS NULL OR instr(lower(name), ?3) > 0 OR instr(lower(jobs.job_id), ?3) > 0)
ORDER BY job_labels.job_id LIMIT ?4";

const COUNT: &str = "
SELECT (SELECT count(*) FROM jobs WHERE status = 'ENABLED'), (SELECT count(*) FROM jobs WHERE status = 'PAUSED')";

const NAMES: &str =
    "SELECT job_id, name FROM json_each(?1) AS each CROSS JOIN jobs ON jobs.job_id = each.value";

/// Takes over a job as it stands, unless a newer copy is here already. A deleted job is removed.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn upsert(db: &impl Database, job: &JobView) -> Result<(), StoreError> {
    let id = job.definition.job_id.as_str();
    if job.status == JobStatus::Deleted {
        change(
            db,
            Query::new(DELETE_OLDER, [id.into(), job.created_at.into()]),
        )
        .await?;
        return Ok(());
    }
    let row = Query::new(UPSERT, values(job)?);
    db.write(vec![
        row,
        Query::new(DROP_LABELS, [id.into()]),
        Query::new(ADD_LABELS, [id.into()]),
    ])
    .await?;
    Ok(())
}

/// Removes a job, whatever its copy says.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn delete(db: &impl Database, id: &JobId) -> Result<(), StoreError> {
    change(db, Query::new(DELETE, [id.as_str().into()])).await?;
    Ok(())
}

/// One job.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn get(db: &impl Database, id: &JobId) -> Result<Option<JobRow>, StoreError> {
    first(db.read(Query::new(GET, [id.as_str().into()])).await?, read)
}

/// A page of jobs, in the order of their ids. The last one's id is the next page's cursor.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn list(db: &impl Database, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
    let wanted = filter.q.as_deref().map(str::trim).filter(|q| !q.is_empty());
    let mut values: Vec<Cell> = vec![
        filter.after.as_ref().map_or("", JobId::as_str).into(),
        filter.status.map(JobStatus::as_str).into(),
        wanted.map(str::to_ascii_lowercase).into(),
        page(filter.limit),
    ];
    let mut sql = LIST;
    if let Some(filter) = &filter.label {
        sql = LIST_BY_LABEL;
        values.extend([filter.label.as_str().into(), filter.value.as_deref().into()]);
    }
    all(db.read(Query::new(sql, values)).await?, read)
}

/// How many jobs there are.
///
/// # Errors
/// When the database fails.
pub async fn count(db: &impl Database) -> Result<JobCounts, StoreError> {
    let read = |row| {
        let mut row = Reader::new("jobs", row);
        Ok(JobCounts {
            enabled: row.int("enabled")?,
            paused: row.int("paused")?,
        })
    };
    Ok(first(db.read(Query::new(COUNT, [])).await?, read)?.unwrap_or_default())
}

/// Names of these jobs; jobs that are gone are left out.
///
/// # Errors
/// When the database fails.
pub async fn names(
    db: &impl Database,
    ids: &[JobId],
) -> Result<BTreeMap<JobId, String>, StoreError> {
    let ids = to_json("jobs", "job_id", &ids)?;
    let read = |row| {
        let mut row = Reader::new("jobs", row);
        Ok((
            row.word("job_id", |text| text.parse().ok())?,
            row.text("name")?,
        ))
    };
    Ok(all(db.read(Query::new(NAMES, [ids.into()])).await?, read)?
        .into_iter()
        .collect())
}

fn values(job: &JobView) -> Result<Vec<Cell>, StoreError> {
    let def = &job.definition;
    let (kind, text, dialect, zone) = schedule(&def.schedule);
    let (executor, target) = match &def.executor {
        Executor::Http(task) => ("http", task.url.as_str()),
    };
    Ok(vec![
        def.job_id.as_str().into(),
        job.at.shard.into(),
        job.at.number.into(),
        def.name.as_str().into(),
        job.status.as_str().into(),
        job.revision.into(),
        kind.into(),
        text.into(),
        dialect.into(),
        zone.into(),
        executor.into(),
        target.into(),
        def.owner.as_deref().into(),
        def.pool.as_deref().into(),
        def.callback
            .as_ref()
            .map(|callback| callback.app.as_str())
            .into(),
        to_json("jobs", "definition", def)?.into(),
        job.created_at.into(),
        job.updated_at.into(),
    ])
}

/// Kind, text, dialect and zone of a schedule.
fn schedule(
    spec: &ScheduleSpec,
) -> (
    &'static str,
    Option<String>,
    Option<&'static str>,
    Option<&str>,
) {
    match spec {
        ScheduleSpec::Cron {
            text,
            dialect,
            zone,
        } => (
            "cron",
            Some(text.clone()),
            Some(dialect.as_str()),
            Some(zone),
        ),
        ScheduleSpec::Every { period_ms, .. } => {
            ("every", Some(format!("{period_ms} ms")), None, None)
        }
        ScheduleSpec::At { at } => ("at", Some(at.0.to_string()), None, None),
        ScheduleSpec::After { job, .. } => ("after", Some(job.to_string()), None, None),
        ScheduleSpec::None => ("none", None, None, None),
    }
}

fn read(row: Row) -> Result<JobRow, StoreError> {
    let mut row = Reader::new("jobs", row);
    Ok(JobRow {
        at: JobRef {
            shard: row.int("shard")?,
            number: row.int("number")?,
        },
        status: row.word("status", JobStatus::parse)?,
        revision: row.int("revision")?,
        definition: row.json("definition")?,
        created_at: row.millis("created_at")?,
        updated_at: row.millis("updated_at")?,
    })
}
