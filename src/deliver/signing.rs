//! Signature headers of an outgoing request.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use cronwright_core::ids::{AppId, RunId};
use cronwright_core::time::{Millis, SECOND};
use cronwright_protocol::keys::{MasterSecret, app_secret, run_token};
use cronwright_protocol::sign::callback_headers;
use cronwright_protocol::wire::Post;
use cronwright_protocol::wire::headers::X_RUN_TOKEN;
use futures_util::future::{Either, select};
use worker::{Delay, Env};

use super::thin::nonce;
use crate::store;

/// How long the live versions of an app's secret are taken as known. A retired secret signs for so much
/// longer; receivers that no longer hold it see a signature that they do not know, and one that they do.
const KNOWN_FOR_MS: i64 = 15 * SECOND;

/// After D1 gave no answer, how soon it is asked again.
const ASK_AGAIN_MS: i64 = 5 * SECOND;

/// How long a request waits for D1 to say which versions are live.
const D1_LIMIT_MS: u64 = 1_500;

thread_local! {
    static VERSIONS: RefCell<BTreeMap<AppId, (Vec<u32>, Millis)>> = const { RefCell::new(BTreeMap::new()) };
}

/// Whether the request carries something that proves who is calling.
pub fn is_signed(post: &Post) -> bool {
    post.app.is_some() || post.accepts_later
}

/// The headers that say who is calling, signed over the body.
///
/// # Errors
/// When the request could not be verified by anybody: it does not leave then.
pub async fn headers(
    env: &Env,
    post: &Post,
    time: Millis,
) -> Result<Vec<(String, String)>, String> {
    let mut headers = Vec::new();
    if !is_signed(post) {
        return Ok(headers);
    }
    let body = post.body.as_deref().unwrap_or("");
    let text = env
        .secret("CRONWRIGHT_SECRET")
        .map_err(|_| "the setting CRONWRIGHT_SECRET is missing".to_owned())?
        .to_string();
    let master = MasterSecret::parse(&text).map_err(|error| error.to_string())?;
    if post.accepts_later {
        let run: RunId = post
            .run
            .parse()
            .map_err(|error: cronwright_core::ids::IdError| error.to_string())?;
        headers.push((X_RUN_TOKEN.to_owned(), run_token(&master, &run, post.fence)));
    }
    if let Some(app) = &post.app {
        let app: AppId = app
            .parse()
            .map_err(|error: cronwright_core::ids::IdError| error.to_string())?;
        let secrets: Vec<_> = live_versions(env, &app, &post.key_versions, time)
            .await
            .into_iter()
            .map(|version| app_secret(&master, &app, version))
            .collect();
        let signed = callback_headers(&app, &secrets, &post.run, time, &nonce(), body.as_bytes())
            .map_err(|error| error.to_string())?;
        headers.extend(
            signed
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
    }
    Ok(headers)
}

/// An answer of D1 that comes in time: requests wait for it, and their limits run.
async fn within<T, E>(asked: impl Future<Output = Result<T, E>>) -> Option<T> {
    let limit = Delay::from(Duration::from_millis(D1_LIMIT_MS));
    match select(pin!(asked), pin!(limit)).await {
        Either::Left((answer, _)) => answer.ok(),
        Either::Right(_) => None,
    }
}

/// The live versions of an app's secret, newest first. While D1 is away, the last that were known.
async fn live_versions(env: &Env, app: &AppId, given: &[u32], time: Millis) -> Vec<u32> {
    let known = VERSIONS.with_borrow(|known| known.get(app).cloned());
    if let Some((versions, until)) = &known
        && time < *until
    {
        return versions.clone();
    }
    let asked = match env.d1("DB") {
        Ok(db) => within(store::apps::get(&db, app)).await,
        Err(_) => None,
    };
    let (versions, until) = match asked {
        Some(Some(row)) => (row.live_versions(time), time.plus(KNOWN_FOR_MS)),
        // An app that was never registered signs with the first version of its secret.
        Some(None) => (vec![1], time.plus(KNOWN_FOR_MS)),
        None => {
            let last = known
                .map(|(versions, _)| versions)
                .or_else(|| (!given.is_empty()).then(|| given.to_vec()));
            (last.unwrap_or_else(|| vec![1]), time.plus(ASK_AGAIN_MS))
        }
    };
    VERSIONS.with_borrow_mut(|known| known.insert(app.clone(), (versions.clone(), until)));
    versions
}
