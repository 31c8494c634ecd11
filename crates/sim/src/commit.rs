//! Commit, then perform; and taking up what a crash interrupted. Crash points lie around the write.

use std::collections::BTreeSet;

use cronwright_core::ids::JobRef;
use cronwright_core::job::run::{Run, Waits};
use cronwright_core::job::{Change, Dispatch, Effect, Event, JobMachine};
use cronwright_core::machine::{Keyed, Machine};
use cronwright_core::outcome::RunState;

use crate::Mutation;
use crate::faults::Fault;
use crate::fly::stopped;
use crate::object::Died;
use crate::shard::{JobGroup, ShardMemory};
use crate::world::World;

/// Runs read with a job, besides the unsettled ones.
const NEWEST: u64 = 3;

impl World<'_> {
    /// Writes all turns of a group, and performs their effects.
    pub fn commit_jobs(&mut self, shard: u16, group: JobGroup) -> Result<(), Died> {
        if group.is_empty() {
            return Ok(());
        }
        self.commit_point(Fault::CrashBeforeCommit)?;
        if self.fault(Fault::StorageFails) {
            return Err(Died::Storage);
        }
        let numbers: Vec<u32> = group.keys().copied().collect();
        let hasty = self.options.mutation == Some(Mutation::MessageBeforeCommit);
        let mut held = Vec::new();
        let effects = group.commit(|changes| {
            if hasty {
                held = changes;
                return Ok(());
            }
            self.store_all(shard, changes)
        })?;
        if !hasty {
            self.commit_point(Fault::CrashAfterCommit)?;
        }
        if let Some(memory) = self.memory(shard) {
            for number in numbers {
                if let Some(machine) = memory.machines.get_mut(&number) {
                    machine.committed();
                }
            }
        }
        for (number, keyed) in effects {
            self.perform(shard, number, keyed);
        }
        if hasty {
            self.launch(shard);
            self.commit_point(Fault::CrashAfterCommit)?;
            self.store_all(shard, held)?;
        }
        Ok(())
    }

    fn store_all(&mut self, shard: u16, changes: Vec<(u32, Change)>) -> Result<(), Died> {
        if self.options.mutation == Some(Mutation::AdvanceWithoutRecord) {
            let (heads, others): (Vec<_>, Vec<_>) = changes
                .into_iter()
                .partition(|(_, change)| matches!(change, Change::Head(_)));
            for (number, change) in heads {
                self.store(shard, number, change);
            }
            self.commit_point(Fault::CrashBeforeCommit)?;
            for (number, change) in others {
                self.store(shard, number, change);
            }
            return Ok(());
        }
        for (number, change) in changes {
            self.store(shard, number, change);
        }
        Ok(())
    }

    fn store(&mut self, shard: u16, number: u32, change: Change) {
        let wall = self.wall();
        let forgetful = self.options.mutation == Some(Mutation::RunningInMemory);
        let at = JobRef { shard, number };
        let Some(object) = self.shards.get_mut(usize::from(shard)) else {
            return;
        };
        let Some(job) = object.disk.jobs.get_mut(&number) else {
            return;
        };
        match change {
            Change::Definition(definition) => {
                job.definition = *definition;
                self.witness.defined(at, &job.definition);
            }
            Change::Head(head) => {
                self.witness
                    .head_stored(at, &job.definition, &job.head, &head, wall);
                job.head = *head;
            }
            Change::Run(run) => {
                let mut run = *run;
                if forgetful && run.active.is_some() {
                    forget_that_it_runs(&mut run);
                }
                let old = job.runs.get(&run.seq);
                self.witness.coverage.run(old, &run);
                self.witness.run_stored(at, old, &run, wall);
                if old.is_none() {
                    job.ids.insert(run.id.clone(), run.seq);
                    job.tags.insert(run.id.tag.clone(), run.seq);
                }
                job.runs.insert(run.seq, run);
            }
        }
    }

    fn perform(&mut self, shard: u16, number: u32, keyed: Keyed<Effect>) {
        match keyed.effect {
            Effect::Dispatch(dispatch) => {
                if let Some(memory) = self.memory(shard) {
                    if memory.hurry.remove(&number) {
                        memory.waiting.push_front((number, *dispatch));
                    } else {
                        memory.waiting.push_back((number, *dispatch));
                    }
                }
            }
            Effect::Abort { run, fence } => self.abort(shard, number, run, fence),
            effect @ (Effect::Deliver { .. }
            | Effect::TellDependent { .. }
            | Effect::TellUpstream { .. }) => self.tell(shard, number, keyed.key, effect),
            Effect::ProjectRun { seq } => {
                if let Some(memory) = self.memory(shard) {
                    memory.wanted.insert((number, seq));
                }
            }
            Effect::ProjectJob | Effect::Raise { .. } => {}
        }
    }

    /// Reads storage, if memory is gone, and takes up what was interrupted: attempts that had left are
    /// lost, those that waited leave now, words that were owed are told.
    pub fn open_shard(&mut self, shard: u16) -> Result<(), Died> {
        if self.memory(shard).is_some() {
            return Ok(());
        }
        let memory = ShardMemory {
            machines: self.restored(shard),
            ..ShardMemory::default()
        };
        let Some(object) = self.shard(shard) else {
            return Ok(());
        };
        let sent = object.disk.sent.clone();
        let numbers: Vec<u32> = memory.machines.keys().copied().collect();
        object.memory = Some(memory);
        self.take_up_jobs(shard, &numbers, sent.as_ref())?;
        self.want_missing(shard);
        self.launch(shard);
        self.project(shard);
        Ok(())
    }

    /// Takes up what these jobs have outstanding. Of their attempts, those in `sent` had left; without it
    /// all that nobody knows of had.
    pub fn take_up_jobs(
        &mut self,
        shard: u16,
        numbers: &[u32],
        sent: Option<&BTreeSet<(u32, u64)>>,
    ) -> Result<(), Died> {
        let mut group = JobGroup::default();
        for number in numbers.iter().copied() {
            let machine = self
                .memory(shard)
                .and_then(|memory| memory.machines.get(&number));
            for keyed in machine.map(Machine::outstanding).unwrap_or_default() {
                match keyed.effect {
                    Effect::Dispatch(dispatch) if self.knows(shard, number, dispatch.fence) => {}
                    Effect::Dispatch(dispatch) => {
                        let left = sent.is_none_or(|sent| sent.contains(&(number, dispatch.fence)));
                        self.take_up(shard, number, *dispatch, left, &mut group);
                    }
                    effect => self.tell(shard, number, keyed.key, effect),
                }
            }
        }
        self.commit_jobs(shard, group)?;
        self.settle_landed(shard);
        Ok(())
    }

    /// Whether an attempt waits or is out.
    fn knows(&mut self, shard: u16, number: u32, fence: u64) -> bool {
        let is = |of: u32, other: u64| of == number && other == fence;
        self.memory(shard).is_some_and(|memory| {
            let waits = |(of, dispatch): &(u32, Dispatch)| is(*of, dispatch.fence);
            memory.waiting.iter().any(waits)
                || memory
                    .out
                    .values()
                    .any(|flight| is(flight.number, flight.fence))
        })
    }

    /// An attempt that was out: lost if it had left, else it leaves now, unless it was asked to stop.
    fn take_up(
        &mut self,
        shard: u16,
        number: u32,
        dispatch: Dispatch,
        left: bool,
        group: &mut JobGroup,
    ) {
        let Some(memory) = self.memory(shard) else {
            return;
        };
        let run = memory
            .machines
            .get(&number)
            .and_then(|machine| machine.run(&dispatch.run));
        let active = run.and_then(|run| run.active);
        let (id, fence) = (dispatch.run.clone(), dispatch.fence);
        let event = if left {
            let why = "the control plane restarted".to_owned();
            let run = id;
            Event::AttemptLost { run, fence, why }
        } else if active.is_some_and(|active| active.stopping.is_some()) {
            stopped(id, fence, "stopped before it was sent")
        } else {
            return memory.waiting.push_back((number, dispatch));
        };
        // Refused is as good.
        drop(self.step(shard, number, event, group));
    }

    pub fn restored(&mut self, shard: u16) -> std::collections::BTreeMap<u32, JobMachine> {
        let mut machines = std::collections::BTreeMap::new();
        let trusts_d1 = self.options.mutation == Some(Mutation::D1IsTruth);
        let Some(object) = self.shards.get(usize::from(shard)) else {
            return machines;
        };
        let sound = object.disk.jobs.iter().filter(|(_, job)| !job.quarantined);
        for (number, job) in sound {
            let at = JobRef {
                shard,
                number: *number,
            };
            let oldest = job.head.last_seq.saturating_sub(NEWEST.saturating_sub(1));
            let from = oldest.min(job.head.settled_below);
            let read = job.runs.range(from..).map(|(_, run)| run.clone());
            let runs: Vec<Run> = if trusts_d1 {
                read.filter_map(|run| self.d1.row(at, run.seq)).collect()
            } else {
                read.collect()
            };
            let restored = JobMachine::restore(at, job.definition.clone(), job.head.clone(), runs);
            if let Ok(machine) = restored {
                machines.insert(*number, machine);
            }
        }
        machines
    }
}

/// The planted bug of an attempt that only memory knows of.
fn forget_that_it_runs(run: &mut Run) {
    let since = run.active.map(|active| active.since);
    run.active = None;
    run.waits = since.map(|until| Waits::Retry { until });
    run.state = RunState::Triggered;
    if let Some(row) = run.ledger.last_mut() {
        row.to = RunState::Triggered;
    }
}
