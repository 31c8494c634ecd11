//! Which URLs are called, case by case.
#![allow(
    clippy::unwrap_used,
    clippy::enum_glob_use,
    reason = "helpers of tests fail by panicking"
)]

use cronwright_protocol::target::{
    Blocked, LONGEST_URL, Policy, Reason, Target, check, check_form, redirect_target, same_origin,
};

fn policy() -> Policy {
    Policy {
        own_hosts: vec!["cron.example.com".into(), "two.example.com:8443".into()],
        allow_loopback: false,
    }
}

fn local() -> Policy {
    Policy {
        own_hosts: vec!["localhost:8787".into(), "127.0.0.1:8787".into()],
        allow_loopback: true,
    }
}

fn reason(url: &str, policy: &Policy) -> Option<Reason> {
    check(url, policy).err().map(|blocked| blocked.reason)
}

#[test]
fn public_names_are_called() {
    for url in [
        "https://example.com",
        "http://example.com/run?x=1#part",
        "https://EXAMPLE.com./a",
        "https://api.example.com:8443/v1/callback/order",
        "https://a-1.b_2.example.co.uk/%E8%AE%A2?q=%00",
        "https://example.com/订单",
        "https://xn--fiq228c.com/",
        "https://1.2.3.4.example.com/",
        "https://v10-1-2.example.com/",
        "https://localhost.example.com/",
        "https://internal.example.com/",
        "https://notnip.io/",
        "https://example.com/http://169.254.169.254/",
        "https://example.com/?u=http://user:pw@10.0.0.1/",
        "https://example.com/@x",
        "https:example.com",
        "https://sub.cron.example.com/",
        "https://two.example.com/",
        "https://abcdef.example.com:3000/",
    ] {
        assert_eq!(reason(url, &policy()), None, "{url}");
    }
}

#[test]
fn addresses_in_every_form_are_refused_for_what_they_are() {
    use Reason::*;
    let cases: [(&str, Reason); 66] = [
        ("127.0.0.1", Loopback),
        ("127.1", Loopback),
        ("127.255.255.254:8080", Loopback),
        ("2130706433", Loopback),
        ("0x7f.1", Loopback),
        ("0x7F000001", Loopback),
        ("0x7f.0x0.0x0.0x1", Loopback),
        ("017700000001", Loopback),
        ("0177.0.0.1", Loopback),
        ("127.0.0.1.", Loopback),
        ("127.000.000.001", Loopback),
        ("[::1]", Loopback),
        ("[0:0:0:0:0:0:0:1]:8080", Loopback),
        ("[::ffff:127.0.0.1]", Loopback),
        ("[::ffff:7f00:1]", Loopback),
        ("[::127.0.0.1]", Loopback),
        ("[::ffff:0:127.0.0.1]", Loopback),
        ("0.0.0.0", Unspecified),
        ("0", Unspecified),
        ("0.1.2.3", Unspecified),
        ("[::]", Unspecified),
        ("[::ffff:0.0.0.0]", Unspecified),
        ("10.0.0.1:8080", Private),
        ("10.255.255.255", Private),
        ("0xa000001", Private),
        ("172.16.0.1", Private),
        ("172.31.255.255", Private),
        ("192.168.0.1", Private),
        ("192.168.257", Private),
        ("[::ffff:10.0.0.1]", Private),
        ("[fc00::1]", Private),
        ("[fd00:ec2::254]", Private),
        ("[fec0::1]", Private),
        ("169.254.169.254", LinkLocal),
        ("2852039166", LinkLocal),
        ("0251.0376.0251.0376", LinkLocal),
        ("0xA9FEA9FE", LinkLocal),
        ("[::ffff:a9fe:a9fe]", LinkLocal),
        ("168.63.129.16", LinkLocal),
        ("[fe80::1]", LinkLocal),
        ("[febf::1]", LinkLocal),
        ("100.64.0.1", CarrierNat),
        ("100.100.100.200", CarrierNat),
        ("100.127.255.255", CarrierNat),
        ("192.0.0.192", Reserved),
        ("198.18.0.1", Reserved),
        ("240.0.0.1", Reserved),
        ("[100::1]", Reserved),
        ("[4000::1]", Reserved),
        ("[2001:20::1]", Reserved),
        ("192.0.2.1", Documentation),
        ("198.51.100.1", Documentation),
        ("203.0.113.1", Documentation),
        ("[2001:db8::1]", Documentation),
        ("[3fff::1]", Documentation),
        ("224.0.0.1", Multicast),
        ("255.255.255.255", Multicast),
        ("[ff02::1]", Multicast),
        ("[64:ff9b::a9fe:a9fe]", Transition),
        ("[64:ff9b:1::a00:1]", Transition),
        ("[2002:7f00:1::]", Transition),
        ("[2001:0:4136:e378::1]", Transition),
        ("8.8.8.8", PublicAddress),
        ("134744072", PublicAddress),
        ("[2606:4700:4700::1111]", PublicAddress),
        ("[::ffff:8.8.8.8]", PublicAddress),
    ];
    for (host, expected) in cases {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}/run");
            assert_eq!(reason(&url, &policy()), Some(expected), "{url}");
        }
    }
}

