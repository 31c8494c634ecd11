//! The world: its clock, its messages, and what happens next.

use std::collections::VecDeque;

use cronwright_core::time::{MINUTE, Millis, SECOND};

use crate::check::Witness;
use crate::d1::D1;
use crate::endpoint::EndpointObject;
use crate::faults::{Fault, Fired};
use crate::people::People;
use crate::plan::Plan;
use crate::queue::{Answer, Ask, Caller, Happening, Obj, Queue};
use crate::rng::Rng;
use crate::shard::ShardObject;
use crate::stage::Stage;
use crate::{Options, Outcome, Violation};

/// A caller waits this long for an answer.
const LIMIT_MS: i64 = 10 * SECOND;

/// After the jobs were paused, the world may take this long to come to rest.
const REST_MS: i64 = 14 * 24 * 60 * MINUTE;

/// Streams of chance, by purpose.
pub struct Chance {
    /// Messages.
    pub net: Rng,
    /// Crashes, alarms, storage.
    pub objects: Rng,
    /// Callees of jobs.
    pub callees: Rng,
    /// Receivers of callbacks.
    pub receivers: Rng,
    /// People.
    pub people: Rng,
}

/// Everything there is.
pub struct World<'a> {
    pub plan: &'a Plan,
    pub options: Options,
    /// What people, callees and receivers are told to do; else it is drawn.
    pub stage: Option<Stage<'a>>,
    /// The world's own clock: it never jumps.
    pub now: Millis,
    /// What the wall clock shows beyond it.
    pub skew: i64,
    /// A wall clock that was put back stands still until it is right.
    pub floor: Millis,
    pub queue: Queue,
    pub chance: Chance,
    pub shards: Vec<ShardObject>,
    pub endpoints: Vec<EndpointObject>,
    pub d1: D1,
    pub people: People,
    pub witness: Witness,
    /// Whether faults still happen.
    pub storm: bool,
    /// Whether the jobs have been paused.
    pub resting: bool,
    /// Whether to look if the world is at rest.
    pub look: bool,
    pub events: u64,
    pub hash: u64,
    pub fired: Fired,
    pub trace: VecDeque<String>,
}

impl<'a> World<'a> {
    /// The world of a plan, with its jobs created and its clock wound up.
    pub fn new(plan: &'a Plan, options: Options) -> Self {
        let fork = |purpose| Rng::fork(plan.seed, purpose);
        let mut world = Self {
            plan,
            options,
            stage: None,
            now: plan.start,
            skew: 0,
            floor: plan.start,
            queue: Queue::default(),
            chance: Chance {
                net: fork(1),
                objects: fork(2),
                callees: fork(3),
                receivers: fork(4),
                people: fork(5),
            },
            shards: (0..plan.shards).map(|_| ShardObject::default()).collect(),
            endpoints: Vec::new(),
            d1: D1::default(),
            people: People::default(),
            witness: Witness::new(),
            storm: false,
            resting: false,
            look: false,
            events: 0,
            hash: 0xcbf2_9ce4_8422_2325,
            fired: Fired::default(),
            trace: VecDeque::new(),
        };
        world.endpoints = EndpointObject::of(plan);
        for job in &plan.jobs {
            world.create_job(job);
        }
        world.storm = true;
        world.queue.push(plan.start.plus(MINUTE), Happening::Tick);
        if let Some(every) = plan.operator_ms {
            world.queue.push(plan.start.plus(every), Happening::Deed);
        }
        world
            .queue
            .push(plan.start.plus(plan.storm_ms), Happening::Heal);
        let rest = plan.storm_ms.saturating_add(plan.heal_ms);
        world.queue.push(plan.start.plus(rest), Happening::Rest);
        world
    }

    /// Lives it through, up to rest or to the first violation.
    pub fn live(mut self) -> Outcome {
        let rest = self.plan.storm_ms.saturating_add(self.plan.heal_ms);
        let end = self.plan.start.plus(rest).plus(REST_MS);
        while self.witness.violation.is_none() {
            let Some((at, happening)) = self.queue.pop().filter(|(at, _)| *at <= end) else {
                self.not_at_rest();
                break;
            };
            self.now = self.now.max(at);
            self.happen(happening);
            if std::mem::take(&mut self.look) && self.is_at_rest() {
                self.final_audit();
                break;
            }
        }
        Outcome {
            events: self.events,
            hash: self.hash,
            fired: self.fired,
            lived_ms: self.now.since(self.plan.start),
            violation: self.witness.violation,
            coverage: self.witness.coverage,
            trace: self.trace.into(),
        }
    }

