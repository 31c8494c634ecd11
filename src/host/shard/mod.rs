//! The object that hosts the job machines of many jobs.
//!
//! Everything that happens arrives as an event in the inbox or as a question. A flush steps the
//! machines, commits all their turns together, and only then performs the effects. Nothing here waits
//! for the network: calls run beside it and come back as events.

mod asks;
mod asks_runs;
mod flights;
mod fly;
mod project;
mod recover;
mod roster;
mod tell;
mod turns;
mod views;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use cronwright_core::ids::{JobRef, RunId};
use cronwright_core::job::{Effect, Event};
use cronwright_core::machine::Group;
use cronwright_core::time::{MINUTE, Millis, SECOND};
use futures_channel::oneshot;
use worker::{AbortController, Delay, Env, Response, State};

use super::message::{Refusal, ShardAsk, ShardReply};
use super::object::{Platform, now};
use super::records::wheel::Wheel;
use super::records::{StorageError, jobs};
use flights::Flights;
use project::Projection;
use roster::Roster;
use tell::Telling;

/// Results that arrive within this time are committed together.
const COMMIT_EVERY_MS: i64 = 25;

/// While calls are out, the object is woken at least this often: without a timer it would be put to
/// sleep under them.
const HEARTBEAT_MS: i64 = 30 * SECOND;

/// Lists of the next hour are read this long before it begins.
const PRELOAD_MS: i64 = 3 * SECOND;

/// Turns of jobs, to be committed together.
pub type JobGroup = Group<u32, cronwright_core::job::Change, Effect>;

/// A job shard.
pub struct Shard {
    platform: Platform,
    inner: RefCell<Inner>,
}

/// What a shard has in memory. All of it can be rebuilt from storage.
struct Inner {
    /// Which shard this is, once it is known.
    shard: Option<u16>,
    /// Whether memory stands for storage. Until it does again after a failure, nothing is stepped or sent.
    opened: bool,
    roster: Roster,
    wheel: Wheel,
    flights: Flights,
    /// Which calls can be broken off.
    controllers: BTreeMap<u64, AbortController>,
    inbox: Vec<(u32, Event)>,
    flush_planned: bool,
    last_flush: Millis,
    /// Whether the record of what has left is in storage, and what it says.
    marker: bool,
    telling: Telling,
    projection: Projection,
    waiters: Vec<(RunId, oneshot::Sender<()>)>,
    counters: BTreeMap<&'static str, f64>,
}

impl Shard {
    /// A shard around what the runtime gives.
    pub fn new(state: State, env: Env) -> Rc<Self> {
        Rc::new(Self {
            platform: Platform::new(state, env),
            inner: RefCell::new(Inner {
                shard: None,
                opened: false,
                roster: Roster::default(),
                wheel: Wheel::default(),
                flights: Flights::default(),
                controllers: BTreeMap::new(),
                inbox: Vec::new(),
                flush_planned: false,
                last_flush: Millis::ZERO,
                marker: false,
                telling: Telling::default(),
                projection: Projection::default(),
                waiters: Vec::new(),
                counters: BTreeMap::new(),
            }),
        })
    }

    /// Answers a question. Never an error: what fails is a refusal or a 500 with a sentence.
    pub async fn fetch(self: &Rc<Self>, name: &str, body: &str) -> worker::Result<Response> {
        let ask: ShardAsk = match serde_json::from_str(body) {
            Ok(ask) => ask,
            Err(error) => return Response::error(format!("unreadable question: {error}"), 400),
        };
        if let Err(error) = self.open(Some(name)) {
            return Response::error(error.to_string(), 500);
        }
        self.count("requests", 1.0);
        match self.answer(ask).await {
            Ok(reply) => Response::from_json(&reply),
            Err(error) => {
                self.reload();
                Response::error(error.to_string(), 500)
            }
        }
    }

    /// Time has come. Never fails: a failed alarm is tried a few times and then lost for good.
    pub fn alarm(self: &Rc<Self>) {
        self.platform.alarm_fired();
        self.count("alarms", 1.0);
        let time = now();
        let done = self.open(None).and_then(|()| {
            let due = self.inner.borrow_mut().advance(&self.platform, time)?;
            if due || self.is_busy() {
                // Before any work: whatever becomes of it, there is a next time.
                self.platform.wake_by(time.plus(HEARTBEAT_MS));
            }
            self.wake_due(time)
        });
        if let Err(error) = done {
            self.failed("alarm", &error);
        }
        self.tell_owed(time);
        self.project(time);
        self.arm(time);
    }

    /// Opens storage, loads what needs attention, and takes up what a restart interrupted.
    fn open(self: &Rc<Self>, called: Option<&str>) -> Result<(), StorageError> {
        if self.inner.borrow().opened {
            return Ok(());
        }
        let name = self.platform.open(called)?;
        let number = name
            .strip_prefix("shard-")
            .and_then(|text| text.parse().ok());
        let number: u16 =
            number.ok_or_else(|| StorageError(format!("{name:?} is not the name of a shard")))?;
        jobs::open(&self.platform.sql)?;
        Wheel::open(&self.platform.sql)?;
        self.inner.borrow_mut().shard = Some(number);
        self.inner.borrow_mut().opened = true;
        let recovered = self.recover(now());
        if recovered.is_err() {
            self.reload();
        }
        recovered
    }

    /// Drops everything in memory: storage failed, and memory may be ahead of it.
    fn reload(self: &Rc<Self>) {
        let mut inner = self.inner.borrow_mut();
        inner.opened = false;
        inner.roster = Roster::default();
        inner.wheel = Wheel::default();
        inner.telling = Telling::default();
        inner.projection = Projection::default();
        inner.inbox.clear();
        drop(inner);
        self.platform.wake_by(now().plus(SECOND));
    }

