//! Measures the machines alone.

use cronwright_sim::{Plan, speed};

use super::{Verdict, print, progress};

/// Runs of one round: enough that a round takes about a second.
const RUNS: u64 = 500_000;

/// Steps a job on one thread and prints how many steps it takes a second.
pub fn run() -> Verdict {
    let plan = Plan::of_seed(0);
    let job = plan.jobs.first().ok_or("seed 0 has no job")?;
    let start = progress::now();
    let steps = speed::steps(&job.definition, RUNS).ok_or("a run did not come to its end")?;
    let rate = progress::rate(steps, start.elapsed());
    print(&format!(
        "steps={steps}\nmachine_events_per_s_core={rate:.0}\n"
    ));
    Ok(true)
}
