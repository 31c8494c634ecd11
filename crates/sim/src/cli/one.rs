//! One seed, for a closer look.

use cronwright_sim::{Mutation, Options, Outcome, Plan};

use super::tally::{fired, hours};
use super::world::Run;
use super::{describe, print, report};

/// More than a world has.
const ALL_LINES: usize = 1_000_000;

/// What `--seed S` asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct One {
    /// Which.
    pub seed: u64,
    /// A bug to plant.
    pub mutation: Option<Mutation>,
    /// Prints all that happens.
    pub trace: bool,
}

/// Lives through it, says what it holds and what it came to. True when nothing is violated.
pub fn run(one: &One, run: Run) -> bool {
    let plan = Plan::of_seed(one.seed);
    print(&describe::plan(&plan));
    if let Some(mutation) = one.mutation {
        print(&format!("planted bug: {}\n", mutation.text()));
    }
    let options = Options {
        mutation: one.mutation,
        trace_lines: if one.trace {
            ALL_LINES
        } else {
            report::TRACE_LINES
        },
    };
    let outcome = run(&plan, options);
    print(&told(one, &outcome));
    outcome.violation.is_none()
}

fn told(one: &One, outcome: &Outcome) -> String {
    let mut text = String::from("\n");
    if one.trace {
        for line in &outcome.trace {
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
    }
    match &outcome.violation {
        // The trace is above.
        Some(violation) if one.trace => text.push_str(&report::sentence(one.seed, violation)),
        Some(violation) => text.push_str(&report::text(
            one.seed,
            one.mutation,
            violation,
            &outcome.trace,
        )),
        None => text.push_str(&format!("seed {} violates nothing\n", one.seed)),
    }
    text.push_str(&format!(
        "seed={}\nevents={}\nhash={:016x}\nviolations={}\nsimulated_hours={:.1}\n",
        one.seed,
        outcome.events,
        outcome.hash,
        u8::from(outcome.violation.is_some()),
        hours(outcome.lived_ms),
    ));
    text.push_str(&fired(&outcome.fired, false));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing;

    #[test]
    fn a_trace_is_printed_once() {
        let outcome = testing::broken(&testing::plan(7), "I4");
        for trace in [true, false] {
            let one = One {
                seed: 7,
                mutation: None,
                trace,
            };
            let text = told(&one, &outcome);
            assert_eq!(text.matches("2 plans").count(), 1, "{text}");
            assert!(text.contains("seed 7 violates I4 at 2000:"));
            assert!(text.contains("\nviolations=1\n"));
        }
    }
}
