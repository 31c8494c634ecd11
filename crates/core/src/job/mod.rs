//! The job machine: one job, all its occurrences, all its runs.
//!
//! A run moves like this; every arrow is one ledger row. Read `a --(what)--> b` aloud as "in a, when
//! what happens, it becomes b".
//!
//! ```text
//! (none)      --(instant is due; a manual or API trigger; a replay; another job ended)--> TRIGGERED
//! (none)      --(missed, blacked out, overlapping, queue full, the other job failed,
//!                 the job paused or deleted while it waited for its jitter)-------------> SKIPPED
//! TRIGGERED   --(nothing in the way)--------------------------------------------------> DISPATCHED
//! TRIGGERED   --(cancelled; replaced; job deleted)------------------------------------> CANCELLED
//! TRIGGERED   --(deadline)------------------------------------------------------------> TIMED_OUT
//! DISPATCHED, RUNNING  --(it waited too long for its turn and never left)--------------> DISPATCHED
//! DISPATCHED  --(the callee accepted; it reports progress; still running after 5 s)----> RUNNING
//! DISPATCHED, RUNNING  --(succeeded)---------------------------------------------------> SUCCESS
//! DISPATCHED, RUNNING  --(failed or over its limit, retries left)----------------------> TRIGGERED
//! DISPATCHED, RUNNING  --(failed, none left or of no use)------------------------------> FAILED
//! DISPATCHED, RUNNING  --(over its limit, none left; deadline)-------------------------> TIMED_OUT
//! DISPATCHED, RUNNING  --(stopped on request, replaced, job deleted)-------------------> CANCELLED
//! DISPATCHED, RUNNING  --(no live call is left)----------------------------------------> LOST
//! LOST        --(its time limit has passed, so nothing can still be running)-----------> DISPATCHED
//! LOST        --(its time limit has passed, and three attempts were lost before it)----> FAILED
//! LOST        --(cancelled; job deleted; replaced, once its time limit has passed)-----> CANCELLED
//! LOST        --(deadline)-------------------------------------------------------------> TIMED_OUT
//! ```
//!
//! SUCCESS, FAILED, TIMED_OUT, CANCELLED and SKIPPED are final. A report with an old fence changes
//! nothing and is kept as evidence. Moving to the next instant and recording the run are one turn.

pub mod def;
pub mod view;

mod attempt;
mod control;
mod due;
mod event;
mod finish;
mod head;
mod owed;
pub mod run;
mod start;
mod wakeup;

use std::collections::{BTreeMap, BTreeSet};

pub use attempt::judge;
pub use event::{Change, Dispatch, Effect, Event, Reject, Verdict};
pub use head::{Head, LinkOwed};

use crate::ids::{JobRef, RunId};
use crate::machine::{Keyed, Machine, Turn, Wakeup};
use crate::schedule::{Schedule, ScheduleError};
use crate::time::Millis;
use def::{CallbackTarget, Definition};
use run::Run;

/// Runs that a machine keeps in memory after they were settled, for its views.
const KEPT_SETTLED: usize = 3;

/// One job.
#[derive(Clone, Debug)]
pub struct JobMachine {
    at: JobRef,
    definition: Definition,
    schedule: Schedule,
    head: Head,
    /// Unsettled runs, and the newest settled ones.
    runs: BTreeMap<u64, Run>,
    /// Runs above `head.projected` that D1 has in their final form, while an earlier one is missing.
    projected_ahead: BTreeSet<u64>,
    /// The form (`rev`) of ended runs that D1 has to get: they may leave memory before it has.
    to_project: BTreeMap<u64, u32>,
    /// What the step in progress has changed.
    touched: Touched,
}

#[derive(Clone, Debug, Default)]
struct Touched {
    definition: bool,
    head: bool,
    runs: BTreeSet<u64>,
    /// Runs that ended.
    ended: BTreeSet<u64>,
    /// Endpoints for which a run ended.
    ended_for: Vec<CallbackTarget>,
    /// Endpoints that have taken a result.
    taken_by: Vec<CallbackTarget>,
    effects: Vec<Keyed<Effect>>,
}

impl JobMachine {
    /// A new job, and the turn that stores it.
    ///
    /// # Errors
    /// When the schedule cannot be compiled.
    pub fn create(
        now: Millis,
        at: JobRef,
        definition: Definition,
        enabled: bool,
    ) -> Result<(Self, Turn<Change, Effect>), ScheduleError> {
        let schedule = definition.schedule.compile()?;
        let mut machine = Self {
            at,
            definition,
            schedule,
            head: Head::new(now, enabled),
            runs: BTreeMap::new(),
            projected_ahead: BTreeSet::new(),
            to_project: BTreeMap::new(),
            touched: Touched::default(),
        };
        machine.plan_from(now);
        machine.link_upstream(None);
        machine.touched.definition = true;
        machine.effect("job", Effect::ProjectJob);
        let turn = machine.take_turn();
        Ok((machine, turn))
    }

