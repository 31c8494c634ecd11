//! What attempts come back with: results, acceptance, progress, loss, and stopping them.

use super::def::{HttpMode, HttpTask, RetryOn};
use super::run::{AttemptResult, Progress, Stop, Waits};
use super::start::LEAVE_WITHIN_MS;
use super::{Effect, JobMachine, Reject, Verdict};
use crate::ids::RunId;
use crate::outcome::{FetchFault, RunState};
use crate::time::Millis;

/// Losses after which a run is given up.
const MAX_LOSSES: u32 = 3;

/// What an HTTP exchange means for a job. `None` is "accepted": the callee will report the end.
#[must_use]
pub fn judge(task: &HttpTask, status: Option<u16>, fault: Option<FetchFault>) -> Option<Verdict> {
    match (fault, status) {
        (Some(FetchFault::Timeout), _) => Some(Verdict::TimedOut),
        (Some(FetchFault::Aborted), _) => Some(Verdict::Stopped),
        (Some(FetchFault::BlockedTarget), _) => Some(Verdict::FailedForGood),
        (Some(FetchFault::Network | FetchFault::Redirect | FetchFault::Internal), _)
        | (None, None) => Some(Verdict::Failed),
        (None, Some(202)) if task.mode == HttpMode::Accepted => None,
        (None, Some(status)) => {
            let expected = task
                .expect
                .iter()
                .any(|(from, to)| (*from..=*to).contains(&status));
            Some(if expected {
                Verdict::Succeeded
            } else {
                Verdict::Failed
            })
        }
    }
}

impl JobMachine {
    pub(super) fn accepted(&mut self, now: Millis, id: &RunId, fence: u64) -> Result<(), Reject> {
        let seq = self.holder(id, fence)?;
        if self.is_accepted(seq) {
            return Ok(());
        }
        let Some(run) = self.change(seq) else {
            return Ok(());
        };
        if let Some(active) = &mut run.active {
            active.accepted = true;
        }
        run.enter(
            now,
            RunState::Running,
            "executor",
            "accepted; the callee will report the end",
        );
        self.effect(format!("{seq}/project"), Effect::ProjectRun { seq });
        // It was asked to stop while the answer was under way: nobody can stop it over there any more.
        if let Some(stop) = self
            .runs
            .get(&seq)
            .and_then(|run| run.active)
            .and_then(|active| active.stopping)
            && stop != Stop::Replaced
        {
            self.stop(
                now,
                seq,
                stop,
                "executor",
                "accepted after it was asked to stop",
            );
        }
        Ok(())
    }

    pub(super) fn progress(
        &mut self,
        now: Millis,
        id: &RunId,
        fence: u64,
        percent: Option<u8>,
        message: String,
    ) -> Result<(), Reject> {
        let seq = self.holder(id, fence)?;
        let Some(run) = self.change(seq) else {
            return Ok(());
        };
        run.progress = Some(Progress {
            at: now,
            percent,
            message,
        });
        if run.state == RunState::Dispatched {
            run.enter(now, RunState::Running, "receiver", "reported progress");
            self.effect(format!("{seq}/project"), Effect::ProjectRun { seq });
        }
        Ok(())
    }

    pub(super) fn ended(
        &mut self,
        now: Millis,
        id: &RunId,
        fence: u64,
        verdict: Verdict,
        result: AttemptResult,
        by: &str,
    ) -> Result<(), Reject> {
        let seq = self.holder(id, fence)?;
        self.end_attempt(now, seq, verdict, result, by);
        Ok(())
    }

