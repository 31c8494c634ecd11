//! Word owed to other objects: told until it is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cronwright_core::ids::{EndpointId, JobId};
use cronwright_core::job::def::CallbackTarget;
use cronwright_core::job::run::{Owed, Run};
use cronwright_core::job::{Effect, Event};
use cronwright_core::outcome::CallbackState;
use cronwright_core::time::{MINUTE, Millis, SECOND};

use cronwright_protocol::api::CallbackBody;

use super::Shard;
use crate::host::client::{HostError, ask_endpoint, locate_job};
use crate::host::message::{EndpointAsk, EndpointReply, ShardAsk, ShardReply};
use crate::host::object::now;

/// What waits to be told, by its idempotency key.
#[derive(Default)]
pub struct Telling {
    waiting: BTreeMap<String, Word>,
    out: usize,
}

struct Word {
    number: u32,
    effect: Effect,
    tries: u32,
    /// None while it is being told.
    next: Option<Millis>,
}

impl Telling {
    /// Whether something is being told right now.
    pub fn is_busy(&self) -> bool {
        self.out > 0
    }

    /// When the next try is due.
    pub fn next_try(&self) -> Option<Millis> {
        self.waiting.values().filter_map(|word| word.next).min()
    }

    fn due(&self, time: Millis) -> Vec<String> {
        self.waiting
            .iter()
            .filter(|(_, word)| word.next.is_some_and(|next| next <= time))
            .map(|(key, _)| key.clone())
            .collect()
    }
}

/// What became of a word.
enum Told {
    /// Taken, or there is nobody to take it.
    Taken,
    /// Tell it again later.
    Again(String),
}

impl Shard {
    /// Tells a word, unless it is being told already.
    pub(super) fn tell(self: &Rc<Self>, time: Millis, number: u32, key: String, effect: Effect) {
        let mut inner = self.inner.borrow_mut();
        if inner.telling.waiting.contains_key(&key) {
            return;
        }
        inner.telling.waiting.insert(
            key,
            Word {
                number,
                effect,
                tries: 0,
                next: Some(time),
            },
        );
        drop(inner);
        self.tell_owed(time);
    }

    /// Tells every word whose next try is due.
    pub(super) fn tell_owed(self: &Rc<Self>, time: Millis) {
        let due = self.inner.borrow().telling.due(time);
        for key in due {
            let mut inner = self.inner.borrow_mut();
            let Some(word) = inner.telling.waiting.get_mut(&key) else {
                continue;
            };
            word.next = None;
            word.tries = word.tries.saturating_add(1);
            let (number, effect) = (word.number, word.effect.clone());
            inner.telling.out = inner.telling.out.saturating_add(1);
            drop(inner);
            let shard = Rc::clone(self);
            self.platform.state.wait_until(async move {
                let told = shard
                    .tell_one(number, &effect)
                    .await
                    .unwrap_or_else(|error| Told::Again(error.to_string()));
                shard.told(number, &key, effect, told);
            });
        }
    }

    /// Wakes endpoints from which word has been out for long: one that lost its alarm would sleep for ever.
    pub(super) fn poke_endpoints(self: &Rc<Self>, time: Millis) {
        let inner = self.inner.borrow();
        let late = |run: &Run| {
            run.callback == CallbackState::Pending
                && run.owed.is_empty()
                && run.ended_at.is_some_and(|ended| time.since(ended) > MINUTE)
        };
        let waiting = inner
            .roster
            .machines()
            .filter(|machine| machine.runs().any(late));
        let endpoints: BTreeSet<EndpointId> = waiting
            .filter_map(|machine| {
                machine
                    .definition()
                    .callback
                    .as_ref()
                    .map(CallbackTarget::endpoint)
            })
            .collect();
        drop(inner);
        for endpoint in endpoints {
            let shard = Rc::clone(self);
            self.platform.state.wait_until(async move {
                if let Err(error) =
                    ask_endpoint(&shard.platform.env, &endpoint, &EndpointAsk::Tick).await
                {
                    worker::console_warn!(
                        "{{\"event\":\"tick_failed\",\"detail\":{:?}}}",
                        error.to_string()
                    );
                }
            });
        }
    }

