//! The stateless executor: carries out a batch of posts beside each other and answers with a line for
//! each as it ends. Reached through the service binding only.

use std::cell::RefCell;

use cronwright_protocol::target::Policy;
use cronwright_protocol::wire::{PostBatch, Posted};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use worker::{Env, Request, Response};

use super::exchange;

/// Answers that end at the same time leave in one piece.
const LINES: usize = 16;

thread_local! {
    static POLICY: RefCell<Option<Policy>> = const { RefCell::new(None) };
}

/// Carries out a batch.
///
/// # Errors
/// When the request is no batch.
pub async fn handle(mut request: Request, env: Env) -> worker::Result<Response> {
    let text = request.text().await?;
    let batch = match PostBatch::from_text(&text) {
        Ok(batch) => batch,
        Err(error) => return Response::error(error.to_string(), 400),
    };
    let policy = policy(&env);
    let posts: FuturesUnordered<_> = batch.posts.into_iter().map(|post| exchange::carry_out(post, policy.clone(), env.clone())).collect();
    let lines = posts.ready_chunks(LINES).map(|ended| {
        let mut text = String::new();
        for posted in ended {
            text.push_str(&line(&posted));
        }
        Ok::<Vec<u8>, worker::Error>(text.into_bytes())
    });
    Response::from_stream(lines)
}

fn line(posted: &Posted) -> String {
    posted.to_line().unwrap_or_default()
}

/// What may be called: the same for every request of a deployment.
fn policy(env: &Env) -> Policy {
    POLICY.with_borrow_mut(|known| known.get_or_insert_with(|| policy_of(env)).clone())
}

/// The policy of a deployment: `OWN_HOSTS` names its own hosts, separated by commas or spaces;
/// `ALLOW_LOOPBACK` is set by the local run alone.
pub fn policy_of(env: &Env) -> Policy {
    let own = env.var("OWN_HOSTS").map(|value| value.to_string()).unwrap_or_default();
    Policy {
        own_hosts: own.split([',', ' ']).filter(|host| !host.is_empty()).map(str::to_lowercase).collect(),
        allow_loopback: env.var("ALLOW_LOOPBACK").is_ok_and(|value| value.to_string() == "1"),
    }
}
