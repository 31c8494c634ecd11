//! Matching days of the calendar: the next, the last, and how many.

use super::civil::{
    Date, FIRST_YEAR, LAST_YEAR, date_of, day_of, is_leap, month_length, weekday_of,
};
use super::set::Bits;
use super::spec::Spec;

/// The matching days of every kind of month and year, worked out once.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// By weekday of the first day, then by length from 28 on; bit `n` is day `n`.
    months: [u32; 28],
    /// By weekday of January 1st, leap years after the others: whether any day matches. Makes an
    /// impossible date cost one look per year.
    years: u16,
}

impl Calendar {
    pub fn of(spec: &Spec) -> Self {
        let mut calendar = Self {
            months: [0; 28],
            years: 0,
        };
        let kinds = (0..7).flat_map(|first| (28..=31).map(move |length| (first, length)));
        for (place, (first, length)) in calendar.months.iter_mut().zip(kinds) {
            *place = u32::try_from(spec.days_in_month(first, length).0).unwrap_or(0);
        }
        for kind in 0..14 {
            if calendar.matches_in_year(spec, kind >= 7, kind % 7) {
                calendar.years |= 1 << kind;
            }
        }
        calendar
    }

    fn matches_in_year(&self, spec: &Spec, leap: bool, january: u32) -> bool {
        let mut first = january;
        for month in 1..=12 {
            let length = month_length(leap, month);
            if spec.months.has(month) && self.month(first, length) != Bits(0) {
                return true;
            }
            first = (first + length) % 7;
        }
        false
    }

    fn month(&self, first: u32, length: u32) -> Bits {
        let index = first * 4 + length - 28;
        Bits(self.months.get(index as usize).copied().unwrap_or(0).into())
    }

    /// Whether no year at all has a matching day.
    pub fn is_empty(&self) -> bool {
        self.years == 0
    }

    fn has_year(&self, year: i32) -> bool {
        let kind = weekday_of(day_of(year, 1, 1)) + if is_leap(year) { 7 } else { 0 };
        self.years >> kind & 1 == 1
    }
}

/// The days a cron text selects.
pub(super) struct Days<'a> {
    pub spec: &'a Spec,
    pub calendar: &'a Calendar,
}

impl Days<'_> {
    fn has_year(&self, year: i32) -> bool {
        self.spec.years.has(year) && self.calendar.has_year(year)
    }

    /// The matching days of a chosen month of a chosen year.
    fn chosen_month(&self, year: i32, month: u32) -> Bits {
        let first = weekday_of(day_of(year, month, 1));
        self.calendar
            .month(first, month_length(is_leap(year), month))
    }

    /// The matching days of the month around a day.
    pub fn month_around(&self, day: i32, date: Date) -> Bits {
        if !self.spec.months.has(date.month) || !self.spec.years.has(date.year) {
            return Bits(0);
        }
        let first = (weekday_of(day) + 36 - date.day) % 7;
        self.calendar
            .month(first, month_length(is_leap(date.year), date.month))
    }

    /// The first matching day after a month.
    pub fn after_month(&self, date: Date) -> Option<i32> {
        let mut month = date.month + 1;
        for year in date.year..=LAST_YEAR {
            if self.has_year(year) {
                while let Some(chosen) = self.spec.months.at_or_after(month) {
                    if let Some(day) = self.chosen_month(year, chosen).first() {
                        return Some(day_of(year, chosen, day));
                    }
                    month = chosen + 1;
                }
            }
            month = 1;
        }
        None
    }

    /// The last matching day before a month.
    pub fn before_month(&self, date: Date) -> Option<i32> {
        let mut month = date.month - 1;
        for year in (FIRST_YEAR..=date.year).rev() {
            if self.has_year(year) {
                while let Some(chosen) = self.spec.months.at_or_before(month) {
                    if let Some(day) = self.chosen_month(year, chosen).last() {
                        return Some(day_of(year, chosen, day));
                    }
                    month = chosen - 1;
                }
            }
            month = 12;
        }
        None
    }

    /// Whether a day matches.
    pub fn has(&self, day: i32) -> bool {
        let date = date_of(day);
        self.month_around(day, date).has(date.day)
    }

    /// How many days of `from..to` match.
    pub fn count(&self, from: i32, to: i32) -> u64 {
        let from = from.max(day_of(FIRST_YEAR, 1, 1));
        let to = to.min(day_of(LAST_YEAR + 1, 1, 1));
        if from >= to {
            return 0;
        }
        let (start, end) = (date_of(from), date_of(to));
        let mut sum = 0;
        for year in start.year..=end.year {
            if !self.has_year(year) {
                continue;
            }
            for month in self.spec.months.iter() {
                let place = (year, month);
                if place < (start.year, start.month) || place > (end.year, end.month) {
                    continue;
                }
                let mut days = self.chosen_month(year, month);
                if place == (end.year, end.month) {
                    days = days.below(end.day);
                }
                if place == (start.year, start.month) {
                    days = Bits(days.0 & !Bits(u64::MAX).below(start.day).0);
                }
                sum += u64::from(days.len());
            }
        }
        sum
    }
}
