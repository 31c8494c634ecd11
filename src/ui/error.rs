//! The page for what went wrong.

use maud::html;

use super::text::Text;
use super::{Frame, layout, tag};

/// The page's data.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What every page knows.
    pub frame: Frame,
    /// The HTTP status.
    pub status: u16,
    /// What went wrong, in one sentence in the page's language.
    pub title: String,
    /// Particulars.
    pub detail: Option<String>,
    /// What the reader can do, in the page's language.
    pub hint: Option<String>,
    /// The stable code of the API.
    pub code: String,
    /// The request's id, to be found in the log.
    pub request_id: Option<String>,
}

/// The page.
#[must_use]
pub fn render(page: &Problem) -> String {
    let text = Text::of(page.frame.lang);
    let content = html! {
        section.narrow {
            p.status { (page.status) }
            h1 { (page.title) }
            @if let Some(detail) = &page.detail { p { (detail) } }
            @if let Some(hint) = &page.hint { p { strong { (text.what_now) } " — " (hint) } }
            p.hint {
                code { (page.code) }
                @if let Some(id) = &page.request_id { " · " (text.request) " " code { (id) } }
            }
            p { a href={ "/?lang=" (tag(page.frame.lang)) } { (text.home) } }
        }
    };
    layout::page(&page.frame, &page.title, false, &content)
}
