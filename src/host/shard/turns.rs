//! Step, commit, perform: in this order, and nowhere else.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use cronwright_core::job::{Change, Effect, Event, Reject, Verdict};
use cronwright_core::machine::{Keyed, Machine};
use cronwright_core::time::Millis;

use super::{Inner, JobGroup, Shard};
use crate::host::object::{Platform, now};
use crate::host::records::wheel::hour_of;
use crate::host::records::{StorageError, jobs, meta, sql};

/// Jobs stepped and committed in one go.
const GROUP: usize = 256;

/// Why an event did not become a turn.
pub enum NoTurn {
    /// There is no such job.
    NoJob,
    /// The job is quarantined, now or earlier.
    Quarantined(String),
    /// The machine refused.
    Rejected(Reject),
}

impl Shard {
    /// Steps every machine whose time has come.
    pub(super) fn wake_due(self: &Rc<Self>, time: Millis) -> Result<(), StorageError> {
        loop {
            let due: Vec<u32> = self
                .inner
                .borrow()
                .roster
                .due(time)
                .into_iter()
                .take(GROUP)
                .collect();
            if due.is_empty() {
                return self.launch(time);
            }
            let mut group = JobGroup::default();
            for number in due {
                // A refusal cannot happen here, and a panic was dealt with.
                let _ = self.step(time, number, Event::Wake, &mut group)?;
            }
            self.commit(time, group)?;
        }
    }

    /// Steps everything in the inbox.
    pub(super) fn flush(self: &Rc<Self>) {
        if !self.inner.borrow().opened {
            return;
        }
        let time = now();
        let events = std::mem::take(&mut self.inner.borrow_mut().inbox);
        self.inner.borrow_mut().last_flush = time;
        let done = (|| {
            let mut group = JobGroup::default();
            for (number, event) in events {
                self.step_reported(time, number, event, &mut group)?;
            }
            self.commit(time, group)?;
            self.inner.borrow_mut().settle_landed();
            self.launch(time)
        })();
        if let Err(error) = done {
            self.failed("flush", &error);
        }
        self.project(time);
        self.arm(time);
    }

    /// Steps an event that nobody waits for; a late report is kept as evidence.
    fn step_reported(
        &self,
        time: Millis,
        number: u32,
        event: Event,
        group: &mut JobGroup,
    ) -> Result<(), StorageError> {
        let late = match &event {
            Event::AttemptEnded {
                run,
                fence,
                verdict,
                ..
            } => Some((run.clone(), *fence, format!("{verdict:?}"))),
            _ => None,
        };
        let refused = matches!(
            self.step(time, number, event, group)?,
            Err(NoTurn::Rejected(
                Reject::StaleFence { .. } | Reject::Ended(_)
            ))
        );
        if let Some((run, fence, what)) = late.filter(|_| refused) {
            let _ = self.step(time, number, Event::LateReport { run, fence, what }, group)?;
        }
        Ok(())
    }

    /// Steps one machine and adds its turn to the group. A machine that panics is quarantined alone.
    pub(super) fn step(
        &self,
        time: Millis,
        number: u32,
        event: Event,
        group: &mut JobGroup,
    ) -> Result<Result<(), NoTurn>, StorageError> {
        let at = self.job_ref(number);
        let platform = &self.platform;
        let mut inner = self.inner.borrow_mut();
        let inner = &mut *inner;
        if !inner.opened {
            // "No such job" would be believed: whoever asks asks again.
            return Err(StorageError("memory is being read anew".to_owned()));
        }
        if inner.roster.machine(&platform.sql, at)?.is_none() {
            return Ok(Err(match inner.roster.poison_of(number) {
                Some(why) => NoTurn::Quarantined(why.to_owned()),
                None => NoTurn::NoJob,
            }));
        }
        let Some(machine) = inner.roster.machine(&platform.sql, at)? else {
            return Ok(Err(NoTurn::NoJob));
        };
        if let Some(run) = event.run().filter(|run| machine.run(run).is_none())
            && let Some(past) = jobs::run(&platform.sql, run)?
        {
            machine.recall(past);
        }
        let stepped = std::panic::catch_unwind(AssertUnwindSafe(|| {
            planted_panic(platform, machine.definition().job_id.as_str(), &event);
            machine.step(time, event)
        }));
        match stepped {
            Ok(Ok(turn)) => {
                inner.notice_ends(&turn.changes);
                inner.roster.retime(number);
                group.add(number, turn);
                Ok(Ok(()))
            }
            Ok(Err(reject)) => Ok(Err(NoTurn::Rejected(reject))),
            Err(_) => {
                let why = "its machine panicked; the job is stopped until an operator saves or resumes it".to_owned();
                worker::console_error!(
                    "{{\"event\":\"quarantined\",\"shard\":{},\"job\":{number}}}",
                    at.shard
                );
                inner.roster.poison(number, why.clone());
                jobs::set_quarantine(&platform.sql, number, Some(&why))?;
                Ok(Err(NoTurn::Quarantined(why)))
            }
        }
    }

