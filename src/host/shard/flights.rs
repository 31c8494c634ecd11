//! HTTP runs on their way: how many at once, and which of them have left.
//!
//! Few posts at once drain a herd fastest, but a receiver that is slow must not hold up the others. So
//! the window starts small, and every post that stays out for long widens it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cronwright_core::ids::RunId;
use cronwright_core::job::Dispatch;
use cronwright_core::time::Millis;

/// Posts at once while receivers are quick.
const WINDOW: usize = 24;

/// A post that is out for this many times the usual time no longer counts against the window.
const SLOW_TIMES: i64 = 4;

/// Bounds of that time. Under a herd the usual time grows by our own haste; without the factor above that
/// would look like slow receivers and open the window without end.
const SLOW_MS: (i64, i64) = (250, 2_000);

/// Posts at once, whatever happens.
const MAX_OUT: usize = 2_000;

/// One post that has left.
#[derive(Clone, Debug)]
pub struct Flight {
    /// Which job.
    pub number: u32,
    /// Which run.
    pub run: RunId,
    /// Which attempt.
    pub fence: u64,
    /// When it left.
    pub since: Millis,
}

/// Posts that wait and posts that are out.
#[derive(Default)]
pub struct Flights {
    waiting: VecDeque<(u32, Dispatch)>,
    queued: BTreeSet<(u32, u64)>,
    out: BTreeMap<u64, Flight>,
    /// Jobs whose next attempt goes to the head of the queue: it had its turn, and was handed over anew.
    hurry: BTreeSet<u32>,
    /// Those that are back, and whose result is not in storage yet.
    landed: BTreeSet<(u32, u64)>,
    by_fence: BTreeMap<(u32, u64), u64>,
    last: u64,
    widening: bool,
    /// How long posts have been out lately, in ms.
    usual_ms: i64,
}

impl Flights {
    /// Queues an attempt, unless it is queued or out already.
    pub fn push(&mut self, number: u32, dispatch: Dispatch) {
        if !self.knows(number, dispatch.fence) {
            self.queued.insert((number, dispatch.fence));
            if self.hurry.remove(&number) {
                self.waiting.push_front((number, dispatch));
            } else {
                self.waiting.push_back((number, dispatch));
            }
        }
    }

    /// Takes out what may leave now, oldest first.
    pub fn take(&mut self, now: Millis) -> Vec<(u64, Dispatch)> {
        let slow_ms = self.slow_ms();
        let quick = self
            .out
            .values()
            .filter(|flight| now.since(flight.since) < slow_ms)
            .count();
        // Every slow post widens the window by one, so that many slow receivers open it quickly.
        let slow = self.out.len().saturating_sub(quick);
        let room = WINDOW
            .saturating_add(slow)
            .saturating_sub(quick)
            .min(MAX_OUT.saturating_sub(self.out.len()));
        let mut leaving = Vec::with_capacity(room.min(self.waiting.len()));
        while leaving.len() < room {
            let Some((number, dispatch)) = self.waiting.pop_front() else {
                break;
            };
            self.queued.remove(&(number, dispatch.fence));
            self.last = self.last.saturating_add(1);
            self.by_fence.insert((number, dispatch.fence), self.last);
            self.out.insert(
                self.last,
                Flight {
                    number,
                    run: dispatch.run.clone(),
                    fence: dispatch.fence,
                    since: now,
                },
            );
            leaving.push((self.last, dispatch));
        }
        leaving
    }

    fn slow_ms(&self) -> i64 {
        self.usual_ms
            .saturating_mul(SLOW_TIMES)
            .clamp(SLOW_MS.0, SLOW_MS.1)
    }

    /// A post is back.
    pub fn land(&mut self, handle: u64, now: Millis) -> Option<Flight> {
        let flight = self.out.remove(&handle)?;
        let took = now.since(flight.since).clamp(0, SLOW_MS.1);
        self.usual_ms = self.usual_ms.saturating_mul(7).saturating_add(took) / 8;
        self.by_fence.remove(&(flight.number, flight.fence));
        self.landed.insert((flight.number, flight.fence));
        Some(flight)
    }

    /// An attempt had its turn and could not leave: the next of its job does not wait again.
    pub fn hurry(&mut self, number: u32) {
        self.hurry.insert(number);
    }

    /// What came back is in storage, for the jobs that `is_stored` says yes to.
    pub fn settled(&mut self, is_stored: impl Fn(u32) -> bool) {
        self.landed.retain(|(number, _)| !is_stored(*number));
    }

    /// Whether an attempt is back, and its result not in storage.
    pub fn has_landed(&self, number: u32, fence: u64) -> bool {
        self.landed.contains(&(number, fence))
    }

    /// Takes back what could not leave, to the head of the queue.
    pub fn give_back(&mut self, leaving: Vec<(u64, Dispatch)>) {
        for (handle, dispatch) in leaving.into_iter().rev() {
            if let Some(flight) = self.out.remove(&handle) {
                let key = (flight.number, flight.fence);
                self.by_fence.remove(&key);
                self.queued.insert(key);
                self.waiting.push_front((flight.number, dispatch));
            }
        }
    }

    /// Takes back an attempt that has not left. True when it was waiting.
    pub fn recall(&mut self, number: u32, fence: u64) -> bool {
        if !self.queued.remove(&(number, fence)) {
            return false;
        }
        self.waiting
            .retain(|(of, dispatch)| *of != number || dispatch.fence != fence);
        true
    }

    /// The handle of an attempt that is out.
    pub fn handle(&self, number: u32, fence: u64) -> Option<u64> {
        self.by_fence.get(&(number, fence)).copied()
    }

    /// Attempts that have left, and whose result is not in storage: were one of them left out of the
    /// record, a restart would send it again under the same fence.
    pub fn fences_out(&self) -> Vec<(u32, u64)> {
        self.out
            .values()
            .map(|flight| (flight.number, flight.fence))
            .chain(self.landed.iter().copied())
            .collect()
    }

    /// Whether an attempt of this job waits or is out.
    pub fn knows(&self, number: u32, fence: u64) -> bool {
        self.by_fence.contains_key(&(number, fence)) || self.queued.contains(&(number, fence))
    }

    /// Attempts that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Attempts that are out.
    pub fn out(&self) -> usize {
        self.out.len()
    }

    /// When the window widens next, if attempts wait for it.
    pub fn next_widening(&self, now: Millis) -> Option<Millis> {
        if self.waiting.is_empty() {
            return None;
        }
        self.out
            .values()
            .map(|flight| flight.since.plus(self.slow_ms()))
            .filter(|at| *at > now)
            .min()
    }

    /// Whether somebody looks again when the window widens.
    pub fn widening_planned(&self) -> bool {
        self.widening
    }

    /// Notes that somebody does, or no longer.
    pub fn plan_widening(&mut self, planned: bool) {
        self.widening = planned;
    }
}
