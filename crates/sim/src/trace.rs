//! Happenings as lines of a trace: `seconds.millis what, with whom`.

use crate::queue::{Ask, Happening};

impl Happening {
    /// A number for the hash.
    pub fn kind(&self) -> u64 {
        match self {
            Self::Alarm { .. } => 1,
            Self::Tick => 2,
            Self::Ask { .. } => 3,
            Self::Answer { .. } => 4,
            Self::Flush { .. } => 5,
            Self::Project { .. } => 6,
            Self::Projected { .. } => 7,
            Self::Landed { .. } => 8,
            Self::Delivered { .. } => 9,
            Self::Repeated { .. } => 10,
            Self::Deed => 11,
            Self::Evict(_) => 12,
            Self::D1Back => 13,
            Self::ReceiverBack(_) => 14,
            Self::Heal => 15,
            Self::Rest => 16,
        }
    }

    /// The line of the trace.
    pub fn line(&self) -> String {
        let asked = |ask: &Ask| match ask {
            Ask::Tick => "tick".to_owned(),
            Ask::Job { number, event } => format!("job {number} {}", brief(event)),
            Ask::Endpoint(event) => brief(event),
        };
        match self {
            Self::Alarm { obj, .. } => format!("alarm of {obj:?}"),
            Self::Tick => "a minute begins".to_owned(),
            Self::Ask { to, ask, .. } => format!("asks {to:?}: {}", asked(ask)),
            Self::Answer {
                to, ask, answer, ..
            } => format!("{to:?} answers {answer:?} to: {}", asked(ask)),
            Self::Flush { shard, .. } => format!("shard {shard} steps its inbox"),
            Self::Project { shard, .. } => format!("shard {shard} writes to D1"),
            Self::Projected {
                shard, rows, ok, ..
            } => format!(
                "D1 answers shard {shard}: {} rows, {}",
                rows.len(),
                if *ok { "taken" } else { "an error" }
            ),
            Self::Landed {
                shard,
                handle,
                landing,
                ..
            } => format!("post {handle} of shard {shard} is back: {}", brief(landing)),
            Self::Delivered {
                endpoint,
                run,
                attempt,
                landing,
                ..
            } => format!(
                "callback {run} attempt {attempt} of endpoint {endpoint} is back: {}",
                brief(landing)
            ),
            Self::Repeated {
                endpoint, nonce, ..
            } => format!("somebody repeats request {nonce} to endpoint {endpoint}"),
            Self::Deed => "a person does something".to_owned(),
            Self::Evict(obj) => format!("{obj:?} falls out of memory"),
            Self::D1Back => "D1 is back".to_owned(),
            Self::ReceiverBack(endpoint) => format!("receiver {endpoint} is back"),
            Self::Heal => "the faults end".to_owned(),
            Self::Rest => "all jobs are paused".to_owned(),
        }
    }
}

/// A value in one line of at most 200 characters.
fn brief(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}").chars().take(200).collect()
}