    fn told(self: &Rc<Self>, number: u32, key: &str, effect: Effect, told: Told) {
        let mut inner = self.inner.borrow_mut();
        inner.telling.out = inner.telling.out.saturating_sub(1);
        match told {
            Told::Taken => {
                inner.telling.waiting.remove(key);
                drop(inner);
                match effect {
                    Effect::Deliver { run, target } => self.post(
                        number,
                        Event::OwedTaken {
                            run: run.id,
                            owed: Owed::Callback { target },
                        },
                    ),
                    Effect::TellDependent { dependent, run, .. } => self.post(
                        number,
                        Event::OwedTaken {
                            run,
                            owed: Owed::Dependent { job: dependent },
                        },
                    ),
                    Effect::TellUpstream { upstream, on } => {
                        self.post(number, Event::LinkTaken { job: upstream, on })
                    }
                    Effect::Dispatch(_)
                    | Effect::Abort { .. }
                    | Effect::ProjectRun { .. }
                    | Effect::ProjectJob
                    | Effect::Raise { .. } => {}
                }
            }
            Told::Again(why) => {
                if let Some(word) = inner.telling.waiting.get_mut(key) {
                    let wait = match word.tries {
                        0 | 1 => SECOND,
                        2 => 5 * SECOND,
                        3 => 30 * SECOND,
                        4.. => MINUTE,
                    };
                    word.next = Some(now().plus(wait).whole_second());
                }
                drop(inner);
                worker::console_warn!(
                    "{{\"event\":\"not_told\",\"key\":\"{key}\",\"why\":{why:?}}}"
                );
                self.arm(now());
            }
        }
    }

    async fn tell_one(&self, number: u32, effect: &Effect) -> Result<Told, HostError> {
        let Some(job) = self
            .inner
            .borrow()
            .roster
            .get(number)
            .map(|machine| machine.definition().job_id.clone())
        else {
            return Ok(Told::Again("the job is not in memory".to_owned()));
        };
        let env = &self.platform.env;
        match effect {
            Effect::Deliver { run, target } => {
                let body = callback_body(&job, run);
                let ask = EndpointAsk::Enqueue {
                    app: target.app.clone(),
                    url: target.url.clone(),
                    run: run.id.clone(),
                    job,
                    seq: run.seq,
                    body,
                    preset: target.preset,
                };
                Ok(match ask_endpoint(env, &target.endpoint(), &ask).await? {
                    EndpointReply::Refused(refusal) => Told::Again(refusal.detail),
                    EndpointReply::Done | EndpointReply::View(_) | EndpointReply::Deliveries(_) => {
                        Told::Taken
                    }
                })
            }
            Effect::TellDependent {
                dependent,
                run,
                ended,
            } => {
                let ask = ShardAsk::Upstream {
                    job: dependent.clone(),
                    upstream: job,
                    run: run.clone(),
                    ended: *ended,
                };
                self.tell_job(dependent, &ask).await
            }
            Effect::TellUpstream { upstream, on } => {
                let ask = ShardAsk::Link {
                    job: upstream.clone(),
                    dependent: job,
                    on: *on,
                };
                self.tell_job(upstream, &ask).await
            }
            Effect::Dispatch(_)
            | Effect::Abort { .. }
            | Effect::ProjectRun { .. }
            | Effect::ProjectJob
            | Effect::Raise { .. } => Ok(Told::Taken),
        }
    }

    async fn tell_job(&self, job: &JobId, ask: &ShardAsk) -> Result<Told, HostError> {
        Ok(match locate_job(&self.platform.env, job, ask).await? {
            ShardReply::Refused(refusal)
                if refusal.code == "job_not_found" || refusal.code == "job_deleted" =>
            {
                Told::Taken
            }
            ShardReply::Refused(refusal) => Told::Again(refusal.detail),
            _ => Told::Taken,
        })
    }
}

/// The callback's body: the same bytes on every attempt. Built from what no longer changes once a run
/// has ended.
fn callback_body(job: &JobId, run: &Run) -> String {
    // Every value in it has a JSON form.
    serde_json::to_string(&CallbackBody::of(job, run)).unwrap_or_default()
}
