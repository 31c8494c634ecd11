//! What can happen to a job, what it asks of its host, and why it refuses.

use super::def::{CallbackTarget, Definition, HttpTask, Overlap};
use super::head::Head;
use super::run::{AttemptResult, Owed, Run};
use crate::ids::{JobId, RunId};
use crate::outcome::{CallbackState, RunState};
use crate::time::Millis;

/// What can happen to a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Time has passed.
    Wake,
    /// Run now. The host has looked that no run of this key exists.
    RunNow {
        /// Idempotency key, any text.
        key: String,
        /// Input, as JSON text.
        params: Option<String>,
        /// Instead of the job's own overlap policy.
        overlap: Option<Overlap>,
        /// Who asked.
        by: String,
    },
    /// Run a past run again. The host has looked that no run of this key exists.
    Replay {
        /// The past run.
        of: Box<Run>,
        /// Idempotency key, any text.
        key: String,
        /// Who asked.
        by: String,
    },
    /// Stop a run.
    Cancel {
        /// Which.
        run: RunId,
        /// Who asked.
        by: String,
    },
    /// The callee answered 202: it will report the end itself.
    AttemptAccepted {
        /// Which run.
        run: RunId,
        /// Which attempt.
        fence: u64,
    },
    /// An attempt ended.
    AttemptEnded {
        /// Which run.
        run: RunId,
        /// Which attempt.
        fence: u64,
        /// How.
        verdict: Verdict,
        /// With what.
        result: Box<AttemptResult>,
        /// Who says so: `executor`, or the name of a token.
        by: String,
    },
    /// No live call is left for an attempt that had none reported.
    AttemptLost {
        /// Which run.
        run: RunId,
        /// Which attempt.
        fence: u64,
        /// What happened.
        why: String,
    },
    /// An attempt had to wait for its turn so long that it has not its whole time limit left, and has not
    /// left: it is handed over anew. Counts neither as an attempt nor as a loss.
    AttemptUnsent {
        /// Which run.
        run: RunId,
        /// Which attempt.
        fence: u64,
    },
    /// A refused report of an old attempt, to be kept as evidence.
    LateReport {
        /// Which run.
        run: RunId,
        /// Which attempt.
        fence: u64,
        /// What it said.
        what: String,
    },
    /// The callee of a running attempt says how far it is.
    Progress {
        /// Which run.
        run: RunId,
        /// Which attempt.
        fence: u64,
        /// 0–100.
        percent: Option<u8>,
        /// What it says.
        message: String,
    },
    /// A new definition.
    Replace {
        /// It.
        definition: Box<Definition>,
        /// Pause or resume along with it.
        enabled: Option<bool>,
        /// The revision that the writer has seen; none overwrites whatever is there.
        revision: Option<u32>,
        /// Who.
        by: String,
    },
    /// Pause or resume.
    SetEnabled {
        /// Which of the two.
        enabled: bool,
    },
    /// Delete.
    Delete {
        /// Who.
        by: String,
    },
    /// Another object has taken what it was owed.
    OwedTaken {
        /// Of which run.
        run: RunId,
        /// What.
        owed: Owed,
    },
    /// An endpoint says how a callback ended, or (`Pending`) that it is being delivered again.
    CallbackSettled {
        /// Of which run.
        run: RunId,
        /// Which word of the endpoint about this run it is; an older one than known changes nothing.
        word: u32,
        /// How.
        outcome: CallbackState,
        /// Why, when it failed.
        why: Option<String>,
    },
    /// A run of the job this one runs after has ended. The host has looked that it is news.
    Upstream {
        /// That job.
        job: JobId,
        /// That run.
        run: RunId,
        /// How it ended.
        ended: RunState,
    },
    /// Another job runs after this one from now on, or no longer.
    Link {
        /// Which.
        dependent: JobId,
        /// Which of the two.
        on: bool,
    },
    /// The other job has heard of the link.
    LinkTaken {
        /// Which.
        job: JobId,
        /// Which word.
        on: bool,
    },
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Well.
    Succeeded,
    /// Badly; may be retried.
    Failed,
    /// Badly, and trying again cannot help.
    FailedForGood,
    /// Over its time limit.
    TimedOut,
    /// Stopped by us.
    Stopped,
}

