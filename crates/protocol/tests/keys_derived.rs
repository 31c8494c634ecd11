//! What follows from the master secret: app secrets, codes, run tokens; and tokens.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use cronwright_core::time::{MINUTE, Millis};
use cronwright_protocol::codes::{self, CodeError, CodeKind};
use cronwright_protocol::keys::{
    AppSecret, MasterSecret, MasterSecretError, Token, TokenKind, app_secret, run_token, same,
    token_hash, verify_run_token,
};

const MASTER: &str = "6f1d2c3b4a5968778695a4b3c2d1e0f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
const NOW: Millis = Millis(1_796_000_000_000);

fn master() -> MasterSecret {
    MasterSecret::parse(MASTER).unwrap()
}

fn other_master() -> MasterSecret {
    MasterSecret::parse(&MASTER.replace("6f", "7f")).unwrap()
}

#[test]
fn known_bad_master_secrets_are_refused_and_the_setting_is_named() {
    let bad = [
        "",
        "   ",
        "changeme",
        "default_token",
        "secret",
        "whyour-secret",
        "password",
        "temporary_key",
        "changemechangemechangemechangeme",
        "ChangeMe-ChangeMe-ChangeMe-ChangeMe!",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "00000000000000000000000000000000000000000000000000000000",
        "0123456789abcdef0123456789abcdef",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "12345678901234567890123456789012",
        "secretsecretsecretsecretsecretsecret",
        "this-is-a-placeholder-for-a-secret!",
        "your-secret-key-of-at-least-32-bytes",
        "please replace-me with something real",
        "$(openssl rand -hex 32) and then some",
        "xyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxy",
        "q9Zk3vT7q9Zk3vT7q9Zk3vT7q9Zk3vT7",
        "default-default-default-default-1234",
        "6f1d2c3b4a5968778695a4b3c2d1e0f",
    ];
    for text in bad {
        let error = MasterSecret::parse(text).expect_err(text).to_string();
        assert!(
            error.contains("CRONWRIGHT_SECRET") && error.contains("openssl rand -hex 32"),
            "{error}"
        );
        assert!(
            text.trim().is_empty() || text == "secret" || !error.contains(text),
            "{error} repeats the value"
        );
    }
    assert_eq!(
        MasterSecret::parse("short-but-fine-q9Zk").err(),
        Some(MasterSecretError::TooShort { found: 19 })
    );
}

#[test]
fn a_random_master_secret_is_taken_with_or_without_a_line_feed() {
    for text in [
        MASTER,
        "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=",
        "6f1d2c3b4a5968778695a4b3c2d1e0f0",
    ] {
        assert!(MasterSecret::parse(text).is_ok(), "{text}");
    }
    assert_eq!(
        MasterSecret::parse(&format!("{MASTER}\n")).unwrap(),
        master()
    );
}

#[test]
fn secrets_do_not_show_in_debug_output() {
    let shown = format!(
        "{:?} {:?}",
        master(),
        app_secret(&master(), &"erp".parse().unwrap(), 1)
    );
    assert_eq!(shown, "MasterSecret(…) AppSecret(…)");
    let token = Token::mint(TokenKind::Api, [9; 32]);
    assert_eq!(format!("{token:?}"), "Token(cw_api_…)");
}

#[test]
fn an_app_secret_is_derived_as_documented() {
    // By Python's hmac: the label, 0, the app, 0, the version in 4 bytes.
    let secret = app_secret(&master(), &"erp".parse().unwrap(), 1);
    assert_eq!(
        secret.text(),
        "whsec_wLXhwF/nOMZyxTvc2jQooEQqZTABn3ybF6cscLV0ruc="
    );
    assert_eq!(secret.standard_key().len(), 32);
    assert_eq!(secret.articles_key(), secret.text().as_bytes());
    assert_eq!(AppSecret::parse(secret.text()).unwrap(), secret);
}

#[test]
fn app_secrets_differ_by_app_version_and_master() {
    let mut texts = Vec::new();
    for master in [master(), other_master()] {
        for app in ["erp", "crm", "erp1"] {
            for version in [1, 2, 256] {
                texts.push(
                    app_secret(&master, &app.parse().unwrap(), version)
                        .text()
                        .to_owned(),
                );
            }
        }
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 18);
}

