//! Posts of jobs: what leaves, how callees behave, and what comes back.

use std::collections::BTreeSet;

use cronwright_core::endpoint::AttemptResult as Posted;
use cronwright_core::ids::RunId;
use cronwright_core::job::def::Executor;
use cronwright_core::job::run::AttemptResult;
use cronwright_core::job::{Dispatch, Event, Reject, Verdict, judge};
use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;

use crate::Mutation;
use crate::queue::{Happening, Landing, Obj};
use crate::shard::{Flight, JobGroup};
use crate::world::World;

/// Posts at once, so that some wait.
const WINDOW: usize = 4;

impl World<'_> {
    /// Lets attempts leave, as many as may. What has left is in storage before it leaves, as long as
    /// others wait.
    pub fn launch(&mut self, shard: u16) {
        let mut leaving = Vec::new();
        let Some(object) = self.shards.get_mut(usize::from(shard)) else {
            return;
        };
        let Some(memory) = object.memory.as_mut() else {
            return;
        };
        let crowded = memory.waiting.len() > WINDOW;
        while memory.out.len() < WINDOW
            && let Some((number, dispatch)) = memory.waiting.pop_front()
        {
            object.last_handle = object.last_handle.saturating_add(1);
            let flight = Flight {
                number,
                run: dispatch.run.clone(),
                fence: dispatch.fence,
                alone: !crowded,
            };
            memory.out.insert(object.last_handle, flight);
            leaving.push((object.last_handle, number, dispatch));
        }
        let out: BTreeSet<_> = memory
            .out
            .values()
            .map(|flight| (flight.number, flight.fence))
            .chain(memory.landed.iter().copied())
            .collect();
        object.disk.sent = (!memory.waiting.is_empty()).then_some(out);
        for (handle, number, dispatch) in leaving {
            self.leave(shard, handle, number, &dispatch);
        }
    }

    /// One post leaves; what becomes of it is the callee's business.
    fn leave(&mut self, shard: u16, handle: u64, number: u32, dispatch: &Dispatch) {
        let dispatch = &self.refenced(shard, number, dispatch);
        self.say(|| {
            let Dispatch { run, fence, .. } = dispatch;
            format!("  post {handle} of shard {shard} leaves: {run}/{fence}")
        });
        if self.is_quarantined(shard, number) {
            return self.kept_back(shard, handle);
        }
        if !dispatch.may_leave(self.wall()) {
            return self.unsent(shard, handle);
        }
        let outlives = self.options.mutation == Some(Mutation::RenewalThreadEnds);
        let limit = dispatch
            .timeout_ms
            .saturating_mul(if outlives { 3 } else { 1 });
        if self.leave_scripted(shard, handle, dispatch, limit) {
            return;
        }
        self.call(shard, handle, number, dispatch, limit);
    }

    /// Its job is quarantined: nothing leaves, and nobody is told.
    fn kept_back(&mut self, shard: u16, handle: u64) {
        if let Some(memory) = self.memory(shard)
            && let Some(flight) = memory.out.remove(&handle)
        {
            memory.landed.insert((flight.number, flight.fence));
        }
    }

    /// Waited so long for its turn that its whole limit does not fit in any more.
    fn unsent(&mut self, shard: u16, handle: u64) {
        let Some(memory) = self.memory(shard) else {
            return;
        };
        if let Some(Flight {
            number, run, fence, ..
        }) = memory.out.remove(&handle)
        {
            memory.landed.insert((number, fence));
            memory.hurry.insert(number);
            self.post(shard, number, Event::AttemptUnsent { run, fence });
        }
    }

    /// A post comes back at `at`.
    pub fn land(&mut self, shard: u16, handle: u64, at: Millis, landing: Landing) {
        let epoch = self.epoch(Obj::Shard(shard));
        let landed = Happening::Landed {
            shard,
            epoch,
            handle,
            landing,
        };
        self.queue.push(at, landed);
    }

    /// A post is back.
    pub fn landed(&mut self, shard: u16, epoch: u32, handle: u64, landing: Landing) {
        if self.epoch(Obj::Shard(shard)) != epoch {
            return;
        }
        let Some(memory) = self.memory(shard) else {
            return;
        };
        let Some(flight) = memory.out.remove(&handle) else {
            return;
        };
        let Flight {
            number, run, fence, ..
        } = flight;
        memory.landed.insert((number, fence));
        let event = match landing {
            Landing::Broke => Event::AttemptLost {
                run,
                fence,
                why: "the executor broke off".to_owned(),
            },
            // It never left us: the loss is ours, and not an attempt of the user's.
            Landing::Posted(posted) if posted.fault == Some(FetchFault::Internal) => {
                Event::AttemptLost {
                    run,
                    fence,
                    why: "the request could not be sent".to_owned(),
                }
            }
            Landing::Posted(posted) => {
                let Some(machine) = memory.machines.get(&number) else {
                    return;
                };
                let Executor::Http(task) = &machine.definition().executor;
                match judge(task, posted.status, posted.fault) {
                    None => Event::AttemptAccepted { run, fence },
                    Some(verdict) => Event::AttemptEnded {
                        run,
                        fence,
                        verdict,
                        result: Box::new(result(posted.status, posted.fault, posted.ms)),
                        by: "executor".to_owned(),
                    },
                }
            }
        };
        self.post(shard, number, event);
    }

    /// Stops an attempt: taken back, broken off, or reported as lost.
    pub fn abort(&mut self, shard: u16, number: u32, run: RunId, fence: u64) {
        let now = self.now;
        let Some(memory) = self.memory(shard) else {
            return;
        };
        let waited = memory.waiting.len();
        memory
            .waiting
            .retain(|(of, dispatch)| *of != number || dispatch.fence != fence);
        let waiting = memory.waiting.len() < waited;
        let out = memory
            .out
            .iter()
            .find(|(_, flight)| flight.number == number && flight.fence == fence);
        let out = out.map(|(handle, flight)| (*handle, flight.alone));
        match out {
            Some((handle, true)) => {
                memory.out.remove(&handle);
                memory.landed.insert((number, fence));
                if self.options.mutation != Some(Mutation::RenewalThreadEnds) {
                    self.witness.broken_off(run.job, fence, now);
                }
                self.post(
                    shard,
                    number,
                    stopped(run, fence, "stopped while it was running"),
                );
            }
            // One of a batch cannot be broken off: it ends by itself, or at its limit.
            Some((_, false)) => {}
            None if waiting => self.post(
                shard,
                number,
                stopped(run, fence, "stopped before it was sent"),
            ),
            None => {
                let why = "no live call was left to stop".to_owned();
                self.post(shard, number, Event::AttemptLost { run, fence, why });
            }
        }
    }

    /// What planted bugs make of a report before the machine sees it.
    pub fn tampered(&mut self, shard: u16, number: u32, mut event: Event) -> Event {
        if self.options.mutation == Some(Mutation::LockIsDate)
            && let Event::AttemptEnded { run, fence, .. } = &mut event
            && let Some(machine) = self
                .memory(shard)
                .and_then(|memory| memory.machines.get(&number))
            && let Some(active) = machine.run(run).and_then(|run| run.active)
        {
            *fence = active.fence;
        }
        event
    }

    /// The planted bug of a release that does not look whose lock it is.
    pub fn refused_report(&mut self, shard: u16, number: u32, event: &Event, group: &mut JobGroup) {
        let careless = self.options.mutation == Some(Mutation::ReleaseWithoutCompare);
        let Event::AttemptEnded {
            verdict,
            result,
            by,
            ..
        } = event
        else {
            return;
        };
        if !careless {
            return;
        }
        let held = self.memory(shard).and_then(|memory| {
            let machine = memory.machines.get(&number)?;
            machine
                .runs()
                .find_map(|run| run.active.map(|active| (run.id.clone(), active.fence)))
        });
        if let Some((holder, fence)) = held {
            let event = Event::AttemptEnded {
                run: holder,
                fence,
                verdict: *verdict,
                result: result.clone(),
                by: by.clone(),
            };
            let _: Result<(), Reject> = self.step(shard, number, event, group);
        }
    }

    /// The planted bug of a lost attempt that is made again under its old fence.
    fn refenced(&mut self, shard: u16, number: u32, dispatch: &Dispatch) -> Dispatch {
        let mut dispatch = dispatch.clone();
        if self.options.mutation == Some(Mutation::ReclaimSameFence) {
            let disk = self
                .shards
                .get(usize::from(shard))
                .and_then(|object| object.disk.jobs.get(&number));
            let run = disk.and_then(|job| job.run(&dispatch.run));
            if run.is_some_and(|run| run.losses > 0) {
                dispatch.fence = dispatch.fence.saturating_sub(1);
            }
        }
        dispatch
    }
}

/// The report of an attempt that was stopped.
pub fn stopped(run: RunId, fence: u64, what: &str) -> Event {
    let nothing = result(None, Some(FetchFault::Aborted), 0);
    Event::AttemptEnded {
        run,
        fence,
        verdict: Verdict::Stopped,
        result: Box::new(AttemptResult {
            summary: Some(what.to_owned()),
            ..nothing
        }),
        by: "executor".to_owned(),
    }
}

/// A response.
pub fn answer(status: u16, ms: i64) -> Posted {
    Posted {
        status: Some(status),
        ms,
        ..Posted::default()
    }
}

/// What an attempt came to.
pub fn result(status: Option<u16>, fault: Option<FetchFault>, ms: i64) -> AttemptResult {
    let bad = status
        .filter(|status| *status >= 400)
        .map(|status| format!("http_{status}"));
    AttemptResult {
        status,
        error_code: fault.map(|fault| fault.as_str().to_owned()).or(bad),
        summary: None,
        output: None,
        truncated: false,
        ms,
    }
}
