//! Fixed periods, counted in UTC from an anchor.

use super::error::{ScheduleError, code};
use super::parse::MAX_TEXT;
use crate::time::{DAY, HOUR, MINUTE, Millis, SECOND};

/// The shortest period.
pub const MIN_PERIOD: i64 = SECOND;
/// The longest period: 366 days.
pub const MAX_PERIOD: i64 = 366 * DAY;

/// Fires at `anchor + k * period` for `k` = 0, 1, 2 and so on. Clock changes do not touch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    period: i64,
    anchor: Millis,
}

impl Every {
    /// A period in milliseconds, 1 s to 366 days, from an anchor.
    ///
    /// # Errors
    /// `period_out_of_range`.
    pub fn new(period_ms: i64, anchor: Millis) -> Result<Self, ScheduleError> {
        check(period_ms, &format!("{period_ms} ms"))?;
        Ok(Self {
            period: period_ms,
            anchor,
        })
    }

    /// The period in milliseconds.
    #[must_use]
    pub const fn period_ms(&self) -> i64 {
        self.period
    }

    /// The first instant it can fire at.
    #[must_use]
    pub const fn anchor(&self) -> Millis {
        self.anchor
    }

    /// The first fire strictly after `after`; `None` only at the end of time.
    #[must_use]
    pub fn next(&self, after: Millis) -> Option<Millis> {
        self.instant(self.fires_until(after))
    }

    /// The newest fire in `(not_before, at]`.
    #[must_use]
    pub fn last_at_or_before(&self, at: Millis, not_before: Millis) -> Option<Millis> {
        let last = self.instant(self.fires_until(at).checked_sub(1)?)?;
        (last > not_before).then_some(last)
    }

    /// How many fires are in `(after, until]`.
    #[must_use]
    pub fn count(&self, after: Millis, until: Millis) -> u64 {
        let count = self
            .fires_until(until)
            .saturating_sub(self.fires_until(after));
        u64::try_from(count).unwrap_or(0)
    }

    /// How many fires are at or before `at`.
    fn fires_until(&self, at: Millis) -> i128 {
        let since = i128::from(at.0) - i128::from(self.anchor.0);
        if since < 0 {
            0
        } else {
            since / i128::from(self.period) + 1
        }
    }

    fn instant(&self, k: i128) -> Option<Millis> {
        if k < 0 {
            return None;
        }
        let at = i128::from(self.anchor.0) + k * i128::from(self.period);
        i64::try_from(at).ok().map(Millis)
    }
}

fn check(period: i64, found: &str) -> Result<i64, ScheduleError> {
    if (MIN_PERIOD..=MAX_PERIOD).contains(&period) {
        return Ok(period);
    }
    Err(ScheduleError::new(code::PERIOD_RANGE)
        .found(found)
        .allowed("1s to 366d"))
}

/// Reads `5s`, `90s`, `2h` or `1h30m`, bare or after `every` or `@every`, into milliseconds.
///
/// # Errors
/// `bad_period` or `period_out_of_range`.
pub fn parse_period(text: &str) -> Result<i64, ScheduleError> {
    if text.len() > MAX_TEXT {
        return Err(bad("", 0, "1h30m"));
    }
    let trimmed = text.trim();
    let mut words = trimmed.split_whitespace();
    let first = words.next().unwrap_or("");
    let prefixed = first.eq_ignore_ascii_case("every") || first.eq_ignore_ascii_case("@every");
    let body = if prefixed {
        words.next().unwrap_or("")
    } else {
        first
    };
    if let Some(extra) = words.next() {
        return Err(bad(
            extra,
            offset_in(text, extra),
            "write it without spaces: 1h30m",
        ));
    }
    let period = sum(text, body)?;
    check(period, body).map_err(|error| {
        let at = offset_in(text, body);
        error.span(at, at + body.len())
    })
}