    /// A job from its records: every unsettled run, and as many of the newest as the caller likes.
    ///
    /// # Errors
    /// When the schedule cannot be compiled any more: the host quarantines the job.
    pub fn restore(
        at: JobRef,
        definition: Definition,
        head: Head,
        runs: Vec<Run>,
    ) -> Result<Self, ScheduleError> {
        let schedule = definition.schedule.compile()?;
        let runs = runs.into_iter().map(|run| (run.seq, run)).collect();
        Ok(Self {
            at,
            definition,
            schedule,
            head,
            runs,
            projected_ahead: BTreeSet::new(),
            to_project: BTreeMap::new(),
            touched: Touched::default(),
        })
    }

    /// The saved definition.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The position.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Where the job lives.
    #[must_use]
    pub fn at(&self) -> JobRef {
        self.at
    }

    /// Unsettled runs and the newest settled ones, oldest first.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &Run> {
        self.runs.values()
    }

    /// A run that is in memory.
    #[must_use]
    pub fn run(&self, id: &RunId) -> Option<&Run> {
        self.runs.values().rev().find(|run| run.id == *id)
    }

    /// Whether nothing but time concerns this job: no run is open, no word owed, all of it in D1.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.head.links.is_empty()
            && self.head.projected >= self.head.last_seq
            && self.head.changed.is_empty()
            && self.runs.values().all(Run::is_settled)
    }

    /// Whether the job is deleted and may be forgotten.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.head.status == view::JobStatus::Deleted && self.is_idle()
    }

    /// The host's word that D1 has a run in this form. Stored with the next change: to lose it means to
    /// write a row again.
    pub fn note_projected(&mut self, written: &Run) {
        let seq = written.seq;
        let is_newest = self.runs.get(&seq).is_none_or(|run| run.rev == written.rev);
        let wanted = self.to_project.get(&seq).copied();
        if !is_newest || wanted.is_some_and(|rev| rev > written.rev) || !written.is_settled() {
            return;
        }
        self.to_project.remove(&seq);
        if seq > self.head.projected {
            self.projected_ahead.insert(seq);
        }
        self.head.changed.retain(|changed| *changed != seq);
        while self
            .projected_ahead
            .remove(&self.head.projected.saturating_add(1))
        {
            self.head.projected = self.head.projected.saturating_add(1);
        }
    }

    /// Up to `limit` runs (by `seq`) that D1 may not have in the form they have now.
    #[must_use]
    pub fn unprojected(&self, limit: usize) -> Vec<u64> {
        let open = |seq: &u64| self.runs.get(seq).is_some_and(Run::is_open);
        let ahead = (self.head.projected.saturating_add(1)..=self.head.last_seq)
            .filter(|seq| !self.projected_ahead.contains(seq) && !open(seq));
        self.head
            .changed
            .iter()
            .copied()
            .chain(ahead)
            .take(limit)
            .collect()
    }

    /// Takes back into memory a run that was forgotten, so that an event can change it.
    pub fn recall(&mut self, run: Run) {
        self.runs.entry(run.seq).or_insert(run);
    }

    /// Ends a step: what it changed becomes the turn.
    fn take_turn(&mut self) -> Turn<Change, Effect> {
        let mut touched = std::mem::take(&mut self.touched);
        self.count_ends(&touched);
        let delivers = self.deliver_effects(&touched);
        touched.effects.extend(delivers);
        let mut turn = Turn {
            changes: Vec::with_capacity(2),
            effects: touched.effects,
        };
        if touched.definition {
            turn.changes
                .push(Change::Definition(Box::new(self.definition.clone())));
        }
        for seq in &touched.runs {
            if let Some(run) = self.runs.get_mut(seq) {
                run.rev = run.rev.saturating_add(1);
                turn.changes.push(Change::Run(Box::new(run.clone())));
                if !run.is_open() {
                    self.projected_ahead.remove(seq);
                    self.to_project.insert(*seq, run.rev);
                    self.head.note_changed(*seq);
                }
                // The last form of a run is the one that D1 keeps.
                let effect = Effect::ProjectRun { seq: *seq };
                if run.is_settled() && turn.effects.iter().all(|keyed| keyed.effect != effect) {
                    turn.effects.push(Keyed {
                        key: format!("{seq}/project"),
                        effect,
                    });
                }
            }
        }
        self.advance_settled();
        if touched.head || touched.definition || !touched.runs.is_empty() {
            self.head.rev = self.head.rev.saturating_add(1);
            turn.changes.push(Change::Head(Box::new(self.head.clone())));
        }
        turn
    }

    /// The host's word that every turn so far is stored. Only now may settled runs leave memory: one that
    /// left earlier would be recalled in the form before its last turn.
    pub fn committed(&mut self) {
        self.forget_settled();
    }

    /// What ends in one turn ends at one time: the older run counts as the earlier end.
    fn count_ends(&mut self, touched: &Touched) {
        for seq in &touched.ended {
            self.head.ends = self.head.ends.saturating_add(1);
            if let Some(run) = self.runs.get_mut(seq) {
                run.ended_as = self.head.ends;
            }
        }
    }

    fn advance_settled(&mut self) {
        let unsettled = self
            .runs
            .values()
            .find(|run| !run.is_settled())
            .map(|run| run.seq);
        self.head.settled_below = unsettled.unwrap_or(self.head.last_seq.saturating_add(1));
    }

    fn forget_settled(&mut self) {
        let spare = self.runs.len().saturating_sub(KEPT_SETTLED);
        let forget: Vec<u64> = self
            .runs
            .values()
            .take(spare)
            .filter(|run| run.is_settled())
            .map(|run| run.seq)
            .collect();
        for seq in forget {
            self.runs.remove(&seq);
        }
    }

    /// Marks a run as changed and gives it out for changing.
    fn change(&mut self, seq: u64) -> Option<&mut Run> {
        self.touched.runs.insert(seq);
        self.runs.get_mut(&seq)
    }

    fn effect(&mut self, key: impl Into<String>, effect: Effect) {
        self.touched.effects.push(Keyed {
            key: key.into(),
            effect,
        });
    }

    /// The `seq` of an open run of that id.
    ///
    /// # Errors
    /// [`Reject::UnknownRun`] or [`Reject::Ended`].
    fn open_seq(&self, id: &RunId) -> Result<u64, Reject> {
        let run = self.run(id).ok_or_else(|| Reject::UnknownRun(id.clone()))?;
        if run.is_open() {
            Ok(run.seq)
        } else {
            Err(Reject::Ended(run.state))
        }
    }

    /// The `seq` of the open run whose attempt holds `fence`.
    fn holder(&self, id: &RunId, fence: u64) -> Result<u64, Reject> {
        let seq = self.open_seq(id)?;
        let current = self
            .runs
            .get(&seq)
            .and_then(|run| run.active)
            .map_or(0, |active| active.fence);
        if current == fence {
            Ok(seq)
        } else {
            Err(Reject::StaleFence {
                current,
                got: fence,
            })
        }
    }
}

