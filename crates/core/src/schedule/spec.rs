//! What a cron text means: sets, and which days of a month they select.

use super::set::{Bits, Years};

/// Days of the month. Bit `n` is day `n` unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MonthDays {
    pub days: Bits,
    /// Bit `n`: `n` days before the last (`L` is bit 0).
    pub from_end: Bits,
    /// Bit `n`: the weekday nearest to day `n` (`15W`).
    pub nearest: Bits,
    /// Bit `n`: the weekday nearest to `n` days before the last (`LW` is bit 0).
    pub nearest_from_end: Bits,
}

/// Days of the week. Bit 0 is Sunday.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WeekDays {
    pub days: Bits,
    /// `nth[0]`: the first such weekday of the month (`FRI#1`).
    pub nth: [Bits; 5],
    /// The last such weekday of the month (`FRIL`).
    pub last: Bits,
}

/// How the two day fields combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DayRule {
    /// Both must match; an unrestricted field matches always.
    Both,
    /// One is enough (unix, both restricted).
    Either,
}

/// A compiled cron text, without zone and dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    pub seconds: Bits,
    pub minutes: Bits,
    pub hours: Bits,
    pub month_days: MonthDays,
    pub months: Bits,
    pub week_days: WeekDays,
    pub years: Years,
    pub rule: DayRule,
    /// Seconds, minutes or hours were written with `*`, `-` or `/`: clock changes neither delay nor
    /// double such a job, they take and give hours.
    pub interval: bool,
}

pub(super) const ALL_MONTH_DAYS: Bits = Bits::span(1, 31);
pub(super) const ALL_WEEK_DAYS: Bits = Bits::span(0, 6);

impl Spec {
    /// The matching days of a month whose first day is weekday `first`: bit `n` is day `n`.
    pub fn days_in_month(&self, first: u32, length: u32) -> Bits {
        let by_date = self.month_days.in_month(first, length).0;
        let by_week = self.week_days.in_month(first, length).0;
        let days = match self.rule {
            DayRule::Both => by_date & by_week,
            DayRule::Either => by_date | by_week,
        };
        Bits(days & Bits::span(1, length).0)
    }

    pub fn times_per_day(&self) -> u64 {
        u64::from(self.hours.len()) * u64::from(self.times_per_hour())
    }

    pub fn times_per_hour(&self) -> u32 {
        self.minutes.len() * self.seconds.len()
    }
}

impl MonthDays {
    pub fn every() -> Self {
        Self {
            days: ALL_MONTH_DAYS,
            ..Self::default()
        }
    }

    fn in_month(&self, first: u32, length: u32) -> Bits {
        let mut days = self.days;
        for back in self.from_end.iter().take_while(|back| *back < length) {
            days.insert(length - back);
        }
        for day in self.nearest.iter().take_while(|day| *day <= length) {
            days.insert(nearest_weekday(day, first, length));
        }
        for back in self.nearest_from_end.iter().take_while(|b| *b < length) {
            days.insert(nearest_weekday(length - back, first, length));
        }
        days
    }
}

/// The weekday Monday-Friday nearest to `day`, without leaving the month.
fn nearest_weekday(day: u32, first: u32, length: u32) -> u32 {
    match (first + day - 1) % 7 {
        6 if day == 1 => 3,
        6 => day - 1,
        0 if day == length => day - 2,
        0 => day + 1,
        _ => day,
    }
}

impl WeekDays {
    pub fn every() -> Self {
        Self {
            days: ALL_WEEK_DAYS,
            ..Self::default()
        }
    }

    fn in_month(&self, first: u32, length: u32) -> Bits {
        let mut days = in_every_week(self.days, first);
        let mut from = 1;
        for nth in self.nth {
            days |= in_every_week(nth, first) & Bits::span(from, from + 6).0;
            from += 7;
        }
        Bits(days | in_every_week(self.last, first) & Bits::span(length - 6, length).0)
    }
}

/// The days of a month, as bits, whose weekday is in `week`; the first day is weekday `first`.
fn in_every_week(week: Bits, first: u32) -> u64 {
    let turned = (week.0 >> first | week.0 << (7 - first)) & 0x7f;
    (turned | turned << 7 | turned << 14 | turned << 21 | turned << 28) << 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_weekday_never_leaves_its_month() {
        for first in 0..7 {
            for length in 28..=31 {
                for day in 1..=length {
                    let near = nearest_weekday(day, first, length);
                    let weekday = (first + near - 1) % 7;
                    assert!((1..=length).contains(&near) && near.abs_diff(day) <= 2);
                    assert!((1..=5).contains(&weekday));
                }
            }
        }
    }

    #[test]
    fn weekdays_fall_on_the_days_of_the_calendar() {
        for first in 0..7 {
            for wanted in 0..7 {
                let days = in_every_week(Bits(1 << wanted), first);
                for day in 1..=31 {
                    assert_eq!(days >> day & 1 == 1, (first + day - 1) % 7 == wanted);
                }
            }
        }
    }
}
