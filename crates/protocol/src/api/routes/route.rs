//! What a route is.

use super::Op;
use super::kinds::{Body, Method, Need, Param, Reply};
use crate::problem::Code;

/// A route.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// What it does.
    pub op: Op,
    /// By which method.
    pub method: Method,
    /// Where; a segment in braces is a parameter.
    pub path: &'static str,
    /// Who may.
    pub need: Need,
    /// Under which heading it is documented; pages have none.
    pub tag: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// More about it.
    pub detail: &'static str,
    /// Parameters of the query. Others are refused.
    pub query: &'static [Param],
    /// Headers that mean something.
    pub headers: &'static [Param],
    /// The body.
    pub body: Option<Body>,
    /// Answers that are no problem.
    pub replies: &'static [Reply],
    /// Problems of its own, besides those of every route like it.
    pub problems: &'static [Code],
}

impl Route {
    pub(super) const fn new(
        op: Op,
        method: Method,
        path: &'static str,
        need: Need,
        summary: &'static str,
    ) -> Self {
        Self {
            op,
            method,
            path,
            need,
            tag: "",
            summary,
            detail: "",
            query: &[],
            headers: &[],
            body: None,
            replies: &[],
            problems: &[],
        }
    }

    pub(super) const fn get(op: Op, path: &'static str, need: Need, summary: &'static str) -> Self {
        Self::new(op, Method::Get, path, need, summary)
    }

    pub(super) const fn post(
        op: Op,
        path: &'static str,
        need: Need,
        summary: &'static str,
    ) -> Self {
        Self::new(op, Method::Post, path, need, summary)
    }

    pub(super) const fn tag(self, tag: &'static str) -> Self {
        Self { tag, ..self }
    }

    pub(super) const fn detail(self, detail: &'static str) -> Self {
        Self { detail, ..self }
    }

    pub(super) const fn query(self, query: &'static [Param]) -> Self {
        Self { query, ..self }
    }

    pub(super) const fn headers(self, headers: &'static [Param]) -> Self {
        Self { headers, ..self }
    }

    pub(super) const fn body(self, schema: &'static str, max: usize) -> Self {
        Self {
            body: Some(Body {
                schema,
                max,
                optional: false,
            }),
            ..self
        }
    }

    pub(super) const fn optional_body(self, schema: &'static str, max: usize) -> Self {
        Self {
            body: Some(Body {
                schema,
                max,
                optional: true,
            }),
            ..self
        }
    }

    pub(super) const fn replies(self, replies: &'static [Reply]) -> Self {
        Self { replies, ..self }
    }

    pub(super) const fn problems(self, problems: &'static [Code]) -> Self {
        Self { problems, ..self }
    }

    /// Whether it belongs to the documented API.
    #[must_use]
    pub const fn is_documented(&self) -> bool {
        !self.tag.is_empty()
    }

    /// Names of the parameters in the path, in order.
    pub fn path_params(&self) -> impl Iterator<Item = &'static str> {
        self.path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Every problem it may answer with, each once, in the order of the table of codes.
    #[must_use]
    pub fn all_problems(&self) -> Vec<Code> {
        let mut codes = vec![
            Code::BadPath,
            Code::InvalidParameter,
            Code::Internal,
            Code::SettingMissing,
            Code::SettingBad,
        ];
        codes.extend(self.problems);
        if self.need != Need::Anyone {
            codes.extend([
                Code::TokenMissing,
                Code::TokenInvalid,
                Code::RoleMissing,
                Code::DatabaseUnavailable,
            ]);
            if self.method.is_unsafe() {
                codes.push(Code::CrossSite);
            }
        }
        if self.body.is_some() {
            codes.extend([
                Code::MalformedJson,
                Code::TooDeep,
                Code::TooLarge,
                Code::UnsupportedMediaType,
                Code::InvalidDocument,
            ]);
        }
        for name in self.path_params() {
            match name {
                "jobId" => codes.extend([Code::JobNotFound, Code::ObjectUnavailable]),
                "scheduleId" => codes.extend([Code::RunNotFound, Code::ObjectUnavailable]),
                "endpointId" => codes.extend([Code::EndpointNotFound, Code::ObjectUnavailable]),
                "appId" => codes.push(Code::AppNotFound),
                "tokenId" => codes.push(Code::TokenNotFound),
                _ => codes.push(Code::NotFound),
            }
        }
        codes.sort_unstable();
        codes.dedup();
        codes
    }
}