    /// Lives through the next happening. False when there is none.
    pub fn happen_next(&mut self) -> bool {
        let next = self.queue.pop();
        let Some((at, happening)) = next else {
            return false;
        };
        self.now = self.now.max(at);
        self.happen(happening);
        self.witness.violation.is_none()
    }

    fn happen(&mut self, happening: Happening) {
        self.mark(&happening);
        match happening {
            Happening::Alarm { obj, generation } => self.alarm(obj, generation),
            Happening::Tick => self.tick(),
            Happening::Ask {
                to,
                ask,
                caller,
                sent,
            } => self.asked(to, ask, caller, sent),
            Happening::Answer {
                caller,
                to,
                ask,
                answer,
            } => self.answered(caller, to, ask, answer),
            Happening::Flush { shard, epoch } => self.flush_due(shard, epoch),
            Happening::Project { shard, epoch } => self.project_due(shard, epoch),
            Happening::Projected {
                shard,
                epoch,
                rows,
                ok,
            } => self.projected(shard, epoch, rows, ok),
            Happening::Landed {
                shard,
                epoch,
                handle,
                landing,
            } => self.landed(shard, epoch, handle, landing),
            Happening::Delivered {
                endpoint,
                epoch,
                run,
                attempt,
                landing,
            } => self.delivered(endpoint, epoch, run, attempt, landing),
            Happening::Repeated {
                endpoint,
                nonce,
                signed_at,
            } => self.repeated(endpoint, nonce, signed_at),
            Happening::Deed => self.deed(),
            Happening::Evict(obj) => self.die(obj),
            Happening::D1Back => self.d1.away = false,
            Happening::ReceiverBack(endpoint) => self.receiver_back(endpoint),
            Happening::Heal => self.heal(),
            Happening::Rest => self.rest(),
        }
    }

    /// What the wall clock shows: what objects and machines are given.
    pub fn wall(&self) -> Millis {
        self.floor.max(self.now.plus(self.skew))
    }

    /// Whether a fault happens now; it is counted if it does.
    pub fn fault(&mut self, fault: Fault) -> bool {
        let rng = match fault {
            Fault::AskLost
            | Fault::AnswerLost
            | Fault::AskTwice
            | Fault::Slow
            | Fault::TickLost => &mut self.chance.net,
            Fault::PostLost
            | Fault::PostAnswerLost
            | Fault::CalleeFails
            | Fault::CalleeHangs
            | Fault::CalleeSilent => &mut self.chance.callees,
            Fault::ReceiverFails
            | Fault::ReceiverBusy
            | Fault::ReceiverHangs
            | Fault::ReceiverBreaks
            | Fault::ReceiverGone
            | Fault::RequestRepeated => &mut self.chance.receivers,
            _ => &mut self.chance.objects,
        };
        let happens = rng.chance(self.plan.rates.of(fault)) && self.storm;
        if happens {
            self.fired.count(fault);
        }
        happens
    }

    /// How long a message takes.
    pub fn travel_ms(&mut self) -> i64 {
        if self.fault(Fault::Slow) {
            self.chance.net.span(100, 5 * SECOND)
        } else {
            self.chance.net.span(1, 30)
        }
    }

    /// Sends a question.
    pub fn send(&mut self, to: Obj, ask: Ask, caller: Caller) {
        let travel = self.travel_ms();
        let sent = self.now;
        if self.fault(Fault::AskTwice) {
            let later = self.chance.net.span(1, 50 * SECOND);
            let copy = Happening::Ask {
                to,
                ask: ask.clone(),
                caller: Caller::Nobody,
                sent,
            };
            self.queue.push(sent.plus(travel).plus(later), copy);
        }
        if self.fault(Fault::AskLost) {
            self.queue.push(
                sent.plus(LIMIT_MS),
                Happening::Answer {
                    caller,
                    to,
                    ask,
                    answer: Answer::Lost,
                },
            );
        } else {
            self.queue.push(
                sent.plus(travel),
                Happening::Ask {
                    to,
                    ask,
                    caller,
                    sent,
                },
            );
        }
    }

