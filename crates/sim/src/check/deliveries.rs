//! Callbacks as receivers see them: one id, one body, in the order of the ends.

use std::collections::BTreeMap;

use cronwright_core::ids::{JobRef, RunId};
use cronwright_core::job::run::Run;
use cronwright_core::outcome::{CallbackState, RunState};
use cronwright_core::time::Millis;

use super::Witness;

/// What is known of callbacks.
#[derive(Debug, Default)]
pub struct Deliveries {
    /// The how-manieth end of its job a run was, and its `seq`.
    ends: BTreeMap<RunId, (u64, u64)>,
    count: BTreeMap<JobRef, u64>,
    /// Which a receiver has taken in: the how-manieth end, and its `seq`.
    taken: BTreeMap<(u16, JobRef), BTreeMap<u64, u64>>,
    bodies: BTreeMap<RunId, String>,
}

impl Deliveries {
    /// Whether a receiver took a run's result in.
    pub fn was_taken(&self, run: &RunId) -> bool {
        self.bodies.contains_key(run)
    }
}

impl Witness {
    /// A run has ended.
    pub fn ended(&mut self, at: JobRef, run: &Run) {
        if run.callback != CallbackState::None && run.state != RunState::Skipped {
            let count = self.deliveries.count.entry(at).or_default();
            *count = count.saturating_add(1);
            self.deliveries
                .ends
                .insert(run.id.clone(), (*count, run.seq));
        }
    }

    /// A receiver takes a callback in. `replayed` when people asked for it again.
    pub fn taken_in(&mut self, endpoint: u16, run: &RunId, id: &str, body: String, replayed: bool) {
        let now = run.at;
        if *id != run.to_string() {
            self.found("I9", now, || {
                format!("the callback of {run} came with the id {id}")
            });
        }
        match self.deliveries.bodies.get(run) {
            Some(first) if *first == body => return,
            Some(first) => {
                let first = first.clone();
                return self.found("I9", now, || {
                    format!("the callback of {run} changed: {first} -> {body}")
                });
            }
            None => drop(self.deliveries.bodies.insert(run.clone(), body)),
        }
        let Some((end, seq)) = self.deliveries.ends.get(run).copied() else {
            return self.found("I9", now, || {
                format!("a callback of {run} came, which has not ended")
            });
        };
        // One that began before and ended before comes before; one that overtook another at work may
        // come on either side.
        let taken = self
            .deliveries
            .taken
            .entry((endpoint, run.job))
            .or_default();
        let overtook = taken
            .range(end..)
            .find(|(_, other)| **other > seq)
            .map(|(_, other)| *other);
        taken.insert(end, seq);
        if let Some(other) = overtook.filter(|_| !replayed) {
            self.found("I10", now, || {
                format!(
                    "the callback of run {seq} of {:?} came after that of run {other}",
                    run.job
                )
            });
        }
    }

    /// At rest: a delivered run was taken in by its receiver, and every ended one has an end of its own.
    pub fn callback_rests(&mut self, run: &Run, wall: Millis) {
        let taken = self.deliveries.was_taken(&run.id);
        let fits = match run.callback {
            CallbackState::None => !taken,
            CallbackState::Pending => false,
            CallbackState::Done => taken,
            CallbackState::Failed => true,
        };
        if !fits {
            self.found("I9", wall, || {
                format!(
                    "{} rests with callback {:?}, taken in: {taken}",
                    run.id, run.callback
                )
            });
        }
    }
}
