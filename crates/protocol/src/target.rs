//! Which URLs may be called: the guard against server-side request forgery.
//!
//! A URL is read once, by WHATWG rules, as the platform's fetch reads it, and what is judged is the host
//! that came out: `http://0x7f.1/`, `http://2130706433/` and `http://127.0.0.1/` are one address. What is
//! fetched must be [`Target::as_str`], never the text that came in.
//!
//! Called when a job or an app is saved, again by the executor before every connect, and for every
//! redirect. At the edge a name may still resolve to anything: the platform's own network rules stand
//! behind this guard there, and an agent checks the address it connects to.
//!
//! Both `http` and `https` are taken. The articles' own job posts to plain http, and a redirect may never
//! lead from https to http.
//!
//! A refusal is permanent: it has the code `blocked_target` and is never retried.

mod address;
mod blocked;
mod names;
mod redirect;

use url::{Host, Url};

pub use blocked::{Blocked, Reason};
pub use redirect::{Redirect, redirect_target, same_origin};

/// Longest URL, in bytes, before and after it is read.
pub const LONGEST_URL: usize = 2_048;

/// What depends on the deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Hosts that serve this deployment: `cron.example.com` on any port, or `localhost:8787` on one. Not their
    /// subdomains. With `allow_loopback`, list every loopback name and address that this deployment listens on.
    pub own_hosts: Vec<String>,
    /// Lets 127.0.0.0/8, `[::1]` and `localhost` through, and nothing else. Only the local run sets it.
    pub allow_loopback: bool,
}

impl Policy {
    /// The policy of a deployment's settings: `OWN_HOSTS`, names separated by commas or spaces, and
    /// `ALLOW_LOOPBACK`, which only `1` sets. A missing setting is the empty text.
    #[must_use]
    pub fn of_settings(own_hosts: &str, allow_loopback: &str) -> Self {
        let hosts = own_hosts.split([',', ' ']).filter(|host| !host.is_empty());
        Self {
            own_hosts: hosts.map(str::to_lowercase).collect(),
            allow_loopback: allow_loopback == "1",
        }
    }
}

/// A URL that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target(Url);

impl Target {
    /// The URL as WHATWG writes it: the text to fetch.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The host in lower case, IPv6 in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, the scheme's own if none is written.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Whether the scheme is https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    pub(crate) const fn url(&self) -> &Url {
        &self.0
    }
}

/// Reads a URL and judges where it leads.
///
/// # Errors
///
/// When it must not be called from here, with the reason and what to do instead.
pub fn check(url: &str, policy: &Policy) -> Result<Target, Blocked> {
    judge(read(url, None)?, policy)
}

/// Reads a URL that an agent of a pool will call: the form only, since private addresses are what pools
/// are for. Where its calls may lead is the agent's own policy.
///
/// # Errors
///
/// When it is no plain http or https URL.
pub fn check_form(url: &str) -> Result<Target, Blocked> {
    read(url, None).map(Target)
}

/// Reads a URL, relative to `base` if there is one, and checks everything but where it leads.
fn read(text: &str, base: Option<&Url>) -> Result<Url, Blocked> {
    let refuse = |reason| Err(Blocked::without_host(reason));
    if text.len() > LONGEST_URL {
        return refuse(Reason::TooLong);
    }
    // WHATWG drops tabs and line feeds and reads `\` as `/`; other readers do not. None has a use here.
    if text
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return refuse(Reason::Malformed);
    }
    if !has_ascii_host(text) {
        return refuse(Reason::Malformed);
    }
    let parsed = match base {
        Some(base) => base.join(text),
        None => Url::parse(text),
    };
    let Ok(mut url) = parsed else {
        return refuse(Reason::Malformed);
    };
    if !matches!(url.scheme(), "http" | "https") {
        return refuse(Reason::Scheme);
    }
    let Some(host) = url.host_str().map(str::to_owned) else {
        return refuse(Reason::Malformed);
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Blocked::new(Reason::Userinfo, &host));
    }
    url.set_fragment(None);
    if url.as_str().len() > LONGEST_URL {
        return refuse(Reason::TooLong);
    }
    Ok(url)
}

/// Whether the host, if the text has one, is in plain ASCII: no international letters and no `%`. Readers
/// differ in what they make of those, and idna's ASCII-only adapter asserts on some in debug builds.
fn has_ascii_host(text: &str) -> bool {
    let scheme = text.split_once(':').filter(|(scheme, _)| {
        scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    // Without a scheme, only two slashes begin a host.
    let Some(rest) = scheme
        .map(|(_, rest)| rest)
        .or_else(|| text.strip_prefix("//"))
    else {
        return true;
    };
    let authority = rest
        .trim_start_matches('/')
        .split(['/', '?', '#'])
        .next()
        .unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.bytes().all(|b| b.is_ascii() && b != b'%')
}

fn judge(url: Url, policy: &Policy) -> Result<Target, Blocked> {
    let found = match url.host() {
        None => Some(Reason::Malformed),
        Some(Host::Ipv4(address)) => Some(address::classify_v4(address)),
        Some(Host::Ipv6(address)) => Some(address::classify_v6(address)),
        Some(Host::Domain(name)) => names::classify(name),
    };
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    // First of all, so that a deployment does not call itself, on loopback neither.
    if policy
        .own_hosts
        .iter()
        .any(|own| names::is_own(own, host, port))
    {
        return Err(Blocked::new(Reason::OwnHost, host));
    }
    match found {
        Some(reason) if !(policy.allow_loopback && is_plain_loopback(&url)) => {
            Err(Blocked::new(reason, host))
        }
        _ if address::is_bad_port(port) => Err(Blocked::new(Reason::Port, host)),
        _ => Ok(Target(url)),
    }
}

/// 127.0.0.0/8, `::1` and the name `localhost`. Mapped addresses and names below `localhost` are not.
fn is_plain_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => names::bare(name) == "localhost",
        None => false,
    }
}
