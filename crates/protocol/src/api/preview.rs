//! What a schedule will do, and whether a document is good, before anything is saved.

use cronwright_core::job::def::{AfterOn, ScheduleSpec};
use cronwright_core::schedule::{
    self, Cron, Every, Lang, Lint, Schedule, Text, Zone, tzdb_version,
};
use cronwright_core::time::Millis;
use serde::{Deserialize, Serialize};

use crate::document::{AfterForm, BareSchedule, Document};
use crate::problem::FieldError;

/// One sentence in two languages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Words {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
    /// A stable word, where it is a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// A text that may be meant instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// A schedule to be looked at: the fields of a job document that make it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PreviewRequest {
    /// A cron text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "0 30 2 * * ?"))]
    pub cron: Option<String>,
    /// `quartz`, `unix`, `unix-seconds` or `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// IANA name of the zone of `cron`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// A period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<String>,
    /// An instant of the series of `every`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// Once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// When a run of another job ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<AfterForm>,
    /// No occurrence before this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_at: Option<String>,
    /// No occurrence at or after this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_at: Option<String>,
    /// How many fires to show. Default 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 100))]
    pub count: Option<u32>,
}

/// What a schedule will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The grammar the text was read in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The zone of local times.
    pub time_zone: String,
    /// In words.
    pub text: Words,
    /// The next fires.
    pub next: Vec<Fire>,
    /// The last fire of all, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_fire: Option<String>,
    /// Why there is no next fire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never: Option<Words>,
    /// What may be other than meant.
    pub warnings: Vec<Words>,
    /// The mean time between fires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_gap_ms: Option<i64>,
    /// The shortest time between fires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortest_gap_ms: Option<i64>,
    /// The release of the time zone database.
    pub tzdb_version: String,
}

/// One planned fire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fire {
    /// In UTC.
    pub at: String,
    /// On the wall of the zone.
    pub local: String,
    /// The local weekday.
    pub weekday: Words,
    /// Milliseconds from now.
    pub in_ms: i64,
    /// What is odd about it: a clock change moved, merged or doubled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Words>,
}

/// What would happen if a document were saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// Whether it would be taken.
    pub valid: bool,
    /// Everything that is wrong with it.
    pub errors: Vec<FieldError>,
    /// The document as it would be saved, defaults spelled out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
    /// What its schedule would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// What a schedule will do after `now`, between its bounds.
#[must_use]
pub fn preview(bare: &BareSchedule, now: Millis) -> Preview {
    let from = bare.start_at.map_or(now, |start| start.plus(-1).max(now));
    let compiled = compile(&bare.spec);
    let seen = schedule::preview(&compiled, from, usize::try_from(bare.count).unwrap_or(5));
    let before_end = |at: &str| {
        let at = schedule::parse_rfc3339(at);
        bare.end_at.is_none_or(|end| at.is_none_or(|at| at < end))
    };
    let next = seen
        .next
        .into_iter()
        .filter(|fire| before_end(&fire.utc))
        .map(|fire| Fire {
            // From now, although the search begins at startAt.
            in_ms: fire.in_ms.saturating_add(from.since(now)),
            at: fire.utc,
            local: fire.local,
            weekday: Words::of(fire.weekday),
            note: fire.note.map(Words::of),
        });
    let never = seen.never.map(|never| Words {
        code: Some(never.reason.to_owned()),
        ..Words::new(never.en, never.zh)
    });
    Preview {
        dialect: seen.dialect.map(|dialect| dialect.as_str().to_owned()),
        time_zone: seen.zone,
        text: words(&bare.spec),
        next: next.collect(),
        last_fire: seen.last_fire,
        never,
        warnings: seen.lints.into_iter().map(Words::of_lint).collect(),
        average_gap_ms: seen.average_gap_ms,
        shortest_gap_ms: seen.shortest_gap_ms,
        tzdb_version: tzdb_version().to_owned(),
    }
}

/// A schedule in words.
#[must_use]
pub fn words(spec: &ScheduleSpec) -> Words {
    if let ScheduleSpec::After { job, on } = spec {
        let (en, zh) = match on {
            AfterOn::Success => ("succeeds", "成功"),
            AfterOn::Failure => ("fails", "失败"),
            AfterOn::Finish => ("ends", "结束"),
        };
        return Words::new(format!("When {job} {en}"), format!("{job} {zh}之后"));
    }
    let compiled = compile(spec);
    Words::new(compiled.describe(Lang::En), compiled.describe(Lang::Zh))
}

/// What may be other than meant about a saved schedule. What depends on the time is for previews.
#[must_use]
pub fn warnings(spec: &ScheduleSpec, now: Millis) -> Vec<Words> {
    match compile(spec) {
        Schedule::Cron(cron) => cron.lints(now).into_iter().map(Words::of_lint).collect(),
        Schedule::Every(_) | Schedule::At(_) | Schedule::None => Vec::new(),
    }
}

/// A saved schedule was checked when it was saved; one that no longer compiles (its zone is gone from the
/// database) has no fires.
fn compile(spec: &ScheduleSpec) -> Schedule {
    match spec {
        ScheduleSpec::Cron {
            text,
            dialect,
            zone,
        } => Zone::get(zone)
            .and_then(|zone| Cron::parse(text, *dialect, zone))
            .map_or(Schedule::None, Schedule::Cron),
        ScheduleSpec::Every { period_ms, anchor } => {
            Every::new(*period_ms, *anchor).map_or(Schedule::None, Schedule::Every)
        }
        ScheduleSpec::At { at } => Schedule::At(*at),
        ScheduleSpec::After { .. } | ScheduleSpec::None => Schedule::None,
    }
}

impl Words {
    fn new(en: String, zh: String) -> Self {
        Self {
            en,
            zh,
            ..Self::default()
        }
    }

    fn of(text: Text) -> Self {
        Self::new(text.en, text.zh)
    }

    fn of_lint(lint: Lint) -> Self {
        Self {
            code: Some(lint.code.to_owned()),
            suggestion: lint.suggestion,
            ..Self::new(lint.message_en, lint.message_zh)
        }
    }
}
