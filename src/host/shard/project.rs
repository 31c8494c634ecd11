//! Writing runs and definitions to D1, some time soon, and again until D1 has taken them.
//!
//! D1 is a projection: nothing waits for it and nothing is decided from it. What it has not taken is
//! known from the records (`head.projected`), so a restart loses no row.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use cronwright_core::ids::JobId;
use cronwright_core::job::run::Run;
use cronwright_core::time::{MINUTE, Millis, SECOND};
use worker::Delay;

use super::{KEEP_RUNS_MS, Shard};
use crate::deliver::projection;
use crate::host::object::now;
use crate::host::records::{StorageError, jobs};

/// Rows written with one statement.
const ROWS: usize = 400;

/// Rows that end within this time go together.
const GATHER_MS: u64 = 500;

/// Runs wanted at most; what is beyond is found again from the records.
const MAX_WANTED: usize = 20_000;

/// Runs of one job that are looked for at a time when D1 was away for long.
const CATCH_UP: usize = 500;

/// Runs of a job that stay in the shard whatever their age.
const KEEP_AT_LEAST: u64 = 50;

/// Runs of a job that stay at most.
const KEEP_AT_MOST: u64 = 10_000;

/// What D1 has not taken.
#[derive(Default)]
pub struct Projection {
    runs: BTreeSet<(u32, u64)>,
    jobs: BTreeSet<u32>,
    busy: bool,
    failures: u32,
    next: Option<Millis>,
    /// The hour in which old runs were dropped last.
    pruned: i64,
}

impl Projection {
    /// A run should be written.
    pub fn want_run(&mut self, number: u32, seq: u64) {
        if self.runs.len() < MAX_WANTED {
            self.runs.insert((number, seq));
        }
    }

    /// A definition should be written.
    pub fn want_job(&mut self, number: u32) {
        self.jobs.insert(number);
    }

    /// Whether something is being written or waits to be.
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// When D1 is tried again.
    pub fn next_try(&self) -> Option<Millis> {
        self.next.filter(|_| !self.busy)
    }

    /// Runs that wait.
    pub fn len(&self) -> u64 {
        u64::try_from(self.runs.len()).unwrap_or(u64::MAX)
    }

    fn waits(&self) -> bool {
        !self.runs.is_empty() || !self.jobs.is_empty()
    }
}

/// One statement's worth of rows.
struct Page {
    keys: Vec<(u32, u64)>,
    runs: Vec<(JobId, Run)>,
    /// The job numbers of `runs`.
    of: Vec<u32>,
    numbers: Vec<u32>,
    views: Vec<cronwright_core::job::view::JobView>,
    deleted: Vec<JobId>,
}

impl Shard {
    /// Starts writing, if something waits and nobody writes.
    pub(super) fn project(self: &Rc<Self>, time: Millis) {
        let mut inner = self.inner.borrow_mut();
        let held = inner.projection.next.is_some_and(|next| next > time);
        // While a herd drains, D1 can wait.
        let herd = inner.flights.waiting() > 0;
        if inner.projection.busy || held || herd || !inner.projection.waits() {
            return;
        }
        inner.projection.busy = true;
        inner.projection.next = None;
        drop(inner);
        let shard = Rc::clone(self);
        self.platform.state.wait_until(async move {
            Delay::from(Duration::from_millis(GATHER_MS)).await;
            let more = shard.project_pages().await;
            shard.inner.borrow_mut().projection.busy = false;
            if more {
                shard.project(now());
            }
            shard.arm(now());
        });
    }

    /// Writes page after page; false when D1 does not take them now.
    async fn project_pages(self: &Rc<Self>) -> bool {
        loop {
            let page = match self.next_page() {
                Ok(Some(page)) => page,
                Ok(None) => return false,
                Err(error) => {
                    self.failed("project", &error);
                    return false;
                }
            };
            let written =
                projection::write(&self.platform.env, &page.views, &page.deleted, &page.runs).await;
            let mut inner = self.inner.borrow_mut();
            match written {
                Ok(rows) => {
                    inner.projection.failures = 0;
                    drop(inner);
                    #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
                    self.count("d1_rows_written", rows as f64);
                    if let Err(error) = self.taken(&page) {
                        self.failed("project", &error);
                        return false;
                    }
                }
                Err(why) => {
                    inner.projection.failures = inner.projection.failures.saturating_add(1);
                    let wait = (5 * SECOND)
                        .saturating_mul(i64::from(inner.projection.failures))
                        .min(MINUTE);
                    inner.projection.next = Some(now().plus(wait));
                    inner.projection.runs.extend(page.keys);
                    inner.projection.jobs.extend(page.numbers);
                    worker::console_warn!(
                        "{{\"event\":\"d1_away\",\"why\":{why:?},\"again_in_ms\":{wait}}}"
                    );
                    return false;
                }
            }
        }
    }

