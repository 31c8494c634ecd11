//! A host without a network: it owns the clock, stores what turns change, and checks after every step
//! what must hold after every step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cronwright_core::endpoint::{
    AttemptResult, Breaker, Change, Config, Delivery, DeliveryState, Effect, EndpointMachine,
    Event, IN_FLIGHT_MAX, LOSSES_FREE, NewDelivery, Reject, StateWord, attempts_max,
};
use cronwright_core::ids::{JobId, JobRef, RunId, RunTag};
use cronwright_core::job::def::CallbackPreset;
use cronwright_core::machine::Machine;
use cronwright_core::outcome::{CallbackState, FetchFault};
use cronwright_core::time::Millis;

pub const URL: &str = "https://openapi.example.com/v1/callback/order";

/// One attempt as it left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    pub at: i64,
    pub run: RunId,
    pub attempt: u32,
    pub body: String,
    pub key_versions: Vec<u32>,
}

/// One word to a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub at: i64,
    pub run: RunId,
    pub word: u32,
    pub outcome: CallbackState,
    pub attempts: u32,
    pub code: Option<String>,
}

pub struct World {
    pub now: Millis,
    pub machine: EndpointMachine,
    /// What a disk would hold.
    pub config: Config,
    pub stored: BTreeMap<RunId, Delivery>,
    /// Every effect, in order.
    pub posts: Vec<Post>,
    pub words: Vec<Word>,
    keys: BTreeSet<String>,
    bodies: BTreeMap<RunId, String>,
    /// Attempts and words that have not been answered.
    pub calls: VecDeque<(RunId, u32)>,
    pub letters: VecDeque<(RunId, u32)>,
    /// Whether shards answer.
    pub shards_answer: bool,
}

impl World {
    pub fn new() -> Self {
        let app = "app_erp".parse().unwrap();
        let (machine, turn) = EndpointMachine::create(Millis(0), app, URL.to_owned(), vec![1]);
        let [Change::PutConfig(config)] = turn.changes.as_slice() else {
            panic!("{turn:?}")
        };
        assert!(turn.effects.is_empty());
        Self {
            now: Millis(0),
            config: config.clone(),
            machine,
            stored: BTreeMap::new(),
            posts: Vec::new(),
            words: Vec::new(),
            keys: BTreeSet::new(),
            bodies: BTreeMap::new(),
            calls: VecDeque::new(),
            letters: VecDeque::new(),
            shards_answer: true,
        }
    }

    /// Feeds one event now; whether the turn was not empty.
    pub fn feed(&mut self, event: Event) -> Result<bool, Reject> {
        let before = self.machine.clone();
        let turn = match self.machine.step(self.now, event) {
            Ok(turn) => turn,
            Err(reject) => {
                assert_eq!(self.machine, before, "{reject} changed something");
                return Err(reject);
            }
        };
        if turn.is_empty() {
            assert_eq!(self.machine, before, "a change was not told");
        }
        for change in turn.changes.iter().cloned() {
            match change {
                Change::PutConfig(config) => self.config = config,
                Change::PutDelivery(delivery) => {
                    drop(self.stored.insert(delivery.run.clone(), delivery))
                }
                Change::DropDelivery(run) => drop(self.stored.remove(&run)),
            }
        }
        for keyed in &turn.effects {
            self.perform(&keyed.key, &keyed.effect);
        }
        let posts = turn
            .effects
            .iter()
            .filter(|keyed| matches!(keyed.effect, Effect::Post { .. }))
            .count();
        if !matches!(self.config.breaker, Breaker::Closed { .. })
            && !matches!(before.config().breaker, Breaker::Closed { .. })
        {
            assert!(posts <= 1, "{posts} went under an open breaker");
        }
        self.check();
        Ok(!turn.is_empty())
    }

    fn perform(&mut self, key: &str, effect: &Effect) {
        let at = self.now.0;
        match effect {
            Effect::Post {
                run,
                attempt,
                url,
                app,
                key_versions,
                body,
                timeout_ms,
            } => {
                assert_eq!(
                    (url.as_str(), app.as_str(), *timeout_ms),
                    (URL, "app_erp", 15_000)
                );
                assert_eq!(key, format!("{run}/post/{attempt}"));
                assert!(self.keys.insert(key.to_owned()), "{key} twice");
                let first = self
                    .bodies
                    .entry(run.clone())
                    .or_insert_with(|| body.clone());
                assert_eq!(first, body, "the bytes changed");
                let mut before = self.stored.values().filter(|other| {
                    other.job == self.stored[run].job && other.seq < self.stored[run].seq
                });
                assert!(
                    before.all(|other| matches!(
                        other.state,
                        DeliveryState::Done | DeliveryState::Dead
                    )),
                    "{run} overtook"
                );
                let (run, body, key_versions) = (run.clone(), body.clone(), key_versions.clone());
                self.calls.push_back((run.clone(), *attempt));
                self.posts.push(Post {
                    at,
                    run,
                    attempt: *attempt,
                    body,
                    key_versions,
                });
            }
            Effect::Settle {
                run,
                job,
                word,
                outcome,
                attempts,
                code,
            } => {
                assert_eq!(key, format!("{run}/settle/{word}"));
                assert_eq!(job, &self.stored[run].job);
                self.letters.push_back((run.clone(), *word));
                let (run, code) = (run.clone(), code.clone());
                self.words.push(Word {
                    at,
                    run,
                    word: *word,
                    outcome: *outcome,
                    attempts: *attempts,
                    code,
                });
            }
        }
    }

