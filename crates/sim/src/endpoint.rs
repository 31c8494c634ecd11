//! The sim host of a callback endpoint: what `src/host/endpoint.rs` does.

use std::collections::{BTreeMap, BTreeSet};

use cronwright_core::endpoint::{
    AttemptResult, Change, Config, Delivery, Effect, EndpointMachine, Event,
};
use cronwright_core::ids::{AppId, EndpointId, RunId};
use cronwright_core::job;
use cronwright_core::machine::{Group, Keyed, Machine};
use cronwright_core::time::MINUTE;

use crate::faults::Fault;
use crate::object::{Died, Life};
use crate::plan::Plan;
use crate::queue::{Answer, Ask, Caller, Landing, Obj};
use crate::receiver::Receiver;
use crate::rng::Rng;
use crate::shard::HEARTBEAT_MS;
use crate::world::World;

/// What survives.
#[derive(Clone, Debug, Default)]
pub struct EndpointDisk {
    pub config: Option<Config>,
    pub deliveries: BTreeMap<RunId, Delivery>,
}

/// What a crash takes.
#[derive(Default)]
pub struct EndpointMemory {
    pub machine: Option<EndpointMachine>,
    pub calls: u32,
    pub telling: BTreeSet<String>,
}

/// An endpoint, and the receiver that it calls.
pub struct EndpointObject {
    pub id: EndpointId,
    pub app: AppId,
    pub url: String,
    pub life: Life,
    pub disk: EndpointDisk,
    pub memory: Option<EndpointMemory>,
    pub receiver: Receiver,
}

impl EndpointObject {
    /// The endpoints that a plan's jobs name.
    pub fn of(plan: &Plan) -> Vec<Self> {
        let mut endpoints: Vec<Self> = Vec::new();
        let mut rng = Rng::fork(plan.seed, 6);
        for target in plan
            .jobs
            .iter()
            .filter_map(|job| job.definition.callback.as_ref())
        {
            let id = target.endpoint();
            if endpoints.iter().all(|endpoint| endpoint.id != id) {
                endpoints.push(Self {
                    id,
                    app: target.app.clone(),
                    url: target.url.clone(),
                    life: Life::default(),
                    disk: EndpointDisk::default(),
                    memory: None,
                    receiver: Receiver::behind(rng.span(-4 * MINUTE, 4 * MINUTE)),
                });
            }
        }
        endpoints
    }
}

