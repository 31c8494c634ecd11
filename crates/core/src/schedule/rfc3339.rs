//! Instants as RFC 3339 text.

use super::civil::{DAY_SECONDS, date_of, day_of, is_leap, month_length, split};
use crate::time::Millis;

/// Writes an instant in UTC: `2026-11-29T14:00:00Z`, with `.123` only if there are milliseconds.
///
/// Years outside 0-9999, which RFC 3339 cannot say, are clamped to its ends.
#[must_use]
pub fn rfc3339(at: Millis) -> String {
    format!("{}Z", wall(at, 0))
}

/// Writes an instant on a wall `offset` seconds ahead of UTC: `2026-11-29T22:00:00+08:00`.
#[must_use]
pub fn rfc3339_at(at: Millis, offset: i32) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.unsigned_abs() / 60;
    format!(
        "{}{sign}{:02}:{:02}",
        wall(at, offset),
        minutes / 60,
        minutes % 60
    )
}

fn wall(at: Millis, offset: i32) -> String {
    const FIRST: i64 = -62_167_219_200;
    const LAST: i64 = 253_402_300_799;
    let millis = at.0.rem_euclid(1_000);
    let local = (at.0.div_euclid(1_000) + i64::from(offset)).clamp(FIRST, LAST);
    let (day, second) = split(local);
    let date = date_of(day);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let mut text = format!(
        "{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}",
        date.year, date.month, date.day
    );
    if millis != 0 {
        text.push_str(&format!(".{millis:03}"));
    }
    text
}

/// Reads an RFC 3339 instant with `Z` or an offset. Fractions beyond milliseconds are cut off.
///
/// `None` for anything else, including dates that do not exist and leap seconds.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<Millis> {
    let bytes = text.as_bytes();
    if bytes.len() < 20 || bytes.len() > 40 {
        return None;
    }
    let number = |from: usize, to: usize| digits(bytes.get(from..to)?);
    let mark = |at: usize, allowed: &[u8]| allowed.contains(bytes.get(at)?).then_some(());
    mark(4, b"-")?;
    mark(7, b"-")?;
    mark(10, b"Tt ")?;
    mark(13, b":")?;
    mark(16, b":")?;
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = is_leap(i32::try_from(year).ok()?);
    if !(1..=12).contains(&month) || day < 1 || day > month_length(leap, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (millis, zone) = fraction(bytes.get(19..)?)?;
    let date = day_of(i32::try_from(year).ok()?, month, day);
    let clock = i64::from(hour * 3_600 + minute * 60 + second);
    let utc = i64::from(date) * DAY_SECONDS + clock - offset(zone)?;
    Some(Millis(utc * 1_000 + i64::from(millis)))
}

fn digits(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0, |sum: u32, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + u32::from(byte - b'0'))
    })
}

fn fraction(rest: &[u8]) -> Option<(u32, &[u8])> {
    let Some((b'.', rest)) = rest.split_first() else {
        return Some((0, rest));
    };
    let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (fraction, zone) = rest.split_at_checked(count)?;
    let kept = fraction.get(..count.min(3))?;
    let scale = 10_u32.pow(3 - u32::try_from(kept.len()).ok()?);
    (count > 0).then_some((digits(kept)? * scale, zone))
}

fn offset(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = i64::from(hours * 3_600 + minutes * 60);
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for at in [
            0,
            1,
            -1,
            1_790_000_000_123,
            -14 * 3_600_000,
            7_258_118_399_000,
        ] {
            assert_eq!(parse_rfc3339(&rfc3339(Millis(at))), Some(Millis(at)));
            assert_eq!(
                parse_rfc3339(&rfc3339_at(Millis(at), -12_600)),
                Some(Millis(at))
            );
        }
        assert_eq!(rfc3339(Millis(1_795_960_800_000)), "2026-11-29T14:00:00Z");
        assert_eq!(
            rfc3339_at(Millis(1_795_960_800_000), 28_800),
            "2026-11-29T22:00:00+08:00"
        );
    }

    #[test]
    fn the_ends_of_i64_are_written_without_overflow() {
        assert!(rfc3339(Millis(i64::MAX)).starts_with("9999-12-31"));
        assert!(rfc3339_at(Millis(i64::MIN), -1).starts_with("0000-01-01"));
    }

    #[test]
    fn what_is_no_instant_is_not_read() {
        for text in [
            "",
            "2026-11-29",
            "2026-11-29T14:00:00",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-29T24:00:00Z",
            "2026-11-29T14:00:60Z",
            "2026-11-29T14:00:00.Z",
            "2026-11-29T14:00:00+8:00",
            "2026-11-29T14:00:00+24:00",
            "２026-11-29T14:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
    }
}
