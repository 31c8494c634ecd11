//! What people and other jobs ask for: run, replay, cancel, edit, pause, delete, links.

use super::def::{AfterOn, Definition, Overlap, ScheduleSpec};
use super::due::BLACKED_OUT;
use super::head::LinkOwed;
use super::run::{Run, Stop, Trigger};
use super::start::{Admission, MAX_OPEN};
use super::view::JobStatus;
use super::{Effect, JobMachine, Reject};
use crate::ids::{JobId, RunId, RunTag, digest16};
use crate::machine::Keyed;
use crate::outcome::RunState;
use crate::time::Millis;

impl JobMachine {
    fn alive(&self) -> Result<(), Reject> {
        if self.head.status == JobStatus::Deleted {
            Err(Reject::Deleted)
        } else {
            Ok(())
        }
    }

    pub(super) fn run_now(
        &mut self,
        now: Millis,
        key: &str,
        params: Option<String>,
        overlap: Option<Overlap>,
        by: String,
    ) -> Result<(), Reject> {
        let tag = RunTag::Manual(digest16(&[key]));
        self.manual(now, tag, Trigger::Manual { by }, params, overlap)
    }

    pub(super) fn replay(
        &mut self,
        now: Millis,
        of: &Run,
        key: &str,
        by: String,
    ) -> Result<(), Reject> {
        let tag = RunTag::Replay(digest16(&[key]));
        self.manual(
            now,
            tag,
            Trigger::Replay {
                of: of.id.clone(),
                by,
            },
            of.params.clone(),
            None,
        )
    }

    /// A person asked: the overlap policy holds, and says so instead of leaving a skipped record.
    fn manual(
        &mut self,
        now: Millis,
        tag: RunTag,
        trigger: Trigger,
        params: Option<String>,
        overlap: Option<Overlap>,
    ) -> Result<(), Reject> {
        self.alive()?;
        let id = RunId {
            job: self.at,
            at: now,
            tag,
        };
        if self.runs.values().any(|run| run.id.tag == id.tag) {
            return Ok(());
        }
        let policy = overlap.unwrap_or(self.definition.overlap);
        if let Some(active) = self.first_open() {
            let limit = self.definition.queue_limit;
            match policy {
                Overlap::Skip => {
                    return Err(Reject::Active {
                        run: active.id.clone(),
                        since: active.triggered_at,
                    });
                }
                Overlap::Queue if self.queued() >= usize::try_from(limit).unwrap_or(usize::MAX) => {
                    return Err(Reject::QueueFull { limit });
                }
                Overlap::Allow
                    if self.runs.values().filter(|run| run.is_open()).count() >= MAX_OPEN =>
                {
                    return Err(Reject::Active {
                        run: active.id.clone(),
                        since: active.triggered_at,
                    });
                }
                Overlap::Queue | Overlap::Replace | Overlap::Allow => {}
            }
        }
        self.admit(now, id, trigger, params, Admission::As(policy));
        Ok(())
    }

    pub(super) fn cancel(&mut self, now: Millis, id: &RunId, by: &str) -> Result<(), Reject> {
        let seq = self.open_seq(id)?;
        self.stop(now, seq, Stop::Cancel, by, "stopped on request");
        Ok(())
    }

    pub(super) fn replace(
        &mut self,
        now: Millis,
        definition: Definition,
        enabled: Option<bool>,
        seen: Option<u32>,
        by: &str,
    ) -> Result<(), Reject> {
        self.alive()?;
        let current = self.head.revision;
        if seen.is_some_and(|seen| seen != current) {
            return Err(Reject::Revision { current });
        }
        let schedule = definition
            .schedule
            .compile()
            .map_err(|error| Reject::Schedule(error.to_string()))?;
        // What came before the edit came under the old definition.
        self.fire_due(now);
        let same_time = definition.schedule == self.definition.schedule
            && definition.start_at == self.definition.start_at
            && definition.end_at == self.definition.end_at;
        if !same_time && enabled != Some(false) {
            self.fire_waiting(now);
        } else if !same_time {
            self.skip_waiting(now, "the job was paused before it started");
        }
        let before = std::mem::replace(&mut self.definition, definition);
        self.schedule = schedule;
        self.head.revision = current.saturating_add(1);
        self.head.updated_at = now;
        self.touched.definition = true;
        self.link_upstream(Some(&before));
        if !same_time {
            self.head.schedule_version = self.head.schedule_version.saturating_add(1);
            self.plan_from(now);
        }
        let status = self.head.status == JobStatus::Enabled;
        self.set_status(now, enabled.unwrap_or(status));
        self.effect(
            format!("job/{by}/{}", self.head.revision),
            Effect::ProjectJob,
        );
        Ok(())
    }

    pub(super) fn set_enabled(&mut self, now: Millis, enabled: bool) -> Result<(), Reject> {
        self.alive()?;
        self.set_status(now, enabled);
        self.effect("job", Effect::ProjectJob);
        Ok(())
    }

    /// Paused time is not made up for: the next start is the next planned one.
    fn set_status(&mut self, now: Millis, enabled: bool) {
        let status = if enabled {
            JobStatus::Enabled
        } else {
            JobStatus::Paused
        };
        if self.head.status != status {
            self.fire_due(now);
            self.skip_waiting(now, "the job was paused before it started");
            self.head.status = status;
            self.head.updated_at = now;
            self.plan_from(now);
        }
    }

