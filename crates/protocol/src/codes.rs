//! One-time codes of the deployer: the first set-up, and sign-in without a password.
//!
//! A code is `<expiry in ms>.<hex HMAC-SHA256(master, label + expiry in ms)>`. Whoever holds the master
//! secret can make one, with a shell and `openssl` if need be; nobody else can. It proves itself, so the
//! server keeps only which were used. A kind and an expiry have exactly one code, so that pair is what
//! to remember until the expiry: never the text, which may come with white space around it.

use cronwright_core::time::{MINUTE, Millis};

use crate::keys::mac::{hex, hmac_sha256, unhex32};
use crate::keys::{MasterSecret, same};

/// The longest a code may live. A code that claims more was not made by our tools.
pub const LONGEST_MS: i64 = 15 * MINUTE;

/// What a code is for. A code of one kind is forged for every other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// Making the first administrator.
    SetUp,
    /// Signing in as the deployer.
    SignIn,
}

impl CodeKind {
    /// What the signed text begins with.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::SetUp => "setup-code.v1.",
            Self::SignIn => "sign-in-code.v1.",
        }
    }
}

/// Why a code is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// Not the shape of a code.
    #[error("this is not a code: copy all of it, with the dot in the middle")]
    Malformed,
    /// Made with another secret, or for another purpose.
    #[error("this code was not made for this with the secret of this deployment")]
    Forged,
    /// Too late.
    #[error("this code has expired: make a new one")]
    Expired,
    /// Lives for more than 15 minutes from now.
    #[error(
        "this code would live for more than 15 minutes: make a shorter one, and check the clock"
    )]
    TooLong,
}

/// The code of `kind` that expires at `expiry`.
#[must_use]
pub fn issue(master: &MasterSecret, kind: CodeKind, expiry: Millis) -> String {
    format!(
        "{}.{}",
        expiry.0,
        hex(&mac(master, kind, &expiry.0.to_string()))
    )
}

/// Checks a code and returns when it expires, which also names it among its kind. White space around it does not count.
///
/// # Errors
///
/// When it is malformed, forged, expired (at its expiry, not after) or too long, judged in this order: who
/// cannot make codes does not learn how the times of one are judged.
pub fn verify(
    master: &MasterSecret,
    kind: CodeKind,
    text: &str,
    now: Millis,
) -> Result<Millis, CodeError> {
    let (digits, mark) = text.trim().split_once('.').ok_or(CodeError::Malformed)?;
    let expiry = parse_expiry(digits).ok_or(CodeError::Malformed)?;
    let mark = unhex32(mark).ok_or(CodeError::Malformed)?;
    if !same(&mark, &mac(master, kind, digits)) {
        return Err(CodeError::Forged);
    }
    match expiry.since(now) {
        left if left <= 0 => Err(CodeError::Expired),
        left if left > LONGEST_MS => Err(CodeError::TooLong),
        _ => Ok(expiry),
    }
}

fn mac(master: &MasterSecret, kind: CodeKind, digits: &str) -> [u8; 32] {
    hmac_sha256(
        master.as_bytes(),
        &[kind.label().as_bytes(), digits.as_bytes()],
    )
}

/// Digits only, no leading zero: one spelling per instant.
fn parse_expiry(digits: &str) -> Option<Millis> {
    let shaped = (1..=15).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && !digits.starts_with('0');
    if shaped {
        digits.parse().ok().map(Millis)
    } else {
        None
    }
}
