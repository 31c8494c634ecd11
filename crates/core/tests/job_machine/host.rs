//! A host without a network: it owns the clock, stores what turns change as a real host does, and
//! checks after every step what must hold after every step.

use std::collections::BTreeMap;

use cronwright_core::ids::{RunId, RunTag, digest16};
use cronwright_core::job::def::{Definition, Overlap};
use cronwright_core::job::run::Run;
use cronwright_core::job::{Change, Dispatch, Effect, Event, Head, JobMachine, Reject, Verdict};
use cronwright_core::machine::{Group, Keyed, Machine, Turn};
use cronwright_core::outcome::RunState;
use cronwright_core::time::Millis;

use super::oracle::Oracle;
use super::setup::{AT, T0, result};

/// How a callee behaves: after how many ms it ends, and how. None never answers.
pub type Manner = Option<(i64, Verdict)>;

pub struct Host {
    pub now: Millis,
    pub job: JobMachine,
    /// What a disk would hold.
    pub definition: Definition,
    pub head: Head,
    pub runs: BTreeMap<u64, Run>,
    /// Every effect, in order, with its time.
    pub log: Vec<(Millis, Keyed<Effect>)>,
    /// Attempts that have left, for the test to answer.
    pub out: Vec<Dispatch>,
    /// Attempts that were asked to stop.
    pub aborts: Vec<(RunId, u64)>,
    pub oracle: Oracle,
    coming: Vec<(Millis, u64, RunId, Verdict, i64)>,
    /// Costly checks after each step; off where a test makes very many steps.
    pub watchful: bool,
}

impl Host {
    pub fn new(definition: Definition) -> Self {
        Self::create(T0, definition, true)
    }

    pub fn create(now: Millis, definition: Definition, enabled: bool) -> Self {
        let (job, turn) = JobMachine::create(now, AT, definition.clone(), enabled).unwrap();
        let mut oracle = Oracle::default();
        oracle.allow = definition.overlap == Overlap::Allow;
        let mut host = Self {
            now,
            head: job.head().clone(),
            job,
            definition,
            runs: BTreeMap::new(),
            log: Vec::new(),
            out: Vec::new(),
            aborts: Vec::new(),
            oracle,
            coming: Vec::new(),
            watchful: true,
        };
        host.head.rev = 0;
        host.commit(turn);
        host.check();
        host
    }

    /// Feeds one event now, and gives the effects of the turn.
    pub fn feed(&mut self, event: Event) -> Result<Vec<Effect>, Reject> {
        let mut twin = self.watchful.then(|| self.restored());
        self.recall(&event);
        let before = self.watchful.then(|| format!("{:?}", self.job));
        let result = self.job.step(self.now, event.clone());
        if let Some(twin) = &mut twin {
            if let Some(id) = event.run().filter(|id| twin.run(id).is_none())
                && let Some(past) = self.runs.values().find(|run| run.id == *id)
            {
                twin.recall(past.clone());
            }
            let same = twin.step(self.now, event.clone());
            assert_eq!(result, same, "the records are not the machine: {event:?}");
        }
        let turn = match result {
            Ok(turn) => turn,
            Err(reject) => {
                let after = format!("{:?}", self.job);
                assert!(
                    before.is_none_or(|before| before == after),
                    "{reject} changed something"
                );
                return Err(reject);
            }
        };
        let effects = turn
            .effects
            .iter()
            .map(|keyed| keyed.effect.clone())
            .collect();
        self.commit(turn);
        self.check();
        if event == Event::Wake {
            let next = self.job.next_wakeup();
            assert!(
                next.is_none_or(|next| next.at > self.now),
                "hot: {next:?} at {:?}",
                self.now
            );
        }
        Ok(effects)
    }

    /// Feeds events as a flush does: all of them are stepped before one commit.
    pub fn feed_together(&mut self, events: Vec<Event>) {
        let mut group = Group::default();
        for event in events {
            self.recall(&event);
            group.add((), self.job.step(self.now, event).unwrap());
        }
        self.commit_all(group);
        self.check();
    }

    /// Reads the run that an event is about, if it has left memory.
    fn recall(&mut self, event: &Event) {
        if let Some(id) = event.run().filter(|id| self.job.run(id).is_none())
            && let Some(past) = self.runs.values().find(|run| run.id == *id)
        {
            self.job.recall(past.clone());
        }
    }

    fn commit(&mut self, turn: Turn<Change, Effect>) {
        let mut group = Group::default();
        group.add((), turn);
        self.commit_all(group);
    }

