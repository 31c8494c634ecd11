//! Callees of jobs: all that one does with a post is drawn when the post leaves.

use cronwright_core::endpoint::AttemptResult as Posted;
use cronwright_core::job::def::HttpMode;
use cronwright_core::job::{Dispatch, Event, Verdict};
use cronwright_core::outcome::FetchFault;
use cronwright_core::time::{Millis, SECOND};

use crate::Mutation;
use crate::faults::Fault;
use crate::fly::{answer, result};
use crate::queue::{Ask, Caller, Happening, Landing, Obj};
use crate::world::World;

/// What was drawn for one post.
struct Call {
    begins: Millis,
    takes: i64,
    limit: i64,
    limit_at: Millis,
    hangs: bool,
    fails: bool,
    accepts: bool,
}

impl World<'_> {
    /// Carries a post to its callee and back.
    pub fn call(&mut self, shard: u16, handle: u64, number: u32, dispatch: &Dispatch, limit: i64) {
        let travel = self.travel_ms();
        if self.fault(Fault::PostLost) {
            let object = self.shards.get(usize::from(shard));
            self.witness.checked(dispatch, object, number);
            return self.land(shard, handle, self.now.plus(travel), Landing::Broke);
        }
        let call = self.draw_call(number, dispatch, travel, limit);
        let ends = call.begins.plus(call.takes);
        let until = if call.hangs {
            call.limit_at
        } else {
            ends.min(call.limit_at)
        };
        let object = self.shards.get(usize::from(shard));
        self.witness
            .left(dispatch, object, number, (call.begins, until), self.now);
        if self.options.mutation == Some(Mutation::SchedulingLease) {
            let done = Landing::Posted(answer(200, 1));
            return self.land(shard, handle, self.now.plus(1), done);
        }
        let broke = self.fault(Fault::PostAnswerLost);
        let back = self.travel_ms();
        let (at, posted) = self.reply(shard, number, dispatch, &call);
        let landing = if broke {
            Landing::Broke
        } else {
            Landing::Posted(posted)
        };
        self.land(shard, handle, at.plus(back), landing);
    }

    fn draw_call(&mut self, number: u32, dispatch: &Dispatch, travel: i64, limit: i64) -> Call {
        let usual = self.usual_ms(number);
        let takes = self.chance.callees.span(usual / 4, usual.saturating_mul(2));
        let hangs = self.fault(Fault::CalleeHangs);
        let fails = self.fault(Fault::CalleeFails);
        Call {
            begins: self.now.plus(travel),
            takes,
            limit,
            limit_at: self.now.plus(limit),
            hangs,
            fails,
            accepts: !fails && !hangs && dispatch.task.mode == HttpMode::Accepted,
        }
    }

    /// When the callee answers, and what.
    fn reply(
        &mut self,
        shard: u16,
        number: u32,
        dispatch: &Dispatch,
        call: &Call,
    ) -> (Millis, Posted) {
        let ends = call.begins.plus(call.takes);
        if call.accepts {
            let nods = self.usual_ms(number) / 10;
            self.accept(shard, dispatch, call, call.begins.plus(nods));
            (call.begins.plus(nods), answer(202, nods))
        } else if call.hangs || ends >= call.limit_at {
            let late = Posted {
                fault: Some(FetchFault::Timeout),
                ms: call.limit,
                ..Posted::default()
            };
            (call.limit_at, late)
        } else {
            let status = if call.fails { 500 } else { 200 };
            (ends, answer(status, call.takes))
        }
    }

    /// A callee that answered 202 reports the end later, until it is heard.
    fn accept(&mut self, shard: u16, dispatch: &Dispatch, call: &Call, from: Millis) {
        if self.fault(Fault::CalleeSilent) {
            self.witness.silent(dispatch, call.limit_at);
            return;
        }
        let at = call.begins.plus(call.takes).max(from);
        self.witness.silent(dispatch, at.min(call.limit_at));
        let event = Event::AttemptEnded {
            run: dispatch.run.clone(),
            fence: dispatch.fence,
            verdict: Verdict::Succeeded,
            result: Box::new(result(Some(200), None, at.since(from))),
            by: "callee".to_owned(),
        };
        let ask = Ask::Job {
            number: dispatch.run.job.number,
            event: Box::new(event),
        };
        let asks = Happening::Ask {
            to: Obj::Shard(shard),
            ask,
            caller: Caller::Outside { tries: 0 },
            sent: at,
        };
        self.queue.push(at, asks);
    }

    fn usual_ms(&self, number: u32) -> i64 {
        let job = self.plan.jobs.iter().find(|job| job.index == number);
        job.map_or(SECOND, |job| job.usual_ms)
    }
}
