//! The machine.
//!
//! # One delivery
//!
//! ```text
//! (none)    --Enqueue-------------------------> Waiting    due at once
//! (any)     --Enqueue, same run---------------> unchanged  the shard asked twice
//! Waiting   --[due, its turn, breaker, < 8]---> InFlight   Post; after any event that made room
//! Waiting   --Wake, out of patience-----------> Dead       Settle Failed, code "expired"
//! InFlight  --Attempted 2xx-------------------> Done       Settle Done; the breaker closes
//! InFlight  --Attempted, attempts left--------> Waiting    after the preset's delay or Retry-After
//! InFlight  --Attempted, last/410/blocked-----> Dead       Settle Failed
//! InFlight  --Wake, past deadline-------------> as Attempted with fault timeout
//! InFlight  --AttemptLost---------------------> Waiting    due at once, no attempt used (3 times)
//! InFlight  --AttemptLost, fourth or later----> as Attempted with fault internal
//! Done,Dead --Replay, ReplayDead (Dead only)--> Waiting    fresh attempts, same bytes; Settle Pending
//! Done      --settled, not of the newest 100--> (dropped)
//! Dead      --settled, 30 days or > 1,000-----> (dropped)
//! ```
//!
//! A delivery is out of patience when `give_up_at` has passed and the latest probe has failed: see
//! [`patience_ms`](super::patience_ms). Of one job, only the first delivery that waits may start, and only when none is in flight: Done and
//! Dead free the next. Different jobs do not wait for each other.
//!
//! # Its word to the shard
//!
//! ```text
//! (any)     --Done, Dead or replayed----------> Owed       a new word; told now, after 5 s, 30 s, each 60 s
//! Owed      --SettleAcked of the latest word--> Acked
//! ```
//!
//! # The breaker
//!
//! ```text
//! Closed    --fifth failure in a row----------> Open       probe allowed 60 s later
//! Open      --a delivery due, probe allowed---> HalfOpen   that delivery is the probe
//! HalfOpen  --the probe failed----------------> Open       60 s more
//! HalfOpen  --the probe was lost by us--------> Open       another may go at once
//! (any)     --any 2xx, or CloseBreaker--------> Closed     what waited goes, at most 8 in flight
//! ```
//!
//! A 410 ends its own delivery at once and counts as one failure; it switches nothing off. A receiver
//! that answers 410 by mistake (a bad deploy, a wrong route) would otherwise lose every later result
//! untried, and one that means it sends five and then meets the breaker: one call a minute.

use std::collections::BTreeSet;

use super::event::{Change, Effect, EndpointTurn, Event, Reject, tell_again_ms};
use super::queue::Queue;
use super::record::{Config, Delivery, DeliveryState, Settle, Stats};
use super::{Breaker, GRACE_MS, IN_FLIGHT_MAX, TIMEOUT_MS};
use crate::ids::{AppId, RunId};
use crate::machine::{Keyed, Machine, Turn, Wakeup};
use crate::time::Millis;

/// One endpoint: its deliveries, their order and its breaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointMachine {
    pub(super) config: Config,
    pub(super) queue: Queue,
}

impl EndpointMachine {
    /// A new endpoint. `key_versions` are the live versions of the app's signing key, newest first.
    #[must_use]
    pub fn create(
        now: Millis,
        app: AppId,
        url: String,
        key_versions: Vec<u32>,
    ) -> (Self, EndpointTurn) {
        let config = Config {
            app,
            url,
            key_versions,
            breaker: Breaker::default(),
            created_at: now,
            stats: Stats::default(),
        };
        let turn = Turn {
            changes: vec![Change::PutConfig(config.clone())],
            effects: Vec::new(),
        };
        (
            Self {
                config,
                queue: Queue::default(),
            },
            turn,
        )
    }

    /// The machine of these records.
    #[must_use]
    pub fn restore(mut config: Config, deliveries: Vec<Delivery>) -> Self {
        let queue = Queue::of(deliveries);
        // A probe that is not in flight could never report: let another go.
        if let Breaker::HalfOpen { since, probing } = &config.breaker {
            let in_flight =
                |found: &Delivery| matches!(found.state, DeliveryState::InFlight { .. });
            if !queue.get(probing).is_some_and(in_flight) {
                config.breaker = Breaker::Open {
                    since: *since,
                    probe_at: *since,
                };
            }
        }
        Self { config, queue }
    }
}

impl Machine for EndpointMachine {
    type Event = Event;
    type Change = Change;
    type Effect = Effect;
    type Reject = Reject;

