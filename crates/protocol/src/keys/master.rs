//! The one secret of a deployment.

use std::fmt;

/// The setting that holds the master secret.
pub const SETTING: &str = "CRONWRIGHT_SECRET";

/// Shortest secret that is taken, in bytes.
const LEAST: usize = 32;

/// Longest repeated piece that is taken for padding: `changeme` four times is still `changeme`.
const LONGEST_PERIOD: usize = 16;

/// Fewest different bytes. A random secret of 32 hexadecimal digits has fewer about once in 10^11.
const LEAST_DIFFERENT: usize = 8;

/// Openings of values that people and samples leave in place.
const KNOWN_OPENINGS: [&str; 9] = [
    "secret",
    "password",
    "default",
    "example",
    "admin",
    "test-",
    "your-",
    "your_",
    "my-secret",
];

/// Pieces that no random text contains.
const KNOWN_PIECES: [&str; 16] = [
    "changeme",
    "change-me",
    "change_me",
    "changethis",
    "default_token",
    "default-token",
    "whyour-secret",
    "temporary_key",
    "placeholder",
    "insecure",
    "replace-me",
    "replace_me",
    "openssl rand",
    "0123456789abcdef",
    "abcdefghijklmnop",
    "1234567890123456",
];

/// The secret that everything else is derived from: at least 32 bytes, and none of the well-known
/// values. White space around the text (a newline from a shell pipe) does not count; the UTF-8 bytes
/// of what remains are the key.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterSecret(String);

/// Why a text is no master secret. No variant repeats the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MasterSecretError {
    /// Not set, or empty.
    #[error("{SETTING} is not set. {HOW}")]
    Missing,
    /// Under 32 bytes.
    #[error("{SETTING} has {found} bytes and needs at least 32. {HOW}")]
    TooShort {
        /// Bytes found.
        found: usize,
    },
    /// A sample value, a pattern, or too few different characters.
    #[error("{SETTING} is a well-known or patterned value. {HOW}")]
    KnownBad,
}

const HOW: &str =
    "Make one with `openssl rand -hex 32` and set it with `wrangler secret put CRONWRIGHT_SECRET`.";

impl MasterSecret {
    /// Checks the text of the setting.
    ///
    /// # Errors
    ///
    /// When it is missing, short, or a value that others know.
    pub fn parse(text: &str) -> Result<Self, MasterSecretError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(MasterSecretError::Missing);
        }
        // Known values first: "changeme" should hear that it is known, not that it is short.
        if is_known(text) {
            return Err(MasterSecretError::KnownBad);
        }
        if text.len() < LEAST {
            return Err(MasterSecretError::TooShort { found: text.len() });
        }
        if is_patterned(text.as_bytes()) {
            return Err(MasterSecretError::KnownBad);
        }
        Ok(Self(text.to_owned()))
    }

    /// The key: the UTF-8 bytes of the text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

fn is_known(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    KNOWN_OPENINGS
        .iter()
        .any(|opening| text.starts_with(opening))
        || KNOWN_PIECES.iter().any(|piece| text.contains(piece))
}

fn is_patterned(bytes: &[u8]) -> bool {
    let repeats = |period: usize| {
        bytes
            .iter()
            .zip(bytes.iter().skip(period))
            .all(|(a, b)| a == b)
    };
    let mut seen = [false; 256];
    for byte in bytes {
        if let Some(seen) = seen.get_mut(usize::from(*byte)) {
            *seen = true;
        }
    }
    let different = seen.iter().filter(|seen| **seen).count();
    different < LEAST_DIFFERENT || (1..=LONGEST_PERIOD).any(repeats)
}

impl fmt::Debug for MasterSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterSecret(…)")
    }
}