#[test]
fn a_printed_secret_of_the_wrong_shape_is_refused() {
    for text in [
        "",
        "whsec_",
        "whsec_AAAA",
        "wLXhwF/nOMZyxTvc2jQooEQqZTABn3ybF6cscLV0ruc=",
        "whsec_!!!!",
        &format!("whsec_{}", "A".repeat(88)),
    ] {
        assert!(AppSecret::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_token_reads_back_and_is_stored_as_its_hash() {
    let token = Token::mint(
        TokenKind::Api,
        std::array::from_fn(|n| u8::try_from(n).unwrap()),
    );
    assert_eq!(
        token.text(),
        "cw_api_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    );
    // By Python's hashlib.
    assert_eq!(
        token.hash(),
        "a7a32701aca6d7a9644e6f75d17c4f09fb08e886b7f49e7ab82aa655140d06b7"
    );
    assert_eq!(token.hint(), "cw_api_…Hh8".replace("…", "…d"));
    for kind in TokenKind::ALL {
        let token = Token::mint(kind, [200; 32]);
        let read = Token::parse(token.text()).unwrap();
        assert_eq!((read.kind(), read.hash()), (kind, token_hash(token.text())));
    }
}

#[test]
fn a_token_of_the_wrong_shape_is_refused_before_any_look_up() {
    let good = Token::mint(TokenKind::Api, [0xfb; 32]).text().to_owned();
    let odd = [
        String::new(),
        "cw_api_".into(),
        good.replace("api", "root"),
        good.replace("cw_", "CW_"),
        good[..good.len() - 1].into(),
        format!("{good}A"),
        format!("{good} "),
        good.replace('-', "+"),
        // The last character of 43 holds four bits: another one with the same four is another spelling.
        format!(
            "{}{}",
            &good[..good.len() - 1],
            char::from(good.as_bytes()[good.len() - 1] + 1)
        ),
        "cw_api_' OR 1=1 --".into(),
        format!("cw_api_{}", "é".repeat(43)),
    ];
    for text in odd {
        assert!(Token::parse(&text).is_err(), "{text}");
    }
}

#[test]
fn a_code_verifies_until_its_expiry() {
    let expiry = NOW.plus(15 * MINUTE);
    let code = codes::issue(&master(), CodeKind::SetUp, expiry);
    assert_eq!(
        codes::verify(&master(), CodeKind::SetUp, &code, NOW),
        Ok(expiry)
    );
    assert_eq!(
        codes::verify(&master(), CodeKind::SetUp, &format!(" {code}\n"), NOW),
        Ok(expiry)
    );
    assert_eq!(
        codes::verify(&master(), CodeKind::SetUp, &code, expiry.plus(-1)),
        Ok(expiry)
    );
    assert_eq!(
        codes::verify(&master(), CodeKind::SetUp, &code, expiry),
        Err(CodeError::Expired)
    );
}

#[test]
fn a_code_can_be_made_with_a_shell() {
    // printf 'setup-code.v1.1796000000000' | openssl dgst -sha256 -hmac "$CRONWRIGHT_SECRET"
    assert_eq!(
        codes::issue(&master(), CodeKind::SetUp, NOW),
        "1796000000000.7525de4d4682106e3c4a777943525257857a26fd9b1afa0c804c48a40515ed67"
    );
}

#[test]
fn a_code_of_another_kind_secret_or_expiry_is_forged() {
    let code = codes::issue(&master(), CodeKind::SignIn, NOW.plus(MINUTE));
    assert_eq!(
        codes::verify(&master(), CodeKind::SetUp, &code, NOW),
        Err(CodeError::Forged)
    );
    assert_eq!(
        codes::verify(&other_master(), CodeKind::SignIn, &code, NOW),
        Err(CodeError::Forged)
    );
    let later = code.replace("1796000060000", "1796000060001");
    assert_eq!(
        codes::verify(&master(), CodeKind::SignIn, &later, NOW),
        Err(CodeError::Forged)
    );
    // Forged before expired: the times of a code that is not ours are not judged.
    assert_eq!(
        codes::verify(&master(), CodeKind::SignIn, &later, NOW.plus(MINUTE * 60)),
        Err(CodeError::Forged)
    );
}

#[test]
fn a_code_that_lives_for_more_than_15_minutes_is_refused() {
    let code = codes::issue(&master(), CodeKind::SetUp, NOW.plus(15 * MINUTE + 1));
    assert_eq!(
        codes::verify(&master(), CodeKind::SetUp, &code, NOW),
        Err(CodeError::TooLong)
    );
    assert!(codes::verify(&master(), CodeKind::SetUp, &code, NOW.plus(1)).is_ok());
}

#[test]
fn a_code_has_one_spelling() {
    let code = codes::issue(&master(), CodeKind::SetUp, NOW.plus(MINUTE));
    let (digits, mark) = code.split_once('.').unwrap();
    for odd in [
        format!("{digits}.{}", mark.to_uppercase()),
        format!("0{digits}.{mark}"),
        format!("+{digits}.{mark}"),
        format!("-{digits}.{mark}"),
        format!("{digits}{mark}"),
        format!("{digits}.{mark}0"),
        format!("{digits}.{mark}.{mark}"),
        format!(".{mark}"),
        digits.to_owned(),
        String::new(),
    ] {
        assert_eq!(
            codes::verify(&master(), CodeKind::SetUp, &odd, NOW),
            Err(CodeError::Malformed),
            "{odd}"
        );
    }
}

#[test]
fn a_run_token_opens_one_run_under_one_fence() {
    let (run, other) = (
        "run_3_1f_rs_v1".parse().unwrap(),
        "run_3_1f_rs_v2".parse().unwrap(),
    );
    let token = run_token(&master(), &run, 7);
    assert_eq!(
        token,
        "cd0ab93e93a4bf75ccdb4f782551d1c076ca5424500f20db94f747aad0c2f382"
    );
    assert!(verify_run_token(&master(), &run, 7, &token));
    assert!(!verify_run_token(&master(), &run, 8, &token));
    assert!(!verify_run_token(&master(), &other, 7, &token));
    assert!(!verify_run_token(&other_master(), &run, 7, &token));
    for odd in [
        "",
        "00",
        &token.to_uppercase(),
        &token[1..],
        &format!("{token}0"),
    ] {
        assert!(!verify_run_token(&master(), &run, 7, odd), "{odd}");
    }
}

#[test]
fn comparison_tells_equal_from_unequal() {
    assert!(same(b"", b"") && same(b"abc", b"abc"));
    assert!(!same(b"abc", b"abd") && !same(b"abc", b"ab") && !same(b"", b"a"));
}
