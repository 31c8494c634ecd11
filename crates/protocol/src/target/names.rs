//! Names that lead inside, whatever a public resolver says.

use std::net::Ipv4Addr;

use super::Reason;
use super::address::special_v4;

/// Names, and everything below them, that only private resolvers answer.
const LOCAL: [&str; 14] = [
    "local",
    "localdomain",
    "internal",
    "lan",
    "home",
    "corp",
    "mail",
    "intranet",
    "private",
    "home.arpa",
    "in-addr.arpa",
    "ip6.arpa",
    "svc",
    "docker",
];

/// Where clouds keep credentials.
const METADATA: [&str; 5] = [
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.com",
    "metadata.tencentyun.com",
    "instance-data.ec2.internal",
];

/// Public DNS that answers with whatever address stands in the name, with loopback, or with one address
/// now and another later. All of it, since the address may be coded in several ways.
const WILDCARD: [&str; 22] = [
    "nip.io",
    "sslip.io",
    "xip.io",
    "xip.name",
    "backname.io",
    "traefik.me",
    "local-ip.co",
    "local-ip.sh",
    "local-ip.medicmobile.org",
    "plex.direct",
    "localtest.me",
    "lvh.me",
    "vcap.me",
    "lacolhost.com",
    "localho.st",
    "local.gd",
    "loopback.jp",
    "localdomain.pw",
    "spoofed.burpcollaborator.net",
    "127-0-0-1.org.uk",
    "rbndr.us",
    "1u.ms",
];

/// The name without the dots of the root at its end.
pub(super) fn bare(name: &str) -> &str {
    name.trim_end_matches('.')
}

/// Why the name is not called, if there is a reason. The URL parser has made it lower case.
pub(super) fn classify(name: &str) -> Option<Reason> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let labels: Vec<&str> = name.split('.').collect();
    if name.len() > 253
        || labels
            .iter()
            .any(|label| label.is_empty() || label.len() > 63)
    {
        return Some(Reason::Malformed);
    }
    if is_below(name, "localhost") {
        return Some(Reason::Loopback);
    }
    if METADATA.iter().any(|zone| is_below(name, zone)) {
        return Some(Reason::LinkLocal);
    }
    if labels.len() == 1 || LOCAL.iter().any(|zone| is_below(name, zone)) {
        return Some(Reason::LocalName);
    }
    if WILDCARD.iter().any(|zone| is_below(name, zone)) || spells_inside(&labels) {
        return Some(Reason::EmbedsAddress);
    }
    None
}

/// Whether `host` on `port` is the own host `own`, which may name its port. A whole URL is taken too: a
/// setting in the wrong form should not open the guard.
pub(super) fn is_own(own: &str, host: &str, port: u16) -> bool {
    let own = own.trim().to_ascii_lowercase();
    let own = own.split_once("://").map_or(own.as_str(), |(_, rest)| rest);
    let own = own.split_once('/').map_or(own, |(authority, _)| authority);
    // A colon inside brackets is part of an address.
    let split = own
        .rsplit_once(':')
        .filter(|(_, port)| port.parse::<u16>().is_ok());
    let (own, own_port) = split.map_or((own, None), |(own, port)| (own, Some(port)));
    let port_fits = own_port.is_none_or(|own| own.parse() == Ok(port));
    !bare(own).is_empty() && bare(own) == bare(host) && port_fits
}

fn is_below(name: &str, zone: &str) -> bool {
    name.strip_suffix(zone)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Whether four labels, or four parts of one label, spell an address that leads inside, as in
/// `169.254.169.254.example.com` and `app-10-0-0-1.example.com`: the mark of a wildcard service that the list
/// does not know.
fn spells_inside(labels: &[&str]) -> bool {
    spells(labels)
        || labels.iter().any(|label| {
            let parts: Vec<&str> = label.split('-').collect();
            spells(&parts)
        })
}

fn spells(parts: &[&str]) -> bool {
    parts.windows(4).any(|four| {
        let mut octets = four.iter().map(|part| octet(part));
        match (octets.next(), octets.next(), octets.next(), octets.next()) {
            (Some(Some(a)), Some(Some(b)), Some(Some(c)), Some(Some(d))) => {
                let address = Ipv4Addr::new(a, b, c, d);
                address.is_unspecified() || special_v4(address).is_some_and(Reason::is_inside)
            }
            _ => false,
        }
    })
}

fn octet(text: &str) -> Option<u8> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}
