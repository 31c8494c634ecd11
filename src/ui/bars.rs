//! The small chart of a job's newest runs: one bar each, as high as the run was long.

use cronwright_core::job::view::RecentRun;
use cronwright_core::outcome::RunState;
use maud::{Markup, html};

use super::words::{state, tone};
use super::{Lang, when};

/// Bars in the chart; missing ones leave room on the left, so that charts line up.
const BARS: usize = 20;
const STEP: usize = 7;
const WIDTH: usize = 5;
const HEIGHT: i64 = 24;

/// The chart, with each bar's run as its tooltip and a sentence for those who do not see it.
pub(super) fn chart(runs: &[RecentRun], lang: Lang) -> Markup {
    let newest = runs
        .get(runs.len().saturating_sub(BARS)..)
        .unwrap_or_default();
    let longest = newest
        .iter()
        .filter_map(|run| run.ms)
        .max()
        .unwrap_or(0)
        .max(1);
    let empty = BARS.saturating_sub(newest.len());
    let view_box = format!("0 0 {} {HEIGHT}", BARS * STEP - (STEP - WIDTH));
    html! {
        svg.bars viewBox=(view_box) role="img" aria-label=(sentence(newest, lang)) {
            @for place in 0..empty {
                rect.none x=(place * STEP) y=(HEIGHT - 2) width=(WIDTH) height="2" rx="1" {}
            }
            @for (place, run) in newest.iter().enumerate() {
                @let height = height(run, longest);
                rect class=(tone(run.state)) x=((empty + place) * STEP) y=(HEIGHT - height) width=(WIDTH) height=(height) rx="1" {
                    title { (label(run, lang)) }
                }
            }
        }
    }
}

/// A failure stands out by its height too; a run that never started is a stub.
fn height(run: &RecentRun, longest: i64) -> i64 {
    match run.state {
        RunState::Failed | RunState::TimedOut => HEIGHT,
        RunState::Skipped | RunState::Triggered => 3,
        _ => {
            let share = run
                .ms
                .unwrap_or(0)
                .clamp(0, longest)
                .saturating_mul(HEIGHT - 6)
                / longest;
            share.saturating_add(6).min(HEIGHT)
        }
    }
}

fn label(run: &RecentRun, lang: Lang) -> String {
    let name = state(run.state, lang);
    run.ms.map_or_else(
        || name.to_owned(),
        |ms| format!("{name} · {}", when::span(ms, lang)),
    )
}

/// `18 Success, 2 Failed`, in the order of the state diagram.
fn sentence(runs: &[RecentRun], lang: Lang) -> String {
    let count = |wanted: RunState| runs.iter().filter(|run| run.state == wanted).count();
    let counted = RunState::ALL
        .into_iter()
        .map(|wanted| (count(wanted), state(wanted, lang)));
    let parts: Vec<String> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    if parts.is_empty() {
        super::text::Text::of(lang).never_ran.to_owned()
    } else {
        parts.join(", ")
    }
}
