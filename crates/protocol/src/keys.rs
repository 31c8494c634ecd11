//! Keys and tokens. Nothing here is stored: all of it follows from the deployment's one secret.
//!
//! - [`MasterSecret`]: the setting `CRONWRIGHT_SECRET`, refused when short or well known.
//! - [`app_secret`]: the signing secret of an app, derived, so that a dump of D1 holds none.
//! - [`Token`]: API tokens and sessions; only their SHA-256 is stored.
//! - [`run_token`]: what lets a callee report on exactly one attempt.

mod app;
pub(crate) mod mac;
mod master;
mod run;
mod token;

pub use app::{AppSecret, AppSecretError, app_secret};
pub use master::{MasterSecret, MasterSecretError, SETTING};
pub use run::{run_token, verify_run_token};
pub use token::{Token, TokenError, TokenKind, token_hash};

/// Whether two byte strings are equal, in a time that depends on their lengths only.
#[must_use]
pub fn same(a: &[u8], b: &[u8]) -> bool {
    subtle::ConstantTimeEq::ct_eq(a, b).into()
}
