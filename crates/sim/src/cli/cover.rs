//! Draws the machines' state diagrams with the arrows that worlds took.

use std::fs;

use cronwright_sim::coverage::Coverage;
use cronwright_sim::{Options, Plan, diagrams};

use super::world::Run;
use super::{Verdict, print};

/// What `coverage` asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Cover {
    /// Seeds from 0 on.
    pub seeds: u64,
    /// A file to write.
    pub write: Option<String>,
    /// A file that must be equal.
    pub check: Option<String>,
}

/// Runs the worlds and draws what they took.
pub fn run(cover: &Cover, run: Run) -> Verdict {
    let mut coverage = Coverage::default();
    for seed in 0..cover.seeds {
        coverage.add(&run(&Plan::of_seed(seed), Options::default()).coverage);
    }
    let text = diagrams::document(&coverage, cover.seeds);
    if let Some(file) = &cover.write {
        fs::write(file, &text).map_err(|error| format!("{file} cannot be written: {error}"))?;
    }
    let stale = match &cover.check {
        Some(file) => {
            let known = fs::read_to_string(file)
                .map_err(|error| format!("{file} cannot be read: {error}"))?;
            known != text
        }
        None => false,
    };
    if cover.write.is_none() && cover.check.is_none() {
        print(&text);
    }
    let faults = diagrams::faults(&coverage);
    for fault in &faults {
        print(&format!("{fault}\n"));
    }
    if stale {
        print(&format!(
            "the diagrams have changed: cargo xtask sim coverage --seeds {} --write {}\n",
            cover.seeds,
            cover.check.as_deref().unwrap_or("docs/machines.md")
        ));
    }
    print(&format!(
        "arrows={}\nunexplained={}\n",
        coverage.arrows().count(),
        faults.len()
    ));
    Ok(faults.is_empty() && !stale)
}
