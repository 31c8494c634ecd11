//! A script while it is played: who has been called, what is held back, and which act is next.

use cronwright_core::endpoint::AttemptResult as Posted;
use cronwright_core::ids::{JobRef, RunId, RunTag, digest16};
use cronwright_core::job::run::{AttemptResult, Run, Waits};
use cronwright_core::job::{Dispatch, Event, Verdict};
use cronwright_core::outcome::{FetchFault, RunState};
use cronwright_core::time::Millis;

use crate::object::Died;
use crate::queue::{Answer, Ask, Caller, Happening, Landing, Obj};
use crate::script::{Act, Deed, Reply, Script, When};
use crate::world::World;

/// Whether an act's time has come is looked at so often.
const LOOK_EVERY_MS: i64 = 10;

/// How long a callee or receiver takes to answer at once.
const AT_ONCE_MS: i64 = 5;

/// A request at a callee.
#[derive(Debug)]
pub struct Start {
    pub place: usize,
    pub seq: u64,
    pub fence: u64,
    pub at: Millis,
}

/// A request at a receiver.
#[derive(Debug)]
pub struct Delivery {
    pub place: usize,
    pub seq: u64,
    pub body: String,
    pub at: Millis,
}

/// An answer that is held back.
#[derive(Debug)]
struct Held {
    place: usize,
    job: JobRef,
    fence: u64,
    handle: u64,
    since: Millis,
}

/// All of it.
#[derive(Debug)]
pub struct Stage<'a> {
    script: &'a Script,
    next: usize,
    pub starts: Vec<Start>,
    pub deliveries: Vec<Delivery>,
    held: Vec<Held>,
    failed: Option<String>,
}

impl<'a> Stage<'a> {
    pub fn new(script: &'a Script) -> Self {
        Self {
            script,
            next: 0,
            starts: Vec::new(),
            deliveries: Vec::new(),
            held: Vec::new(),
            failed: None,
        }
    }

    fn next_act(&self) -> Option<&'a Act> {
        self.script.acts.get(self.next)
    }

    /// How many acts are still to come.
    pub fn acts_left(&self) -> usize {
        self.script.acts.len().saturating_sub(self.next)
    }

    /// What went against the script.
    pub fn failure(&self) -> Option<String> {
        let never = || {
            let act = self.next_act()?;
            Some(format!("the time of this act never came: {act:?}"))
        };
        self.failed.clone().or_else(never)
    }

    /// What the callee of a job does with its next request.
    fn callee(&self, place: usize) -> Option<Reply> {
        let had = self.starts.iter().filter(|start| start.place == place);
        nth(&self.script.parts.get(place)?.callee, had.count())
    }

    /// What the receiver of a job does with its next request.
    fn receiver(&self, place: usize) -> Option<Reply> {
        let had = self.deliveries.iter().filter(|one| one.place == place);
        nth(&self.script.parts.get(place)?.receiver, had.count())
    }
}

/// The last repeats.
fn nth(replies: &[Reply], index: usize) -> Option<Reply> {
    replies.get(index).or(replies.last()).copied()
}

/// Jobs are numbered from 1, in the order of the script.
fn place_of(run: &RunId) -> usize {
    usize::try_from(run.job.number)
        .unwrap_or(0)
        .saturating_sub(1)
}

