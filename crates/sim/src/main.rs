//! `cronwright-sim`: runs worlds by the thousand, one by one, or with a planted bug.
//! `cargo xtask sim` builds it with the profile `sim` and hands on what follows.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    cli::main(&words)
}
