//! Everything that can go wrong, as problems. Nothing else maps an error to a status.
//!
//! What the caller did wrong is told in full. What failed on our side is logged under the request's id
//! and told in one sentence: no path, SQL or stack leaves.

use cronwright_core::ids::IdError;
use cronwright_protocol::document::Unread;
use cronwright_protocol::keys::{MasterSecret, MasterSecretError, SETTING};
use cronwright_protocol::problem::{Code, FieldError, Problem};
use worker::Env;

use crate::host::client::HostError;
use crate::host::message::Refusal;
use crate::store::StoreError;

/// What a handler gives.
pub type Answer<T> = Result<T, Failure>;

/// Why a request is not carried out.
#[derive(Debug)]
pub struct Failure {
    /// What is told.
    pub problem: Box<Problem>,
    /// Headers of the response, besides those of every problem.
    pub headers: Vec<(&'static str, String)>,
}

impl Failure {
    /// A problem of that code.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Problem::new(code, detail).into()
    }

    /// A failure of ours: the cause is logged, not told.
    pub fn logged(code: Code, detail: &str, cause: &dyn std::fmt::Display) -> Self {
        worker::console_error!(
            "{}",
            serde_json::json!({"event": "edge_failure", "code": code.as_str(), "cause": cause.to_string()})
        );
        Self::new(code, detail)
    }

    /// One field of the body is wrong.
    pub fn field(field: &str, code: &str, detail: impl Into<String>) -> Self {
        Problem::fields(
            Code::InvalidDocument,
            vec![FieldError::new(field, code, detail)],
        )
        .into()
    }

    /// One parameter of the query or one header is wrong.
    pub fn parameter(name: &str, detail: impl Into<String>) -> Self {
        Problem::fields(
            Code::InvalidParameter,
            vec![FieldError::new(name, "invalid", detail)],
        )
        .into()
    }

    /// The same with a header.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let mut headers = Vec::new();
        match problem.status {
            401 => headers.push(("www-authenticate", "Bearer realm=\"cronwright\"".to_owned())),
            503 => headers.push(("retry-after", "2".to_owned())),
            _ => {}
        }
        Self {
            problem: Box::new(problem),
            headers,
        }
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        Self::logged(
            Code::ObjectUnavailable,
            "the object that knows did not answer; what was asked may have happened, so ask before you repeat it",
            &error,
        )
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::logged(
            Code::DatabaseUnavailable,
            "the database did not answer; jobs keep running, and it may be asked again",
            &error,
        )
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let mut problem = Problem::new(Code::of_refusal(&refusal.code), refusal.detail);
        problem.run_id = refusal.run.map(|run| run.to_string());
        problem.revision = refusal.revision;
        problem.into()
    }
}

impl From<Unread> for Failure {
    fn from(unread: Unread) -> Self {
        Problem::fields(unread.code, unread.errors).into()
    }
}

/// An id in a path that cannot be one names nothing.
pub fn no_such(code: Code) -> impl FnOnce(IdError) -> Failure {
    move |error| Failure::new(code, error.to_string())
}

/// An answer of a kind that the question cannot have.
pub fn unexpected(what: &str) -> Failure {
    Failure::logged(
        Code::Internal,
        "an object gave an answer that does not fit the question",
        &what,
    )
}

/// The deployment's secret, or which setting is missing or bad.
pub fn master(env: &Env) -> Answer<MasterSecret> {
    let text = env
        .secret(SETTING)
        .map(|value| value.to_string())
        .unwrap_or_default();
    MasterSecret::parse(&text).map_err(|error| {
        let code = match error {
            MasterSecretError::Missing => Code::SettingMissing,
            MasterSecretError::TooShort { .. } | MasterSecretError::KnownBad => Code::SettingBad,
        };
        let mut problem = Problem::new(code, error.to_string());
        problem.setting = Some(SETTING.to_owned());
        problem.into()
    })
}