#[test]
fn names_that_lead_inside_are_refused() {
    use Reason::*;
    let cases: [(&str, Reason); 34] = [
        ("localhost", Loopback),
        ("LOCALHOST:3000", Loopback),
        ("localhost.", Loopback),
        ("localhost..", Malformed),
        ("a.localhost", Loopback),
        ("a.b.LOCALHOST.", Loopback),
        ("printer.local", LocalName),
        ("db.internal", LocalName),
        ("db.internal.", LocalName),
        ("host.docker.internal", LocalName),
        ("x.localdomain", LocalName),
        ("nas.lan", LocalName),
        ("router.home.arpa", LocalName),
        ("kubernetes", LocalName),
        ("kubernetes.default.svc", LocalName),
        ("kubernetes.default.svc.cluster.local", LocalName),
        ("metadata", LocalName),
        ("metadata.google.internal", LinkLocal),
        ("metadata.google.internal.", LinkLocal),
        ("metadata.tencentyun.com", LinkLocal),
        ("169.254.169.254.nip.io", EmbedsAddress),
        ("nip.io", EmbedsAddress),
        ("7f000001.nip.io", EmbedsAddress),
        ("app.10-0-0-1.sslip.io", EmbedsAddress),
        ("foo.127.0.0.1.xip.io", EmbedsAddress),
        ("LocalTest.me.", EmbedsAddress),
        ("x.lvh.me", EmbedsAddress),
        ("10-0-0-1.0123456789abcdef.plex.direct", EmbedsAddress),
        ("7f000001.c0a80001.rbndr.us", EmbedsAddress),
        ("169.254.169.254.wildcard.example.com", EmbedsAddress),
        ("app-10-0-0-1.example.com", EmbedsAddress),
        ("0.0.0.0.example.com", EmbedsAddress),
        ("cron.example.com", OwnHost),
        ("CRON.example.com.:8080", OwnHost),
    ];
    for (host, expected) in cases {
        let url = format!("https://{host}/run");
        assert_eq!(reason(&url, &policy()), Some(expected), "{url}");
    }
    assert_eq!(
        reason("https://two.example.com:8443/", &policy()),
        Some(OwnHost)
    );
}

#[test]
fn what_is_no_plain_url_is_refused() {
    use Reason::*;
    let long = format!("https://example.com/{}", "a".repeat(LONGEST_URL));
    let grows = format!("https://example.com/{}", "订".repeat(600));
    let cases: [(&str, Reason); 38] = [
        ("", Malformed),
        ("example.com", Malformed),
        ("//example.com/", Malformed),
        ("/run", Malformed),
        ("http://", Malformed),
        ("http:///", Malformed),
        ("http://.", Malformed),
        ("http://..", Malformed),
        ("http://a..example.com", Malformed),
        ("http://.example.com", Malformed),
        ("http://1.2.3.4.5", Malformed),
        ("http://256.0.0.1", Malformed),
        ("http://0x100000000", Malformed),
        ("http://[::1", Malformed),
        ("http://[fe80::1%25eth0]/", Malformed),
        ("http://example.com:99999/", Malformed),
        ("http://%31%32%37.0.0.1/", Malformed),
        ("http://%6cocalhost/", Malformed),
        ("http://user:pw@%6cocalhost/", Malformed),
        ("https://example.com../", Malformed),
        ("http://exa mple.com/", Malformed),
        (" https://example.com/", Malformed),
        ("https://example.com/\n", Malformed),
        ("ht\ntp://127.0.0.1/", Malformed),
        ("https://example.com\t.evil.com/", Malformed),
        ("https://example.com\\@127.0.0.1/", Malformed),
        ("https:\\\\127.0.0.1\\", Malformed),
        ("https://example.com/\0", Malformed),
        ("ftp://example.com/", Scheme),
        ("file:///etc/passwd", Scheme),
        ("gopher://127.0.0.1:6379/_x", Scheme),
        ("javascript:alert(1)", Scheme),
        ("ws://example.com/", Scheme),
        ("data:text/plain,x", Scheme),
        ("https://user@example.com/", Userinfo),
        ("https://:pw@example.com/", Userinfo),
        ("https://example.com@127.0.0.1/", Userinfo),
        ("https://example.com:443@10.0.0.1/", Userinfo),
    ];
    for (url, expected) in cases {
        assert_eq!(reason(url, &policy()), Some(expected), "{url:?}");
    }
    for url in [long, grows] {
        assert_eq!(reason(&url, &policy()), Some(TooLong));
    }
}

