//! Who asks, and whether they may. Called from inside the match, never around it.

use std::cell::RefCell;
use std::collections::HashMap;

use cronwright_core::ids::JobId;
use cronwright_core::time::{HOUR, MINUTE, Millis, SECOND};
use cronwright_protocol::api::role::{Reach, Role};
use cronwright_protocol::api::routes::{Need, Route};
use cronwright_protocol::keys::{Token, TokenKind, token_hash};
use cronwright_protocol::problem::Code;
use cronwright_protocol::wire::headers::X_RUN_TOKEN;

use super::call::{Call, Caller};
use super::error::{Answer, Failure};
use super::session;
use crate::store;
use crate::store::tokens::TokenRow;

/// How long a token that was looked up is taken as known: a revoked one ends everywhere within this.
const KNOWN_FOR_MS: i64 = 30 * SECOND;
/// While the database is away, how long.
const KNOWN_AT_MOST_MS: i64 = MINUTE;
/// Tokens kept per isolate.
const MOST_KNOWN: usize = 1_000;

thread_local! {
    /// By hash, so that a token's text is in no memory that outlives its request.
    static KNOWN: RefCell<HashMap<String, (TokenRow, Millis)>> = RefCell::new(HashMap::new());
}

/// Who was let in.
pub enum Admitted {
    /// Somebody who may.
    Caller(Caller),
    /// A browser without a session, on its way to a page.
    SignInFirst,
}

/// Finds out who asks and whether the route is open to them.
pub async fn caller(call: &Call, route: &Route) -> Answer<Admitted> {
    let role = match route.need {
        Need::Anyone => return Ok(Admitted::Caller(Caller::nobody())),
        // The handler checks it against the run and its fence.
        Need::Callee if call.header(X_RUN_TOKEN).is_some() => {
            return Ok(Admitted::Caller(Caller::nobody()));
        }
        Need::Callee => Role::Operator,
        Need::Page => {
            return Ok(session::find(call)
                .await?
                .map_or(Admitted::SignInFirst, |row| {
                    Admitted::Caller(Caller::of(&row.token))
                }));
        }
        Need::Role(role) => role,
    };
    let token = if let Some(header) = call.header("authorization") {
        by_header(call, &header).await?
    } else {
        by_session(call, route).await?
    };
    let caller = Caller::of(&token);
    if caller.role < role {
        return Err(Failure::new(
            Code::RoleMissing,
            format!(
                "this needs the role {}; the token {} has {}",
                role.as_str(),
                caller.name,
                caller.role.as_str()
            ),
        ));
    }
    if !caller.reach.is_all() && !is_about_jobs(route) {
        return Err(Failure::new(
            Code::RoleMissing,
            "a token that is limited to jobs cannot do this",
        ));
    }
    if let Ok(job) = call.params.get("jobId").parse::<JobId>()
        && !caller.reach.holds(&job)
    {
        return Err(no_job(&job));
    }
    note_use(call, &token);
    Ok(Admitted::Caller(caller))
}

/// The answer about a job that does not exist, and about one that is none of the caller's business.
pub fn no_job(job: &JobId) -> Failure {
    Failure::new(Code::JobNotFound, format!("there is no job {job}"))
}

/// Routes that a token limited to jobs may use at all; which jobs it sees there is checked where they are known.
fn is_about_jobs(route: &Route) -> bool {
    matches!(route.tag, "Jobs" | "Runs" | "Reports")
}

async fn by_header(call: &Call, header: &str) -> Answer<TokenRow> {
    let invalid = || {
        Failure::new(
            Code::TokenInvalid,
            "the token is unknown, expired or revoked",
        )
    };
    let (scheme, text) = header.split_once(' ').ok_or_else(invalid)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Failure::new(
            Code::TokenInvalid,
            "send Authorization: Bearer and an API token",
        ));
    }
    let text = text.trim();
    let token =
        Token::parse(text).map_err(|error| Failure::new(Code::TokenInvalid, error.to_string()))?;
    if token.kind() != TokenKind::Api {
        return Err(invalid());
    }
    let row = look_up(call, &token_hash(text))
        .await?
        .ok_or_else(invalid)?;
    if row.is_live(call.now) {
        Ok(row)
    } else {
        Err(invalid())
    }
}

async fn by_session(call: &Call, route: &Route) -> Answer<TokenRow> {
    let Some(row) = session::find(call).await? else {
        return Err(Failure::new(
            Code::TokenMissing,
            "send Authorization: Bearer and an API token",
        ));
    };
    // The browser sends the cookie by itself: only our own pages may make it change something.
    if route.method.is_unsafe() && !session::is_same_origin(call, true) {
        return Err(Failure::new(
            Code::CrossSite,
            "a session changes things only from its own pages",
        ));
    }
    Ok(row.token)
}

/// The token of that hash, from memory if it was looked up within [`KNOWN_FOR_MS`].
async fn look_up(call: &Call, hash: &str) -> Answer<Option<TokenRow>> {
    let known = KNOWN.with_borrow(|known| known.get(hash).cloned());
    if let Some((row, at)) = &known
        && call.now.since(*at) < KNOWN_FOR_MS
    {
        return Ok(Some(row.clone()));
    }
    match store::tokens::by_hash(&call.db()?, hash).await {
        Ok(Some(row)) => {
            remember(hash, row.clone(), call.now);
            Ok(Some(row))
        }
        Ok(None) => {
            KNOWN.with_borrow_mut(|known| known.remove(hash));
            Ok(None)
        }
        Err(error) => match known {
            Some((row, at)) if call.now.since(at) < KNOWN_AT_MOST_MS => Ok(Some(row)),
            _ => Err(error.into()),
        },
    }
}

fn remember(hash: &str, row: TokenRow, at: Millis) {
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(hash.to_owned(), (row, at));
    });
}

/// Forgets every token, after one was revoked.
pub fn forget() {
    KNOWN.with_borrow_mut(HashMap::clear);
}

/// Notes that a token was used, at most once an hour, after the response.
fn note_use(call: &Call, token: &TokenRow) {
    if token
        .last_used_at
        .is_some_and(|last| call.now.since(last) < HOUR)
    {
        return;
    }
    let (id, now) = (token.id.clone(), call.now);
    KNOWN.with_borrow_mut(|known| {
        known
            .values_mut()
            .filter(|(row, _)| row.id == id)
            .for_each(|(row, _)| row.last_used_at = Some(now));
    });
    if let Ok(db) = call.db() {
        call.context.wait_until(async move {
            if let Err(error) = store::tokens::touch(&db, &id, now).await {
                worker::console_warn!(
                    "{}",
                    serde_json::json!({"event": "token_touch_failed", "cause": error.to_string()})
                );
            }
        });
    }
}

impl Caller {
    /// The holder of a token.
    pub fn of(token: &TokenRow) -> Self {
        let role = match token.role {
            store::tokens::Role::Viewer => Role::Viewer,
            store::tokens::Role::Operator => Role::Operator,
            store::tokens::Role::Admin => Role::Admin,
        };
        let reach = token.jobs.clone().map_or(Reach::All, Reach::Jobs);
        Self {
            name: token.name.clone(),
            role,
            reach,
        }
    }
}
