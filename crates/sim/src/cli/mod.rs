//! The command for people: what its words mean is in `args.rs` and `help.rs`.

mod args;
mod campaign;
mod cover;
mod describe;
mod given;
mod help;
mod mutations;
mod one;
mod progress;
mod regressions;
mod report;
mod shrink;
mod speed;
mod tally;
#[cfg(test)]
mod testing;
mod world;

use std::io::Write;
use std::process::ExitCode;

use args::Command;

/// Whether all was as it must be; the error is a sentence that says what to do.
type Verdict = Result<bool, String>;

/// Does what was asked for. Words that mean nothing give 2, a world that is wrong gives 1.
pub fn main(words: &[String]) -> ExitCode {
    let command = match args::parse(words) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("cronwright-sim: {error}\n`cargo xtask sim --help` says what there is.");
            return ExitCode::from(2);
        }
    };
    world::catch_panics();
    let verdict = match command {
        Command::Help => {
            print(help::TEXT);
            Ok(true)
        }
        Command::Many(task) => campaign::run(&task, world::live),
        Command::One(task) => Ok(one::run(&task, world::live)),
        Command::Mutations(task) => mutations::run(&task, world::live),
        Command::Coverage(task) => cover::run(&task, world::live),
        Command::Speed => speed::run(),
        Command::Shrink(task) => shrink::run(&task, world::live),
    };
    match verdict {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cronwright-sim: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes to stdout. A reader that has gone away (`| head`) is no error, so this is not `println!`.
fn print(text: &str) {
    // The test harness keeps what `print!` writes, and nothing else, out of its own report.
    if cfg!(test) {
        print!("{text}");
        return;
    }
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
