//! The machines of a shard that are in memory, and their timers.

use std::collections::{BTreeMap, BTreeSet};

use cronwright_core::ids::JobRef;
use cronwright_core::job::JobMachine;
use cronwright_core::machine::Machine;
use cronwright_core::time::Millis;

use crate::host::records::jobs::{Loaded, load};
use crate::host::records::{Sql, StorageError};

/// Machines in memory that nothing but time concerns, before the oldest are dropped.
const MAX_RESTING: usize = 4_000;

/// Machines by job number.
#[derive(Default)]
pub struct Roster {
    machines: BTreeMap<u32, JobMachine>,
    poisoned: BTreeMap<u32, String>,
    timers: BTreeSet<(Millis, u32)>,
    timer_of: BTreeMap<u32, Millis>,
}

impl Roster {
    /// The machine of a job, read if it is not in memory. None when there is no such job, or it is
    /// quarantined.
    ///
    /// # Errors
    /// When storage fails.
    pub fn machine(
        &mut self,
        sql: &Sql,
        at: JobRef,
    ) -> Result<Option<&mut JobMachine>, StorageError> {
        if !self.machines.contains_key(&at.number) && !self.poisoned.contains_key(&at.number) {
            match load(sql, at)? {
                None => return Ok(None),
                Some(Loaded::Machine(machine)) => self.put(*machine),
                Some(Loaded::Poisoned { why, .. }) => self.poison(at.number, why),
            }
        }
        Ok(self.machines.get_mut(&at.number))
    }

    /// A machine that is in memory.
    pub fn get(&self, number: u32) -> Option<&JobMachine> {
        self.machines.get(&number)
    }

    /// What a job's turns changed is stored.
    pub fn committed(&mut self, number: u32) {
        if let Some(machine) = self.machines.get_mut(&number) {
            machine.committed();
        }
    }

    /// Takes a machine in.
    pub fn put(&mut self, machine: JobMachine) {
        let number = machine.at().number;
        self.machines.insert(number, machine);
        self.retime(number);
    }

    /// Sets the timer of a job anew, after a step.
    pub fn retime(&mut self, number: u32) {
        if let Some(old) = self.timer_of.remove(&number) {
            self.timers.remove(&(old, number));
        }
        if let Some(wakeup) = self.machines.get(&number).and_then(Machine::next_wakeup) {
            self.timers.insert((wakeup.at, number));
            self.timer_of.insert(number, wakeup.at);
        }
    }

    /// Jobs whose timer has come, the longest overdue first.
    pub fn due(&self, now: Millis) -> Vec<u32> {
        self.timers
            .iter()
            .take_while(|(at, _)| *at <= now)
            .map(|(_, number)| *number)
            .collect()
    }

    /// The earliest timer.
    pub fn earliest(&self) -> Option<Millis> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Drops a machine; it is read again when it is needed.
    pub fn drop_machine(&mut self, number: u32) {
        self.machines.remove(&number);
        self.retime(number);
    }

    /// Keeps a job from being stepped.
    pub fn poison(&mut self, number: u32, why: String) {
        self.drop_machine(number);
        self.poisoned.insert(number, why);
    }

    /// Lets a job be stepped again.
    pub fn absolve(&mut self, number: u32) {
        self.poisoned.remove(&number);
    }

    /// Why a job is quarantined, if it is.
    pub fn poison_of(&self, number: u32) -> Option<&str> {
        self.poisoned.get(&number).map(String::as_str)
    }

    /// Jobs in quarantine, as far as they were met.
    pub fn poisoned(&self) -> usize {
        self.poisoned.len()
    }

    /// Machines in memory.
    pub fn machines(&self) -> impl Iterator<Item = &JobMachine> {
        self.machines.values()
    }

    /// Drops machines outside `keep` when there are many of them.
    pub fn thin(&mut self, keep: &BTreeSet<u32>) {
        if self.machines.len() <= MAX_RESTING {
            return;
        }
        let resting: Vec<u32> = self
            .machines
            .iter()
            .filter(|(number, machine)| machine.is_idle() && !keep.contains(number))
            .map(|(number, _)| *number)
            .collect();
        for number in resting {
            self.drop_machine(number);
        }
    }
}
