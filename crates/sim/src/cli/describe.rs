//! What a plan holds, for people.

use cronwright_core::job::def::{Executor, HttpMode, ScheduleSpec};
use cronwright_sim::plan::JobPlan;
use cronwright_sim::{Fault, Plan};

/// The whole plan, one line each for the world, its jobs and its faults.
pub fn plan(plan: &Plan) -> String {
    let people = match plan.operator_ms {
        Some(ms) => format!("people act about every {}", span(ms)),
        None => "no people".into(),
    };
    let mut text = format!(
        "seed {}: begins at {}, {} of storm, {} to heal; shards: {}; {people}\n",
        plan.seed,
        plan.start.0,
        span(plan.storm_ms),
        span(plan.heal_ms),
        plan.shards,
    );
    text.push_str(&format!("jobs: {}\n", plan.jobs.len()));
    text.extend(plan.jobs.iter().map(job));
    let faults = Fault::ALL
        .iter()
        .map(|fault| (fault, plan.rates.of(*fault)));
    let faults: Vec<_> = faults.filter(|(_, rate)| *rate > 0).collect();
    text.push_str(&format!(
        "faults, in a million occasions: {}\n",
        faults.len()
    ));
    for (fault, rate) in faults {
        let name = format!("{fault:?}");
        text.push_str(&format!("  {rate:>7}  {name:<18}{}\n", fault.text()));
    }
    text
}

fn job(job: &JobPlan) -> String {
    let definition = &job.definition;
    let misfire = definition.misfire;
    let Executor::Http(task) = &definition.executor;
    let mode = match task.mode {
        HttpMode::Sync => "answers",
        HttpMode::Accepted => "accepts and reports",
    };
    let callback = match &definition.callback {
        Some(target) => format!("callback {:?}", target.preset),
        None => "no callback".into(),
    };
    format!(
        "  #{} {} on shard {}: {}; overlap {:?}; misfire {:?} within {}; retries {}; {callback}\n     \
         {mode}, usually in {}, at most {}\n",
        job.index,
        definition.job_id,
        job.shard,
        schedule(&definition.schedule),
        definition.overlap,
        misfire.policy,
        span(misfire.catch_up_window_ms),
        definition.retry.times,
        span(job.usual_ms),
        span(definition.timeout_ms),
    )
}

fn schedule(spec: &ScheduleSpec) -> String {
    match spec {
        ScheduleSpec::Cron {
            text,
            dialect,
            zone,
        } => format!("cron `{text}` ({dialect}, {zone})"),
        ScheduleSpec::Every { period_ms, anchor } => {
            format!("every {} from {}", span(*period_ms), anchor.0)
        }
        ScheduleSpec::At { at } => format!("once at {}", at.0),
        ScheduleSpec::After { job, on } => format!("after {job} ({on:?})"),
        ScheduleSpec::None => "only by hand".into(),
    }
}

/// A span in its largest whole units: `1 h 30 min`, `2.5 s` as `2 s 500 ms`.
fn span(ms: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")];
    let mut rest = ms.max(0);
    let mut parts = Vec::new();
    for (size, unit) in UNITS {
        let count = rest.checked_div(size).unwrap_or(0);
        rest = rest.checked_rem(size).unwrap_or(0);
        if count > 0 {
            parts.push(format!("{count} {unit}"));
        }
    }
    if parts.is_empty() {
        "0 ms".into()
    } else {
        parts.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing;

    #[test]
    fn spans_are_read_aloud() {
        assert_eq!(span(5_400_000), "1 h 30 min");
        assert_eq!(span(2_500), "2 s 500 ms");
        assert_eq!(span(0), "0 ms");
    }

    #[test]
    fn only_faults_that_can_happen_are_named() {
        let text = plan(&testing::plan(7));
        assert!(text.starts_with("seed 7: begins at 1000, 2 h of storm, 1 h to heal;"));
        assert!(text.contains("   1000  AskLost           a question to an object is lost\n"));
        assert!(text.contains("in a million occasions: 2\n"));
        assert!(!text.contains("CrashBeforeCommit"));
    }

    #[test]
    fn a_job_says_its_schedule_overlap_misfire_and_shard() {
        let world = (0..100)
            .map(Plan::of_seed)
            .find(|plan| !plan.jobs.is_empty());
        let world = world.unwrap();
        let first = world.jobs.first().unwrap();
        let text = plan(&world);
        for part in [
            format!("on shard {}: ", first.shard),
            schedule(&first.definition.schedule),
            format!("overlap {:?}; ", first.definition.overlap),
            format!("misfire {:?} ", first.definition.misfire.policy),
        ] {
            assert!(text.contains(&part), "{part} in\n{text}");
        }
    }
}
