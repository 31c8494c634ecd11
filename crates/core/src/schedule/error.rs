//! Why a schedule was refused.

use std::fmt;

use serde::Serialize;

/// A field of a cron text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Field {
    /// 0-59.
    Second,
    /// 0-59.
    Minute,
    /// 0-23.
    Hour,
    /// 1-31.
    DayOfMonth,
    /// 1-12 or JAN-DEC.
    Month,
    /// 1-7 from Sunday in quartz, 0-7 in unix, or SUN-SAT.
    DayOfWeek,
    /// 1970-2199.
    Year,
}

impl Field {
    /// The field's name in a sentence.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
            Self::Year => "year",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The stable codes of [`ScheduleError`].
pub mod code {
    /// Nothing but white space.
    pub const EMPTY: &str = "empty";
    /// Longer than [`crate::schedule::MAX_TEXT`] bytes.
    pub const TOO_LONG: &str = "too_long";
    /// The number of fields does not fit the dialect.
    pub const FIELD_COUNT: &str = "field_count";
    /// Something that is neither a number nor a name of this field.
    pub const BAD_VALUE: &str = "bad_value";
    /// A number outside the field.
    pub const OUT_OF_RANGE: &str = "out_of_range";
    /// A step that is no number, zero, or larger than the field.
    pub const BAD_STEP: &str = "bad_step";
    /// A range that runs backwards in a dialect without wrap ranges.
    pub const BACKWARDS_RANGE: &str = "backwards_range";
    /// Both day fields restricted in quartz.
    pub const BOTH_DAYS: &str = "both_days_restricted";
    /// `?` in both day fields, or where it has no meaning.
    pub const QUESTION_MARK: &str = "misplaced_question_mark";
    /// `@something` that is no macro.
    pub const UNKNOWN_MACRO: &str = "unknown_macro";
    /// `@reboot`.
    pub const NO_REBOOT: &str = "no_reboot";
    /// An interval where a cron text was expected.
    pub const INTERVAL: &str = "interval_not_cron";
    /// Six fields that read differently in quartz and unix-seconds.
    pub const AMBIGUOUS_DIALECT: &str = "ambiguous_dialect";
    /// A dialect name that does not exist.
    pub const UNKNOWN_DIALECT: &str = "unknown_dialect";
    /// A time zone that is not in the bundled database.
    pub const UNKNOWN_ZONE: &str = "unknown_zone";
    /// A period that cannot be read.
    pub const BAD_PERIOD: &str = "bad_period";
    /// A period under a second or over a year.
    pub const PERIOD_RANGE: &str = "period_out_of_range";
    /// A schedule without any fire left.
    pub const NEVER_FIRES: &str = "never_fires";
}

/// Why a schedule was refused: what was found where, what is allowed there, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleError {
    /// A stable word from [`code`].
    pub code: &'static str,
    /// The cron field, if it is about one.
    pub field: Option<Field>,
    /// Where in the text: bytes, end exclusive.
    pub span: Option<(usize, usize)>,
    /// What stands there.
    pub found: String,
    /// What could stand there.
    pub allowed: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl ScheduleError {
    pub(super) fn new(code: &'static str) -> Self {
        Self {
            code,
            field: None,
            span: None,
            found: String::new(),
            allowed: String::new(),
            hint: String::new(),
        }
    }

    pub(super) fn field(mut self, field: Field) -> Self {
        self.field = Some(field);
        self
    }

    pub(super) fn span(mut self, start: usize, end: usize) -> Self {
        self.span = Some((start, end));
        self
    }

    pub(super) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    pub(super) fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = allowed.into();
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    fn problem(&self) -> &'static str {
        match self.code {
            code::EMPTY => "the text is empty",
            code::TOO_LONG => "the text is too long",
            code::FIELD_COUNT => "wrong number of fields",
            code::OUT_OF_RANGE => "value out of range",
            code::BAD_STEP => "bad step",
            code::BACKWARDS_RANGE => "range runs backwards",
            code::BOTH_DAYS => "both day fields are restricted",
            code::QUESTION_MARK => "misplaced '?'",
            code::UNKNOWN_MACRO => "unknown macro",
            code::NO_REBOOT => "@reboot has no meaning here",
            code::INTERVAL => "this is an interval, not a cron text",
            code::AMBIGUOUS_DIALECT => "the text means different things in different dialects",
            code::UNKNOWN_DIALECT => "unknown dialect",
            code::UNKNOWN_ZONE => "unknown time zone",
            code::BAD_PERIOD => "bad period",
            code::PERIOD_RANGE => "period out of range",
            code::NEVER_FIRES => "the schedule never fires",
            _ => "unexpected text",
        }
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(self.problem())?;
        if !self.found.is_empty() {
            write!(f, ": found '{}'", self.found)?;
        }
        if let Some((start, _)) = self.span {
            write!(f, " at column {}", start.saturating_add(1))?;
        }
        if !self.allowed.is_empty() {
            write!(f, ", allowed: {}", self.allowed)?;
        }
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}
