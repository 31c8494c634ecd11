//! Receivers of callbacks: how they behave, what they have taken, and whom they let in.

use std::collections::BTreeMap;

use cronwright_core::endpoint::AttemptResult;
use cronwright_core::ids::RunId;
use cronwright_core::outcome::FetchFault;
use cronwright_core::time::{HOUR, MINUTE, Millis, SECOND};

use crate::Mutation;
use crate::faults::Fault;
use crate::queue::{Happening, Landing};
use crate::world::World;

/// A signature is good for so long before and after its timestamp.
const TOLERANCE_MS: i64 = 5 * MINUTE;

/// One receiver.
#[derive(Debug, Default)]
pub struct Receiver {
    /// Whether it is gone.
    pub gone: bool,
    /// How far its clock is behind the sender's.
    behind_ms: i64,
    /// Nonces that were used, and until when each is remembered.
    nonces: BTreeMap<u64, Millis>,
    last_nonce: u64,
}

impl Receiver {
    /// One whose clock is so far behind.
    pub fn behind(behind_ms: i64) -> Self {
        Self {
            behind_ms,
            ..Self::default()
        }
    }
}

impl World<'_> {
    /// One attempt of a callback: what becomes of it is drawn when it leaves.
    pub fn post_callback(
        &mut self,
        endpoint: u16,
        epoch: u32,
        run: RunId,
        attempt: u32,
        body: String,
        timeout_ms: i64,
    ) {
        let travel = self.travel_ms();
        let back = self.travel_ms();
        let left = self.now;
        let gone = self
            .endpoint(endpoint)
            .is_some_and(|object| object.receiver.gone);
        let told = if gone {
            None
        } else {
            self.reception_scripted(&run, &body, timeout_ms)
        };
        let (takes_in, took, landing) = told.unwrap_or_else(|| self.reception(gone, timeout_ms));
        if takes_in {
            let id = if self.options.mutation == Some(Mutation::NewIdPerRetry) {
                format!("{run}#{attempt}")
            } else {
                run.to_string()
            };
            let delivery = self
                .endpoint(endpoint)
                .and_then(|object| object.disk.deliveries.get(&run));
            let replayed = delivery.is_none_or(|delivery| delivery.round > 0);
            self.witness.taken_in(endpoint, &run, &id, body, replayed);
            self.signed(endpoint, left.plus(travel));
        }
        let at = left.plus(travel).plus(took).plus(back);
        self.queue.push(
            at,
            Happening::Delivered {
                endpoint,
                epoch,
                run,
                attempt,
                landing,
            },
        );
    }

    /// Whether the receiver takes a post in, how long it takes, and what comes back.
    fn reception(&mut self, gone: bool, timeout_ms: i64) -> (bool, i64, Landing) {
        let status = |status: u16, ms: i64| {
            Landing::Posted(AttemptResult {
                status: Some(status),
                ms,
                ..AttemptResult::default()
            })
        };
        let fault = |fault: FetchFault, ms: i64| {
            Landing::Posted(AttemptResult {
                fault: Some(fault),
                ms,
                ..AttemptResult::default()
            })
        };
        let took = self.chance.receivers.span(5, 500);
        if gone {
            return (false, 1, fault(FetchFault::Network, 1));
        }
        if self.fault(Fault::PostLost) {
            return (false, took, Landing::Broke);
        }
        if self.fault(Fault::ReceiverFails) {
            return (false, took, status(503, took));
        }
        if self.fault(Fault::ReceiverBusy) {
            let wait = self.chance.receivers.span(SECOND, 10 * MINUTE);
            let busy = AttemptResult {
                status: Some(429),
                retry_after_ms: Some(wait),
                ms: took,
                ..AttemptResult::default()
            };
            return (false, took, Landing::Posted(busy));
        }
        if self.fault(Fault::ReceiverHangs) {
            return (true, timeout_ms, fault(FetchFault::Timeout, timeout_ms));
        }
        if self.fault(Fault::ReceiverBreaks) {
            return (true, took, fault(FetchFault::Network, took));
        }
        if self.fault(Fault::PostAnswerLost) {
            return (true, took, Landing::Broke);
        }
        (true, took, status(200, took))
    }

    /// The receiver remembers the nonce; somebody who saw the request may send it again.
    fn signed(&mut self, endpoint: u16, at: Millis) {
        let keep = if self.options.mutation == Some(Mutation::NonceKeptShort) {
            TOLERANCE_MS
        } else {
            2 * TOLERANCE_MS
        };
        let Some(object) = self.endpoint(endpoint) else {
            return;
        };
        let receiver = &mut object.receiver;
        receiver.last_nonce = receiver.last_nonce.saturating_add(1);
        let nonce = receiver.last_nonce;
        receiver.nonces.retain(|_, until| *until >= at);
        receiver.nonces.insert(nonce, at.plus(keep));
        if self.fault(Fault::RequestRepeated) {
            let later = self.chance.receivers.span(SECOND, 12 * MINUTE);
            let happening = Happening::Repeated {
                endpoint,
                nonce,
                signed_at: at,
            };
            self.queue.push(at.plus(later), happening);
        }
    }

    /// A captured request comes again: it must not be taken a second time.
    pub fn repeated(&mut self, endpoint: u16, nonce: u64, signed_at: Millis) {
        let now = self.now;
        let Some(object) = self.endpoint(endpoint) else {
            return;
        };
        let receiver = &object.receiver;
        let theirs = now.plus(-receiver.behind_ms);
        let timely = theirs.since(signed_at).abs() <= TOLERANCE_MS;
        let known = receiver
            .nonces
            .get(&nonce)
            .is_some_and(|until| *until >= now);
        if timely && !known {
            let ms = now.since(signed_at);
            self.violated(
                "I9",
                format!("a captured callback was taken again {ms} ms after it was signed"),
            );
        }
    }

    /// What goes wrong with receivers, once a minute.
    pub fn receiver_troubles(&mut self) {
        for endpoint in 0..self.endpoints.len() {
            let endpoint = u16::try_from(endpoint).unwrap_or(u16::MAX);
            if self.fault(Fault::ReceiverGone) {
                // In a long life it may be gone for longer than anybody has patience.
                let most = (self.plan.storm_ms / 6).max(2 * HOUR);
                let back = self.chance.receivers.span(MINUTE, most);
                self.queue
                    .push(self.now.plus(back), Happening::ReceiverBack(endpoint));
                if let Some(object) = self.endpoint(endpoint) {
                    object.receiver.gone = true;
                }
            }
        }
    }

    pub fn receiver_back(&mut self, endpoint: u16) {
        if let Some(object) = self.endpoint(endpoint) {
            object.receiver.gone = false;
        }
    }
}
