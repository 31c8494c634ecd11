//! What a job document is taken for, and how a bad one is refused.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use cronwright_core::ids::JobId;
use cronwright_core::job::def::{
    AfterOn, Blackout, CallbackPreset, Definition, Executor, HttpMode, Misfire, Overlap, RetryOn,
    RouteStrategy, ScheduleSpec,
};
use cronwright_core::schedule::{Dialect, parse_rfc3339};
use cronwright_core::time::Millis;
use cronwright_protocol::document::{IdRule, Read, ReadContext, Unread, read};
use cronwright_protocol::problem::{Code, FieldError};
use cronwright_protocol::target::Policy;
use serde_json::{Value, json};

/// The document of the articles, as design.md §9 has it.
const GOLDEN: &str = r#"{"jobId":"job_20240601_001","name":"order-sync-to-erp","cron":"0 0/5 * * * ?","routeStrategy":"consistency_hash","routeKey":"customer_id=9527","executor":"http://10.0.0.1:8080/run","timeoutMs":30000,"retryTimes":3,"callbackUrl":"https://openapi.example.com/v1/callback/order","status":"ENABLED"}"#;

fn now() -> Millis {
    parse_rfc3339("2026-11-29T14:00:00Z").unwrap()
}

fn read_with(text: &str, allow_loopback: bool) -> Result<Read, Unread> {
    let id: JobId = "made-up".parse().unwrap();
    let targets = Policy {
        own_hosts: vec!["cron.example.com".to_owned()],
        allow_loopback,
    };
    read(
        text.as_bytes(),
        &ReadContext {
            now: now(),
            id: IdRule::Default(&id),
            targets: &targets,
        },
    )
}

fn definition(document: &Value) -> Definition {
    read_with(&document.to_string(), false)
        .map(|read| read.definition)
        .unwrap_or_else(|unread| panic!("{document}: {:?}", unread.errors))
}

fn errors(document: &Value) -> Vec<FieldError> {
    match read_with(&document.to_string(), false) {
        Err(unread) => unread.errors,
        Ok(read) => panic!("{document} was read: {read:?}"),
    }
}

/// A document that is good but for what a case changes.
fn with(changes: Value) -> Value {
    let mut document = json!({"name": "a", "executor": "https://a.example.org/run"});
    for (name, value) in changes.as_object().unwrap() {
        document[name] = value.clone();
    }
    document
}

#[test]
fn the_articles_document_is_read_but_for_its_private_executor() {
    let unread = read_with(GOLDEN, false).unwrap_err();
    assert_eq!(unread.code, Code::InvalidDocument);
    let [error] = unread.errors.as_slice() else {
        panic!("{:?}", unread.errors)
    };
    assert_eq!(
        (error.field.as_str(), error.code.as_str()),
        ("executor", "blocked_target")
    );
    assert!(error.hint.as_deref().unwrap().contains("pool"), "{error:?}");
}

#[test]
fn the_articles_document_with_a_public_executor_is_read_whole() {
    let read = read_with(
        &GOLDEN.replace("http://10.0.0.1:8080/run", "https://erp.example.org/run"),
        false,
    )
    .unwrap();
    let definition = read.definition;
    assert_eq!(read.enabled, Some(true));
    assert_eq!(definition.job_id.as_str(), "job_20240601_001");
    assert_eq!(definition.name, "order-sync-to-erp");
    let cron = ScheduleSpec::Cron {
        text: "0 0/5 * * * ?".to_owned(),
        dialect: Dialect::Quartz,
        zone: "UTC".to_owned(),
    };
    assert_eq!(definition.schedule, cron);
    assert_eq!(
        definition.route_strategy,
        Some(RouteStrategy::ConsistencyHash)
    );
    assert_eq!(definition.route_key.as_deref(), Some("customer_id=9527"));
    assert_eq!((definition.timeout_ms, definition.retry.times), (30_000, 3));
    assert_eq!(definition.retry.delays_ms, [30_000, 120_000, 300_000]);
    let callback = definition.callback.unwrap();
    assert_eq!(
        (callback.app.as_str(), callback.url.as_str()),
        ("default", "https://openapi.example.com/v1/callback/order")
    );
    let Executor::Http(task) = definition.executor;
    assert_eq!(
        (
            task.url.as_str(),
            task.method.as_str(),
            task.expect.as_slice()
        ),
        (
            "https://erp.example.org/run",
            "POST",
            [(200, 299)].as_slice()
        )
    );
}

