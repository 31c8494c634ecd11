//! Plants bugs, to see that the checkers find each of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use cronwright_sim::{Mutation, Options, Plan};

use super::world::Run;
use super::{Verdict, print, progress};

/// What `mutations` asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Hunt {
    /// How many seeds each bug is hunted with, at most.
    pub seeds: u64,
    /// This bug only.
    pub only: Option<Mutation>,
    /// How many bugs at a time.
    pub threads: usize,
}

/// How a bug was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Catch {
    invariant: &'static str,
    seed: u64,
}

/// Hunts each and prints the table.
pub fn run(hunt: &Hunt, run: Run) -> Verdict {
    let bugs = match &hunt.only {
        Some(one) => std::slice::from_ref(one),
        None => Mutation::ALL,
    };
    let caught = hunt_all(bugs, hunt, run)?;
    let uncaught = caught.iter().filter(|(_, catch)| catch.is_none()).count();
    print(&table(&caught));
    print(&format!(
        "\ncaught={}\nuncaught={uncaught}\n",
        caught.len().saturating_sub(uncaught)
    ));
    Ok(uncaught == 0)
}

type Caught = Vec<(Mutation, Option<Catch>)>;

/// Each thread takes the next bug; the result has their order.
fn hunt_all(bugs: &[Mutation], hunt: &Hunt, run: Run) -> Result<Caught, String> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Caught::new());
    let work = || {
        while let Some(bug) = bugs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let catch = first_catch(*bug, hunt.seeds, run);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push((*bug, catch));
            progress::show(&format!("{} of {} bugs hunted", found.len(), bugs.len()));
        }
    };
    thread::scope(|scope| {
        for _ in 0..hunt.threads.min(bugs.len()) {
            scope.spawn(work);
        }
    });
    progress::clear();
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable_by_key(|(bug, _)| *bug);
    if found.len() == bugs.len() {
        Ok(found)
    } else {
        Err("the simulator itself broke down, see above".into())
    }
}

/// The first seed that fails with the bug and not without it.
fn first_catch(bug: Mutation, seeds: u64, run: Run) -> Option<Catch> {
    (0..seeds).find_map(|seed| {
        let plan = Plan::of_seed(seed);
        let planted = Options {
            mutation: Some(bug),
            trace_lines: 0,
        };
        let violation = run(&plan, planted).violation?;
        // A seed that fails anyway says nothing about the bug.
        let is_clean = run(&plan, Options::default()).violation.is_none();
        is_clean.then_some(Catch {
            invariant: violation.invariant,
            seed,
        })
    })
}

fn table(caught: &Caught) -> String {
    let mut text = String::from(
        "| mutation | what is wrong | caught by | seeds to catch |\n|---|---|---|---|\n",
    );
    for (bug, catch) in caught {
        let (by, seeds) = match catch {
            Some(catch) => (catch.invariant, catch.seed.saturating_add(1).to_string()),
            None => ("**nothing**", "–".to_owned()),
        };
        text.push_str(&format!(
            "| {} | {} | {by} | {seeds} |\n",
            bug.name(),
            bug.text()
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing;

    /// Seed 0 is broken anyway; two bugs are found, at seed 2 and 3.
    const RUN: Run = |plan, options| match (plan.seed, options.mutation) {
        (0, _) => testing::broken(plan, "I13"),
        (2, Some(Mutation::LockIsDate)) => testing::broken(plan, "I1"),
        (3, Some(Mutation::NewIdPerRetry)) => testing::broken(plan, "I7"),
        _ => testing::well(plan),
    };

    const HUNT: Hunt = Hunt {
        seeds: 5,
        only: None,
        threads: 2,
    };

    #[test]
    fn a_bug_is_caught_by_the_first_seed_that_fails_only_with_it() {
        let found = first_catch(Mutation::LockIsDate, 5, RUN);
        let catch = Catch {
            invariant: "I1",
            seed: 2,
        };
        assert_eq!(found, Some(catch));
        assert_eq!(first_catch(Mutation::LockIsDate, 2, RUN), None);
    }

    #[test]
    fn the_table_has_every_bug_in_its_order_and_marks_the_uncaught() {
        let bugs = [
            Mutation::LockIsDate,
            Mutation::D1IsTruth,
            Mutation::NewIdPerRetry,
        ];
        let mut ordered = bugs;
        ordered.sort_unstable();
        let found = hunt_all(&bugs, &HUNT, RUN).unwrap();
        let names: Vec<Mutation> = found.iter().map(|(bug, _)| *bug).collect();
        assert_eq!(names, ordered);
        let text = table(&found);
        let row = |bug: Mutation, end: &str| format!("| {} | {} |{end}", bug.name(), bug.text());
        assert!(text.contains(&row(Mutation::LockIsDate, " I1 | 3 |\n")));
        assert!(text.contains(&row(Mutation::D1IsTruth, " **nothing** | – |\n")));
    }

    #[test]
    fn an_uncaught_bug_fails_the_hunt() {
        assert_eq!(run(&HUNT, RUN), Ok(false));
        let only = Hunt {
            only: Some(Mutation::LockIsDate),
            ..HUNT
        };
        assert_eq!(run(&only, RUN), Ok(true));
    }
}
