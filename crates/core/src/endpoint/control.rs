//! What shards and operators ask for.

use super::delay::patience_ms;
use super::event::{NewDelivery, Reject};
use super::record::{Delivery, DeliveryState, Settle};
use super::step::Step;
use super::{BODY_BYTES_MAX, QUEUE_BYTES_MAX, QUEUE_MAX};
use crate::ids::RunId;

impl Step<'_> {
    /// Whether there is room for one more live delivery of so many bytes.
    fn room_for(&self, bytes: usize) -> Result<(), Reject> {
        if self.queue.live_len >= QUEUE_MAX {
            return Err(Reject::QueueFull { limit: QUEUE_MAX });
        }
        if self.queue.live_bytes.saturating_add(bytes) > QUEUE_BYTES_MAX {
            return Err(Reject::QueueBytesFull {
                limit: QUEUE_BYTES_MAX,
            });
        }
        Ok(())
    }

    pub(super) fn enqueue(&mut self, new: NewDelivery) -> Result<(), Reject> {
        if new.body.len() > BODY_BYTES_MAX {
            return Err(Reject::BodyTooLarge {
                bytes: new.body.len(),
                limit: BODY_BYTES_MAX,
            });
        }
        self.room_for(new.body.len())?;
        self.add(Delivery::taken_in(new, self.now));
        Ok(())
    }

    /// An earlier word, or one that was taken before, changes nothing; nor does one about a delivery
    /// that is gone, since only a settled one can be.
    pub(super) fn settle_acked(&mut self, run: &RunId, word: u32) {
        let awaited =
            |found: &Delivery| found.word == word && matches!(found.settle, Settle::Owed { .. });
        if self.queue.get(run).is_some_and(awaited) {
            self.edit(run, |delivery| delivery.settle = Settle::Acked);
            self.keep_the_newest();
        }
    }

    pub(super) fn replay_one(&mut self, run: &RunId) -> Result<(), Reject> {
        let found = self
            .queue
            .get(run)
            .ok_or_else(|| Reject::UnknownDelivery { run: run.clone() })?;
        match found.state {
            DeliveryState::Waiting | DeliveryState::InFlight { .. } => Err(Reject::NotReplayable {
                run: run.clone(),
                state: found.state.word(),
            }),
            DeliveryState::Done | DeliveryState::Dead => {
                self.room_for(found.body.len())?;
                self.replay(run);
                Ok(())
            }
        }
    }

    pub(super) fn replay_dead(&mut self) {
        let dead = self
            .queue
            .all()
            .filter(|found| found.state == DeliveryState::Dead);
        let dead: Vec<(RunId, usize)> = dead
            .map(|found| (found.run.clone(), found.body.len()))
            .collect();
        for (run, bytes) in dead {
            if self.room_for(bytes).is_ok() {
                self.replay(&run);
            }
        }
    }

    fn replay(&mut self, run: &RunId) {
        let now = self.now;
        self.edit(run, |delivery| {
            delivery.state = DeliveryState::Waiting;
            delivery.attempts = 0;
            delivery.losses = 0;
            delivery.round = delivery.round.saturating_add(1);
            delivery.not_before = now;
            delivery.give_up_at = now.plus(patience_ms(delivery.preset));
            delivery.ended_at = None;
            delivery.code = None;
        });
        self.tell_shard(run);
    }

    pub(super) fn rotate(&mut self, key_versions: Vec<u32>) -> Result<(), Reject> {
        let fits = match *key_versions.as_slice() {
            [_] => true,
            [newer, older] => newer > older,
            [] | [_, _, _, ..] => false,
        };
        if !fits {
            return Err(Reject::BadKeyVersions {
                found: key_versions,
            });
        }
        self.config.key_versions = key_versions;
        Ok(())
    }
}
