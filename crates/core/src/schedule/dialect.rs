//! The grammars a cron text can be in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::{ScheduleError, code};

/// The grammar of a cron text. Stored with every job, never guessed again after creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Six or seven fields, weekdays 1-7 from Sunday, one day field restricted.
    Quartz,
    /// Five fields, weekdays 0-7 with Sunday as 0 and 7; two restricted day fields mean "or".
    Unix,
    /// `unix` with a field of seconds in front.
    UnixSeconds,
}

impl Dialect {
    /// The name used on the wire and in storage.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quartz => "quartz",
            Self::Unix => "unix",
            Self::UnixSeconds => "unix-seconds",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Dialect {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        match text {
            "quartz" => Ok(Self::Quartz),
            "unix" => Ok(Self::Unix),
            "unix-seconds" => Ok(Self::UnixSeconds),
            _ => Err(ScheduleError::new(code::UNKNOWN_DIALECT)
                .found(text)
                .allowed("quartz, unix, unix-seconds")),
        }
    }
}

/// What a person asked for when they created a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectChoice {
    /// Tell from the text, or refuse. Only at creation.
    Auto,
    /// This one.
    Fixed(Dialect),
}

impl FromStr for DialectChoice {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Fixed),
        }
    }
}
