//! Occurrences: which instants have come, which of them run, and what is recorded of the others.

use std::cell::RefCell;

use super::JobMachine;
use super::def::{Blackout, Misfire, ScheduleSpec};
use super::run::{SkippedRange, Trigger};
use super::start::Admission;
use super::view::JobStatus;
use crate::ids::{RunId, RunTag};
use crate::schedule::{Cron, Every, Schedule, ScheduleError, Zone, Zones};
use crate::time::{MINUTE, Millis};

/// A start that is late by no more than this is an ordinary start.
pub(super) const GRACE_MS: i64 = MINUTE;

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
            Self::Cron { text, dialect, zone } => {
                let zone = ZONES.with_borrow_mut(|zones| zones.get(zone))?;
                Schedule::Cron(Cron::parse(text, *dialect, zone)?)
            }
            Self::Every { period_ms, anchor } => Schedule::Every(Every::new(*period_ms, *anchor)?),
            Self::At { at } => Schedule::At(*at),
            Self::After { .. } | Self::None => Schedule::None,
        })
    }
}

impl JobMachine {
    /// The first planned instant after `after` that lies within `startAt` and `endAt`.
    fn next_after(&self, after: Millis) -> Option<Millis> {
        let after = self.definition.start_at.map_or(after, |start| after.max(start.plus(-1)));
        let next = self.schedule.next(after)?;
        self.definition.end_at.is_none_or(|end| next < end).then_some(next)
    }

    /// Plans the next instant after `now`, if the schedule is on.
    pub(super) fn plan_from(&mut self, now: Millis) {
        let on = self.head.status == JobStatus::Enabled;
        self.head.next_due = if on { self.next_after(now) } else { None };
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
        if self.head.tzdb != crate::schedule::tzdb_version() {
            self.replan_for_new_zones(now);
        }
        let Some(first) = self.head.next_due else { return };
        let horizon = now.plus(-self.jitter());
        if self.head.status != JobStatus::Enabled || first > horizon {
            return;
        }
        let last_fire = self.definition.end_at.map_or(horizon, |end| horizon.min(end.plus(-1)));
        let last = self.schedule.last_at_or_before(last_fire, first.plus(-1)).unwrap_or(first).max(first);
        self.head.next_due = self.next_after(last);
        self.touched.head = true;
        if first == last {
            self.fire_single(now, first, horizon);
        } else {
            self.fire_missed(now, first, last, horizon);
        }
    }

    /// After an update of the tz database: an instant that has not come yet is computed anew.
    fn replan_for_new_zones(&mut self, now: Millis) {
        crate::schedule::tzdb_version().clone_into(&mut self.head.tzdb);
        self.touched.head = true;
        if self.head.next_due.is_some_and(|due| due > now) {
            self.plan_from(now);
        }
    }

    fn fire_single(&mut self, now: Millis, at: Millis, horizon: Millis) {
        let late = horizon.since(at);
        if late <= GRACE_MS {
            self.fire(now, at, Trigger::Schedule { late_ms: late }, Admission::ByPolicy);
        } else {
            self.make_up(now, at, late, Admission::ByPolicy);
        }
    }

    /// A missed instant that runs late, unless the policy or the window is against it.
    fn make_up(&mut self, now: Millis, at: Millis, late: i64, admission: Admission) {
        let misfire = self.definition.misfire;
        if misfire.policy == Misfire::Skip {
            self.skip_missed(now, 1, at, at, "missed, and the misfire policy is skip");
        } else if late > misfire.catch_up_window_ms {
            self.skip_missed(now, 1, at, at, "missed, and older than the catch-up window");
        } else {
            self.fire(now, at, Trigger::CatchUp { late_ms: late }, admission);
        }
    }