impl World<'_> {
    /// A post leaves for a callee that does what it is told. False where nobody is told anything.
    pub fn leave_scripted(
        &mut self,
        shard: u16,
        handle: u64,
        dispatch: &Dispatch,
        limit_ms: i64,
    ) -> bool {
        let place = place_of(&dispatch.run);
        let Some(reply) = self.stage.as_ref().and_then(|stage| stage.callee(place)) else {
            return false;
        };
        let left = self.now;
        let begins = left.plus(self.travel_ms());
        let limit_at = left.plus(limit_ms);
        let seq = self.seq_of(&dispatch.run);
        let (took, landing) = reply_of(reply, limit_ms);
        // What is held back until it is released, or its limit has come.
        let ends = match reply {
            Reply::Hold | Reply::Hang => limit_at,
            _ => begins.plus(took).min(limit_at),
        };
        let number = dispatch.run.job.number;
        let object = self.shards.get(usize::from(shard));
        self.witness
            .left(dispatch, object, number, (begins, ends), left);
        if let Some(stage) = self.stage.as_mut() {
            stage.starts.push(Start {
                place,
                seq,
                fence: dispatch.fence,
                at: begins,
            });
            if reply == Reply::Hold {
                stage.held.push(Held {
                    place,
                    job: dispatch.run.job,
                    fence: dispatch.fence,
                    handle,
                    since: begins,
                });
            }
        }
        let back = self.travel_ms();
        self.land(shard, handle, ends.plus(back), landing);
        true
    }

    /// What a receiver does that is told: whether it takes the post in, how long that takes, and what
    /// comes back. None where nobody is told anything, or nobody listens.
    pub fn reception_scripted(
        &mut self,
        run: &RunId,
        body: &str,
        timeout_ms: i64,
    ) -> Option<(bool, i64, Landing)> {
        let place = place_of(run);
        let reply = self.stage.as_ref()?.receiver(place)?;
        let seq = self.seq_of(run);
        let at = self.now;
        let body = body.to_owned();
        self.stage.as_mut()?.deliveries.push(Delivery {
            place,
            seq,
            body,
            at,
        });
        let (took, landing) = reply_of(reply, timeout_ms);
        let takes_in = !matches!(reply, Reply::Status { status, .. } if status >= 300);
        Some((takes_in, took, landing))
    }

    fn seq_of(&self, run: &RunId) -> u64 {
        let object = self.shards.get(usize::from(run.job.shard));
        let job = object.and_then(|object| object.disk.jobs.get(&run.job.number));
        job.and_then(|job| job.run(run)).map_or(0, |run| run.seq)
    }

    /// Does the next act if its time has come, and looks again soon. False where there is no script.
    pub fn act(&mut self) -> bool {
        let Some(stage) = self.stage.as_ref() else {
            return false;
        };
        let Some(act) = stage.next_act() else {
            return true;
        };
        let soon = self.now.plus(LOOK_EVERY_MS);
        self.queue.push(soon, Happening::Deed);
        if !self.has_come(act.when) {
            return true;
        }
        self.say(|| format!("  {act:?}"));
        let refused = matches!(self.perform_deed(&act.deed), Answer::Refused(_));
        if let Some(stage) = self.stage.as_mut() {
            stage.next = stage.next.saturating_add(1);
            if refused != act.refused {
                let what = if refused { "refused" } else { "taken" };
                stage
                    .failed
                    .get_or_insert(format!("this was {what}: {act:?}"));
            }
        }
        true
    }

    fn has_come(&self, when: When) -> bool {
        let (now, place) = (self.now, when.job);
        let Some(stage) = self.stage.as_ref() else {
            return false;
        };
        let starts = stage.starts.iter();
        let starts = starts.filter(|start| start.place == place && start.at <= now);
        let deliveries = stage.deliveries.iter();
        let deliveries = deliveries.filter(|one| one.place == place && one.at <= now);
        let runs = |fits: fn(&Run) -> bool| self.stored(place).filter(|run| fits(run)).count();
        starts.count() >= when.starts
            && deliveries.count() >= when.deliveries
            && runs(|run| !run.is_open()) >= when.ended
            && runs(|run| run.state == RunState::Running) >= when.running
            && runs(|run| run.state == RunState::Lost) >= when.lost
            && runs(|run| matches!(run.waits, Some(Waits::Retry { .. }))) >= when.waiting
    }

    /// Runs of a job as storage has them.
    fn stored(&self, place: usize) -> impl Iterator<Item = &Run> {
        let job = self.plan.jobs.get(place);
        let disk = job.and_then(|job| {
            let object = self.shards.get(usize::from(job.shard))?;
            object.disk.jobs.get(&job.index)
        });
        disk.into_iter().flat_map(|disk| disk.runs.values())
    }

    fn perform_deed(&mut self, deed: &Deed) -> Answer {
        let by = || "ann".to_owned();
        let run_id = |world: &Self, job: usize, seq: u64| {
            let found = world.stored(job).find(|run| run.seq == seq);
            found.map(|run| (run.id.clone(), run.fence))
        };
        let event = match deed {
            Deed::Run { job, key } => {
                self.witness.asked_for(RunTag::Manual(digest16(&[key])));
                let event = Event::RunNow {
                    key: key.clone(),
                    params: None,
                    overlap: None,
                    by: by(),
                };
                Some((*job, event))
            }
            Deed::Cancel { job, seq } => {
                run_id(self, *job, *seq).map(|(run, _)| (*job, Event::Cancel { run, by: by() }))
            }
            Deed::Complete { job, seq } => {
                run_id(self, *job, *seq).map(|(run, fence)| (*job, completed(run, fence)))
            }
            Deed::Enable { job, enabled } => Some((*job, Event::SetEnabled { enabled: *enabled })),
            Deed::Edit { job, definition } => {
                let event = Event::Replace {
                    definition: definition.clone(),
                    enabled: None,
                    revision: None,
                    by: by(),
                };
                Some((*job, event))
            }
            Deed::Delete { job } => Some((*job, Event::Delete { by: by() })),
            Deed::Release { job } => return self.release(*job),
            Deed::Receiver { job, gone } => return self.set_gone(*job, *gone),
            Deed::Kill => return self.kill(),
        };
        let place = event.as_ref().map(|(job, _)| *job);
        let job = place.and_then(|place| self.plan.jobs.get(place));
        let (Some(job), Some((_, event))) = (job, event) else {
            return Answer::Refused("there is no such job or run".to_owned());
        };
        self.witness.touched(job.index);
        let ask = Ask::Job {
            number: job.index,
            event: Box::new(event),
        };
        self.shard_asked(job.shard, &ask)
    }

    fn release(&mut self, place: usize) -> Answer {
        let now = self.now;
        let stage = self.stage.as_mut();
        let found = stage.and_then(|stage| {
            let first = stage.held.iter().position(|held| held.place == place)?;
            Some(stage.held.remove(first))
        });
        let Some(held) = found else {
            return Answer::Refused("nobody holds an answer back".to_owned());
        };
        self.witness.broken_off(held.job, held.fence, now);
        let back = self.travel_ms();
        let answer = status_of(200, now.since(held.since));
        // Handles are never used twice: an object that died meanwhile does not know it.
        self.land(held.job.shard, held.handle, now.plus(back), answer);
        Answer::Taken
    }

    fn set_gone(&mut self, place: usize, gone: bool) -> Answer {
        let job = self.plan.jobs.get(place);
        let target = job.and_then(|job| job.definition.callback.as_ref());
        let endpoint = target.and_then(|target| self.endpoint_of(&target.endpoint()));
        match endpoint.and_then(|endpoint| self.endpoint(endpoint)) {
            Some(object) => {
                object.receiver.gone = gone;
                Answer::Taken
            }
            None => Answer::Refused("the job has no receiver".to_owned()),
        }
    }

    fn kill(&mut self) -> Answer {
        let shards = (0..self.plan.shards).map(Obj::Shard);
        let endpoints = (0_u16..).map(Obj::Endpoint).take(self.endpoints.len());
        for obj in shards.chain(endpoints).collect::<Vec<_>>() {
            self.handled(obj, Err(Died::Crashed));
            self.send(obj, Ask::Tick, Caller::Nobody);
        }
        Answer::Taken
    }
}

