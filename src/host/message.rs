//! What the objects are asked and what they answer. The only messages they know.

use cronwright_core::ids::{AppId, JobId, RunId};
use cronwright_core::job::def::{CallbackPreset, Definition, Overlap};
use cronwright_core::job::run::{AttemptResult, Run};
use cronwright_core::job::view::JobView;
use cronwright_core::outcome::{CallbackState, RunState};
use serde::{Deserialize, Serialize};

/// A question to a job shard.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardAsk {
    /// Save a new job. Refused with `job_exists` if the shard has one of that id.
    Create {
        definition: Box<Definition>,
        enabled: bool,
        by: String,
    },
    /// Replace a job's definition; `revision` is the one the writer has seen.
    Replace {
        definition: Box<Definition>,
        enabled: Option<bool>,
        revision: Option<u32>,
        by: String,
    },
    /// Pause or resume.
    SetEnabled {
        job: JobId,
        enabled: bool,
        by: String,
    },
    /// Delete; active runs are stopped.
    Delete { job: JobId, by: String },
    /// One job.
    Job { job: JobId },
    /// Several jobs; those that are not here are left out.
    Jobs { jobs: Vec<JobId> },
    /// Run now. `key` is the caller's idempotency key; the same key is the same run.
    RunNow {
        job: JobId,
        key: String,
        params: Option<String>,
        overlap: Option<Overlap>,
        by: String,
    },
    /// Run a past run again with the same input.
    Replay { run: RunId, key: String, by: String },
    /// Stop a run.
    Cancel { run: RunId, by: String },
    /// One run, with the job's id.
    Run { run: RunId },
    /// The same, answered when the run has ended or after `wait_ms` (at most 25,000).
    AwaitRun { run: RunId, wait_ms: u32 },
    /// Runs of a job, newest first, with `seq` below `before`.
    Runs {
        job: JobId,
        before: Option<u64>,
        limit: u32,
        states: Vec<RunState>,
    },
    /// The callee of an accepted run reports its end.
    Complete {
        run: RunId,
        fence: u64,
        failed: bool,
        result: Box<AttemptResult>,
        by: String,
    },
    /// The callee of an accepted run reports how far it is.
    Progress {
        run: RunId,
        fence: u64,
        percent: Option<u8>,
        message: String,
    },
    /// An endpoint tells how a callback ended.
    CallbackSettled {
        run: RunId,
        word: u32,
        outcome: CallbackState,
        attempts: u32,
        code: Option<String>,
    },
    /// A run of another job ended.
    Upstream {
        job: JobId,
        upstream: JobId,
        run: RunId,
        ended: RunState,
    },
    /// `dependent` wants to hear of the ends of `job`'s runs, or no longer.
    Link {
        job: JobId,
        dependent: JobId,
        on: bool,
    },
    /// The minute tick.
    Tick,
    /// Jobs and their runs for a rebuild of D1, from a position on.
    Dump {
        from: Option<DumpPosition>,
        limit: u32,
    },
    /// Counters.
    Stats,
    /// A planted fault; refused unless the variable `TEST_SEAMS` is set.
    Seam { fault: String, job: Option<JobId> },
}

/// What a job shard answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardReply {
    /// Done; nothing to tell.
    Done,
    /// A job.
    Job(Box<JobView>),
    /// Several jobs.
    Jobs(Vec<JobView>),
    /// A run.
    Run(Box<RunOfJob>),
    /// Several runs.
    Runs(RunPage),
    /// Answer to a tick.
    Tick(TickReport),
    /// Part of a dump.
    Dump(DumpPage),
    /// Counters by name.
    Stats(Vec<(String, f64)>),
    /// The question cannot be met; nothing has changed.
    Refused(Refusal),
}

/// A run and the job it belongs to.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOfJob {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run: Run,
    /// Whether a trigger found the run already there.
    #[serde(default)]
    pub repeated: bool,
}

/// Runs of one job, newest first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The job.
    pub job_id: JobId,
    /// The runs.
    pub runs: Vec<Run>,
    /// Where the next page begins, if there is one.
    pub next_before: Option<u64>,
}

/// How a shard stands.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TickReport {
    /// How late the most overdue machine is, in ms.
    pub late_ms: i64,
    /// Jobs in the shard.
    pub jobs: u64,
    /// Runs that have not ended.
    pub open_runs: u64,
    /// Runs that D1 has not taken yet.
    pub unprojected: u64,
    /// Jobs in quarantine.
    pub quarantined: u64,
}

/// A position in a shard's dump.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DumpPosition {
    /// The job's number.
    pub number: u32,
    /// Runs of it from this `seq` on.
    pub seq: u64,
}

/// Part of a dump.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DumpPage {
    /// Jobs whose first run is in this page, deleted ones included.
    pub jobs: Vec<JobView>,
    /// Runs.
    pub runs: Vec<RunOfJob>,
    /// Where the next page begins, if there is one.
    pub next: Option<DumpPosition>,
}

/// Why a question is refused. `code` is stable and part of the API.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// `job_not_found`, `job_exists`, `run_not_found`, `revision_mismatch`, `run_active`, `run_ended`,
    /// `run_not_running`, `stale_fence`, `queue_full`, `job_deleted`, `quarantined`, `callback_not_replayable`, `seams_closed`.
    pub code: String,
    /// A sentence for people, with what to do.
    pub detail: String,
    /// The run that is in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The revision that is current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
}

/// A question to an endpoint object.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointAsk {
    /// Take a callback. The first one makes the endpoint.
    Enqueue {
        app: AppId,
        url: String,
        run: RunId,
        job: JobId,
        seq: u64,
        body: String,
        preset: CallbackPreset,
    },
    /// How it stands.
    View,
    /// Deliveries, newest first, of one state (`waiting`, `in_flight`, `done`, `dead`) or all.
    Deliveries { state: Option<String>, limit: u32 },
    /// Deliver a dead letter again.
    Replay { run: RunId },
    /// Deliver every dead letter again.
    ReplayDead,
    /// Close the breaker.
    CloseBreaker,
    /// The live versions of the app's secret, newest first.
    Rotate { key_versions: Vec<u32> },
    /// The minute tick.
    Tick,
    /// A planted fault; refused unless the variable `TEST_SEAMS` is set.
    Seam { fault: String },
}

/// What an endpoint object answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointReply {
    /// Done; nothing to tell.
    Done,
    /// How it stands; the core's own view, as JSON.
    View(serde_json::Value),
    /// Deliveries; the core's own views, as JSON.
    Deliveries(Vec<serde_json::Value>),
    /// The question cannot be met; nothing has changed.
    Refused(Refusal),
}
