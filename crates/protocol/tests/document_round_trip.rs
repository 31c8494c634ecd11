//! What is written reads back as it was; and nothing that anyone writes makes the reader fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use cronwright_core::ids::JobId;
use cronwright_core::job::def::Definition;
use cronwright_core::time::Millis;
use cronwright_protocol::document::{IdRule, READ_ONLY, ReadContext, Unread, read, write};
use cronwright_protocol::target::Policy;
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: Millis = Millis(1_795_960_800_000);

fn read_value(document: &Value) -> Result<(Definition, Option<bool>), Unread> {
    let id: JobId = "made-up".parse().unwrap();
    let targets = Policy {
        own_hosts: Vec::new(),
        allow_loopback: true,
    };
    read(
        document.to_string().as_bytes(),
        &ReadContext {
            now: NOW,
            id: IdRule::Default(&id),
            targets: &targets,
        },
    )
    .map(|read| (read.definition, read.enabled))
}

#[test]
fn what_is_written_reads_back_as_it_was() {
    let documents = [
        json!({"name": "least", "executor": "https://a.example.org/"}),
        json!({"name": "cron", "executor": "http://127.0.0.1:9000/x", "cron": "0 30 2 L * ?", "timeZone": "America/New_York", "status": "PAUSED"}),
        json!({"name": "every", "executor": "https://a.example.org/", "every": "1h30m", "anchor": "2026-01-01T00:00:00.500Z"}),
        json!({"name": "at", "executor": "https://a.example.org/", "at": "2027-01-01T08:00:00+08:00", "jitterMs": 100}),
        json!({"name": "after", "executor": "https://a.example.org/", "after": {"jobId": "b", "on": "failure"}}),
        json!({"jobId": "full", "name": "完整", "owner": "运维", "description": "a\nb", "labels": {"team": "erp", "tier": "1"},
            "cron": "*/5 * * * *", "startAt": "2026-12-01T00:00:00Z", "endAt": "2027-12-01T00:00:00Z",
            "blackouts": [{"days": ["FRI"], "from": "22:00", "until": "24:00"}, {"from": "2026-12-24T00:00:00Z", "until": "2026-12-26T00:00:00Z"}],
            "executor": {"url": "https://a.example.org/x?y=1", "method": "PATCH", "headers": {"authorization": "Bearer x"}, "body": "{{params}}",
                "expectedStatus": [200, "201-299", 404], "mode": "accepted"},
            "routeStrategy": "pinned", "routeKey": "k", "timeoutMs": 100, "deadlineMs": 60000, "warnAfterMs": 5000, "retryTimes": 20,
            "retryDelays": [0, "1d"], "retryOn": ["FAILED"], "misfire": {"policy": "skip", "catchUpWindowMs": 5, "maxCatchUp": 100},
            "overlap": "replace", "queueLimit": 100, "callbackUrl": "https://b.example.org/", "callbackApp": "erp", "callbackPreset": "durable"}),
    ];
    for document in documents {
        let (definition, enabled) = read_value(&document).unwrap();
        let written = serde_json::to_value(write(&definition, enabled.unwrap_or(true))).unwrap();
        let (again, enabled_again) =
            read_value(&written).unwrap_or_else(|unread| panic!("{written}: {:?}", unread.errors));
        assert_eq!(again, definition, "{written}");
        assert_eq!(enabled_again, Some(enabled.unwrap_or(true)));
        let third = serde_json::to_value(write(&again, enabled.unwrap_or(true))).unwrap();
        assert_eq!(third, written, "writing is stable");
    }
}

#[test]
fn what_only_the_server_knows_may_be_sent_back() {
    let mut document = json!({"name": "a", "executor": "https://a.example.org/"});
    for name in READ_ONLY {
        document[name] = json!({"any": "thing"});
    }
    assert!(read_value(&document).is_ok());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,30}".prop_map(Value::from),
        prop::sample::select(vec![
            "5s",
            "* * * * *",
            "0 0 12 * * 1",
            "https://a.example.org",
            "2027-01-01T00:00:00Z",
            "skip",
            "GET",
            "a",
            "-1",
            "200-299"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any_name(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    let known = vec![
        "jobId",
        "name",
        "cron",
        "dialect",
        "timeZone",
        "timezone",
        "every",
        "anchor",
        "at",
        "after",
        "on",
        "executor",
        "kind",
        "url",
        "method",
        "headers",
        "body",
        "expectedStatus",
        "mode",
        "pool",
        "routeStrategy",
        "routeKey",
        "timeoutMs",
        "deadlineMs",
        "warnAfterMs",
        "retryTimes",
        "retryDelays",
        "retryOn",
        "misfire",
        "policy",
        "catchUpWindow",
        "maxCatchUp",
        "overlap",
        "queueLimit",
        "startAt",
        "endAt",
        "jitterMs",
        "blackouts",
        "days",
        "from",
        "until",
        "callbackUrl",
        "callbackApp",
        "appId",
        "callbackPreset",
        "labels",
        "owner",
        "description",
        "status",
    ];
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => ".{0,12}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_is_read_or_refused_with_a_field_and_a_code(fields in prop::collection::btree_map(any_name(), any_json(), 0..12)) {
        let mut document: Value = Value::Object(fields.into_iter().collect());
        // Half of the documents get past the required fields.
        if document.get("owner").is_some() {
            document["name"] = json!("a");
            document["executor"] = json!("https://a.example.org/");
        }
        match read_value(&document) {
            Ok((definition, _)) => {
                let written = serde_json::to_value(write(&definition, false)).unwrap();
                prop_assert_eq!(read_value(&written).map(|read| read.0), Ok(definition));
            }
            Err(unread) => {
                prop_assert!(!unread.errors.is_empty());
                prop_assert!(unread.errors.iter().all(|error| !error.field.is_empty() && !error.code.is_empty() && !error.detail.is_empty()));
                prop_assert!((400..500).contains(&unread.code.status()));
            }
        }
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let id: JobId = "a".parse().unwrap();
        let targets = Policy::default();
        let refused = read(&bytes, &ReadContext { now: NOW, id: IdRule::Default(&id), targets: &targets });
        prop_assert!(refused.is_err());
    }
}
