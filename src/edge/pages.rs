//! What every page needs, and what is served as it is.

use cronwright_core::schedule::tzdb_version;
use cronwright_protocol::problem::{Code, Problem};

use super::call::Call;
use super::error::{Answer, Failure};
use super::respond::Reply;
use super::system::VERSION;
use crate::ui::{self, Frame, Lang};

/// The language of the page.
pub fn lang(call: &Call) -> Lang {
    ui::lang(
        call.param("lang"),
        call.header("accept-language").as_deref(),
    )
}

/// What surrounds every page.
pub fn frame(call: &Call, who: Option<String>) -> Frame {
    let lang = lang(call);
    let other = match lang {
        Lang::En => Lang::Zh,
        Lang::Zh => Lang::En,
    };
    Frame {
        lang,
        now: call.now,
        version: VERSION.to_owned(),
        tzdb: tzdb_version().to_owned(),
        who,
        other_lang_href: href(call, &[("lang", Some(ui::tag(other)))]),
        api_href: Some("/api".to_owned()),
    }
}

/// This page's address with other parameters: a value replaces one, nothing drops it.
pub fn href(call: &Call, changes: &[(&str, Option<&str>)]) -> String {
    let path = call.request.path();
    let Ok(mut url) = worker::Url::parse(&format!("https://page{path}")) else {
        return path;
    };
    let kept = call
        .query
        .iter()
        .filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
    let new = changes
        .iter()
        .filter_map(|(name, value)| value.map(|value| (*name, value)));
    url.query_pairs_mut()
        .extend_pairs(kept.chain(new).filter(|(_, value)| !value.is_empty()));
    match url.query() {
        Some(query) if !query.is_empty() => format!("{path}?{query}"),
        _ => path,
    }
}

/// A problem as a page.
pub fn problem(call: &Call, problem: &Problem) -> Reply {
    let page = ui::error::Problem {
        frame: frame(call, None),
        status: problem.status,
        title: problem.title.clone(),
        detail: Some(problem.detail.clone()),
        hint: None,
        code: problem.code.as_str().to_owned(),
        request_id: Some(call.id.clone()),
    };
    Reply::html(problem.status, ui::error::render(&page))
}

/// `GET /openapi.json`.
pub fn openapi() -> Reply {
    Reply::text("application/json", include_str!("../assets/openapi.json"))
        .header("cache-control", "public, max-age=300")
}

/// `GET /api`.
pub fn api() -> Reply {
    Reply::html(200, include_str!("../assets/api.html").to_owned())
        .header("cache-control", "public, max-age=300")
}

/// `GET /assets/{file}`: the name carries a digest of the content, so it never changes.
pub fn asset(call: &Call) -> Answer<Reply> {
    let path = call.request.path();
    if path == "/assets/api.css" {
        return Ok(
            Reply::text("text/css; charset=utf-8", include_str!("../assets/api.css"))
                .header("cache-control", "public, max-age=300"),
        );
    }
    let asset = ui::assets::find(&path)
        .ok_or_else(|| Failure::new(Code::NotFound, "there is no such file"))?;
    Ok(Reply::text(asset.content_type, asset.body)
        .header("cache-control", "public, max-age=31536000, immutable"))
}
