//! One world, with its panics taken for what they are: a bug that a seed has found.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use cronwright_sim::{Options, Outcome, Plan, Violation};

/// How a world is run; a test hands in one of its own.
pub type Run = fn(&Plan, Options) -> Outcome;

/// What a panic violates, where an invariant has its number.
pub const PANIC: &str = "panic";

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From here on what a panic of a world says is kept for its report. Others are printed as ever.
pub fn catch_panics() {
    let usual = take_hook();
    set_hook(Box::new(move |info| {
        if INSIDE.get() {
            SAID.set(Some(info.to_string().replace('\n', " ")));
        } else {
            usual(info);
        }
    }));
}

/// Lives through a world.
pub fn live(plan: &Plan, options: Options) -> Outcome {
    guarded(cronwright_sim::run, plan, options)
}

/// The same with any way to run it. The trace of a world that panics is lost.
pub fn guarded(run: Run, plan: &Plan, options: Options) -> Outcome {
    INSIDE.set(true);
    // A world shares nothing with the next one, so nothing half done outlives it.
    let lived = catch_unwind(AssertUnwindSafe(|| run(plan, options)));
    INSIDE.set(false);
    lived.unwrap_or_else(|_| Outcome {
        violation: Some(Violation {
            invariant: PANIC,
            at: plan.start,
            what: SAID.take().unwrap_or_else(|| "it panicked".into()),
        }),
        ..Outcome::default()
    })
}

/// What is different about two runs of one plan; nothing, if the world is deterministic.
pub fn difference(one: &Outcome, other: &Outcome) -> Option<String> {
    let broken = |outcome: &Outcome| {
        outcome
            .violation
            .as_ref()
            .map_or("nothing", |v| v.invariant)
    };
    if one.events != other.events {
        Some(format!("{} events, then {}", one.events, other.events))
    } else if one.hash != other.hash {
        Some(format!("hash {:016x}, then {:016x}", one.hash, other.hash))
    } else if one.violation != other.violation {
        Some(format!("{} violated, then {}", broken(one), broken(other)))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing;

    #[test]
    fn a_panic_is_a_violation() {
        let breaks = |_: &Plan, _: Options| -> Outcome { panic!("overflow") };
        let outcome = guarded(breaks, &testing::plan(1), Options::default());
        assert_eq!(outcome.violation.map(|v| v.invariant), Some(PANIC));
    }

    #[test]
    fn worlds_that_differ_in_anything_that_counts_are_told_apart() {
        let one = Outcome {
            events: 3,
            hash: 7,
            ..Outcome::default()
        };
        assert_eq!(difference(&one, &one.clone()), None);
        let other = Outcome {
            hash: 8,
            ..one.clone()
        };
        assert!(difference(&one, &other).is_some_and(|text| text.contains("hash")));
        let other = Outcome {
            events: 4,
            ..one.clone()
        };
        assert!(difference(&one, &other).is_some_and(|text| text.contains("4")));
    }
}