/// Adds up units from the largest to the smallest, each at most once.
fn sum(text: &str, body: &str) -> Result<i64, ScheduleError> {
    let mut rest = body;
    let mut total = 0_i64;
    let mut least = i64::MAX;
    if body.is_empty() {
        return Err(bad("", text.len(), "a period is missing"));
    }
    while !rest.is_empty() {
        let at = offset_in(text, rest);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = rest.split_at_checked(digits).unwrap_or((rest, ""));
        let unit: &str = tail
            .split(|c: char| c.is_ascii_digit())
            .next()
            .unwrap_or("");
        let size = match unit.to_ascii_lowercase().as_str() {
            "d" => DAY,
            "h" => HOUR,
            "m" => MINUTE,
            "s" => SECOND,
            "" => return Err(bad(rest, at, "the unit is missing: write 5s, 5m, 5h or 5d")),
            _ => return Err(bad(unit, at + digits, "write 90s, 5m or 1h30m")),
        };
        let Some(number) = number.bytes().try_fold(0_i64, |sum, digit| {
            sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
        }) else {
            return Err(bad(number, at, "this number is too large"));
        };
        if digits == 0 {
            return Err(bad(unit, at, "a number is missing before the unit"));
        }
        if size >= least {
            return Err(bad(unit, at + digits, "largest unit first, each once"));
        }
        least = size;
        total = total.saturating_add(number.saturating_mul(size));
        rest = tail.get(unit.len()..).unwrap_or("");
    }
    Ok(total)
}

/// Where `part`, a piece of `text`, stands.
fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn bad(found: &str, at: usize, hint: &str) -> ScheduleError {
    ScheduleError::new(code::BAD_PERIOD)
        .span(at, at + found.len())
        .found(found)
        .allowed("numbers with d, h, m or s")
        .hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_with_their_units() {
        for (text, period) in [
            ("5s", 5_000),
            ("90s", 90_000),
            ("every 2h", 7_200_000),
            ("@every 1h30m", 5_400_000),
            (" EVERY 1d ", 86_400_000),
        ] {
            assert_eq!(parse_period(text), Ok(period), "{text}");
        }
    }

    #[test]
    fn what_is_no_period_is_refused_with_its_place() {
        for (text, code, span) in [
            ("", code::BAD_PERIOD, (0, 0)),
            ("every", code::BAD_PERIOD, (5, 5)),
            ("5", code::BAD_PERIOD, (0, 1)),
            ("5x", code::BAD_PERIOD, (1, 2)),
            ("every 5m5m", code::BAD_PERIOD, (9, 10)),
            ("1.5h", code::BAD_PERIOD, (1, 2)),
            ("5 s", code::BAD_PERIOD, (2, 3)),
            ("0s", code::PERIOD_RANGE, (0, 2)),
            ("every 367d", code::PERIOD_RANGE, (6, 10)),
            ("99999999999999999999s", code::BAD_PERIOD, (0, 20)),
        ] {
            let error = parse_period(text).unwrap_err();
            assert_eq!((error.code, error.span), (code, Some(span)), "{text}");
        }
    }

    #[test]
    fn a_restart_does_not_move_the_phase() {
        let every = Every::new(10 * MINUTE, Millis::ZERO).unwrap();
        assert_eq!(every.next(Millis(7 * MINUTE)), Some(Millis(10 * MINUTE)));
        assert_eq!(every.next(Millis(10 * MINUTE)), Some(Millis(20 * MINUTE)));
        assert_eq!(every.next(Millis(-1)), Some(Millis::ZERO));
        assert_eq!(every.count(Millis(-1), Millis(HOUR)), 7);
        let last = every.last_at_or_before(Millis(HOUR - 1), Millis::ZERO);
        assert_eq!(last, Some(Millis(50 * MINUTE)));
        assert_eq!(every.last_at_or_before(Millis(5), Millis::ZERO), None);
        assert_eq!(every.next(Millis(i64::MAX)), None);
    }
}