#[test]
fn a_pool_says_that_pools_are_still_to_come() {
    let found = errors(&with(
        json!({"executor": "http://10.0.0.1:8080/run", "pool": "factory"}),
    ));
    let [error] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (error.field.as_str(), error.code.as_str()),
        ("pool", "pool_unknown")
    );
}

#[test]
fn loopback_is_for_local_runs_only() {
    let document = with(
        json!({"executor": "http://127.0.0.1:9000/run", "callbackUrl": "http://localhost:9000/cb"}),
    )
    .to_string();
    assert!(read_with(&document, true).is_ok());
    let fields: Vec<_> = read_with(&document, false)
        .unwrap_err()
        .errors
        .into_iter()
        .map(|error| (error.field, error.code))
        .collect();
    assert_eq!(
        fields,
        [
            ("executor".to_owned(), "blocked_target".to_owned()),
            ("callbackUrl".to_owned(), "blocked_target".to_owned())
        ]
    );
}

#[test]
fn a_missing_id_is_made_and_a_fixed_one_is_kept() {
    assert_eq!(definition(&with(json!({}))).job_id.as_str(), "made-up");
    let id: JobId = "in-the-path".parse().unwrap();
    let targets = Policy::default();
    let context = ReadContext {
        now: now(),
        id: IdRule::Fixed(&id),
        targets: &targets,
    };
    let unread = read(
        with(json!({"jobId": "other"})).to_string().as_bytes(),
        &context,
    )
    .unwrap_err();
    assert_eq!(
        (
            unread.errors[0].field.as_str(),
            unread.errors[0].code.as_str()
        ),
        ("jobId", "conflict")
    );
    assert!(
        read(
            with(json!({"jobId": "in-the-path"})).to_string().as_bytes(),
            &context
        )
        .is_ok()
    );
}