    fn asked(&mut self, to: Obj, ask: Ask, caller: Caller, sent: Millis) {
        let answer = match to {
            Obj::Shard(shard) => self.shard_asked(shard, &ask),
            Obj::Endpoint(endpoint) => self.endpoint_asked(endpoint, &ask),
        };
        if matches!(caller, Caller::Nobody) {
            return;
        }
        let lost = answer == Answer::Lost || self.fault(Fault::AnswerLost);
        let (at, answer) = if lost {
            (sent.plus(LIMIT_MS).max(self.now), Answer::Lost)
        } else {
            let travel = self.travel_ms();
            (self.now.plus(travel), answer)
        };
        self.queue.push(
            at,
            Happening::Answer {
                caller,
                to,
                ask,
                answer,
            },
        );
    }

    fn answered(&mut self, caller: Caller, to: Obj, ask: Ask, answer: Answer) {
        match caller {
            Caller::Nobody => {}
            Caller::Word { shard, epoch, key } => self.word_answered(shard, epoch, &key, &answer),
            Caller::Settle {
                endpoint,
                epoch,
                key,
                run,
                word,
            } => self.settle_answered(endpoint, epoch, &key, run, word, &answer),
            Caller::Outside { tries } => {
                if answer == Answer::Lost && tries < 20 {
                    self.send(
                        to,
                        ask,
                        Caller::Outside {
                            tries: tries.saturating_add(1),
                        },
                    );
                }
            }
        }
    }

    /// The minute's tick: pokes every shard, and draws what goes wrong once a minute.
    fn tick(&mut self) {
        // While nothing is due any more, ten minutes are as good as one.
        let every = if self.resting { 10 * MINUTE } else { MINUTE };
        self.look = self.resting;
        self.queue.push(self.now.plus(every), Happening::Tick);
        for shard in 0..self.plan.shards {
            if !self.fault(Fault::TickLost) {
                self.send(Obj::Shard(shard), Ask::Tick, Caller::Nobody);
            }
        }
        let minute = self.wall().0.div_euclid(MINUTE);
        if minute % 60 == 0 && !self.d1.away {
            // As the clock does: an endpoint that lost its alarm may be known to no shard.
            for endpoint in (0_u16..).take(self.endpoints.len()) {
                self.send(Obj::Endpoint(endpoint), Ask::Tick, Caller::Nobody);
            }
        }
        self.troubles();
    }

    fn troubles(&mut self) {
        let shards = (0..self.plan.shards).map(Obj::Shard);
        let endpoints = (0_u16..).map(Obj::Endpoint).take(self.endpoints.len());
        for obj in shards.chain(endpoints).collect::<Vec<_>>() {
            if self.fault(Fault::Evicted) {
                let later = self.chance.objects.span(0, MINUTE);
                self.queue.push(self.now.plus(later), Happening::Evict(obj));
            }
        }
        if !self.d1.away && self.fault(Fault::D1Away) {
            self.d1.away = true;
            let back = self.chance.objects.span(SECOND, 60 * MINUTE);
            self.queue.push(self.now.plus(back), Happening::D1Back);
        }
        if self.fault(Fault::ClockJumps) {
            self.floor = self.wall();
            let jump = self.chance.objects.span(-60 * MINUTE, 60 * MINUTE);
            self.skew = self.skew.saturating_add(jump);
            self.witness.clock_jumped(self.now);
        }
        self.receiver_troubles();
    }

    fn heal(&mut self) {
        self.storm = false;
        self.d1.away = false;
        self.floor = self.wall();
        self.skew = self.floor.since(self.now);
        self.resume_all();
        self.witness.healed(self.wall());
        for endpoint in 0..self.endpoints.len() {
            self.receiver_back(u16::try_from(endpoint).unwrap_or(u16::MAX));
        }
    }

    /// Notes what happens, for the hash and for the trace.
    fn mark(&mut self, happening: &Happening) {
        let kind = happening.kind();
        for part in [u64::try_from(self.now.0).unwrap_or(0), kind, self.events] {
            self.hash = (self.hash ^ part)
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(23);
        }
        if self.options.trace_lines > 0 {
            self.say(|| happening.line());
        }
    }

    /// A line of the trace, made only when somebody wants it.
    pub fn say(&mut self, line: impl FnOnce() -> String) {
        if self.options.trace_lines == 0 {
            return;
        }
        if self.trace.len() >= self.options.trace_lines {
            self.trace.pop_front();
        }
        let at = self.now.since(self.plan.start);
        self.trace
            .push_back(format!("{:>10}.{:03} {}", at / SECOND, at % SECOND, line()));
    }

    /// Something that must hold does not.
    pub fn violated(&mut self, invariant: &'static str, what: String) {
        let at = self.wall();
        self.witness.violation.get_or_insert(Violation {
            invariant,
            at,
            what,
        });
    }
}
