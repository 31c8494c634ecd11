//! Named, timed stages with a closing line that a CI can read.

use std::time::Instant;

use crate::{Outcome, process};

/// What became of each stage.
#[derive(Default)]
pub struct Stages {
    passed: u32,
    skipped: u32,
    failed: Vec<String>,
    times: Vec<(String, f64)>,
}

impl Stages {
    /// Runs a stage; a failure is noted and the next stage goes on. Says whether it passed.
    pub fn run(&mut self, name: &str, stage: impl FnOnce() -> Outcome) -> bool {
        if process::stopped() {
            return false;
        }
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = stage();
        let seconds = start.elapsed().as_secs_f64();
        self.times.push((name.into(), seconds));
        match outcome {
            Ok(()) => {
                println!("== {name}: ok in {seconds:.1} s");
                self.passed += 1;
                true
            }
            Err(error) => {
                println!("== {name}: FAILED in {seconds:.1} s: {error}");
                self.failed.push(name.into());
                false
            }
        }
    }

    /// Notes a stage that is not run, and why.
    pub fn skip(&mut self, name: &str, why: &str) {
        println!("\n== {name}: skipped ({why})");
        self.skipped += 1;
    }

    /// Prints the times and the closing line.
    pub fn close(self) -> Outcome {
        println!();
        for (name, seconds) in &self.times {
            println!("{seconds:>7.1} s  {name}");
        }
        let failed = self.failed.len();
        println!(
            "\nstages: {} passed, {failed} failed, {} skipped",
            self.passed, self.skipped
        );
        if process::stopped() {
            return Err("stopped".into());
        }
        if self.failed.is_empty() {
            Ok(())
        } else {
            Err(format!("failed: {}", self.failed.join(", ")))
        }
    }
}
