//! What a callee needs to report on one attempt.

use cronwright_core::ids::RunId;

use super::mac::{hex, hmac_sha256, unhex32};
use super::{MasterSecret, same};

const LABEL: &str = "run-token.v1.";

/// Lets its holder call `/complete` and `/progress` for this run under this fence, and nothing else:
/// HMAC-SHA256(master, `run-token.v1.<run>.<fence>`) in hexadecimal. A later attempt has a higher fence
/// and another token, so an older holder is refused.
#[must_use]
pub fn run_token(master: &MasterSecret, run: &RunId, fence: u64) -> String {
    hex(&derive(master, run, fence))
}

/// Whether `text` is the token of this run and fence, in constant time.
#[must_use]
pub fn verify_run_token(master: &MasterSecret, run: &RunId, fence: u64, text: &str) -> bool {
    unhex32(text).is_some_and(|given| same(&given, &derive(master, run, fence)))
}

fn derive(master: &MasterSecret, run: &RunId, fence: u64) -> [u8; 32] {
    let message = format!("{LABEL}{run}.{fence}");
    hmac_sha256(master.as_bytes(), &[message.as_bytes()])
}
