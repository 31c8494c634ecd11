//! Questions about runs.

use std::rc::Rc;
use std::time::Duration;

use cronwright_core::ids::{JobId, JobRef, RunId, RunTag, digest16};
use cronwright_core::job::def::Overlap;
use cronwright_core::job::run::AttemptResult;
use cronwright_core::job::{Event, Verdict};
use cronwright_core::outcome::{CallbackState, RunState};
use futures_channel::oneshot;
use futures_util::future::select;
use worker::Delay;

use super::asks::refusal;
use super::{Shard, refused};
use crate::host::message::{DumpPage, DumpPosition, RunOfJob, RunPage, ShardReply};
use crate::host::object::now;
use crate::host::records::{StorageError, jobs};

/// Longest wait for the end of a run.
const LONGEST_WAIT_MS: u32 = 25_000;

impl Shard {
    pub(super) fn run_now(
        self: &Rc<Self>,
        job: &JobId,
        key: &str,
        params: Option<String>,
        overlap: Option<Overlap>,
        by: String,
    ) -> Result<ShardReply, StorageError> {
        let Some(number) = self.number_of(job)? else {
            return Ok(refused("job_not_found", format!("there is no job {job}")));
        };
        let id = self.key_id(number, RunTag::Manual(digest16(&[key])));
        self.once(
            number,
            &id,
            Event::RunNow {
                key: key.to_owned(),
                params,
                overlap,
                by,
            },
        )
    }

    pub(super) fn replay(
        self: &Rc<Self>,
        run: &RunId,
        key: &str,
        by: String,
    ) -> Result<ShardReply, StorageError> {
        let number = run.job.number;
        let Some(past) = self.stored(run)? else {
            return Ok(no_run(run));
        };
        let id = self.key_id(number, RunTag::Replay(digest16(&[key])));
        self.once(
            number,
            &id,
            Event::Replay {
                of: Box::new(past),
                key: key.to_owned(),
                by,
            },
        )
    }

    fn key_id(&self, number: u32, tag: RunTag) -> RunId {
        RunId {
            job: self.job_ref(number),
            at: now(),
            tag,
        }
    }

    /// Makes a run unless one of this key is there already; gives the run either way.
    fn once(
        self: &Rc<Self>,
        number: u32,
        id: &RunId,
        event: Event,
    ) -> Result<ShardReply, StorageError> {
        if let Some(known) = jobs::run(&self.platform.sql, id)? {
            return self.reply_run(&known.id, true);
        }
        match self.step_now(number, event)? {
            Ok(()) => {
                self.arm(now());
                match jobs::run(&self.platform.sql, id)? {
                    Some(made) => self.reply_run(&made.id, false),
                    None => Ok(no_run(id)),
                }
            }
            Err(no) => Ok(refusal(no)),
        }
    }

    /// Steps the job of a run on behalf of somebody who waits for the answer.
    pub(super) fn on_run(
        self: &Rc<Self>,
        run: &RunId,
        event: Event,
    ) -> Result<ShardReply, StorageError> {
        if run.job != self.job_ref(run.job.number) {
            return Ok(no_run(run));
        }
        match self.step_now(run.job.number, event)? {
            Ok(()) => {
                self.project(now());
                self.arm(now());
                self.reply_run(run, false)
            }
            Err(no) => Ok(refusal(no)),
        }
    }

    pub(super) fn complete(
        self: &Rc<Self>,
        run: RunId,
        fence: u64,
        failed: bool,
        result: Box<AttemptResult>,
        by: String,
    ) -> Result<ShardReply, StorageError> {
        let verdict = if failed {
            Verdict::Failed
        } else {
            Verdict::Succeeded
        };
        let reply = self.on_run(
            &run,
            Event::AttemptEnded {
                run: run.clone(),
                fence,
                verdict,
                result,
                by,
            },
        )?;
        if let ShardReply::Refused(refusal) = &reply
            && matches!(refusal.code.as_str(), "stale_fence" | "run_ended")
        {
            let what = format!("{verdict:?}");
            // Evidence only; whatever becomes of it, the answer is the refusal.
            let _ = self.step_now(run.job.number, Event::LateReport { run, fence, what })?;
        }
        Ok(reply)
    }

