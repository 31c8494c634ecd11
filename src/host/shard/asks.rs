//! Questions about jobs.

use std::rc::Rc;

use cronwright_core::ids::{JobId, JobRef};
use cronwright_core::job::def::Definition;
use cronwright_core::job::{Event, JobMachine, Reject};

use super::turns::NoTurn;
use super::{JobGroup, Shard, refused};
use crate::host::message::{Refusal, ShardAsk, ShardReply};
use crate::host::object::now;
use crate::host::records::{StorageError, jobs};

/// Runs shown with a job.
const RECENT: u32 = 20;

impl Shard {
    /// Answers a question.
    ///
    /// # Errors
    /// When storage fails.
    pub(super) async fn answer(self: &Rc<Self>, ask: ShardAsk) -> Result<ShardReply, StorageError> {
        match ask {
            ShardAsk::Create {
                definition,
                enabled,
                ..
            } => self.create(*definition, enabled),
            ShardAsk::Replace {
                definition,
                enabled,
                revision,
                by,
            } => {
                let job = definition.job_id.clone();
                self.absolve(&job)?;
                self.change(
                    &job,
                    Event::Replace {
                        definition,
                        enabled,
                        revision,
                        by,
                    },
                )
            }
            ShardAsk::SetEnabled { job, enabled, .. } => {
                self.absolve(&job)?;
                self.change(&job, Event::SetEnabled { enabled })
            }
            ShardAsk::Delete { job, by } => {
                self.absolve(&job)?;
                self.change(&job, Event::Delete { by })
            }
            ShardAsk::Job { job } => self.job(&job),
            ShardAsk::Jobs { jobs } => self.jobs(&jobs),
            ShardAsk::RunNow {
                job,
                key,
                params,
                overlap,
                by,
            } => self.run_now(&job, &key, params, overlap, by),
            ShardAsk::Replay { run, key, by } => self.replay(&run, &key, by),
            ShardAsk::Cancel { run, by } => self.on_run(&run.clone(), Event::Cancel { run, by }),
            ShardAsk::Run { run } => self.run(&run),
            ShardAsk::AwaitRun { run, wait_ms } => self.await_run(&run, wait_ms).await,
            ShardAsk::Runs {
                job,
                before,
                limit,
                states,
            } => self.runs(&job, before, limit, &states),
            ShardAsk::Complete {
                run,
                fence,
                failed,
                result,
                by,
            } => self.complete(run, fence, failed, result, by),
            ShardAsk::Progress {
                run,
                fence,
                percent,
                message,
            } => self.on_run(
                &run.clone(),
                Event::Progress {
                    run,
                    fence,
                    percent,
                    message,
                },
            ),
            ShardAsk::CallbackSettled {
                run,
                word,
                outcome,
                code,
                ..
            } => self.settled(run, word, outcome, code),
            ShardAsk::Upstream {
                job,
                upstream,
                run,
                ended,
            } => self.upstream(&job, upstream, run, ended),
            ShardAsk::Link { job, dependent, on } => {
                self.change(&job, Event::Link { dependent, on })
            }
            ShardAsk::Tick => {
                self.want_missing()?;
                self.tick().await
            }
            ShardAsk::Dump { from, limit } => self.dump(from, limit),
            ShardAsk::Stats => Ok(self.stats()),
            ShardAsk::Seam { fault, job } => self.seam(&fault, job.as_ref()),
        }
    }

    fn create(
        self: &Rc<Self>,
        definition: Definition,
        enabled: bool,
    ) -> Result<ShardReply, StorageError> {
        if let Some(number) = self.number_of(&definition.job_id)? {
            let detail = format!(
                "job {} exists already; use PUT to change it",
                definition.job_id
            );
            let mut refusal = Refusal {
                code: "job_exists".to_owned(),
                detail,
                run: None,
                revision: None,
            };
            refusal.revision = self.view(number, 0)?.map(|view| view.revision);
            return Ok(ShardReply::Refused(refusal));
        }
        let time = now();
        let number = jobs::next_number(&self.platform.sql)?;
        let at = JobRef {
            shard: self.job_ref(number).shard,
            number,
        };
        let (machine, turn) = match JobMachine::create(time, at, definition, enabled) {
            Ok(made) => made,
            Err(error) => return Ok(refused("validation_failed", error.to_string())),
        };
        jobs::insert(&self.platform.sql, &machine)?;
        self.inner.borrow_mut().roster.put(machine);
        let mut group = JobGroup::default();
        group.add(number, turn);
        self.commit(time, group)?;
        self.poke_clock();
        self.after(number)
    }

    /// Where no cron trigger comes, the first job sets the second clock going.
    fn poke_clock(self: &Rc<Self>) {
        let shard = Rc::clone(self);
        self.platform.state.wait_until(async move {
            if let Err(error) = crate::host::client::poke_clock(&shard.platform.env).await {
                worker::console_warn!(
                    "{{\"event\":\"clock_not_poked\",\"detail\":{:?}}}",
                    error.to_string()
                );
            }
        });
    }

