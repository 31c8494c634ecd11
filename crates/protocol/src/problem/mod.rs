//! Problems: the one shape in which the API says no (RFC 9457, `application/problem+json`).

mod code;

use serde::{Deserialize, Serialize};

pub use code::Code;

/// The media type of a [`Problem`].
pub const MEDIA_TYPE: &str = "application/problem+json";

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Names the kind of problem: `urn:cronwright:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem in words; the same for every problem of that code.
    pub title: String,
    /// The HTTP status, repeated.
    pub status: u16,
    /// Stable word for programs.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "job_not_found"))]
    pub code: Code,
    /// What happened this time, and what to do about it.
    pub detail: String,
    /// Everything that is wrong with the input, field by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// The setting that is missing or bad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// The run that is in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The revision that is current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// Names this request in the logs.
    #[serde(default)]
    pub request_id: String,
}

impl Problem {
    /// A problem of that code.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:cronwright:problem:{}", code.as_str()),
            title: code.title().to_owned(),
            status: code.status(),
            code,
            detail: detail.into(),
            errors: Vec::new(),
            setting: None,
            run_id: None,
            revision: None,
            request_id: String::new(),
        }
    }

    /// A problem with the input, field by field.
    #[must_use]
    pub fn fields(code: Code, errors: Vec<FieldError>) -> Self {
        let detail = match errors.as_slice() {
            [] => code.title().to_owned(),
            [only] => format!("{}: {}", only.field, only.detail),
            [first, rest @ ..] => {
                let more = rest.len();
                format!(
                    "{}: {} (and {more} more, see errors)",
                    first.field, first.detail
                )
            }
        };
        Self {
            errors,
            ..Self::new(code, detail)
        }
    }
}

/// One thing that is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FieldError {
    /// Path of the field, such as `retryDelays[1]` or `executor.url`; `$` is the document itself.
    pub field: String,
    /// Stable word for programs.
    pub code: String,
    /// What is wrong, in a sentence for people.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Where in the field's text: bytes, end exclusive. Given for cron texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<u32>>))]
    pub span: Option<(usize, usize)>,
}

impl FieldError {
    /// Something wrong with `field`.
    #[must_use]
    pub fn new(field: impl Into<String>, code: &str, detail: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            code: code.to_owned(),
            detail: detail.into(),
            hint: None,
            span: None,
        }
    }

    /// The same with advice; empty advice is none.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        self
    }

    /// The same with a place in the field's text.
    #[must_use]
    pub fn span(mut self, span: Option<(usize, usize)>) -> Self {
        self.span = span;
        self
    }
}
