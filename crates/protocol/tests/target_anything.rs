//! The guard over arbitrary input, against the URL parser itself.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::net::{Ipv4Addr, Ipv6Addr};

use cronwright_protocol::target::{LONGEST_URL, Policy, check, check_form, redirect_target};
use proptest::prelude::*;
use url::{Host, Url};

fn closed() -> Policy {
    Policy::default()
}

fn local() -> Policy {
    Policy {
        own_hosts: Vec::new(),
        allow_loopback: true,
    }
}

/// A second opinion by the standard library and by text, independent of the guard's own tables.
fn is_public_name(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name.contains('.') && !name.ends_with("localhost") && !name.ends_with(".internal")
        }
        _ => false,
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        None => false,
    }
}

/// Texts near URLs: schemes, separators, numbers in all bases, and noise.
fn near_url() -> impl Strategy<Value = String> {
    let scheme = prop_oneof![
        4 => Just("http://"), 4 => Just("https://"), 1 => Just("HTTP:"), 1 => Just("//"), 1 => Just("")
    ];
    let host = prop_oneof![
        any::<u32>().prop_map(|n| Ipv4Addr::from(n).to_string()),
        any::<u32>().prop_map(|n| n.to_string()),
        any::<u32>().prop_map(|n| format!("{n:#x}")),
        any::<u32>().prop_map(|n| format!("0{n:o}")),
        any::<[u8; 4]>().prop_map(|[a, b, c, d]| format!("0{a:o}.{b:#x}.{c}.{d}.")),
        any::<u128>().prop_map(|n| format!("[{}]", Ipv6Addr::from(n))),
        any::<u32>().prop_map(|n| format!("[::ffff:{}]", Ipv4Addr::from(n))),
        Just("127.0.0.1".to_owned()),
        Just("localhost".to_owned()),
        "[a-z0-9.%@:\\[\\]-]{0,24}",
        "(xn--)?[A-Za-z0-9-]{0,12}(\\.[A-Za-z0-9_-]{0,8}){0,3}",
        "[A-Z%é。]{0,6}\\.[A-Za-z]{2}",
        "\\PC{0,12}",
    ];
    let rest = prop_oneof![Just(String::new()), "[:/?#@\\\\][ -~]{0,16}", "\\PC{0,8}"];
    (scheme, host, rest).prop_map(|(scheme, host, rest)| format!("{scheme}{host}{rest}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_judged_without_a_panic(text in any::<String>()) {
        let _ = check(&text, &closed());
        let _ = check(&text, &local());
        let _ = check_form(&text);
    }

    #[test]
    fn what_is_allowed_has_a_public_name_by_the_parser(text in near_url()) {
        if let Ok(target) = check(&text, &closed()) {
            let (given, judged) = (Url::parse(&text).unwrap(), Url::parse(target.as_str()).unwrap());
            prop_assert!(is_public_name(&given) && is_public_name(&judged), "{text:?}");
            prop_assert_eq!(given.host_str(), judged.host_str());
            prop_assert!(target.as_str().len() <= LONGEST_URL && !target.as_str().contains('@') || judged.username().is_empty());
        }
    }

    #[test]
    fn the_local_run_allows_what_is_public_or_loopback_only(text in near_url()) {
        if let Ok(target) = check(&text, &local()) {
            let judged = Url::parse(target.as_str()).unwrap();
            prop_assert!(is_public_name(&judged) || is_loopback(&judged), "{text:?}");
        }
    }

    #[test]
    fn no_address_is_ever_allowed(bits in any::<u32>(), wide in any::<u128>()) {
        let v4 = Ipv4Addr::from(bits);
        for host in [v4.to_string(), bits.to_string(), format!("{bits:#x}"), format!("[{}]", Ipv6Addr::from(wide)), format!("[{}]", v4.to_ipv6_mapped())] {
            let url = format!("https://{host}/");
            prop_assert!(check(&url, &closed()).is_err(), "{}", url);
        }
    }

    #[test]
    fn a_redirect_leads_nowhere_that_check_would_refuse(location in near_url()) {
        let base = check("http://example.com/a", &closed()).unwrap();
        if let Ok(redirect) = redirect_target(&base, &location, &closed()) {
            prop_assert!(check(redirect.target.as_str(), &closed()).is_ok(), "{location:?}");
        }
    }

    #[test]
    fn a_target_reads_back_as_itself(text in near_url()) {
        if let Ok(target) = check(&text, &closed()) {
            prop_assert_eq!(check(target.as_str(), &closed()).unwrap(), target);
        }
    }
}
