//! `startAt`, `endAt` and blackouts.

use cronwright_core::job::def::Blackout;
use cronwright_core::schedule::parse_rfc3339;
use cronwright_core::time::Millis;
use serde_json::{Map, Value};

use super::reader::{Errors, Object, wrong_type};
use crate::problem::FieldError;

/// Windows of one job.
const MOST_BLACKOUTS: usize = 20;

/// Names of weekdays, Sunday first, as in blackouts.
pub(super) const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// An instant as RFC 3339 text.
pub(super) fn instant_of(path: &str, value: &Value, errors: &mut Errors) -> Option<Millis> {
    let Some(text) = value.as_str() else {
        return errors.none(wrong_type(path, "an RFC 3339 instant", value));
    };
    match parse_rfc3339(text) {
        Some(at) => Some(at),
        None => {
            let error = FieldError::new(path, "bad_instant", "this is no instant of RFC 3339");
            errors.none(error.hint("write 2026-11-29T14:00:00Z or 2026-11-29T22:00:00+08:00"))
        }
    }
}

fn instant(object: &mut Object, name: &'static str, errors: &mut Errors) -> Option<Millis> {
    let value = object.take(name)?;
    instant_of(&object.path(name), &value, errors)
}

/// Reads `startAt` and `endAt`.
pub(super) fn bounds(
    document: &mut Object,
    errors: &mut Errors,
) -> (Option<Millis>, Option<Millis>) {
    let (start, end) = (
        instant(document, "startAt", errors),
        instant(document, "endAt", errors),
    );
    if let (Some(from), Some(until)) = (start, end)
        && from >= until
    {
        errors.add(FieldError::new(
            "endAt",
            "conflict",
            "endAt is not after startAt",
        ));
    }
    (start, end)
}

/// Reads `blackouts`.
pub(super) fn blackouts(document: &mut Object, errors: &mut Errors) -> Vec<Blackout> {
    let items = match document.take("blackouts") {
        None => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(other) => {
            errors.add(wrong_type("blackouts", "a list of windows", &other));
            return Vec::new();
        }
    };
    if items.len() > MOST_BLACKOUTS {
        errors.add(FieldError::new(
            "blackouts",
            "length",
            format!("at most {MOST_BLACKOUTS} windows"),
        ));
        return Vec::new();
    }
    let windows = items
        .into_iter()
        .enumerate()
        .filter_map(|(index, item)| match item {
            Value::Object(fields) => blackout(index, fields, errors),
            other => errors.none(wrong_type(
                &format!("blackouts[{index}]"),
                "an object",
                &other,
            )),
        });
    windows.collect()
}

/// `{"from": instant, "until": instant}`, or `{"days": ["SAT"], "from": "22:00", "until": "06:00"}`.
fn blackout(index: usize, fields: Map<String, Value>, errors: &mut Errors) -> Option<Blackout> {
    let mut object = Object::new(format!("blackouts[{index}]."), fields);
    let window = if object.has("days") {
        weekly(&mut object, errors)
    } else {
        between(&mut object, errors)
    };
    object.finish(errors);
    window
}

fn required<T>(
    object: &Object,
    name: &'static str,
    value: Option<T>,
    errors: &mut Errors,
) -> Option<T> {
    if value.is_none() {
        errors.add(FieldError::new(
            object.path(name),
            "required",
            format!("a window needs {name}"),
        ));
    }
    value
}

fn between(object: &mut Object, errors: &mut Errors) -> Option<Blackout> {
    object.take("days");
    let (from, until) = (object.take("from"), object.take("until"));
    let (from, until) = (
        required(object, "from", from, errors),
        required(object, "until", until, errors),
    );
    let from = from.and_then(|value| instant_of(&object.path("from"), &value, errors));
    let until = until.and_then(|value| instant_of(&object.path("until"), &value, errors));
    let (from, until) = (from?, until?);
    if from >= until {
        return errors.none(FieldError::new(
            object.path("until"),
            "conflict",
            "until is not after from",
        ));
    }
    Some(Blackout::Between { from, until })
}

fn weekly(object: &mut Object, errors: &mut Errors) -> Option<Blackout> {
    let path = object.path("days");
    let days = match object.take("days") {
        Some(Value::Array(items)) => week_days(&path, &items, errors),
        Some(other) => errors.none(wrong_type(
            &path,
            "a list of days such as [\"SAT\",\"SUN\"]",
            &other,
        )),
        None => None,
    };
    let from = object.take("from").map_or(Some(0), |value| {
        minute(&object.path("from"), &value, 1439, errors)
    });
    let until = object.take("until").map_or(Some(1440), |value| {
        minute(&object.path("until"), &value, 1440, errors)
    });
    let (days, from_minute, until_minute) = (days?, from?, until?);
    if from_minute == until_minute {
        return errors.none(
            FieldError::new(object.path("until"), "conflict", "the window is empty")
                .hint("leave out from and until for whole days"),
        );
    }
    Some(Blackout::Weekly {
        days,
        from_minute,
        until_minute,
    })
}

fn week_days(path: &str, items: &[Value], errors: &mut Errors) -> Option<Vec<u8>> {
    let mut days: Vec<u8> = Vec::new();
    for (index, item) in items.iter().enumerate().take(8) {
        let found = item
            .as_str()
            .and_then(|name| DAYS.iter().position(|day| day.eq_ignore_ascii_case(name)));
        match found.and_then(|day| u8::try_from(day).ok()) {
            Some(day) => days.push(day),
            None => errors.add(FieldError::new(
                format!("{path}[{index}]"),
                "unknown_value",
                format!("use {}", DAYS.join(", ")),
            )),
        }
    }
    days.sort_unstable();
    days.dedup();
    if items.is_empty() || days.len() != items.len() {
        return errors.none(FieldError::new(
            path,
            "length",
            "name each day once, at least one",
        ));
    }
    Some(days)
}

/// Minutes since midnight of `HH:MM`.
fn minute(path: &str, value: &Value, most: u16, errors: &mut Errors) -> Option<u16> {
    let read = |text: &str| {
        let (hour, minute) = text.split_once(':')?;
        let digits = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        let (hour, minute) = (
            digits(hour).then_some(hour)?,
            digits(minute).then_some(minute)?,
        );
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        (minute < 60)
            .then_some(hour * 60 + minute)
            .filter(|minute| *minute <= most)
    };
    match value.as_str().and_then(read) {
        Some(minute) => Some(minute),
        None => errors
            .none(FieldError::new(path, "bad_time", "this is no time of day").hint("write 22:00")),
    }
}

/// `HH:MM` of minutes since midnight.
pub(super) fn clock(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}
