//! Schedules without a fire.

use serde::Serialize;

use super::cron::Cron;
use super::error::{Field, ScheduleError, code};
use crate::time::Millis;

/// Why a schedule has no fire left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Never {
    /// `no_such_date`, `years_over`, `in_the_past`, `only_in_gaps` or `no_schedule`.
    pub reason: &'static str,
    /// One sentence.
    pub en: String,
    /// The same in Chinese.
    pub zh: String,
}

impl Never {
    pub(super) fn new(reason: &'static str, en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self {
            reason,
            en: en.into(),
            zh: zh.into(),
        }
    }
}

impl Cron {
    /// Why it has no fire after `now`, or `None` when it has one.
    #[must_use]
    pub fn never(&self, now: Millis) -> Option<Never> {
        if self.next(now).is_some() {
            return None;
        }
        if self.impossible() {
            return Some(Never::new(
                "no_such_date",
                "No year has such a date.",
                "没有任何一年有这样的日期。",
            ));
        }
        let last_year = self.spec().years.last().unwrap_or(0);
        if self
            .last_at_or_before(Millis(i64::MAX), Millis(i64::MIN))
            .is_some()
        {
            return Some(Never::new(
                "years_over",
                format!("Its last year, {last_year}, has no fire left."),
                format!("最后的年份 {last_year} 已没有剩余的触发。"),
            ));
        }
        Some(Never::new(
            "only_in_gaps",
            "Its only dates do not exist in the chosen years, or a clock change skips them.",
            "所选年份中没有这样的日期，或该时刻被时钟调整跳过。",
        ))
    }

    /// Refuses a text without a fire after `now`, for creation.
    ///
    /// # Errors
    /// `never_fires`, with the reason as its hint.
    pub fn refuse_never(&self, now: Millis) -> Result<(), ScheduleError> {
        let Some(never) = self.never(now) else {
            return Ok(());
        };
        let field = match never.reason {
            "years_over" => Field::Year,
            _ => Field::DayOfMonth,
        };
        Err(ScheduleError::new(code::NEVER_FIRES)
            .field(field)
            .found(self.text())
            .hint(never.en))
    }
}
