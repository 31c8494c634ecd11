//! Sessions of browsers: sign in, sign out, and who is signed in.

use cronwright_core::time::{DAY, HOUR};
use cronwright_protocol::api::path;
use cronwright_protocol::codes::{self, CodeKind};
use cronwright_protocol::keys::{Token, TokenKind, token_hash};
use cronwright_protocol::problem::Code;

use super::call::{Call, random_bytes};
use super::error::{Answer, Failure};
use super::limits;
use super::pages;
use super::respond::Reply;
use crate::store;
use crate::store::sessions::SessionRow;
use crate::store::tokens::{Role, TokenRow};
use crate::ui;

/// The prefix ties the cookie to this host, to https and to `/`.
const COOKIE: &str = "__Host-cronwright";
/// An unused session ends after this.
const IDLE_MS: i64 = 12 * HOUR;
/// Any session ends after this.
const LONGEST_MS: i64 = 7 * DAY;

/// The live session of the request, if it has one.
pub async fn find(call: &Call) -> Answer<Option<SessionRow>> {
    let Some(text) = cookie(call) else {
        return Ok(None);
    };
    if Token::parse(&text).is_ok_and(|token| token.kind() == TokenKind::Session) {
        let hash = token_hash(&text);
        let row = store::sessions::find(&call.db()?, &hash)
            .await?
            .filter(|row| row.is_live(call.now, IDLE_MS));
        if let Some(row) = &row
            && call.now.since(row.seen_at) > 10 * cronwright_core::time::MINUTE
            && let Ok(db) = call.db()
        {
            let now = call.now;
            call.context
                .wait_until(async move { drop(store::sessions::touch(&db, &hash, now).await) });
        }
        return Ok(row);
    }
    Ok(None)
}

fn cookie(call: &Call) -> Option<String> {
    let header = call.header("cookie")?;
    let pairs = header
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    pairs
        .filter(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value.to_owned())
        .next()
}

/// Whether a request comes from our own pages. Clients that are no browsers send neither header;
/// `required` says whether they pass.
pub fn is_same_origin(call: &Call, required: bool) -> bool {
    let own = call
        .url
        .as_ref()
        .map(|url| url.origin().ascii_serialization());
    let origin = call.header("origin");
    let site = call.header("sec-fetch-site");
    if site
        .as_deref()
        .is_some_and(|site| site != "same-origin" && site != "none")
    {
        return false;
    }
    match origin {
        Some(origin) => Some(origin) == own,
        None => !required || site.is_some(),
    }
}

/// Leads a browser without a session to the sign-in page; programs get the problem.
pub fn to_sign_in(call: &Call) -> Reply {
    let path = call.request.path();
    if path == "/" {
        Reply::see_other("/sign-in")
    } else {
        Reply::see_other(format!("/sign-in?next={path}"))
    }
}

/// `GET /sign-in`.
pub async fn page(call: &Call) -> Answer<Reply> {
    Ok(render(call, 200, None).await)
}

async fn render(call: &Call, status: u16, problem: Option<String>) -> Reply {
    let done = match call.db() {
        Ok(db) => store::setup::is_done(&db).await.unwrap_or(true),
        Err(_) => true,
    };
    let page = ui::sign_in::SignIn {
        frame: pages::frame(call, None),
        problem,
        next: next(call.param("next").unwrap_or_default()),
        code: call.param("code").map(str::to_owned),
        setup_href: (!done).then(|| "/api".to_owned()),
    };
    Reply::html(status, ui::sign_in::render(&page))
}

/// Where to go after signing in: a path of this deployment, nothing else.
fn next(text: &str) -> Option<String> {
    (!text.is_empty() && path::check(text).is_ok()).then(|| text.to_owned())
}

/// `POST /sign-in`: an API token, or a sign-in code of the deployer.
pub async fn sign_in(call: &mut Call) -> Answer<Reply> {
    if !is_same_origin(call, false) {
        return Err(Failure::new(
            Code::CrossSite,
            "sign in on the page of this deployment",
        ));
    }
    let bytes = limits::bytes(call, "application/x-www-form-urlencoded").await?;
    let fields = form(&bytes);
    let field = |name: &str| {
        fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.trim().to_owned())
            .unwrap_or_default()
    };
    let secret = field("token");
    let row = if Token::parse(&secret).is_ok() {
        by_token(call, &secret).await?
    } else {
        by_code(call, &secret).await?
    };
    let Some(row) = row else {
        let zh = pages::lang(call) == ui_zh();
        let text = if zh {
            "令牌或登录码无效、已使用或已过期。"
        } else {
            "The token or code is wrong, used, expired or revoked."
        };
        return Ok(render(call, 401, Some(text.to_owned())).await);
    };
    let text = Token::mint(TokenKind::Session, random_bytes())
        .text()
        .to_owned();
    let ends = row.expires_at.map_or(call.now.plus(LONGEST_MS), |end| {
        end.min(call.now.plus(LONGEST_MS))
    });
    store::sessions::create(&call.db()?, &token_hash(&text), &row.id, call.now, ends).await?;
    call.caller = super::call::Caller::of(&row);
    super::audit::note(call, "signIn", &row.id, serde_json::json!({})).await;
    let seconds = ends.since(call.now) / 1_000;
    let cookie =
        format!("{COOKIE}={text}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={seconds}");
    Ok(
        Reply::see_other(next(&field("next")).unwrap_or_else(|| "/".to_owned()))
            .header("set-cookie", cookie),
    )
}

fn ui_zh() -> ui::Lang {
    ui::Lang::Zh
}

/// The pairs of a form.
fn form(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    // The parser of queries is the parser of forms.
    let url = worker::Url::parse(&format!("https://form/?{text}"));
    url.map(|url| {
        url.query_pairs()
            .take(10)
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect()
    })
    .unwrap_or_default()
}

async fn by_token(call: &Call, text: &str) -> Answer<Option<TokenRow>> {
    let row = store::tokens::by_hash(&call.db()?, &token_hash(text)).await?;
    Ok(row.filter(|row| row.is_live(call.now)))
}

/// A code is good once: the token it makes has the code's digest as its id, which is unique. That token
/// has no text, so only its session can be used, and it ends with the day.
async fn by_code(call: &Call, code: &str) -> Answer<Option<TokenRow>> {
    if codes::verify(&call.master()?, CodeKind::SignIn, code, call.now).is_err() {
        return Ok(None);
    }
    let digest = token_hash(code.trim());
    let row = TokenRow {
        id: format!("code_{}", digest.get(..24).unwrap_or(&digest)),
        name: "deployer".to_owned(),
        role: Role::Admin,
        jobs: None,
        created_at: call.now,
        created_by: "sign-in code".to_owned(),
        expires_at: Some(call.now.plus(DAY)),
        revoked_at: None,
        last_used_at: None,
    };
    let unusable = token_hash(&super::call::random_hex::<32>());
    let first = store::tokens::create(&call.db()?, &row, &unusable).await?;
    Ok(first.then_some(row))
}

/// `POST /sign-out`.
pub async fn sign_out(call: &Call) -> Answer<Reply> {
    if !is_same_origin(call, true) {
        return Err(Failure::new(
            Code::CrossSite,
            "sign out on the page of this deployment",
        ));
    }
    if let Some(text) = cookie(call) {
        store::sessions::revoke(&call.db()?, &token_hash(&text), call.now).await?;
    }
    Ok(Reply::see_other("/sign-in").header(
        "set-cookie",
        format!("{COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"),
    ))
}
