//! `cargo xtask sim …`: the simulator, in its own profile, and its share of `cargo xtask test`.

use std::process::Command;

use crate::stages::Stages;
use crate::{Outcome, process, setup};

/// Seeds that every test run lives through, and with `--fast`: as few as still show that each fault fires.
const SEEDS: &str = "2000";
const SEEDS_FAST: &str = "200";

/// `cargo xtask sim …`.
pub fn command(args: &[String]) -> Outcome {
    run(args.iter().map(String::as_str))
}

/// Known seeds and fresh ones, then planted bugs, which show that the checkers see.
pub fn stages(stages: &mut Stages, fast: bool) {
    let seeds = if fast { SEEDS_FAST } else { SEEDS };
    stages.run("simulator", || {
        let gate = (!fast).then_some("--twice");
        run(["--seeds", seeds].into_iter().chain(gate))
    });
    stages.run("planted bugs", || run(["mutations"]));
    stages.run("state diagrams", || {
        run(["coverage", "--check", "docs/machines.md"])
    });
}

fn run<'a>(args: impl IntoIterator<Item = &'a str>) -> Outcome {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["run", "--quiet", "--profile", "sim"])
        .args(["--package", "cronwright-sim", "--"])
        .args(args)
        .current_dir(setup::root());
    process::run("the simulator", &mut cargo)
}
