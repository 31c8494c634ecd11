//! What a run does.

use std::collections::BTreeMap;

use cronwright_core::job::def::{Executor, HttpMode, HttpTask};
use serde_json::{Map, Value};

use super::ReadContext;
use super::message::{body, headers};
use super::reader::{Errors, Object, word_of, wrong_type};
use super::target::{Callee, url_of};
use crate::problem::FieldError;

/// Status codes that mean success unless the document says otherwise.
const SUCCESS: (u16, u16) = (200, 299);

const METHODS: [(&str, &str); 6] = [
    ("GET", "GET"),
    ("POST", "POST"),
    ("PUT", "PUT"),
    ("PATCH", "PATCH"),
    ("DELETE", "DELETE"),
    ("HEAD", "HEAD"),
];

/// Reads `executor`: a URL, or an object with a `kind`.
pub(super) fn read(
    document: &mut Object,
    context: &ReadContext<'_>,
    errors: &mut Errors,
) -> Option<Executor> {
    let pooled = document.has("pool");
    match document.take("executor") {
        None => errors.none(
            FieldError::new("executor", "required", "a job needs an executor")
                .hint("give the URL to call"),
        ),
        Some(Value::String(url)) => {
            let url = url_of("executor", &url, Callee::job(pooled), context, errors)?;
            Some(Executor::Http(task(url, "POST".to_owned())))
        }
        Some(Value::Object(fields)) => http(fields, pooled, context, errors).map(Executor::Http),
        Some(other) => errors.none(wrong_type("executor", "a URL or an object", &other)),
    }
}

fn task(url: String, method: String) -> HttpTask {
    HttpTask {
        url,
        method,
        headers: BTreeMap::new(),
        body: None,
        expect: vec![SUCCESS],
        mode: HttpMode::Sync,
    }
}

/// The stand-in for an executor that could not be read.
pub(super) fn nothing() -> Executor {
    Executor::Http(task(String::new(), "POST".to_owned()))
}

fn http(
    fields: Map<String, Value>,
    pooled: bool,
    context: &ReadContext<'_>,
    errors: &mut Errors,
) -> Option<HttpTask> {
    let mut object = Object::new("executor.", fields);
    let kind = match object.take("kind") {
        None => Some(()),
        Some(kind) => later_kind(&kind, errors),
    };
    let url = match object.take("url") {
        Some(Value::String(url)) => {
            url_of("executor.url", &url, Callee::job(pooled), context, errors)
        }
        Some(other) => errors.none(wrong_type("executor.url", "a URL", &other)),
        None => errors.none(FieldError::new(
            "executor.url",
            "required",
            "an http executor needs a url",
        )),
    };
    let method = object
        .word("method", &METHODS, errors)
        .unwrap_or("POST")
        .to_owned();
    let mut headers = object
        .take("headers")
        .map(|value| headers(value, errors))
        .unwrap_or_default();
    let body = object
        .take("body")
        .and_then(|value| body(value, &mut headers, errors));
    if body.is_some() && matches!(method.as_str(), "GET" | "HEAD") {
        errors.add(
            FieldError::new(
                "executor.body",
                "conflict",
                format!("a {method} request carries no body"),
            )
            .hint("use POST, or leave out the body"),
        );
    }
    let expect = object
        .take("expectedStatus")
        .map_or_else(|| vec![SUCCESS], |value| expected(value, errors));
    let mode = object.word(
        "mode",
        &[("sync", HttpMode::Sync), ("accepted", HttpMode::Accepted)],
        errors,
    );
    object.finish(errors);
    kind?;
    Some(HttpTask {
        headers,
        body,
        expect,
        mode: mode.unwrap_or(HttpMode::Sync),
        ..task(url?, method)
    })
}

/// Kinds that run on agents are known and not there yet; anything else is a slip.
fn later_kind(kind: &Value, errors: &mut Errors) -> Option<()> {
    const KINDS: [(&str, bool); 5] = [
        ("http", true),
        ("shell", false),
        ("sql", false),
        ("gpu", false),
        ("handler", false),
    ];
    if word_of("executor.kind", kind, &KINDS, errors)? {
        return Some(());
    }
    let error = FieldError::new(
        "executor.kind",
        "kind_unavailable",
        "this kind runs on agents, which arrive with a later version",
    );
    errors.none(error.hint("use kind http"))
}

fn expected(value: Value, errors: &mut Errors) -> Vec<(u16, u16)> {
    let list = match value {
        Value::Array(list) => list,
        single => vec![single],
    };
    if list.is_empty() || list.len() > 20 {
        errors.add(FieldError::new(
            "executor.expectedStatus",
            "length",
            "give 1 to 20 status codes or ranges",
        ));
    }
    let ranges = list
        .iter()
        .enumerate()
        .take(20)
        .filter_map(|(index, item)| {
            let range = status_range(item);
            if range.is_none() {
                let error = FieldError::new(
                    format!("executor.expectedStatus[{index}]"),
                    "bad_status",
                    "this is no status code or range",
                );
                errors.add(error.hint("write 200 or \"200-299\", between 100 and 599"));
            }
            range
        });
    ranges.collect()
}

fn status_range(item: &Value) -> Option<(u16, u16)> {
    let range = match item {
        Value::Number(number) => {
            let code = u16::try_from(number.as_u64()?).ok()?;
            (code, code)
        }
        Value::String(text) => {
            let (from, to) = text.split_once('-').unwrap_or((text, text));
            (from.trim().parse().ok()?, to.trim().parse().ok()?)
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    ((100..600).contains(&range.0) && range.0 <= range.1 && range.1 < 600).then_some(range)
}
