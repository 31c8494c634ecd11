//! The object that hosts one callback endpoint.
//!
//! The same order as everywhere: step, commit, perform. Posts go out through the executor and come back
//! as events; word to the shards is told until it is taken.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use cronwright_core::endpoint::{
    AttemptResult, Effect, EndpointMachine, Event, NewDelivery, Reject, StateWord,
};
use cronwright_core::ids::{AppId, RunId};
use cronwright_core::machine::{Group, Keyed, Machine};
use cronwright_core::time::SECOND;
use cronwright_protocol::wire::{Post, PostBatch, PostKind, Posted};
use futures_util::StreamExt;
use worker::{Env, Response, State};

use super::client::ask_shard;
use super::executor;
use super::message::{EndpointAsk, EndpointReply, Refusal, ShardAsk, ShardReply};
use super::object::{Platform, now};
use super::records::{StorageError, single};

/// While calls are out, the object is woken at least this often.
const HEARTBEAT_MS: i64 = 30 * SECOND;

type Turns = Group<(), cronwright_core::endpoint::Change, Effect>;

/// A callback endpoint.
pub struct Endpoint {
    platform: Platform,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    opened: bool,
    machine: Option<EndpointMachine>,
    calls: u32,
    telling: BTreeSet<String>,
    projected: Option<String>,
}

impl Endpoint {
    /// An endpoint around what the runtime gives.
    pub fn new(state: State, env: Env) -> Rc<Self> {
        Rc::new(Self {
            platform: Platform::new(state, env),
            inner: RefCell::new(Inner::default()),
        })
    }

    /// Answers a question. Never an error: what fails is a refusal or a 500 with a sentence.
    pub async fn fetch(self: &Rc<Self>, name: &str, body: &str) -> worker::Result<Response> {
        let ask: EndpointAsk = match serde_json::from_str(body) {
            Ok(ask) => ask,
            Err(error) => return Response::error(format!("unreadable question: {error}"), 400),
        };
        if matches!(ask, EndpointAsk::Tick) && !self.platform.alarm_is_set().await {
            worker::console_error!(
                "{{\"event\":\"raise\",\"cause\":\"alarm_lost\",\"object\":\"{name}\"}}"
            );
        }
        match self.open(Some(name)).and_then(|()| self.answer(ask)) {
            Ok(reply) => Response::from_json(&reply),
            Err(error) => {
                self.reload();
                Response::error(error.to_string(), 500)
            }
        }
    }

    /// Time has come. Never fails.
    pub fn alarm(self: &Rc<Self>) {
        self.platform.alarm_fired();
        let done = self.open(None).and_then(|()| {
            let time = now();
            let due = self
                .inner
                .borrow()
                .machine
                .as_ref()
                .and_then(Machine::next_wakeup)
                .is_some_and(|wakeup| wakeup.at <= time);
            if due {
                self.platform.wake_by(time.plus(HEARTBEAT_MS));
                let _ = self.step(Event::Wake)?;
            }
            Ok(())
        });
        if let Err(error) = done {
            worker::console_error!(
                "{{\"event\":\"storage_failed\",\"in\":\"endpoint\",\"detail\":{:?}}}",
                error.to_string()
            );
            self.reload();
        }
        self.arm();
    }

    /// Opens storage and takes up what a restart interrupted.
    fn open(self: &Rc<Self>, called: Option<&str>) -> Result<(), StorageError> {
        if self.inner.borrow().opened {
            return Ok(());
        }
        self.platform.open(called)?;
        single::open(&self.platform.sql)?;
        let machine = single::load(&self.platform.sql)?;
        let lost = machine
            .as_ref()
            .map(EndpointMachine::in_flight)
            .unwrap_or_default();
        let owed = machine
            .as_ref()
            .map(Machine::outstanding)
            .unwrap_or_default();
        let mut inner = self.inner.borrow_mut();
        inner.machine = machine;
        inner.opened = true;
        drop(inner);
        for (run, attempt) in lost {
            // Refused only if it is no longer in flight, which is as well.
            let _ = self.step(Event::AttemptLost { run, attempt })?;
        }
        for keyed in owed {
            self.perform(keyed);
        }
        self.arm();
        Ok(())
    }

    fn reload(&self) {
        *self.inner.borrow_mut() = Inner::default();
        self.platform.wake_by(now().plus(SECOND));
    }

