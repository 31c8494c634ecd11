//! One post from guard to result: one time limit over everything, redirects followed by hand.

use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;
use cronwright_protocol::target::{self, Policy, Target};
use cronwright_protocol::wire::headers as names;
use cronwright_protocol::wire::{Post, PostKind, Posted, parse_retry_after};
use worker::Env;

use super::{body, signing, thin};

type Headers = Vec<(String, String)>;

/// Carries out one post. Whatever goes wrong is in the answer.
pub async fn carry_out(post: Post, policy: Policy, env: Env) -> Posted {
    let started_at = time();
    let mut posted = Posted { id: post.id, started_at, ..Posted::default() };
    if let Err((fault, detail)) = attempt(&post, &policy, &env, &mut posted).await {
        posted.fault = Some(fault);
        posted.detail = Some(detail);
    }
    posted.ms = time().since(started_at);
    posted
}

async fn attempt(post: &Post, policy: &Policy, env: &Env, posted: &mut Posted) -> Result<(), (FetchFault, String)> {
    let blocked = |blocked: target::Blocked| (FetchFault::BlockedTarget, format!("{blocked}. {}", blocked.hint()));
    let mut at = target::check(&post.url, policy).map_err(blocked)?;
    let text = post.body.as_deref().unwrap_or("");
    let signed = signing::headers(env, post, text, time()).await.map_err(|why| (FetchFault::Internal, why))?;
    let mut headers = own_headers(post);
    headers.extend(signed);
    let mut method = post.method.clone();
    let mut payload = post.body.as_deref();
    let signal = thin::deadline(post.timeout_ms);
    let mut followed = 0_u8;
    loop {
        let response = thin::send(at.as_str(), &method, &headers, payload, &signal).await?;
        let status = response.status();
        let location = response.headers().get("location").ok().flatten();
        let Some(location) = location.filter(|_| post.kind == PostKind::Job && matches!(status, 301 | 302 | 303 | 307 | 308)) else {
            return finish(post, &response, posted).await;
        };
        posted.status = Some(status);
        if followed >= post.redirects {
            return Err((FetchFault::Redirect, format!("more than {} redirects", post.redirects)));
        }
        followed = followed.saturating_add(1);
        let next = target::redirect_target(&at, &location, policy).map_err(blocked)?;
        at = step_on(&at, next, &mut headers);
        // As every client does: after these the next request only asks.
        if status == 303 || (matches!(status, 301 | 302) && method == "POST") {
            "GET".clone_into(&mut method);
            payload = None;
        }
    }
}

/// Follows a redirect. Across origins only what describes the body goes along: no credential, no
/// signature, no token.
fn step_on(at: &Target, next: target::Redirect, headers: &mut Headers) -> Target {
    if !target::same_origin(at, &next.target) {
        headers.retain(|(name, _)| matches!(name.as_str(), "accept" | "content-type" | "user-agent"));
    }
    next.target
}

fn own_headers(post: &Post) -> Headers {
    let mut headers = post.headers.clone();
    let missing = |name: &str, headers: &Headers| !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    if post.body.is_some() && missing("content-type", &headers) {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    if missing("user-agent", &headers) {
        headers.push(("user-agent".to_owned(), concat!("Cronwright/", env!("CARGO_PKG_VERSION")).to_owned()));
    }
    if post.kind == PostKind::Job {
        headers.push((names::IDEMPOTENCY_KEY.to_owned(), post.run.clone()));
        headers.push((names::X_JOB_ID.to_owned(), post.job.clone()));
        headers.push((names::X_FENCE.to_owned(), post.fence.to_string()));
        headers.push((names::X_PLANNED_AT.to_owned(), post.planned_at.0.to_string()));
    }
    headers.push((names::X_SCHEDULE_ID.to_owned(), post.run.clone()));
    headers.push((names::X_ATTEMPT.to_owned(), post.attempt.to_string()));
    headers
}

async fn finish(post: &Post, response: &web_sys::Response, posted: &mut Posted) -> Result<(), (FetchFault, String)> {
    let status = response.status();
    posted.status = Some(status);
    posted.retry_after_ms = response.headers().get("retry-after").ok().flatten().and_then(|text| parse_retry_after(&text, time()));
    posted.content_type = response.headers().get("content-type").ok().flatten();
    let read = body::read(response).await;
    posted.body = read.text;
    posted.truncated = read.truncated;
    match read.fault {
        // The receiver has said yes: asking again would only make a duplicate.
        Some(_) if post.kind == PostKind::Callback && (200..300).contains(&status) => Ok(()),
        Some((fault, detail)) => Err((fault, format!("the response broke off: {detail}"))),
        None => Ok(()),
    }
}

fn time() -> Millis {
    Millis(i64::try_from(worker::Date::now().as_millis()).unwrap_or(i64::MAX))
}
