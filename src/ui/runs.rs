//! The list of runs.

use cronwright_core::outcome::RunState;
use cronwright_core::time::{Millis, SECOND};
use maud::{Markup, html};

use super::text::Text;
use super::when::{distance, span};
use super::words::badge;
use super::{Frame, Moment};

/// A run in a list.
#[derive(Clone, Debug)]
pub struct RunLine {
    /// Its public id.
    pub id: String,
    /// Where the planned time leads; none leaves it plain.
    pub href: Option<String>,
    /// The job's name, or its id where the name is not known.
    pub job: String,
    /// Where it stands.
    pub state: RunState,
    /// The planned instant; shown in UTC, since runs of many zones are in one list.
    pub planned: Millis,
    /// How late it was triggered, in ms.
    pub late_ms: i64,
    /// How long it took, in ms.
    pub ms: Option<i64>,
    /// What made it, in the page's language, with who asked.
    pub trigger: String,
    /// Attempts so far.
    pub attempts: u32,
    /// Code of what went wrong.
    pub error_code: Option<String>,
    /// One line of the result, as the job said it.
    pub summary: Option<String>,
    /// How many missed occurrences the run stands for.
    pub missed: Option<u64>,
}

/// The table; on a phone each row is a card.
pub(super) fn table(runs: &[RunLine], frame: &Frame) -> Markup {
    let text = Text::of(frame.lang);
    html! {
        table.list.runs {
            thead {
                tr {
                    th scope="col" { (text.job) }
                    th scope="col" { (text.state) }
                    th scope="col" { (text.planned) }
                    th.number scope="col" { (text.duration) }
                    th scope="col" { (text.trigger) }
                    th scope="col" { (text.result) }
                }
            }
            tbody { @for run in runs { (line(run, frame, text)) } }
        }
    }
}

fn line(run: &RunLine, frame: &Frame, text: &Text) -> Markup {
    html! {
        tr {
            th.title scope="row" { span { (run.job) } code { (run.id) } }
            td data-label=(text.state) { (badge(run.state, frame.lang)) }
            td data-label=(text.planned) { (planned(run, frame, text)) }
            td.number data-label=(text.duration) {
                @match run.ms { Some(ms) => span { (span(ms, frame.lang)) }, None => span.faint { "–" } }
                @if run.attempts > 1 { span.sub { (run.attempts) " " (text.attempts) } }
            }
            td data-label=(text.trigger) { span { (run.trigger) } }
            td.result data-label=(text.result) { (result(run, text)) }
        }
    }
}

fn planned(run: &RunLine, frame: &Frame, text: &Text) -> Markup {
    let time = Moment::utc(run.planned).element(frame.now);
    html! {
        @if let Some(href) = &run.href { a href=(href) { (time) } } @else { (time) }
        @if run.late_ms >= SECOND {
            span.sub.slow { (text.late_by) " " (span(run.late_ms, frame.lang)) }
        } @else {
            span.sub { (distance(run.planned, frame.now, frame.lang)) }
        }
    }
}

fn result(run: &RunLine, text: &Text) -> Markup {
    html! {
        @if let Some(code) = &run.error_code { code.code { (code) } " " }
        @if let Some(missed) = run.missed { span { (missed) " " (text.missed) } " " }
        @if let Some(summary) = &run.summary { span.summary { (summary) } }
    }
}
