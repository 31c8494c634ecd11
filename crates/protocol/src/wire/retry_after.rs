//! `Retry-After`, which is input from outside: read strictly, and never beyond a day.

use cronwright_core::time::{DAY, HOUR, MINUTE, Millis, SECOND};

/// The longest wait that is honoured.
pub const LONGEST_MS: i64 = DAY;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The wait in ms that a `Retry-After` value asks for: seconds, or one of the three date forms of
/// RFC 9110. Longer than 24 h is 24 h, a date that has passed is 0, anything else is `None`.
#[must_use]
pub fn parse_retry_after(text: &str, now: Millis) -> Option<i64> {
    let text = text.trim_matches([' ', '\t']);
    if text.is_empty() || text.len() > 64 {
        return None;
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than fit are a long wait, not an error.
        let seconds = text.parse::<i64>().unwrap_or(i64::MAX);
        return Some(seconds.saturating_mul(SECOND).min(LONGEST_MS));
    }
    Some(parse_date(text, now)?.since(now).clamp(0, LONGEST_MS))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
fn parse_date(text: &str, now: Millis) -> Option<Millis> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let (day, month, year, clock) = match fields.as_slice() {
        [_, day, month, year, clock, "GMT"] => (*day, *month, digits(year, 4)?, *clock),
        [_, date, clock, "GMT"] => {
            let (day, rest) = date.split_once('-')?;
            let (month, year) = rest.split_once('-')?;
            (day, month, full_year(digits(year, 2)?, now), *clock)
        }
        [_, month, day, clock, year] => (*day, *month, digits(year, 4)?, *clock),
        _ => return None,
    };
    let month = MONTHS.iter().position(|name| *name == month)?;
    let day = digits(day, day.len().clamp(1, 2))?;
    let days = days_from_epoch(year, i64::try_from(month).ok()?, day)?;
    let mut parts = clock.split(':');
    let (hour, minute, second) = (
        digits(parts.next()?, 2)?,
        digits(parts.next()?, 2)?,
        digits(parts.next()?, 2)?,
    );
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let within = hour * HOUR + minute * MINUTE + second * SECOND;
    Some(Millis(days.saturating_mul(DAY)).plus(within))
}

fn digits(text: &str, length: usize) -> Option<i64> {
    let shaped = text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    if shaped { text.parse().ok() } else { None }
}

/// Two digits mean the year that is at most 50 years ahead.
fn full_year(two: i64, now: Millis) -> i64 {
    let this = 1970 + now.0.div_euclid(DAY) * 400 / 146_097;
    let year = this - this.rem_euclid(100) + two;
    if year > this + 50 { year - 100 } else { year }
}

/// Days from the epoch to a day of the Gregorian calendar; `month` counts from 0.
fn days_from_epoch(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [
        31,
        if leap { 29 } else { 28 },
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let month = usize::try_from(month).ok()?;
    if day < 1 || day > *lengths.get(month)? {
        return None;
    }
    let past: i64 = lengths.iter().take(month).sum();
    let before = year - 1;
    let years = before * 365 + before / 4 - before / 100 + before / 400;
    // Days from 0001-01-01 to the epoch.
    Some(years + past + day - 1 - 719_162)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1994-11-06T08:49:37Z.
    const EXAMPLE: Millis = Millis(784_111_777_000);

    #[test]
    fn seconds_are_read_and_bounded() {
        for (text, ms) in [
            ("0", 0),
            ("120", 120_000),
            (" 5 ", 5_000),
            ("1000000000", LONGEST_MS),
            ("99999999999999999999", LONGEST_MS),
        ] {
            assert_eq!(parse_retry_after(text, EXAMPLE), Some(ms), "{text}");
        }
    }

    #[test]
    fn the_three_date_forms_are_the_same_instant() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(
                parse_retry_after(text, EXAMPLE.plus(-90_000)),
                Some(90_000),
                "{text}"
            );
            assert_eq!(parse_retry_after(text, EXAMPLE.plus(1)), Some(0), "{text}");
            assert_eq!(
                parse_retry_after(text, Millis::ZERO),
                Some(LONGEST_MS),
                "{text}"
            );
        }
        let leap_day = "Tue, 29 Feb 2028 00:00:00 GMT";
        assert_eq!(
            parse_retry_after(leap_day, Millis(1_835_395_199_000)),
            Some(1_000)
        );
    }

    #[test]
    fn what_is_neither_is_ignored() {
        for text in [
            "",
            "-5",
            "+5",
            "1.5",
            "soon",
            "5s",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Tue, 29 Feb 2027 00:00:00 GMT",
            "Sun, 06 Nov 1994 25:00:00 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 08:49:37:1 GMT",
            "٣",
        ] {
            assert_eq!(parse_retry_after(text, EXAMPLE), None, "{text}");
        }
    }
}
