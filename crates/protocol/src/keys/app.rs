//! The signing secrets of apps.
//!
//! One printed text, two schemes, two keys. They differ, so it is said once, here:
//!
//! - **Standard Webhooks** (`webhook-signature`) keys HMAC with the *bytes that the base64 text after
//!   `whsec_` stands for*: 32 bytes for our own secrets.
//! - **The articles' scheme** (`X-Signature`) keys HMAC with the *UTF-8 bytes of the whole printed text*,
//!   `whsec_` included: what a receiver pastes into its `appSecret` is used as it stands.

use std::fmt;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use cronwright_core::ids::AppId;

use super::mac::hmac_sha256;
use super::{MasterSecret, same};

/// What a printed secret begins with.
const PREFIX: &str = "whsec_";

/// Says what the derived bytes are for, so that no other derivation can yield them.
const LABEL: &[u8] = b"cronwright/app-secret/v1";

/// Secrets made elsewhere may come without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A signing secret.
#[derive(Clone)]
pub struct AppSecret {
    text: String,
    key: Vec<u8>,
}

/// Why a text is no signing secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a signing secret is `whsec_` and the base64 text of 24 to 64 bytes")]
pub struct AppSecretError;

/// The signing secret of `app`, version `version`:
/// HMAC-SHA256(master, `"cronwright/app-secret/v1" 00 app 00 version`), version as 4 bytes, big endian.
#[must_use]
pub fn app_secret(master: &MasterSecret, app: &AppId, version: u32) -> AppSecret {
    let parts = [
        LABEL,
        &[0],
        app.as_str().as_bytes(),
        &[0],
        &version.to_be_bytes(),
    ];
    AppSecret::from_key(hmac_sha256(master.as_bytes(), &parts).to_vec())
}

impl AppSecret {
    fn from_key(key: Vec<u8>) -> Self {
        Self {
            text: format!("{PREFIX}{}", BASE64.encode(&key)),
            key,
        }
    }

    /// Reads a printed secret, ours or another system's.
    ///
    /// # Errors
    ///
    /// When the text is not `whsec_` and 24 to 64 bytes in base64.
    pub fn parse(text: &str) -> Result<Self, AppSecretError> {
        let coded = text.strip_prefix(PREFIX).ok_or(AppSecretError)?;
        let key = BASE64.decode(coded).map_err(|_| AppSecretError)?;
        if (24..=64).contains(&key.len()) {
            Ok(Self {
                text: text.to_owned(),
                key,
            })
        } else {
            Err(AppSecretError)
        }
    }

    /// The text that is shown once and pasted into receivers.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Keys the Standard Webhooks scheme: the decoded bytes.
    #[must_use]
    pub fn standard_key(&self) -> &[u8] {
        &self.key
    }

    /// Keys the articles' scheme: the bytes of the whole text.
    #[must_use]
    pub fn articles_key(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl PartialEq for AppSecret {
    fn eq(&self, other: &Self) -> bool {
        same(self.articles_key(), other.articles_key())
    }
}

impl Eq for AppSecret {}

impl fmt::Debug for AppSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppSecret(…)")
    }
}
