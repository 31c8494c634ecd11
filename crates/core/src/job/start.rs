//! From trigger to attempt: who may start, who waits, who is skipped.

use super::def::{Executor, HttpTask, Overlap};
use super::run::{Active, Run, SkippedRange, Stop, Trigger, Waits};
use super::wakeup::DEADLINE_PASSED;
use super::{Dispatch, Effect, JobMachine};
use crate::ids::RunId;
use crate::outcome::{CallbackState, RunState};
use crate::time::{MINUTE, Millis, SECOND};

/// Open runs of one job with overlap `allow`, and runs that wait to catch up.
pub(super) const MAX_OPEN: usize = 100;

/// An attempt that leaves within this time of its hand-over has its whole limit; a herd drains in it.
pub(super) const LEAVE_WITHIN_MS: i64 = 2 * SECOND;

/// How a trigger meets the runs that are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// As the job's overlap policy says.
    ByPolicy,
    /// As the caller of a manual run says.
    As(Overlap),
    /// After those before it, whatever the queue's limit.
    InOrder,
}

impl JobMachine {
    fn new_run(&mut self, now: Millis, id: RunId, trigger: Trigger, params: Option<String>) -> Run {
        self.head.last_seq = self.head.last_seq.saturating_add(1);
        Run {
            seq: self.head.last_seq,
            id,
            trigger,
            triggered_at: now,
            rev: 0,
            state: RunState::Triggered,
            revision: self.head.revision,
            attempts: 0,
            losses: 0,
            fence: 0,
            active: None,
            waits: None,
            deadline: self.definition.deadline_ms.map(|ms| now.plus(ms)),
            started_at: None,
            ended_at: None,
            ended_as: 0,
            result: None,
            progress: None,
            params,
            range: None,
            callback: CallbackState::None,
            callback_word: 0,
            owed: Vec::new(),
            ledger: Vec::new(),
        }
    }

    fn keep(&mut self, run: Run) -> u64 {
        let seq = run.seq;
        self.touched.runs.insert(seq);
        self.touched.head = true;
        self.runs.insert(seq, run);
        seq
    }

    /// Records a run that never starts.
    pub(super) fn record_skipped(
        &mut self,
        now: Millis,
        id: RunId,
        trigger: Trigger,
        why: impl Into<String>,
        range: Option<SkippedRange>,
    ) {
        let by = trigger.actor();
        let mut run = self.new_run(now, id, trigger, None);
        run.range = range;
        run.ended_at = Some(now);
        run.enter(now, RunState::Skipped, &by, why);
        let seq = self.keep(run);
        self.effect(format!("{seq}/project"), Effect::ProjectRun { seq });
    }

    /// Records a trigger, and starts its run if nothing is in the way.
    pub(super) fn admit(
        &mut self,
        now: Millis,
        id: RunId,
        trigger: Trigger,
        params: Option<String>,
        admission: Admission,
    ) {
        let open = self.runs.values().filter(|run| run.is_open()).count();
        let queued = self.queued();
        let policy = match admission {
            Admission::ByPolicy => self.definition.overlap,
            Admission::As(overlap) => overlap,
            Admission::InOrder => Overlap::Queue,
        };
        let limit = match admission {
            Admission::InOrder => MAX_OPEN,
            Admission::ByPolicy | Admission::As(_) => {
                usize::try_from(self.definition.queue_limit).unwrap_or(MAX_OPEN)
            }
        };
        let refusal = match policy {
            _ if open == 0 => None,
            Overlap::Skip => self.first_open().map(|run| {
                format!(
                    "overlap policy skip: run {} is active since {}",
                    run.id,
                    crate::schedule::rfc3339(run.triggered_at)
                )
            }),
            Overlap::Queue => {
                (queued >= limit).then(|| format!("queue full: {queued} run(s) wait already"))
            }
            Overlap::Allow => (open >= MAX_OPEN).then(|| format!("{open} runs are active already")),
            Overlap::Replace => None,
        };
        if let Some(why) = refusal {
            self.record_skipped(now, id, trigger, why, None);
            return;
        }
        let by = trigger.actor();
        let why = trigger.reason();
        let mut run = self.new_run(now, id, trigger, params);
        run.enter(now, RunState::Triggered, &by, why);
        let waits = open > 0 && policy != Overlap::Allow;
        run.waits = waits.then_some(Waits::Queue);
        let seq = self.keep(run);
        if open > 0 && policy == Overlap::Replace {
            self.stop_others(now, seq);
        }
        self.start_next(now);
        if !waits {
            self.start_attempt(now, seq);
        }
    }

    pub(super) fn queued(&self) -> usize {
        self.runs
            .values()
            .filter(|run| run.is_open() && run.waits == Some(Waits::Queue))
            .count()
    }

    pub(super) fn first_open(&self) -> Option<&Run> {
        self.runs.values().find(|run| run.is_open())
    }

