//! Makes the world of a failing seed smaller, so that a person can follow it.

use cronwright_core::time::MINUTE;
use cronwright_sim::{Fault, Mutation, Options, Plan};

use super::world::Run;
use super::{Verdict, describe, print, progress, report};

/// A storm is not made shorter than this; less leaves no time for a consequence.
const SHORTEST_MS: i64 = 10 * MINUTE;

/// What `shrink` asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Shrink {
    /// Which world.
    pub seed: u64,
    /// A bug to plant.
    pub mutation: Option<Mutation>,
}

/// Shrinks it and prints what is left. Finding one is success; the error is a seed that does not fail.
pub fn run(shrink: &Shrink, run: Run) -> Verdict {
    let smaller = Smaller::of(Plan::of_seed(shrink.seed), shrink.mutation, run)?;
    progress::clear();
    print(&describe::plan(&smaller.plan));
    let options = Options {
        mutation: shrink.mutation,
        trace_lines: report::TRACE_LINES,
    };
    let outcome = run(&smaller.plan, options);
    let Some(violation) = outcome.violation else {
        return Err(format!(
            "seed {} is not deterministic: its violation came and went",
            shrink.seed
        ));
    };
    print("\n");
    print(&report::scene(shrink.seed, &violation, &outcome.trace));
    print(&format!(
        "runs={}\njobs={}\n",
        smaller.runs,
        smaller.plan.jobs.len()
    ));
    Ok(true)
}

/// The smallest plan so far that still violates the same invariant.
struct Smaller {
    plan: Plan,
    invariant: &'static str,
    mutation: Option<Mutation>,
    runs: u64,
    run: Run,
}

impl Smaller {
    /// Begins with the plan as it is and goes on until nothing more can be left out.
    fn of(plan: Plan, mutation: Option<Mutation>, run: Run) -> Result<Self, String> {
        let mut smaller = Self {
            plan,
            invariant: "",
            mutation,
            runs: 0,
            run,
        };
        let seed = smaller.plan.seed;
        smaller.invariant = smaller.violated(&smaller.plan.clone()).ok_or_else(|| {
            format!("seed {seed} violates nothing, so there is nothing to shrink: give a seed that fails")
        })?;
        while smaller.round() {}
        Ok(smaller)
    }

    fn violated(&mut self, plan: &Plan) -> Option<&'static str> {
        self.runs = self.runs.saturating_add(1);
        progress::show(&format!("{} runs, {} jobs", self.runs, plan.jobs.len()));
        let options = Options {
            mutation: self.mutation,
            trace_lines: 0,
        };
        let outcome = (self.run)(plan, options);
        outcome.violation.map(|violation| violation.invariant)
    }

    /// Makes one change, and keeps it if the same invariant is still violated.
    fn keeps(&mut self, change: impl FnOnce(&mut Plan)) -> bool {
        let mut plan = self.plan.clone();
        change(&mut plan);
        let is_same = self.violated(&plan) == Some(self.invariant);
        if is_same {
            self.plan = plan;
        }
        is_same
    }

    /// Tries every change once; says whether one was kept. The storm comes first: it makes the rest fast.
    fn round(&mut self) -> bool {
        let storm = self.halve_storm();
        let jobs = self.drop_jobs();
        let faults = self.drop_faults();
        let people = self.plan.operator_ms.is_some() && self.keeps(|plan| plan.operator_ms = None);
        storm || jobs || faults || people
    }

    fn halve_storm(&mut self) -> bool {
        let mut better = false;
        loop {
            let half = self.plan.storm_ms.checked_div(2).unwrap_or(0);
            if half < SHORTEST_MS || !self.keeps(|plan| plan.storm_ms = half) {
                return better;
            }
            better = true;
        }
    }

    fn drop_jobs(&mut self) -> bool {
        let mut better = false;
        let mut at = 0_usize;
        while at < self.plan.jobs.len() {
            if self.keeps(|plan| drop(plan.jobs.remove(at))) {
                better = true;
            } else {
                at = at.saturating_add(1);
            }
        }
        better
    }

    fn drop_faults(&mut self) -> bool {
        let mut better = false;
        for fault in Fault::ALL {
            if self.plan.rates.of(*fault) > 0 {
                better |= self.keeps(|plan| plan.rates.set(*fault, 0));
            }
        }
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing;

    #[test]
    fn only_what_the_violation_needs_is_left() {
        let run: Run = |plan, _| {
            if plan.rates.of(Fault::Slow) > 0 && plan.storm_ms >= 25 * MINUTE {
                testing::broken(plan, "I4")
            } else {
                testing::well(plan)
            }
        };
        let smaller = Smaller::of(testing::plan(7), None, run).unwrap();
        assert_eq!(smaller.plan.storm_ms, 30 * MINUTE);
        assert_eq!(smaller.plan.operator_ms, None);
        assert_eq!(smaller.plan.rates.of(Fault::AskLost), 0);
        assert_eq!(smaller.plan.rates.of(Fault::Slow), 2_000);
        assert!(smaller.runs > 4);
    }

    #[test]
    fn a_change_that_violates_something_else_is_not_kept() {
        let run: Run = |plan, _| match plan.operator_ms {
            Some(_) => testing::broken(plan, "I4"),
            None => testing::broken(plan, "I1"),
        };
        let smaller = Smaller::of(testing::plan(7), None, run).unwrap();
        assert_eq!(smaller.invariant, "I4");
        assert!(smaller.plan.operator_ms.is_some());
        assert!(smaller.plan.storm_ms >= SHORTEST_MS);
    }

    #[test]
    fn a_job_that_is_not_needed_is_left_out() {
        let world = (0..100).map(Plan::of_seed).find(|plan| plan.jobs.len() > 1);
        let run: Run = |plan, _| match plan.jobs.iter().any(|job| job.index == 1) {
            true => testing::broken(plan, "I4"),
            false => testing::well(plan),
        };
        let smaller = Smaller::of(world.unwrap(), None, run).unwrap();
        let left: Vec<u32> = smaller.plan.jobs.iter().map(|job| job.index).collect();
        assert_eq!(left, [1]);
    }

    #[test]
    fn a_seed_that_does_not_fail_is_an_error() {
        let run: Run = |plan, _| testing::well(plan);
        let error = Smaller::of(testing::plan(7), None, run).err().unwrap();
        assert!(error.contains("seed 7 violates nothing"));
    }
}
