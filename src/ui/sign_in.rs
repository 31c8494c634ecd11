//! The page that asks for a token.

use maud::html;

use super::text::Text;
use super::{Frame, layout};

/// The page's data.
#[derive(Clone, Debug)]
pub struct SignIn {
    /// What every page knows.
    pub frame: Frame,
    /// Why the last try failed, in the page's language.
    pub problem: Option<String>,
    /// Where to go afterwards: a path of this installation, checked by the caller.
    pub next: Option<String>,
    /// A code that came with the link; the form holds it, and a press of the button sends it.
    pub code: Option<String>,
    /// Where the first administrator is made; none once there is one.
    pub setup_href: Option<String>,
}

/// The page. The form posts `token` and `next` to `/sign-in`.
#[must_use]
pub fn render(page: &SignIn) -> String {
    let text = Text::of(page.frame.lang);
    let content = html! {
        section.narrow {
            h1 { (text.sign_in) }
            @if let Some(problem) = &page.problem { p.notice role="alert" { (problem) } }
            form.stack method="post" action="/sign-in" {
                @if let Some(next) = &page.next { input type="hidden" name="next" value=(next); }
                label for="token" { (text.token) }
                input #token type="password" name="token" value=[page.code.as_deref()] required autofocus autocomplete="current-password" spellcheck="false" maxlength="400" aria-describedby="token-hint";
                p.hint #token-hint { (text.token_hint) }
                button.primary type="submit" { (text.sign_in) }
            }
            @if let Some(href) = &page.setup_href { p.hint { a href=(href) { (text.setup_hint) } } }
        }
    };
    layout::page(&page.frame, text.sign_in, false, &content)
}
