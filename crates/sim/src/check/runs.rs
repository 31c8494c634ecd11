//! Attempts and runs: who may be at work, which fence counts, and that an end is an end.

use std::collections::BTreeMap;

use cronwright_core::ids::{JobRef, RunId, RunTag};
use cronwright_core::job::run::{LEDGER_ROWS, Run};
use cronwright_core::job::{Change, Dispatch, Effect, Event};
use cronwright_core::machine::Turn;
use cronwright_core::outcome::RunState;
use cronwright_core::time::{MINUTE, Millis};

use super::Witness;
use crate::shard::ShardObject;

/// After the faults have ended, a planned instant is acted on this soon, jitter aside.
const SOON_MS: i64 = 2 * MINUTE;

/// Losses of a run that its attempts do not pay for, and the one after which it is given up.
const LOSSES: u32 = 4;

/// An attempt that may be at work.
#[derive(Clone, Debug)]
struct Alive {
    run: RunId,
    left: Millis,
    begins: Millis,
    until: Millis,
    /// A person or a deadline ended its run, and nobody can call it back.
    given_up: bool,
}

/// What is known of attempts.
#[derive(Debug, Default)]
pub struct Runs {
    alive: BTreeMap<(JobRef, u64), Alive>,
    last_fence: BTreeMap<JobRef, u64>,
    posts: BTreeMap<RunId, u32>,
    /// Before this, time limits on the wall clock say nothing.
    jumped: Option<Millis>,
}

/// A report about an attempt, before it is stepped.
pub struct Report {
    run: RunId,
    fence: u64,
}

impl Witness {
    /// A post leaves: it is in storage, holds the newest fence, and nothing else of its job is at work.
    pub fn left(
        &mut self,
        dispatch: &Dispatch,
        shard: Option<&ShardObject>,
        number: u32,
        (begins, until): (Millis, Millis),
        now: Millis,
    ) {
        self.checked(dispatch, shard, number);
        let job = dispatch.run.job;
        let facts = self.jobs.get(&job).cloned().unwrap_or_default();
        self.runs
            .alive
            .retain(|(of, _), alive| *of != job || alive.until > now);
        self.alone(dispatch, (begins, until), now);
        let last = self.runs.last_fence.insert(job, dispatch.fence);
        if !facts.allow && last.is_some_and(|last| last >= dispatch.fence) {
            self.found("I1", now, || {
                format!(
                    "{} leaves with fence {} after {last:?}",
                    dispatch.run, dispatch.fence
                )
            });
        }
        let alive = Alive {
            run: dispatch.run.clone(),
            left: now,
            begins,
            until,
            given_up: false,
        };
        if self
            .runs
            .alive
            .insert((job, dispatch.fence), alive)
            .is_some()
        {
            self.found("I1", now, || {
                format!("{}/{} leaves twice", dispatch.run, dispatch.fence)
            });
        }
        let posts = self.runs.posts.entry(dispatch.run.clone()).or_default();
        *posts = posts.saturating_add(1);
        if *posts > facts.attempts.saturating_add(LOSSES) {
            let posts = *posts;
            self.found("I8", now, || {
                format!("{} was posted {posts} times", dispatch.run)
            });
        }
    }

    /// Storage knows of an attempt before anybody else does (I5).
    pub fn checked(&mut self, dispatch: &Dispatch, shard: Option<&ShardObject>, number: u32) {
        let job = shard.and_then(|shard| shard.disk.jobs.get(&number));
        let stored = job.and_then(|job| job.run(&dispatch.run));
        let stopping = stored
            .and_then(|run| run.active)
            .is_some_and(|active| active.stopping.is_some());
        if stopping {
            let at = dispatch.planned_at;
            self.found("I12", at, || {
                format!("{} leaves although it was asked to stop", dispatch.run)
            });
        }
        if stored.is_none_or(|run| run.fence < dispatch.fence) {
            let at = dispatch.planned_at;
            self.found("I5", at, || {
                format!(
                    "{}/{} leaves, and storage has {:?}",
                    dispatch.run,
                    dispatch.fence,
                    stored.map(|run| run.fence)
                )
            });
        }
    }

    /// Nothing of the job is at work, or only what may be.
    fn alone(&mut self, dispatch: &Dispatch, (begins, until): (Millis, Millis), now: Millis) {
        let job = dispatch.run.job;
        let allow = self.jobs.get(&job).is_some_and(|facts| facts.allow);
        let jumped = self.runs.jumped;
        let others = self.runs.alive.range((job, 0)..=(job, u64::MAX));
        let clash = others.map(|(_, alive)| alive).find(|alive| {
            let overlaps = alive.begins < until && begins < alive.until;
            let counts = alive.run == dispatch.run || (!allow && !alive.given_up);
            overlaps && counts && jumped.is_none_or(|jumped| alive.left > jumped)
        });
        if let Some(other) = clash.cloned() {
            let same = other.run == dispatch.run;
            self.found(if same { "I1" } else { "I12" }, now, || {
                let Dispatch { run, fence, .. } = dispatch;
                format!("{run}/{fence} leaves while {other:?} may be at work")
            });
        }
    }

