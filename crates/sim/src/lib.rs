//! The simulator: the machines that ship, behind a host that crashes, loses, repeats, delays and
//! reorders, in a world of one thread and virtual time. What must hold is checked by witnesses outside
//! the machines, from messages and records alone.
//!
//! One seed is one world: [`Plan::of_seed`] draws its actors and which faults it has, [`run`] lives it
//! through. A storm comes first; then the faults end, and all that was begun must come to its end.

mod callee;
mod check;
mod commit;
mod d1;
mod endpoint;
mod fly;
mod object;
mod people;
mod quarantine;
mod queue;
mod receiver;
mod rng;
mod shard;
mod stage;
mod tell;
mod trace;
mod world;

pub mod coverage;
pub mod diagrams;
pub mod faults;
pub mod mutation;
pub mod plan;
pub mod script;
pub mod speed;

pub use faults::{Fault, Fired, Rates};
pub use mutation::Mutation;
pub use plan::Plan;

use cronwright_core::time::Millis;

/// What a run of one world came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Steps of machines.
    pub events: u64,
    /// A hash over everything that happened, in order: equal for equal plans.
    pub hash: u64,
    /// How often each kind of fault fired.
    pub fired: Fired,
    /// The first invariant that did not hold, where the world stopped.
    pub violation: Option<Violation>,
    /// Virtual time lived through, in ms.
    pub lived_ms: i64,
    /// The arrows of the machines' diagrams that were taken.
    pub coverage: coverage::Coverage,
    /// The last happenings, oldest first, one line each, when a trace was asked for.
    pub trace: Vec<String>,
}

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which: `I1` … `I13`, as DESIGN.md numbers them.
    pub invariant: &'static str,
    /// When, on the world's wall clock.
    pub at: Millis,
    /// What was seen.
    pub what: String,
}

/// How a world is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A bug to plant.
    pub mutation: Option<Mutation>,
    /// How many lines of trace are kept; 0 is none, and fastest.
    pub trace_lines: usize,
}

/// Lives a world through.
#[must_use]
pub fn run(plan: &Plan, options: Options) -> Outcome {
    world::World::new(plan, options).live()
}
