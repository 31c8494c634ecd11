//! What time does to a job: one table of timers, and their minimum.

use super::run::{AttemptResult, Run, Stop, Waits};
use super::start::LEAVE_WITHIN_MS;
use super::view::JobStatus;
use super::{Effect, JobMachine, Verdict};
use crate::machine::Wakeup;
use crate::outcome::RunState;
use crate::time::{Millis, SECOND};

/// The executor ends an attempt at its limit; the machine does so itself this much later.
const TIMEOUT_SLACK_MS: i64 = 5 * SECOND;

/// Timers of a run: its deadline, the limit of its attempt, its wait, "running", "may be stuck".
const TIMERS: usize = 5;

/// Why a run ends at its deadline.
pub(super) const DEADLINE_PASSED: &str = "the deadline of the run passed";

/// An attempt that has been out for so long is shown as running.
const RUNNING_AFTER_MS: i64 = 5 * SECOND;

impl JobMachine {
    pub(super) fn wake(&mut self, now: Millis) {
        let open: Vec<u64> = self
            .runs
            .values()
            .filter(|run| run.is_open())
            .map(|run| run.seq)
            .collect();
        for seq in open {
            // Each step settles one timer; those that it sets lie ahead. Were one ever not to, the
            // host would wake the job again: better than a machine that never comes back.
            for _ in 0..TIMERS {
                if !self.wake_run(now, seq) {
                    break;
                }
            }
        }
        self.fire_due(now);
    }

    /// Does what the first passed timer of a run asks for; false when none has passed.
    fn wake_run(&mut self, now: Millis, seq: u64) -> bool {
        let passed = |at: Option<Millis>| at.is_some_and(|at| at <= now);
        let Some(run) = self.runs.get(&seq).filter(|run| run.is_open()) else {
            return false;
        };
        if passed(deadline(run)) {
            self.stop(now, seq, Stop::Deadline, "schedule", DEADLINE_PASSED);
        } else if passed(timeout(run)) {
            self.time_out(now, seq);
        } else if passed(retry(run)) {
            self.take_up(now, seq);
        } else if passed(shown_running(run)) {
            if let Some(run) = self.change(seq) {
                run.enter(now, RunState::Running, "executor", "no result yet");
            }
            self.effect(format!("{seq}/project"), Effect::ProjectRun { seq });
        } else if passed(warn(run)) {
            self.warn(now, seq);
        } else {
            return false;
        }
        true
    }

    fn warn(&mut self, now: Millis, seq: u64) {
        let Some(run) = self.runs.get(&seq) else {
            return;
        };
        let (id, since) = (
            run.id.clone(),
            run.active.map_or(now, |active| active.since),
        );
        let detail = format!("may be stuck: running for {} s", now.since(since) / 1_000);
        if let Some(run) = self.change(seq) {
            if let Some(active) = &mut run.active {
                active.warned = true;
            }
            run.note(now, "schedule", detail.clone());
        }
        self.effect(
            format!("{id}/stuck"),
            Effect::Raise {
                cause: "may_be_stuck",
                run: id,
                detail,
            },
        );
    }

    /// The limit of an attempt passed and nobody has said so.
    fn time_out(&mut self, now: Millis, seq: u64) {
        let Some((id, active)) = self
            .runs
            .get(&seq)
            .and_then(|run| Some((run.id.clone(), run.active?)))
        else {
            return;
        };
        if !active.accepted {
            self.effect(
                format!("{id}/{}/abort", active.fence),
                Effect::Abort {
                    run: id,
                    fence: active.fence,
                },
            );
        }
        let ms = now.since(active.since);
        let result = AttemptResult {
            status: None,
            error_code: Some("timeout".to_owned()),
            summary: Some("no result within the time limit".to_owned()),
            output: None,
            truncated: false,
            ms,
        };
        self.end_attempt(now, seq, Verdict::TimedOut, result, "schedule");
    }

    /// When the next planned instant is acted on: jitter included.
    #[must_use]
    pub fn due_at(&self) -> Option<Millis> {
        self.head
            .next_due
            .filter(|_| self.head.status == JobStatus::Enabled)
            .map(|due| due.plus(self.jitter()))
    }

    pub(super) fn earliest_wakeup(&self) -> Option<Wakeup> {
        let zones = self.has_old_zones().then(|| Wakeup {
            at: self.head.recorded_to.unwrap_or(self.head.updated_at),
            why: "zones",
        });
        let mut earliest =
            Wakeup::earlier(zones, self.due_at().map(|at| Wakeup { at, why: "due" }));
        for run in self.runs.values().filter(|run| run.is_open()) {
            let timers = [
                (deadline(run), "deadline"),
                (timeout(run), "timeout"),
                (retry(run), "retry"),
                (shown_running(run), "running"),
                (warn(run), "stuck"),
            ];
            for (at, why) in timers {
                earliest = Wakeup::earlier(earliest, at.map(|at| Wakeup { at, why }));
            }
        }
        earliest
    }
}

fn deadline(run: &Run) -> Option<Millis> {
    let replaced = matches!(run.waits, Some(Waits::Lost { stop: Some(_), .. }));
    let stopping = replaced || run.active.is_some_and(|active| active.stopping.is_some());
    run.deadline.filter(|_| !stopping)
}

fn timeout(run: &Run) -> Option<Millis> {
    run.active.map(|active| {
        if active.accepted {
            // Its limit began when it left.
            active.timeout.plus(LEAVE_WITHIN_MS)
        } else {
            active.timeout.plus(TIMEOUT_SLACK_MS)
        }
    })
}

fn retry(run: &Run) -> Option<Millis> {
    match run.waits? {
        Waits::Retry { until } | Waits::Lost { until, .. } => Some(until),
        Waits::Queue => None,
    }
}

fn shown_running(run: &Run) -> Option<Millis> {
    run.active
        .filter(|_| run.state == RunState::Dispatched)
        .map(|active| active.since.plus(RUNNING_AFTER_MS))
}

fn warn(run: &Run) -> Option<Millis> {
    run.active
        .filter(|active| !active.warned && active.warn < Millis(i64::MAX))
        .map(|active| active.warn)
}