    fn failed(self: &Rc<Self>, what: &str, error: &StorageError) {
        worker::console_error!(
            "{{\"event\":\"storage_failed\",\"in\":\"{what}\",\"detail\":{:?}}}",
            error.to_string()
        );
        self.reload();
    }

    fn is_busy(&self) -> bool {
        let inner = self.inner.borrow();
        inner.flights.out() > 0
            || inner.flights.waiting() > 0
            || !inner.inbox.is_empty()
            || inner.telling.is_busy()
            || inner.projection.is_busy()
    }

    /// Sets the alarm to the earliest of all timers.
    fn arm(&self, time: Millis) {
        let inner = self.inner.borrow();
        let list = inner
            .wheel
            .next_list()
            .map(|at| at.plus(-PRELOAD_MS).max(time.plus(1)));
        let timer = inner.roster.earliest();
        // While a herd drains, D1 waits for its end: an alarm for it would ring without end.
        let project = inner
            .projection
            .next_try()
            .filter(|_| inner.flights.waiting() == 0);
        let retry = [inner.telling.next_try(), project]
            .into_iter()
            .flatten()
            .min();
        drop(inner);
        let beat = self.is_busy().then(|| time.plus(HEARTBEAT_MS));
        if let Some(at) = [list, timer, retry, beat].into_iter().flatten().min() {
            self.platform.wake_by(at);
        }
    }

    fn job_ref(&self, number: u32) -> JobRef {
        JobRef {
            shard: self.inner.borrow().shard.unwrap_or(0),
            number,
        }
    }

    /// Takes an event in; it is stepped with others that arrive at the same time.
    fn post(self: &Rc<Self>, number: u32, event: Event) {
        self.inner.borrow_mut().inbox.push((number, event));
        self.plan_flush();
    }

    fn plan_flush(self: &Rc<Self>) {
        let time = now();
        let mut inner = self.inner.borrow_mut();
        if inner.flush_planned {
            return;
        }
        let wait = COMMIT_EVERY_MS.saturating_sub(time.since(inner.last_flush));
        inner.flush_planned = true;
        drop(inner);
        let shard = Rc::clone(self);
        self.platform.state.wait_until(async move {
            if wait > 0 {
                Delay::from(Duration::from_millis(u64::try_from(wait).unwrap_or(0))).await;
            }
            shard.inner.borrow_mut().flush_planned = false;
            shard.flush();
        });
    }

    /// The answer to a minute's tick: overdue machines are stepped, a lost alarm is set again.
    async fn tick(self: &Rc<Self>) -> Result<ShardReply, StorageError> {
        let time = now();
        if !self.platform.alarm_is_set().await {
            self.count("alarms_lost", 1.0);
        }
        let late_ms = self
            .inner
            .borrow()
            .roster
            .earliest()
            .map_or(0, |at| time.since(at).max(0));
        self.inner.borrow_mut().advance(&self.platform, time)?;
        self.wake_due(time)?;
        self.tell_owed(time);
        self.poke_endpoints(time);
        self.project(time);
        self.prune(time)?;
        self.arm(time);
        let inner = self.inner.borrow();
        let open_runs = inner
            .roster
            .machines()
            .flat_map(cronwright_core::job::JobMachine::runs)
            .filter(|run| run.is_open())
            .count();
        Ok(ShardReply::Tick(super::message::TickReport {
            late_ms,
            jobs: jobs::count(&self.platform.sql)?,
            open_runs: u64::try_from(open_runs).unwrap_or(u64::MAX),
            unprojected: inner.projection.len(),
            quarantined: u64::try_from(inner.roster.poisoned()).unwrap_or(u64::MAX),
        }))
    }

    fn count(&self, what: &'static str, by: f64) {
        *self.inner.borrow_mut().counters.entry(what).or_default() += by;
    }
}

impl Inner {
    /// Loads the lists that have come; true when a machine is due.
    fn advance(&mut self, platform: &Platform, time: Millis) -> Result<bool, StorageError> {
        let hour = super::records::wheel::hour_of(time.plus(PRELOAD_MS));
        let shard = self.shard.unwrap_or(0);
        if hour > self.wheel.hour() {
            for number in self.wheel.advance(&platform.sql, hour)? {
                self.roster
                    .machine(&platform.sql, JobRef { shard, number })?;
            }
            let busy = self
                .roster
                .machines()
                .filter(|machine| self.needs_attention(machine, hour))
                .map(|machine| machine.at().number)
                .collect();
            self.wheel.sweep(&platform.sql, &busy)?;
            self.roster.thin(&busy);
        }
        Ok(self.roster.earliest().is_some_and(|at| at <= time))
    }

    fn needs_attention(&self, machine: &cronwright_core::job::JobMachine, hour: i64) -> bool {
        use cronwright_core::machine::Machine;
        let soon = machine
            .next_wakeup()
            .is_some_and(|wakeup| super::records::wheel::hour_of(wakeup.at) <= hour);
        soon || !machine.is_idle()
    }
}

/// A refusal as a reply.
fn refused(code: &str, detail: impl Into<String>) -> ShardReply {
    ShardReply::Refused(Refusal {
        code: code.to_owned(),
        detail: detail.into(),
        run: None,
        revision: None,
    })
}

/// How long a settled run stays in a shard, in ms.
const KEEP_RUNS_MS: i64 = 30 * 24 * 60 * MINUTE;
