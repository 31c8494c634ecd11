//! A run's row: between the core's record and the table's columns.

use cronwright_core::ids::{JobId, RunId};
use cronwright_core::job::run::{LedgerRow, Run, Trigger};
use cronwright_core::outcome::{CallbackState, RunState};
use cronwright_core::time::Millis;
use serde::Serialize;

use super::cells::{Reader, to_json};
use super::{Row, StoreError};

/// A run as D1 has it: everything but its output and what is still to be done about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    /// The public id, which names its shard, its job's number and its planned instant.
    pub id: RunId,
    /// The job.
    pub job_id: JobId,
    /// Counts the runs of the job from 1.
    pub seq: u64,
    /// Counts the changes of the record.
    pub rev: u32,
    /// The definition's revision that the last attempt used.
    pub revision: u32,
    /// Where it stands.
    pub state: RunState,
    /// What made it.
    pub trigger: TriggerKind,
    /// Who asked, for a manual run or a replay.
    pub trigger_by: Option<String>,
    /// The run that was replayed, or whose end was the trigger.
    pub trigger_run: Option<RunId>,
    /// Attempts that count against the retry policy.
    pub attempts: u32,
    /// Attempts that were lost by infrastructure.
    pub losses: u32,
    /// Fence of the last attempt; 0 before the first.
    pub fence: u64,
    /// How late the trigger was, in ms.
    pub late_ms: i64,
    /// When it was recorded.
    pub triggered_at: Millis,
    /// When the first attempt was handed over.
    pub started_at: Option<Millis>,
    /// When it ended.
    pub ended_at: Option<Millis>,
    /// From the first attempt to the end, in ms.
    pub duration_ms: Option<i64>,
    /// HTTP status of the last attempt.
    pub http_status: Option<u16>,
    /// Code of what went wrong.
    pub error_code: Option<String>,
    /// One line for people.
    pub summary: Option<String>,
    /// Where the callback stands.
    pub callback: CallbackState,
    /// How many missed occurrences the row stands for.
    pub range_count: Option<u64>,
    /// Every transition, oldest first.
    pub ledger: Vec<LedgerRow>,
}

/// What made a run, without its particulars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of `Trigger`")]
pub enum TriggerKind {
    Schedule,
    CatchUp,
    Manual,
    Replay,
    After,
}

impl TriggerKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Schedule,
        Self::CatchUp,
        Self::Manual,
        Self::Replay,
        Self::After,
    ];

    /// The name in D1.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::CatchUp => "catch_up",
            Self::Manual => "manual",
            Self::Replay => "replay",
            Self::After => "after",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl RunRow {
    /// What D1 keeps of a run of `job`.
    #[must_use]
    pub fn from(job: &JobId, run: &Run) -> Self {
        let (trigger, trigger_by, trigger_run, late_ms) = match &run.trigger {
            Trigger::Schedule { late_ms } => (TriggerKind::Schedule, None, None, *late_ms),
            Trigger::CatchUp { late_ms } => (TriggerKind::CatchUp, None, None, *late_ms),
            Trigger::Manual { by } => (TriggerKind::Manual, Some(by.clone()), None, 0),
            Trigger::Replay { of, by } => {
                (TriggerKind::Replay, Some(by.clone()), Some(of.clone()), 0)
            }
            Trigger::After { run, .. } => (TriggerKind::After, None, Some(run.clone()), 0),
        };
        let result = run.result.as_ref();
        Self {
            id: run.id.clone(),
            job_id: job.clone(),
            seq: run.seq,
            rev: run.rev,
            revision: run.revision,
            state: run.state,
            trigger,
            trigger_by,
            trigger_run,
            attempts: run.attempts,
            losses: run.losses,
            fence: run.fence,
            late_ms,
            triggered_at: run.triggered_at,
            started_at: run.started_at,
            ended_at: run.ended_at,
            duration_ms: run
                .started_at
                .zip(run.ended_at)
                .map(|(start, end)| end.since(start)),
            http_status: result.and_then(|result| result.status),
            error_code: result.and_then(|result| result.error_code.clone()),
            summary: result.and_then(|result| result.summary.clone()),
            callback: run.callback,
            range_count: run.range.map(|range| range.count),
            ledger: run.ledger.clone(),
        }
    }
}

/// The values of a row, in the order in which `runs::PROJECT` inserts them.
pub(super) fn tuple(run: &RunRow) -> Result<[serde_json::Value; 26], StoreError> {
    use serde_json::Value;
    let place = run.id.job;
    Ok([
        run.id.at.0.into(),
        run.id.to_string().into(),
        run.job_id.as_str().into(),
        place.shard.into(),
        place.number.into(),
        run.seq.into(),
        run.rev.into(),
        run.revision.into(),
        run.state.as_str().into(),
        run.trigger.as_str().into(),
        run.trigger_by.clone().into(),
        run.trigger_run.as_ref().map(RunId::to_string).into(),
        run.attempts.into(),
        run.losses.into(),
        run.fence.into(),
        run.late_ms.into(),
        run.triggered_at.0.into(),
        run.started_at.map(|at| at.0).into(),
        run.ended_at.map(|at| at.0).into(),
        run.duration_ms.into(),
        run.http_status.into(),
        run.error_code.clone().into(),
        run.summary.clone().into(),
        run.callback.as_str().into(),
        run.range_count.into(),
        Value::String(to_json("runs", "ledger", &run.ledger)?),
    ])
}

/// A row, in the order of the columns of `runs::GET`.
pub(super) fn read(row: Row) -> Result<RunRow, StoreError> {
    let mut row = Reader::new("runs", row);
    Ok(RunRow {
        id: row.word("run_id", |text| text.parse().ok())?,
        job_id: row.word("job_id", |text| text.parse().ok())?,
        seq: row.int("seq")?,
        rev: row.int("rev")?,
        revision: row.int("revision")?,
        state: row.word("state", RunState::parse)?,
        trigger: row.word("trigger_kind", TriggerKind::parse)?,
        trigger_by: row.opt_text("trigger_by")?,
        trigger_run: row.opt_word("trigger_run", |text| text.parse().ok())?,
        attempts: row.int("attempts")?,
        losses: row.int("losses")?,
        fence: row.int("fence")?,
        late_ms: row.int("late_ms")?,
        triggered_at: row.millis("triggered_at")?,
        started_at: row.opt_millis("started_at")?,
        ended_at: row.opt_millis("ended_at")?,
        duration_ms: row.opt_int("duration_ms")?,
        http_status: row.opt_int("http_status")?,
        error_code: row.opt_text("error_code")?,
        summary: row.opt_text("summary")?,
        callback: row.word("callback", CallbackState::parse)?,
        range_count: row.opt_int("range_count")?,
        ledger: row.json("ledger")?,
    })
}