    /// A callee that accepted will be at work until then.
    pub fn silent(&mut self, dispatch: &Dispatch, until: Millis) {
        if let Some(alive) = self.runs.alive.get_mut(&(dispatch.run.job, dispatch.fence)) {
            alive.until = until;
        }
    }

    /// The connection of an attempt was cut.
    pub fn broken_off(&mut self, job: JobRef, fence: u64, now: Millis) {
        if let Some(alive) = self.runs.alive.get_mut(&(job, fence)) {
            alive.until = now;
        }
    }

    /// The wall clock jumped: what is at work was given its limit by another clock.
    pub fn clock_jumped(&mut self, now: Millis) {
        self.runs.jumped = Some(now);
    }

    /// What an event reports, if it is about an attempt.
    pub fn report(&self, _number: u32, event: &Event) -> Option<Report> {
        match event {
            Event::AttemptEnded { run, fence, .. }
            | Event::AttemptAccepted { run, fence }
            | Event::AttemptLost { run, fence, .. } => Some(Report {
                run: run.clone(),
                fence: *fence,
            }),
            _ => None,
        }
    }

    /// A step is over: a report with an old fence must have changed nothing (I2).
    pub fn stepped(
        &mut self,
        wall: Millis,
        at: JobRef,
        report: Option<Report>,
        turn: &Turn<Change, Effect>,
    ) {
        let Some(report) = report else { return };
        let newest = self
            .runs
            .alive
            .range((at, 0)..=(at, u64::MAX))
            .rev()
            .find(|(_, alive)| alive.run == report.run);
        let newest = newest.map_or(0, |((_, fence), _)| *fence);
        if report.fence < newest && !turn.is_empty() {
            self.found("I2", wall, || {
                format!(
                    "a report of {}/{} counted, while {newest} was out",
                    report.run, report.fence
                )
            });
        }
    }

    /// A record was stored.
    pub fn run_stored(&mut self, at: JobRef, old: Option<&Run>, new: &Run, wall: Millis) {
        let last = new.ledger.last().map(|row| row.to);
        if last != Some(new.state) || new.ledger.len() > LEDGER_ROWS {
            self.found("I5", wall, || {
                format!(
                    "the ledger of {} does not tell its state {:?}",
                    new.id, new.state
                )
            });
        }
        if new.losses > LOSSES {
            self.found("I8", wall, || {
                format!("{} was lost {} times", new.id, new.losses)
            });
        }
        match old {
            Some(old) => self.run_changed(old, new, wall),
            None => self.run_made(at, new, wall),
        }
        if new.state.is_terminal() && old.is_none_or(|old| !old.state.is_terminal()) {
            self.ended(at, new);
        }
    }

    fn run_made(&mut self, at: JobRef, new: &Run, wall: Millis) {
        self.books.recorded(at, new);
        if matches!(new.id.tag, RunTag::Manual(_) | RunTag::Replay(_))
            && !self.asked.contains(&new.id.tag)
        {
            self.found("I8", wall, || format!("nobody asked for {}", new.id));
        }
        let facts = self.jobs.get(&at);
        let jitter = facts.map_or(0, |facts| facts.jitter_ms);
        let late = new.triggered_at.since(new.id.at).saturating_sub(jitter);
        let healed = self
            .healed_at
            .is_some_and(|healed| new.id.at > healed.plus(3 * MINUTE));
        if healed && late > SOON_MS && matches!(new.id.tag, RunTag::Occurrence(_)) {
            self.found("I6", wall, || {
                format!("{} was recorded {late} ms late, with no fault left", new.id)
            });
        }
    }

    fn run_changed(&mut self, old: &Run, new: &Run, wall: Millis) {
        let same = old.id == new.id && old.trigger == new.trigger && old.seq == new.seq;
        if !same || new.fence < old.fence || new.rev <= old.rev {
            self.found("I3", wall, || {
                format!("{} went backwards: {old:?} -> {new:?}", old.id)
            });
        }
        if old.state.is_terminal() {
            let kept = old.state == new.state
                && old.ended_at == new.ended_at
                && old.result == new.result
                && old.attempts == new.attempts;
            if !kept {
                self.found("I3", wall, || {
                    format!("{} was {:?} and became {:?}", old.id, old.state, new.state)
                });
            }
            return;
        }
        let replaced = new
            .ledger
            .last()
            .is_some_and(|row| row.why.starts_with("replaced"));
        if matches!(new.state, RunState::Cancelled | RunState::TimedOut) && !replaced {
            for alive in self
                .runs
                .alive
                .values_mut()
                .filter(|alive| alive.run == new.id)
            {
                alive.given_up = true;
            }
        }
    }
}
