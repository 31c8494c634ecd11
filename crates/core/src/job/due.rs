//! Occurrences: which instants have come, which of them run, and what is recorded of the others.

use std::cell::RefCell;

use super::JobMachine;
use super::def::{Blackout, Misfire, MisfirePolicy, ScheduleSpec};
use super::run::{SkippedRange, Trigger};
use super::start::Admission;
use super::view::JobStatus;
use crate::ids::{RunId, RunTag};
use crate::schedule::{Cron, Every, Schedule, ScheduleError, Zone, Zones};
use crate::time::{MINUTE, Millis};

/// A start that is late by no more than this is an ordinary start.
pub(super) const GRACE_MS: i64 = MINUTE;

/// Why a trigger in a blackout window starts nothing.
pub(super) const BLACKED_OUT: &str = "falls into a blackout window";

const MISSED_SKIP: &str = "missed, and the misfire policy is skip";

thread_local! {
    /// Zones are a few KiB each, and thousands of jobs share a handful.
    static ZONES: RefCell<Zones> = RefCell::default();
}

impl ScheduleSpec {
    /// The compiled schedule; none for a job that only runs after another or by hand.
    ///
    /// # Errors
    /// When the text, the zone or the period is not valid.
    pub fn compile(&self) -> Result<Schedule, ScheduleError> {
        Ok(match self {
            Self::Cron {
                text,
                dialect,
                zone,
            } => {
                let zone = ZONES.with_borrow_mut(|zones| zones.get(zone))?;
                Schedule::Cron(Cron::parse(text, *dialect, zone)?)
            }
            Self::Every { period_ms, anchor } => Schedule::Every(Every::new(*period_ms, *anchor)?),
            Self::At { at } => Schedule::At(*at),
            Self::After { .. } | Self::None => Schedule::None,
        })
    }
}

impl MisfirePolicy {
    /// Why an instant that is late by so much does not run any more.
    fn refusal(self, late_ms: i64) -> Option<&'static str> {
        if late_ms <= GRACE_MS {
            None
        } else if self.policy == Misfire::Skip {
            Some(MISSED_SKIP)
        } else {
            (late_ms > self.catch_up_window_ms)
                .then_some("missed, and older than the catch-up window")
        }
    }
}

impl JobMachine {
    /// The first planned instant after `after` that lies within `startAt` and `endAt`.
    fn next_after(&self, after: Millis) -> Option<Millis> {
        let after = self
            .definition
            .start_at
            .map_or(after, |start| after.max(start.plus(-1)));
        let next = self.schedule.next(after)?;
        self.definition
            .end_at
            .is_none_or(|end| next < end)
            .then_some(next)
    }

    /// Plans anew from `now` on, if the schedule is on.
    pub(super) fn plan_from(&mut self, now: Millis) {
        self.plan_after(now);
    }

    /// Plans the first instant after `after`; never one that has its record, even if clocks go back.
    fn plan_after(&mut self, after: Millis) {
        let after = self
            .head
            .recorded_to
            .map_or(after, |recorded| recorded.max(after));
        let on = self.head.status == JobStatus::Enabled;
        self.head.next_due = if on { self.next_after(after) } else { None };
        self.head.recorded_to = Some(after);
        crate::schedule::tzdb_version().clone_into(&mut self.head.tzdb);
        self.touched.head = true;
    }

    /// The job's own share of `jitterMs`: the same for every occurrence.
    pub(super) fn jitter(&self) -> i64 {
        let limit = self.definition.jitter_ms;
        if limit <= 0 {
            return 0;
        }
        let hash = crate::ids::digest16(&["jitter", self.definition.job_id.as_str()]);
        let number = i64::from_str_radix(hash.get(..12).unwrap_or("0"), 16).unwrap_or(0);
        number.checked_rem(limit.saturating_add(1)).unwrap_or(0)
    }

    /// Records every instant that has come, and plans the next one, in this turn.
    pub(super) fn fire_due(&mut self, now: Millis) {
        self.replan_for_new_zones();
        self.fire_up_to(now, now.plus(-self.jitter()), None);
    }

    /// Does not wait for the jitter: the schedule is about to be another, and what has come belongs to
    /// the one of now.
    pub(super) fn fire_waiting(&mut self, now: Millis) {
        let why = "the schedule was changed while they waited for their jitter; the newest ran";
        self.fire_up_to(now, now, Some(why));
    }

    /// `waited` says why instants before the newest do not run, where they are not late.
    fn fire_up_to(&mut self, now: Millis, horizon: Millis, waited: Option<&'static str>) {
        let Some((first, last)) = self.take_due(horizon) else {
            return;
        };
        let misfire = self.definition.misfire;
        // To wait for one's jitter is not to be late.
        let punctual = now.plus(-self.jitter());
        if misfire.policy == Misfire::CatchUp && first < last {
            self.catch_up(now, first, last, punctual);
            return;
        }
        let late = punctual.since(last).max(0);
        if let Some(why) = misfire.refusal(late) {
            self.skip_missed(now, first, last, why);
            return;
        }
        if let Some(before) = self
            .schedule
            .last_at_or_before(last.plus(-1), first.plus(-1))
        {
            let why = match misfire.policy {
                Misfire::Skip => MISSED_SKIP,
                Misfire::FireOnce | Misfire::CatchUp if self.blacked_out(last) => {
                    "missed, and the newest instant falls into a blackout window"
                }
                Misfire::FireOnce | Misfire::CatchUp => "missed; one run makes up for all of them",
            };
            match waited {
                Some(why) => drop(self.record_missed(now, first, before, why)),
                None => self.skip_missed(now, first, before, why),
            }
        }
        self.fire(now, last, late, Admission::ByPolicy);
    }

