//! What goes out: every response passes here and carries its headers.

use serde::Serialize;
use worker::{Headers, Response, Result};

use cronwright_protocol::problem::{Code, MEDIA_TYPE};

use super::call::Call;
use super::error::{Answer, Failure};

/// A response in the making.
#[derive(Debug)]
pub struct Reply {
    status: u16,
    content_type: &'static str,
    body: String,
    headers: Vec<(&'static str, String)>,
}

/// Pages may load their own styles and scripts, and nothing else.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// Anything that is no page loads nothing, should a browser show it.
const DATA_POLICY: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

const HTML: &str = "text/html; charset=utf-8";

impl Reply {
    /// JSON.
    pub fn json(status: u16, value: &impl Serialize) -> Answer<Self> {
        let body = serde_json::to_string(value).map_err(|error| {
            Failure::logged(Code::Internal, "the answer could not be written", &error)
        })?;
        Ok(Self {
            status,
            content_type: "application/json",
            body,
            headers: Vec::new(),
        })
    }

    /// A page.
    pub fn html(status: u16, body: String) -> Self {
        Self {
            status,
            content_type: HTML,
            body,
            headers: Vec::new(),
        }
    }

    /// A text of that media type.
    pub fn text(content_type: &'static str, body: impl Into<String>) -> Self {
        Self {
            status: 200,
            content_type,
            body: body.into(),
            headers: Vec::new(),
        }
    }

    /// A status alone.
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            content_type: "",
            body: String::new(),
            headers: Vec::new(),
        }
    }

    /// Elsewhere; a browser then asks with GET.
    pub fn see_other(location: impl Into<String>) -> Self {
        Self::empty(303).header("location", location)
    }

    /// The same with a header.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Makes the response.
pub fn finish(call: &Call, answer: Answer<Reply>) -> Result<Response> {
    let reply = answer.unwrap_or_else(|failure| problem(call, failure));
    let headers = Headers::new();
    common(&headers, reply.content_type == HTML)?;
    headers.set("x-request-id", &call.id)?;
    if !reply.content_type.is_empty() {
        headers.set("content-type", reply.content_type)?;
    }
    for (name, value) in &reply.headers {
        // A value that cannot be a header (it holds a line break) is left out, not a reason to fail.
        if headers.set(name, value).is_err() {
            worker::console_error!(
                "{}",
                serde_json::json!({"event": "bad_header", "name": name})
            );
        }
    }
    let without_body =
        reply.status == 204 || reply.status == 303 || call.request.inner().method() == "HEAD";
    let response = if without_body {
        Response::empty()?
    } else {
        Response::from_bytes(reply.body.into_bytes())?
    };
    Ok(response.with_status(reply.status).with_headers(headers))
}

fn common(headers: &Headers, page: bool) -> Result<()> {
    for (name, value) in [
        (
            "content-security-policy",
            if page { PAGE_POLICY } else { DATA_POLICY },
        ),
        ("x-content-type-options", "nosniff"),
        // Not `no-referrer`: with it browsers send `Origin: null` with our own forms, and the check of
        // the origin refuses them. Other sites learn nothing either way.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("strict-transport-security", "max-age=31536000"),
        ("cache-control", "no-store"),
    ] {
        headers.set(name, value)?;
    }
    Ok(())
}

fn problem(call: &Call, failure: Failure) -> Reply {
    let Failure {
        mut problem,
        headers,
    } = failure;
    problem.request_id.clone_from(&call.id);
    let wants_page = call.route.is_some_and(|route| !route.is_documented())
        && call
            .header("accept")
            .is_some_and(|accept| accept.contains("text/html"));
    if wants_page {
        return super::pages::problem(call, &problem);
    }
    let body = serde_json::to_string(&problem).unwrap_or_else(|_| "{}".to_owned());
    Reply {
        status: problem.status,
        content_type: MEDIA_TYPE,
        body,
        headers,
    }
}
