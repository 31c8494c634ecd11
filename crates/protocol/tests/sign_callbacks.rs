//! What a receiver accepts and refuses.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

use cronwright_core::ids::AppId;
use cronwright_core::time::{MINUTE, Millis, SECOND};
use cronwright_protocol::keys::{AppSecret, MasterSecret, app_secret};
use cronwright_protocol::sign::{
    SignError, VerifyError, callback_headers, is_nonce, nonce_from, verify_articles,
    verify_standard,
};

const MASTER: &str = "6f1d2c3b4a5968778695a4b3c2d1e0f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
const NOW: Millis = Millis(1_796_000_000_123);
const NONCE: &str = "00112233-4455-4677-8899-aabbccddeeff";
const ID: &str = "run_3_1f_rs_v1";
const BODY: &str = r#"{"scheduleId":"run_3_1f_rs_v1","status":"SUCCESS"}"#;

type Headers = Vec<(&'static str, String)>;

fn app() -> AppId {
    "erp".parse().unwrap()
}

fn secret(version: u32) -> AppSecret {
    app_secret(&MasterSecret::parse(MASTER).unwrap(), &app(), version)
}

fn signed_with(secrets: &[AppSecret]) -> Headers {
    callback_headers(&app(), secrets, ID, NOW, NONCE, BODY.as_bytes()).unwrap()
}

fn signed() -> Headers {
    signed_with(&[secret(1)])
}

fn with(name: &str, value: &str) -> Headers {
    let mut headers = signed();
    headers
        .iter_mut()
        .filter(|(given, _)| *given == name)
        .for_each(|(_, old)| *old = value.to_owned());
    headers
}

fn without(name: &str) -> Headers {
    signed()
        .into_iter()
        .filter(|(given, _)| *given != name)
        .collect()
}

fn value(headers: &Headers, name: &str) -> Option<String> {
    headers
        .iter()
        .find(|(given, _)| *given == name)
        .map(|(_, value)| value.clone())
}

/// The error of each scheme, none where it verified.
fn verdicts(headers: &Headers, body: &str, now: Millis) -> [Option<VerifyError>; 2] {
    let secrets = [secret(1)];
    [
        verify_standard(&secrets, headers, body.as_bytes(), now).err(),
        verify_articles(&app(), &secrets, headers, body.as_bytes(), now).err(),
    ]
}

const FORGED: [Option<VerifyError>; 2] = [Some(VerifyError::Forged); 2];

#[test]
fn a_delivery_as_signed_verifies_under_both_schemes() {
    assert_eq!(verdicts(&signed(), BODY, NOW), [None, None]);
}

#[test]
fn the_articles_signature_is_what_their_receivers_compute() {
    // By Python's hmac over body + timestamp + nonce, keyed with the printed secret.
    assert_eq!(
        value(&signed(), "X-Signature").unwrap(),
        "9e952d71129f6ff7c002917ed26eae87be5fcd8a0f98811d40be100ba7131728"
    );
}

#[test]
fn a_clock_off_by_299_seconds_passes_and_by_301_does_not() {
    for off in [299 * SECOND, -299 * SECOND] {
        assert_eq!(
            verdicts(&signed(), BODY, NOW.plus(off)),
            [None, None],
            "{off}"
        );
    }
    let old = verdicts(&signed(), BODY, NOW.plus(301 * SECOND));
    assert!(
        old.iter()
            .all(|verdict| matches!(verdict, Some(VerifyError::TooOld { .. }))),
        "{old:?}"
    );
    let new = verdicts(&signed(), BODY, NOW.plus(-301 * SECOND));
    assert!(
        new.iter()
            .all(|verdict| matches!(verdict, Some(VerifyError::TooNew { .. }))),
        "{new:?}"
    );
}

#[test]
fn the_window_ends_exactly_after_five_minutes() {
    let verify = |now| verify_articles(&app(), &[secret(1)], &signed(), BODY.as_bytes(), now).err();
    assert_eq!(verify(NOW.plus(5 * MINUTE)), None);
    assert_eq!(
        verify(NOW.plus(5 * MINUTE + 1)),
        Some(VerifyError::TooOld {
            by_ms: 5 * MINUTE + 1
        })
    );
    assert_eq!(verify(NOW.plus(-5 * MINUTE)), None);
    assert_eq!(
        verify(NOW.plus(-5 * MINUTE - 1)),
        Some(VerifyError::TooNew {
            by_ms: 5 * MINUTE + 1
        })
    );
}

#[test]
fn a_replay_at_590_seconds_of_a_message_signed_299_ahead_still_meets_the_nonce() {
    // The receiver's clock is 299 s behind the signer's when the message arrives, so it stays fresh for
    // 599 s by that clock: longer than 5 minutes, shorter than nonces are kept.
    let arrival = NOW.plus(-299 * SECOND);
    assert_eq!(verdicts(&signed(), BODY, arrival), [None, None]);
    assert_eq!(
        verdicts(&signed(), BODY, arrival.plus(590 * SECOND)),
        [None, None]
    );
    assert_eq!(cronwright_protocol::sign::KEEP_NONCES_MS, 600 * SECOND);
}

#[test]
fn a_body_written_again_with_other_key_order_is_refused() {
    let reordered = r#"{"status":"SUCCESS","scheduleId":"run_3_1f_rs_v1"}"#;
    assert_eq!(verdicts(&signed(), reordered, NOW), FORGED);
}

#[test]
fn a_body_with_one_more_space_or_line_feed_is_refused() {
    assert_eq!(verdicts(&signed(), &format!("{BODY}\n"), NOW), FORGED);
    assert_eq!(verdicts(&signed(), &BODY.replace(':', ": "), NOW), FORGED);
    assert_eq!(verdicts(&signed(), "", NOW), FORGED);
}

#[test]
fn the_secret_of_another_app_or_version_does_not_verify() {
    let master = MasterSecret::parse(MASTER).unwrap();
    for other in [secret(2), app_secret(&master, &"crm".parse().unwrap(), 1)] {
        let headers = signed_with(&[other]);
        assert_eq!(verdicts(&headers, BODY, NOW), FORGED);
    }
    assert_eq!(
        verify_standard(&[], &signed(), BODY.as_bytes(), NOW),
        Err(VerifyError::Forged)
    );
    assert_eq!(
        verify_articles(&app(), &[], &signed(), BODY.as_bytes(), NOW),
        Err(VerifyError::Forged)
    );
}

#[test]
fn a_changed_id_or_time_breaks_the_standard_signature() {
    for headers in [
        with("webhook-id", "run_3_1f_rs_v2"),
        with("webhook-timestamp", "1796000001"),
    ] {
        assert_eq!(
            verdicts(&headers, BODY, NOW),
            [Some(VerifyError::Forged), None]
        );
    }
}

#[test]
fn a_changed_time_or_nonce_breaks_the_articles_signature() {
    for headers in [
        with("X-Timestamp", "1796000000124"),
        with("X-Nonce", &NONCE.replace('f', "e")),
    ] {
        assert_eq!(
            verdicts(&headers, BODY, NOW),
            [None, Some(VerifyError::Forged)]
        );
    }
}

#[test]
fn bytes_cannot_move_between_body_timestamp_and_nonce() {
    // The signed bytes stay the same, the borders move: refused by shape, before any comparison.
    let malformed = |headers: &Headers, body: &str| verdicts(headers, body, NOW)[1];
    let shorter = with("X-Timestamp", "796000000123");
    assert_eq!(
        malformed(&shorter, &format!("{BODY}1")),
        Some(VerifyError::Malformed("X-Timestamp"))
    );
    let longer = with("X-Timestamp", "17960000001230");
    assert_eq!(
        malformed(&longer, BODY),
        Some(VerifyError::Malformed("X-Timestamp"))
    );
    let mut moved = with("X-Timestamp", "1796000000123");
    moved
        .iter_mut()
        .filter(|(name, _)| *name == "X-Nonce")
        .for_each(|(_, nonce)| {
            nonce.remove(0);
        });
    assert_eq!(
        malformed(&moved, BODY),
        Some(VerifyError::Malformed("X-Nonce"))
    );
    let empty = with("X-Nonce", "");
    let all = format!("{BODY}1796000000123{NONCE}");
    assert_eq!(
        malformed(&empty, &all),
        Some(VerifyError::Malformed("X-Nonce"))
    );
}

#[test]
fn a_missing_header_is_named() {
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        assert_eq!(
            verdicts(&without(name), BODY, NOW),
            [Some(VerifyError::Missing(name)), None]
        );
    }
    for name in ["X-App-Id", "X-Timestamp", "X-Nonce", "X-Signature"] {
        assert_eq!(
            verdicts(&without(name), BODY, NOW),
            [None, Some(VerifyError::Missing(name))]
        );
    }
}