    /// Takes the result of the attempt that is out.
    pub(super) fn end_attempt(
        &mut self,
        now: Millis,
        seq: u64,
        verdict: Verdict,
        result: AttemptResult,
        by: &str,
    ) {
        let why = sentence(&result);
        let Some(run) = self.change(seq) else { return };
        let stopping = run.active.take().and_then(|active| active.stopping);
        let (succeeded_ms, attempts) = (result.ms, run.attempts);
        run.result = Some(result);
        match (verdict, stopping) {
            // It was done before it could be stopped: that is what happened, so that is what is said.
            (Verdict::Succeeded, _) => {
                self.head.took(succeeded_ms);
                self.touched.head = true;
                self.finish(now, seq, RunState::Success, by, why);
            }
            (_, Some(stop)) => self.finish(now, seq, stop.state(), by, stop.reason()),
            (Verdict::Stopped, None) => {
                self.finish(now, seq, RunState::Cancelled, by, "stopped".to_owned())
            }
            (Verdict::FailedForGood, None) => self.finish(now, seq, RunState::Failed, by, why),
            (Verdict::Failed, None) => self.retry_or(now, seq, RetryOn::Failed, attempts, by, why),
            (Verdict::TimedOut, None) => {
                self.retry_or(now, seq, RetryOn::TimedOut, attempts, by, why)
            }
        }
    }

    /// The next attempt at its time, or the end.
    fn retry_or(
        &mut self,
        now: Millis,
        seq: u64,
        outcome: RetryOn,
        attempts: u32,
        by: &str,
        why: String,
    ) {
        let policy = &self.definition.retry;
        let retries = attempts.saturating_sub(1);
        let until = now.plus(policy.delay_ms(retries));
        let deadline = self.runs.get(&seq).and_then(|run| run.deadline);
        let total = policy.times.saturating_add(1);
        let again = retries < policy.times
            && policy.on.contains(&outcome)
            && deadline.is_none_or(|end| until < end);
        let deleted = self.head.status == super::view::JobStatus::Deleted;
        if !again || deleted {
            let state = match outcome {
                RetryOn::Failed => RunState::Failed,
                RetryOn::TimedOut => RunState::TimedOut,
            };
            self.finish(
                now,
                seq,
                state,
                by,
                format!("attempt {attempts}/{total}: {why}"),
            );
            return;
        }
        let Some(run) = self.change(seq) else { return };
        run.waits = Some(Waits::Retry { until });
        let wait = until.since(now) / 1_000;
        run.enter(
            now,
            RunState::Triggered,
            by,
            format!("attempt {attempts}/{total}: {why}; next in {wait} s"),
        );
        self.effect(format!("{seq}/project"), Effect::ProjectRun { seq });
    }

    pub(super) fn lost(
        &mut self,
        now: Millis,
        id: &RunId,
        fence: u64,
        why: &str,
    ) -> Result<(), Reject> {
        let seq = self.holder(id, fence)?;
        // The callee has it, and needs no call of ours to end it.
        if self.is_accepted(seq) {
            return Ok(());
        }
        let deleted = self.head.status == super::view::JobStatus::Deleted;
        let Some(run) = self.change(seq) else {
            return Ok(());
        };
        let Some(active) = run.active.take() else {
            return Ok(());
        };
        run.losses = run.losses.saturating_add(1);
        run.enter(now, RunState::Lost, "recovery", why);
        let result = AttemptResult {
            status: None,
            error_code: Some("lost".to_owned()),
            summary: Some(why.to_owned()),
            output: None,
            truncated: false,
            ms: now.since(active.since),
        };
        run.result = Some(result);
        match active.stopping {
            Some(stop) if stop != Stop::Replaced => {
                self.finish(now, seq, stop.state(), "recovery", stop.reason())
            }
            None if deleted => self.finish(
                now,
                seq,
                RunState::Cancelled,
                "recovery",
                Stop::Deleted.reason(),
            ),
            stop => {
                // The callee may still be at it, and was told its limit: two never run at once.
                let until = active.timeout.plus(LEAVE_WITHIN_MS);
                run.waits = Some(Waits::Lost { until, stop });
                self.effect(format!("{seq}/project"), Effect::ProjectRun { seq });
                if until <= now {
                    self.take_up(now, seq);
                }
            }
        }
        Ok(())
    }

    /// An attempt that never left is handed over anew, with a new fence and its whole limit.
    pub(super) fn unsent(&mut self, now: Millis, id: &RunId, fence: u64) -> Result<(), Reject> {
        let seq = self.holder(id, fence)?;
        let Some(run) = self.change(seq) else {
            return Ok(());
        };
        let stopping = run.active.and_then(|active| active.stopping);
        run.note(now, "executor", "waited too long for its turn to leave");
        if let Some(stop) = stopping {
            self.finish(now, seq, stop.state(), "executor", stop.reason());
            return Ok(());
        }
        // The hand-over counts it again.
        run.attempts = run.attempts.saturating_sub(1);
        self.start_attempt(now, seq);
        Ok(())
    }

