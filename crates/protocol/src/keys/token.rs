//! Tokens: 256 random bits behind a prefix that says what they open.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::mac::hex;

/// What a token opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// The API, for people and programs.
    Api,
    /// A session of the pages.
    Session,
    /// The agent protocol, for one agent.
    Agent,
    /// Enrolling one agent, once.
    Enrol,
}

impl TokenKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Api, Self::Session, Self::Agent, Self::Enrol];

    /// The word in the token's prefix.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Session => "session",
            Self::Agent => "agent",
            Self::Enrol => "enrol",
        }
    }

    /// The kind of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A token as its holder has it: `cw_<kind>_<43 characters>`. Never stored; see [`Token::hash`].
#[derive(Clone)]
pub struct Token {
    text: String,
    kind: TokenKind,
}

/// A text that cannot be a token, whatever the database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token is `cw_`, its kind, `_` and 43 characters, as it was shown when it was made")]
pub struct TokenError;

impl Token {
    /// The token of 32 fresh random bytes.
    #[must_use]
    pub fn mint(kind: TokenKind, random: [u8; 32]) -> Self {
        Self {
            text: format!("cw_{}_{}", kind.as_str(), URL_SAFE_NO_PAD.encode(random)),
            kind,
        }
    }

    /// Checks the shape, before anything is looked up. Each token has one spelling.
    ///
    /// # Errors
    ///
    /// When no token of any kind looks like this.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let (word, coded) = text
            .strip_prefix("cw_")
            .and_then(|rest| rest.split_once('_'))
            .ok_or(TokenError)?;
        let kind = TokenKind::parse(word).ok_or(TokenError)?;
        if coded.len() != 43 || URL_SAFE_NO_PAD.decode(coded).is_err() {
            return Err(TokenError);
        }
        Ok(Self {
            text: text.to_owned(),
            kind,
        })
    }

    /// What it opens.
    #[must_use]
    pub const fn kind(&self) -> TokenKind {
        self.kind
    }

    /// The secret text: to show once, or to send.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is stored and looked up.
    #[must_use]
    pub fn hash(&self) -> String {
        token_hash(&self.text)
    }

    /// Tells tokens apart in lists: `cw_api_…x3Qd`. Four of 43 characters give nothing away that helps.
    #[must_use]
    pub fn hint(&self) -> String {
        let tail = self.text.len().saturating_sub(4);
        format!(
            "cw_{}_…{}",
            self.kind.as_str(),
            self.text.get(tail..).unwrap_or_default()
        )
    }
}

/// SHA-256 of a token or code, in lower-case hexadecimal. A plain hash is enough for 256 random bits, and
/// looking a hash up leaks nothing about the token by its timing.
#[must_use]
pub fn token_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token(cw_{}_…)", self.kind.as_str())
    }
}
