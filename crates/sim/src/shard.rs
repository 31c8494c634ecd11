//! The sim host of a job shard: what `src/host/shard` does, with a disk that is a map.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cronwright_core::ids::{JobRef, RunId, RunTag, digest16};
use cronwright_core::job::def::Definition;
use cronwright_core::job::run::Run;
use cronwright_core::job::{Change, Dispatch, Effect, Event, Head, JobMachine, Reject};
use cronwright_core::machine::{Group, Machine};
use cronwright_core::time::Millis;

use crate::Mutation;
use crate::faults::Fault;
use crate::object::{Died, Life};
use crate::plan::JobPlan;
use crate::quarantine::resumes;
use crate::queue::{Answer, Ask, Happening, Obj};
use crate::tell::Word;
use crate::world::World;

/// Turns of jobs, to be committed together.
pub type JobGroup = Group<u32, Change, Effect>;

/// Results that arrive within this time are committed together.
const COMMIT_EVERY_MS: i64 = 25;

/// While calls are out, the object is woken at least this often.
pub const HEARTBEAT_MS: i64 = 30_000;

/// A job as storage holds it.
#[derive(Clone, Debug)]
pub struct JobDisk {
    pub definition: Definition,
    pub head: Head,
    pub runs: BTreeMap<u64, Run>,
    /// Runs by id.
    pub ids: BTreeMap<RunId, u64>,
    /// Runs by the key that made them, as the real host finds a trigger that came before.
    pub tags: BTreeMap<RunTag, u64>,
    /// Whether its machine panicked and nobody has resumed it.
    pub quarantined: bool,
}

impl JobDisk {
    /// A run by its id.
    pub fn run(&self, id: &RunId) -> Option<&Run> {
        self.ids.get(id).and_then(|seq| self.runs.get(seq))
    }
}

/// What survives.
#[derive(Clone, Debug, Default)]
pub struct ShardDisk {
    pub jobs: BTreeMap<u32, JobDisk>,
    /// Attempts that had left, while others waited.
    pub sent: Option<BTreeSet<(u32, u64)>>,
}

/// One post that has left.
#[derive(Clone, Debug)]
pub struct Flight {
    pub number: u32,
    pub run: RunId,
    pub fence: u64,
    /// Whether it can be broken off.
    pub alone: bool,
}

/// What a crash takes.
#[derive(Default)]
pub struct ShardMemory {
    pub machines: BTreeMap<u32, JobMachine>,
    pub waiting: VecDeque<(u32, Dispatch)>,
    pub out: BTreeMap<u64, Flight>,
    /// Jobs whose next attempt goes to the head of the queue.
    pub hurry: BTreeSet<u32>,
    /// Attempts that are back, and whose result is not stored yet.
    pub landed: BTreeSet<(u32, u64)>,
    pub inbox: Vec<(u32, Event)>,
    pub flush_planned: bool,
    pub last_flush: Millis,
    pub telling: BTreeMap<String, Word>,
    pub wanted: BTreeSet<(u32, u64)>,
    pub projecting: bool,
    pub project_again: Option<Millis>,
    pub failures: u32,
}

/// A shard.
#[derive(Default)]
pub struct ShardObject {
    pub life: Life,
    pub disk: ShardDisk,
    pub memory: Option<ShardMemory>,
    /// Handles are never used twice, whatever dies.
    pub last_handle: u64,
}

