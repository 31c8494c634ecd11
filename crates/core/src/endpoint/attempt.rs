//! What an attempt's end means.

use super::delay::{delay_ms, honoured_ms};
use super::event::{AttemptResult, Reject};
use super::record::{AttemptRow, Delivery, DeliveryState};
use super::step::Step;
use super::{EXCERPT_CHARS_MAX, HISTORY_MAX, LOSSES_FREE};
use crate::ids::RunId;
use crate::outcome::FetchFault;
use crate::time::Millis;

/// What becomes of a delivery whose attempt failed.
enum Next {
    /// Try again then.
    Again(Millis),
    /// Give up.
    Dead,
}

impl AttemptResult {
    fn is_delivered(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether trying again is pointless: the receiver says it is gone for good, or we never call it.
    fn is_final(&self) -> bool {
        self.status == Some(410) || self.fault == Some(FetchFault::BlockedTarget)
    }

    /// Whether the receiver's side is at fault, so that the breaker counts it.
    fn is_theirs(&self) -> bool {
        match (self.status, self.fault) {
            (Some(_), _) => true,
            (None, Some(FetchFault::Internal | FetchFault::Aborted)) => false,
            (
                None,
                Some(
                    FetchFault::Timeout
                    | FetchFault::Network
                    | FetchFault::BlockedTarget
                    | FetchFault::Redirect,
                )
                | None,
            ) => true,
        }
    }

    /// A fixed word for the failure: the status where there is one, as it says more than our fault.
    fn code(&self) -> String {
        match (self.status, self.fault) {
            (Some(status), _) => format!("http_{status}"),
            (None, Some(fault)) => fault.as_str().to_owned(),
            (None, None) => FetchFault::Network.as_str().to_owned(),
        }
    }

    /// What the receiver asked us to wait, where such a wish counts.
    fn asked_ms(&self) -> Option<i64> {
        self.retry_after_ms
            .filter(|_| matches!(self.status, Some(429 | 503)))
    }

    fn into_row(self, attempt: u32, at: Millis) -> AttemptRow {
        let excerpt = self.excerpt.filter(|text| {
            !text.is_empty() && !self.status.is_some_and(|s| (200..300).contains(&s))
        });
        AttemptRow {
            attempt,
            at,
            status: self.status,
            fault: self.fault,
            ms: self.ms,
            excerpt: excerpt.map(|text| text.chars().take(EXCERPT_CHARS_MAX).collect()),
        }
    }
}

impl Delivery {
    fn remember(&mut self, row: AttemptRow) {
        self.history.push(row);
        let surplus = self.history.len().saturating_sub(HISTORY_MAX);
        self.history.drain(..surplus);
    }

    fn after_failure(&self, now: Millis, result: &AttemptResult) -> Next {
        if result.is_final() {
            return Next::Dead;
        }
        match delay_ms(self.preset, self.attempts, &self.run) {
            Some(delay) => Next::Again(now.plus(honoured_ms(delay, result.asked_ms()))),
            None => Next::Dead,
        }
    }
}

impl Step<'_> {
    /// Since when the attempt has been in flight, if it is.
    fn in_flight_since(&self, run: &RunId, attempt: u32) -> Result<Millis, Reject> {
        let found = self
            .queue
            .get(run)
            .ok_or_else(|| Reject::UnknownDelivery { run: run.clone() })?;
        match found.state {
            DeliveryState::InFlight {
                attempt: expected,
                since,
                ..
            } if expected == attempt => Ok(since),
            DeliveryState::InFlight {
                attempt: expected, ..
            } => Err(Reject::StaleAttempt {
                expected: Some(expected),
                got: attempt,
            }),
            DeliveryState::Waiting | DeliveryState::Done | DeliveryState::Dead => {
                Err(Reject::StaleAttempt {
                    expected: None,
                    got: attempt,
                })
            }
        }
    }

    pub(super) fn attempted(
        &mut self,
        run: &RunId,
        attempt: u32,
        result: AttemptResult,
    ) -> Result<(), Reject> {
        let since = self.in_flight_since(run, attempt)?;
        self.ended(run, attempt, since, result);
        Ok(())
    }

    pub(super) fn attempt_lost(&mut self, run: &RunId, attempt: u32) -> Result<(), Reject> {
        let since = self.in_flight_since(run, attempt)?;
        let now = self.now;
        let ms = now.since(since).max(0);
        let losses = self.edit(run, |delivery| {
            delivery.losses = delivery.losses.saturating_add(1);
            delivery.losses
        });
        // Something that loses every attempt must not be tried for ever without using any up.
        if losses.is_none_or(|losses| losses > LOSSES_FREE) {
            let result = AttemptResult {
                fault: Some(FetchFault::Internal),
                ms,
                ..AttemptResult::default()
            };
            self.ended(run, attempt, since, result);
            return Ok(());
        }
        let lost = AttemptResult {
            fault: Some(FetchFault::Aborted),
            ms,
            ..AttemptResult::default()
        };
        self.edit(run, |delivery| {
            delivery.remember(lost.into_row(attempt, since));
            delivery.state = DeliveryState::Waiting;
            delivery.not_before = now;
        });
        self.config.stats.attempts = self.config.stats.attempts.saturating_add(1);
        self.config.breaker.lost(run);
        Ok(())
    }

    /// An attempt in flight has ended: delivered, to be tried again, or given up.
    pub(super) fn ended(
        &mut self,
        run: &RunId,
        attempt: u32,
        since: Millis,
        result: AttemptResult,
    ) {
        let now = self.now;
        self.config.stats.attempts = self.config.stats.attempts.saturating_add(1);
        if result.is_delivered() {
            self.delivered(run, result.into_row(attempt, since));
            return;
        }
        let (theirs, code) = (result.is_theirs(), result.code());
        self.config.stats.last_failed_at = Some(now);
        self.config.breaker.failed(now, run, theirs);
        let next = self.edit(run, |delivery| {
            delivery.attempts = delivery.attempts.saturating_add(1);
            let next = delivery.after_failure(now, &result);
            delivery.remember(result.into_row(attempt, since));
            match next {
                // Past its patience a delivery has one attempt, and no second.
                Next::Again(at) if at < delivery.give_up_at => {
                    delivery.state = DeliveryState::Waiting;
                    delivery.not_before = at;
                    false
                }
                Next::Again(_) | Next::Dead => true,
            }
        });
        if next == Some(true) {
            self.give_up(run, code);
        }
    }

    fn delivered(&mut self, run: &RunId, row: AttemptRow) {
        let now = self.now;
        self.config.stats.delivered = self.config.stats.delivered.saturating_add(1);
        self.config.stats.last_delivered_at = Some(now);
        self.config.breaker.succeeded();
        self.edit(run, |delivery| {
            delivery.attempts = delivery.attempts.saturating_add(1);
            delivery.remember(row);
            delivery.state = DeliveryState::Done;
            delivery.ended_at = Some(now);
            delivery.code = None;
        });
        self.tell_shard(run);
    }

    /// Gives a delivery up: kept for replay, and the shard is told.
    pub(super) fn give_up(&mut self, run: &RunId, code: String) {
        let now = self.now;
        self.config.stats.failed = self.config.stats.failed.saturating_add(1);
        self.edit(run, |delivery| {
            delivery.state = DeliveryState::Dead;
            delivery.ended_at = Some(now);
            delivery.code = Some(code);
        });
        self.tell_shard(run);
    }
}
