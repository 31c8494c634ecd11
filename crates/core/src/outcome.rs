//! How an attempt or a run stands, in one set of names for records, API, pages and callbacks.

use serde::{Deserialize, Serialize};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RunState {
    /// Recorded; waits for its start, its place in the queue or its next attempt.
    Triggered,
    /// An attempt was handed over.
    Dispatched,
    /// An attempt is known to be running.
    Running,
    /// An attempt was lost and the run waits for word or for its next attempt.
    Lost,
    /// It is not known whether the last attempt did its work.
    Unknown,
    /// Ended well.
    Success,
    /// Ended badly after its last attempt.
    Failed,
    /// Ran over its limit.
    TimedOut,
    /// Stopped on request.
    Cancelled,
    /// Never started, for a recorded reason.
    Skipped,
}

impl RunState {
    /// Every state, in the order of the state diagram.
    pub const ALL: [Self; 10] = [
        Self::Triggered,
        Self::Dispatched,
        Self::Running,
        Self::Lost,
        Self::Unknown,
        Self::Success,
        Self::Failed,
        Self::TimedOut,
        Self::Cancelled,
        Self::Skipped,
    ];

    /// The name on the wire and in D1.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Triggered => "TRIGGERED",
            Self::Dispatched => "DISPATCHED",
            Self::Running => "RUNNING",
            Self::Lost => "LOST",
            Self::Unknown => "UNKNOWN",
            Self::Success => "SUCCESS",
            Self::Failed => "FAILED",
            Self::TimedOut => "TIMED_OUT",
            Self::Cancelled => "CANCELLED",
            Self::Skipped => "SKIPPED",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Whether the run has ended for good.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Success | Self::Failed | Self::TimedOut | Self::Cancelled | Self::Skipped
        )
    }
}

/// Where a run's callback stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CallbackState {
    /// The job has no callback, or the run has not ended.
    #[default]
    None,
    /// Waiting at the endpoint.
    Pending,
    /// The receiver answered 2xx.
    Done,
    /// Given up; kept for replay.
    Failed,
}

impl CallbackState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::None, Self::Pending, Self::Done, Self::Failed];

    /// The name on the wire and in D1.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Pending => "PENDING",
            Self::Done => "DONE",
            Self::Failed => "FAILED",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// How an HTTP exchange of ours went wrong, before or after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchFault {
    /// No response within the limit over head and body.
    Timeout,
    /// No connection, or it broke.
    Network,
    /// The target is one we never call.
    BlockedTarget,
    /// A redirect that is not followed.
    Redirect,
    /// Stopped by us.
    Aborted,
    /// Our own side failed before the request left.
    Internal,
}

impl FetchFault {
    /// The name on the wire, also used as error code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Network => "network",
            Self::BlockedTarget => "blocked_target",
            Self::Redirect => "redirect",
            Self::Aborted => "aborted",
            Self::Internal => "internal",
        }
    }
}
