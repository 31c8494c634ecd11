//! What is printed of a world that violates something.

use std::process::Command;
use std::sync::{Mutex, PoisonError};

use cronwright_sim::{Mutation, Options, Outcome, Plan, Violation};

use super::world::{Run, difference};
use super::{print, progress};

/// How many events before a violation are shown.
pub const TRACE_LINES: usize = 50;

/// How many worlds are shown in full; the sums at the end tell of the others.
const SHOWN: u32 = 5;

/// Reports from all threads, one at a time.
#[derive(Default)]
pub struct Reports {
    shown: Mutex<u32>,
}

impl Reports {
    /// Runs the world of a violation again, with a trace, and prints it. Says whether it came again.
    pub fn violation(&self, plan: &Plan, first: &Outcome, run: Run) -> bool {
        let options = Options {
            mutation: None,
            trace_lines: TRACE_LINES,
        };
        let traced = run(plan, options);
        let differs = difference(first, &traced);
        if let Some(what) = &differs {
            self.print(&unequal(plan.seed, what));
        }
        if let Some(violation) = &first.violation {
            self.print(&text(plan.seed, None, violation, &traced.trace));
        }
        differs.is_none()
    }

    /// Prints that two runs of a seed differ.
    pub fn unequal(&self, seed: u64, what: &str) {
        self.print(&unequal(seed, what));
    }

    fn print(&self, text: &str) {
        // Held while printing, so that reports of two threads do not mingle.
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown < SHOWN {
            progress::clear();
            print(text);
        }
        *shown = shown.saturating_add(1);
    }
}

/// What is violated, the events that led there, and what to do next.
pub fn text(
    seed: u64,
    mutation: Option<Mutation>,
    violation: &Violation,
    trace: &[String],
) -> String {
    let mut text = scene(seed, violation, trace);
    text.push_str(&next(seed, mutation, violation.invariant));
    text
}

/// What is violated, and the events that led there.
pub fn scene(seed: u64, violation: &Violation, trace: &[String]) -> String {
    let mut text = sentence(seed, violation);
    let events = match trace.len() {
        0 => "no trace of what came before".to_owned(),
        count => format!("the last {count} events:"),
    };
    text.push_str(&format!("commit {}; {events}\n", commit()));
    for line in trace {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// `seed 7 violates I4 at 1717243380000: …`
pub fn sentence(seed: u64, violation: &Violation) -> String {
    let Violation {
        invariant,
        at,
        what,
    } = violation;
    format!("seed {seed} violates {invariant} at {}: {what}\n", at.0)
}

/// How to see it again, and how to keep it. A planted bug is not kept.
fn next(seed: u64, mutation: Option<Mutation>, invariant: &str) -> String {
    match mutation {
        Some(mutation) => format!(
            "To replay it: cargo xtask sim --mutation {} --seed {seed} --trace\n\n",
            mutation.name()
        ),
        None => format!(
            "To replay it: cargo xtask sim --seed {seed} --trace; for a smaller world: cargo xtask sim shrink --seed {seed}\n\
             Once understood, add `{seed}  {invariant}  what it was` to crates/sim/regressions.txt.\n\n"
        ),
    }
}

fn unequal(seed: u64, what: &str) -> String {
    format!(
        "seed {seed} is not deterministic: {what}. Look for a hash map, a clock or an address in what \
         the world decides by.\n\n"
    )
}

/// Where this was built from; a seed means one world on one commit.
fn commit() -> String {
    let asked = Command::new("git")
        .args(["rev-parse", "--short", "HEAD"])
        .output();
    let answer = asked.ok().filter(|output| output.status.success());
    answer.map_or_else(
        || "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing;

    #[test]
    fn a_report_says_what_where_and_how_to_replay_it() {
        let outcome = testing::broken(&testing::plan(7), "I4");
        let violation = outcome.violation.unwrap();
        let report = text(7, None, &violation, &outcome.trace);
        for part in [
            "seed 7 violates I4 at 2000: an instant has two records\n",
            "the last 2 events:\n  1 wakes\n  2 plans\n",
            "cargo xtask sim --seed 7 --trace",
            "`7  I4  what it was` to crates/sim/regressions.txt",
        ] {
            assert!(report.contains(part), "{report}");
        }
        let planted = text(7, Some(Mutation::LockIsDate), &violation, &outcome.trace);
        assert!(planted.contains("--mutation lock-is-date --seed 7"));
        assert!(!planted.contains("regressions.txt"));
    }

    #[test]
    fn a_violation_that_does_not_come_again_is_noticed() {
        let reports = Reports::default();
        let plan = testing::plan(7);
        let first = testing::broken(&plan, "I4");
        assert!(reports.violation(&plan, &first, |plan, _| testing::broken(plan, "I4")));
        assert!(!reports.violation(&plan, &first, |plan, _| testing::well(plan)));
    }
}
