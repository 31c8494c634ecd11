//! Schedules that would never fire.

use cronwright_core::job::def::{Definition, ScheduleSpec};
use cronwright_core::schedule::{Cron, Dialect, Every, Zone, code};
use cronwright_core::time::Millis;

use super::reader::Errors;
use crate::problem::FieldError;

/// Refuses a schedule that would never fire from `now` on.
pub(super) fn refuse(definition: &Definition, now: Millis, errors: &mut Errors) {
    let after = definition
        .start_at
        .map_or(now, |start| start.plus(-1).max(now));
    let (field, next) = match &definition.schedule {
        ScheduleSpec::Cron {
            text,
            dialect,
            zone,
        } => {
            let cron = Zone::get(zone).and_then(|zone| Cron::parse(text, *dialect, zone));
            ("cron", cron.ok().and_then(|cron| cron.next(after)))
        }
        ScheduleSpec::Every { period_ms, anchor } => (
            "every",
            Every::new(*period_ms, *anchor)
                .ok()
                .and_then(|every| every.next(after)),
        ),
        ScheduleSpec::At { at } => ("at", Some(*at).filter(|at| *at > after)),
        ScheduleSpec::After { .. } | ScheduleSpec::None => return,
    };
    if next.is_some_and(|next| definition.end_at.is_none_or(|end| next < end)) {
        return;
    }
    let detail = match (next, &definition.schedule) {
        (Some(_), _) => {
            "the first occurrence would be after endAt, so the schedule never fires".to_owned()
        }
        (None, ScheduleSpec::At { .. }) => {
            "this instant has passed, so the schedule never fires".to_owned()
        }
        (
            None,
            ScheduleSpec::Cron {
                text,
                dialect,
                zone,
            },
        ) => never(text, *dialect, zone, after),
        (None, ScheduleSpec::Every { .. } | ScheduleSpec::After { .. } | ScheduleSpec::None) => {
            "the schedule never fires".to_owned()
        }
    };
    errors.add(
        FieldError::new(field, code::NEVER_FIRES, detail)
            .hint("correct it, or save the job with status PAUSED"),
    );
}

fn never(text: &str, dialect: Dialect, zone: &str, after: Millis) -> String {
    let cron = Zone::get(zone).and_then(|zone| Cron::parse(text, dialect, zone));
    let why = cron
        .ok()
        .and_then(|cron| cron.never(after))
        .map_or(String::new(), |never| format!(": {}", never.en));
    format!("the schedule never fires{why}")
}
