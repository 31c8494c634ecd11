//! The list of jobs.

use cronwright_core::job::def::{Definition, ScheduleSpec};
use cronwright_core::job::view::{JobStatus, JobView, RecentRun};
use cronwright_core::outcome::RunState;
use cronwright_core::time::{Millis, SECOND};
use maud::{Markup, html};

use super::text::Text;
use super::when::{distance, span};
use super::words::{badge, status};
use super::{Frame, Moment, bars};

/// A job in the list.
#[derive(Clone, Debug)]
pub struct JobLine {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where the name leads; none leaves it plain.
    pub href: Option<String>,
    /// Whether its schedule is on.
    pub status: JobStatus,
    /// Why it is quarantined, if it is.
    pub quarantined: Option<String>,
    /// The schedule in the page's language, zone included.
    pub schedule: String,
    /// The cron text, where there is one.
    pub cron: Option<String>,
    /// Its shard did not answer: the fields below are not known, and the page says so.
    pub silent: bool,
    /// The newest run.
    pub last: Option<LastRun>,
    /// Median duration of the last successful runs, in ms.
    pub usual_ms: Option<i64>,
    /// The next planned instant, on the job's wall clock.
    pub next: Option<Moment>,
    /// The newest runs, oldest first.
    pub recent: Vec<RecentRun>,
}

/// The newest run of a job.
#[derive(Clone, Debug)]
pub struct LastRun {
    /// Where it stands.
    pub state: RunState,
    /// When it was planned.
    pub at: Moment,
    /// How long it took, in ms.
    pub ms: Option<i64>,
    /// Code of what went wrong.
    pub error_code: Option<String>,
}

impl JobLine {
    /// The line of a job as its shard tells of it. `schedule` is the schedule in words; `offset_s` tells
    /// how far the job's wall clock is ahead of UTC at an instant.
    #[must_use]
    pub fn of(view: &JobView, schedule: String, offset_s: impl Fn(Millis) -> i32) -> Self {
        let moment = |at: Millis| Moment {
            at,
            offset_s: offset_s(at),
        };
        let last = view.last.as_ref().map(|run| LastRun {
            state: run.state,
            at: moment(run.planned_at()),
            ms: run
                .started_at
                .zip(run.ended_at)
                .map(|(start, end)| end.since(start)),
            error_code: run
                .result
                .as_ref()
                .and_then(|result| result.error_code.clone()),
        });
        Self {
            silent: false,
            quarantined: view.quarantined.clone(),
            last,
            usual_ms: view.usual_ms,
            next: view.next_due.map(moment),
            recent: view.recent.clone(),
            ..Self::silent(&view.definition, view.status, schedule)
        }
    }

    /// The line of a job whose shard does not answer: what D1 knows of it.
    #[must_use]
    pub fn silent(definition: &Definition, status: JobStatus, schedule: String) -> Self {
        let cron = match &definition.schedule {
            ScheduleSpec::Cron { text, .. } => Some(text.clone()),
            ScheduleSpec::Every { .. }
            | ScheduleSpec::At { .. }
            | ScheduleSpec::After { .. }
            | ScheduleSpec::None => None,
        };
        Self {
            id: definition.job_id.to_string(),
            name: definition.name.clone(),
            href: None,
            status,
            quarantined: None,
            schedule,
            cron,
            silent: true,
            last: None,
            usual_ms: None,
            next: None,
            recent: Vec::new(),
        }
    }
}

/// The table; on a phone each row is a card.
pub(super) fn table(jobs: &[JobLine], frame: &Frame) -> Markup {
    let text = Text::of(frame.lang);
    html! {
        table.list.jobs {
            thead {
                tr {
                    th scope="col" { (text.job) }
                    th scope="col" { (text.schedule) }
                    th scope="col" { (text.last) }
                    th.number scope="col" { (text.duration) }
                    th scope="col" { (text.next) }
                    th scope="col" { (text.recent) }
                }
            }
            tbody { @for job in jobs { (line(job, frame, text)) } }
        }
    }
}

fn line(job: &JobLine, frame: &Frame, text: &Text) -> Markup {
    html! {
        tr class=[(job.status != JobStatus::Enabled).then_some("off")] {
            th.title scope="row" {
                @if let Some(href) = &job.href { a href=(href) { (job.name) } } @else { span { (job.name) } }
                code { (job.id) }
                @if let Some(why) = &job.quarantined {
                    span.state.bad { i.dot aria-hidden="true" {} (text.quarantined) }
                    span.sub { (why) }
                }
            }
            td.schedule data-label=(text.schedule) {
                span { (job.schedule) }
                @if let Some(cron) = &job.cron { code { (cron) } }
            }
            td data-label=(text.last) { (last(job, frame, text)) }
            td.number data-label=(text.duration) { (duration(job, frame, text)) }
            td data-label=(text.next) { (next(job, frame, text)) }
            td.chart data-label=(text.recent) { @if !job.silent { (bars::chart(&job.recent, frame.lang)) } }
        }
    }
}

fn last(job: &JobLine, frame: &Frame, text: &Text) -> Markup {
    let Some(last) = &job.last else {
        let why = if job.silent {
            text.unknown
        } else {
            text.never_ran
        };
        return html! { span.faint { (why) } };
    };
    html! {
        (badge(last.state, frame.lang))
        @if let Some(code) = &last.error_code { code.code { (code) } }
        span.sub { (last.at.element(frame.now)) " · " (distance(last.at.at, frame.now, frame.lang)) }
    }
}

/// The last duration, and how it compares with the usual one.
fn duration(job: &JobLine, frame: &Frame, text: &Text) -> Markup {
    let took = job.last.as_ref().and_then(|last| last.ms);
    // Short runs double by chance: below a second that says nothing.
    let slow = took
        .zip(job.usual_ms)
        .is_some_and(|(ms, usual)| ms >= SECOND && ms >= usual.saturating_mul(2));
    html! {
        @match took {
            Some(ms) => span class=[slow.then_some("slow")] { (span(ms, frame.lang)) },
            None => span.faint { "–" },
        }
        @if let Some(usual) = job.usual_ms { span.sub { (text.usual) " " (span(usual, frame.lang)) } }
    }
}

fn next(job: &JobLine, frame: &Frame, text: &Text) -> Markup {
    match job.next {
        _ if job.status == JobStatus::Deleted => {
            html! { span.faint { (status(job.status, frame.lang)) } }
        }
        _ if job.status == JobStatus::Paused => html! { span.faint { (text.no_next_paused) } },
        None => html! { span.faint { (if job.silent { text.unknown } else { text.no_next }) } },
        Some(next) => {
            let overdue = frame.now.since(next.at) >= SECOND;
            html! {
                (next.element(frame.now))
                @if overdue {
                    span.sub.slow { (text.overdue) " " (distance(next.at, frame.now, frame.lang)) }
                } @else {
                    span.sub { (distance(next.at, frame.now, frame.lang)) }
                }
            }
        }
    }
}