/// Something for the host to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Hand an attempt to the executor.
    Dispatch(Box<Dispatch>),
    /// Stop an attempt, and report it as [`Verdict::Stopped`].
    Abort {
        /// Which run.
        run: RunId,
        /// Which attempt.
        fence: u64,
    },
    /// Give a finished run's callback to its endpoint, until it is taken.
    Deliver {
        /// The run as it ended.
        run: Box<Run>,
        /// Where to.
        target: CallbackTarget,
    },
    /// Tell a job that runs after this one, until it has heard.
    TellDependent {
        /// Which.
        dependent: JobId,
        /// The run that ended.
        run: RunId,
        /// How.
        ended: RunState,
    },
    /// Tell another job that this one runs after it, or no longer, until it has heard.
    TellUpstream {
        /// Which.
        upstream: JobId,
        /// Which of the two.
        on: bool,
    },
    /// Write the run to D1, some time soon.
    ProjectRun {
        /// Which.
        seq: u64,
    },
    /// Write the job to D1, some time soon.
    ProjectJob,
    /// Tell people. Folding and routing are not the job's business.
    Raise {
        /// What kind of trouble: `run_failed`, `may_be_stuck`, `missed`, `callback_failed`.
        cause: &'static str,
        /// In which run.
        run: RunId,
        /// In one sentence.
        detail: String,
    },
}

/// An attempt to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// Of which run.
    pub run: RunId,
    /// Its fence.
    pub fence: u64,
    /// Counts from 1; an attempt after a loss has the number of the lost one.
    pub attempt: u32,
    /// The planned instant.
    pub planned_at: Millis,
    /// What to do.
    pub task: HttpTask,
    /// Input, as JSON text.
    pub params: Option<String>,
    /// Limit in ms, from the hand-over on.
    pub timeout_ms: i64,
    /// When the attempt is over at the latest. Whoever sends it so late that its limit would end later
    /// does not send it: it is handed over anew.
    pub expires: Millis,
    /// Whose secret signs the request.
    pub app: Option<crate::ids::AppId>,
}

impl Dispatch {
    /// Whether the whole limit fits in before the attempt expires.
    #[must_use]
    pub fn may_leave(&self, now: Millis) -> bool {
        now.plus(self.timeout_ms) <= self.expires
    }
}

/// A record that changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The definition.
    Definition(Box<Definition>),
    /// The head.
    Head(Box<Head>),
    /// A run.
    Run(Box<Run>),
}

/// Why an event was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reject {
    /// The job is deleted.
    #[error("the job is deleted")]
    Deleted,
    /// No such run, or it was settled long ago.
    #[error("the job has no run {0} that could change")]
    UnknownRun(RunId),
    /// The run has ended.
    #[error("the run has already ended as {}", .0.as_str())]
    Ended(RunState),
    /// Another attempt holds the right.
    #[error("fence {got} is not the current one ({current})")]
    StaleFence {
        /// The current fence; 0 when no attempt is out.
        current: u64,
        /// The one reported.
        got: u64,
    },
    /// Somebody else has edited the job.
    #[error("the job is at revision {current}; read it again and repeat the change")]
    Revision {
        /// The current one.
        current: u32,
    },
    /// The overlap policy lets no second run start.
    #[error("run {run} is active since {}; wait for it, or choose overlap queue, replace or allow", crate::schedule::rfc3339(*.since))]
    Active {
        /// It.
        run: RunId,
        /// Its trigger.
        since: Millis,
    },
    /// Enough runs wait already.
    #[error("{limit} runs wait already; raise queueLimit or wait")]
    QueueFull {
        /// The limit.
        limit: u32,
    },
    /// The schedule cannot be compiled.
    #[error("the schedule cannot be used: {0}")]
    Schedule(String),
}
