//! The deliveries, and the orders they are asked for in.
//!
//! Every change to a delivery goes through [`Queue::edit`], which takes it out of all orders and puts
//! it back: the orders are a function of the records, so a restored queue equals the live one.

use std::collections::{BTreeMap, BTreeSet};

use super::DEAD_KEPT_MS;
use super::record::{Delivery, DeliveryState, Settle};
use crate::ids::{JobId, RunId};
use crate::time::Millis;

/// Instants and whose they are, earliest first.
pub(super) type Times = BTreeSet<(Millis, RunId)>;

/// When a delivery is due; equal instants go in the order they were taken in.
type Due = (Millis, Millis, RunId);

/// The live deliveries of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lane {
    /// By place in the job's order.
    waiting: BTreeMap<(u64, RunId), Due>,
    in_flight: usize,
}

impl Lane {
    /// The only delivery of the job that may start.
    fn head(&self) -> Option<&Due> {
        if self.in_flight > 0 {
            None
        } else {
            self.waiting.values().next()
        }
    }
}

/// All deliveries of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Queue {
    records: BTreeMap<RunId, Delivery>,
    lanes: BTreeMap<JobId, Lane>,
    /// The heads of all lanes.
    due: BTreeSet<Due>,
    /// Deadlines of attempts in flight.
    pub(super) in_flight: Times,
    /// When waiting deliveries are given up.
    pub(super) give_up: Times,
    /// When shards are told again.
    pub(super) owed: Times,
    /// Delivered and settled, by when they ended.
    pub(super) done: Times,
    /// Dead and settled, by when they ended.
    pub(super) dead: Times,
    /// Deliveries that have not ended, or whose end the shard does not know.
    pub(super) live_len: usize,
    /// Bytes of their bodies.
    pub(super) live_bytes: usize,
    /// Dead deliveries, in `dead` or not yet settled.
    pub(super) dead_len: usize,
    /// Bytes of bodies in `dead`.
    pub(super) dead_bytes: usize,
}

impl Queue {
    /// The queue of these records.
    pub(super) fn of(deliveries: Vec<Delivery>) -> Self {
        let mut queue = Self::default();
        for delivery in deliveries {
            queue.put(delivery);
        }
        queue
    }

    /// The delivery of that run.
    pub(super) fn get(&self, run: &RunId) -> Option<&Delivery> {
        self.records.get(run)
    }

    /// All deliveries, by run.
    pub(super) fn all(&self) -> impl Iterator<Item = &Delivery> {
        self.records.values()
    }

    /// The first delivery that may start, and when it is due; in order within each job.
    pub(super) fn first_due(&self) -> Option<(Millis, &RunId)> {
        self.due.first().map(|(due, _, run)| (*due, run))
    }

    /// Adds a delivery, or replaces the one of its run.
    pub(super) fn put(&mut self, delivery: Delivery) {
        if let Some(old) = self.records.remove(&delivery.run) {
            self.unlist(&old);
        }
        self.list(&delivery);
        self.records.insert(delivery.run.clone(), delivery);
    }

    /// Changes a delivery; what `change` returns, or none where there is no such delivery.
    pub(super) fn edit<R>(
        &mut self,
        run: &RunId,
        change: impl FnOnce(&mut Delivery) -> R,
    ) -> Option<R> {
        let mut delivery = self.records.remove(run)?;
        self.unlist(&delivery);
        let answer = change(&mut delivery);
        self.list(&delivery);
        self.records.insert(run.clone(), delivery);
        Some(answer)
    }

    /// Drops a delivery.
    pub(super) fn forget(&mut self, run: &RunId) {
        if let Some(old) = self.records.remove(run) {
            self.unlist(&old);
        }
    }