    /// Several instants came at once: all but the newest were missed.
    fn fire_missed(&mut self, now: Millis, first: Millis, last: Millis, horizon: Millis) {
        let misfire = self.definition.misfire;
        if misfire.policy == Misfire::CatchUp {
            self.catch_up(now, first, last, horizon);
            return;
        }
        let why = match misfire.policy {
            Misfire::Skip => "missed, and the misfire policy is skip",
            Misfire::FireOnce | Misfire::CatchUp => "missed; one run makes up for all of them",
        };
        if let Some(before) = self.schedule.last_at_or_before(last.plus(-1), first.plus(-1)) {
            let count = self.schedule.count(first.plus(-1), before);
            self.skip_missed(now, count, first, before, why);
        }
        self.fire_single(now, last, horizon);
    }

    /// Runs the newest `maxCatchUp` instants within the window, each after the one before.
    fn catch_up(&mut self, now: Millis, first: Millis, last: Millis, horizon: Millis) {
        let misfire = self.definition.misfire;
        let oldest = horizon.plus(-misfire.catch_up_window_ms.max(GRACE_MS)).max(first);
        let mut made_up = Vec::new();
        let mut at = Some(last);
        while let Some(instant) = at.filter(|instant| *instant >= oldest) {
            if made_up.len() >= usize::try_from(misfire.max_catch_up).unwrap_or(usize::MAX) {
                break;
            }
            made_up.push(instant);
            at = self.schedule.last_at_or_before(instant.plus(-1), first.plus(-1));
        }
        if let Some(before) = at {
            let count = self.schedule.count(first.plus(-1), before);
            self.skip_missed(now, count, first, before, "missed, and beyond the limits of catching up");
        }
        for instant in made_up.into_iter().rev() {
            let late = horizon.since(instant);
            let trigger = if late <= GRACE_MS { Trigger::Schedule { late_ms: late } } else { Trigger::CatchUp { late_ms: late } };
            self.fire(now, instant, trigger, Admission::InOrder);
        }
    }

    /// The run of one instant.
    fn fire(&mut self, now: Millis, at: Millis, trigger: Trigger, admission: Admission) {
        let id = self.occurrence(at);
        if self.blacked_out(at) {
            self.record_skipped(now, id, trigger, "falls into a blackout window", None);
        } else {
            self.admit(now, id, trigger, None, admission);
        }
    }

    fn occurrence(&self, at: Millis) -> RunId {
        RunId { job: self.at, at, tag: RunTag::Occurrence(self.head.schedule_version) }
    }

    fn skip_missed(&mut self, now: Millis, count: u64, first: Millis, last: Millis, why: &'static str) {
        let id = self.occurrence(last);
        let range = (count > 1).then_some(SkippedRange { count, first, last });
        let late_ms = now.since(first);
        self.record_skipped(now, id.clone(), Trigger::Schedule { late_ms }, why, range);
        let detail = format!("{count} planned start(s) {why}");
        self.effect(format!("{id}/missed"), super::Effect::Raise { cause: "missed", run: id, detail });
    }

    /// Day of the week (0 = Sunday) and minute of the day on the job's wall clock.
    fn local_day_and_minute(&self, at: Millis) -> (u8, u16) {
        let local = match &self.schedule {
            Schedule::Cron(cron) => cron.zone().local(at),
            Schedule::Every(_) | Schedule::At(_) | Schedule::None => Zone::utc().local(at),
        };
        let minute = local.hour.saturating_mul(60).saturating_add(local.minute);
        (u8::try_from(local.weekday).unwrap_or(0), u16::try_from(minute).unwrap_or(0))
    }

    fn blacked_out(&self, at: Millis) -> bool {
        self.definition.blackouts.iter().any(|window| match window {
            Blackout::Between { from, until } => (*from..*until).contains(&at),
            Blackout::Weekly { days, from_minute, until_minute } => {
                let (day, minute) = self.local_day_and_minute(at);
                let yesterday = if day == 0 { 6 } else { day.saturating_sub(1) };
                if from_minute <= until_minute {
                    days.contains(&day) && (*from_minute..*until_minute).contains(&minute)
                } else {
                    (days.contains(&day) && minute >= *from_minute) || (days.contains(&yesterday) && minute < *until_minute)
                }
            }
        })
    }
}
