//! A scripted world: no chance for faults, callees and receivers that do what they are told, and acts that
//! come when their time has come. What is observed can be held against the real host, played in the same
//! way (`tests/conformance/`).

use std::collections::BTreeSet;

use cronwright_core::job::def::Definition;
use cronwright_core::job::run::Run;
use cronwright_core::outcome::{CallbackState, RunState};
use cronwright_core::time::{MINUTE, Millis, SECOND};

use crate::faults::Rates;
use crate::plan::{JobPlan, Plan};
use crate::queue::Happening;
use crate::stage::Stage;
use crate::world::World;
use crate::{Options, Violation};

/// Shards of a scripted world.
const SHARDS: u16 = 2;

/// What is never due by itself is given up.
const PATIENCE_MS: i64 = 5 * MINUTE;

/// After the last act there is so long for everything to end, and for nothing more to happen.
const QUIET_MS: i64 = 2 * MINUTE;

/// What a callee or receiver does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Answers with a status, after so many ms.
    Status {
        /// Which.
        status: u16,
        /// When.
        after_ms: i64,
    },
    /// Answers 200 when it is released ([`Deed::Release`]).
    Hold,
    /// Takes it in and says nothing within any limit.
    Hang,
    /// Takes it in, and closes the connection without an answer.
    Closes,
    /// Takes it in and answers 200, and only the answer is lost: the call of our own executor breaks.
    LosesAnswer,
}

/// A job, and those that it meets. The n-th request gets the n-th reply, and the last repeats.
#[derive(Clone, Debug)]
pub struct Part {
    /// What is saved.
    pub definition: Definition,
    /// Its callee.
    pub callee: Vec<Reply>,
    /// Its receiver.
    pub receiver: Vec<Reply>,
}

/// When an act's time has come: all of it, about one job. The default is at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct When {
    /// Which job, by its place.
    pub job: usize,
    /// So many requests are at its callee.
    pub starts: usize,
    /// So many requests are at its receiver.
    pub deliveries: usize,
    /// So many runs have ended.
    pub ended: usize,
    /// So many run.
    pub running: usize,
    /// So many are lost and wait.
    pub lost: usize,
    /// So many wait for their next attempt.
    pub waiting: usize,
}

/// Something that a person, a callee or the world does. Jobs by their places, runs by their `seq`.
#[derive(Clone, Debug)]
pub enum Deed {
    /// Runs a job now.
    Run {
        /// Which.
        job: usize,
        /// Idempotency key.
        key: String,
    },
    /// Stops a run.
    Cancel {
        /// Of which job.
        job: usize,
        /// Which.
        seq: u64,
    },
    /// The callee that accepted says that it has succeeded.
    Complete {
        /// Of which job.
        job: usize,
        /// Which run.
        seq: u64,
    },
    /// Pauses or resumes.
    Enable {
        /// Which job.
        job: usize,
        /// Which of the two.
        enabled: bool,
    },
    /// Saves another definition.
    Edit {
        /// Of which job.
        job: usize,
        /// It.
        definition: Box<Definition>,
    },
    /// Deletes a job.
    Delete {
        /// Which.
        job: usize,
    },
    /// Lets the first callee of a job that holds its answer give it.
    Release {
        /// Of which job.
        job: usize,
    },
    /// The receiver of a job goes, or comes back.
    Receiver {
        /// Of which job.
        job: usize,
        /// Which of the two.
        gone: bool,
    },
    /// Every object dies at once, and is looked after by a tick.
    Kill,
}

/// One act.
#[derive(Clone, Debug)]
pub struct Act {
    /// When.
    pub when: When,
    /// What.
    pub deed: Deed,
    /// Whether it has to be refused.
    pub refused: bool,
}

/// All of it. The acts come one after another.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The jobs.
    pub parts: Vec<Part>,
    /// The acts.
    pub acts: Vec<Act>,
}

/// A run, as it was at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRun {
    /// Its number.
    pub seq: u64,
    /// How it ended.
    pub state: RunState,
    /// Attempts that count.
    pub attempts: u32,
    /// The states it was in, repeats folded.
    pub ledger: Vec<RunState>,
    /// Requests at its callee.
    pub starts: usize,
    /// Its callback.
    pub callback: CallbackState,
    /// Requests at its receiver.
    pub deliveries: usize,
    /// Different bodies among them.
    pub bodies: usize,
    /// The definition's revision that its last attempt used.
    pub revision: u32,
    /// The waits between its attempts, in ms.
    pub again_ms: Vec<i64>,
    /// From its instant to its first attempt, in ms.
    pub late_ms: Option<i64>,
}

