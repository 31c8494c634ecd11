//! D1: a table of runs that may be away, or lie about what it wrote; and the shards' way into it.

use std::collections::BTreeMap;

use cronwright_core::ids::JobRef;
use cronwright_core::job::run::Run;
use cronwright_core::time::{MINUTE, SECOND};

use crate::faults::Fault;
use crate::queue::{Happening, Obj};
use crate::world::World;

/// Rows that end within this time go together.
const GATHER_MS: i64 = 500;

/// Rows of one statement.
const ROWS: usize = 400;

/// Runs of one job that are looked for at a time when D1 was away for long.
const CATCH_UP: usize = 500;

/// The table.
#[derive(Default)]
pub struct D1 {
    pub away: bool,
    rows: BTreeMap<(JobRef, u64), Run>,
}

impl D1 {
    /// A row.
    pub fn row(&self, at: JobRef, seq: u64) -> Option<Run> {
        self.rows.get(&(at, seq)).cloned()
    }

    /// All rows of a job.
    pub fn rows(&self, at: JobRef) -> impl Iterator<Item = &Run> {
        self.rows
            .range((at, 0)..=(at, u64::MAX))
            .map(|(_, run)| run)
    }

    /// A late copy never replaces a newer one.
    fn write(&mut self, at: JobRef, run: &Run) {
        let slot = self
            .rows
            .entry((at, run.seq))
            .or_insert_with(|| run.clone());
        if slot.rev < run.rev {
            *slot = run.clone();
        }
    }
}

impl World<'_> {
    /// Starts writing, if something waits and nobody writes.
    pub fn project(&mut self, shard: u16) {
        let (now, wall) = (self.now, self.wall());
        let epoch = self.epoch(Obj::Shard(shard));
        let Some(memory) = self.memory(shard) else {
            return;
        };
        let held = memory.project_again.is_some_and(|next| next > wall);
        if memory.projecting || held || !memory.waiting.is_empty() || memory.wanted.is_empty() {
            return;
        }
        memory.projecting = true;
        memory.project_again = None;
        self.queue
            .push(now.plus(GATHER_MS), Happening::Project { shard, epoch });
    }

    /// Wants again whatever the records say that D1 lacks; of each job the first few hundred.
    pub fn want_missing(&mut self, shard: u16) {
        let Some(memory) = self.memory(shard) else {
            return;
        };
        for (number, machine) in &memory.machines {
            let missing = machine.unprojected(CATCH_UP).into_iter();
            memory.wanted.extend(missing.map(|seq| (*number, seq)));
        }
    }

    /// Hands a page of rows to D1.
    pub fn project_due(&mut self, shard: u16, epoch: u32) {
        if self.epoch(Obj::Shard(shard)) != epoch {
            return;
        }
        let Some(object) = self.shards.get_mut(usize::from(shard)) else {
            return;
        };
        let Some(memory) = object.memory.as_mut() else {
            return;
        };
        let mut rows = Vec::new();
        while rows.len() < ROWS
            && let Some((number, seq)) = memory.wanted.pop_first()
        {
            let live = memory
                .machines
                .get(&number)
                .and_then(|machine| machine.runs().find(|run| run.seq == seq).cloned());
            let stored = || {
                object
                    .disk
                    .jobs
                    .get(&number)
                    .and_then(|job| job.runs.get(&seq).cloned())
            };
            rows.extend(live.or_else(stored).map(|run| (number, run)));
        }
        let away = self.d1.away;
        let lies = !away && self.fault(Fault::D1Lies);
        if !away {
            for (number, run) in &rows {
                self.d1.write(
                    JobRef {
                        shard,
                        number: *number,
                    },
                    run,
                );
            }
        }
        let takes = if away {
            self.chance.objects.span(100, 30 * SECOND)
        } else {
            self.travel_ms()
        };
        let happening = Happening::Projected {
            shard,
            epoch,
            rows,
            ok: !away && !lies,
        };
        self.queue.push(self.now.plus(takes), happening);
    }

    /// D1's answer.
    pub fn projected(&mut self, shard: u16, epoch: u32, rows: Vec<(u32, Run)>, ok: bool) {
        if self.epoch(Obj::Shard(shard)) != epoch {
            return;
        }
        let wall = self.wall();
        let Some(memory) = self.memory(shard) else {
            return;
        };
        memory.projecting = false;
        if ok {
            memory.failures = 0;
            for (number, run) in &rows {
                if let Some(machine) = memory.machines.get_mut(number) {
                    machine.note_projected(run);
                }
            }
        } else {
            memory.failures = memory.failures.saturating_add(1);
            let wait = (5 * SECOND)
                .saturating_mul(i64::from(memory.failures))
                .min(MINUTE);
            memory.project_again = Some(wall.plus(wait));
            memory
                .wanted
                .extend(rows.iter().map(|(number, run)| (*number, run.seq)));
        }
        self.project(shard);
        self.arm_shard(shard);
    }
}
