//! Days of the Gregorian calendar as numbers: day 0 is 1970-01-01, a Thursday.
//!
//! Only for years around 1970-2199, so `i32` never overflows.

/// Seconds of a day on the wall.
pub(super) const DAY_SECONDS: i64 = 86_400;
/// The first year a schedule can name.
pub(super) const FIRST_YEAR: i32 = 1970;
/// The last year a schedule can name.
pub(super) const LAST_YEAR: i32 = 2199;

/// A calendar date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date {
    pub year: i32,
    /// 1-12.
    pub month: u32,
    /// 1-31.
    pub day: u32,
}

/// The date of a day number (Howard Hinnant's `civil_from_days`).
pub(super) const fn date_of(day: i32) -> Date {
    let z = day + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    Date {
        year: yoe + era * 400 + (month <= 2) as i32,
        month: month as u32,
        day: (doy - (153 * mp + 2) / 5 + 1) as u32,
    }
}

/// The day number of a date (Howard Hinnant's `days_from_civil`).
pub(super) const fn day_of(year: i32, month: u32, day: u32) -> i32 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let mp = (month as i32 + 9) % 12;
    let doy = (153 * mp + 2) / 5 + day as i32 - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// 0 is Sunday.
pub(super) const fn weekday_of(day: i32) -> u32 {
    (day + 4).rem_euclid(7) as u32
}

pub(super) const fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days in a month, 28-31.
pub(super) const fn month_length(leap: bool, month: u32) -> u32 {
    match month {
        2 => 28 + leap as u32,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Splits seconds on the wall into a day number and the second of that day.
pub(super) const fn split(local: i64) -> (i32, u32) {
    (
        local.div_euclid(DAY_SECONDS) as i32,
        local.rem_euclid(DAY_SECONDS) as u32,
    )
}

/// The seconds on the wall of a second of a day; undoes [`split`].
pub(super) const fn join(day: i32, second: u32) -> i64 {
    day as i64 * DAY_SECONDS + second as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_1969_to_2200_survives_the_round_trip() {
        for day in -400..84_400 {
            let date = date_of(day);
            assert_eq!(day_of(date.year, date.month, date.day), day);
            assert!(date.day <= month_length(is_leap(date.year), date.month));
        }
        assert_eq!(weekday_of(0), 4);
        assert_eq!(weekday_of(day_of(2026, 11, 29)), 0);
    }
}
