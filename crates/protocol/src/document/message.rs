//! Headers and body of an HTTP job.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reader::{Errors, wrong_type};
use crate::problem::FieldError;
use crate::wire::headers::{HeaderRefused, check_header};

/// Bytes of a body template.
const MOST_BODY: usize = 32 * 1024;
/// Headers of one request.
const MOST_HEADERS: usize = 50;

pub(super) fn headers(value: Value, errors: &mut Errors) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    let Value::Object(fields) = value else {
        errors.add(wrong_type(
            "executor.headers",
            "an object of names and values",
            &value,
        ));
        return kept;
    };
    if fields.len() > MOST_HEADERS {
        errors.add(FieldError::new(
            "executor.headers",
            "too_many",
            format!("at most {MOST_HEADERS} headers"),
        ));
        return kept;
    }
    for (name, value) in fields {
        let shown: String = name.chars().take(60).collect();
        let path = format!("executor.headers.{shown}");
        let Value::String(text) = value else {
            errors.add(wrong_type(&path, "a text", &value));
            continue;
        };
        match check_header(&name, &text) {
            Err(refused) => errors.add(FieldError::new(
                path,
                header_code(refused),
                refused.to_string(),
            )),
            Ok(()) if kept.contains_key(&name.to_ascii_lowercase()) => {
                errors.add(FieldError::new(
                    path,
                    "conflict",
                    "the header is given twice, in different letter case",
                ));
            }
            Ok(()) => {
                kept.insert(name.to_ascii_lowercase(), text);
            }
        }
    }
    kept
}

const fn header_code(refused: HeaderRefused) -> &'static str {
    match refused {
        HeaderRefused::Reserved => "reserved_header",
        HeaderRefused::Name | HeaderRefused::Value | HeaderRefused::TooLong => "bad_header",
    }
}

/// A body is a text, or JSON that is sent as JSON.
pub(super) fn body(
    value: Value,
    headers: &mut BTreeMap<String, String>,
    errors: &mut Errors,
) -> Option<String> {
    let text = match value {
        Value::String(text) => text,
        json => {
            headers
                .entry("content-type".to_owned())
                .or_insert_with(|| "application/json".to_owned());
            json.to_string()
        }
    };
    if text.len() > MOST_BODY {
        return errors.none(FieldError::new(
            "executor.body",
            "length",
            format!("{} bytes, at most {MOST_BODY}", text.len()),
        ));
    }
    Some(text)
}
