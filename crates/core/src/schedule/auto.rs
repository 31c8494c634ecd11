//! `auto`: telling a dialect from a text, once, at creation.

use serde::Serialize;

use super::cron::Cron;
use super::dialect::{Dialect, DialectChoice};
use super::error::{ScheduleError, code};
use super::parse::{expand, fields, parse};
use super::rfc3339::rfc3339_at;
use super::zone::Zone;
use crate::time::Millis;

/// What a text would do in one dialect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    /// The dialect.
    pub dialect: Dialect,
    /// The next three fires, local with offset; empty when it is refused or never fires.
    pub next: Vec<String>,
    /// Why the dialect refuses the text.
    pub error: Option<ScheduleError>,
}

/// How a six-field text reads in `quartz` and in `unix-seconds`.
#[must_use]
pub fn readings(text: &str, zone: &Zone, now: Millis) -> [Reading; 2] {
    [Dialect::Quartz, Dialect::UnixSeconds].map(|dialect| {
        match Cron::parse(text, dialect, zone.clone()) {
            Ok(cron) => Reading {
                dialect,
                next: next_three(&cron, now),
                error: None,
            },
            Err(error) => Reading {
                dialect,
                next: Vec::new(),
                error: Some(error),
            },
        }
    })
}

fn next_three(cron: &Cron, now: Millis) -> Vec<String> {
    let mut fires = Vec::new();
    let mut at = now;
    while fires.len() < 3
        && let Some(fire) = cron.next(at)
    {
        fires.push(rfc3339_at(fire, cron.zone().offset_seconds_at(fire)));
        at = fire;
    }
    fires
}

/// The dialect to store for a text: the chosen one, or the only one it can mean.
///
/// With `auto`, five fields and macros are `unix`; seven fields, or six with `?`, `L-n` or a range over
/// the end, are `quartz`. Six other fields are accepted only when `quartz` and `unix-seconds` read the
/// same set in them, and are then `unix-seconds`, because Quartz itself insists on a `?`.
///
/// # Errors
/// `ambiguous_dialect`, whose hint shows both readings with their next three fires;
/// `interval_not_cron`; or what is wrong with the text in every dialect.
pub fn resolve_dialect(
    text: &str,
    choice: DialectChoice,
    zone: &Zone,
    now: Millis,
) -> Result<Dialect, ScheduleError> {
    if let DialectChoice::Fixed(dialect) = choice {
        return Ok(dialect);
    }
    let tokens = fields(text)?;
    if expand(&tokens)?.is_some() {
        return Ok(Dialect::Unix);
    }
    match tokens.len() {
        5 => Ok(Dialect::Unix),
        6 => six_fields(text, zone, now),
        7 => Ok(Dialect::Quartz),
        count => Err(ScheduleError::new(code::FIELD_COUNT)
            .span(0, text.len())
            .found(format!("{count} fields"))
            .allowed("5 (unix), 6 (quartz or unix-seconds) or 7 (quartz)")),
    }
}

fn six_fields(text: &str, zone: &Zone, now: Millis) -> Result<Dialect, ScheduleError> {
    if text.contains('?') {
        return Ok(Dialect::Quartz);
    }
    match (
        parse(text, Dialect::Quartz),
        parse(text, Dialect::UnixSeconds),
    ) {
        (Ok(quartz), _) if quartz.seen.l_minus || quartz.seen.wrapped => Ok(Dialect::Quartz),
        (Ok(quartz), Ok(unix))
            if quartz.spec == unix.spec
                && !quartz.seen.weekday_number
                && !unix.seen.weekday_number
                && !unix.seen.both_days =>
        {
            Ok(Dialect::UnixSeconds)
        }
        (Err(_), Err(error)) => Err(error),
        _ => Err(ambiguous(text, zone, now)),
    }
}

fn ambiguous(text: &str, zone: &Zone, now: Millis) -> ScheduleError {
    let shown = readings(text, zone, now).map(|reading| {
        let fires = match &reading.error {
            Some(error) => format!("refused ({error})"),
            None if reading.next.is_empty() => "never".to_owned(),
            None => reading.next.join(", "),
        };
        format!("{}: {fires}", reading.dialect)
    });
    ScheduleError::new(code::AMBIGUOUS_DIALECT)
        .span(0, text.len())
        .found(text)
        .allowed("a dialect: quartz or unix-seconds")
        .hint(shown.join("; "))
}