    fn commit_all(&mut self, group: Group<(), Change, Effect>) {
        let stored = group.commit(|changes| {
            for ((), change) in changes {
                self.store(change);
            }
            Ok::<(), ()>(())
        });
        self.job.committed();
        for ((), keyed) in stored.unwrap() {
            self.perform(keyed);
        }
    }

    fn store(&mut self, change: Change) {
        match change {
            Change::Definition(definition) => self.definition = *definition,
            Change::Head(head) => {
                assert_eq!(head.rev, self.head.rev + 1);
                self.head = *head;
            }
            Change::Run(run) => {
                self.oracle.changed(self.runs.get(&run.seq), &run);
                self.runs.insert(run.seq, *run);
            }
        }
    }

    fn perform(&mut self, keyed: Keyed<Effect>) {
        match &keyed.effect {
            Effect::Dispatch(dispatch) => {
                self.oracle.left(self.now, &keyed.key, dispatch);
                self.out.push(Dispatch::clone(dispatch));
            }
            Effect::Abort { run, fence } => self.aborts.push((run.clone(), *fence)),
            _ => {}
        }
        self.log.push((self.now, keyed));
    }

    /// The job as a host that was killed would read it: unsettled runs and the three newest.
    pub fn restored(&self) -> JobMachine {
        let oldest = self.runs.keys().rev().nth(2).copied().unwrap_or(1);
        let from = oldest.min(self.head.settled_below);
        let runs = self
            .runs
            .range(from..)
            .map(|(_, run)| run.clone())
            .collect();
        let mut head = self.head.clone();
        // Kept up lazily: it is no part of what the machine decides.
        head.projected = self.job.head().projected;
        head.changed.clone_from(&self.job.head().changed);
        JobMachine::restore(AT, self.definition.clone(), head, runs).unwrap()
    }

    fn check(&self) {
        if !self.watchful {
            return;
        }
        let twin = self.restored();
        assert_eq!(twin.next_wakeup(), self.job.next_wakeup());
        assert_eq!(twin.outstanding(), self.job.outstanding());
        assert_eq!(self.job.definition(), &self.definition);
        let active = self.job.runs().filter(|run| run.active.is_some()).count();
        assert!(
            self.oracle.allow || active <= 1,
            "{active} attempts are out"
        );
        for run in self.job.runs() {
            assert_eq!(self.runs.get(&run.seq), Some(run));
        }
        if let Some(wakeup) = self.job.next_wakeup() {
            let mut copy = self.job.clone();
            let turn = copy.step(wakeup.at.max(self.now), Event::Wake).unwrap();
            assert!(!turn.is_empty(), "woken for nothing: {wakeup:?}");
        }
    }

    pub fn wake_at(&mut self, at: Millis) -> Vec<Effect> {
        self.now = self.now.max(at);
        self.feed(Event::Wake).unwrap()
    }

    pub fn wait(&mut self, ms: i64) {
        self.now = self.now.plus(ms);
    }

    /// What a host looks up first: whether a run of this trigger is known.
    fn known(&self, tag: &RunTag) -> bool {
        self.runs.values().any(|run| run.id.tag == *tag)
    }

    pub fn run_now(&mut self, key: &str, overlap: Option<Overlap>) -> Result<Vec<Effect>, Reject> {
        if self.known(&RunTag::Manual(digest16(&[key]))) {
            return Ok(Vec::new());
        }
        self.oracle.allow |= overlap == Some(Overlap::Allow);
        let (key, by) = (key.to_owned(), "ann".to_owned());
        self.feed(Event::RunNow {
            key,
            params: None,
            overlap,
            by,
        })
    }

    pub fn replace(&mut self, definition: Definition) {
        self.oracle.allow |= definition.overlap == Overlap::Allow;
        let (definition, by) = (Box::new(definition), "ann".to_owned());
        self.feed(Event::Replace {
            definition,
            enabled: None,
            revision: None,
            by,
        })
        .unwrap();
    }

    pub fn set_enabled(&mut self, enabled: bool) {
        self.feed(Event::SetEnabled { enabled }).unwrap();
    }

    pub fn delete(&mut self) {
        self.feed(Event::Delete {
            by: "ann".to_owned(),
        })
        .unwrap();
    }

    pub fn cancel(&mut self, run: &RunId) -> Result<Vec<Effect>, Reject> {
        self.feed(Event::Cancel {
            run: run.clone(),
            by: "ann".to_owned(),
        })
    }