    pub(super) fn settled(
        self: &Rc<Self>,
        run: RunId,
        word: u32,
        outcome: CallbackState,
        why: Option<String>,
    ) -> Result<ShardReply, StorageError> {
        match self.on_run(
            &run.clone(),
            Event::CallbackSettled {
                run,
                word,
                outcome,
                why,
            },
        )? {
            // Gone with its job, or with its age: there is nobody left to tell.
            ShardReply::Refused(refusal)
                if matches!(refusal.code.as_str(), "run_not_found" | "job_not_found") =>
            {
                Ok(ShardReply::Done)
            }
            ShardReply::Refused(refusal) => Ok(ShardReply::Refused(refusal)),
            _ => Ok(ShardReply::Done),
        }
    }

    pub(super) fn upstream(
        self: &Rc<Self>,
        job: &JobId,
        upstream: JobId,
        run: RunId,
        ended: RunState,
    ) -> Result<ShardReply, StorageError> {
        let Some(number) = self.number_of(job)? else {
            return Ok(refused("job_not_found", format!("there is no job {job}")));
        };
        let id = RunId {
            job: self.job_ref(number),
            at: run.at,
            tag: RunTag::After(digest16(&[&run.to_string()])),
        };
        if jobs::run(&self.platform.sql, &id)?.is_some() {
            return Ok(ShardReply::Done);
        }
        match self.step_now(
            number,
            Event::Upstream {
                job: upstream,
                run,
                ended,
            },
        )? {
            Ok(()) => {
                self.project(now());
                self.arm(now());
                Ok(ShardReply::Done)
            }
            Err(no) => Ok(refusal(no)),
        }
    }

    fn stored(&self, run: &RunId) -> Result<Option<cronwright_core::job::run::Run>, StorageError> {
        if run.job != self.job_ref(run.job.number) {
            return Ok(None);
        }
        // A key's tag finds the run of that key; the id has to be the very one that was asked for.
        Ok(jobs::run(&self.platform.sql, run)?.filter(|stored| stored.id == *run))
    }

    fn reply_run(&self, id: &RunId, repeated: bool) -> Result<ShardReply, StorageError> {
        let at = self.job_ref(id.job.number);
        let Some(run) = self.stored(id)? else {
            return Ok(no_run(id));
        };
        let job = self
            .inner
            .borrow_mut()
            .roster
            .machine(&self.platform.sql, at)?
            .map(|machine| machine.definition().job_id.clone());
        let job = match job {
            Some(job) => Some(job),
            None => self
                .view(id.job.number, 0)?
                .map(|view| view.definition.job_id),
        };
        Ok(job.map_or_else(
            || no_run(id),
            |job_id| {
                ShardReply::Run(Box::new(RunOfJob {
                    job_id,
                    run,
                    repeated,
                }))
            },
        ))
    }

    pub(super) fn run(&self, run: &RunId) -> Result<ShardReply, StorageError> {
        self.reply_run(run, false)
    }

    pub(super) async fn await_run(
        &self,
        run: &RunId,
        wait_ms: u32,
    ) -> Result<ShardReply, StorageError> {
        let Some(stored) = self.stored(run)? else {
            return Ok(no_run(run));
        };
        if stored.is_open() {
            let (told, ended) = oneshot::channel();
            self.inner.borrow_mut().waiters.push((run.clone(), told));
            let limit = Delay::from(Duration::from_millis(u64::from(
                wait_ms.min(LONGEST_WAIT_MS),
            )));
            let _ = select(ended, limit).await;
            self.inner
                .borrow_mut()
                .waiters
                .retain(|(_, waiter)| !waiter.is_canceled());
        }
        self.reply_run(run, false)
    }

