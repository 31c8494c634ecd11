//! What a shard shows of its jobs.

use cronwright_core::ids::JobId;
use cronwright_core::job::run::Run;
use cronwright_core::job::view::{JobView, RecentRun};
use cronwright_core::job::{Head, JobMachine, def::Definition};
use cronwright_core::time::Millis;

use super::Shard;
use crate::host::records::jobs::{self, Loaded};
use crate::host::records::{Sql, StorageError};

impl Shard {
    /// The number of a job of this shard.
    pub(super) fn number_of(&self, job: &JobId) -> Result<Option<u32>, StorageError> {
        jobs::number_of(&self.platform.sql, job)
    }

    /// A job as it stands, with its `recent` newest runs. None when there is none of that number.
    pub(super) fn view(&self, number: u32, recent: u32) -> Result<Option<JobView>, StorageError> {
        let at = self.job_ref(number);
        let sql = &self.platform.sql;
        let mut inner = self.inner.borrow_mut();
        if let Some(machine) = inner.roster.machine(sql, at)? {
            let runs = newest(sql, machine, recent)?;
            return Ok(Some(of_machine(machine, &runs)));
        }
        let why = inner.roster.poison_of(number).map(str::to_owned);
        drop(inner);
        Ok(match jobs::load(sql, at)? {
            Some(Loaded::Poisoned {
                why,
                records: Some(records),
            }) => Some(of_records(at, records.0, &records.1, why)),
            Some(Loaded::Machine(machine)) => {
                let mut view = of_machine(&machine, &newest(sql, &machine, recent)?);
                view.quarantined = why;
                Some(view)
            }
            Some(Loaded::Poisoned { records: None, .. }) | None => None,
        })
    }
}

fn newest(sql: &Sql, machine: &JobMachine, limit: u32) -> Result<Vec<Run>, StorageError> {
    if limit == 0 {
        return Ok(machine.runs().next_back().cloned().into_iter().collect());
    }
    jobs::runs_before(sql, machine.at().number, jobs::MAX_SEQ, limit)
}

/// `runs`: newest first.
fn of_machine(machine: &JobMachine, runs: &[Run]) -> JobView {
    let mut view = of_records(
        machine.at(),
        machine.definition().clone(),
        machine.head(),
        String::new(),
    );
    view.quarantined = None;
    view.open = machine
        .runs()
        .filter(|run| run.is_open())
        .map(|run| run.id.clone())
        .collect();
    view.last = runs.first().cloned();
    view.recent = runs
        .iter()
        .rev()
        .map(|run| RecentRun {
            id: run.id.clone(),
            state: run.state,
            ms: duration(run),
        })
        .collect();
    view
}

fn duration(run: &Run) -> Option<i64> {
    let started: Millis = run.started_at?;
    Some(run.ended_at?.since(started))
}

fn of_records(
    at: cronwright_core::ids::JobRef,
    definition: Definition,
    head: &Head,
    why: String,
) -> JobView {
    JobView {
        at,
        definition,
        revision: head.revision,
        schedule_version: head.schedule_version,
        status: head.status,
        created_at: head.created_at,
        updated_at: head.updated_at,
        next_due: head.next_due,
        open: Vec::new(),
        last: None,
        recent: Vec::new(),
        usual_ms: head.usual_ms(),
        quarantined: Some(why),
    }
}
