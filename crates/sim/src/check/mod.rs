//! Witnesses: they see messages and records, never a machine, so that a bug in a machine cannot hide
//! itself. Each keeps the first thing that must not be.

mod books;
mod deliveries;
mod rest;
mod runs;

use std::collections::{BTreeMap, BTreeSet};

use cronwright_core::ids::{JobRef, RunTag};
use cronwright_core::job::def::{Definition, Overlap};
use cronwright_core::time::Millis;

use crate::Violation;
use crate::coverage::Coverage;
use crate::queue::Obj;
use crate::world::World;
use books::Books;
use deliveries::Deliveries;
use runs::Runs;

/// Handlers of one object's alarm within a second, at most: so many, or where it has more jobs, five for
/// each of them.
const STORM: u32 = 20;
const STORM_PER_JOB: u32 = 5;

/// All of them.
pub struct Witness {
    pub violation: Option<Violation>,
    pub coverage: Coverage,
    runs: Runs,
    books: Books,
    deliveries: Deliveries,
    jobs: BTreeMap<JobRef, JobFacts>,
    /// What people asked for.
    asked: BTreeSet<RunTag>,
    healed_at: Option<Millis>,
}

/// What is known of a job from outside.
#[derive(Clone, Debug, Default)]
struct JobFacts {
    /// Two attempts may be out at once.
    allow: bool,
    /// The most attempts that any of its definitions allowed.
    attempts: u32,
    /// The longest jitter of any of its definitions.
    jitter_ms: i64,
    /// Whether people did something to it.
    touched: bool,
}

impl Witness {
    pub fn new() -> Self {
        Self {
            violation: None,
            coverage: Coverage::default(),
            runs: Runs::default(),
            books: Books::default(),
            deliveries: Deliveries::default(),
            jobs: BTreeMap::new(),
            asked: BTreeSet::new(),
            healed_at: None,
        }
    }

    fn found(&mut self, invariant: &'static str, at: Millis, what: impl FnOnce() -> String) {
        if self.violation.is_none() {
            self.violation = Some(Violation {
                invariant,
                at,
                what: what(),
            });
        }
    }

    /// A job was created.
    pub fn created(&mut self, at: JobRef, definition: &Definition, wall: Millis) {
        self.defined(at, definition);
        self.books.created(at, definition, wall);
    }

    /// A definition was stored.
    pub fn defined(&mut self, at: JobRef, definition: &Definition) {
        let facts = self.jobs.entry(at).or_default();
        facts.allow |= definition.overlap == Overlap::Allow;
        facts.attempts = facts.attempts.max(definition.retry.times.saturating_add(1));
        facts.jitter_ms = facts.jitter_ms.max(definition.jitter_ms);
    }

    /// People want a run of this tag.
    pub fn asked_for(&mut self, tag: RunTag) {
        self.asked.insert(tag);
    }

    /// People did something to a job.
    pub fn touched(&mut self, number: u32) {
        let found = self.jobs.iter_mut().find(|(at, _)| at.number == number);
        if let Some((_, facts)) = found {
            facts.touched = true;
        }
    }

    /// Whether people did something to a job.
    pub fn was_touched(&self, number: u32) -> bool {
        self.jobs
            .iter()
            .any(|(at, facts)| at.number == number && facts.touched)
    }

    /// The faults have ended.
    pub fn healed(&mut self, wall: Millis) {
        self.healed_at = Some(wall);
    }
}

impl World<'_> {
    /// No storm: an alarm must not ring without end (I7).
    pub fn witness_storm(&mut self, obj: Obj, count: u32) {
        let here = |shard: u16| obj == Obj::Shard(shard);
        let jobs = self.plan.jobs.iter().filter(|job| here(job.shard));
        let jobs = u32::try_from(jobs.count()).unwrap_or(0);
        if count > STORM.max(jobs.saturating_mul(STORM_PER_JOB)) {
            self.violated(
                "I7",
                format!("the alarm of {obj:?} rang {count} times within a second"),
            );
        }
    }
}