    /// Steps a job on behalf of somebody who waits for the answer.
    pub(super) fn change(
        self: &Rc<Self>,
        job: &JobId,
        event: Event,
    ) -> Result<ShardReply, StorageError> {
        let Some(number) = self.number_of(job)? else {
            return Ok(refused("job_not_found", format!("there is no job {job}")));
        };
        match self.step_now(number, event)? {
            Ok(()) => self.after(number),
            Err(no) => Ok(refusal(no)),
        }
    }

    /// Steps and commits at once.
    pub(super) fn step_now(
        self: &Rc<Self>,
        number: u32,
        event: Event,
    ) -> Result<Result<(), NoTurn>, StorageError> {
        let time = now();
        let mut group = JobGroup::default();
        let stepped = self.step(time, number, event, &mut group)?;
        self.commit(time, group)?;
        self.launch(time)?;
        Ok(stepped)
    }

    /// The job after a change, with alarm and projection set going.
    fn after(self: &Rc<Self>, number: u32) -> Result<ShardReply, StorageError> {
        self.project(now());
        self.arm(now());
        Ok(match self.view(number, RECENT)? {
            Some(view) => ShardReply::Job(Box::new(view)),
            None => ShardReply::Done,
        })
    }

    fn job(&self, job: &JobId) -> Result<ShardReply, StorageError> {
        let number = self.number_of(job)?;
        let view = number
            .map(|number| self.view(number, RECENT))
            .transpose()?
            .flatten();
        Ok(view.map_or_else(
            || refused("job_not_found", format!("there is no job {job}")),
            |view| ShardReply::Job(Box::new(view)),
        ))
    }

    fn jobs(&self, jobs: &[JobId]) -> Result<ShardReply, StorageError> {
        let mut views = Vec::with_capacity(jobs.len());
        for job in jobs {
            if let Some(number) = self.number_of(job)? {
                views.extend(self.view(number, RECENT)?);
            }
        }
        Ok(ShardReply::Jobs(views))
    }

    /// An operator who saves, resumes or deletes a quarantined job lets it be stepped again.
    /// What it had outstanding is taken up, as after a restart.
    fn absolve(self: &Rc<Self>, job: &JobId) -> Result<(), StorageError> {
        let Some(number) = self.number_of(job)? else {
            return Ok(());
        };
        if self.inner.borrow().roster.poison_of(number).is_none() {
            return Ok(());
        }
        jobs::set_quarantine(&self.platform.sql, number, None)?;
        let at = self.job_ref(number);
        {
            let mut inner = self.inner.borrow_mut();
            inner.roster.absolve(number);
            inner.roster.machine(&self.platform.sql, at)?;
        }
        self.take_up_jobs(now(), &[number], None)
    }

    fn stats(&self) -> ShardReply {
        let inner = self.inner.borrow();
        #[expect(clippy::cast_precision_loss, reason = "counts")]
        let mut stats = vec![
            (
                "rows_written".to_owned(),
                self.platform.sql.written() as f64,
            ),
            ("in_flight".to_owned(), inner.flights.out() as f64),
            ("waiting".to_owned(), inner.flights.waiting() as f64),
            ("unprojected".to_owned(), inner.projection.len() as f64),
            (
                "machines".to_owned(),
                inner.roster.machines().count() as f64,
            ),
        ];
        stats.extend(
            inner
                .counters
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value)),
        );
        ShardReply::Stats(stats)
    }
}

/// A machine's refusal, in the API's words.
pub(super) fn refusal(no: NoTurn) -> ShardReply {
    let mut refusal = Refusal {
        code: String::new(),
        detail: String::new(),
        run: None,
        revision: None,
    };
    let (code, detail) = match no {
        NoTurn::NoJob => ("job_not_found", "there is no such job".to_owned()),
        NoTurn::Quarantined(why) => ("quarantined", why),
        NoTurn::Rejected(reject) => {
            let code = match &reject {
                Reject::Deleted => "job_deleted",
                Reject::UnknownRun(_) => "run_not_found",
                Reject::Ended(_) => "run_ended",
                Reject::StaleFence { .. } => "stale_fence",
                Reject::Revision { current } => {
                    refusal.revision = Some(*current);
                    "revision_mismatch"
                }
                Reject::Active { run, .. } => {
                    refusal.run = Some(run.clone());
                    "run_active"
                }
                Reject::QueueFull { .. } => "queue_full",
                Reject::Schedule(_) => "validation_failed",
            };
            (code, reject.to_string())
        }
    };
    code.clone_into(&mut refusal.code);
    refusal.detail = detail;
    ShardReply::Refused(refusal)
}
