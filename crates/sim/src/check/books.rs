//! Every instant that came while the schedule was on is in the books, once (I4).

use std::collections::{BTreeMap, BTreeSet};

use cronwright_core::ids::{JobRef, RunTag};
use cronwright_core::job::Head;
use cronwright_core::job::def::Definition;
use cronwright_core::job::run::Run;
use cronwright_core::job::view::JobStatus;
use cronwright_core::schedule::Schedule;
use cronwright_core::time::Millis;

use super::Witness;

/// A span of time in which a schedule was on: `(from, to]`.
#[derive(Debug)]
struct On {
    schedule: Schedule,
    version: u32,
    from: Millis,
    to: Option<Millis>,
}

/// What a record stands for.
#[derive(Debug)]
struct Entry {
    version: u32,
    first: Millis,
    last: Millis,
    count: u64,
}

/// The books of all jobs.
#[derive(Debug, Default)]
pub struct Books {
    spans: BTreeMap<JobRef, Vec<On>>,
    entries: BTreeMap<JobRef, Vec<Entry>>,
}

impl Books {
    pub fn created(&mut self, at: JobRef, definition: &Definition, wall: Millis) {
        self.open(at, definition, 1, wall);
    }

    fn open(&mut self, at: JobRef, definition: &Definition, version: u32, from: Millis) {
        if let Ok(schedule) = definition.schedule.compile() {
            let span = On {
                schedule,
                version,
                from,
                to: None,
            };
            self.spans.entry(at).or_default().push(span);
        }
    }

    fn close(&mut self, at: JobRef, to: Millis) {
        if let Some(span) = self.spans.get_mut(&at).and_then(|spans| spans.last_mut()) {
            span.to.get_or_insert(to);
        }
    }

    pub fn recorded(&mut self, at: JobRef, run: &Run) {
        if let RunTag::Occurrence(version) = run.id.tag {
            let (first, count) = run
                .range
                .map_or((run.id.at, 1), |range| (range.first, range.count));
            let entry = Entry {
                version,
                first,
                last: run.id.at,
                count,
            };
            self.entries.entry(at).or_default().push(entry);
        }
    }

    /// What does not add up in the books of a job, if something does not.
    fn audit(&self, at: JobRef, end: Millis) -> Option<String> {
        let mut wanted: BTreeSet<(u32, Millis)> = BTreeSet::new();
        for span in self.spans.get(&at).into_iter().flatten() {
            let to = span.to.unwrap_or(end);
            let mut instant = span.from;
            while let Some(next) = span.schedule.next(instant).filter(|next| *next <= to) {
                wanted.insert((span.version, next));
                instant = next;
            }
        }
        for entry in self.entries.get(&at).into_iter().flatten() {
            let range = (entry.version, entry.first)..=(entry.version, entry.last);
            let covered: Vec<_> = wanted.range(range).copied().collect();
            if u64::try_from(covered.len()) != Ok(entry.count) {
                return Some(format!(
                    "{at:?}: recorded twice, or not planned: {entry:?} covers {}",
                    covered.len()
                ));
            }
            for instant in covered {
                wanted.remove(&instant);
            }
        }
        let first = wanted.first()?;
        Some(format!(
            "{at:?}: {} planned instants have no record, the first is {first:?}",
            wanted.len()
        ))
    }
}

impl Witness {
    /// A position was stored: the schedule may have been switched on or off, or changed.
    pub fn head_stored(
        &mut self,
        at: JobRef,
        definition: &Definition,
        old: &Head,
        new: &Head,
        wall: Millis,
    ) {
        if new.last_seq < old.last_seq || new.last_fence < old.last_fence {
            self.found("I5", wall, || {
                format!("the position of {at:?} went backwards: {old:?} -> {new:?}")
            });
        }
        let (was, is) = (
            old.status == JobStatus::Enabled,
            new.status == JobStatus::Enabled,
        );
        let changed = old.schedule_version != new.schedule_version;
        if was && (!is || changed) {
            self.books.close(at, wall);
        }
        if is && (!was || changed) {
            self.books.open(at, definition, new.schedule_version, wall);
        }
    }

    /// Adds up the books of every job.
    pub fn audit(&mut self, wall: Millis) {
        let jobs: Vec<JobRef> = self.jobs.keys().copied().collect();
        for at in jobs {
            if let Some(what) = self.books.audit(at, wall) {
                self.found("I4", wall, || what);
            }
        }
    }
}
