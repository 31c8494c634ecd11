//! When a delivery is tried again, and when it is given up.

use super::{GRACE_MS, TIMEOUT_MS};
use crate::ids::{RunId, digest16};
use crate::job::def::CallbackPreset;
use crate::time::{DAY, HOUR, MINUTE, SECOND};

const STANDARD: [i64; 5] = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE];

const DURABLE: [i64; 11] = [
    5 * SECOND,
    30 * SECOND,
    2 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
];

/// Which way a run's jitter bends each durable delay. The signs nearly cancel: the long waits give
/// back what they took, so that whatever the run, the twelve attempts span more than 75 hours.
const BEND: [i64; 11] = [1, -1, 1, -1, 1, -1, -1, -1, 1, -1, 1];

/// The waits of a preset between one attempt's end and the next one's start, in ms, before jitter.
#[must_use]
pub const fn base_delays_ms(preset: CallbackPreset) -> &'static [i64] {
    match preset {
        CallbackPreset::Standard => &STANDARD,
        CallbackPreset::Durable => &DURABLE,
    }
}

/// Attempts of a preset, the first included.
#[must_use]
pub fn attempts_max(preset: CallbackPreset) -> u32 {
    u32::try_from(base_delays_ms(preset).len())
        .unwrap_or(u32::MAX)
        .saturating_add(1)
}

/// The wait after `attempts` attempts have failed, in ms; none when that was the last.
///
/// `Standard` waits exactly; `Durable` bends each wait by up to 20 %, by a share fixed by the run's id.
#[must_use]
pub fn delay_ms(preset: CallbackPreset, attempts: u32, run: &RunId) -> Option<i64> {
    let index = usize::try_from(attempts.checked_sub(1)?).ok()?;
    let base = *base_delays_ms(preset).get(index)?;
    match preset {
        CallbackPreset::Standard => Some(base),
        CallbackPreset::Durable => {
            let bend = BEND
                .get(index)
                .copied()
                .unwrap_or(0)
                .saturating_mul(jitter_permille(run));
            Some(base.saturating_add(base.saturating_mul(bend) / 1_000))
        }
    }
}

/// A run's share of jitter: −200 to 200 thousandths.
fn jitter_permille(run: &RunId) -> i64 {
    let hash = u64::from_str_radix(&digest16(&[&run.to_string()]), 16).unwrap_or(0);
    i64::try_from(hash % 401).unwrap_or(0).saturating_sub(200)
}

/// The wait when the receiver asked for one with `Retry-After`, in ms.
///
/// What a receiver asks for is input from outside, so it is held between our own delay and twice that.
/// One minute is always granted: "come back in a minute" is what rate limiters say, and answering it
/// after 2 s would spend the quick attempts on a receiver that has told us they are useless.
#[must_use]
pub fn honoured_ms(delay_ms: i64, asked_ms: Option<i64>) -> i64 {
    asked_ms.map_or(delay_ms, |asked| {
        asked.clamp(delay_ms, longest_ms(delay_ms))
    })
}

const fn longest_ms(delay_ms: i64) -> i64 {
    let twice = delay_ms.saturating_mul(2);
    if twice > MINUTE { twice } else { MINUTE }
}

/// How long after it was taken in (or replayed) the patience with a delivery ends, in ms.
///
/// That is the longest its own schedule can take, with every `Retry-After` granted and every attempt
/// timing out, and 24 hours for the time it waits for the breaker or for its turn. Then it is given up
/// as soon as a probe has failed, or at its own next failure: on fresh evidence that the receiver is
/// down, and never because we were. So a delivery that is alone gets all of its attempts, none waits
/// for ever at an endpoint that is gone, and none expires because our own alarm was late.
#[must_use]
pub fn patience_ms(preset: CallbackPreset) -> i64 {
    let waits = base_delays_ms(preset).iter().fold(0_i64, |sum, base| {
        let bent = match preset {
            CallbackPreset::Standard => *base,
            CallbackPreset::Durable => base.saturating_add(base / 5),
        };
        sum.saturating_add(longest_ms(bent))
    });
    let calls = i64::from(attempts_max(preset)).saturating_mul(TIMEOUT_MS.saturating_add(GRACE_MS));
    waits.saturating_add(calls).saturating_add(DAY)
}