#[test]
fn every_spelling_of_an_option_is_read() {
    let full = definition(&with(json!({
        "every": "5s", "anchor": "2026-01-01T00:00:01Z", "startAt": "2026-12-01T00:00:00+08:00", "endAt": "2027-12-01T00:00:00Z", "jitterMs": 500,
        "executor": {"kind": "http", "url": "https://a.example.org", "method": "put", "headers": {"X-Key": "v"}, "body": {"id": "{{scheduleId}}"},
            "expectedStatus": [204, "300-399"], "mode": "accepted"},
        "retryTimes": 2, "retryDelays": [500, "2m"], "retryOn": ["TIMED_OUT"], "misfire": {"policy": "IGNORE_MISFIRE_POLICY", "catchUpWindow": "2h", "maxCatchUp": 3},
        "overlap": "queue", "queueLimit": 5, "deadlineMs": 60000, "warnAfterMs": 1000, "owner": "ops", "description": "two\nlines",
        "labels": {"team": "erp"}, "blackouts": [{"days": ["sat", "SUN"], "from": "22:00", "until": "06:00"}, {"from": "2026-12-24T00:00:00Z", "until": "2026-12-26T00:00:00Z"}],
        "callbackUrl": "https://b.example.org/cb", "appId": "erp", "callbackPreset": "durable"
    })));
    assert_eq!(
        full.schedule,
        ScheduleSpec::Every {
            period_ms: 5_000,
            anchor: parse_rfc3339("2026-01-01T00:00:01Z").unwrap()
        }
    );
    let Executor::Http(task) = &full.executor;
    assert_eq!(
        (task.method.as_str(), task.mode, task.expect.as_slice()),
        (
            "PUT",
            HttpMode::Accepted,
            [(204, 204), (300, 399)].as_slice()
        )
    );
    assert_eq!(
        task.headers
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect::<Vec<_>>(),
        [("content-type", "application/json"), ("x-key", "v")]
    );
    assert_eq!(task.body.as_deref(), Some(r#"{"id":"{{scheduleId}}"}"#));
    assert_eq!(
        (full.retry.delays_ms.as_slice(), full.retry.on.as_slice()),
        ([500, 120_000].as_slice(), [RetryOn::TimedOut].as_slice())
    );
    assert_eq!(
        (
            full.misfire.policy,
            full.misfire.catch_up_window_ms,
            full.misfire.max_catch_up
        ),
        (Misfire::CatchUp, 7_200_000, 3)
    );
    assert_eq!((full.overlap, full.queue_limit), (Overlap::Queue, 5));
    assert_eq!(
        full.blackouts[0],
        Blackout::Weekly {
            days: vec![0, 6],
            from_minute: 1320,
            until_minute: 360
        }
    );
    let callback = full.callback.unwrap();
    assert_eq!(
        (callback.app.as_str(), callback.preset),
        ("erp", CallbackPreset::Durable)
    );
}

#[test]
fn each_kind_of_schedule_is_read() {
    let spec = |changes| definition(&with(changes)).schedule;
    assert_eq!(spec(json!({})), ScheduleSpec::None);
    assert_eq!(
        spec(json!({"at": "2026-11-29T15:00:00Z"})),
        ScheduleSpec::At {
            at: now().plus(3_600_000)
        }
    );
    let after = |on| ScheduleSpec::After {
        job: "a".parse().unwrap(),
        on,
    };
    assert_eq!(spec(json!({"after": "a"})), after(AfterOn::Success));
    assert_eq!(
        spec(json!({"after": {"jobId": "a", "on": "finish"}})),
        after(AfterOn::Finish)
    );
    let unix = ScheduleSpec::Cron {
        text: "0 9 * * 1-5".to_owned(),
        dialect: Dialect::Unix,
        zone: "Asia/Shanghai".to_owned(),
    };
    assert_eq!(
        spec(json!({"cron": "0 9 * * 1-5", "timezone": "asia/shanghai"})),
        unix
    );
    assert_eq!(
        spec(json!({"cron": "0 9 * * 1-5", "timeZone": "Asia/Shanghai", "dialect": "unix"})),
        unix
    );
}

/// Each bad value, and the field and code of the one error it makes.
#[test]
fn every_bad_field_is_named() {
    let long = "x".repeat(3_000);
    for (changes, field, code) in [
        (json!({"jobId": "a b"}), "jobId", "bad_id"),
        (json!({"jobId": 5}), "jobId", "wrong_type"),
        (json!({"jobId": "preview"}), "jobId", "bad_id"),
        (json!({"name": ""}), "name", "length"),
        (json!({"name": null}), "name", "required"),
        (json!({"name": "a\u{0}b"}), "name", "control_character"),
        (json!({"name": long}), "name", "length"),
        (json!({"owner": 1}), "owner", "wrong_type"),
        (json!({"description": long}), "description", "length"),
        (json!({"labels": []}), "labels", "wrong_type"),
        (json!({"labels": {"a b": "x"}}), "labels.a b", "bad_label"),
        (json!({"labels": {"a": 1}}), "labels.a", "wrong_type"),
        (json!({"cron": 5}), "cron", "wrong_type"),
        (json!({"cron": "0 0 25 * * ?"}), "cron", "out_of_range"),
        (json!({"cron": "0 0 0 31 2 ?"}), "cron", "never_fires"),
        (
            json!({"cron": "* * * * *", "dialect": "quarz"}),
            "dialect",
            "unknown_value",
        ),
        (
            json!({"cron": "* * * * *", "timeZone": "Mars/Base"}),
            "timeZone",
            "unknown_zone",
        ),
        (
            json!({"cron": "* * * * *", "timeZone": 8}),
            "timeZone",
            "wrong_type",
        ),
        (
            json!({"cron": "* * * * *", "every": "5s"}),
            "every",
            "conflict",
        ),
        (json!({"timeZone": "UTC"}), "timeZone", "not_applicable"),
        (json!({"dialect": "unix"}), "dialect", "not_applicable"),
        (
            json!({"anchor": "2026-01-01T00:00:00Z"}),
            "anchor",
            "not_applicable",
        ),
        (
            json!({"cron": "* * * * *", "timeZone": "UTC", "timezone": "UTC"}),
            "timezone",
            "conflict",
        ),
        (json!({"every": "5"}), "every", "bad_period"),
        (json!({"every": "10ms"}), "every", "bad_period"),
        (json!({"every": 5}), "every", "wrong_type"),
        (
            json!({"every": "5s", "anchor": "today"}),
            "anchor",
            "bad_instant",
        ),
        (json!({"at": "tomorrow"}), "at", "bad_instant"),
        (json!({"at": "2020-01-01T00:00:00Z"}), "at", "never_fires"),
        (json!({"after": "a b"}), "after", "bad_id"),
        (
            json!({"after": {"on": "success"}}),
            "after.jobId",
            "required",
        ),
        (
            json!({"after": {"jobId": "a", "on": "start"}}),
            "after.on",
            "unknown_value",
        ),
        (json!({"startAt": 5}), "startAt", "wrong_type"),
        (
            json!({"startAt": "2027-01-01T00:00:00Z", "endAt": "2027-01-01T00:00:00Z"}),
            "endAt",
            "conflict",
        ),
        (
            json!({"every": "1h", "endAt": "2026-11-29T14:30:00Z"}),
            "every",
            "never_fires",
        ),
        (json!({"jitterMs": -1}), "jitterMs", "out_of_range"),
        (json!({"jitterMs": 3_600_001}), "jitterMs", "out_of_range"),
        (json!({"blackouts": {}}), "blackouts", "wrong_type"),
        (json!({"blackouts": [5]}), "blackouts[0]", "wrong_type"),
        (
            json!({"blackouts": [{"from": "2026-12-24T00:00:00Z"}]}),
            "blackouts[0].until",
            "required",
        ),
        (
            json!({"blackouts": [{"days": ["SAT"], "from": "25:00"}]}),
            "blackouts[0].from",
            "bad_time",
        ),
        (
            json!({"blackouts": [{"days": ["SAT"], "from": "06:00", "until": "06:00"}]}),
            "blackouts[0].until",
            "conflict",
        ),
        (
            json!({"blackouts": [{"days": []}]}),
            "blackouts[0].days",
            "length",
        ),
        (json!({"executor": null}), "executor", "required"),
        (json!({"executor": 5}), "executor", "wrong_type"),
        (
            json!({"executor": "ftp://a.example.org"}),
            "executor",
            "blocked_target",
        ),
        (
            json!({"executor": "https://user:pw@a.example.org"}),
            "executor",
            "blocked_target",
        ),
        (
            json!({"executor": "https://cron.example.com/api"}),
            "executor",
            "blocked_target",
        ),
        (
            json!({"executor": "http://169.254.169.254/latest"}),
            "executor",
            "blocked_target",
        ),
        (
            json!({"executor": {"url": "http://[::1]/"}}),
            "executor.url",
            "blocked_target",
        ),
        (
            json!({"executor": {"kind": "http"}}),
            "executor.url",
            "required",
        ),
        (
            json!({"executor": {"kind": "shell", "url": "https://a.example.org"}}),
            "executor.kind",
            "kind_unavailable",
        ),
        (
            json!({"executor": {"kind": "htp", "url": "https://a.example.org"}}),
            "executor.kind",
            "unknown_value",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "method": "TRACE"}}),
            "executor.method",
            "unknown_value",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "method": "GET", "body": "x"}}),
            "executor.body",
            "conflict",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "headers": {"Host": "b"}}}),
            "executor.headers.Host",
            "reserved_header",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "headers": {"X-Fence": "1"}}}),
            "executor.headers.X-Fence",
            "reserved_header",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "headers": {"a b": "1"}}}),
            "executor.headers.a b",
            "bad_header",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "headers": {"a": "1\r\nb: 2"}}}),
            "executor.headers.a",
            "bad_header",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "headers": {"a": "1", "A": "2"}}}),
            "executor.headers.a",
            "conflict",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "expectedStatus": ["2xx"]}}),
            "executor.expectedStatus[0]",
            "bad_status",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "expectedStatus": [200, 99]}}),
            "executor.expectedStatus[1]",
            "bad_status",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "expectedStatus": []}}),
            "executor.expectedStatus",
            "length",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "mode": "async"}}),
            "executor.mode",
            "unknown_value",
        ),
        (
            json!({"executor": {"url": "https://a.example.org", "timeout": 5}}),
            "executor.timeout",
            "unknown_field",
        ),
        (
            json!({"routeStrategy": "hash"}),
            "routeStrategy",
            "unknown_value",
        ),
        (json!({"routeKey": ""}), "routeKey", "length"),
        (json!({"timeoutMs": 99}), "timeoutMs", "out_of_range"),
        (
            json!({"timeoutMs": 86_400_001}),
            "timeoutMs",
            "out_of_range",
        ),
        (json!({"timeoutMs": "30s"}), "timeoutMs", "wrong_type"),
        (json!({"timeoutMs": 1.5}), "timeoutMs", "wrong_type"),
        (json!({"timeoutMs": 1e300}), "timeoutMs", "wrong_type"),
        (json!({"deadlineMs": 0}), "deadlineMs", "out_of_range"),
        (json!({"warnAfterMs": 0}), "warnAfterMs", "out_of_range"),
        (json!({"retryTimes": 21}), "retryTimes", "out_of_range"),
        (json!({"retryTimes": u64::MAX}), "retryTimes", "wrong_type"),
        (json!({"retryDelays": []}), "retryDelays", "length"),
        (
            json!({"retryDelays": ["30s", "soon"]}),
            "retryDelays[1]",
            "bad_span",
        ),
        (
            json!({"retryDelays": [-1]}),
            "retryDelays[0]",
            "out_of_range",
        ),
        (
            json!({"retryOn": ["SUCCESS"]}),
            "retryOn[0]",
            "unknown_value",
        ),
        (json!({"misfire": "later"}), "misfire", "unknown_value"),
        (json!({"misfire": []}), "misfire", "wrong_type"),
        (
            json!({"misfire": {"policy": "skip", "max": 3}}),
            "misfire.max",
            "unknown_field",
        ),
        (
            json!({"misfire": {"maxCatchUp": 101}}),
            "misfire.maxCatchUp",
            "out_of_range",
        ),
        (json!({"overlap": "forbid"}), "overlap", "unknown_value"),
        (json!({"queueLimit": 0}), "queueLimit", "out_of_range"),
        (
            json!({"callbackUrl": "http://192.168.0.1/cb"}),
            "callbackUrl",
            "blocked_target",
        ),
        (json!({"callbackUrl": 5}), "callbackUrl", "wrong_type"),
        (
            json!({"callbackUrl": "https://b.example.org", "callbackApp": "a b"}),
            "callbackApp",
            "bad_id",
        ),
        (
            json!({"callbackApp": "erp"}),
            "callbackApp",
            "not_applicable",
        ),
        (
            json!({"callbackPreset": "durable"}),
            "callbackPreset",
            "not_applicable",
        ),
        (json!({"status": "ON"}), "status", "unknown_value"),
    ] {
        let found = errors(&with(changes.clone()));
        assert_eq!(found.len(), 1, "{changes}: {found:?}");
        assert_eq!(
            (found[0].field.as_str(), found[0].code.as_str()),
            (field, code),
            "{changes}: {found:?}"
        );
    }
}

