//! What surrounds every page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::Text;
use super::{Lang, Moment, assets, tag};
use cronwright_core::time::Millis;

/// What every page knows.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its language.
    pub lang: Lang,
    /// The time it is rendered at.
    pub now: Millis,
    /// Version of this installation, such as `0.1.0`.
    pub version: String,
    /// Release of the time zone database, such as `2026c`.
    pub tzdb: String,
    /// Name of the token that is signed in; none on pages that need none.
    pub who: Option<String>,
    /// Path and query of this page in the other language, such as `/?q=erp&lang=zh`.
    pub other_lang_href: String,
    /// Where the API is described; none leaves the link out.
    pub api_href: Option<String>,
}

/// A whole page. `live` pages refresh their `data-live` regions by a script.
pub(super) fn page(frame: &Frame, title: &str, live: bool, content: &Markup) -> String {
    let text = Text::of(frame.lang);
    html! {
        (DOCTYPE)
        html lang=(text.tag) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Cronwright" }
                link rel="icon" href=(assets::ICON.path()) type="image/svg+xml";
                link rel="stylesheet" href=(assets::STYLE.path());
                @if live { script type="module" src=(assets::LIVE.path()) {} }
            }
            body {
                a.skip href="#content" { (text.skip_to_content) }
                (head(frame, text))
                @if live { p.stale role="status" { (text.stale) } }
                main #content { (content) }
                (foot(frame, text))
            }
        }
    }
    .into_string()
}

fn head(frame: &Frame, text: &Text) -> Markup {
    let other = match frame.lang {
        Lang::En => Lang::Zh,
        Lang::Zh => Lang::En,
    };
    html! {
        header.top {
            a.brand href={ "/?lang=" (tag(frame.lang)) } { (mark()) span { "Cronwright" } }
            span.tagline { (text.tagline) }
            nav {
                @if let Some(href) = &frame.api_href { a href=(href) { (text.api) } }
                a href=(frame.other_lang_href) hreflang=(tag(other)) lang=(Text::of(other).tag) { (text.other_language) }
                @if let Some(who) = &frame.who {
                    span.who { (who) }
                    form method="post" action="/sign-out" { button.quiet type="submit" { (text.sign_out) } }
                }
            }
        }
    }
}

/// The mark: a dial with its hand on the planned second.
fn mark() -> Markup {
    PreEscaped(assets::MARK.to_owned())
}

fn foot(frame: &Frame, text: &Text) -> Markup {
    html! {
        footer {
            span { (text.version) " " (frame.version) }
            span { (text.time_zones) " " (frame.tzdb) }
            span { (text.as_of) " " (Moment::utc(frame.now).element(frame.now)) " UTC" }
        }
    }
}
