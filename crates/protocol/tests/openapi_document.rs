//! The OpenAPI document: fresh, complete, and without loose ends.
#![cfg(feature = "openapi")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use std::collections::BTreeSet;

use cronwright_protocol::api::openapi::{document, text};
use cronwright_protocol::api::routes::all;
use cronwright_protocol::document::Document;
use serde_json::Value;

#[test]
fn the_checked_in_document_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/assets/openapi.json");
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == text(),
        "src/assets/openapi.json is stale: cargo run -p cronwright-protocol --features openapi --example openapi"
    );
}

#[test]
fn the_checked_in_page_is_made_from_it() {
    use sha2::{Digest, Sha256};
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/assets/api.html");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let digest: String = Sha256::digest(text())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert!(
        page.contains(&format!("content=\"{digest}\"")),
        "src/assets/api.html is stale: node crates/protocol/examples/api_page.mjs"
    );
    assert!(page.len() < 200 * 1024 && !page.contains("<script") && !page.contains(" style="));
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut references = BTreeSet::new();
    collect(&document, &mut references);
    assert!(references.len() > 40);
    for reference in references {
        assert!(
            document
                .pointer(reference.trim_start_matches('#'))
                .is_some(),
            "{reference}"
        );
    }
}

fn collect(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            references.extend(
                fields
                    .get("$ref")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            fields.values().for_each(|inner| collect(inner, references));
        }
        Value::Array(items) => items.iter().for_each(|inner| collect(inner, references)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_documented_route_is_in_it_with_its_statuses() {
    let document = document();
    for route in all().filter(|route| route.is_documented()) {
        let operation = &document["paths"][route.path][route.method.as_str().to_ascii_lowercase()];
        assert_eq!(operation["operationId"], route.op.id());
        for code in route.all_problems() {
            assert!(
                operation["responses"][code.status().to_string()].is_object(),
                "{} {code:?}",
                route.op.id()
            );
        }
    }
}

#[test]
fn creating_a_job_describes_its_callback() {
    let document = document();
    let callback = &document["paths"]["/api/v1/jobs"]["post"]["callbacks"]["runEnded"]["{$request.body#/callbackUrl}"]
        ["post"];
    assert_eq!(
        callback["requestBody"]["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/CallbackBody"
    );
}

#[test]
fn a_document_may_have_only_a_name_and_an_executor() {
    let document = document();
    assert_eq!(
        document["components"]["schemas"]["Document"]["required"],
        serde_json::json!(["name", "executor"])
    );
    assert!(
        serde_json::to_value(Document::default())
            .unwrap()
            .is_object()
    );
}
