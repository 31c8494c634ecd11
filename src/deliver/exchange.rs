//! One post from guard to result: one time limit over everything, redirects followed by hand.

use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;
use cronwright_protocol::target::{self, Policy, Target};
use cronwright_protocol::wire::headers as names;
use cronwright_protocol::wire::{Post, PostKind, Posted, parse_retry_after};
use worker::Env;

use super::{signing, thin};

type Headers = Vec<(String, String)>;

/// Carries out one post within `signal`. Whatever goes wrong is in the answer.
pub async fn carry_out(
    post: Post,
    policy: Policy,
    env: Env,
    signal: web_sys::AbortSignal,
) -> Posted {
    let started_at = time();
    let mut posted = Posted {
        id: post.id,
        started_at,
        ..Posted::default()
    };
    if let Err((fault, detail)) = attempt(&post, &policy, &env, &signal, &mut posted).await {
        posted.fault = Some(fault);
        posted.detail = Some(detail);
    }
    posted.ms = time().since(started_at);
    posted
}

async fn attempt(
    post: &Post,
    policy: &Policy,
    env: &Env,
    signal: &web_sys::AbortSignal,
    posted: &mut Posted,
) -> Result<(), (FetchFault, String)> {
    let blocked = |blocked: target::Blocked| {
        (
            FetchFault::BlockedTarget,
            format!("{blocked}. {}", blocked.hint()),
        )
    };
    let mut at = target::check(&post.url, policy).map_err(blocked)?;
    let text = post.body.as_deref().unwrap_or("");
    let signed = signing::headers(env, post, text, time())
        .await
        .map_err(|why| (FetchFault::Internal, why))?;
    let mut headers = own_headers(post);
    headers.extend(signed);
    let mut method = post.method.clone();
    let mut payload = post.body.as_deref();
    let mut followed = 0_u8;
    loop {
        let answer = thin::send(at.as_str(), &method, &headers, payload, signal).await;
        let redirect = post.kind == PostKind::Job
            && matches!(answer.status, Some(301 | 302 | 303 | 307 | 308));
        let Some(location) = answer.location.clone().filter(|_| redirect) else {
            return finish(post, answer, posted);
        };
        posted.status = answer.status;
        if followed >= post.redirects {
            return Err((
                FetchFault::Redirect,
                format!("more than {} redirects", post.redirects),
            ));
        }
        followed = followed.saturating_add(1);
        let next = target::redirect_target(&at, &location, policy).map_err(blocked)?;
        at = step_on(&at, next, &mut headers);
        // As every client does: after these the next request only asks.
        if answer.status == Some(303)
            || (matches!(answer.status, Some(301 | 302)) && method == "POST")
        {
            "GET".clone_into(&mut method);
            payload = None;
        }
    }
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

fn finish(
    post: &Post,
    answer: thin::Answer,
    posted: &mut Posted,
) -> Result<(), (FetchFault, String)> {
    posted.status = answer.status;
    posted.retry_after_ms = answer
        .retry_after
        .and_then(|text| parse_retry_after(&text, time()));
    posted.content_type = answer.content_type;
    posted.body = answer.body;
    posted.truncated = answer.truncated;
    let detail = answer.detail.unwrap_or_default();
    match (answer.fault, answer.status) {
        (None, _) => Ok(()),
        // The receiver has said yes: asking again would only make a duplicate.
        (Some(_), Some(status))
            if post.kind == PostKind::Callback && (200..300).contains(&status) =>
        {
            Ok(())
        }
        (Some(fault), Some(_)) => Err((fault, format!("the response broke off: {detail}"))),
        (Some(fault), None) => Err((fault, detail)),
    }
}

fn time() -> Millis {
    Millis(i64::try_from(worker::Date::now().as_millis()).unwrap_or(i64::MAX))
}