    /// Writes all turns of a group, and performs their effects.
    pub(super) fn commit(
        self: &Rc<Self>,
        time: Millis,
        group: JobGroup,
    ) -> Result<(), StorageError> {
        if group.is_empty() {
            return Ok(());
        }
        let effects = {
            let mut inner = self.inner.borrow_mut();
            let inner = &mut *inner;
            let sql = &self.platform.sql;
            let numbers: Vec<u32> = group.keys().copied().collect();
            let effects = group.commit(|changes| {
                // The lists first: should the rest fail, one that names too many is harmless.
                inner.wheel.list(sql, &inner.attention(&changes))?;
                jobs::commit(sql, changes)
            })?;
            for number in numbers {
                inner.roster.committed(number);
            }
            effects
        };
        for (number, effect) in effects {
            self.perform(time, number, effect);
        }
        Ok(())
    }

    fn perform(self: &Rc<Self>, time: Millis, number: u32, keyed: Keyed<Effect>) {
        match keyed.effect {
            Effect::Dispatch(dispatch) => self.inner.borrow_mut().flights.push(number, *dispatch),
            Effect::Abort { run, fence } => self.abort(number, run, fence),
            effect @ (Effect::Deliver { .. }
            | Effect::TellDependent { .. }
            | Effect::TellUpstream { .. }) => self.tell(time, number, keyed.key, effect),
            Effect::ProjectRun { seq } => self.inner.borrow_mut().projection.want_run(number, seq),
            Effect::ProjectJob => self.inner.borrow_mut().projection.want_job(number),
            Effect::Raise { cause, run, detail } => {
                worker::console_warn!(
                    "{{\"event\":\"raise\",\"cause\":\"{cause}\",\"run\":\"{run}\",\"detail\":{detail:?}}}"
                );
                self.count(cause, 1.0);
            }
        }
    }

    fn abort(self: &Rc<Self>, number: u32, run: cronwright_core::ids::RunId, fence: u64) {
        let mut inner = self.inner.borrow_mut();
        let waiting = inner.flights.recall(number, fence);
        let handle = inner.flights.handle(number, fence);
        let controller = handle.and_then(|handle| inner.controllers.remove(&handle));
        drop(inner);
        if let Some(controller) = controller {
            controller.abort();
        } else if waiting {
            let result = super::fly::nothing("aborted", "stopped before it was sent");
            self.post(
                number,
                Event::AttemptEnded {
                    run,
                    fence,
                    verdict: Verdict::Stopped,
                    result: Box::new(result),
                    by: "executor".to_owned(),
                },
            );
        } else if handle.is_none() {
            self.post(
                number,
                Event::AttemptLost {
                    run,
                    fence,
                    why: "no live call was left to stop".to_owned(),
                },
            );
        }
    }

    /// Lets attempts leave, as many as may. What has left is in storage before it leaves, as long as
    /// others wait: after a kill those that waited start as if nothing had been.
    pub(super) fn launch(self: &Rc<Self>, time: Millis) -> Result<(), StorageError> {
        let leaving = {
            let mut inner = self.inner.borrow_mut();
            if !inner.opened {
                return Ok(());
            }
            let leaving = inner.flights.take(time);
            if let Err(error) = inner.mark(&self.platform, leaving.is_empty()) {
                inner.flights.give_back(leaving);
                return Err(error);
            }
            leaving
        };
        if !leaving.is_empty() {
            self.fly(leaving);
        }
        self.widen_later(time);
        Ok(())
    }
}

impl Inner {
    /// Stores what has left, as long as others wait.
    fn mark(&mut self, platform: &Platform, unchanged: bool) -> Result<(), StorageError> {
        let waiting = self.flights.waiting() > 0;
        if waiting && !(unchanged && self.marker) {
            let out = sql::write("marker", &self.flights.fences_out())?;
            meta::put(&platform.sql, "sent", &out)?;
            self.marker = true;
        } else if !waiting && self.marker {
            meta::drop_key(&platform.sql, "sent")?;
            self.marker = false;
        }
        Ok(())
    }

    /// What came back is in storage. What a quarantined job would not take is not: it stays among what has
    /// left, so that nothing sends it again.
    pub(super) fn settle_landed(&mut self) {
        let Self {
            flights, roster, ..
        } = self;
        flights.settled(|number| roster.poison_of(number).is_none());
    }

    /// In which hours the jobs of these changes need attention.
    fn attention(&self, changes: &[(u32, Change)]) -> Vec<(u32, i64)> {
        let mut wanted = Vec::new();
        for (number, change) in changes {
            if let Change::Head(head) = change {
                let machine = self.roster.get(*number);
                let due = machine
                    .and_then(cronwright_core::job::JobMachine::due_at)
                    .or(head.next_due);
                wanted.extend(due.map(|due| (*number, hour_of(due))));
                if !machine.is_some_and(cronwright_core::job::JobMachine::is_idle) {
                    wanted.push((*number, self.wheel.hour()));
                }
            }
        }
        wanted
    }

    /// Tells those who wait for the end of a run.
    fn notice_ends(&mut self, changes: &[Change]) {
        if self.waiters.is_empty() {
            return;
        }
        for change in changes {
            if let Change::Run(run) = change
                && !run.is_open()
            {
                for (_, waiter) in self.waiters.extract_if(.., |(id, _)| *id == run.id) {
                    // Whoever waited may have gone; that is no concern of the run.
                    let _ = waiter.send(());
                }
            }
        }
    }
}

/// A fault planted by a test: panics where a bug in a machine would.
#[expect(
    clippy::panic,
    reason = "a test asks for it; refused unless the variable TEST_SEAMS is set"
)]
fn planted_panic(platform: &Platform, job: &str, event: &Event) {
    if job.starts_with("seam-panic") && *event == Event::Wake && platform.seams_open() {
        panic!("planted");
    }
}