impl World<'_> {
    pub fn endpoint(&mut self, endpoint: u16) -> Option<&mut EndpointObject> {
        self.endpoints.get_mut(usize::from(endpoint))
    }

    /// A question to an endpoint.
    pub fn endpoint_asked(&mut self, endpoint: u16, ask: &Ask) -> Answer {
        let obj = Obj::Endpoint(endpoint);
        let event = match ask {
            Ask::Tick => Event::Wake,
            Ask::Endpoint(event) => Event::clone(event),
            Ask::Job { .. } => return Answer::Refused("not a shard".to_owned()),
        };
        if matches!(ask, Ask::Tick) {
            self.look_for_alarm(obj);
        }
        let done = self.open_endpoint(endpoint).and_then(|()| {
            self.make(endpoint, &event)?;
            self.endpoint_step(endpoint, event)
        });
        match done {
            Ok(answer) => {
                self.arm_endpoint(endpoint);
                answer
            }
            Err(died) => {
                self.handled(obj, Err(died));
                Answer::Lost
            }
        }
    }

    /// The first delivery makes the endpoint.
    fn make(&mut self, endpoint: u16, event: &Event) -> Result<(), Died> {
        let wall = self.wall();
        let Some(object) = self.endpoint(endpoint) else {
            return Ok(());
        };
        let there = object
            .memory
            .as_ref()
            .is_none_or(|memory| memory.machine.is_some());
        if there || !matches!(event, Event::Enqueue(_)) {
            return Ok(());
        }
        let (machine, turn) =
            EndpointMachine::create(wall, object.app.clone(), object.url.clone(), vec![1]);
        if let Some(memory) = object.memory.as_mut() {
            memory.machine = Some(machine);
        }
        let mut group = Group::default();
        group.add((), turn);
        self.commit_endpoint(endpoint, group)
    }

    fn open_endpoint(&mut self, endpoint: u16) -> Result<(), Died> {
        let Some(object) = self.endpoint(endpoint) else {
            return Ok(());
        };
        if object.memory.is_some() {
            return Ok(());
        }
        let machine = object.disk.config.clone().map(|config| {
            EndpointMachine::restore(config, object.disk.deliveries.values().cloned().collect())
        });
        let lost = machine
            .as_ref()
            .map(EndpointMachine::in_flight)
            .unwrap_or_default();
        let owed = machine
            .as_ref()
            .map(Machine::outstanding)
            .unwrap_or_default();
        object.memory = Some(EndpointMemory {
            machine,
            ..EndpointMemory::default()
        });
        for (run, attempt) in lost {
            self.endpoint_step(endpoint, Event::AttemptLost { run, attempt })?;
        }
        for keyed in owed {
            self.endpoint_perform(endpoint, keyed);
        }
        self.arm_endpoint(endpoint);
        Ok(())
    }

    pub fn endpoint_alarm(&mut self, endpoint: u16) -> Result<(), Died> {
        self.open_endpoint(endpoint)?;
        let wall = self.wall();
        let due = self.endpoint_due(endpoint).is_some_and(|at| at <= wall);
        if due {
            self.wake_by(Obj::Endpoint(endpoint), wall.plus(HEARTBEAT_MS));
            self.endpoint_step(endpoint, Event::Wake)?;
        }
        self.arm_endpoint(endpoint);
        Ok(())
    }

    fn endpoint_due(&self, endpoint: u16) -> Option<cronwright_core::time::Millis> {
        let object = self.endpoints.get(usize::from(endpoint))?;
        let machine = object.memory.as_ref()?.machine.as_ref()?;
        machine.next_wakeup().map(|wakeup| wakeup.at)
    }

    pub fn arm_endpoint(&mut self, endpoint: u16) {
        let wall = self.wall();
        let object = self.endpoints.get(usize::from(endpoint));
        let calls = object
            .and_then(|object| object.memory.as_ref())
            .map_or(0, |memory| memory.calls);
        let beat = (calls > 0).then(|| wall.plus(HEARTBEAT_MS));
        if let Some(at) = [self.endpoint_due(endpoint), beat]
            .into_iter()
            .flatten()
            .min()
        {
            self.wake_by(Obj::Endpoint(endpoint), at);
        }
    }

    /// Step, commit, perform.
    pub fn endpoint_step(&mut self, endpoint: u16, event: Event) -> Result<Answer, Died> {
        let wall = self.wall();
        self.events = self.events.saturating_add(1);
        let Some(object) = self.endpoints.get_mut(usize::from(endpoint)) else {
            return Ok(Answer::Taken);
        };
        let Some(machine) = object
            .memory
            .as_mut()
            .and_then(|memory| memory.machine.as_mut())
        else {
            return Ok(Answer::Refused("no callback was ever sent here".to_owned()));
        };
        match machine.step(wall, event) {
            Ok(turn) => {
                let mut group = Group::default();
                group.add((), turn);
                self.commit_endpoint(endpoint, group)?;
                Ok(Answer::Taken)
            }
            Err(reject) => Ok(Answer::Refused(reject.to_string())),
        }
    }

    fn commit_endpoint(
        &mut self,
        endpoint: u16,
        group: Group<(), Change, Effect>,
    ) -> Result<(), Died> {
        if group.is_empty() {
            return Ok(());
        }
        self.commit_point(Fault::CrashBeforeCommit)?;
        if self.fault(Fault::StorageFails) {
            return Err(Died::Storage);
        }
        let Some(object) = self.endpoints.get_mut(usize::from(endpoint)) else {
            return Ok(());
        };
        let (disk, coverage) = (&mut object.disk, &mut self.witness.coverage);
        let effects = group.commit(|changes| {
            for ((), change) in changes {
                match change {
                    Change::PutConfig(config) => {
                        coverage.breaker(disk.config.as_ref(), &config);
                        disk.config = Some(config);
                    }
                    Change::PutDelivery(delivery) => {
                        coverage.delivery(disk.deliveries.get(&delivery.run), &delivery);
                        disk.deliveries.insert(delivery.run.clone(), delivery);
                    }
                    Change::DropDelivery(run) => drop(disk.deliveries.remove(&run)),
                }
            }
            Ok::<(), Died>(())
        })?;
        self.commit_point(Fault::CrashAfterCommit)?;
        for ((), keyed) in effects {
            self.endpoint_perform(endpoint, keyed);
        }
        Ok(())
    }

    fn endpoint_perform(&mut self, endpoint: u16, keyed: Keyed<Effect>) {
        let epoch = self.epoch(Obj::Endpoint(endpoint));
        let Some(memory) = self
            .endpoint(endpoint)
            .and_then(|object| object.memory.as_mut())
        else {
            return;
        };
        match keyed.effect {
            Effect::Post {
                run,
                attempt,
                body,
                timeout_ms,
                ..
            } => {
                memory.calls = memory.calls.saturating_add(1);
                self.post_callback(endpoint, epoch, run, attempt, body, timeout_ms);
            }
            Effect::Settle {
                run,
                word,
                outcome,
                code,
                ..
            } => {
                if memory.telling.insert(keyed.key.clone()) {
                    let number = run.job.number;
                    let event = job::Event::CallbackSettled {
                        run: run.clone(),
                        word,
                        outcome,
                        why: code,
                    };
                    let ask = Ask::Job {
                        number,
                        event: Box::new(event),
                    };
                    let caller = Caller::Settle {
                        endpoint,
                        epoch,
                        key: keyed.key,
                        run: run.clone(),
                        word,
                    };
                    self.send(Obj::Shard(run.job.shard), ask, caller);
                }
            }
        }
    }

    pub fn settle_answered(
        &mut self,
        endpoint: u16,
        epoch: u32,
        key: &str,
        run: RunId,
        word: u32,
        answer: &Answer,
    ) {
        if self.epoch(Obj::Endpoint(endpoint)) != epoch {
            return;
        }
        if let Some(memory) = self
            .endpoint(endpoint)
            .and_then(|object| object.memory.as_mut())
        {
            memory.telling.remove(key);
        }
        // Not taken: the machine's own timer tells it again.
        if *answer == Answer::Taken {
            self.endpoint_take(endpoint, Event::SettleAcked { run, word });
        }
    }

    /// A callback's post is back.
    pub fn delivered(
        &mut self,
        endpoint: u16,
        epoch: u32,
        run: RunId,
        attempt: u32,
        landing: Landing,
    ) {
        if self.epoch(Obj::Endpoint(endpoint)) != epoch {
            return;
        }
        if let Some(memory) = self
            .endpoint(endpoint)
            .and_then(|object| object.memory.as_mut())
        {
            memory.calls = memory.calls.saturating_sub(1);
        }
        let event = match landing {
            Landing::Broke => Event::AttemptLost { run, attempt },
            Landing::Posted(result) => {
                self.rerun_job(&run, &result);
                Event::Attempted {
                    run,
                    attempt,
                    result,
                }
            }
        };
        self.endpoint_take(endpoint, event);
    }

    /// The planned bug of a callback that failed and runs its job again.
    fn rerun_job(&mut self, run: &RunId, result: &AttemptResult) {
        let failed = !result
            .status
            .is_some_and(|status| (200..300).contains(&status));
        if failed && self.options.mutation == Some(crate::Mutation::CallbackRerunsJob) {
            let event = job::Event::RunNow {
                key: format!("callback of {run}"),
                params: None,
                overlap: None,
                by: "callback".to_owned(),
            };
            let ask = Ask::Job {
                number: run.job.number,
                event: Box::new(event),
            };
            self.send(Obj::Shard(run.job.shard), ask, Caller::Nobody);
        }
    }

    fn endpoint_take(&mut self, endpoint: u16, event: Event) {
        let done = self.endpoint_step(endpoint, event).map(drop);
        self.handled(Obj::Endpoint(endpoint), done);
        self.arm_endpoint(endpoint);
    }
}
