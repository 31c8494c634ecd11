//! Words owed to other objects: told until they are taken.

use std::collections::BTreeSet;

use cronwright_core::endpoint::NewDelivery;
use cronwright_core::ids::{EndpointId, JobId};
use cronwright_core::job::run::{Owed, Run};
use cronwright_core::job::{Effect, Event};
use cronwright_core::outcome::CallbackState;
use cronwright_core::time::{MINUTE, Millis, SECOND};

use crate::Mutation;
use crate::queue::{Answer, Ask, Caller, Obj};
use crate::world::World;

/// A word that waits to be told, or is being told.
#[derive(Clone, Debug)]
pub struct Word {
    pub number: u32,
    pub effect: Effect,
    pub tries: u32,
    /// None while it is being told.
    pub next: Option<Millis>,
}

impl World<'_> {
    /// Tells a word, unless it is being told already.
    pub fn tell(&mut self, shard: u16, number: u32, key: String, effect: Effect) {
        let wall = self.wall();
        let Some(memory) = self.memory(shard) else {
            return;
        };
        if let Some(known) = memory.telling.get(&key) {
            let other = known.number;
            if other != number {
                self.violated(
                    "I5",
                    format!("jobs {other} and {number} have words of one key: {key}"),
                );
            }
            return;
        }
        let word = Word {
            number,
            effect: effect.clone(),
            tries: 0,
            next: Some(wall),
        };
        memory.telling.insert(key, word);
        self.tell_owed(shard);
        if self.options.mutation == Some(Mutation::OutboxDeletedEarly)
            && let Some(event) = taken(&effect)
        {
            self.post(shard, number, event);
        }
    }

    /// Tells every word whose next try is due.
    pub fn tell_owed(&mut self, shard: u16) {
        let wall = self.wall();
        let epoch = self.epoch(Obj::Shard(shard));
        let Some(memory) = self.memory(shard) else {
            return;
        };
        let mut leaving = Vec::new();
        for (key, word) in &mut memory.telling {
            if word.next.is_some_and(|next| next <= wall) {
                word.next = None;
                word.tries = word.tries.saturating_add(1);
                leaving.push((key.clone(), word.number, word.effect.clone()));
            }
        }
        for (key, number, effect) in leaving {
            let Some((to, ask)) = self.question(number, &effect) else {
                continue;
            };
            self.send(to, ask, Caller::Word { shard, epoch, key });
        }
    }

    fn question(&self, number: u32, effect: &Effect) -> Option<(Obj, Ask)> {
        let job = self.job_id(number)?;
        match effect {
            Effect::Deliver { run, target } => {
                let endpoint = self.endpoint_of(&target.endpoint())?;
                let new = NewDelivery {
                    run: run.id.clone(),
                    job,
                    seq: run.seq,
                    body: body_of(run),
                    preset: target.preset,
                };
                let event = cronwright_core::endpoint::Event::Enqueue(new);
                Some((Obj::Endpoint(endpoint), Ask::Endpoint(Box::new(event))))
            }
            Effect::TellDependent {
                dependent,
                run,
                ended,
            } => {
                let event = Event::Upstream {
                    job,
                    run: run.clone(),
                    ended: *ended,
                };
                self.to_job(dependent, event)
            }
            Effect::TellUpstream { upstream, on } => self.to_job(
                upstream,
                Event::Link {
                    dependent: job,
                    on: *on,
                },
            ),
            Effect::Dispatch(_)
            | Effect::Abort { .. }
            | Effect::ProjectRun { .. }
            | Effect::ProjectJob
            | Effect::Raise { .. } => None,
        }
    }

    fn to_job(&self, job: &JobId, event: Event) -> Option<(Obj, Ask)> {
        let to = self
            .plan
            .jobs
            .iter()
            .find(|other| other.definition.job_id == *job)?;
        Some((
            Obj::Shard(to.shard),
            Ask::Job {
                number: to.index,
                event: Box::new(event),
            },
        ))
    }

    fn job_id(&self, number: u32) -> Option<JobId> {
        let job = self.plan.jobs.iter().find(|job| job.index == number)?;
        Some(job.definition.job_id.clone())
    }

    pub fn endpoint_of(&self, id: &EndpointId) -> Option<u16> {
        let found = self
            .endpoints
            .iter()
            .position(|endpoint| endpoint.id == *id)?;
        u16::try_from(found).ok()
    }

    pub fn word_answered(&mut self, shard: u16, epoch: u32, key: &str, answer: &Answer) {
        if self.epoch(Obj::Shard(shard)) != epoch {
            return;
        }
        let wall = self.wall();
        let Some(memory) = self.memory(shard) else {
            return;
        };
        let Some(word) = memory.telling.get_mut(key) else {
            return;
        };
        let gone = matches!(
            (&word.effect, answer),
            (
                Effect::TellDependent { .. } | Effect::TellUpstream { .. },
                Answer::Refused(_)
            )
        );
        if *answer == Answer::Taken || gone {
            let (number, effect) = (word.number, word.effect.clone());
            memory.telling.remove(key);
            if let Some(event) = taken(&effect) {
                self.post(shard, number, event);
            }
            return;
        }
        let wait = match word.tries {
            0 | 1 => SECOND,
            2 => 5 * SECOND,
            3 => 30 * SECOND,
            4.. => MINUTE,
        };
        word.next = Some(wall.plus(wait).whole_second());
        self.arm_shard(shard);
    }

    /// Wakes endpoints from which word has been out for long: one that lost its alarm would sleep for ever.
    pub fn poke_endpoints(&mut self, shard: u16) {
        let wall = self.wall();
        let late = |run: &Run| {
            run.callback == CallbackState::Pending
                && run.owed.is_empty()
                && run.ended_at.is_some_and(|ended| wall.since(ended) > MINUTE)
        };
        let Some(memory) = self.memory(shard) else {
            return;
        };
        let endpoints: BTreeSet<EndpointId> = memory
            .machines
            .values()
            .filter(|machine| machine.runs().any(late))
            .filter_map(|machine| machine.definition().callback.as_ref())
            .map(cronwright_core::job::def::CallbackTarget::endpoint)
            .collect();
        for id in endpoints {
            if let Some(endpoint) = self.endpoint_of(&id) {
                self.send(Obj::Endpoint(endpoint), Ask::Tick, Caller::Nobody);
            }
        }
    }
}

/// The event that a taken word comes back as.
fn taken(effect: &Effect) -> Option<Event> {
    match effect {
        Effect::Deliver { run, target } => Some(Event::OwedTaken {
            run: run.id.clone(),
            owed: Owed::Callback {
                target: target.clone(),
            },
        }),
        Effect::TellDependent { dependent, run, .. } => Some(Event::OwedTaken {
            run: run.clone(),
            owed: Owed::Dependent {
                job: dependent.clone(),
            },
        }),
        Effect::TellUpstream { upstream, on } => Some(Event::LinkTaken {
            job: upstream.clone(),
            on: *on,
        }),
        Effect::Dispatch(_)
        | Effect::Abort { .. }
        | Effect::ProjectRun { .. }
        | Effect::ProjectJob
        | Effect::Raise { .. } => None,
    }
}

/// What a callback says: built from what no longer changes once a run has ended.
fn body_of(run: &Run) -> String {
    format!(
        "{}|{}|{}|{}|{:?}|{:?}",
        run.id,
        run.seq,
        run.state.as_str(),
        run.attempts,
        run.ended_at,
        run.result.as_ref().map(|result| result.status)
    )
}