    pub fn report(
        &mut self,
        run: &RunId,
        fence: u64,
        verdict: Verdict,
        ms: i64,
    ) -> Result<Vec<Effect>, Reject> {
        self.oracle.over(fence);
        let status = if verdict == Verdict::Succeeded {
            200
        } else {
            500
        };
        let result = Box::new(result(status, ms));
        self.feed(Event::AttemptEnded {
            run: run.clone(),
            fence,
            verdict,
            result,
            by: "executor".to_owned(),
        })
    }

    /// Answers the oldest attempt that is out.
    pub fn end(&mut self, verdict: Verdict) -> Dispatch {
        let dispatch = self.out.remove(0);
        self.report(&dispatch.run, dispatch.fence, verdict, 40)
            .unwrap();
        dispatch
    }

    pub fn accept(&mut self) -> Dispatch {
        let dispatch = self.out.remove(0);
        self.feed(Event::AttemptAccepted {
            run: dispatch.run.clone(),
            fence: dispatch.fence,
        })
        .unwrap();
        dispatch
    }

    pub fn lose(&mut self) -> Dispatch {
        let dispatch = self.out.remove(0);
        let why = "the control plane restarted".to_owned();
        self.feed(Event::AttemptLost {
            run: dispatch.run.clone(),
            fence: dispatch.fence,
            why,
        })
        .unwrap();
        dispatch
    }

    /// Says that the oldest attempt asked to stop has stopped.
    pub fn stopped(&mut self) {
        let (run, fence) = self.aborts.remove(0);
        self.out.retain(|dispatch| dispatch.fence != fence);
        self.coming.retain(|(_, coming, ..)| *coming != fence);
        drop(self.report(&run, fence, Verdict::Stopped, 10));
    }

    /// Goes on until `end`, from wakeup to wakeup; attempts end in the manner given for each.
    pub fn run_until(&mut self, end: Millis, mut manner: impl FnMut(&Dispatch) -> Manner) {
        loop {
            while !self.aborts.is_empty() {
                self.stopped();
            }
            for dispatch in std::mem::take(&mut self.out) {
                if let Some((ms, verdict)) = manner(&dispatch) {
                    self.coming.push((
                        self.now.plus(ms),
                        dispatch.fence,
                        dispatch.run,
                        verdict,
                        ms,
                    ));
                }
            }
            self.coming.sort_by_key(|(at, fence, ..)| (*at, *fence));
            let coming = self
                .coming
                .first()
                .map(|(at, ..)| *at)
                .filter(|at| *at <= end);
            let wakeup = self
                .job
                .next_wakeup()
                .map(|wakeup| wakeup.at)
                .filter(|at| *at <= end);
            match (coming, wakeup) {
                (Some(at), wakeup) if wakeup.is_none_or(|wakeup| at <= wakeup) => {
                    self.now = at.max(self.now);
                    let (_, fence, run, verdict, ms) = self.coming.remove(0);
                    drop(self.report(&run, fence, verdict, ms));
                }
                (_, Some(at)) => drop(self.wake_at(at)),
                _ => break,
            }
        }
        self.now = self.now.max(end);
    }

    /// D1 has a run as it stands.
    pub fn projected(&mut self, seq: u64) {
        self.job.note_projected(&self.runs[&seq]);
    }

    pub fn run(&self, id: &RunId) -> &Run {
        self.runs.values().find(|run| run.id == *id).unwrap()
    }

    pub fn newest(&self) -> &Run {
        self.runs.values().next_back().unwrap()
    }

    pub fn states(&self) -> Vec<RunState> {
        self.runs.values().map(|run| run.state).collect()
    }

    /// Attempts handed over, as seconds since `T0`.
    pub fn starts(&self) -> Vec<i64> {
        let seconds = |at: &Millis| at.since(T0) / 1_000;
        self.dispatches().map(|(at, _)| seconds(at)).collect()
    }

    pub fn dispatches(&self) -> impl Iterator<Item = (&Millis, &Dispatch)> {
        self.log
            .iter()
            .filter_map(|(at, keyed)| match &keyed.effect {
                Effect::Dispatch(dispatch) => Some((at, dispatch.as_ref())),
                _ => None,
            })
    }

    /// Troubles raised, as (cause, detail).
    pub fn raised(&self) -> Vec<(&'static str, String)> {
        let raised = self
            .log
            .iter()
            .filter_map(|(_, keyed)| match &keyed.effect {
                Effect::Raise { cause, detail, .. } => Some((*cause, detail.clone())),
                _ => None,
            });
        raised.collect()
    }
}
