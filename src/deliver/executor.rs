//! The stateless executor: carries out a batch of posts beside each other and answers with a line for
//! each as it ends. Reached through the service binding only.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use cronwright_protocol::target::Policy;
use cronwright_protocol::wire::{PostBatch, Posted};
use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, Stream, StreamExt};
use worker::{Delay, Env, Request, Response};

use super::{exchange, thin};

/// Answers that end at the same time leave in one piece.
const LINES: usize = 16;

/// How long ends are held back so that a batch can be answered whole: a stream costs more than the posts.
const PATIENCE_MS: u64 = 150;

/// Header of an answer that holds all ends.
pub const WHOLE: &str = "x-whole";

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
    // They leave together, so those with one limit share one timer.
    let mut timers: BTreeMap<i64, web_sys::AbortSignal> = BTreeMap::new();
    let posts: FuturesUnordered<_> = batch
        .posts
        .into_iter()
        .map(|post| {
            let signal = timers
                .entry(post.timeout_ms)
                .or_insert_with(|| thin::deadline(post.timeout_ms))
                .clone();
            exchange::carry_out(post, policy.clone(), env.clone(), signal)
        })
        .collect();
    answer(posts).await
}

/// Most batches end within a moment and are answered whole; of a slow one, each end is told as it comes.
async fn answer(
    mut posts: impl Stream<Item = Posted> + Unpin + 'static,
) -> worker::Result<Response> {
    let mut text = String::new();
    let mut patience = Delay::from(Duration::from_millis(PATIENCE_MS));
    loop {
        match select(posts.next(), &mut patience).await {
            Either::Left((Some(posted), _)) => text.push_str(&line(&posted)),
            Either::Left((None, _)) => {
                let response = Response::ok(text)?;
                response.headers().set(WHOLE, "1")?;
                return Ok(response);
            }
            Either::Right(_) => break,
        }
    }
    let rest = posts
        .ready_chunks(LINES)
        .map(|ended| ended.iter().map(line).collect::<String>());
    let lines = futures_util::stream::once(std::future::ready(text))
        .filter(|text| std::future::ready(!text.is_empty()))
        .chain(rest);
    Response::from_stream(lines.map(|text| Ok::<Vec<u8>, worker::Error>(text.into_bytes())))
}

fn line(posted: &Posted) -> String {
    posted.to_line().unwrap_or_default()
}

/// What may be called: the same for every request of a deployment.
fn policy(env: &Env) -> Policy {
    POLICY.with_borrow_mut(|known| known.get_or_insert_with(|| policy_of(env)).clone())
}

fn policy_of(env: &Env) -> Policy {
    let var = |name: &str| {
        env.var(name)
            .map(|value| value.to_string())
            .unwrap_or_default()
    };
    Policy::of_settings(&var("OWN_HOSTS"), &var("ALLOW_LOOPBACK"))
}
