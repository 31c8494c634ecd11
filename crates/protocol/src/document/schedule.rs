//! When a job fires: `cron`, `every`, `at`, `after`, or none of them.

use cronwright_core::job::def::{AfterOn, ScheduleSpec};
use cronwright_core::schedule::{
    Cron, Dialect, DialectChoice, Every, ScheduleError, Zone, parse_period, resolve_dialect,
};
use cronwright_core::time::Millis;
use serde_json::{Map, Value};

use super::reader::{Errors, Object, word_of, wrong_type};
use super::window::{bounds, instant_of};
use super::{ReadContext, Unread};
use crate::problem::{Code, FieldError};

const ENDS: [(&str, AfterOn); 3] = [
    ("success", AfterOn::Success),
    ("failure", AfterOn::Failure),
    ("finish", AfterOn::Finish),
];

const KINDS: [&str; 4] = ["cron", "every", "at", "after"];

/// A schedule that stands alone, for a preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareSchedule {
    /// The rule.
    pub spec: ScheduleSpec,
    /// No occurrence before this instant.
    pub start_at: Option<Millis>,
    /// No occurrence at or after this instant.
    pub end_at: Option<Millis>,
    /// How many occurrences are wanted.
    pub count: u32,
}

/// Reads the fields of a document that make its schedule, and `count` (1–100, default 5).
///
/// # Errors
/// With everything that is wrong with them; never empty.
pub fn read_schedule(
    fields: Map<String, Value>,
    context: &ReadContext<'_>,
) -> Result<BareSchedule, Unread> {
    let mut errors = Errors::default();
    let mut object = Object::new("", fields);
    let (start_at, end_at) = bounds(&mut object, &mut errors);
    let spec = read(&mut object, context, &mut errors);
    let count = object
        .int("count", 1, 100, &mut errors)
        .and_then(|n| u32::try_from(n).ok())
        .unwrap_or(5);
    object.finish(&mut errors);
    match spec {
        Some(spec) if errors.0.is_empty() => Ok(BareSchedule {
            spec,
            start_at,
            end_at,
            count,
        }),
        _ => Err(Unread {
            code: Code::InvalidDocument,
            errors: errors.0,
        }),
    }
}

/// Reads the schedule of a document.
pub(super) fn read(
    document: &mut Object,
    context: &ReadContext<'_>,
    errors: &mut Errors,
) -> Option<ScheduleSpec> {
    let given: Vec<&str> = KINDS
        .into_iter()
        .filter(|kind| document.has(kind))
        .collect();
    for extra in given.iter().skip(1) {
        let first = given.first().copied().unwrap_or_default();
        let error = FieldError::new(
            *extra,
            "conflict",
            format!("a job has one schedule, and {first} is given too"),
        );
        errors.add(error.hint("give one of cron, every, at and after"));
    }
    let cron = document.take("cron");
    let dialect = document.take("dialect");
    let zone = document.take_either("timeZone", "timezone", errors);
    let every = document.take("every");
    let anchor = document.take("anchor");
    let at = document.take("at");
    let after = document.take("after");
    if cron.is_none() {
        refuse_without(
            "cron",
            &[
                ("dialect", dialect.is_some()),
                (
                    zone.as_ref().map_or("timeZone", |(name, _)| name),
                    zone.is_some(),
                ),
            ],
            errors,
        );
    }
    if every.is_none() {
        refuse_without("every", &[("anchor", anchor.is_some())], errors);
    }
    match (cron, every, at, after) {
        (Some(cron), _, _, _) => read_cron(cron, dialect, zone, context, errors),
        (_, Some(every), _, _) => read_every(&every, anchor, errors),
        (_, _, Some(at), _) => instant_of("at", &at, errors).map(|at| ScheduleSpec::At { at }),
        (_, _, _, Some(after)) => read_after(after, errors),
        (None, None, None, None) => Some(ScheduleSpec::None),
    }
}

fn refuse_without(owner: &str, fields: &[(&str, bool)], errors: &mut Errors) {
    for (field, given) in fields {
        if *given {
            errors.add(FieldError::new(
                *field,
                "not_applicable",
                format!("{field} belongs to {owner}, which is not given"),
            ));
        }
    }
}

