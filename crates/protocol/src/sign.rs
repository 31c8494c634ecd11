//! Signatures of callbacks: two schemes on every delivery, so that receivers of both kinds verify it.
//!
//! - **Standard Webhooks 1.0** (`webhook-id`, `webhook-timestamp`, `webhook-signature`): base64
//!   HMAC-SHA256 over `id.seconds.body`, one `v1,…` for every live secret.
//! - **The articles' scheme** (`X-App-Id`, `X-Timestamp`, `X-Nonce`, `X-Signature`): hexadecimal HMAC-SHA256
//!   over `body ‖ milliseconds ‖ nonce`. No separators, yet not ambiguous: the timestamp always has 13
//!   digits and the nonce 36 characters, both sides refuse any other width, so the tail is always 49 bytes.
//!
//! Which bytes of the secret key which scheme: see [`AppSecret`].
//!
//! **Rotation.** A Standard Webhooks receiver tries every listed signature. A receiver of the articles'
//! scheme compares one value, and during a rotation it most likely still holds the older secret: so
//! `X-Signature` is made with the *older* live secret, and `X-Signature-Next` with the newer one. A receiver
//! takes the newer secret whenever it likes, checks `X-Signature-Next` while that header is there, and
//! nothing breaks when the older secret retires and `X-Signature` is made with the newer one.

mod nonce;
mod verify;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cronwright_core::ids::AppId;
use cronwright_core::time::{MINUTE, Millis, SECOND};

use crate::keys::AppSecret;
use crate::keys::mac::{hex, hmac_sha256};
use crate::wire::headers::{
    WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, X_APP_ID, X_NONCE, X_SIGNATURE,
    X_SIGNATURE_NEXT, X_TIMESTAMP,
};

pub use nonce::{is_nonce, nonce_from};
pub use verify::{ArticlesClaims, StandardClaims, VerifyError, verify_articles, verify_standard};

/// How far a timestamp may be from the receiver's clock, either way, inclusive.
pub const WINDOW_MS: i64 = 5 * MINUTE;

/// How long a receiver keeps nonces and ids: a message may arrive 5 minutes early by its timestamp and be
/// replayed until 5 minutes after it.
pub const KEEP_NONCES_MS: i64 = 2 * WINDOW_MS;

/// Why nothing was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// No live secret: a callback never leaves unsigned.
    #[error("the app has no live secret")]
    NoSecret,
    /// Empty, or with a character that would make the signed text ambiguous.
    #[error("an id is 1 to 128 of A-Z a-z 0-9 _ -")]
    Id,
    /// Not the text form of a UUID.
    #[error("a nonce is a UUID in text form")]
    Nonce,
    /// Before 2001 or after 2286.
    #[error("the time in milliseconds does not have 13 digits")]
    Time,
}

/// The signature headers of one delivery attempt. `secrets` are the live ones, newest first; `id` is the
/// `scheduleId`; `nonce` comes from [`nonce_from`], fresh for each attempt; `body` are the bytes that are sent.
///
/// # Errors
///
/// When an argument could not be verified by any receiver.
pub fn callback_headers(
    app: &AppId,
    secrets: &[AppSecret],
    id: &str,
    now: Millis,
    nonce: &str,
    body: &[u8],
) -> Result<Vec<(&'static str, String)>, SignError> {
    let (Some(newest), Some(oldest)) = (secrets.first(), secrets.last()) else {
        return Err(SignError::NoSecret);
    };
    if !is_message_id(id) {
        return Err(SignError::Id);
    }
    if !is_nonce(nonce) {
        return Err(SignError::Nonce);
    }
    let stamp = now.0.to_string();
    if now.0 < 0 || stamp.len() != STAMP_DIGITS {
        return Err(SignError::Time);
    }
    let seconds = now.0.div_euclid(SECOND).to_string();
    let standard: Vec<String> = secrets
        .iter()
        .map(|secret| {
            format!(
                "v1,{}",
                STANDARD.encode(standard_mac(secret, id, &seconds, body))
            )
        })
        .collect();
    let mut headers = vec![
        (X_APP_ID, app.as_str().to_owned()),
        (X_SIGNATURE, hex(&articles_mac(oldest, body, &stamp, nonce))),
        (X_TIMESTAMP, stamp.clone()),
        (X_NONCE, nonce.to_owned()),
        (WEBHOOK_ID, id.to_owned()),
        (WEBHOOK_TIMESTAMP, seconds),
        (WEBHOOK_SIGNATURE, standard.join(" ")),
    ];
    if secrets.len() > 1 {
        headers.push((
            X_SIGNATURE_NEXT,
            hex(&articles_mac(newest, body, &stamp, nonce)),
        ));
    }
    Ok(headers)
}

/// Digits of a timestamp in milliseconds: fixed, see the module's text.
const STAMP_DIGITS: usize = 13;

fn is_message_id(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn standard_mac(secret: &AppSecret, id: &str, seconds: &str, body: &[u8]) -> [u8; 32] {
    hmac_sha256(
        secret.standard_key(),
        &[id.as_bytes(), b".", seconds.as_bytes(), b".", body],
    )
}

fn articles_mac(secret: &AppSecret, body: &[u8], stamp: &str, nonce: &str) -> [u8; 32] {
    hmac_sha256(
        secret.articles_key(),
        &[body, stamp.as_bytes(), nonce.as_bytes()],
    )
}
