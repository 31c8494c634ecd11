//! Retries, misfires and overlaps.

use cronwright_core::job::def::{Misfire, MisfirePolicy, Overlap, RetryOn, RetryPolicy};
use cronwright_core::time::DAY;
use serde_json::Value;

use super::reader::{Errors, Object, int_of, word_of, wrong_type};
use super::span::span_of;
use crate::problem::FieldError;

/// Waits of a retry policy.
const MOST_DELAYS: usize = 20;

const MISFIRES: [(&str, Misfire); 6] = [
    ("fire_once", Misfire::FireOnce),
    ("skip", Misfire::Skip),
    ("catch_up", Misfire::CatchUp),
    // Quartz's names, which FIRE_ONCE_NOW's users know.
    ("FIRE_ONCE_NOW", Misfire::FireOnce),
    ("DO_NOTHING", Misfire::Skip),
    ("IGNORE_MISFIRE_POLICY", Misfire::CatchUp),
];

/// The names of overlap policies.
pub const OVERLAPS: [(&str, Overlap); 4] = [
    ("skip", Overlap::Skip),
    ("queue", Overlap::Queue),
    ("replace", Overlap::Replace),
    ("allow", Overlap::Allow),
];

/// Reads `retryTimes`, `retryDelays` and `retryOn`.
pub(super) fn retry(document: &mut Object, errors: &mut Errors) -> RetryPolicy {
    const OUTCOMES: [(&str, RetryOn); 2] = [
        ("FAILED", RetryOn::Failed),
        ("TIMED_OUT", RetryOn::TimedOut),
    ];
    let usual = RetryPolicy::default();
    let times = document
        .int("retryTimes", 0, 20, errors)
        .and_then(|n| u32::try_from(n).ok())
        .unwrap_or(usual.times);
    let delays_ms = list(
        document,
        "retryDelays",
        MOST_DELAYS,
        errors,
        |path, item, errors| span_of(path, item, 0, DAY, errors),
    );
    let on = list(
        document,
        "retryOn",
        OUTCOMES.len(),
        errors,
        |path, item, errors| word_of(path, item, &OUTCOMES, errors),
    );
    RetryPolicy {
        times,
        delays_ms: delays_ms.unwrap_or(usual.delays_ms),
        on: on.unwrap_or(usual.on),
    }
}

/// Reads a list of 1 to `most` items, or a single item without brackets.
fn list<T>(
    document: &mut Object,
    name: &'static str,
    most: usize,
    errors: &mut Errors,
    mut read: impl FnMut(&str, &Value, &mut Errors) -> Option<T>,
) -> Option<Vec<T>> {
    let items = match document.take(name)? {
        Value::Array(items) => items,
        single => vec![single],
    };
    if items.is_empty() || items.len() > most {
        return errors.none(FieldError::new(
            name,
            "length",
            format!("{} items, 1 to {most} are allowed", items.len()),
        ));
    }
    let read = items
        .iter()
        .enumerate()
        .map(|(index, item)| read(&format!("{name}[{index}]"), item, errors));
    // Every item is read, so that every error is found.
    let read: Vec<Option<T>> = read.collect();
    read.into_iter().collect()
}

/// Reads `misfire`: a name, or an object with a `policy`.
pub(super) fn misfire(document: &mut Object, errors: &mut Errors) -> MisfirePolicy {
    let usual = MisfirePolicy::default();
    match document.take("misfire") {
        None => usual,
        Some(name @ Value::String(_)) => MisfirePolicy {
            policy: word_of("misfire", &name, &MISFIRES, errors).unwrap_or(usual.policy),
            ..usual
        },
        Some(Value::Object(fields)) => {
            let mut object = Object::new("misfire.", fields);
            let policy = object
                .word("policy", &MISFIRES, errors)
                .unwrap_or(usual.policy);
            let window = object.take_either("catchUpWindow", "catchUpWindowMs", errors);
            let window = window.and_then(|(name, value)| {
                span_of(&object.path(name), &value, 0, 366 * DAY, errors)
            });
            let most = object
                .int("maxCatchUp", 1, 100, errors)
                .and_then(|n| u32::try_from(n).ok());
            object.finish(errors);
            MisfirePolicy {
                policy,
                catch_up_window_ms: window.unwrap_or(usual.catch_up_window_ms),
                max_catch_up: most.unwrap_or(usual.max_catch_up),
            }
        }
        Some(other) => {
            errors.add(wrong_type(
                "misfire",
                "a policy's name or an object",
                &other,
            ));
            usual
        }
    }
}

/// Reads `overlap` and `queueLimit`.
pub(super) fn overlap(document: &mut Object, errors: &mut Errors) -> (Overlap, u32) {
    let overlap = document
        .word("overlap", &OVERLAPS, errors)
        .unwrap_or(Overlap::Skip);
    let limit = document
        .take("queueLimit")
        .and_then(|value| int_of("queueLimit", &value, 1, 100, errors));
    (
        overlap,
        limit.and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
    )
}