    pub(super) fn runs(
        &self,
        job: &JobId,
        before: Option<u64>,
        limit: u32,
        states: &[RunState],
    ) -> Result<ShardReply, StorageError> {
        let Some(number) = self.number_of(job)? else {
            return Ok(refused("job_not_found", format!("there is no job {job}")));
        };
        let limit = limit.clamp(1, 200);
        let mut before = before.unwrap_or(jobs::MAX_SEQ);
        let mut runs = Vec::new();
        let mut more = true;
        // Filtered pages read on, within bounds: a rare state must not read a whole history.
        for _ in 0..10 {
            let page = jobs::runs_before(&self.platform.sql, number, before, limit)?;
            more = page.len() == usize::try_from(limit).unwrap_or(usize::MAX);
            for run in page {
                before = run.seq;
                if states.is_empty() || states.contains(&run.state) {
                    runs.push(run);
                }
                if runs.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
                    return Ok(ShardReply::Runs(RunPage {
                        job_id: job.clone(),
                        runs,
                        next_before: Some(before).filter(|before| *before > 1),
                    }));
                }
            }
            if !more {
                break;
            }
        }
        let next_before = more.then_some(before).filter(|before| *before > 1);
        Ok(ShardReply::Runs(RunPage {
            job_id: job.clone(),
            runs,
            next_before,
        }))
    }

    /// Jobs and runs from a position on, for a rebuild of D1.
    pub(super) fn dump(
        &self,
        from: Option<DumpPosition>,
        limit: u32,
    ) -> Result<ShardReply, StorageError> {
        let limit = limit.clamp(1, 500);
        let start = from.unwrap_or(DumpPosition { number: 0, seq: 0 });
        let mut page = DumpPage {
            jobs: Vec::new(),
            runs: Vec::new(),
            next: None,
        };
        for number in jobs::numbers_from(&self.platform.sql, start.number, limit)? {
            let seq = if number == start.number { start.seq } else { 0 };
            let taken =
                u32::try_from(page.runs.len().saturating_add(page.jobs.len())).unwrap_or(limit);
            if taken >= limit {
                page.next = Some(DumpPosition { number, seq });
                return Ok(ShardReply::Dump(page));
            }
            let Some(view) = self.view(number, 0)? else {
                continue;
            };
            let room = limit.saturating_sub(taken);
            let runs = jobs::runs_from(&self.platform.sql, number, seq, room)?;
            let job_id = view.definition.job_id.clone();
            let last = view.last.as_ref().map_or(0, |run| run.seq);
            if seq == 0 {
                page.jobs.push(view);
            }
            let reached = seq.saturating_add(u64::from(room));
            page.runs.extend(runs.into_iter().map(|run| RunOfJob {
                job_id: job_id.clone(),
                run,
                repeated: false,
            }));
            if reached <= last {
                page.next = Some(DumpPosition {
                    number,
                    seq: reached,
                });
                return Ok(ShardReply::Dump(page));
            }
        }
        let after = page.jobs.last().map(|view| view.at).or(Some(JobRef {
            shard: 0,
            number: start.number,
        }));
        let next = after.map(|at| at.number.saturating_add(1)).unwrap_or(1);
        let more = !jobs::numbers_from(&self.platform.sql, next, 1)?.is_empty();
        page.next = more.then_some(DumpPosition {
            number: next,
            seq: 0,
        });
        Ok(ShardReply::Dump(page))
    }

    /// Faults that tests plant. Closed in every deployment that does not set `TEST_SEAMS`.
    pub(super) fn seam(
        self: &Rc<Self>,
        fault: &str,
        _job: Option<&JobId>,
    ) -> Result<ShardReply, StorageError> {
        if !self.platform.seams_open() {
            return Ok(refused(
                "seams_closed",
                "faults can be planted only where TEST_SEAMS is set",
            ));
        }
        match fault {
            "panic" => planted(),
            "lose_alarm" => {
                let storage = self.platform.state.storage();
                self.platform
                    .state
                    .wait_until(async move { drop(storage.delete_alarm().await) });
                Ok(ShardReply::Done)
            }
            other => Ok(refused(
                "seams_closed",
                format!("there is no fault {other}"),
            )),
        }
    }
}

#[expect(
    clippy::panic,
    reason = "a test asks for it; refused unless the variable TEST_SEAMS is set"
)]
fn planted() -> Result<ShardReply, StorageError> {
    panic!("planted")
}

fn no_run(run: &RunId) -> ShardReply {
    refused(
        "run_not_found",
        format!("there is no run {run}, or it is older than what is kept"),
    )
}
