//! Instants and spans, in milliseconds.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch (UTC), or a span of milliseconds.
///
/// All arithmetic saturates: a time that input pushed out of range is "never" rather than a wrapped
/// instant in the past.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub i64);

/// One second, in milliseconds.
pub const SECOND: i64 = 1_000;
/// One minute, in milliseconds.
pub const MINUTE: i64 = 60 * SECOND;
/// One hour, in milliseconds.
pub const HOUR: i64 = 60 * MINUTE;
/// One day of 24 hours, in milliseconds.
pub const DAY: i64 = 24 * HOUR;

impl Millis {
    /// The epoch.
    pub const ZERO: Self = Self(0);

    /// This instant moved by `span` milliseconds.
    #[must_use]
    pub const fn plus(self, span: i64) -> Self {
        Self(self.0.saturating_add(span))
    }

    /// This instant, or the first whole second after it: repeats that need no better time share an alarm.
    #[must_use]
    pub const fn whole_second(self) -> Self {
        match self.0.rem_euclid(SECOND) {
            0 => self,
            over => self.plus(SECOND - over),
        }
    }

    /// Milliseconds from `earlier` to `self`; negative when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}
