//! What is allowed, but probably not meant.

use serde::Serialize;

use super::civil::DAY_SECONDS;
use super::cron::Cron;
use super::dialect::Dialect;
use super::error::Field;
use super::lint_clock::{every_minute, every_second, in_next_gap};
use super::parse::fields;
use super::set::Bits;
use super::spec::{ALL_MONTH_DAYS, ALL_WEEK_DAYS, DayRule};
use crate::time::Millis;

/// A doubt about a schedule; it is accepted all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lint {
    /// A stable word.
    pub code: &'static str,
    /// The cron field, if it is about one.
    pub field: Option<Field>,
    /// One sentence in English.
    pub message_en: String,
    /// The same in Chinese.
    pub message_zh: String,
    /// A text that may be meant instead.
    pub suggestion: Option<String>,
}

impl Lint {
    pub(super) fn new(code: &'static str, field: Field, en: String, zh: String) -> Self {
        Self {
            code,
            field: Some(field),
            message_en: en,
            message_zh: zh,
            suggestion: None,
        }
    }

    pub(super) fn suggest(mut self, text: Option<String>) -> Self {
        self.suggestion = text;
        self
    }
}

impl Cron {
    /// What is allowed in this text but probably not meant. `now` is for the next clock change.
    #[must_use]
    pub fn lints(&self, now: Millis) -> Vec<Lint> {
        let mut lints = Vec::new();
        if let Some(never) = self.never(now) {
            lints.push(Lint::new(
                "never_fires",
                Field::DayOfMonth,
                never.en,
                never.zh,
            ));
        }
        lints.extend(every_second(self));
        lints.extend(every_minute(self));
        lints.extend(uneven_steps(self));
        let open = self.seen().open_step;
        lints.extend(open.and_then(|field| open_step(self, field)));
        lints.extend(self.seen().star_step.map(star_step));
        lints.extend(either_day(self));
        lints.extend(missing_months(self));
        lints.extend(in_next_gap(self, now));
        lints
    }

    /// The text of a field, if the text is not a macro.
    pub(super) fn field_text(&self, field: Field) -> Option<&str> {
        let index = self.field_index(field)?;
        let tokens = fields(self.text()).ok()?;
        tokens.get(index).map(|token| token.text)
    }

    /// The text with some fields replaced.
    pub(super) fn with_fields(&self, changes: &[(Field, &str)]) -> Option<String> {
        let tokens = fields(self.text()).ok()?;
        let mut texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        for (field, text) in changes {
            *texts.get_mut(self.field_index(*field)?)? = text;
        }
        Some(texts.join(" "))
    }

    fn field_index(&self, field: Field) -> Option<usize> {
        let index = match field {
            Field::Second => 0,
            Field::Minute => 1,
            Field::Hour => 2,
            Field::DayOfMonth => 3,
            Field::Month => 4,
            Field::DayOfWeek => 5,
            Field::Year => 6,
        };
        if self.text().trim_start().starts_with('@') {
            return None;
        }
        match self.dialect() {
            Dialect::Unix => usize::checked_sub(index, 1),
            Dialect::Quartz | Dialect::UnixSeconds => Some(index),
        }
    }
}

/// `*/7`: the last step of each turn is shorter.
fn uneven_steps(cron: &Cron) -> Vec<Lint> {
    let turns = [
        (Field::Second, 60, "minute", "分钟"),
        (Field::Minute, 60, "hour", "小时"),
        (Field::Hour, 24, "day", "天"),
        (Field::DayOfMonth, 31, "month", "月"),
        (Field::Month, 12, "year", "年"),
    ];
    let mut lints = Vec::new();
    for (field, span, turn, turn_zh) in turns {
        let Some(step) = cron.field_text(field).and_then(star_step_of) else {
            continue;
        };
        let even = field != Field::DayOfMonth && span % step == 0;
        if step > 1 && !even {
            lints.push(Lint::new(
                "uneven_step",
                field,
                format!(
                    "*/{step} starts again with every {turn}, so it is not every {step} {}s throughout",
                    plain_name(field)
                ),
                format!("*/{step} 在每个{turn_zh}开头重新计数，间隔并不总是 {step}"),
            ));
        }
    }
    lints
}

