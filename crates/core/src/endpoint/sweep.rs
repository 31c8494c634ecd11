//! What time alone does, and when it next does something.

use super::event::AttemptResult;
use super::queue::{Times, drop_at};
use super::record::DeliveryState;
use super::step::{EndpointMachine, Step};
use super::{DEAD_BYTES_KEPT, DEAD_KEPT, DONE_KEPT, IN_FLIGHT_MAX, SWEEP_MAX};
use crate::ids::RunId;
use crate::machine::Wakeup;
use crate::outcome::FetchFault;
use crate::time::Millis;

/// The runs of `times` whose instant has come, at most [`SWEEP_MAX`].
fn come(times: &Times, now: Millis) -> Vec<RunId> {
    times
        .iter()
        .take_while(|(at, _)| *at <= now)
        .take(SWEEP_MAX)
        .map(|(_, run)| run.clone())
        .collect()
}

impl EndpointMachine {
    /// Every reason to be woken; each is the earliest of its kind.
    pub(super) fn wakeups(&self) -> [Option<Wakeup>; 5] {
        let first = |times: &Times, why| times.first().map(|(at, _)| Wakeup { at: *at, why });
        let known_down = self.config.breaker.knows_down_until();
        let free = self.queue.in_flight.len() < IN_FLIGHT_MAX;
        let due = self.queue.first_due().filter(|_| free).map(|(due, _)| due);
        [
            due.and_then(|due| self.config.breaker.start_at(due))
                .map(|at| Wakeup { at, why: "attempt" }),
            first(&self.queue.in_flight, "timeout"),
            first(&self.queue.give_up, "give_up")
                .filter(|wakeup| known_down.is_some_and(|until| wakeup.at < until)),
            first(&self.queue.owed, "settle"),
            first(&self.queue.dead, "retention").map(|wakeup| Wakeup {
                at: drop_at(wakeup.at),
                ..wakeup
            }),
        ]
    }
}

impl Step<'_> {
    /// Does everything but starting attempts, which follows every event.
    pub(super) fn sweep(&mut self) {
        self.time_out();
        self.expire();
        for run in come(&self.queue.owed, self.now) {
            self.tell_shard_again(&run);
        }
        let old: Vec<RunId> = self
            .queue
            .dead
            .iter()
            .take_while(|(ended, _)| drop_at(*ended) <= self.now)
            .take(SWEEP_MAX)
            .map(|(_, run)| run.clone())
            .collect();
        for run in old {
            self.forget(&run);
        }
        self.keep_the_newest();
    }

    /// Gives up what ran out of patience while the receiver was known to be down. A late alarm does
    /// what the timely one would have done, so that the wakeup never stays in the past.
    fn expire(&mut self) {
        let Some(until) = self.config.breaker.knows_down_until() else {
            return;
        };
        let last = self.now.min(until.plus(-1));
        for run in come(&self.queue.give_up, last) {
            self.give_up(&run, "expired".to_owned());
        }
    }

    fn time_out(&mut self) {
        for run in come(&self.queue.in_flight, self.now) {
            let state = self.queue.get(&run).map(|found| found.state);
            if let Some(DeliveryState::InFlight { attempt, since, .. }) = state {
                let ms = self.now.since(since);
                let result = AttemptResult {
                    fault: Some(FetchFault::Timeout),
                    ms,
                    ..AttemptResult::default()
                };
                self.ended(&run, attempt, since, result);
            }
        }
    }

    /// Drops the oldest settled records over the limits.
    pub(super) fn keep_the_newest(&mut self) {
        while self.queue.done.len() > DONE_KEPT {
            let Some((_, run)) = self.queue.done.first().cloned() else {
                return;
            };
            self.forget(&run);
        }
        while self.queue.dead.len() > DEAD_KEPT || self.queue.dead_bytes > DEAD_BYTES_KEPT {
            let Some((_, run)) = self.queue.dead.first().cloned() else {
                return;
            };
            self.forget(&run);
        }
    }
}
