//! One post from guard to result: one time limit over everything, redirects followed by hand.

use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;
use cronwright_protocol::target::{self, Policy, Target};
use cronwright_protocol::wire::headers as names;
use cronwright_protocol::wire::{Post, PostKind, Posted, parse_retry_after};

use super::thin::{Answer, Request};

/// Names and values.
pub type Headers = Vec<(String, String)>;

/// A post under way.
pub struct Trip {
    post: Post,
    at: Target,
    method: String,
    headers: Headers,
    followed: u8,
    started_at: Millis,
}

impl Trip {
    /// Ready to leave with its signature; what may not be called ends here.
    ///
    /// # Errors
    /// With the answer about the post.
    pub fn start(
        post: Post,
        policy: &Policy,
        signature: Headers,
        time: Millis,
    ) -> Result<Self, Posted> {
        match target::check(&post.url, policy) {
            Ok(at) => {
                let mut headers = own_headers(&post);
                headers.extend(signature);
                Ok(Self {
                    at,
                    method: post.method.clone(),
                    headers,
                    followed: 0,
                    started_at: time,
                    post,
                })
            }
            Err(why) => Err(failed(&post, time, blocked(why))),
        }
    }

    /// The request that is to leave now.
    pub fn request(&self, id: usize) -> Request<'_> {
        Request {
            id,
            url: self.at.as_str(),
            method: &self.method,
            headers: &self.headers,
            body: self.post.body.as_deref(),
            limit: self.post.timeout_ms.max(1),
            ..Request::default()
        }
    }

    /// Takes an answer in: the end, or none when another request follows.
    pub fn take(&mut self, answer: Answer, policy: &Policy) -> Option<Posted> {
        let redirect = self.post.kind == PostKind::Job
            && matches!(answer.status, Some(301 | 302 | 303 | 307 | 308));
        let Some(location) = answer.location.as_deref().filter(|_| redirect) else {
            return Some(self.finish(answer));
        };
        match self.follow(location, answer.status, policy) {
            Ok(()) => None,
            Err(why) => Some(Posted {
                status: answer.status,
                ms: answer.at.since(self.started_at),
                ..failed(&self.post, self.started_at, why)
            }),
        }
    }

    /// The answer about a post that we lost on the way.
    pub fn broke(&self, why: &str) -> Posted {
        failed(
            &self.post,
            self.started_at,
            (FetchFault::Internal, why.to_owned()),
        )
    }

    fn follow(
        &mut self,
        location: &str,
        status: Option<u16>,
        policy: &Policy,
    ) -> Result<(), (FetchFault, String)> {
        if self.followed >= self.post.redirects {
            return Err((
                FetchFault::Redirect,
                format!("more than {} redirects", self.post.redirects),
            ));
        }
        self.followed = self.followed.saturating_add(1);
        let next = target::redirect_target(&self.at, location, policy).map_err(blocked)?;
        self.at = step_on(&self.at, next, &mut self.headers);
        // As every client does: after these the next request only asks.
        if status == Some(303) || (matches!(status, Some(301 | 302)) && self.method == "POST") {
            "GET".clone_into(&mut self.method);
            self.post.body = None;
        }
        Ok(())
    }

    fn finish(&self, answer: Answer) -> Posted {
        let mut posted = Posted {
            id: self.post.id,
            started_at: self.started_at,
            ms: answer.at.since(self.started_at),
            status: answer.status,
            retry_after_ms: answer
                .retry_after
                .and_then(|text| parse_retry_after(&text, answer.at)),
            content_type: answer.content_type,
            body: answer.body,
            truncated: answer.truncated,
            ..Posted::default()
        };
        let detail = answer.detail.unwrap_or_default();
        // A callback's receiver has said yes: asking again would only make a duplicate.
        let taken = self.post.kind == PostKind::Callback
            && answer
                .status
                .is_some_and(|status| (200..300).contains(&status));
        posted.detail = match answer.status {
            _ if answer.fault.is_none() || taken => return posted,
            Some(_) => Some(format!("the response broke off: {detail}")),
            None => Some(detail),
        };
        posted.fault = answer.fault;
        posted
    }
}

/// A post that did not come to an answer.
pub fn failed(post: &Post, started_at: Millis, (fault, detail): (FetchFault, String)) -> Posted {
    Posted {
        id: post.id,
        started_at,
        fault: Some(fault),
        detail: Some(detail),
        ..Posted::default()
    }
}

fn blocked(why: target::Blocked) -> (FetchFault, String) {
    (FetchFault::BlockedTarget, format!("{why}. {}", why.hint()))
}

/// Follows a redirect. Across origins only what describes the body goes along: no credential, no
/// signature, no token.
fn step_on(at: &Target, next: target::Redirect, headers: &mut Headers) -> Target {
    if !target::same_origin(at, &next.target) {
        headers
            .retain(|(name, _)| matches!(name.as_str(), "accept" | "content-type" | "user-agent"));
    }
    next.target
}

fn own_headers(post: &Post) -> Headers {
    let mut headers = post.headers.clone();
    let missing = |name: &str, headers: &Headers| {
        !headers
            .iter()
            .any(|(given, _)| given.eq_ignore_ascii_case(name))
    };
    if post.body.is_some() && missing("content-type", &headers) {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    if missing("user-agent", &headers) {
        headers.push((
            "user-agent".to_owned(),
            concat!("Cronwright/", env!("CARGO_PKG_VERSION")).to_owned(),
        ));
    }
    if post.kind == PostKind::Job {
        headers.push((names::IDEMPOTENCY_KEY.to_owned(), post.run.clone()));
        headers.push((names::X_JOB_ID.to_owned(), post.job.clone()));
        headers.push((names::X_FENCE.to_owned(), post.fence.to_string()));
        headers.push((
            names::X_PLANNED_AT.to_owned(),
            post.planned_at.0.to_string(),
        ));
    }
    headers.push((names::X_SCHEDULE_ID.to_owned(), post.run.clone()));
    headers.push((names::X_ATTEMPT.to_owned(), post.attempt.to_string()));
    headers
}
