//! Spans of time: milliseconds as a number, or a text such as `30s`.

use cronwright_core::time::{DAY, HOUR, MINUTE, SECOND};
use serde_json::Value;

use super::reader::{Errors, int_of, wrong_type};
use crate::problem::FieldError;

/// A span in `min..=max` ms.
pub(super) fn span_of(
    path: &str,
    value: &Value,
    min: i64,
    max: i64,
    errors: &mut Errors,
) -> Option<i64> {
    let ms = match value {
        Value::Number(_) => return int_of(path, value, min, max, errors),
        Value::String(text) => parse(text),
        other => {
            return errors.none(wrong_type(
                path,
                "milliseconds or a text such as \"30s\"",
                other,
            ));
        }
    };
    match ms {
        Some(ms) if (min..=max).contains(&ms) => Some(ms),
        Some(ms) => errors.none(FieldError::new(
            path,
            "out_of_range",
            format!("{ms} ms is not in {min} to {max} ms"),
        )),
        None => {
            let error = FieldError::new(path, "bad_span", "this is not a span of time");
            errors.none(error.hint("write 500ms, 30s, 2m, 1h, 1d or a number of milliseconds"))
        }
    }
}

/// `500ms`, `30s`, `2m`, `1h30m`, `1d`: units may follow one another, each at most once, large to small.
fn parse(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 5] = [
        ("d", DAY),
        ("h", HOUR),
        ("m", MINUTE),
        ("s", SECOND),
        ("ms", 1),
    ];
    let mut rest = text.trim();
    let (mut total, mut largest) = (0_i64, i64::MAX);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail.bytes().take_while(u8::is_ascii_lowercase).count();
        let (unit, tail) = tail.split_at_checked(letters)?;
        let (_, size) = UNITS.iter().find(|(name, _)| *name == unit)?;
        if *size >= largest {
            return None;
        }
        largest = *size;
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(*size)?)?;
        rest = tail;
    }
    Some(total)
}

/// The shortest text that reads back as `ms`, for documents we write.
pub(super) fn period_text(ms: i64) -> String {
    for (unit, size) in [("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", SECOND)] {
        if ms % size == 0 {
            return format!("{}{unit}", ms / size);
        }
    }
    format!("{ms}ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_people_write_them() {
        for (text, ms) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("2m", 120_000),
            ("1h30m", 5_400_000),
            ("1d", DAY),
            (" 5s ", 5_000),
        ] {
            assert_eq!(parse(text), Some(ms), "{text}");
        }
        for text in [
            "",
            "5",
            "s",
            "5 s",
            "-5s",
            "5S",
            "5s5s",
            "5s1m",
            "99999999999999999999s",
            "9223372036854775807d",
            "１s",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_period_is_written_as_it_reads() {
        for ms in [1_000, 5_000, 90_000, 7_200_000, DAY, 1_500] {
            assert_eq!(parse(&period_text(ms)), Some(ms));
        }
    }
}
