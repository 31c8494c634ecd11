//! Every command of the project: `cargo xtask --help`.
//!
//! Standard library and `ctrlc` only, so that it compiles in seconds on a fresh machine and the first
//! line of output comes at once.

mod bench;
mod dev;
mod help;
mod http;
mod node;
mod process;
mod settings;
mod setup;
mod sim;
mod size;
mod stages;
mod test;
mod wasm;

use std::process::ExitCode;
use std::time::Instant;

/// What a command gives back: an error is one sentence that says what to do.
type Outcome<T = ()> = Result<T, String>;

fn main() -> ExitCode {
    let start = Instant::now();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("--help", &[][..]),
    };
    // `wrangler` answers its own --help.
    if command != "wrangler" && rest.iter().any(|arg| arg == "--help" || arg == "-h") {
        return help::of(command);
    }
    process::forward_signals();
    let outcome = match command {
        "--help" | "-h" | "help" => return help::all(),
        "dev" => dev::run(rest, start),
        "test" => test::run(rest),
        "build" => wasm::command(rest),
        "setup" => setup::command(),
        "wrangler" => node::wrangler_command(rest),
        "size" => size::run(),
        "bench" => bench::bench(rest),
        "chaos" => bench::chaos(rest),
        "screenshots" => bench::screenshots(rest),
        "openapi" => bench::openapi(),
        "sim" => sim::command(rest),
        other => Err(format!(
            "there is no command `{other}`: `cargo xtask --help` lists them"
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if process::stopped() => ExitCode::from(130),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
