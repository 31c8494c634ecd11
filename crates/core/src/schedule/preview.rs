//! What a schedule will do, for the command line, the API and the pages alike.

use serde::Serialize;

use super::cron::Cron;
use super::describe::Lang;
use super::dialect::Dialect;
use super::lint::Lint;
use super::never::Never;
use super::odd::Text;
use super::planned::Schedule;
use super::rfc3339::{rfc3339, rfc3339_at};
use super::zone::{Zone, tzdb_version};
use super::{describe_en, describe_zh};
use crate::time::{DAY, Millis};

/// At most this many fires are listed.
pub const MAX_FIRES: usize = 100;
/// How many fires are looked at for the shortest gap.
const GAPS_LOOKED_AT: usize = 200;

/// What a schedule will do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The dialect of a cron text.
    pub dialect: Option<Dialect>,
    /// The zone that local times are in.
    pub zone: String,
    /// In words.
    pub description: Text,
    /// The release of the time zone database.
    pub tzdb_version: &'static str,
    /// The next fires.
    pub next: Vec<Fire>,
    /// The last fire of all, when the years of the text end.
    pub last_fire: Option<String>,
    /// Why there is no next fire.
    pub never: Option<Never>,
    /// The mean time between fires over the next year (or between those listed), in milliseconds.
    pub average_gap_ms: Option<i64>,
    /// The shortest time between fires among the next 200, in milliseconds.
    pub shortest_gap_ms: Option<i64>,
    /// Doubts.
    pub lints: Vec<Lint>,
}

/// One planned fire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fire {
    /// RFC 3339 in UTC.
    pub utc: String,
    /// RFC 3339 in the zone, with offset.
    pub local: String,
    /// The local weekday in words.
    pub weekday: Text,
    /// Milliseconds from now.
    pub in_ms: i64,
    /// What is odd about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Text>,
}

/// What a schedule will do after `now`, with its next `n` fires (at most [`MAX_FIRES`]).
#[must_use]
pub fn preview(schedule: &Schedule, now: Millis, n: usize) -> Preview {
    let cron = match schedule {
        Schedule::Cron(cron) => Some(cron),
        _ => None,
    };
    let zone = cron.map_or_else(Zone::utc, |cron| cron.zone().clone());
    let fires = walk(schedule, now, GAPS_LOOKED_AT);
    let shown = n.min(MAX_FIRES);
    let next = fires
        .iter()
        .take(shown)
        .map(|at| fire(*at, now, &zone, cron))
        .collect();
    Preview {
        dialect: cron.map(Cron::dialect),
        zone: zone.name().to_owned(),
        description: Text {
            en: schedule.describe(Lang::En),
            zh: schedule.describe(Lang::Zh),
        },
        tzdb_version: tzdb_version(),
        next,
        last_fire: last_fire(schedule, now).map(rfc3339),
        never: never(schedule, now),
        average_gap_ms: average_gap(schedule, now, &fires),
        shortest_gap_ms: fires
            .iter()
            .zip(fires.iter().skip(1))
            .map(|(a, b)| b.since(*a))
            .min(),
        lints: cron.map(|cron| cron.lints(now)).unwrap_or_default(),
    }
}

fn walk(schedule: &Schedule, now: Millis, most: usize) -> Vec<Millis> {
    std::iter::successors(schedule.next(now), |at| schedule.next(*at))
        .take(most)
        .collect()
}

fn fire(at: Millis, now: Millis, zone: &Zone, cron: Option<&Cron>) -> Fire {
    let local = zone.local(at);
    let weekday = |names: &[&str; 7]| {
        let name = names.get(local.weekday as usize);
        name.copied().unwrap_or("").to_owned()
    };
    Fire {
        utc: rfc3339(at),
        local: rfc3339_at(at, local.offset_seconds),
        weekday: Text {
            en: weekday(&describe_en::WEEKDAYS),
            zh: weekday(&describe_zh::WEEKDAYS),
        },
        in_ms: at.since(now),
        note: cron.and_then(|cron| cron.note(at)),
    }
}

/// Only for schedules that end.
fn last_fire(schedule: &Schedule, now: Millis) -> Option<Millis> {
    match schedule {
        Schedule::Cron(cron) if cron.spec().years.last() < Some(super::civil::LAST_YEAR) => {
            cron.last_at_or_before(Millis(i64::MAX), now)
        }
        Schedule::At(at) => (*at > now).then_some(*at),
        _ => None,
    }
}

fn never(schedule: &Schedule, now: Millis) -> Option<Never> {
    match schedule {
        Schedule::Cron(cron) => cron.never(now),
        Schedule::At(at) if *at <= now => Some(Never::new(
            "in_the_past",
            "The instant has passed.",
            "该时刻已过。",
        )),
        Schedule::None => Some(Never::new("no_schedule", "No schedule.", "没有计划。")),
        Schedule::At(_) | Schedule::Every(_) => None,
    }
}

fn average_gap(schedule: &Schedule, now: Millis, fires: &[Millis]) -> Option<i64> {
    const YEAR: i64 = 366 * DAY;
    if let Schedule::Every(every) = schedule {
        return Some(every.period_ms());
    }
    let count = i64::try_from(schedule.count(now, now.plus(YEAR))).ok()?;
    if count > 1 {
        return Some(YEAR / count);
    }
    let (first, last) = (fires.first()?, fires.last()?);
    let gaps = i64::try_from(fires.len()).ok()?.checked_sub(1)?;
    last.since(*first).checked_div(gaps)
}
