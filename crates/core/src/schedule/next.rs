//! Fires in UTC: the local time line laid over a zone's offsets, with the one rule for clock changes.
//!
//! A zone is a sequence of segments with one offset each. Inside a segment a fire is a matching local
//! second. At a segment's start the clock jumped:
//!
//! - forwards over a gap: a fixed-time job that has a match in the gap fires once, at the segment's
//!   first second; an interval job does not. A gap of a day or more is skipped by both.
//! - backwards: the first seconds of the segment repeat local time. A fixed-time job does not fire in
//!   them again; an interval job does.

use super::civil::DAY_SECONDS;
use super::days::Days;
use super::zone::{MAX_SECOND, MIN_SECOND, Segment, Zone};

/// No clock change moves the wall by more than a day; when the nearest change is further away than
/// this, local time order is UTC order.
const FAR: i64 = 2 * DAY_SECONDS;

/// Local days and their zone.
pub(super) struct Fires<'a> {
    pub days: Days<'a>,
    pub zone: &'a Zone,
}

impl Fires<'_> {
    /// The first local second of a segment that can fire by itself.
    fn floor(&self, segment: &Segment) -> i64 {
        if self.days.spec.interval {
            segment.start + segment.offset
        } else {
            segment.fresh()
        }
    }

    /// Whether a fixed time inside the gap before this segment fires at its start.
    pub fn makes_up(&self, segment: &Segment) -> bool {
        let gap = segment.gap();
        if gap == 0 || gap >= DAY_SECONDS || self.days.spec.interval {
            return false;
        }
        let from = segment.start + segment.before;
        self.days.any_between(from, from + gap)
    }

    /// The first fire at or after a UTC second.
    pub fn at_or_after(&self, second: i64) -> Option<i64> {
        let mut at = second.max(MIN_SECOND);
        while at <= MAX_SECOND {
            let segment = self.zone.segment(at);
            if at == segment.start && self.makes_up(&segment) {
                return Some(at);
            }
            let from = (at + segment.offset).max(self.floor(&segment));
            let found = self.days.second_at_or_after(from);
            if let Some(local) = found
                && local - segment.offset < segment.end
            {
                return Some(local - segment.offset);
            }
            at = if segment.end - at > FAR {
                segment.end.max(found? - FAR)
            } else {
                segment.end
            };
        }
        None
    }

    /// The last fire at or before a UTC second, looking no further back than `earliest`.
    pub fn at_or_before(&self, second: i64, earliest: i64) -> Option<i64> {
        let earliest = earliest.max(MIN_SECOND);
        let mut at = second.min(MAX_SECOND);
        while at >= earliest {
            let segment = self.zone.segment(at);
            let found = self.days.second_at_or_before(at + segment.offset);
            if let Some(local) = found
                && local >= self.floor(&segment)
            {
                let fire = local - segment.offset;
                return (fire >= earliest).then_some(fire);
            }
            if self.makes_up(&segment) {
                return (segment.start >= earliest).then_some(segment.start);
            }
            let before = segment.start - 1;
            at = if at - segment.start > FAR {
                before.min(found? + FAR)
            } else {
                before
            };
        }
        None
    }

    /// How many fires are in the UTC seconds `from..to`.
    pub fn count(&self, from: i64, to: i64) -> u64 {
        let to = to.min(MAX_SECOND);
        let mut at = from.max(MIN_SECOND);
        let mut sum = 0;
        while at < to {
            let segment = self.zone.segment(at);
            let end = segment.end.min(to);
            let first = (at + segment.offset).max(self.floor(&segment));
            sum += self.days.seconds_between(first, end + segment.offset);
            let start = segment.start + segment.offset;
            if at == segment.start
                && self.makes_up(&segment)
                && !self.days.any_between(start, start + 1)
            {
                sum += 1;
            }
            at = end;
        }
        sum
    }
}
