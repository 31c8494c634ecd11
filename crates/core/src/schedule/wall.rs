//! Matching seconds on an endless wall without clock changes: the local time line.

use super::civil::{date_of, join, split};
use super::days::Days;
use super::spec::Spec;

/// The first second of a day, at least `second`, that matches.
fn time_at_or_after(spec: &Spec, second: u32) -> Option<u32> {
    let (mut hour, mut minute, mut sec) = (second / 3_600, second / 60 % 60, second % 60);
    let h = spec.hours.at_or_after(hour)?;
    if h > hour {
        (minute, sec) = (0, 0);
    }
    hour = h;
    if let Some(m) = spec.minutes.at_or_after(minute) {
        let least = if m > minute { 0 } else { sec };
        if let Some(s) = spec.seconds.at_or_after(least) {
            return Some(hour * 3_600 + m * 60 + s);
        }
        if let Some(m) = spec.minutes.at_or_after(m + 1) {
            return Some(hour * 3_600 + m * 60 + spec.seconds.first()?);
        }
    }
    let hour = spec.hours.at_or_after(hour + 1)?;
    Some(hour * 3_600 + spec.minutes.first()? * 60 + spec.seconds.first()?)
}

/// The last second of a day, at most `second`, that matches.
fn time_at_or_before(spec: &Spec, second: u32) -> Option<u32> {
    let (hour, mut minute, mut sec) = (second / 3_600, second / 60 % 60, second % 60);
    let h = spec.hours.at_or_before(hour)?;
    if h < hour {
        (minute, sec) = (59, 59);
    }
    if let Some(m) = spec.minutes.at_or_before(minute) {
        let most = if m < minute { 59 } else { sec };
        if let Some(s) = spec.seconds.at_or_before(most) {
            return Some(h * 3_600 + m * 60 + s);
        }
        if let Some(m) = spec.minutes.below(m).last() {
            return Some(h * 3_600 + m * 60 + spec.seconds.last()?);
        }
    }
    let hour = spec.hours.below(h).last()?;
    Some(hour * 3_600 + spec.minutes.last()? * 60 + spec.seconds.last()?)
}

/// How many matching seconds of a day are before `second`.
fn times_before(spec: &Spec, second: u32) -> u64 {
    let (hour, minute, sec) = (second / 3_600, second / 60 % 60, second % 60);
    let mut count = u64::from(spec.hours.below(hour).len() * spec.times_per_hour());
    if spec.hours.has(hour) {
        count += u64::from(spec.minutes.below(minute).len() * spec.seconds.len());
        if spec.minutes.has(minute) {
            count += u64::from(spec.seconds.below(sec).len());
        }
    }
    count
}

impl Days<'_> {
    /// The first matching local second that is at least `local`.
    pub fn second_at_or_after(&self, local: i64) -> Option<i64> {
        let (today, second) = split(local);
        let date = date_of(today);
        let month = self.month_around(today, date);
        if month.has(date.day)
            && let Some(time) = time_at_or_after(self.spec, second)
        {
            return Some(join(today, time));
        }
        let day = match month.at_or_after(date.day + 1) {
            Some(later) => today + (later - date.day) as i32,
            None => self.after_month(date)?,
        };
        Some(join(day, time_at_or_after(self.spec, 0)?))
    }

    /// The last matching local second that is at most `local`.
    pub fn second_at_or_before(&self, local: i64) -> Option<i64> {
        let (today, second) = split(local);
        let date = date_of(today);
        let month = self.month_around(today, date);
        if month.has(date.day)
            && let Some(time) = time_at_or_before(self.spec, second)
        {
            return Some(join(today, time));
        }
        let day = match month.below(date.day).last() {
            Some(earlier) => today - (date.day - earlier) as i32,
            None => self.before_month(date)?,
        };
        Some(join(day, time_at_or_before(self.spec, 86_399)?))
    }

    /// How many local seconds of `from..to` match.
    pub fn seconds_between(&self, from: i64, to: i64) -> u64 {
        if from >= to {
            return 0;
        }
        let ((first, start), (last, end)) = (split(from), split(to));
        let whole = self.count(first, last) * self.spec.times_per_day();
        let tail = if end > 0 && self.has(last) {
            times_before(self.spec, end)
        } else {
            0
        };
        let head = if start > 0 && self.has(first) {
            times_before(self.spec, start)
        } else {
            0
        };
        (whole + tail).saturating_sub(head)
    }

    /// Whether any local second of `from..to` matches.
    pub fn any_between(&self, from: i64, to: i64) -> bool {
        from < to && self.second_at_or_after(from).is_some_and(|l| l < to)
    }
}