#[test]
fn a_header_given_twice_is_refused_even_with_equal_values() {
    let mut headers = signed();
    headers.push(("webhook-id", ID.to_owned()));
    headers.push(("X-Nonce", NONCE.to_owned()));
    assert_eq!(
        verdicts(&headers, BODY, NOW),
        [
            Some(VerifyError::Repeated("webhook-id")),
            Some(VerifyError::Repeated("X-Nonce"))
        ]
    );
}

#[test]
fn header_names_are_read_in_any_case() {
    let upper: Vec<(String, String)> = signed()
        .into_iter()
        .map(|(name, value)| (name.to_uppercase(), value))
        .collect();
    assert!(verify_standard(&[secret(1)], &upper, BODY.as_bytes(), NOW).is_ok());
    assert!(verify_articles(&app(), &[secret(1)], &upper, BODY.as_bytes(), NOW).is_ok());
}

#[test]
fn odd_timestamps_are_malformed() {
    for odd in [
        "",
        "-1796000000",
        "+1796000000",
        "1796000000.5",
        "1e9",
        " 1796000000",
        "999999999999",
        "١",
    ] {
        let headers = with("webhook-timestamp", odd);
        assert_eq!(
            verdicts(&headers, BODY, NOW)[0],
            Some(VerifyError::Malformed("webhook-timestamp")),
            "{odd}"
        );
    }
}