    fn arm(&self) {
        let time = now();
        let inner = self.inner.borrow();
        let timer = inner
            .machine
            .as_ref()
            .and_then(Machine::next_wakeup)
            .map(|wakeup| wakeup.at);
        let beat = (inner.calls > 0).then(|| time.plus(HEARTBEAT_MS));
        drop(inner);
        if let Some(at) = [timer, beat].into_iter().flatten().min() {
            self.platform.wake_by(at);
        }
    }

    fn answer(self: &Rc<Self>, ask: EndpointAsk) -> Result<EndpointReply, StorageError> {
        match ask {
            EndpointAsk::Enqueue {
                app,
                url,
                run,
                job,
                seq,
                body,
                preset,
            } => {
                self.make(app, url)?;
                self.reply(Event::Enqueue(NewDelivery {
                    run,
                    job,
                    seq,
                    body,
                    preset,
                }))
            }
            EndpointAsk::View => Ok(self.with(|machine| {
                EndpointReply::View(serde_json::to_value(machine.view()).unwrap_or_default())
            })),
            EndpointAsk::Deliveries { state, limit } => {
                let state = state.as_deref().and_then(StateWord::parse);
                let limit = usize::try_from(limit.clamp(1, 200)).unwrap_or(200);
                Ok(self.with(|machine| {
                    EndpointReply::Deliveries(
                        machine
                            .deliveries(state, None, limit)
                            .iter()
                            .filter_map(|view| serde_json::to_value(view).ok())
                            .collect(),
                    )
                }))
            }
            EndpointAsk::Replay { run } => self.reply(Event::Replay { run }),
            EndpointAsk::ReplayDead => self.reply(Event::ReplayDead),
            EndpointAsk::CloseBreaker => self.reply(Event::CloseBreaker),
            EndpointAsk::Rotate { key_versions } => self.reply(Event::Rotate { key_versions }),
            EndpointAsk::Tick => self.reply(Event::Wake),
            EndpointAsk::Seam { fault } => Ok(self.seam(&fault)),
        }
    }

    fn make(&self, app: AppId, url: String) -> Result<(), StorageError> {
        if self.inner.borrow().machine.is_some() {
            return Ok(());
        }
        // The executor knows the live versions better; this is what it falls back on.
        let (machine, turn) = EndpointMachine::create(now(), app, url, vec![1]);
        let mut turns = Turns::default();
        turns.add((), turn);
        turns.commit(|changes| single::commit(&self.platform.sql, changes))?;
        self.inner.borrow_mut().machine = Some(machine);
        Ok(())
    }

    fn with(&self, show: impl FnOnce(&EndpointMachine) -> EndpointReply) -> EndpointReply {
        self.inner
            .borrow()
            .machine
            .as_ref()
            .map_or_else(nothing_here, show)
    }

    fn reply(self: &Rc<Self>, event: Event) -> Result<EndpointReply, StorageError> {
        if self.inner.borrow().machine.is_none() {
            return Ok(nothing_here());
        }
        let stepped = self.step(event)?;
        self.arm();
        Ok(match stepped {
            Ok(()) => EndpointReply::Done,
            Err(reject) => {
                let code = match &reject {
                    Reject::UnknownDelivery { .. } => "run_not_found",
                    Reject::NotReplayable { .. } | Reject::StaleAttempt { .. } => {
                        "callback_not_replayable"
                    }
                    Reject::BodyTooLarge { .. } | Reject::BadKeyVersions { .. } => {
                        "validation_failed"
                    }
                    Reject::QueueFull { .. } | Reject::QueueBytesFull { .. } => "queue_full",
                };
                refused(code, reject.to_string())
            }
        })
    }

    fn step(self: &Rc<Self>, event: Event) -> Result<Result<(), Reject>, StorageError> {
        let time = now();
        let turn = {
            let mut inner = self.inner.borrow_mut();
            let Some(machine) = inner.machine.as_mut() else {
                return Ok(Ok(()));
            };
            match machine.step(time, event) {
                Ok(turn) => turn,
                Err(reject) => return Ok(Err(reject)),
            }
        };
        let mut turns = Turns::default();
        turns.add((), turn);
        let effects = turns.commit(|changes| single::commit(&self.platform.sql, changes))?;
        for ((), keyed) in effects {
            self.perform(keyed);
        }
        self.project();
        Ok(Ok(()))
    }