    fn next_page(&self) -> Result<Option<Page>, StorageError> {
        let mut inner = self.inner.borrow_mut();
        let keys: Vec<(u32, u64)> = inner.projection.runs.iter().take(ROWS).copied().collect();
        let numbers: Vec<u32> = inner.projection.jobs.iter().take(50).copied().collect();
        for key in &keys {
            inner.projection.runs.remove(key);
        }
        for number in &numbers {
            inner.projection.jobs.remove(number);
        }
        drop(inner);
        if keys.is_empty() && numbers.is_empty() {
            return Ok(None);
        }
        let mut page = Page {
            keys,
            runs: Vec::new(),
            of: Vec::new(),
            numbers,
            views: Vec::new(),
            deleted: Vec::new(),
        };
        for (number, seq) in &page.keys {
            if let Some(row) = self.run_of(*number, *seq)? {
                page.runs.push(row);
                page.of.push(*number);
            }
        }
        for number in &page.numbers {
            if let Some(view) = self.view(*number, 0)? {
                if view.status == cronwright_core::job::view::JobStatus::Deleted {
                    page.deleted.push(view.definition.job_id.clone());
                } else {
                    page.views.push(view);
                }
            }
        }
        Ok(Some(page))
    }

    fn run_of(&self, number: u32, seq: u64) -> Result<Option<(JobId, Run)>, StorageError> {
        let at = self.job_ref(number);
        let mut inner = self.inner.borrow_mut();
        let Some(machine) = inner.roster.machine(&self.platform.sql, at)? else {
            return Ok(None);
        };
        let job = machine.definition().job_id.clone();
        let run = machine.runs().find(|run| run.seq == seq).cloned();
        let run = match run {
            Some(run) => Some(run),
            None => jobs::run_at(&self.platform.sql, number, seq)?,
        };
        Ok(run.map(|run| (job, run)))
    }

    fn taken(self: &Rc<Self>, page: &Page) -> Result<(), StorageError> {
        if !page.numbers.is_empty() {
            jobs::set_projected(&self.platform.sql, &page.numbers)?;
        }
        for (number, (_, run)) in page.of.iter().zip(&page.runs) {
            let at = self.job_ref(*number);
            if let Some(machine) = self
                .inner
                .borrow_mut()
                .roster
                .machine(&self.platform.sql, at)?
            {
                machine.note_projected(run);
            }
        }
        let touched: BTreeSet<u32> = page.of.iter().chain(&page.numbers).copied().collect();
        touched
            .into_iter()
            .try_for_each(|number| self.forget_if_gone(number))
    }

    /// A deleted job of which everything is settled and in D1 leaves nothing behind.
    fn forget_if_gone(&self, number: u32) -> Result<(), StorageError> {
        let mut inner = self.inner.borrow_mut();
        if inner
            .roster
            .get(number)
            .is_some_and(cronwright_core::job::JobMachine::is_gone)
        {
            jobs::forget(&self.platform.sql, number)?;
            inner.roster.drop_machine(number);
        }
        Ok(())
    }

    /// Wants again whatever the records say that D1 lacks.
    pub(super) fn want_missing(&self) -> Result<(), StorageError> {
        let definitions = jobs::unprojected(&self.platform.sql)?;
        let mut inner = self.inner.borrow_mut();
        for number in definitions {
            inner.projection.want_job(number);
        }
        let missing: Vec<(u32, u64)> = inner
            .roster
            .machines()
            .flat_map(|machine| {
                machine
                    .unprojected(CATCH_UP)
                    .into_iter()
                    .map(|seq| (machine.at().number, seq))
            })
            .take(MAX_WANTED)
            .collect();
        for (number, seq) in missing {
            inner.projection.want_run(number, seq);
        }
        Ok(())
    }

    /// Drops runs that are old, settled and in D1; an hour's worth at a time.
    pub(super) fn prune(&self, time: Millis) -> Result<(), StorageError> {
        let hour = crate::host::records::wheel::hour_of(time);
        let mut inner = self.inner.borrow_mut();
        if inner.projection.pruned >= hour {
            return Ok(());
        }
        inner.projection.pruned = hour;
        let heads: Vec<_> = inner
            .roster
            .machines()
            .map(|machine| (machine.at().number, machine.head().clone()))
            .collect();
        drop(inner);
        for (number, head) in heads {
            let changed = head.changed.iter().copied().min().unwrap_or(u64::MAX);
            let safe = head
                .settled_below
                .min(head.projected)
                .min(changed)
                .min(head.last_seq.saturating_sub(KEEP_AT_LEAST));
            let too_many = head.last_seq.saturating_sub(KEEP_AT_MOST);
            jobs::drop_old_runs(
                &self.platform.sql,
                number,
                safe,
                too_many,
                time.plus(-KEEP_RUNS_MS),
            )?;
        }
        Ok(())
    }
}
