//! A machine that panics is quarantined alone, until a person resumes, saves or deletes its job.

use cronwright_core::job::Event;
use cronwright_core::time::{MINUTE, SECOND};

use crate::object::Died;
use crate::queue::{Ask, Caller, Happening, Obj};
use crate::world::World;

/// Whether an event is that of a person who wants the job back.
pub fn resumes(event: &Event) -> bool {
    matches!(
        event,
        Event::SetEnabled { enabled: true } | Event::Replace { .. } | Event::Delete { .. }
    )
}

impl World<'_> {
    /// A machine panicked: it is dropped, and a person will come.
    pub fn quarantine(&mut self, shard: u16, number: u32) {
        let Some(object) = self.shards.get_mut(usize::from(shard)) else {
            return;
        };
        let there = object.memory.as_mut().is_some_and(|memory| {
            // Words of its own wait until it is back.
            memory.machines.remove(&number).is_some()
        });
        let Some(job) = object.disk.jobs.get_mut(&number).filter(|_| there) else {
            return;
        };
        job.quarantined = true;
        let comes = self.chance.people.span(30 * SECOND, 20 * MINUTE);
        self.resume_at(shard, number, comes);
    }

    /// When the faults end, people resume what is quarantined.
    pub fn resume_all(&mut self) {
        let quarantined: Vec<(u16, u32)> = (0_u16..)
            .zip(&self.shards)
            .flat_map(|(shard, object)| {
                let jobs = object.disk.jobs.iter().filter(|(_, job)| job.quarantined);
                jobs.map(move |(number, _)| (shard, *number))
            })
            .collect();
        for (shard, number) in quarantined {
            self.resume_at(shard, number, SECOND);
        }
    }

    fn resume_at(&mut self, shard: u16, number: u32, in_ms: i64) {
        let at = self.now.plus(in_ms);
        let event = Box::new(Event::SetEnabled { enabled: true });
        let asks = Happening::Ask {
            to: Obj::Shard(shard),
            ask: Ask::Job { number, event },
            caller: Caller::Outside { tries: 0 },
            sent: at,
        };
        self.witness.touched(number);
        self.queue.push(at, asks);
    }

    pub fn is_quarantined(&self, shard: u16, number: u32) -> bool {
        let object = self.shards.get(usize::from(shard));
        let job = object.and_then(|object| object.disk.jobs.get(&number));
        job.is_some_and(|job| job.quarantined)
    }

    /// Lets a quarantined job be stepped again, and takes up what it has outstanding.
    pub fn absolve(&mut self, shard: u16, number: u32) -> Result<(), Died> {
        if !self.is_quarantined(shard, number) {
            return Ok(());
        }
        if let Some(job) = self
            .shard(shard)
            .and_then(|object| object.disk.jobs.get_mut(&number))
        {
            job.quarantined = false;
        }
        let machine = self.restored(shard).remove(&number);
        if let (Some(machine), Some(memory)) = (machine, self.memory(shard)) {
            memory.machines.insert(number, machine);
        }
        let taken_up = self.take_up_jobs(shard, &[number], None);
        // The real host writes both in one transaction: neither is stored without the other.
        if taken_up.is_err()
            && let Some(object) = self.shard(shard)
            && let Some(job) = object.disk.jobs.get_mut(&number)
        {
            job.quarantined = true;
        }
        taken_up
    }

    /// What came back is in storage, except what a quarantined job would not take.
    pub fn settle_landed(&mut self, shard: u16) {
        let Some(object) = self.shards.get_mut(usize::from(shard)) else {
            return;
        };
        let jobs = &object.disk.jobs;
        let poisoned = |number: &u32| jobs.get(number).is_some_and(|job| job.quarantined);
        if let Some(memory) = object.memory.as_mut() {
            memory.landed.retain(|(number, _)| poisoned(number));
        }
    }
}