impl Machine for JobMachine {
    type Event = Event;
    type Change = Change;
    type Effect = Effect;
    type Reject = Reject;

    fn step(&mut self, now: Millis, event: Event) -> Result<Turn<Change, Effect>, Reject> {
        match event {
            Event::Wake => self.wake(now),
            Event::RunNow {
                key,
                params,
                overlap,
                by,
            } => self.run_now(now, &key, params, overlap, by)?,
            Event::Replay { of, key, by } => self.replay(now, &of, &key, by)?,
            Event::Cancel { run, by } => self.cancel(now, &run, &by)?,
            Event::AttemptAccepted { run, fence } => self.accepted(now, &run, fence)?,
            Event::AttemptEnded {
                run,
                fence,
                verdict,
                result,
                by,
            } => self.ended(now, &run, fence, verdict, *result, &by)?,
            Event::AttemptLost { run, fence, why } => self.lost(now, &run, fence, &why)?,
            Event::AttemptUnsent { run, fence } => self.unsent(now, &run, fence)?,
            Event::LateReport { run, fence, what } => self.late_report(now, &run, fence, &what)?,
            Event::Progress {
                run,
                fence,
                percent,
                message,
            } => self.progress(now, &run, fence, percent, message)?,
            Event::Replace {
                definition,
                enabled,
                revision,
                by,
            } => self.replace(now, *definition, enabled, revision, &by)?,
            Event::SetEnabled { enabled } => self.set_enabled(now, enabled)?,
            Event::Delete { by } => self.delete(now, &by)?,
            Event::OwedTaken { run, owed } => self.owed_taken(&run, &owed),
            Event::CallbackSettled {
                run,
                word,
                outcome,
                why,
            } => self.callback_settled(now, &run, word, outcome, why)?,
            Event::Upstream { job, run, ended } => self.upstream(now, job, run, ended),
            Event::Link { dependent, on } => self.link(dependent, on),
            Event::LinkTaken { job, on } => self.link_taken(&job, on),
        }
        Ok(self.take_turn())
    }

    fn next_wakeup(&self) -> Option<Wakeup> {
        self.earliest_wakeup()
    }

    /// Word owed to other objects, and attempts that are out. The host knows which of those attempts
    /// never left, and reports the others as lost.
    fn outstanding(&self) -> Vec<Keyed<Effect>> {
        self.outstanding_effects()
    }
}