fn plain_name(field: Field) -> &'static str {
    match field {
        Field::DayOfMonth => "day",
        other => other.as_str(),
    }
}

fn star_step_of(text: &str) -> Option<u32> {
    let step = text.strip_prefix("*/").or_else(|| text.strip_prefix('/'))?;
    step.parse().ok().filter(|step| *step > 0)
}

/// `5/15`, which crontab(5) does not have.
fn open_step(cron: &Cron, field: Field) -> Option<Lint> {
    if cron.dialect() == Dialect::Quartz {
        return None;
    }
    let (start, step) = cron.field_text(field)?.split_once('/')?;
    let last = match field {
        Field::Second | Field::Minute => 59,
        Field::Hour => 23,
        Field::DayOfMonth => 31,
        Field::Month => 12,
        Field::DayOfWeek => 7,
        Field::Year => 2199,
    };
    let range = format!("{start}-{last}/{step}");
    Some(
        Lint::new(
            "open_step",
            field,
            format!("crontab(5) does not have {start}/{step}; it is read as {range}"),
            format!("crontab(5) 没有 {start}/{step} 这种写法，这里按 {range} 解释"),
        )
        .suggest(cron.with_fields(&[(field, range.as_str())])),
    )
}

fn star_step(field: Field) -> Lint {
    Lint::new(
        "star_step_day",
        field,
        format!("{field} begins with *, so both day fields must match (and), as in Vixie cron"),
        "该日期字段以 * 开头，因此日与星期须同时满足（与 Vixie cron 一致）".to_owned(),
    )
}

fn either_day(cron: &Cron) -> Option<Lint> {
    (cron.spec().rule == DayRule::Either).then(|| {
        Lint::new(
            "either_day",
            Field::DayOfWeek,
            "both day fields are restricted: it fires when either matches (or)".to_owned(),
            "日与星期都有限制：满足其一即触发（或）".to_owned(),
        )
    })
}

/// Days that some of the chosen months do not have.
fn missing_months(cron: &Cron) -> Option<Lint> {
    let spec = cron.spec();
    let days = spec.month_days;
    let only_dates = days.from_end == Bits(0) && days.nearest_from_end == Bits(0);
    let weekdays = spec.week_days.days == ALL_WEEK_DAYS;
    if days.days == ALL_MONTH_DAYS || !only_dates || !weekdays {
        return None;
    }
    let first = days
        .days
        .first()
        .into_iter()
        .chain(days.nearest.first())
        .min()?;
    let longest = |month| super::civil::month_length(true, month);
    let missing: Vec<u32> = spec.months.iter().filter(|m| longest(*m) < first).collect();
    let leap = first == 29 && spec.months.has(2);
    if missing.is_empty() && !leap || missing.len() == spec.months.len() as usize {
        return None;
    }
    let list: Vec<String> = missing.iter().map(u32::to_string).collect();
    let (en, zh) = if leap {
        (
            "February has a day 29 in leap years only".to_owned(),
            "2 月只有闰年才有 29 日".to_owned(),
        )
    } else {
        (
            format!(
                "months without a day {first} do not fire: {}",
                list.join(", ")
            ),
            format!("没有 {first} 日的月份不会触发：{} 月", list.join("、")),
        )
    };
    let last = cron.with_fields(&[(Field::DayOfMonth, "L")]);
    let lint = Lint::new("missing_months", Field::DayOfMonth, en, zh);
    Some(lint.suggest(last.filter(|_| days.nearest == Bits(0) && first > 29)))
}

/// How far ahead clock changes are looked for.
pub(super) const HORIZON: i64 = 366 * DAY_SECONDS;
