//! Whether attempts are let through to a receiver that has been failing.
//!
//! An attempt under the breaker is an attempt like any other: only a delivery that is due by its own
//! schedule is let through, and a failed probe uses up one of its attempts. The breaker can therefore
//! make attempts rarer and never more frequent, which gives both promises at once. A receiver that is
//! back within a delivery's own schedule (12.6 min) gets it. And one delivery alone keeps its exact
//! times: its fifth failure opens the breaker at +156 s, its sixth attempt is due at +756 s, long after
//! the probe was allowed, and so is the probe.

use serde::{Deserialize, Serialize};

use crate::ids::RunId;
use crate::time::{MINUTE, Millis};

/// Failures in a row, over all jobs, that open the breaker.
pub const FAILURES_TO_OPEN: u32 = 5;
/// How long the breaker stays open before one probe is let through, in ms.
pub const PROBE_EVERY_MS: i64 = MINUTE;

/// Whether attempts are let through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Breaker {
    /// All of them.
    Closed {
        /// Failures since the last success.
        failures_in_a_row: u32,
    },
    /// None before `probe_at`, then one.
    Open {
        /// When it opened; a failed probe does not move it.
        since: Millis,
        /// When the first delivery that is due goes as the probe.
        probe_at: Millis,
    },
    /// None but the probe, which is in flight.
    HalfOpen {
        /// When it opened.
        since: Millis,
        /// Whose delivery the probe is.
        probing: RunId,
    },
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed {
            failures_in_a_row: 0,
        }
    }
}

impl Breaker {
    /// The name in the API and on pages.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen { .. } => "half_open",
        }
    }

    /// When a delivery that is due at `due` may start, if no result comes first.
    pub(super) fn start_at(&self, due: Millis) -> Option<Millis> {
        match self {
            Self::Closed { .. } => Some(due),
            Self::Open { probe_at, .. } => Some(due.max(*probe_at)),
            Self::HalfOpen { .. } => None,
        }
    }

    /// Until when the last failure is fresh evidence that the receiver is still down.
    pub(super) fn knows_down_until(&self) -> Option<Millis> {
        match self {
            Self::Open { probe_at, .. } => Some(*probe_at),
            Self::Closed { .. } | Self::HalfOpen { .. } => None,
        }
    }

    /// An attempt of `run` starts.
    pub(super) fn started(&mut self, run: &RunId) {
        if let Self::Open { since, .. } = *self {
            *self = Self::HalfOpen {
                since,
                probing: run.clone(),
            };
        }
    }

    /// The receiver answered 2xx: whichever attempt it was, the receiver is there.
    pub(super) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// An attempt of `run` failed; `theirs` when the receiver, not we, was at fault.
    pub(super) fn failed(&mut self, now: Millis, run: &RunId, theirs: bool) {
        match self {
            Self::Closed { failures_in_a_row } if theirs => {
                *failures_in_a_row = failures_in_a_row.saturating_add(1);
                if *failures_in_a_row >= FAILURES_TO_OPEN {
                    *self = Self::Open {
                        since: now,
                        probe_at: now.plus(PROBE_EVERY_MS),
                    };
                }
            }
            Self::HalfOpen { since, probing } if probing == run => {
                *self = Self::Open {
                    since: *since,
                    probe_at: now.plus(PROBE_EVERY_MS),
                };
            }
            // Our own fault says nothing of the receiver; attempts that left before it opened say nothing new.
            Self::Closed { .. } | Self::Open { .. } | Self::HalfOpen { .. } => {}
        }
    }

    /// An attempt of `run` was lost by us: if it was the probe, another may go at once, and until then
    /// nothing new is known of the receiver.
    pub(super) fn lost(&mut self, run: &RunId) {
        match self {
            Self::HalfOpen { since, probing } if probing == run => {
                *self = Self::Open {
                    since: *since,
                    probe_at: *since,
                }
            }
            Self::Closed { .. } | Self::Open { .. } | Self::HalfOpen { .. } => {}
        }
    }
}
