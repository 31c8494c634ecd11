//! `/`: what failed, what is late, what runs next.

use cronwright_core::job::view::JobStatus;
use maud::{Markup, html};

use super::text::Text;
use super::words::status;
use super::{Lang, layout, tag};

pub use super::jobs::{JobLine, LastRun};
pub use super::layout::Frame;
pub use super::runs::RunLine;

/// The page's data.
#[derive(Clone, Debug)]
pub struct Home {
    /// What every page knows.
    pub frame: Frame,
    /// Counts of the last 24 hours and of jobs; none when D1 does not answer, which the page then says.
    pub counts: Option<Counts>,
    /// What the list was narrowed to.
    pub filter: Filter,
    /// Jobs, in the order of their ids; none when D1 does not answer.
    pub jobs: Option<Vec<JobLine>>,
    /// Path and query of the next page of jobs, if there is one.
    pub more_href: Option<String>,
    /// The newest runs of all jobs, newest first; none when D1 does not answer.
    pub runs: Option<Vec<RunLine>>,
}

/// The figures at the top.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Runs that failed or timed out.
    pub failed: u64,
    /// Runs that were triggered late.
    pub late: u64,
    /// Runs that have not ended.
    pub running: u64,
    /// Jobs with their schedule on.
    pub enabled: u64,
    /// Paused jobs.
    pub paused: u64,
}

/// What the list of jobs was narrowed to, as the URL says.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Part of a name or an id.
    pub q: String,
    /// A status.
    pub status: Option<JobStatus>,
    /// Whether this is not the first page.
    pub paged: bool,
}

impl Filter {
    fn narrows(&self) -> bool {
        !self.q.is_empty() || self.status.is_some()
    }
}

/// The page.
#[must_use]
pub fn render(home: &Home) -> String {
    let (frame, text) = (&home.frame, Text::of(home.frame.lang));
    let unavailable = home.counts.is_none() || home.jobs.is_none() || home.runs.is_none();
    let content = html! {
        div data-live="counts" {
            @if unavailable { p.notice role="alert" { (text.unavailable) } }
            @if let Some(counts) = home.counts { (figures(counts, text)) }
        }
        section {
            div.bar {
                h1 { (text.jobs) }
                (filter(&home.filter, text, frame.lang))
            }
            div data-live="jobs" {
                @match home.jobs.as_deref() {
                    None => p.empty { (text.unknown) },
                    Some([]) => (nothing(home, text)),
                    Some(jobs) => (super::jobs::table(jobs, frame)),
                }
                (pages(home, text))
            }
        }
        section {
            h2 { (text.latest) }
            div data-live="runs" {
                @match home.runs.as_deref() {
                    None => p.empty { (text.unknown) },
                    Some([]) => p.empty { (text.no_runs) },
                    Some(runs) => (super::runs::table(runs, frame)),
                }
            }
        }
    };
    layout::page(frame, text.jobs, true, &content)
}

fn figures(counts: Counts, text: &Text) -> Markup {
    let figure = |name: &str, count: u64, tone: &str, note: Option<String>| {
        html! {
            div class={ "figure " @if count > 0 { (tone) } } {
                dt { (name) }
                dd { (count) @if let Some(note) = note { small { (note) } } }
            }
        }
    };
    let paused = (counts.paused > 0).then(|| format!("{} {}", counts.paused, text.paused_too));
    html! {
        dl.figures {
            (figure(text.failed, counts.failed, "bad", None))
            (figure(text.late, counts.late, "warn", None))
            (figure(text.running, counts.running, "live", None))
            (figure(text.enabled, counts.enabled, "", paused))
        }
    }
}

fn filter(filter: &Filter, text: &Text, lang: Lang) -> Markup {
    let option = |value: JobStatus| {
        html! { option value=(value.as_str()) selected[filter.status == Some(value)] { (status(value, lang)) } }
    };
    html! {
        form.filter method="get" action="/" role="search" {
            input type="hidden" name="lang" value=(tag(lang));
            input type="search" name="q" value=(filter.q) placeholder=(text.search_hint) aria-label=(text.search) maxlength="200";
            select name="status" aria-label=(text.state) {
                option value="" { (text.any_status) }
                (option(JobStatus::Enabled))
                (option(JobStatus::Paused))
            }
            button type="submit" { (text.filter) }
            @if filter.narrows() { a.reset href={ "/?lang=" (tag(lang)) } { (text.reset) } }
        }
    }
}

fn pages(home: &Home, text: &Text) -> Markup {
    html! {
        @if home.filter.paged || home.more_href.is_some() {
            p.pages {
                @if home.filter.paged { a href={ "/?lang=" (tag(home.frame.lang)) } { "← " (text.first_page) } }
                @if let Some(href) = &home.more_href { a href=(href) { (text.more) " →" } }
            }
        }
    }
}

/// An invitation where there is no job at all; a sentence where none matches.
fn nothing(home: &Home, text: &Text) -> Markup {
    if home.filter.narrows() || home.filter.paged {
        return html! { p.empty { (text.no_match) } };
    }
    html! {
        div.empty {
            h3 { (text.no_jobs) }
            p { (text.no_jobs_hint) }
            pre { code {
                "curl -X POST $CRONWRIGHT_URL/api/v1/jobs \\\n"
                "  -H \"Authorization: Bearer $CRONWRIGHT_TOKEN\" -H 'Content-Type: application/json' \\\n"
                "  -d '{\"jobId\":\"hello\",\"name\":\"Hello\",\"every\":\"5s\",\"executor\":\"https://example.com/\"}'"
            } }
        }
    }
}