    /// What must hold after every step.
    fn check(&self) {
        let restored =
            EndpointMachine::restore(self.config.clone(), self.stored.values().cloned().collect());
        assert_eq!(restored, self.machine, "the records are not the machine");

        let flying = |found: &&Delivery| found.state.word() == StateWord::InFlight;
        assert!(self.stored.values().filter(flying).count() <= IN_FLIGHT_MAX);
        for delivery in self.stored.values() {
            assert!(
                delivery.attempts <= attempts_max(delivery.preset),
                "{delivery:?}"
            );
            assert!(delivery.losses <= LOSSES_FREE + attempts_max(delivery.preset));
            if let DeliveryState::InFlight { attempt, .. } = delivery.state {
                assert_eq!(attempt, delivery.starts);
                let same_job = self
                    .stored
                    .values()
                    .filter(flying)
                    .filter(|other| other.job == delivery.job);
                assert_eq!(same_job.count(), 1, "two of one job in flight");
            }
        }
        self.check_progress();
    }

    /// Invariant I7: stepping at the wakeup does something, and soon nothing is left to do at once.
    fn check_progress(&self) {
        let Some(wakeup) = self.machine.next_wakeup() else {
            assert!(!self.stored.values().any(|found| matches!(
                found.state.word(),
                StateWord::Waiting | StateWord::InFlight
            )));
            return;
        };
        let mut copy = self.machine.clone();
        let now = wakeup.at.max(self.now);
        assert!(
            !copy.step(now, Event::Wake).unwrap().is_empty(),
            "woken for nothing: {wakeup:?}"
        );
        for _ in 0..10 {
            if copy.next_wakeup().is_none_or(|next| next.at > now) {
                return;
            }
            copy.step(now, Event::Wake).unwrap();
        }
        panic!("hot loop at {now:?}: {:?}", copy.next_wakeup());
    }

    pub fn enqueue(&mut self, job: u32, seq: u64) -> RunId {
        self.enqueue_as(job, seq, CallbackPreset::Standard)
    }

    pub fn enqueue_as(&mut self, job: u32, seq: u64, preset: CallbackPreset) -> RunId {
        let new = new_delivery(job, seq, preset);
        let run = new.run.clone();
        self.feed(Event::Enqueue(new)).unwrap();
        run
    }

    /// Answers the oldest open call.
    pub fn answer(&mut self, result: AttemptResult) -> RunId {
        let (run, attempt) = self.calls.pop_front().expect("a call is open");
        self.feed(Event::Attempted {
            run: run.clone(),
            attempt,
            result,
        })
        .unwrap();
        run
    }

    /// Goes on until `end`: answers every call at once, and jumps from wakeup to wakeup.
    pub fn run_until(&mut self, end: i64, mut receiver: impl FnMut(i64, &RunId) -> AttemptResult) {
        loop {
            while !self.calls.is_empty() || (self.shards_answer && !self.letters.is_empty()) {
                if let Some((run, attempt)) = self.calls.pop_front() {
                    let result = receiver(self.now.0, &run);
                    self.feed(Event::Attempted {
                        run,
                        attempt,
                        result,
                    })
                    .unwrap();
                }
                if let Some((run, word)) = self.letters.pop_front().filter(|_| self.shards_answer) {
                    self.feed(Event::SettleAcked { run, word }).unwrap();
                }
            }
            match self
                .machine
                .next_wakeup()
                .filter(|wakeup| wakeup.at.0 <= end)
            {
                Some(wakeup) => {
                    self.now = wakeup.at.max(self.now);
                    self.feed(Event::Wake).unwrap();
                }
                None => break,
            }
        }
        self.now = Millis(end).max(self.now);
    }

    pub fn state(&self, run: &RunId) -> StateWord {
        self.stored[run].state.word()
    }

    /// When attempts of a run left, in ms.
    pub fn post_times(&self, run: &RunId) -> Vec<i64> {
        self.posts
            .iter()
            .filter(|post| post.run == *run)
            .map(|post| post.at)
            .collect()
    }

    /// The words about a run, as (time, outcome).
    pub fn told(&self, run: &RunId) -> Vec<(i64, CallbackState)> {
        self.words
            .iter()
            .filter(|word| word.run == *run)
            .map(|word| (word.at, word.outcome))
            .collect()
    }
}

pub fn job_id(job: u32) -> JobId {
    format!("job_{job}").parse().unwrap()
}

pub fn run_id(job: u32, seq: u64) -> RunId {
    let at = Millis(1_796_000_000_000 + i64::try_from(seq).unwrap() * 1_000);
    RunId {
        job: JobRef {
            shard: 3,
            number: job,
        },
        at,
        tag: RunTag::Occurrence(1),
    }
}

pub fn new_delivery(job: u32, seq: u64, preset: CallbackPreset) -> NewDelivery {
    let run = run_id(job, seq);
    let body = format!(r#"{{"jobId":"job_{job}","scheduleId":"{run}","seq":{seq}}}"#);
    NewDelivery {
        run,
        job: job_id(job),
        seq,
        body,
        preset,
    }
}

pub fn status(status: u16) -> AttemptResult {
    AttemptResult {
        status: Some(status),
        ms: 40,
        ..AttemptResult::default()
    }
}

pub fn fault(fault: FetchFault) -> AttemptResult {
    AttemptResult {
        fault: Some(fault),
        ms: 40,
        ..AttemptResult::default()
    }
}
