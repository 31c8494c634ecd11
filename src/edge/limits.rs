//! Limits that hold before anything is read.

use cronwright_protocol::api::routes::{Param, Route, Takes};
use cronwright_protocol::document::{Unread, parse};
use cronwright_protocol::problem::{Code, FieldError, Problem};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::call::Call;
use super::error::{Answer, Failure};

/// Parameters that one request may have.
const MOST_PARAMS: usize = 20;

/// The query, checked against what the route takes. Pages ignore what they do not know, so that links of
/// other versions work; the API refuses it, so that a slip is not lost.
pub fn query(call: &Call, route: &Route) -> Answer<Vec<(String, String)>> {
    let Some(url) = &call.url else {
        return Err(Failure::new(Code::BadPath, "the address cannot be read"));
    };
    let (mut kept, mut errors) = (Vec::new(), Vec::new());
    for (name, value) in url.query_pairs().take(MOST_PARAMS) {
        let shown: String = name.chars().take(60).collect();
        let Some(param) = route.query.iter().find(|param| param.0 == name) else {
            if route.is_documented() {
                let known: Vec<&str> = route.query.iter().map(|param| param.0).collect();
                let known = if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                };
                errors.push(
                    FieldError::new(shown, "unknown_field", "there is no such parameter here")
                        .hint(format!("parameters: {known}")),
                );
            }
            continue;
        };
        if kept
            .iter()
            .any(|(known, _): &(String, String)| *known == name)
        {
            errors.push(FieldError::new(
                shown,
                "conflict",
                "the parameter is given twice",
            ));
        } else if let Err(detail) = fits(param, &value) {
            errors.push(FieldError::new(shown, "invalid", detail));
        } else {
            kept.push((name.into_owned(), value.into_owned()));
        }
    }
    if errors.is_empty() {
        Ok(kept)
    } else {
        Err(Problem::fields(Code::InvalidParameter, errors).into())
    }
}

fn fits(param: &Param, value: &str) -> Result<(), String> {
    if value.is_empty() {
        return Ok(());
    }
    match param.1 {
        Takes::Text(most)
            if value.chars().count() > most || value.chars().any(char::is_control) =>
        {
            Err(format!(
                "at most {most} characters, without control characters"
            ))
        }
        Takes::Int(least, most)
            if !value
                .parse()
                .is_ok_and(|number: i64| (least..=most).contains(&number)) =>
        {
            Err(format!("a whole number from {least} to {most}"))
        }
        Takes::Word(words) if !words.contains(&value) => {
            Err(format!("one of {}", words.join(", ")))
        }
        Takes::Text(_) | Takes::Int(..) | Takes::Word(_) => Ok(()),
    }
}

/// The body's bytes, within the route's limit.
pub async fn bytes(call: &mut Call, media_type: &str) -> Answer<Vec<u8>> {
    let body = call.route.and_then(|route| route.body);
    let (max, optional) = body.map_or((0, true), |body| (body.max, body.optional));
    let too_large = || Failure::new(Code::TooLarge, format!("at most {max} bytes are taken"));
    if let Some(length) = call.header("content-length")
        && length.parse::<usize>().is_ok_and(|length| length > max)
    {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // No stream: no body.
    if let Ok(mut stream) = call.request.stream() {
        while let Some(chunk) = stream.next().await {
            let chunk =
                chunk.map_err(|_| Failure::new(Code::MalformedJson, "the body broke off"))?;
            if bytes.len().saturating_add(chunk.len()) > max {
                return Err(too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
    }
    if bytes.is_empty() && optional {
        return Ok(bytes);
    }
    let given = call.header("content-type").unwrap_or_default();
    let given = given.split(';').next().unwrap_or_default().trim();
    if !given.eq_ignore_ascii_case(media_type) {
        return Err(Failure::new(
            Code::UnsupportedMediaType,
            format!("send {media_type}"),
        ));
    }
    Ok(bytes)
}

/// The body as the fields of a JSON object; none when it may be left out and is.
pub async fn fields(call: &mut Call) -> Answer<Map<String, Value>> {
    let bytes = bytes(call, "application/json").await?;
    if bytes.is_empty()
        && call
            .route
            .and_then(|route| route.body)
            .is_some_and(|body| body.optional)
    {
        return Ok(Map::new());
    }
    Ok(parse(&bytes, bytes.len())?)
}

/// The body as a request of that type, whose fields are `known`.
pub async fn body<T: DeserializeOwned>(call: &mut Call, known: &[&str]) -> Answer<T> {
    let mut fields = fields(call).await?;
    fields.retain(|_, value| !value.is_null());
    let unknown = fields
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
        .take(20)
        .map(|name| {
            let shown: String = name.chars().take(60).collect();
            FieldError::new(
                if shown.is_empty() {
                    "\"\"".to_owned()
                } else {
                    shown
                },
                "unknown_field",
                "there is no such field here",
            )
            .hint(format!("fields: {}", known.join(", ")))
        });
    let mut errors: Vec<FieldError> = unknown.collect();
    // Types are told field by field: serde would stop at the first and not name it.
    for (name, value) in fields
        .iter()
        .filter(|(name, _)| known.contains(&name.as_str()))
    {
        let alone = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        if let Err(error) = serde_json::from_value::<T>(alone) {
            errors.push(FieldError::new(
                name.clone(),
                "wrong_type",
                error.to_string().chars().take(200).collect::<String>(),
            ));
        }
    }
    if !errors.is_empty() {
        return Err(Unread {
            code: Code::InvalidDocument,
            errors,
        }
        .into());
    }
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| Failure::field("$", "wrong_type", error.to_string()))
}

/// A text of a request, within its length and without control characters.
pub fn text(field: &str, text: &str, least: usize, most: usize) -> Answer<()> {
    let count = text.chars().count();
    if count < least || count > most {
        return Err(Failure::field(
            field,
            "length",
            format!("{count} characters, {least} to {most} are allowed"),
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(Failure::field(
            field,
            "control_character",
            "control characters are not allowed",
        ));
    }
    Ok(())
}