impl World<'_> {
    pub fn shard(&mut self, shard: u16) -> Option<&mut ShardObject> {
        self.shards.get_mut(usize::from(shard))
    }

    /// The memory of a shard that is up.
    pub fn memory(&mut self, shard: u16) -> Option<&mut ShardMemory> {
        self.shard(shard)?.memory.as_mut()
    }

    /// Creates a job, before the storm.
    pub fn create_job(&mut self, job: &JobPlan) {
        let at = JobRef {
            shard: job.shard,
            number: job.index,
        };
        let wall = self.wall();
        let Ok((machine, turn)) = JobMachine::create(wall, at, job.definition.clone(), true) else {
            return self.violated("I4", format!("job {} cannot be created", job.index));
        };
        let disk = JobDisk {
            definition: job.definition.clone(),
            head: machine.head().clone(),
            runs: BTreeMap::new(),
            ids: BTreeMap::new(),
            tags: BTreeMap::new(),
            quarantined: false,
        };
        self.witness.created(at, &job.definition, wall);
        let Some(object) = self.shard(job.shard) else {
            return;
        };
        object.disk.jobs.insert(job.index, disk);
        object
            .memory
            .get_or_insert_default()
            .machines
            .insert(job.index, machine);
        let mut group = JobGroup::default();
        group.add(job.index, turn);
        let done = self.commit_jobs(job.shard, group);
        self.handled(Obj::Shard(job.shard), done);
        self.arm_shard(job.shard);
    }

    /// A question to a shard.
    pub fn shard_asked(&mut self, shard: u16, ask: &Ask) -> Answer {
        let obj = Obj::Shard(shard);
        let done = self.open_shard(shard).and_then(|()| match ask {
            Ask::Tick => self.ticked(shard).map(|()| Answer::Taken),
            Ask::Job { number, event } => self.step_now(shard, *number, event),
            Ask::Endpoint(_) => Ok(Answer::Refused("not an endpoint".to_owned())),
        });
        match done {
            Ok(answer) => {
                self.arm_shard(shard);
                answer
            }
            Err(died) => {
                self.handled(obj, Err(died));
                Answer::Lost
            }
        }
    }

    fn ticked(&mut self, shard: u16) -> Result<(), Died> {
        if self.options.mutation == Some(Mutation::AlarmNotRearmed) {
            return Ok(());
        }
        self.look_for_alarm(Obj::Shard(shard));
        self.wake_due(shard)?;
        self.tell_owed(shard);
        self.poke_endpoints(shard);
        self.want_missing(shard);
        self.project(shard);
        Ok(())
    }

    /// The alarm's handler.
    pub fn shard_alarm(&mut self, shard: u16) -> Result<(), Died> {
        self.open_shard(shard)?;
        let wall = self.wall();
        if self.next_due(shard).is_some_and(|at| at <= wall) || self.is_busy(shard) {
            // Before any work: whatever becomes of it, there is a next time.
            self.wake_by(Obj::Shard(shard), wall.plus(HEARTBEAT_MS));
        }
        self.wake_due(shard)?;
        self.tell_owed(shard);
        self.project(shard);
        self.arm_shard(shard);
        Ok(())
    }

    fn next_due(&self, shard: u16) -> Option<Millis> {
        let memory = self.shards.get(usize::from(shard))?.memory.as_ref()?;
        memory
            .machines
            .values()
            .filter_map(|machine| machine.next_wakeup())
            .map(|wakeup| wakeup.at)
            .min()
    }

    fn is_busy(&self, shard: u16) -> bool {
        let memory = self
            .shards
            .get(usize::from(shard))
            .and_then(|object| object.memory.as_ref());
        memory.is_some_and(|memory| {
            !memory.out.is_empty()
                || !memory.waiting.is_empty()
                || !memory.inbox.is_empty()
                || memory.projecting
                || memory.telling.values().any(|word| word.next.is_none())
        })
    }

    /// Sets the alarm to the earliest of all timers.
    pub fn arm_shard(&mut self, shard: u16) {
        let wall = self.wall();
        let Some(memory) = self
            .shards
            .get(usize::from(shard))
            .and_then(|object| object.memory.as_ref())
        else {
            return;
        };
        let retry = memory.telling.values().filter_map(|word| word.next).min();
        let again = memory
            .project_again
            .filter(|_| !memory.projecting && memory.waiting.is_empty());
        let beat = self.is_busy(shard).then(|| wall.plus(HEARTBEAT_MS));
        let timers = [self.next_due(shard), retry, again, beat];
        if let Some(at) = timers.into_iter().flatten().min() {
            self.wake_by(Obj::Shard(shard), at);
        }
    }

    /// Steps every machine whose time has come.
    pub fn wake_due(&mut self, shard: u16) -> Result<(), Died> {
        let wall = self.wall();
        let Some(memory) = self.memory(shard) else {
            return Ok(());
        };
        let due: Vec<u32> = memory
            .machines
            .iter()
            .filter(|(_, machine)| {
                machine
                    .next_wakeup()
                    .is_some_and(|wakeup| wakeup.at <= wall)
            })
            .map(|(number, _)| *number)
            .collect();
        let mut group = JobGroup::default();
        for number in due {
            drop(self.step(shard, number, Event::Wake, &mut group));
        }
        self.commit_jobs(shard, group)?;
        self.launch(shard);
        Ok(())
    }

    /// Steps one machine, and adds its turn to the group.
    pub fn step(
        &mut self,
        shard: u16,
        number: u32,
        event: Event,
        group: &mut JobGroup,
    ) -> Result<(), Reject> {
        let wall = self.wall();
        if self.fault(Fault::Panics) {
            self.quarantine(shard, number);
            return Ok(());
        }
        let event = self.tampered(shard, number, event);
        let about = event.run().cloned();
        self.events = self.events.saturating_add(1);
        let Some(object) = self.shards.get_mut(usize::from(shard)) else {
            return Ok(());
        };
        let (Some(memory), Some(disk)) = (object.memory.as_mut(), object.disk.jobs.get(&number))
        else {
            return Ok(());
        };
        let Some(machine) = memory.machines.get_mut(&number) else {
            return Ok(());
        };
        if let Some(run) = about.as_ref().filter(|run| machine.run(run).is_none())
            && let Some(past) = disk.run(run)
        {
            machine.recall(past.clone());
        }
        let report = self.witness.report(number, &event);
        let turn = machine.step(wall, event)?;
        self.witness.stepped(wall, machine.at(), report, &turn);
        self.hash = (self.hash ^ machine.head().rev).wrapping_mul(0x0000_0100_0000_01b3);
        group.add(number, turn);
        Ok(())
    }

    /// Steps and commits at once, on behalf of somebody who waits for the answer.
    fn step_now(&mut self, shard: u16, number: u32, event: &Event) -> Result<Answer, Died> {
        if resumes(event) {
            self.absolve(shard, number)?;
        }
        if self.is_quarantined(shard, number) {
            return Ok(Answer::Quarantined);
        }
        if self.is_known(shard, number, event) {
            return Ok(Answer::Taken);
        }
        let mut group = JobGroup::default();
        let stepped = self.step(shard, number, event.clone(), &mut group);
        if matches!(stepped, Err(Reject::StaleFence { .. } | Reject::Ended(_))) {
            self.refused_report(shard, number, event, &mut group);
        }
        self.commit_jobs(shard, group)?;
        self.launch(shard);
        self.project(shard);
        if self.is_quarantined(shard, number) {
            return Ok(Answer::Quarantined);
        }
        Ok(match stepped {
            Ok(()) => Answer::Taken,
            Err(reject) => Answer::Refused(reject.to_string()),
        })
    }

    /// Whether the run that an event asks for is there already.
    fn is_known(&self, shard: u16, number: u32, event: &Event) -> bool {
        let tag = match event {
            Event::RunNow { key, .. } => RunTag::Manual(digest16(&[key])),
            Event::Replay { key, .. } => RunTag::Replay(digest16(&[key])),
            Event::Upstream { run, .. } => RunTag::After(digest16(&[&run.to_string()])),
            _ => return false,
        };
        let object = self.shards.get(usize::from(shard));
        let job = object.and_then(|object| object.disk.jobs.get(&number));
        job.is_some_and(|job| job.tags.contains_key(&tag))
    }

    /// Takes an event in; it is stepped with others that arrive at the same time.
    pub fn post(&mut self, shard: u16, number: u32, event: Event) {
        let now = self.now;
        let epoch = self.epoch(Obj::Shard(shard));
        let Some(memory) = self.memory(shard) else {
            return;
        };
        memory.inbox.push((number, event));
        if !memory.flush_planned {
            memory.flush_planned = true;
            let at = now.max(memory.last_flush.plus(COMMIT_EVERY_MS));
            self.queue.push(at, Happening::Flush { shard, epoch });
        }
    }

    pub fn flush_due(&mut self, shard: u16, epoch: u32) {
        if self.epoch(Obj::Shard(shard)) == epoch {
            let done = self.flush(shard);
            self.handled(Obj::Shard(shard), done);
        }
    }

    fn flush(&mut self, shard: u16) -> Result<(), Died> {
        let now = self.now;
        let Some(memory) = self.memory(shard) else {
            return Ok(());
        };
        memory.flush_planned = false;
        memory.last_flush = now;
        let events = std::mem::take(&mut memory.inbox);
        let mut group = JobGroup::default();
        for (number, event) in events {
            self.step_reported(shard, number, event, &mut group);
        }
        self.commit_jobs(shard, group)?;
        self.settle_landed(shard);
        self.launch(shard);
        self.project(shard);
        self.arm_shard(shard);
        Ok(())
    }

    /// Steps an event that nobody waits for; a late report is kept as evidence.
    fn step_reported(&mut self, shard: u16, number: u32, event: Event, group: &mut JobGroup) {
        let late = match &event {
            Event::AttemptEnded {
                run,
                fence,
                verdict,
                ..
            } => Some((run.clone(), *fence, format!("{verdict:?}"))),
            _ => None,
        };
        let refused = matches!(
            self.step(shard, number, event.clone(), group),
            Err(Reject::StaleFence { .. } | Reject::Ended(_))
        );
        if refused {
            if let Some((run, fence, what)) = late {
                drop(self.step(shard, number, Event::LateReport { run, fence, what }, group));
            }
            self.refused_report(shard, number, &event, group);
        }
    }

    /// Crash points are around the write.
    pub fn commit_point(&mut self, fault: Fault) -> Result<(), Died> {
        if self.fault(fault) {
            Err(Died::Crashed)
        } else {
            Ok(())
        }
    }
}
