//! The OpenAPI 3.1 document, made from the route table and the types.

mod schemas;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::routes::{Body, Need, Op, Param, Reply, Route, Takes, all};
use crate::problem::{Code, MEDIA_TYPE};

/// The document, as `src/assets/openapi.json` holds it.
#[must_use]
pub fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Cronwright",
            "version": env!("CARGO_PKG_VERSION"),
            "description": include_str!("intro.md"),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This deployment"}],
        "tags": tags(),
        "paths": paths(),
        "components": {
            "schemas": schemas::schemas(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "bearerFormat": "cw_api_…", "description": "An API token."},
                "runToken": {"type": "apiKey", "in": "header", "name": "X-Run-Token", "description": "What the callee of a run was given with the request."},
            },
        },
    })
}

/// The document as text, with a line break at its end.
#[must_use]
pub fn text() -> String {
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

fn tags() -> Value {
    json!([
        {"name": "Jobs", "description": "Saved definitions and their schedules."},
        {"name": "Runs", "description": "What was carried out, and why."},
        {"name": "Reports", "description": "For the callees of jobs in mode `accepted`."},
        {"name": "Callbacks", "description": "Signed pushes of results: apps, endpoints, deliveries."},
        {"name": "Access", "description": "Tokens, set-up, audit."},
        {"name": "System", "description": "Health, metrics, rebuild."},
    ])
}

fn paths() -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in all().filter(|route| route.is_documented()) {
        let method = route.method.as_str().to_ascii_lowercase();
        paths
            .entry(route.path)
            .or_default()
            .insert(method, operation(route));
    }
    json!(paths)
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": route.op.id(),
        "tags": [route.tag],
        "summary": route.summary,
        "parameters": parameters(route),
        "responses": responses(route),
        "security": security(route.need),
    });
    if !route.detail.is_empty() {
        put(&mut operation, "description", json!(route.detail));
    }
    if let Some(body) = route.body {
        put(&mut operation, "requestBody", request_body(body));
    }
    if matches!(route.op, Op::CreateJob | Op::ReplaceJob) {
        put(
            &mut operation,
            "callbacks",
            json!({"runEnded": {"{$request.body#/callbackUrl}": {"post": callback()}}}),
        );
    }
    operation
}

/// Adds a field to a JSON object.
fn put(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(name.to_owned(), value);
    }
}

fn security(need: Need) -> Value {
    match need {
        Need::Anyone | Need::Page => json!([]),
        Need::Role(_) => json!([{"token": []}]),
        Need::Callee => json!([{"token": []}, {"runToken": []}]),
    }
}

fn parameters(route: &Route) -> Value {
    let in_path = route.path_params().map(|name| {
        let pattern = match name {
            "scheduleId" => "^run_[a-z0-9_]{1,80}$",
            _ => "^[A-Za-z0-9_-]{1,64}$",
        };
        json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "pattern": pattern}})
    });
    let in_query = route.query.iter().map(|param| parameter(param, "query"));
    // The run token is a security scheme.
    let in_header = route
        .headers
        .iter()
        .filter(|param| param.0 != "X-Run-Token")
        .map(|param| parameter(param, "header"));
    Value::Array(in_path.chain(in_query).chain(in_header).collect())
}

fn parameter(Param(name, takes, text): &Param, place: &str) -> Value {
    let schema = match takes {
        Takes::Text(most) => json!({"type": "string", "maxLength": most}),
        Takes::Int(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Takes::Word(words) => json!({"type": "string", "enum": words}),
    };
    json!({"name": name, "in": place, "required": false, "description": text, "schema": schema})
}

fn request_body(body: Body) -> Value {
    json!({"required": !body.optional, "content": {"application/json": {"schema": reference(body.schema)}}})
}

fn reference(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

fn responses(route: &Route) -> Value {
    let mut responses: BTreeMap<String, Value> = route.replies.iter().map(reply).collect();
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in route.all_problems() {
        by_status.entry(code.status()).or_default().push(code);
    }
    for (status, codes) in by_status {
        let lines: Vec<String> = codes
            .iter()
            .map(|code| format!("`{}`: {}.", code.as_str(), code.title()))
            .collect();
        let content = json!({MEDIA_TYPE: {"schema": reference("Problem")}});
        responses.insert(
            status.to_string(),
            json!({"description": lines.join(" "), "content": content}),
        );
    }
    json!(responses)
}

fn reply(Reply(status, schema, text): &Reply) -> (String, Value) {
    let mut reply = json!({"description": text});
    if schema.contains('/') {
        let inner = if *schema == "application/json" {
            json!({"type": "object"})
        } else {
            json!({"type": "string"})
        };
        put(&mut reply, "content", json!({*schema: {"schema": inner}}));
    } else if !schema.is_empty() {
        put(
            &mut reply,
            "content",
            json!({"application/json": {"schema": reference(schema)}}),
        );
    }
    (status.to_string(), reply)
}

fn callback() -> Value {
    let header = |name: &str, text: &str| json!({"name": name, "in": "header", "required": true, "description": text, "schema": {"type": "string"}});
    json!({
        "summary": "A run has ended",
        "description": include_str!("callback.md"),
        "parameters": [
            header("X-App-Id", "Whose secret signed."),
            header("X-Timestamp", "When this attempt was signed, in ms."),
            header("X-Nonce", "A UUID, fresh for each attempt."),
            header("X-Signature", "Hexadecimal HMAC-SHA256 over body, timestamp and nonce, keyed with the text of the secret."),
            header("webhook-id", "The `scheduleId`: the same for every attempt."),
            header("webhook-timestamp", "When this attempt was signed, in s."),
            header("webhook-signature", "Standard Webhooks: `v1,` and base64 HMAC-SHA256 over `id.timestamp.body`."),
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": reference("CallbackBody")}}},
        "responses": {
            "2XX": {"description": "Taken, or already processed."},
            "410": {"description": "Gone for good: no further attempts."},
            "default": {"description": "Not taken: tried again later."},
        },
    })
}