/// A callee's own word that its run has succeeded.
fn completed(run: RunId, fence: u64) -> Event {
    let result = AttemptResult {
        status: None,
        error_code: None,
        summary: None,
        output: None,
        truncated: false,
        ms: 0,
    };
    Event::AttemptEnded {
        run,
        fence,
        verdict: Verdict::Succeeded,
        result: Box::new(result),
        by: "callee".to_owned(),
    }
}

fn status_of(status: u16, ms: i64) -> Landing {
    Landing::Posted(Posted {
        status: Some(status),
        ms,
        ..Posted::default()
    })
}

/// How long a reply takes, and what comes back of it.
fn reply_of(reply: Reply, limit_ms: i64) -> (i64, Landing) {
    let fault = |fault: FetchFault, ms: i64| {
        Landing::Posted(Posted {
            fault: Some(fault),
            ms,
            ..Posted::default()
        })
    };
    match reply {
        Reply::Status { after_ms, .. } if after_ms >= limit_ms => {
            (limit_ms, fault(FetchFault::Timeout, limit_ms))
        }
        Reply::Status { status, after_ms } => {
            let took = after_ms.max(AT_ONCE_MS);
            (took, status_of(status, took))
        }
        Reply::Hold | Reply::Hang => (limit_ms, fault(FetchFault::Timeout, limit_ms)),
        Reply::Closes => (AT_ONCE_MS, fault(FetchFault::Network, AT_ONCE_MS)),
        Reply::LosesAnswer => (AT_ONCE_MS, Landing::Broke),
    }
}
