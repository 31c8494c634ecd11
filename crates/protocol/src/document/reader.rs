//! Reads a JSON object field by field and collects everything that is wrong with it.

use serde_json::{Map, Value};

use super::suggest::nearest;
use crate::problem::FieldError;

/// Everything wrong with a document, in the order of its fields.
#[derive(Debug, Default)]
pub(super) struct Errors(pub Vec<FieldError>);

/// A document with a thousand unknown fields needs no thousand answers.
const MOST_ERRORS: usize = 50;

impl Errors {
    pub fn add(&mut self, error: FieldError) {
        if self.0.len() < MOST_ERRORS {
            self.0.push(error);
        }
    }

    /// Records `error` and gives nothing.
    pub fn none<T>(&mut self, error: FieldError) -> Option<T> {
        self.add(error);
        None
    }
}

/// One object of the document. Each `take` removes a field; [`Object::finish`] refuses what is left.
#[derive(Debug)]
pub(super) struct Object {
    /// Path of the object with a dot at its end, or nothing for the document itself.
    prefix: String,
    fields: Map<String, Value>,
    /// Every name that was asked for: what an unknown name may have meant.
    known: Vec<&'static str>,
}

impl Object {
    pub fn new(prefix: impl Into<String>, fields: Map<String, Value>) -> Self {
        Self {
            prefix: prefix.into(),
            fields,
            known: Vec::new(),
        }
    }

    /// The path of field `name`.
    pub fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Field `name`; `null` is the same as leaving it out.
    pub fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    /// The first of two spellings that is there. Both at once is an error.
    pub fn take_either(
        &mut self,
        name: &'static str,
        alias: &'static str,
        errors: &mut Errors,
    ) -> Option<(&'static str, Value)> {
        match (self.take(name), self.take(alias)) {
            (Some(_), Some(_)) => {
                let detail = format!("{name} and {alias} are two names of one field");
                errors.none(
                    FieldError::new(self.path(alias), "conflict", detail)
                        .hint(format!("leave out {alias}")),
                )
            }
            (Some(value), None) => Some((name, value)),
            (None, value) => value.map(|value| (alias, value)),
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    /// A text of `min..=max` characters without control characters.
    pub fn text(
        &mut self,
        name: &'static str,
        min: usize,
        max: usize,
        errors: &mut Errors,
    ) -> Option<String> {
        let value = self.take(name)?;
        text_of(&self.path(name), value, min, max, errors)
    }

    /// A whole number in `min..=max`.
    pub fn int(
        &mut self,
        name: &'static str,
        min: i64,
        max: i64,
        errors: &mut Errors,
    ) -> Option<i64> {
        let value = self.take(name)?;
        int_of(&self.path(name), &value, min, max, errors)
    }

    /// One of a few words, with what each of them means.
    pub fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&str, T)],
        errors: &mut Errors,
    ) -> Option<T> {
        let value = self.take(name)?;
        word_of(&self.path(name), &value, words, errors)
    }

    /// Refuses every field that nobody asked for.
    pub fn finish(mut self, errors: &mut Errors) {
        let left = std::mem::take(&mut self.fields);
        for (name, _) in left {
            // Paths go into answers and logs: a name of a megabyte does not.
            let short: String = name.chars().take(60).collect();
            let place = if short.is_empty() { "\"\"" } else { &short };
            let error = FieldError::new(
                self.path(place),
                "unknown_field",
                format!("there is no field {short:?} here"),
            );
            errors.add(match nearest(&name, &self.known) {
                Some(meant) => error.hint(format!("did you mean {meant}?")),
                None => error.hint(format!("fields: {}", self.known.join(", "))),
            });
        }
    }
}

/// A text of `min..=max` characters. Line breaks and tabs are allowed only in long texts.
pub(super) fn text_of(
    path: &str,
    value: Value,
    min: usize,
    max: usize,
    errors: &mut Errors,
) -> Option<String> {
    let Value::String(text) = value else {
        return errors.none(wrong_type(path, "a text", &value));
    };
    let count = text.chars().count();
    if count < min || count > max {
        let detail = format!("{count} characters, {min} to {max} are allowed");
        return errors.none(FieldError::new(path, "length", detail));
    }
    let long = max > 500;
    if text
        .chars()
        .any(|c| c.is_control() && !(long && matches!(c, '\n' | '\r' | '\t')))
    {
        return errors.none(FieldError::new(
            path,
            "control_character",
            "control characters are not allowed",
        ));
    }
    Some(text)
}

pub(super) fn int_of(
    path: &str,
    value: &Value,
    min: i64,
    max: i64,
    errors: &mut Errors,
) -> Option<i64> {
    let Some(number) = value.as_i64() else {
        return errors.none(wrong_type(path, "a whole number", value));
    };
    if (min..=max).contains(&number) {
        return Some(number);
    }
    errors.none(FieldError::new(
        path,
        "out_of_range",
        format!("{number} is not in {min} to {max}"),
    ))
}

pub(super) fn word_of<T: Copy>(
    path: &str,
    value: &Value,
    words: &[(&str, T)],
    errors: &mut Errors,
) -> Option<T> {
    let Some(found) = value.as_str() else {
        return errors.none(wrong_type(path, "a text", value));
    };
    if let Some((_, meaning)) = words
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(found))
    {
        return Some(*meaning);
    }
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let shown: String = found.chars().take(60).collect();
    let error = FieldError::new(
        path,
        "unknown_value",
        format!("{shown:?} is not one of {}", names.join(", ")),
    );
    errors.none(match nearest(found, &names) {
        Some(meant) => error.hint(format!("did you mean {meant}?")),
        None => error,
    })
}

/// A value of the wrong JSON type.
pub(super) fn wrong_type(path: &str, wanted: &str, found: &Value) -> FieldError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    FieldError::new(
        path,
        "wrong_type",
        format!("{found} stands where {wanted} is expected"),
    )
}
