//! At rest: after the faults have ended all that was begun has come to its end, and all agree.

use cronwright_core::endpoint::{Delivery, DeliveryState, Settle};
use cronwright_core::ids::{JobRef, RunTag, digest16};
use cronwright_core::job::def::{AfterOn, ScheduleSpec};
use cronwright_core::job::view::JobStatus;
use cronwright_core::outcome::RunState;

use crate::shard::JobDisk;
use crate::world::World;

impl World<'_> {
    /// What is not at rest, if something is not.
    fn restless(&self) -> Option<String> {
        for (shard, object) in self.shards.iter().enumerate() {
            let shard = u16::try_from(shard).unwrap_or(u16::MAX);
            for (number, job) in &object.disk.jobs {
                if let Some(what) = self.restless_job(
                    JobRef {
                        shard,
                        number: *number,
                    },
                    job,
                ) {
                    return Some(what);
                }
            }
        }
        let deliveries = self
            .endpoints
            .iter()
            .flat_map(|endpoint| endpoint.disk.deliveries.values());
        let open = deliveries.into_iter().find(|found| {
            let over = matches!(found.state, DeliveryState::Done | DeliveryState::Dead);
            // What the shard knows already need not be told again: only an answer was lost.
            !over || (found.settle != Settle::Acked && !self.shard_knows(found))
        });
        open.map(|found| {
            format!(
                "the delivery of {} is {:?}, settle {:?}",
                found.run, found.state, found.settle
            )
        })
    }

    fn restless_job(&self, at: JobRef, job: &JobDisk) -> Option<String> {
        if job.head.status == JobStatus::Enabled {
            return Some(format!("{at:?} is still on"));
        }
        if let Some(run) = job.runs.values().find(|run| !run.is_settled()) {
            return Some(format!(
                "{} is {:?}, owes {:?}, callback {:?}, waits {:?}, active {:?}",
                run.id, run.state, run.owed, run.callback, run.waits, run.active
            ));
        }
        let rows = self.d1.rows(at).count();
        if rows < job.runs.len() {
            return Some(format!(
                "D1 has {rows} of {} runs of {at:?}",
                job.runs.len()
            ));
        }
        let behind = self
            .d1
            .rows(at)
            .find(|row| job.runs.get(&row.seq).is_none_or(|run| run.rev != row.rev));
        behind.map(|row| {
            format!(
                "D1 has {} at rev {}, storage at {:?}",
                row.id,
                row.rev,
                job.runs.get(&row.seq).map(|run| run.rev)
            )
        })
    }

    fn shard_knows(&self, delivery: &Delivery) -> bool {
        let at = delivery.run.job;
        let shard = self.shards.get(usize::from(at.shard));
        let job = shard.and_then(|object| object.disk.jobs.get(&at.number));
        let run = job.and_then(|job| job.run(&delivery.run));
        run.is_some_and(|run| run.callback_word >= delivery.word)
    }

    pub fn is_at_rest(&self) -> bool {
        self.restless().is_none()
    }

    /// The world's time is over and something still moves (I6).
    pub fn not_at_rest(&mut self) {
        let what = self
            .restless()
            .unwrap_or_else(|| "nothing moves any more, before it was paused".to_owned());
        let invariant = if what.starts_with("D1") { "I13" } else { "I6" };
        self.violated(invariant, what);
    }

    /// Adds everything up.
    pub fn final_audit(&mut self) {
        let wall = self.wall();
        self.witness.audit(wall);
        let runs: Vec<_> = self
            .shards
            .iter()
            .flat_map(|object| {
                object
                    .disk
                    .jobs
                    .values()
                    .flat_map(|job| job.runs.values().cloned())
            })
            .collect();
        for run in &runs {
            self.witness.callback_rests(run, wall);
        }
        self.followers();
    }

    /// Every end of a job that another runs after is in the other's books, unless people came between.
    fn followers(&mut self) {
        let mut missing = Vec::new();
        // A paused job takes no notice; word may be on its way for so long.
        let lived = self.plan.storm_ms.saturating_add(self.plan.heal_ms);
        let paused = self
            .plan
            .start
            .plus(lived)
            .plus(self.skew)
            .plus(-10 * 60_000);
        for job in &self.plan.jobs {
            let ScheduleSpec::After { job: upstream, on } = &job.definition.schedule else {
                continue;
            };
            let Some(other) = self
                .plan
                .jobs
                .iter()
                .find(|other| other.definition.job_id == *upstream)
            else {
                continue;
            };
            if self.witness.was_touched(job.index) || self.witness.was_touched(other.index) {
                continue;
            }
            let disk = |shard: u16, number: u32| {
                self.shards
                    .get(usize::from(shard))
                    .and_then(|object| object.disk.jobs.get(&number))
            };
            let (Some(own), Some(theirs)) =
                (disk(job.shard, job.index), disk(other.shard, other.index))
            else {
                continue;
            };
            for run in theirs.runs.values() {
                // Before the other job had heard of the link, it told nobody.
                let linked = own.head.created_at.plus(15 * 60_000);
                let tag = RunTag::After(digest16(&[&run.id.to_string()]));
                let follows = match on {
                    AfterOn::Failure => matches!(run.state, RunState::Failed | RunState::TimedOut),
                    // A success that did not come is recorded as skipped.
                    AfterOn::Success | AfterOn::Finish => run.state != RunState::Skipped,
                };
                let late = run
                    .ended_at
                    .is_some_and(|ended| ended > linked && ended < paused);
                if follows && late && !own.tags.contains_key(&tag) {
                    missing.push(format!(
                        "{} ended as {:?}, and job {} has no record of it",
                        run.id, run.state, job.index
                    ));
                }
            }
        }
        if let Some(what) = missing.into_iter().next() {
            self.violated("I4", what);
        }
    }
}
