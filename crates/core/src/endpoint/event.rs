//! What goes into the machine and what comes out.

use super::record::{Config, Delivery, StateWord};
use crate::ids::{AppId, JobId, RunId};
use crate::job::def::CallbackPreset;
use crate::machine::{Keyed, Turn};
use crate::outcome::{CallbackState, FetchFault};
use crate::time::Millis;

/// What one step of an endpoint decided.
pub type EndpointTurn = Turn<Change, Effect>;

/// What can happen to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The job's shard asks for a delivery. Repeating it changes nothing, whatever became of the first.
    Enqueue(NewDelivery),
    /// An attempt ended and the host knows how.
    Attempted {
        /// Whose delivery.
        run: RunId,
        /// Which attempt.
        attempt: u32,
        /// How it ended.
        result: AttemptResult,
    },
    /// The host has no live call for an attempt that is in flight (it was restarted). Tried again at
    /// once if the breaker allows; costs no attempt the first [`LOSSES_FREE`](super::LOSSES_FREE) times.
    AttemptLost {
        /// Whose delivery.
        run: RunId,
        /// Which attempt.
        attempt: u32,
    },
    /// The alarm, or the minute's tick: do what time allows.
    Wake,
    /// The job's shard has taken our word.
    SettleAcked {
        /// Whose delivery.
        run: RunId,
        /// The number of the word that was taken, from [`Effect::Settle`].
        word: u32,
    },
    /// Deliver a dead or delivered one again, with a fresh set of attempts and the same bytes.
    Replay {
        /// Whose delivery.
        run: RunId,
    },
    /// Replay every dead delivery, as far as the queue has room.
    ReplayDead,
    /// An operator closes the breaker.
    CloseBreaker,
    /// The live versions of the signing key changed.
    Rotate {
        /// Newest first; one or two.
        key_versions: Vec<u32>,
    },
}

/// What a shard asks to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Whose result.
    pub run: RunId,
    /// Whose run.
    pub job: JobId,
    /// The order within the job.
    pub seq: u64,
    /// The bytes to send, at most [`BODY_BYTES_MAX`](super::BODY_BYTES_MAX).
    pub body: String,
    /// How long it is tried.
    pub preset: CallbackPreset,
}

/// How an attempt ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptResult {
    /// The answer's status, if a head came. 2xx is a delivery even when the body then broke: the
    /// receiver has said yes, and asking again would only make a duplicate.
    pub status: Option<u16>,
    /// What went wrong on the way.
    pub fault: Option<FetchFault>,
    /// `Retry-After` of a 429 or 503, in ms from now; looked at nowhere else.
    pub retry_after_ms: Option<i64>,
    /// How long it took, in ms.
    pub ms: i64,
    /// The beginning of the answer's body; kept for failures, cut to
    /// [`EXCERPT_CHARS_MAX`](super::EXCERPT_CHARS_MAX).
    pub excerpt: Option<String>,
}

/// Something for the host to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Sign with a fresh timestamp and nonce, send, and report [`Event::Attempted`].
    Post {
        /// `scheduleId`, `webhook-id`.
        run: RunId,
        /// The number of the attempt.
        attempt: u32,
        /// Where to.
        url: String,
        /// Whose secret signs.
        app: AppId,
        /// Which versions of it sign, newest first.
        key_versions: Vec<u32>,
        /// The bytes.
        body: String,
        /// Limit over head and body, in ms.
        timeout_ms: i64,
    },
    /// Tell the job's shard how a delivery stands, and report [`Event::SettleAcked`] with the same number.
    Settle {
        /// Whose delivery.
        run: RunId,
        /// Whose run.
        job: JobId,
        /// Which word about this run it is, from 1: a higher one replaces a lower.
        word: u32,
        /// [`CallbackState::Done`] or [`CallbackState::Failed`], or [`CallbackState::Pending`] when it
        /// is being delivered again.
        outcome: CallbackState,
        /// Attempts used up in this round.
        attempts: u32,
        /// Why it failed; see [`Delivery::code`].
        code: Option<String>,
    },
}

/// A record that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Store the endpoint's own record.
    PutConfig(Config),
    /// Store a delivery under its run.
    PutDelivery(Delivery),
    /// Drop the delivery of that run.
    DropDelivery(RunId),
}

/// Why an event was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reject {
    /// There is no such delivery, or no longer.
    #[error("no delivery of run {run} here")]
    UnknownDelivery {
        /// The run that was named.
        run: RunId,
    },
    /// The attempt is not the one in flight.
    #[error("attempt {got} is not in flight (in flight: {expected:?})")]
    StaleAttempt {
        /// The one in flight, if any.
        expected: Option<u32>,
        /// The one that was named.
        got: u32,
    },
    /// The delivery has not ended.
    #[error("the delivery of run {run} is {} and cannot be replayed", state.as_str())]
    NotReplayable {
        /// The run that was named.
        run: RunId,
        /// Where its delivery stands.
        state: StateWord,
    },
    /// The body is too large.
    #[error("the body has {bytes} bytes; at most {limit} are taken")]
    BodyTooLarge {
        /// What it has.
        bytes: usize,
        /// What it may have.
        limit: usize,
    },
    /// Too many deliveries wait; the shard keeps its own and asks again.
    #[error("{limit} deliveries wait already")]
    QueueFull {
        /// How many may wait.
        limit: usize,
    },
    /// The bodies that wait are too large together; the shard keeps its own and asks again.
    #[error("{limit} bytes of deliveries wait already")]
    QueueBytesFull {
        /// How many bytes may wait.
        limit: usize,
    },
    /// Key versions must be one or two, newest first.
    #[error("key versions {found:?} are not one or two, newest first")]
    BadKeyVersions {
        /// What was given.
        found: Vec<u32>,
    },
}

/// When the shard is told again, in ms after it was told `told` times.
pub(super) fn tell_again_ms(told: u32) -> i64 {
    use crate::time::{MINUTE, SECOND};
    match told {
        0 | 1 => 5 * SECOND,
        2 => 30 * SECOND,
        3.. => MINUTE,
    }
}

impl Delivery {
    /// A delivery as it is taken in at `now`.
    pub(super) fn taken_in(new: NewDelivery, now: Millis) -> Self {
        Self {
            run: new.run,
            job: new.job,
            seq: new.seq,
            preset: new.preset,
            state: super::DeliveryState::Waiting,
            attempts: 0,
            starts: 0,
            losses: 0,
            round: 0,
            word: 0,
            not_before: now,
            enqueued_at: now,
            give_up_at: now.plus(super::patience_ms(new.preset)),
            ended_at: None,
            code: None,
            history: Vec::new(),
            settle: super::Settle::Unsettled,
            body: new.body,
        }
    }

    /// The latest word to the job's shard.
    pub(super) fn word_to_shard(&self) -> Keyed<Effect> {
        let outcome = match self.state {
            super::DeliveryState::Waiting | super::DeliveryState::InFlight { .. } => {
                CallbackState::Pending
            }
            super::DeliveryState::Done => CallbackState::Done,
            super::DeliveryState::Dead => CallbackState::Failed,
        };
        let effect = Effect::Settle {
            run: self.run.clone(),
            job: self.job.clone(),
            word: self.word,
            outcome,
            attempts: self.attempts,
            code: self.code.clone(),
        };
        Keyed {
            key: format!("{}/settle/{}", self.run, self.word),
            effect,
        }
    }
}