    /// For overlap `replace`: everything before `newest` has to end.
    fn stop_others(&mut self, now: Millis, newest: u64) {
        let others: Vec<u64> = self
            .runs
            .values()
            .filter(|run| run.is_open() && run.seq != newest)
            .map(|run| run.seq)
            .collect();
        // The newest first, so that no queued run starts when the one before it ends.
        for seq in others.into_iter().rev() {
            self.stop(
                now,
                seq,
                Stop::Replaced,
                "schedule",
                "replaced by a newer run",
            );
        }
    }

    /// Starts the oldest queued run once nothing else is under way. Where runs may overlap, what came
    /// after it does not hold it up.
    pub(super) fn start_next(&mut self, now: Millis) {
        let Some(oldest) = self
            .runs
            .values()
            .find(|run| run.is_open() && run.waits == Some(Waits::Queue))
            .map(|run| run.seq)
        else {
            return;
        };
        let allow = self.definition.overlap == Overlap::Allow;
        let in_the_way = |run: &Run| {
            run.is_open() && run.waits != Some(Waits::Queue) && (run.seq < oldest || !allow)
        };
        if self.runs.values().any(in_the_way) {
            return;
        }
        if self
            .runs
            .get(&oldest)
            .and_then(|run| run.deadline)
            .is_some_and(|end| end <= now)
        {
            self.stop(now, oldest, Stop::Deadline, "schedule", DEADLINE_PASSED);
        } else {
            self.start_attempt(now, oldest);
        }
    }

    /// Gives out a new fence and hands the attempt over.
    pub(super) fn start_attempt(&mut self, now: Millis, seq: u64) {
        self.head.last_fence = self.head.last_fence.saturating_add(1);
        self.touched.head = true;
        let fence = self.head.last_fence;
        let timeout_ms = self.definition.timeout_ms;
        let warn_ms = self.warn_after_ms();
        let revision = self.head.revision;
        let Some(run) = self.change(seq) else { return };
        if run.state != RunState::Lost {
            run.attempts = run.attempts.saturating_add(1);
        }
        run.waits = None;
        run.fence = fence;
        run.revision = revision;
        run.progress = None;
        run.started_at.get_or_insert(now);
        run.active = Some(Active {
            fence,
            since: now,
            timeout: now.plus(timeout_ms),
            warn: now.plus(warn_ms),
            accepted: false,
            warned: false,
            stopping: None,
        });
        let why = format!("attempt {} handed to the executor", run.attempts);
        run.enter(now, RunState::Dispatched, "schedule", why);
        if let Some(dispatch) = self.dispatch_of(seq) {
            self.effect(
                format!("{}/{fence}", dispatch.run),
                Effect::Dispatch(Box::new(dispatch)),
            );
        }
    }

    /// The attempt that is out for a run.
    pub(super) fn dispatch_of(&self, seq: u64) -> Option<Dispatch> {
        let run = self.runs.get(&seq)?;
        let active = run.active?;
        let Executor::Http(task) = &self.definition.executor;
        Some(Dispatch {
            run: run.id.clone(),
            fence: active.fence,
            attempt: run.attempts,
            planned_at: run.planned_at(),
            task: HttpTask::clone(task),
            params: run.params.clone(),
            timeout_ms: active.timeout.since(active.since),
            expires: active.timeout.plus(LEAVE_WITHIN_MS),
            app: self
                .definition
                .callback
                .as_ref()
                .map(|target| target.app.clone()),
        })
    }

    /// When an attempt "may be stuck": as the job says, or three times its median, at least a minute.
    fn warn_after_ms(&self) -> i64 {
        let usual = || {
            self.head
                .usual_ms()
                .map(|ms| ms.saturating_mul(3).max(MINUTE))
        };
        self.definition
            .warn_after_ms
            .or_else(usual)
            .unwrap_or(i64::MAX)
    }
}

impl Trigger {
    /// Who or what made the run, for the ledger.
    pub(super) fn actor(&self) -> String {
        match self {
            Self::Schedule { .. } | Self::CatchUp { .. } => "schedule".to_owned(),
            Self::Manual { by } | Self::Replay { by, .. } => by.clone(),
            Self::After { job, .. } => format!("job {job}"),
        }
    }

    fn reason(&self) -> String {
        match self {
            Self::Schedule { late_ms } if *late_ms < 1_000 => "planned instant".to_owned(),
            Self::Schedule { late_ms } => format!("planned instant, late by {} s", late_ms / 1_000),
            Self::CatchUp { late_ms } => {
                format!("missed instant made up for, late by {} s", late_ms / 1_000)
            }
            Self::Manual { .. } => "run on request".to_owned(),
            Self::Replay { of, .. } => format!("replay of {of}"),
            Self::After { run, ended, .. } => format!("run {run} ended as {}", ended.as_str()),
        }
    }
}
