//! What a receiver does. Used by the receiver kit, the CLI and the tests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cronwright_core::ids::AppId;
use cronwright_core::time::{Millis, SECOND};

use super::{STAMP_DIGITS, WINDOW_MS, articles_mac, is_message_id, is_nonce, standard_mac};
use crate::keys::mac::unhex32;
use crate::keys::{AppSecret, same};
use crate::wire::headers::{
    WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, X_APP_ID, X_NONCE, X_SIGNATURE,
    X_SIGNATURE_NEXT, X_TIMESTAMP,
};

/// What a Standard Webhooks signature vouches for, besides the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandardClaims {
    /// The `scheduleId`: put a unique index on it.
    pub id: String,
    /// When this attempt was signed.
    pub at: Millis,
}

/// What a signature of the articles' scheme vouches for, besides the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticlesClaims {
    /// Keep it for [`super::KEEP_NONCES_MS`] and refuse it meanwhile.
    pub nonce: String,
    /// When this attempt was signed.
    pub at: Millis,
}

/// Why a delivery is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// A header is not there.
    #[error("the header {0} is missing")]
    Missing(&'static str),
    /// A header came more than once: two readers might see different values.
    #[error("the header {0} came more than once")]
    Repeated(&'static str),
    /// A header that no signer writes like this.
    #[error("the header {0} is malformed")]
    Malformed(&'static str),
    /// For another app.
    #[error("the delivery is for another app")]
    WrongApp,
    /// Signed more than 5 minutes ago.
    #[error("signed {by_ms} ms ago: more than 5 minutes")]
    TooOld {
        /// Age by the receiver's clock.
        by_ms: i64,
    },
    /// Signed more than 5 minutes ahead.
    #[error("signed {by_ms} ms in the future: more than 5 minutes")]
    TooNew {
        /// Lead over the receiver's clock.
        by_ms: i64,
    },
    /// No live secret made this signature over these bytes.
    #[error("the signature does not match the body and the secret")]
    Forged,
}

/// Verifies the Standard Webhooks headers against the raw body bytes, with any of `secrets`.
///
/// # Errors
///
/// When the delivery must be refused.
pub fn verify_standard<N: AsRef<str>, V: AsRef<str>>(
    secrets: &[AppSecret],
    headers: &[(N, V)],
    body: &[u8],
    now: Millis,
) -> Result<StandardClaims, VerifyError> {
    let id = header(headers, WEBHOOK_ID)?;
    let seconds = header(headers, WEBHOOK_TIMESTAMP)?;
    let listed = header(headers, WEBHOOK_SIGNATURE)?;
    if !is_message_id(id) {
        return Err(VerifyError::Malformed(WEBHOOK_ID));
    }
    let at = digits(seconds, 1..=11)
        .map(|seconds| Millis(seconds.saturating_mul(SECOND)))
        .ok_or(VerifyError::Malformed(WEBHOOK_TIMESTAMP))?;
    within_window(at, now)?;
    // Other versions, such as v1a, may stand beside ours.
    let given: Vec<Vec<u8>> = listed
        .split(' ')
        .filter_map(|entry| entry.strip_prefix("v1,"))
        .filter_map(|coded| STANDARD.decode(coded).ok())
        .collect();
    let made: Vec<[u8; 32]> = secrets
        .iter()
        .map(|secret| standard_mac(secret, id, seconds, body))
        .collect();
    if any_same(&given, &made) {
        Ok(StandardClaims {
            id: id.to_owned(),
            at,
        })
    } else {
        Err(VerifyError::Forged)
    }
}

/// Verifies the headers of the articles' scheme against the raw body bytes, with any of `secrets`;
/// `X-Signature` or `X-Signature-Next` may match. The app's name is compared but not signed: it only says
/// whose secret to use.
///
/// # Errors
///
/// When the delivery must be refused.
pub fn verify_articles<N: AsRef<str>, V: AsRef<str>>(
    app: &AppId,
    secrets: &[AppSecret],
    headers: &[(N, V)],
    body: &[u8],
    now: Millis,
) -> Result<ArticlesClaims, VerifyError> {
    let (stamp, nonce) = (header(headers, X_TIMESTAMP)?, header(headers, X_NONCE)?);
    let first = header(headers, X_SIGNATURE)?;
    let next = match header(headers, X_SIGNATURE_NEXT) {
        Err(VerifyError::Missing(_)) => None,
        found => Some(found?),
    };
    if header(headers, X_APP_ID)? != app.as_str() {
        return Err(VerifyError::WrongApp);
    }
    let at = digits(stamp, STAMP_DIGITS..=STAMP_DIGITS)
        .map(Millis)
        .ok_or(VerifyError::Malformed(X_TIMESTAMP))?;
    if !is_nonce(nonce) {
        return Err(VerifyError::Malformed(X_NONCE));
    }
    within_window(at, now)?;
    // Some signers write hexadecimal in upper case.
    let read = |text: &str| unhex32(&text.to_ascii_lowercase()).map(Vec::from);
    let mut given = vec![read(first).ok_or(VerifyError::Malformed(X_SIGNATURE))?];
    if let Some(next) = next {
        given.push(read(next).ok_or(VerifyError::Malformed(X_SIGNATURE_NEXT))?);
    }
    let made: Vec<[u8; 32]> = secrets
        .iter()
        .map(|secret| articles_mac(secret, body, stamp, nonce))
        .collect();
    if any_same(&given, &made) {
        Ok(ArticlesClaims {
            nonce: nonce.to_owned(),
            at,
        })
    } else {
        Err(VerifyError::Forged)
    }
}

fn any_same(given: &[Vec<u8>], made: &[[u8; 32]]) -> bool {
    // Every pair is compared, so the time does not tell which secret matched.
    given.iter().fold(false, |found, given| {
        made.iter()
            .fold(found, |found, made| found | same(given, made))
    })
}

fn header<'h, N: AsRef<str>, V: AsRef<str>>(
    headers: &'h [(N, V)],
    name: &'static str,
) -> Result<&'h str, VerifyError> {
    let mut found = headers
        .iter()
        .filter(|(given, _)| given.as_ref().eq_ignore_ascii_case(name));
    let (_, value) = found.next().ok_or(VerifyError::Missing(name))?;
    if found.next().is_some() {
        return Err(VerifyError::Repeated(name));
    }
    Ok(value.as_ref())
}

fn digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let shaped = lengths.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if shaped { text.parse().ok() } else { None }
}

fn within_window(at: Millis, now: Millis) -> Result<(), VerifyError> {
    match now.since(at) {
        age if age > WINDOW_MS => Err(VerifyError::TooOld { by_ms: age }),
        age if age < -WINDOW_MS => Err(VerifyError::TooNew {
            by_ms: age.saturating_neg(),
        }),
        _ => Ok(()),
    }
}