    fn list(&mut self, delivery: &Delivery) {
        let run = || delivery.run.clone();
        match delivery.state {
            DeliveryState::Waiting => {
                self.give_up.insert((delivery.give_up_at, run()));
                let due = (delivery.not_before, delivery.enqueued_at, run());
                self.in_lane(delivery, |lane| {
                    drop(lane.waiting.insert((delivery.seq, run()), due))
                });
            }
            DeliveryState::InFlight { deadline, .. } => {
                self.in_flight.insert((deadline, run()));
                self.in_lane(delivery, |lane| {
                    lane.in_flight = lane.in_flight.saturating_add(1)
                });
            }
            DeliveryState::Done | DeliveryState::Dead => {}
        }
        if let Settle::Owed { again_at, .. } = delivery.settle {
            self.owed.insert((again_at, run()));
        }
        if let Some(kept) = self.kept_mut(delivery) {
            kept.insert((ended_at(delivery), run()));
        }
        self.tally(delivery, usize::saturating_add);
    }

    fn unlist(&mut self, delivery: &Delivery) {
        let run = || delivery.run.clone();
        match delivery.state {
            DeliveryState::Waiting => {
                self.give_up.remove(&(delivery.give_up_at, run()));
                self.in_lane(delivery, |lane| {
                    drop(lane.waiting.remove(&(delivery.seq, run())))
                });
            }
            DeliveryState::InFlight { deadline, .. } => {
                self.in_flight.remove(&(deadline, run()));
                self.in_lane(delivery, |lane| {
                    lane.in_flight = lane.in_flight.saturating_sub(1)
                });
            }
            DeliveryState::Done | DeliveryState::Dead => {}
        }
        if let Settle::Owed { again_at, .. } = delivery.settle {
            self.owed.remove(&(again_at, run()));
        }
        if let Some(kept) = self.kept_mut(delivery) {
            kept.remove(&(ended_at(delivery), run()));
        }
        self.tally(delivery, usize::saturating_sub);
    }

    /// Where a delivery is listed that is over and done with.
    fn kept_mut(&mut self, delivery: &Delivery) -> Option<&mut Times> {
        match delivery.state {
            DeliveryState::Done if !is_live(delivery) => Some(&mut self.done),
            DeliveryState::Dead if !is_live(delivery) => Some(&mut self.dead),
            DeliveryState::Waiting
            | DeliveryState::InFlight { .. }
            | DeliveryState::Done
            | DeliveryState::Dead => None,
        }
    }

    fn tally(&mut self, delivery: &Delivery, add: fn(usize, usize) -> usize) {
        let bytes = delivery.body.len();
        let dead = delivery.state == DeliveryState::Dead;
        self.dead_len = add(self.dead_len, usize::from(dead));
        if is_live(delivery) {
            self.live_len = add(self.live_len, 1);
            self.live_bytes = add(self.live_bytes, bytes);
        } else if dead {
            self.dead_bytes = add(self.dead_bytes, bytes);
        }
    }

    /// Changes the lane of a delivery and keeps its head in `due`.
    fn in_lane(&mut self, delivery: &Delivery, change: impl FnOnce(&mut Lane)) {
        let lane = self.lanes.entry(delivery.job.clone()).or_default();
        if let Some(head) = lane.head() {
            self.due.remove(head);
        }
        change(lane);
        if let Some(head) = lane.head() {
            self.due.insert(head.clone());
        }
        if lane.waiting.is_empty() && lane.in_flight == 0 {
            self.lanes.remove(&delivery.job);
        }
    }
}

/// Whether a delivery has not ended, or its end is not known to the shard.
fn is_live(delivery: &Delivery) -> bool {
    match delivery.state {
        DeliveryState::Waiting | DeliveryState::InFlight { .. } => true,
        DeliveryState::Done | DeliveryState::Dead => matches!(delivery.settle, Settle::Owed { .. }),
    }
}

fn ended_at(delivery: &Delivery) -> Millis {
    delivery.ended_at.unwrap_or(delivery.enqueued_at)
}

/// When a dead delivery that ended at `ended` is dropped.
pub(super) fn drop_at(ended: Millis) -> Millis {
    ended.plus(DEAD_KEPT_MS)
}