    /// The first and the last instant up to `horizon` that have no record yet. They get it in this turn.
    fn take_due(&mut self, horizon: Millis) -> Option<(Millis, Millis)> {
        let on = self.head.status == JobStatus::Enabled;
        let first = self.head.next_due.filter(|first| on && *first <= horizon)?;
        let until = self
            .definition
            .end_at
            .map_or(horizon, |end| horizon.min(end.plus(-1)));
        let last = self
            .schedule
            .last_at_or_before(until, first.plus(-1))
            .map_or(first, |last| last.max(first));
        self.plan_after(last);
        Some((first, last))
    }

    /// Instants that have come and will not start: they waited for their jitter when the schedule was
    /// switched off.
    pub(super) fn skip_waiting(&mut self, now: Millis, why: &'static str) {
        if let Some((first, last)) = self.take_due(now) {
            self.record_missed(now, first, last, why);
        }
    }

    /// Whether `next_due` was computed with an older tz database.
    pub(super) fn has_old_zones(&self) -> bool {
        self.head.next_due.is_some() && self.head.tzdb != crate::schedule::tzdb_version()
    }

    /// After an update of the tz database, whatever has no record yet is computed anew: an instant that
    /// moved into the past is late, not lost.
    fn replan_for_new_zones(&mut self) {
        if self.has_old_zones() {
            let due = self.head.next_due.map(|due| due.plus(-1));
            self.plan_after(
                self.head
                    .recorded_to
                    .or(due)
                    .unwrap_or(self.head.updated_at),
            );
        }
    }

    /// Runs the newest `maxCatchUp` instants within the window, each after the one before.
    fn catch_up(&mut self, now: Millis, first: Millis, last: Millis, horizon: Millis) {
        let misfire = self.definition.misfire;
        let oldest = horizon
            .plus(-misfire.catch_up_window_ms.max(GRACE_MS))
            .max(first);
        let mut made_up = Vec::new();
        let mut at = Some(last);
        while let Some(instant) = at.filter(|instant| *instant >= oldest) {
            if made_up.len() >= usize::try_from(misfire.max_catch_up).unwrap_or(usize::MAX) {
                break;
            }
            made_up.push(instant);
            at = self
                .schedule
                .last_at_or_before(instant.plus(-1), first.plus(-1));
        }
        if let Some(before) = at {
            self.skip_missed(
                now,
                first,
                before,
                "missed, and beyond the limits of catching up",
            );
        }
        for instant in made_up.into_iter().rev() {
            let late = horizon.since(instant).max(0);
            self.fire(now, instant, late, Admission::InOrder);
        }
    }

    /// The run of one instant.
    fn fire(&mut self, now: Millis, at: Millis, late_ms: i64, admission: Admission) {
        let id = self.occurrence(at);
        let trigger = if late_ms <= GRACE_MS {
            Trigger::Schedule { late_ms }
        } else {
            Trigger::CatchUp { late_ms }
        };
        if self.blacked_out(at) {
            self.record_skipped(now, id, trigger, BLACKED_OUT, None);
        } else {
            self.admit(now, id, trigger, None, admission);
        }
    }

    fn occurrence(&self, at: Millis) -> RunId {
        RunId {
            job: self.at,
            at,
            tag: RunTag::Occurrence(self.head.schedule_version),
        }
    }

    /// Records missed instants from `first` to `last`, and says so.
    fn skip_missed(&mut self, now: Millis, first: Millis, last: Millis, why: &'static str) {
        let (id, count) = self.record_missed(now, first, last, why);
        let detail = format!("{count} planned start(s) {why}");
        self.effect(
            format!("{id}/missed"),
            super::Effect::Raise {
                cause: "missed",
                run: id,
                detail,
            },
        );
    }

    /// One record for all instants from `first` to `last`; gives its id and how many they are.
    fn record_missed(
        &mut self,
        now: Millis,
        first: Millis,
        last: Millis,
        why: &'static str,
    ) -> (RunId, u64) {
        let id = self.occurrence(last);
        let count = self.schedule.count(first.plus(-1), last);
        let range = (count > 1).then_some(SkippedRange { count, first, last });
        let late_ms = now.since(first);
        self.record_skipped(now, id.clone(), Trigger::Schedule { late_ms }, why, range);
        (id, count)
    }

    /// Day of the week (0 = Sunday) and minute of the day on the job's wall clock.
    fn local_day_and_minute(&self, at: Millis) -> (u8, u16) {
        let local = match &self.schedule {
            Schedule::Cron(cron) => cron.zone().local(at),
            Schedule::Every(_) | Schedule::At(_) | Schedule::None => Zone::utc().local(at),
        };
        let minute = local.hour.saturating_mul(60).saturating_add(local.minute);
        (
            u8::try_from(local.weekday).unwrap_or(0),
            u16::try_from(minute).unwrap_or(0),
        )
    }

    pub(super) fn blacked_out(&self, at: Millis) -> bool {
        self.definition.blackouts.iter().any(|window| match window {
            Blackout::Between { from, until } => (*from..*until).contains(&at),
            Blackout::Weekly {
                days,
                from_minute,
                until_minute,
            } => {
                let (day, minute) = self.local_day_and_minute(at);
                let yesterday = if day == 0 { 6 } else { day.saturating_sub(1) };
                if from_minute <= until_minute {
                    days.contains(&day) && (*from_minute..*until_minute).contains(&minute)
                } else {
                    (days.contains(&day) && minute >= *from_minute)
                        || (days.contains(&yesterday) && minute < *until_minute)
                }
            }
        })
    }
}