fn read_cron(
    text: Value,
    dialect: Option<Value>,
    zone: Option<(&'static str, Value)>,
    context: &ReadContext<'_>,
    errors: &mut Errors,
) -> Option<ScheduleSpec> {
    let zone = match zone {
        None => Some(Zone::utc()),
        Some((name, Value::String(zone))) => Zone::get(&zone)
            .map_err(|error| errors.add(field_error(name, &error)))
            .ok(),
        Some((name, other)) => errors.none(wrong_type(name, "the name of a time zone", &other)),
    };
    let choice = match dialect {
        None => Some(DialectChoice::Auto),
        Some(value) => read_dialect(&value, errors),
    };
    let Value::String(text) = text else {
        return errors.none(wrong_type("cron", "a cron text", &text));
    };
    // A bad zone or dialect must not hide what is wrong with the text.
    let on = zone.clone().unwrap_or_else(Zone::utc);
    let read = resolve_dialect(
        &text,
        choice.unwrap_or(DialectChoice::Auto),
        &on,
        context.now,
    )
    .and_then(|dialect| Cron::parse(&text, dialect, on));
    match read {
        Ok(cron) if zone.is_some() && choice.is_some() => Some(ScheduleSpec::Cron {
            dialect: cron.dialect(),
            zone: cron.zone().name().to_owned(),
            text,
        }),
        Ok(_) => None,
        Err(error) => errors.none(field_error("cron", &error)),
    }
}

fn read_dialect(value: &Value, errors: &mut Errors) -> Option<DialectChoice> {
    const CHOICES: [(&str, DialectChoice); 4] = [
        ("auto", DialectChoice::Auto),
        ("quartz", DialectChoice::Fixed(Dialect::Quartz)),
        ("unix", DialectChoice::Fixed(Dialect::Unix)),
        ("unix-seconds", DialectChoice::Fixed(Dialect::UnixSeconds)),
    ];
    word_of("dialect", value, &CHOICES, errors)
}

/// The anchor is the epoch unless the document says otherwise: a document saved twice fires alike.
fn read_every(every: &Value, anchor: Option<Value>, errors: &mut Errors) -> Option<ScheduleSpec> {
    let anchor = anchor.map_or(Some(Millis::ZERO), |value| {
        instant_of("anchor", &value, errors)
    });
    let Some(text) = every.as_str() else {
        return errors.none(wrong_type("every", "a period such as \"5s\"", every));
    };
    let period =
        parse_period(text).and_then(|period| Every::new(period, anchor.unwrap_or(Millis::ZERO)));
    match period {
        Ok(every) => Some(ScheduleSpec::Every {
            period_ms: every.period_ms(),
            anchor: anchor?,
        }),
        Err(error) => errors.none(field_error("every", &error)),
    }
}

fn read_after(value: Value, errors: &mut Errors) -> Option<ScheduleSpec> {
    let (path, job, on) = match value {
        Value::String(job) => ("after", Value::String(job), None),
        Value::Object(fields) => {
            let mut object = Object::new("after.", fields);
            let (job, on) = (object.take("jobId"), object.word("on", &ENDS, errors));
            object.finish(errors);
            let Some(job) = job else {
                return errors.none(FieldError::new(
                    "after.jobId",
                    "required",
                    "name the job that this one runs after",
                ));
            };
            ("after.jobId", job, on)
        }
        other => return errors.none(wrong_type("after", "a job's id or an object", &other)),
    };
    let Value::String(job) = job else {
        return errors.none(wrong_type(path, "a job's id", &job));
    };
    match job.parse() {
        Ok(job) => Some(ScheduleSpec::After {
            job,
            on: on.unwrap_or(AfterOn::Success),
        }),
        Err(error) => errors.none(FieldError::new(path, "bad_id", format!("{error}"))),
    }
}

/// The engine's error about one field of the document.
fn field_error(field: &str, error: &ScheduleError) -> FieldError {
    let bare = ScheduleError {
        hint: String::new(),
        ..error.clone()
    };
    FieldError::new(field, error.code, bare.to_string())
        .hint(error.hint.clone())
        .span(error.span)
}
