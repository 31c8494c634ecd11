//! The table of problems, and the routes that answer with them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use std::collections::{BTreeMap, BTreeSet};

use cronwright_protocol::api::role::Role;
use cronwright_protocol::api::routes::{Method, Need, Op, all};
use cronwright_protocol::problem::{Code, FieldError, Problem};

#[test]
fn every_code_has_one_name_a_title_and_an_error_status() {
    let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    for code in Code::ALL {
        assert_eq!(Code::parse(code.as_str()), Some(*code));
        assert!((400..600).contains(&code.status()), "{code:?}");
        assert!(
            !code.title().is_empty() && !code.title().ends_with('.'),
            "{code:?}"
        );
        assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
    }
}

#[test]
fn the_codes_are_in_the_order_of_their_statuses() {
    assert!(Code::ALL.iter().map(|code| code.status()).is_sorted());
}

/// The codes of `Refusal` in `src/host/message.rs`.
#[test]
fn every_refusal_of_an_object_has_a_code() {
    for name in [
        "job_not_found",
        "job_exists",
        "run_not_found",
        "revision_mismatch",
        "run_active",
        "run_ended",
        "run_not_running",
        "stale_fence",
        "queue_full",
        "job_deleted",
        "quarantined",
        "callback_not_replayable",
    ] {
        assert_eq!(Code::of_refusal(name).as_str(), name);
    }
    assert_eq!(Code::of_refusal("something_new"), Code::Refused);
    assert_eq!(
        Code::of_refusal("internal"),
        Code::Refused,
        "an object cannot make the edge claim a failure"
    );
}

#[test]
fn a_problem_says_its_kind_its_fields_and_its_request() {
    let mut problem = Problem::fields(
        Code::InvalidDocument,
        vec![FieldError::new("cron", "out_of_range", "too large").hint("use 0-23")],
    );
    problem.request_id = "r1".to_owned();
    assert_eq!(
        serde_json::to_value(&problem).unwrap(),
        serde_json::json!({
            "type": "urn:cronwright:problem:invalid_document", "title": "Fields of the body are not valid", "status": 422, "code": "invalid_document",
            "detail": "cron: too large", "errors": [{"field": "cron", "code": "out_of_range", "detail": "too large", "hint": "use 0-23"}], "requestId": "r1"
        })
    );
    assert_eq!(
        serde_json::from_value::<Problem>(serde_json::to_value(&problem).unwrap()).unwrap(),
        problem
    );
}

#[test]
fn every_operation_has_exactly_one_route() {
    let mut seen: BTreeMap<Op, u32> = BTreeMap::new();
    for route in all() {
        *seen.entry(route.op).or_default() += 1;
    }
    for op in Op::ALL {
        assert_eq!(seen.get(op), Some(&1), "{op:?}");
    }
}

#[test]
fn no_two_routes_share_a_method_and_a_path() {
    let places: BTreeSet<_> = all().map(|route| (route.method, route.path)).collect();
    assert_eq!(places.len(), all().count());
}

#[test]
fn only_the_named_routes_are_open_to_everyone() {
    let open: BTreeSet<Op> = all()
        .filter(|route| route.need == Need::Anyone)
        .map(|route| route.op)
        .collect();
    let named = [
        Op::SetUp,
        Op::GetHealth,
        Op::GetOpenapi,
        Op::ApiPage,
        Op::SignInPage,
        Op::SignIn,
        Op::SignOut,
        Op::GetAsset,
    ];
    assert_eq!(open, BTreeSet::from(named));
}

#[test]
fn what_changes_something_is_never_a_get_and_needs_more_than_a_viewer() {
    let looks_only = [Op::PreviewSchedule, Op::ValidateJob];
    for route in all() {
        let reads = ["list", "get"]
            .iter()
            .any(|verb| route.op.id().starts_with(verb))
            || route.op.id().ends_with("Page");
        assert_eq!(route.method == Method::Get, reads, "{:?}", route.op);
        if !reads && !looks_only.contains(&route.op) && route.need != Need::Anyone {
            assert!(
                !matches!(route.need, Need::Role(Role::Viewer) | Need::Page),
                "{:?}",
                route.op
            );
        }
    }
}

#[test]
fn every_documented_route_says_what_it_answers() {
    for route in all().filter(|route| route.is_documented()) {
        assert!(
            !route.replies.is_empty() && !route.summary.is_empty(),
            "{:?}",
            route.op
        );
        assert!(
            route.all_problems().contains(&Code::BadPath),
            "{:?}",
            route.op
        );
        assert_eq!(
            route.need != Need::Anyone,
            route.all_problems().contains(&Code::TokenMissing),
            "{:?}",
            route.op
        );
    }
}