#[test]
fn ports_of_other_protocols_are_refused() {
    for port in [
        0, 22, 25, 53, 110, 143, 389, 465, 587, 636, 993, 2049, 5060, 6000, 6667, 10080,
    ] {
        assert_eq!(
            reason(&format!("http://example.com:{port}/"), &policy()),
            Some(Reason::Port),
            "{port}"
        );
        assert_eq!(
            reason(&format!("http://127.0.0.1:{port}/"), &local()),
            Some(Reason::Port),
            "{port}"
        );
    }
}

#[test]
fn hosts_outside_ascii_never_pass_as_something_else() {
    for url in [
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
        "http://ⓛocalhost/",
        "http://ｌｏｃａｌｈｏｓｔ/",
        "http://①②⑦.0.0.1/",
        "http://localhost\u{ad}/",
        "http://127.0.0.1A\u{1eeb4}",
        "http:%C3%A9A/",
        "https:////ÄA/",
        "http://example。com@127.0.0.1/",
    ] {
        assert!(check(url, &policy()).is_err(), "{url}");
    }
}

#[test]
fn the_local_run_opens_loopback_and_nothing_else() {
    for host in [
        "127.0.0.1",
        "127.9.9.9:9000",
        "0x7f.1",
        "[::1]:9000",
        "localhost:9000",
        "localhost.",
    ] {
        assert_eq!(reason(&format!("http://{host}/"), &local()), None, "{host}");
    }
    for host in [
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "0.0.0.0",
        "[::]",
        "[fe80::1]",
        "[fd00::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "a.localhost",
        "printer.local",
        "metadata.google.internal",
        "127.0.0.1.nip.io",
        "8.8.8.8",
        "kubernetes",
    ] {
        assert!(
            reason(&format!("http://{host}/"), &local()).is_some(),
            "{host}"
        );
    }
    for own in [
        "http://localhost:8787/",
        "http://127.1:8787/x",
        "http://LOCALHOST.:8787/",
    ] {
        assert_eq!(reason(own, &local()), Some(Reason::OwnHost), "{own}");
    }
}

#[test]
fn an_own_host_given_as_a_url_still_guards() {
    for own in [
        "https://cron.example.com",
        "https://CRON.example.com:443/x",
        " cron.example.com. ",
    ] {
        let policy = Policy {
            own_hosts: vec![own.into()],
            allow_loopback: false,
        };
        assert_eq!(
            reason("https://cron.example.com/api", &policy),
            Some(Reason::OwnHost),
            "{own}"
        );
    }
    let empty = Policy {
        own_hosts: vec![String::new(), ".".into()],
        allow_loopback: false,
    };
    assert_eq!(reason("https://cron.example.com/", &empty), None);
}

#[test]
fn what_is_fetched_is_what_was_judged() {
    let target = check(
        "HTTPS://EXAMPLE.com:443/a/../b c"
            .replace(' ', "%20")
            .as_str(),
        &policy(),
    )
    .unwrap();
    assert_eq!(target.as_str(), "https://example.com/b%20c");
    assert_eq!(
        (target.host(), target.port(), target.is_https()),
        ("example.com", 443, true)
    );
    assert_eq!(
        check("http://example.com/#x", &policy()).unwrap().as_str(),
        "http://example.com/"
    );
}

#[test]
fn a_pool_may_reach_private_hosts_but_only_by_plain_urls() {
    assert_eq!(
        check_form("http://10.0.0.1:8080/run").unwrap().host(),
        "10.0.0.1"
    );
    assert!(check_form("http://kubernetes/").is_ok());
    for (url, expected) in [
        ("ftp://10.0.0.1/", Reason::Scheme),
        ("http://u:p@10.0.0.1/", Reason::Userinfo),
        ("http://10.0.0.1\\x", Reason::Malformed),
    ] {
        assert_eq!(
            check_form(url).err().map(|blocked| blocked.reason),
            Some(expected),
            "{url}"
        );
    }
}

