//! A compiled cron text.

use std::sync::Arc;

use super::days::{Calendar, Days};
use super::dialect::Dialect;
use super::error::ScheduleError;
use super::next::Fires;
use super::parse::{Parsed, Seen, parse};
use super::spec::Spec;
use super::zone::{MAX_SECOND, MIN_SECOND, Zone};
use crate::time::{Millis, SECOND};

/// A cron text, read in a dialect and laid over a time zone.
///
/// ```
/// use cronwright_core::schedule::{Cron, Dialect, Zone, parse_rfc3339, rfc3339};
///
/// let cron = Cron::parse("0 30 2 * * ?", Dialect::Quartz, Zone::get("America/New_York")?)?;
/// let now = parse_rfc3339("2027-03-13T12:00:00Z").unwrap();
/// // 02:30 does not exist on 2027-03-14: it fires when the gap ends, at 03:00 EDT.
/// assert_eq!(cron.next(now).map(rfc3339).as_deref(), Some("2027-03-14T07:00:00Z"));
/// # Ok::<(), cronwright_core::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cron {
    text: String,
    dialect: Dialect,
    zone: Zone,
    compiled: Arc<Compiled>,
}

/// Apart, so that a [`Cron`] is small and cheap to clone.
#[derive(Debug)]
struct Compiled {
    spec: Spec,
    calendar: Calendar,
    seen: Seen,
}

impl Cron {
    /// Reads a text.
    ///
    /// A date that never comes, such as `0 0 0 31 2 ?`, is no error here: see [`Cron::never`].
    ///
    /// # Errors
    /// What is wrong and where; see [`super::code`].
    pub fn parse(text: &str, dialect: Dialect, zone: Zone) -> Result<Self, ScheduleError> {
        let Parsed { spec, seen } = parse(text, dialect)?;
        Ok(Self {
            text: text.to_owned(),
            dialect,
            zone,
            compiled: Arc::new(Compiled {
                calendar: Calendar::of(&spec),
                spec,
                seen,
            }),
        })
    }

    /// The first fire strictly after `after`: a whole second. `None` when there is none until 2199.
    #[must_use]
    pub fn next(&self, after: Millis) -> Option<Millis> {
        let from = after.0.div_euclid(SECOND).saturating_add(1);
        self.fires().at_or_after(from).map(whole)
    }

    /// The newest fire in `(not_before, at]`.
    #[must_use]
    pub fn last_at_or_before(&self, at: Millis, not_before: Millis) -> Option<Millis> {
        let earliest = not_before.0.div_euclid(SECOND).saturating_add(1);
        self.fires()
            .at_or_before(at.0.div_euclid(SECOND), earliest)
            .map(whole)
    }

    /// How many fires are in `(after, until]`. Costs by month, not by fire.
    #[must_use]
    pub fn count(&self, after: Millis, until: Millis) -> u64 {
        let from = after.0.div_euclid(SECOND).saturating_add(1);
        let to = until.0.div_euclid(SECOND).saturating_add(1);
        self.fires().count(from, to)
    }

    /// The text as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The dialect it was read in.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The zone it fires in.
    #[must_use]
    pub const fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Whether seconds, minutes or hours are written with `*`, `-` or `/`: such a job skips the hour a
    /// clock change takes and runs again in the hour it repeats. Any other job fires once for each
    /// local time, when the gap ends or in the first pass.
    #[must_use]
    pub fn is_interval(&self) -> bool {
        self.compiled.spec.interval
    }

    pub(super) fn spec(&self) -> &Spec {
        &self.compiled.spec
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.compiled.seen
    }

    /// Whether no year at all has a matching day.
    pub(super) fn impossible(&self) -> bool {
        self.compiled.calendar.is_empty()
    }

    pub(super) fn fires(&self) -> Fires<'_> {
        Fires {
            days: Days {
                spec: &self.compiled.spec,
                calendar: &self.compiled.calendar,
            },
            zone: &self.zone,
        }
    }
}

/// Fires are within [`MIN_SECOND`] and [`MAX_SECOND`], so this does not overflow.
const fn whole(second: i64) -> Millis {
    debug_assert!(MIN_SECOND <= second && second <= MAX_SECOND);
    Millis(second * SECOND)
}