    /// Goes on with a run whose wait is over. After a loss, nothing of it can still be running.
    pub(super) fn take_up(&mut self, now: Millis, seq: u64) {
        let Some(run) = self.runs.get(&seq) else {
            return;
        };
        match run.waits {
            Some(Waits::Lost {
                stop: Some(stop), ..
            }) => self.finish(now, seq, stop.state(), "recovery", stop.reason()),
            Some(Waits::Lost { .. }) if run.losses > MAX_LOSSES => {
                let why = format!("lost {} times", run.losses);
                self.finish(now, seq, RunState::Failed, "recovery", why);
            }
            _ => self.start_attempt(now, seq),
        }
    }

    fn is_accepted(&self, seq: u64) -> bool {
        self.runs
            .get(&seq)
            .and_then(|run| run.active)
            .is_some_and(|active| active.accepted)
    }

    /// Keeps a refused report as evidence, once per fence.
    pub(super) fn late_report(
        &mut self,
        now: Millis,
        id: &RunId,
        fence: u64,
        what: &str,
    ) -> Result<(), Reject> {
        let run = self.run(id).ok_or_else(|| Reject::UnknownRun(id.clone()))?;
        let (seq, text) = (
            run.seq,
            format!("late report with fence {fence} refused: {what}"),
        );
        if run.ledger.iter().any(|row| row.why == text) {
            return Ok(());
        }
        if let Some(run) = self.change(seq) {
            run.note(now, "receiver", text);
        }
        Ok(())
    }

    /// Stops an open run: at once if nothing is out, else when the executor says that it is stopped.
    pub(super) fn stop(&mut self, now: Millis, seq: u64, stop: Stop, by: &str, why: &str) {
        let Some(run) = self.change(seq) else { return };
        // Only `replace` has to know that nothing is running any more.
        if let Some(Waits::Lost { stop: wanted, .. }) = &mut run.waits
            && stop == Stop::Replaced
        {
            if wanted.replace(stop).is_none() {
                run.note(now, by, format!("asked to stop: {why}"));
            }
            return;
        }
        let Some(active) = &mut run.active else {
            self.finish(now, seq, stop.state(), by, why.to_owned());
            return;
        };
        // A callee that accepted cannot be called back. Only `replace` insists on its word.
        if active.accepted && stop != Stop::Replaced {
            run.active = None;
            self.finish(
                now,
                seq,
                stop.state(),
                by,
                format!("{why}; the callee had accepted and was not told"),
            );
            return;
        }
        if active.stopping.is_some() {
            return;
        }
        active.stopping = Some(stop);
        let (fence, accepted, id) = (active.fence, active.accepted, run.id.clone());
        run.note(now, by, format!("asked to stop: {why}"));
        if !accepted {
            self.effect(
                format!("{id}/{fence}/abort"),
                Effect::Abort { run: id, fence },
            );
        }
    }
}

impl Stop {
    fn state(self) -> RunState {
        match self {
            Self::Cancel | Self::Replaced | Self::Deleted => RunState::Cancelled,
            Self::Deadline => RunState::TimedOut,
        }
    }

    fn reason(self) -> String {
        match self {
            Self::Cancel => "stopped on request",
            Self::Replaced => "replaced by a newer run",
            Self::Deleted => "the job was deleted",
            Self::Deadline => super::wakeup::DEADLINE_PASSED,
        }
        .to_owned()
    }
}

fn sentence(result: &AttemptResult) -> String {
    let status = result.status.map(|status| format!("HTTP {status}"));
    let code = result
        .error_code
        .clone()
        .filter(|code| !code.starts_with("http_"));
    let head = [status, code]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ");
    let head = if head.is_empty() {
        "ended".to_owned()
    } else {
        head
    };
    format!("{head} after {} ms", result.ms)
}