#[test]
fn all_errors_come_at_once_in_one_answer() {
    let found = errors(&json!({
        "name": "", "cron": "61 * * * *", "timeZone": "Mars", "executor": {"url": "http://10.0.0.1", "method": "GRAB"}, "timeoutMs": 1,
        "retryDelays": ["x", 5, "y"], "overlap": "no", "colour": "red"
    }));
    let fields: Vec<&str> = found.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "name",
            "timeZone",
            "cron",
            "executor.url",
            "executor.method",
            "retryDelays[0]",
            "retryDelays[2]",
            "overlap",
            "timeoutMs",
            "colour"
        ]
    );
}

#[test]
fn a_cron_error_points_at_its_place() {
    let found = errors(&with(json!({"cron": "0 0 25 * * ?"})));
    assert_eq!(found[0].span, Some((4, 6)), "{found:?}");
}

#[test]
fn a_slip_in_a_name_is_answered_with_the_name_that_was_meant() {
    for (slip, meant) in [
        ("timeout_ms", "timeoutMs"),
        ("retrytimes", "retryTimes"),
        ("callback_url", "callbackUrl"),
        ("Cron", "cron"),
        ("lables", "labels"),
    ] {
        let found = errors(&with(json!({slip: 1})));
        assert_eq!(found[0].code, "unknown_field");
        assert_eq!(
            found[0].hint.as_deref(),
            Some(format!("did you mean {meant}?").as_str())
        );
    }
}