#[test]
fn one_good_signature_among_others_is_enough_and_other_versions_are_skipped() {
    let good = value(&signed(), "webhook-signature").unwrap();
    for list in [
        format!("v1,AAAA {good}"),
        format!("v1a,MEUCIQ== {good}"),
        format!("{good} v1,not-base64"),
        format!("v1 , {good}"),
    ] {
        assert_eq!(
            verdicts(&with("webhook-signature", &list), BODY, NOW)[0],
            None,
            "{list}"
        );
    }
    let bare = good.trim_start_matches("v1,").to_owned();
    for list in [
        bare.clone(),
        format!("v2,{bare}"),
        "v1,".into(),
        String::new(),
        format!("v1,{}", &bare[..8]),
    ] {
        let verdict = verdicts(&with("webhook-signature", &list), BODY, NOW)[0];
        assert_eq!(verdict, Some(VerifyError::Forged), "{list}");
    }
}

#[test]
fn a_signature_of_one_scheme_is_none_of_the_other() {
    let hex = value(&signed(), "X-Signature").unwrap();
    let base64 = value(&signed(), "webhook-signature").unwrap();
    assert_eq!(
        verdicts(&with("webhook-signature", &format!("v1,{hex}")), BODY, NOW)[0],
        Some(VerifyError::Forged)
    );
    assert_eq!(
        verdicts(&with("X-Signature", &base64), BODY, NOW)[1],
        Some(VerifyError::Malformed("X-Signature"))
    );
}

#[test]
fn a_delivery_for_another_app_is_refused() {
    assert_eq!(
        verdicts(&with("X-App-Id", "crm"), BODY, NOW)[1],
        Some(VerifyError::WrongApp)
    );
}

#[test]
fn during_a_rotation_receivers_with_either_secret_verify() {
    let headers = signed_with(&[secret(2), secret(1)]);
    for version in [1, 2] {
        let secrets = [secret(version)];
        assert!(
            verify_standard(&secrets, &headers, BODY.as_bytes(), NOW).is_ok(),
            "{version}"
        );
        assert!(
            verify_articles(&app(), &secrets, &headers, BODY.as_bytes(), NOW).is_ok(),
            "{version}"
        );
    }
    let secrets = [secret(3)];
    assert!(verify_standard(&secrets, &headers, BODY.as_bytes(), NOW).is_err());
    assert!(verify_articles(&app(), &secrets, &headers, BODY.as_bytes(), NOW).is_err());
}

#[test]
fn during_a_rotation_the_single_value_is_made_with_the_older_secret() {
    let headers = signed_with(&[secret(2), secret(1)]);
    assert_eq!(
        value(&headers, "X-Signature"),
        value(&signed_with(&[secret(1)]), "X-Signature")
    );
    assert_eq!(
        value(&headers, "X-Signature-Next"),
        value(&signed_with(&[secret(2)]), "X-Signature")
    );
    assert_eq!(
        value(&headers, "webhook-signature")
            .unwrap()
            .split(' ')
            .count(),
        2
    );
    assert_eq!(value(&signed(), "X-Signature-Next"), None);
}

#[test]
fn nothing_is_signed_that_no_receiver_could_verify() {
    let sign = |secrets: &[AppSecret], id: &str, now: Millis, nonce: &str| {
        callback_headers(&app(), secrets, id, now, nonce, b"").err()
    };
    assert_eq!(sign(&[], ID, NOW, NONCE), Some(SignError::NoSecret));
    assert_eq!(sign(&[secret(1)], "run.3", NOW, NONCE), Some(SignError::Id));
    assert_eq!(sign(&[secret(1)], "", NOW, NONCE), Some(SignError::Id));
    assert_eq!(sign(&[secret(1)], ID, NOW, "nonce"), Some(SignError::Nonce));
    for now in [
        Millis(0),
        Millis(-179_600_000_012),
        Millis(99_999_999_999_999),
    ] {
        assert_eq!(sign(&[secret(1)], ID, now, NONCE), Some(SignError::Time));
    }
}

#[test]
fn a_nonce_is_a_version_4_uuid_whatever_the_random_bytes() {
    assert_eq!(nonce_from([0; 16]), "00000000-0000-4000-8000-000000000000");
    assert_eq!(
        nonce_from([255; 16]),
        "ffffffff-ffff-4fff-bfff-ffffffffffff"
    );
    assert!(is_nonce(&nonce_from([0x5a; 16])) && is_nonce(&NONCE.to_uppercase()));
    for odd in [
        "",
        "00112233445546778899aabbccddeeff",
        &format!("{NONCE}-"),
        &NONCE.replace('a', "g"),
    ] {
        assert!(!is_nonce(odd), "{odd}");
    }
}
