//! Redirects: every hop is judged like the first URL.

use super::{Blocked, Policy, Reason, Target, judge, read};

/// Where a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The next URL.
    pub target: Target,
    /// Whether the next request may carry what was meant for the first host: every header that the job set
    /// (`Authorization` and `Cookie` among them), `X-Run-Token` and signatures. Only within one origin;
    /// dropped once, they stay dropped for later hops.
    pub keep_credentials: bool,
}

/// Judges the `Location` of a redirect that came from `base`. Counting hops is the caller's.
///
/// # Errors
///
/// When the redirect must not be followed.
pub fn redirect_target(
    base: &Target,
    location: &str,
    policy: &Policy,
) -> Result<Redirect, Blocked> {
    let target = judge(read(location, Some(base.url()))?, policy)?;
    if base.is_https() && !target.is_https() {
        return Err(Blocked::new(Reason::Downgrade, target.host()));
    }
    let keep_credentials = same_origin(base, &target);
    Ok(Redirect {
        target,
        keep_credentials,
    })
}

/// Whether two URLs have scheme, host and port in common.
#[must_use]
pub fn same_origin(a: &Target, b: &Target) -> bool {
    a.is_https() == b.is_https() && a.host() == b.host() && a.port() == b.port()
}