#[test]
fn a_schedule_that_never_fires_may_be_saved_paused() {
    assert!(
        read_with(
            &with(json!({"at": "2020-01-01T00:00:00Z", "status": "PAUSED"})).to_string(),
            false
        )
        .is_ok()
    );
    assert!(
        read_with(
            &with(json!({"at": "2020-01-01T00:00:00Z", "status": "DISABLED"})).to_string(),
            false
        )
        .is_ok()
    );
}

#[test]
fn what_is_no_document_is_refused_before_its_fields_are_read() {
    for (text, code) in [
        ("", Code::MalformedJson),
        ("{", Code::MalformedJson),
        ("[]", Code::MalformedJson),
        ("\"a\"", Code::MalformedJson),
        ("{\"a\":1}x", Code::MalformedJson),
        (&"[".repeat(100_000), Code::TooLarge),
        (&"[".repeat(1_000), Code::TooDeep),
        (
            &format!("{{\"name\":\"{}\"}}", "x".repeat(70_000)),
            Code::TooLarge,
        ),
    ] {
        let unread = read_with(text, false).unwrap_err();
        assert_eq!(
            unread.code,
            code,
            "{}",
            text.chars().take(30).collect::<String>()
        );
        assert_eq!(unread.errors[0].field, "$");
    }
}