/// What was seen of a script.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The runs of each job, in order of `seq`.
    pub runs: Vec<Vec<SeenRun>>,
    /// Fences in the order in which the callee of each job saw them.
    pub fences: Vec<Vec<u64>>,
    /// In which order receivers first heard of runs: the job's place, and the run's `seq`.
    pub deliveries: Vec<(usize, u64)>,
    /// An act whose time never came, or that was taken or refused against the script.
    pub failed: Option<String>,
    /// What the witnesses of every world found.
    pub violation: Option<Violation>,
    /// All that happened, one line each.
    pub trace: Vec<String>,
}

impl Script {
    /// Where the world's clock stands when it begins: instants of definitions are given from here.
    pub const START: Millis = Millis(1_772_323_200_000);

    /// Plays it.
    #[must_use]
    pub fn play(&self) -> Seen {
        let plan = self.plan();
        let options = Options {
            trace_lines: 10_000,
            ..Options::default()
        };
        let mut world = World::new(&plan, options);
        world.stage = Some(Stage::new(self));
        world.queue.push(plan.start.plus(SECOND), Happening::Deed);
        let mut end = plan.start.plus(PATIENCE_MS);
        let mut over = false;
        while world.now < end && world.happen_next() {
            let acts_left = world.stage.as_ref().map_or(0, Stage::acts_left);
            if acts_left == 0 && !over {
                over = true;
                end = world.now.plus(QUIET_MS);
            }
        }
        world.seen()
    }

    fn plan(&self) -> Plan {
        let numbered = (1_u32..).zip(&self.parts);
        let jobs = numbered.map(|(index, part)| JobPlan {
            index,
            shard: u16::try_from(index).unwrap_or(0) % SHARDS,
            definition: part.definition.clone(),
            usual_ms: SECOND,
        });
        Plan {
            seed: 1,
            start: Self::START,
            storm_ms: 10 * PATIENCE_MS,
            heal_ms: PATIENCE_MS,
            shards: SHARDS,
            jobs: jobs.collect(),
            rates: Rates::default(),
            operator_ms: None,
        }
    }
}

impl World<'_> {
    /// Adds up what a script came to.
    fn seen(self) -> Seen {
        let Some(stage) = self.stage else {
            return Seen::default();
        };
        let mut seen = Seen {
            failed: stage.failure(),
            violation: self.witness.violation,
            trace: self
                .trace
                .into_iter()
                .filter(|line| !is_look(line))
                .collect(),
            ..Seen::default()
        };
        for (place, job) in self.plan.jobs.iter().enumerate() {
            let shard = self.shards.get(usize::from(job.shard));
            let disk = shard.and_then(|object| object.disk.jobs.get(&job.index));
            let runs = disk.into_iter().flat_map(|disk| disk.runs.values());
            seen.runs
                .push(runs.map(|run| seen_run(place, run, &stage)).collect());
            let starts = stage.starts.iter().filter(|start| start.place == place);
            seen.fences.push(starts.map(|start| start.fence).collect());
        }
        let mut heard = BTreeSet::new();
        let all = stage.deliveries.iter();
        let firsts = all
            .map(|delivery| (delivery.place, delivery.seq))
            .filter(|name| heard.insert(*name));
        seen.deliveries = firsts.collect();
        seen
    }
}

/// To look whether an act's time has come tells nothing.
fn is_look(line: &str) -> bool {
    line.ends_with("a person does something")
}

fn seen_run(place: usize, run: &Run, stage: &Stage<'_>) -> SeenRun {
    let mut ledger: Vec<RunState> = run.ledger.iter().map(|row| row.to).collect();
    ledger.dedup();
    let starts = stage.starts.iter();
    let deliveries = stage.deliveries.iter();
    let about: Vec<_> = deliveries
        .filter(|delivery| delivery.place == place && delivery.seq == run.seq)
        .collect();
    let bodies: BTreeSet<&str> = about.iter().map(|one| one.body.as_str()).collect();
    let handed = run
        .ledger
        .iter()
        .filter(|row| row.to == RunState::Dispatched && row.why.starts_with("attempt"));
    let handed: Vec<Millis> = handed.map(|row| row.at).collect();
    let pairs = handed.iter().zip(handed.iter().skip(1));
    SeenRun {
        seq: run.seq,
        state: run.state,
        attempts: run.attempts,
        ledger,
        starts: starts
            .filter(|start| start.place == place && start.seq == run.seq)
            .count(),
        callback: run.callback,
        deliveries: about.len(),
        bodies: bodies.len(),
        revision: run.revision,
        again_ms: pairs.map(|(one, next)| next.since(*one)).collect(),
        late_ms: run.started_at.map(|at| at.since(run.planned_at())),
    }
}