    fn step(&mut self, now: Millis, event: Event) -> Result<EndpointTurn, Reject> {
        let mut step = Step::new(self, now);
        // Each handler decides whether to refuse before it changes anything.
        match event {
            Event::Enqueue(new) => {
                if step.queue.get(&new.run).is_some() {
                    return Ok(Turn::default());
                }
                step.enqueue(new)?;
            }
            Event::Attempted {
                run,
                attempt,
                result,
            } => step.attempted(&run, attempt, result)?,
            Event::AttemptLost { run, attempt } => step.attempt_lost(&run, attempt)?,
            Event::Wake => step.sweep(),
            Event::SettleAcked { run, word } => step.settle_acked(&run, word),
            Event::Replay { run } => step.replay_one(&run)?,
            Event::ReplayDead => step.replay_dead(),
            Event::CloseBreaker => step.config.breaker = Breaker::default(),
            Event::Rotate { key_versions } => step.rotate(key_versions)?,
        }
        step.start_what_may();
        Ok(step.finish())
    }

    fn next_wakeup(&self) -> Option<Wakeup> {
        self.wakeups().into_iter().flatten().min()
    }

    fn outstanding(&self) -> Vec<Keyed<Effect>> {
        let owed = self
            .queue
            .owed
            .iter()
            .filter_map(|(_, run)| self.queue.get(run));
        owed.map(Delivery::word_to_shard).collect()
    }
}

/// One step under way: what it touched is what it stores.
pub(super) struct Step<'m> {
    pub(super) now: Millis,
    pub(super) config: &'m mut Config,
    pub(super) queue: &'m mut Queue,
    before: Config,
    touched: BTreeSet<RunId>,
    effects: Vec<Keyed<Effect>>,
}

impl<'m> Step<'m> {
    fn new(machine: &'m mut EndpointMachine, now: Millis) -> Self {
        let EndpointMachine { config, queue } = machine;
        let before = config.clone();
        Self {
            now,
            config,
            queue,
            before,
            touched: BTreeSet::new(),
            effects: Vec::new(),
        }
    }

    fn finish(self) -> EndpointTurn {
        let config = (*self.config != self.before).then(|| Change::PutConfig(self.config.clone()));
        let deliveries = self
            .touched
            .into_iter()
            .map(|run| match self.queue.get(&run) {
                Some(delivery) => Change::PutDelivery(delivery.clone()),
                None => Change::DropDelivery(run),
            });
        Turn {
            changes: config.into_iter().chain(deliveries).collect(),
            effects: self.effects,
        }
    }

    /// Adds a delivery and remembers to store it.
    pub(super) fn add(&mut self, delivery: Delivery) {
        self.touched.insert(delivery.run.clone());
        self.queue.put(delivery);
    }

    /// Changes a delivery and remembers to store it.
    pub(super) fn edit<R>(
        &mut self,
        run: &RunId,
        change: impl FnOnce(&mut Delivery) -> R,
    ) -> Option<R> {
        self.touched.insert(run.clone());
        self.queue.edit(run, change)
    }

    /// Drops a delivery and remembers that.
    pub(super) fn forget(&mut self, run: &RunId) {
        self.touched.insert(run.clone());
        self.queue.forget(run);
    }

    /// Starts what is due, has its turn and is let through.
    fn start_what_may(&mut self) {
        while self.queue.in_flight.len() < IN_FLIGHT_MAX {
            let Some((due, run)) = self.queue.first_due() else {
                return;
            };
            let run = run.clone();
            match self.config.breaker.start_at(due) {
                Some(at) if at <= self.now => self.start(&run),
                Some(_) | None => return,
            }
        }
    }

    fn start(&mut self, run: &RunId) {
        let since = self.now;
        let started = self.edit(run, |delivery| {
            delivery.starts = delivery.starts.saturating_add(1);
            let deadline = since.plus(TIMEOUT_MS).plus(GRACE_MS);
            delivery.state = DeliveryState::InFlight {
                attempt: delivery.starts,
                since,
                deadline,
            };
            (delivery.starts, delivery.body.clone())
        });
        let Some((attempt, body)) = started else {
            return;
        };
        self.config.breaker.started(run);
        self.effects.push(Keyed {
            key: format!("{run}/post/{attempt}"),
            effect: Effect::Post {
                run: run.clone(),
                attempt,
                url: self.config.url.clone(),
                app: self.config.app.clone(),
                key_versions: self.config.key_versions.clone(),
                body,
                timeout_ms: TIMEOUT_MS,
            },
        });
    }

    /// Tells the shard how a delivery stands: a new word, which replaces one not yet taken.
    pub(super) fn tell_shard(&mut self, run: &RunId) {
        let now = self.now;
        let word = self.edit(run, |delivery| {
            delivery.word = delivery.word.saturating_add(1);
            delivery.settle = Settle::Owed {
                told: 1,
                again_at: now.plus(tell_again_ms(1)),
            };
            delivery.word_to_shard()
        });
        self.effects.extend(word);
    }

    /// Repeats a word that was not taken.
    pub(super) fn tell_shard_again(&mut self, run: &RunId) {
        let now = self.now;
        let word = self.edit(run, |delivery| {
            if let Settle::Owed { told, .. } = delivery.settle {
                let told = told.saturating_add(1);
                delivery.settle = Settle::Owed {
                    told,
                    again_at: now.plus(tell_again_ms(told)).whole_second(),
                };
            }
            delivery.word_to_shard()
        });
        self.effects.extend(word);
    }
}
