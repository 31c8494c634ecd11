//! Taking up what a restart interrupted.

use std::collections::BTreeSet;
use std::rc::Rc;

use cronwright_core::job::{Dispatch, Effect, Event, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::time::Millis;

use super::{JobGroup, Shard};
use crate::host::records::{StorageError, jobs, meta, sql};

/// Jobs planned anew in one commit.
const REPLAN: u32 = 256;

impl Shard {
    /// Loads what needs attention. Attempts that had left are lost; those that waited leave now; words
    /// that were owed are told; rows that D1 lacks are written.
    pub(super) fn recover(self: &Rc<Self>, time: Millis) -> Result<(), StorageError> {
        self.inner.borrow_mut().advance(&self.platform, time)?;
        // Without the record, nothing waited: whatever is out had left.
        let sent: Option<BTreeSet<(u32, u64)>> = match meta::get(&self.platform.sql, "sent")? {
            Some(text) => Some(
                sql::read::<Vec<(u32, u64)>>("marker", &text)?
                    .into_iter()
                    .collect(),
            ),
            None => None,
        };
        self.inner.borrow_mut().marker = sent.is_some();
        let numbers: Vec<u32> = {
            let inner = self.inner.borrow();
            let machines = inner.roster.machines();
            machines.map(|machine| machine.at().number).collect()
        };
        self.take_up_jobs(time, &numbers, sent.as_ref())?;
        self.replan_all(time)?;
        self.launch(time)?;
        if !self.inner.borrow().inbox.is_empty() {
            self.plan_flush();
        }
        self.want_missing()
    }

    /// Takes up what these jobs have outstanding. Of their attempts, those in `sent` had left; without it
    /// all that nobody knows of had.
    pub(super) fn take_up_jobs(
        self: &Rc<Self>,
        time: Millis,
        numbers: &[u32],
        sent: Option<&BTreeSet<(u32, u64)>>,
    ) -> Result<(), StorageError> {
        let mut group = JobGroup::default();
        for number in numbers.iter().copied() {
            let outstanding = {
                let inner = self.inner.borrow();
                let machine = inner.roster.get(number);
                machine.map(Machine::outstanding).unwrap_or_default()
            };
            for keyed in outstanding {
                match keyed.effect {
                    // After a failure of storage alone, calls may still be out.
                    Effect::Dispatch(dispatch)
                        if self.inner.borrow().flights.knows(number, dispatch.fence) => {}
                    Effect::Dispatch(dispatch) => {
                        let left = sent.is_none_or(|sent| sent.contains(&(number, dispatch.fence)));
                        self.take_up(time, number, *dispatch, left, &mut group)?;
                    }
                    effect => self.tell(time, number, keyed.key, effect),
                }
            }
        }
        self.commit(time, group)?;
        self.inner.borrow_mut().settle_landed();
        Ok(())
    }

    /// An attempt that was out when memory was lost: lost if it had left, else it leaves now, unless it
    /// was asked to stop.
    fn take_up(
        self: &Rc<Self>,
        time: Millis,
        number: u32,
        dispatch: Dispatch,
        left: bool,
        group: &mut JobGroup,
    ) -> Result<(), StorageError> {
        let inner = self.inner.borrow();
        let landed = inner.flights.has_landed(number, dispatch.fence);
        let stopping = inner
            .roster
            .get(number)
            .and_then(|machine| machine.run(&dispatch.run))
            .and_then(|run| run.active)
            .is_some_and(|active| active.stopping.is_some());
        drop(inner);
        let (run, fence) = (dispatch.run.clone(), dispatch.fence);
        let event = if left || landed {
            let why = "the control plane restarted while the attempt was running".to_owned();
            Event::AttemptLost { run, fence, why }
        } else if stopping {
            Event::AttemptEnded {
                run,
                fence,
                verdict: Verdict::Stopped,
                result: Box::new(super::fly::nothing("aborted", "stopped before it was sent")),
                by: "recovery".to_owned(),
            }
        } else {
            self.inner.borrow_mut().flights.push(number, dispatch);
            return Ok(());
        };
        // Quarantined or refused: nothing to recover.
        let _ = self.step(time, number, event, group)?;
        Ok(())
    }

    /// After an update of the tz database every planned instant is computed anew, of jobs far in the
    /// future too.
    fn replan_all(self: &Rc<Self>, time: Millis) -> Result<(), StorageError> {
        let sql = &self.platform.sql;
        let current = cronwright_core::schedule::tzdb_version();
        let known = meta::get(sql, "tzdb")?;
        if known.as_deref() == Some(current) {
            return Ok(());
        }
        if known.is_some() {
            let mut from = 0;
            loop {
                let numbers = jobs::numbers_from(sql, from, REPLAN)?;
                let Some(last) = numbers.last().copied() else {
                    break;
                };
                from = last.saturating_add(1);
                let mut group = JobGroup::default();
                for number in numbers {
                    let _ = self.step(time, number, Event::Wake, &mut group)?;
                }
                self.commit(time, group)?;
            }
        }
        meta::put(sql, "tzdb", current)
    }
}
