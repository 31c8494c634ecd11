//! The one route table: what exists, who may use it, what it takes and what it answers.
//!
//! What is not in it does not exist. No `GET` changes anything.

mod access;
mod callbacks;
mod find;
mod jobs;
mod op;
mod pages;
mod runs;
mod system;

pub use find::{Found, Params, find};
pub use op::Op;

use super::role::Role;
use crate::problem::Code;

/// An HTTP method that some route takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are HTTP's own")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether it may change something.
    #[must_use]
    pub const fn is_unsafe(self) -> bool {
        !matches!(self, Self::Get)
    }
}

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Everyone.
    Anyone,
    /// A token or session of this role or a higher one.
    Role(Role),
    /// The callee of the run, by `X-Run-Token`, or an operator.
    Callee,
    /// A session; who has none is led to the sign-in page.
    Page,
}

/// A parameter of the query or a header.
#[derive(Clone, Copy, Debug)]
pub struct Param(
    /// Its name.
    pub &'static str,
    /// What it takes.
    pub Takes,
    /// What it is for.
    pub &'static str,
);

/// What a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// A text of at most so many characters.
    Text(usize),
    /// A whole number in a range.
    Int(i64, i64),
    /// One of a few words.
    Word(&'static [&'static str]),
}

/// A body.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Name of the schema.
    pub schema: &'static str,
    /// Most bytes.
    pub max: usize,
    /// Whether it may be left out.
    pub optional: bool,
}

/// An answer that is no problem.
#[derive(Clone, Copy, Debug)]
pub struct Reply(
    /// The status.
    pub u16,
    /// Name of the schema of its JSON, a media type for anything else, or nothing.
    pub &'static str,
    /// What it means.
    pub &'static str,
);

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

/// Bytes of a body that is no job document.
pub const MAX_BODY: usize = 1024 * 1024;

const VIEWER: Need = Need::Role(Role::Viewer);
const OPERATOR: Need = Need::Role(Role::Operator);
const ADMIN: Need = Need::Role(Role::Admin);

const CURSOR: Param = Param("cursor", Takes::Text(200), "Where the page begins: `nextCursor` of the page before.");
const LIMIT: Param = Param("limit", Takes::Int(1, 200), "Items on the page. Default 50.");

impl Route {
    const fn new(op: Op, method: Method, path: &'static str, need: Need, summary: &'static str) -> Self {
        Self { op, method, path, need, tag: "", summary, detail: "", query: &[], headers: &[], body: None, replies: &[], problems: &[] }
    }

    const fn get(op: Op, path: &'static str, need: Need, summary: &'static str) -> Self {
        Self::new(op, Method::Get, path, need, summary)
    }

    const fn post(op: Op, path: &'static str, need: Need, summary: &'static str) -> Self {
        Self::new(op, Method::Post, path, need, summary)
    }

    const fn tag(self, tag: &'static str) -> Self {
        Self { tag, ..self }
    }

    const fn detail(self, detail: &'static str) -> Self {
        Self { detail, ..self }
    }

    const fn query(self, query: &'static [Param]) -> Self {
        Self { query, ..self }
    }

    const fn headers(self, headers: &'static [Param]) -> Self {
        Self { headers, ..self }
    }

    const fn body(self, schema: &'static str, max: usize) -> Self {
        Self { body: Some(Body { schema, max, optional: false }), ..self }
    }

    const fn optional_body(self, schema: &'static str, max: usize) -> Self {
        Self { body: Some(Body { schema, max, optional: true }), ..self }
    }

    const fn replies(self, replies: &'static [Reply]) -> Self {
        Self { replies, ..self }
    }

    const fn problems(self, problems: &'static [Code]) -> Self {
        Self { problems, ..self }
    }

    /// Whether it belongs to the documented API.
    #[must_use]
    pub const fn is_documented(&self) -> bool {
        !self.tag.is_empty()
    }

    /// Names of the parameters in the path, in order.
    pub fn path_params(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Every problem it may answer with, each once, in the order of the table of codes.
    #[must_use]
    pub fn all_problems(&self) -> Vec<Code> {
        let mut codes = vec![Code::BadPath, Code::InvalidParameter, Code::Internal, Code::SettingMissing, Code::SettingBad];
        codes.extend(self.problems);
        if self.need != Need::Anyone {
            codes.extend([Code::TokenMissing, Code::TokenInvalid, Code::RoleMissing, Code::DatabaseUnavailable]);
            if self.method.is_unsafe() {
                codes.push(Code::CrossSite);
            }
        }
        if self.body.is_some() {
            codes.extend([Code::MalformedJson, Code::TooDeep, Code::TooLarge, Code::UnsupportedMediaType, Code::InvalidDocument]);
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

/// Every route.
pub fn all() -> impl Iterator<Item = &'static Route> {
    [jobs::ROUTES, runs::ROUTES, callbacks::ROUTES, access::ROUTES, system::ROUTES, pages::ROUTES].into_iter().flatten()
}
