//! Worlds for the tests of this command: they take no time and break where they are told to.

use cronwright_core::time::{MINUTE, Millis};
use cronwright_sim::{Fault, Fired, Outcome, Plan, Violation};

/// A world of a seed with a storm of two hours, people, two faults and no jobs.
pub fn plan(seed: u64) -> Plan {
    let mut rates = cronwright_sim::Rates::default();
    rates.set(Fault::AskLost, 1_000);
    rates.set(Fault::Slow, 2_000);
    Plan {
        seed,
        start: Millis(1_000),
        storm_ms: 120 * MINUTE,
        heal_ms: 60 * MINUTE,
        shards: 1,
        jobs: Vec::new(),
        rates,
        operator_ms: Some(MINUTE),
    }
}

/// A world in which every fault fired and nothing went wrong.
pub fn well(plan: &Plan) -> Outcome {
    let mut fired = Fired::default();
    for fault in Fault::ALL {
        fired.count(*fault);
    }
    Outcome {
        events: 10,
        hash: plan.seed,
        fired,
        lived_ms: 60 * MINUTE,
        ..Outcome::default()
    }
}

/// A world that violates an invariant.
pub fn broken(plan: &Plan, invariant: &'static str) -> Outcome {
    Outcome {
        violation: Some(Violation {
            invariant,
            at: Millis(2_000),
            what: "an instant has two records".into(),
        }),
        trace: vec!["1 wakes".into(), "2 plans".into()],
        ..well(plan)
    }
}
