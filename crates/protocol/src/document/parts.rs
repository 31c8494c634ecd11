//! The id, the pool and the labels of a document.

use std::collections::BTreeMap;

use cronwright_core::ids::JobId;
use serde_json::Value;

use super::reader::{Errors, Object, text_of, wrong_type};
use super::{IdRule, ReadContext};
use crate::problem::FieldError;

pub(super) fn job_id(
    document: &mut Object,
    context: &ReadContext<'_>,
    errors: &mut Errors,
) -> Option<JobId> {
    let Some(value) = document.take("jobId") else {
        return Some(context.id.given().clone());
    };
    let Value::String(text) = value else {
        return errors.none(wrong_type("jobId", "an id", &value));
    };
    match (text.parse::<JobId>(), context.id) {
        (Err(error), _) => errors.none(FieldError::new("jobId", "bad_id", error.to_string())),
        (Ok(id), IdRule::Fixed(fixed)) if id != *fixed => errors.none(
            FieldError::new("jobId", "conflict", format!("the path names job {fixed}"))
                .hint("a job keeps its id; create another job instead"),
        ),
        (Ok(id), _) if crate::api::routes::is_reserved(id.as_str()) => errors.none(
            FieldError::new("jobId", "bad_id", format!("{id} is a path of the API"))
                .hint("choose another id"),
        ),
        (Ok(id), IdRule::Fixed(_) | IdRule::Default(_)) => Some(id),
    }
}

/// Pools arrive with agents. Until then a job that needs one cannot run, and says so when it is saved.
pub(super) fn pool(document: &mut Object, errors: &mut Errors) {
    if let Some(name) = document.text("pool", 1, 64, errors) {
        let error = FieldError::new(
            "pool",
            "pool_unknown",
            format!("there is no pool of the name {name:?}; pools arrive with agents"),
        );
        errors.add(error.hint("leave out pool to call a public host from the edge"));
    }
}

pub(super) fn labels(document: &mut Object, errors: &mut Errors) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    let fields = match document.take("labels") {
        None => return labels,
        Some(Value::Object(fields)) => fields,
        Some(other) => {
            errors.add(wrong_type(
                "labels",
                "an object of names and values",
                &other,
            ));
            return labels;
        }
    };
    if fields.len() > 20 {
        errors.add(FieldError::new("labels", "too_many", "at most 20 labels"));
        return labels;
    }
    for (key, value) in fields {
        let short: String = key.chars().take(64).collect();
        let path = format!("labels.{short}");
        let fits = (1..=63).contains(&key.len())
            && key
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b));
        if !fits {
            errors.add(FieldError::new(
                path,
                "bad_label",
                "a label's name is 1 to 63 of A-Z a-z 0-9 . _ - /",
            ));
        } else if let Some(text) = text_of(&path, value, 0, 200, errors) {
            labels.insert(key, text);
        }
    }
    labels
}