    fn perform(self: &Rc<Self>, keyed: Keyed<Effect>) {
        match keyed.effect {
            Effect::Post {
                run,
                attempt,
                url,
                app,
                key_versions,
                body,
                timeout_ms,
            } => {
                let post = Post {
                    id: u64::from(attempt),
                    kind: PostKind::Callback,
                    run: run.to_string(),
                    attempt,
                    url,
                    method: "POST".to_owned(),
                    body: Some(body),
                    timeout_ms,
                    app: Some(app.to_string()),
                    key_versions,
                    ..Post::default()
                };
                let endpoint = Rc::clone(self);
                self.inner.borrow_mut().calls += 1;
                self.platform
                    .state
                    .wait_until(async move { endpoint.call(run, attempt, post).await });
            }
            Effect::Settle {
                run,
                word,
                outcome,
                attempts,
                code,
                ..
            } => {
                if self.inner.borrow_mut().telling.insert(keyed.key.clone()) {
                    let ask = ShardAsk::CallbackSettled {
                        run: run.clone(),
                        word,
                        outcome,
                        attempts,
                        code,
                    };
                    let endpoint = Rc::clone(self);
                    self.platform.state.wait_until(async move {
                        endpoint.settle(keyed.key, run, word, ask).await
                    });
                }
            }
        }
    }

    async fn call(self: Rc<Self>, run: RunId, attempt: u32, post: Post) {
        let batch = PostBatch { posts: vec![post] };
        let posted = match executor::post(&self.platform.env, &batch, None).await {
            Ok(mut answers) => answers
                .next()
                .await
                .unwrap_or_else(|| Err("the executor's answer ended early".to_owned())),
            Err(error) => Err(error),
        };
        self.inner.borrow_mut().calls -= 1;
        let event = match posted {
            Ok(posted) => Event::Attempted {
                run,
                attempt,
                result: result_of(posted),
            },
            Err(why) => {
                worker::console_warn!(
                    "{{\"event\":\"callback_call_broke\",\"run\":\"{run}\",\"why\":{why:?}}}"
                );
                Event::AttemptLost { run, attempt }
            }
        };
        self.take(event);
    }

    async fn settle(self: Rc<Self>, key: String, run: RunId, word: u32, ask: ShardAsk) {
        let told = ask_shard(&self.platform.env, run.job.shard, &ask).await;
        self.inner.borrow_mut().telling.remove(&key);
        // Not taken: the machine's own timer tells it again.
        if matches!(told, Ok(ShardReply::Done)) {
            self.take(Event::SettleAcked { run, word });
        }
    }

    /// Takes an event in that nobody waits for.
    fn take(self: &Rc<Self>, event: Event) {
        // A stale report is refused, and that is the end of it.
        if let Err(error) = self.step(event) {
            worker::console_error!(
                "{{\"event\":\"storage_failed\",\"in\":\"endpoint\",\"detail\":{:?}}}",
                error.to_string()
            );
            self.reload();
        }
        self.arm();
    }

    /// Writes the endpoint's row to D1 when what lists show has changed.
    fn project(self: &Rc<Self>) {
        let mut inner = self.inner.borrow_mut();
        let Some(machine) = &inner.machine else {
            return;
        };
        let view = machine.view();
        // Counters alone are not worth a row.
        let shown = format!("{}/{}", view.breaker, view.dead);
        if inner.projected.as_ref() == Some(&shown) {
            return;
        }
        inner.projected = Some(shown);
        drop(inner);
        let endpoint = Rc::clone(self);
        self.platform.state.wait_until(async move {
            if let Err(why) =
                crate::deliver::projection::write_endpoint(&endpoint.platform.env, &view, now())
                    .await
            {
                worker::console_warn!("{{\"event\":\"d1_away\",\"why\":{why:?}}}");
                endpoint.inner.borrow_mut().projected = None;
            }
        });
    }

    fn seam(&self, fault: &str) -> EndpointReply {
        if self.platform.seams_open() && fault == "panic" {
            planted()
        } else {
            refused(
                "seams_closed",
                "faults can be planted only where TEST_SEAMS is set",
            )
        }
    }
}

#[expect(
    clippy::panic,
    reason = "a test asks for it; refused unless the variable TEST_SEAMS is set"
)]
fn planted() -> EndpointReply {
    panic!("planted")
}

fn result_of(posted: Posted) -> AttemptResult {
    AttemptResult {
        status: posted.status,
        fault: posted.fault,
        retry_after_ms: posted.retry_after_ms,
        ms: posted.ms,
        excerpt: posted.body.or(posted.detail),
    }
}

fn nothing_here() -> EndpointReply {
    refused(
        "endpoint_not_found",
        "no callback was ever sent to this endpoint",
    )
}

fn refused(code: &str, detail: impl Into<String>) -> EndpointReply {
    EndpointReply::Refused(Refusal {
        code: code.to_owned(),
        detail: detail.into(),
        run: None,
        revision: None,
    })
}