    pub(super) fn delete(&mut self, now: Millis, by: &str) -> Result<(), Reject> {
        self.alive()?;
        self.fire_due(now);
        self.skip_waiting(now, "the job was deleted before it started");
        self.head.status = JobStatus::Deleted;
        self.head.next_due = None;
        self.head.updated_at = now;
        self.touched.head = true;
        if let ScheduleSpec::After { job, .. } = &self.definition.schedule {
            let job = job.clone();
            self.owe_link(job, false);
        }
        let open: Vec<u64> = self
            .runs
            .values()
            .filter(|run| run.is_open())
            .map(|run| run.seq)
            .collect();
        // The newest first, so that no queued run starts when the one before it ends.
        for seq in open.into_iter().rev() {
            self.stop(now, seq, Stop::Deleted, by, "the job was deleted");
        }
        self.effect("job", Effect::ProjectJob);
        Ok(())
    }

    /// A run of the job this one runs after has ended.
    pub(super) fn upstream(&mut self, now: Millis, job: JobId, run: RunId, ended: RunState) {
        let ScheduleSpec::After { job: expected, on } = &self.definition.schedule else {
            return;
        };
        let id = RunId {
            job: self.at,
            at: run.at,
            tag: RunTag::After(digest16(&[&run.to_string()])),
        };
        let known = self.runs.values().any(|run| run.id == id);
        let started = self.definition.start_at.is_none_or(|start| start <= now);
        let over = self.definition.end_at.is_some_and(|end| end <= now);
        if *expected != job || known || self.head.status != JobStatus::Enabled || !started || over {
            return;
        }
        let on = *on;
        let trigger = Trigger::After {
            job: job.clone(),
            run: run.clone(),
            ended,
        };
        let follows = match on {
            AfterOn::Finish => true,
            AfterOn::Success => ended == RunState::Success,
            AfterOn::Failure => matches!(ended, RunState::Failed | RunState::TimedOut),
        };
        if follows && self.blacked_out(now) {
            self.record_skipped(now, id, trigger, BLACKED_OUT, None);
        } else if follows {
            self.admit(now, id, trigger, None, Admission::ByPolicy);
        } else if on == AfterOn::Success {
            let why = format!(
                "job {job} did not succeed: run {run} ended as {}",
                ended.as_str()
            );
            self.record_skipped(now, id, trigger, why, None);
        }
    }

    pub(super) fn link(&mut self, dependent: JobId, on: bool) {
        if self.head.dependents.contains(&dependent) == on {
            return;
        }
        if on {
            self.head.dependents.push(dependent);
        } else {
            self.head.dependents.retain(|job| *job != dependent);
        }
        self.touched.head = true;
    }

    /// Tells the job this one runs after, and the one it no longer runs after.
    pub(super) fn link_upstream(&mut self, before: Option<&Definition>) {
        let upstream = |definition: &Definition| match &definition.schedule {
            ScheduleSpec::After { job, .. } => Some(job.clone()),
            ScheduleSpec::Cron { .. }
            | ScheduleSpec::Every { .. }
            | ScheduleSpec::At { .. }
            | ScheduleSpec::None => None,
        };
        let (old, new) = (before.and_then(upstream), upstream(&self.definition));
        if old == new {
            return;
        }
        if let Some(job) = old {
            self.owe_link(job, false);
        }
        if let Some(job) = new {
            self.owe_link(job, true);
        }
    }

    fn owe_link(&mut self, job: JobId, on: bool) {
        self.head.links.retain(|link| link.job != job);
        self.head.links.push(LinkOwed {
            job: job.clone(),
            on,
        });
        self.touched.head = true;
        let told = self.tell_link(&LinkOwed { job, on });
        self.touched.effects.push(told);
    }

    pub(super) fn link_effects(&self) -> Vec<Keyed<Effect>> {
        let tell = |link| self.tell_link(link);
        self.head.links.iter().map(tell).collect()
    }

    /// Many jobs of one shard may run after the same one: whose word it is belongs to the key.
    fn tell_link(&self, link: &LinkOwed) -> Keyed<Effect> {
        Keyed {
            key: format!("{}/link/{}/{}", self.definition.job_id, link.job, link.on),
            effect: Effect::TellUpstream {
                upstream: link.job.clone(),
                on: link.on,
            },
        }
    }

    pub(super) fn link_taken(&mut self, job: &JobId, on: bool) {
        let before = self.head.links.len();
        self.head
            .links
            .retain(|link| link.job != *job || link.on != on);
        self.touched.head |= self.head.links.len() != before;
        let alive = self.head.status != JobStatus::Deleted;
        let wanted = alive
            && matches!(&self.definition.schedule, ScheduleSpec::After { job: upstream, .. } if upstream == job);
        if !alive && self.head.links.is_empty() {
            self.effect("job", Effect::ProjectJob);
        }
        // An older word was taken last, or nobody knows in which order: the right one is told again.
        if wanted != on {
            self.owe_link(job.clone(), wanted);
        }
    }
}