#[test]
fn a_refusal_of_an_inner_host_names_the_pool_in_both_languages() {
    for url in [
        "http://10.0.0.1:8080/run",
        "http://127.0.0.1/",
        "http://169.254.1.1/",
        "http://100.64.0.1/",
        "http://nas/",
    ] {
        let blocked = check(url, &policy()).unwrap_err();
        assert!(blocked.hint().contains("pool"), "{}", blocked.hint());
        assert!(
            blocked.hint_zh().contains("pool") && blocked.hint_zh().contains("执行节点"),
            "{}",
            blocked.hint_zh()
        );
    }
    let blocked = check("http://10.0.0.1:8080/run", &policy()).unwrap_err();
    assert_eq!(blocked.host, "10.0.0.1");
    assert!(
        blocked
            .to_string()
            .starts_with("target 10.0.0.1 refused: this address is in a private network.")
    );
    assert_eq!(Blocked::CODE, "blocked_target");
    for reason in Reason::ALL {
        let blocked = Blocked {
            reason,
            host: String::new(),
        };
        assert!(
            !blocked.hint().is_empty() && blocked.hint_zh().ends_with('。'),
            "{reason:?}"
        );
    }
}

#[test]
fn a_refusal_repeats_no_credential() {
    let blocked = check("https://user:hunter2@example.com/?token=hunter2", &policy()).unwrap_err();
    assert!(!format!("{blocked} {blocked:?} {}", blocked.hint_zh()).contains("hunter2"));
}

fn target(url: &str) -> Target {
    check(url, &policy()).unwrap()
}

#[test]
fn every_redirect_is_judged_like_the_first_url() {
    let base = target("https://example.com/a/b?c");
    for (location, expected) in [
        (
            "http://169.254.169.254/latest/meta-data/",
            Reason::LinkLocal,
        ),
        ("//127.0.0.1/", Reason::Loopback),
        ("https://[::ffff:10.0.0.1]/", Reason::Private),
        ("https://user@example.com/", Reason::Userinfo),
        ("https://cron.example.com/api/v1/jobs", Reason::OwnHost),
        ("file:///etc/passwd", Reason::Scheme),
        ("http://example.com/", Reason::Downgrade),
        ("/\\127.0.0.1/", Reason::Malformed),
        ("https://example.com:25/", Reason::Port),
        ("?\r\n", Reason::Malformed),
    ] {
        let refused = redirect_target(&base, location, &policy()).unwrap_err();
        assert_eq!(refused.reason, expected, "{location:?}");
    }
}

#[test]
fn a_redirect_keeps_credentials_only_within_its_origin() {
    let base = target("https://example.com/a/b?c");
    for (location, url, keep) in [
        ("c", "https://example.com/a/c", true),
        ("/x?y", "https://example.com/x?y", true),
        ("", "https://example.com/a/b?c", true),
        ("https://example.com:443/x", "https://example.com/x", true),
        ("//example.com/x", "https://example.com/x", true),
        (
            "https://example.com:8443/x",
            "https://example.com:8443/x",
            false,
        ),
        (
            "https://www.example.com/x",
            "https://www.example.com/x",
            false,
        ),
        ("https://example.com./x", "https://example.com./x", false),
    ] {
        let redirect = redirect_target(&base, location, &policy()).unwrap();
        assert_eq!(
            (redirect.target.as_str(), redirect.keep_credentials),
            (url, keep),
            "{location}"
        );
    }
    let plain = target("http://example.com/");
    assert!(
        !redirect_target(&plain, "https://example.com/", &policy())
            .unwrap()
            .keep_credentials
    );
    assert!(same_origin(&plain, &target("http://EXAMPLE.com:80/x")));
    assert!(!same_origin(&plain, &base));
}

#[test]
fn settings_name_own_hosts_in_any_case_and_only_a_one_opens_loopback() {
    let policy = Policy::of_settings("Cron.Example.com, b.example.com", "");
    assert_eq!(policy.own_hosts, ["cron.example.com", "b.example.com"]);
    assert!(check("https://cron.example.com/run", &policy).is_err());
    assert!(check("http://127.0.0.1:9/", &policy).is_err());
    for not_set in ["", "0", "true", "yes", " 1"] {
        assert!(
            !Policy::of_settings("", not_set).allow_loopback,
            "{not_set}"
        );
    }
    assert!(check("http://127.0.0.1:9000/", &Policy::of_settings("", "1")).is_ok());
}
