//! What `--help` prints.

use std::process::ExitCode;

const COMMANDS: &[(&str, &str, &str)] = &[
    (
        "dev",
        "[--bare] [--port N] [--state DIR]",
        "Sets up what is missing, builds, migrates the local database and runs on http://localhost:8787\n\
         with its own minute tick. Prints a sign-in link; a demonstration job fires every few seconds.\n\
         --bare       no demonstration job\n\
         --port N     another port (8787)\n\
         --state DIR  where the local state lives (.wrangler/state)",
    ),
    (
        "test",
        "[--fast]",
        "Sets up what is missing and runs every test. --fast leaves out the crash and browser tests and\n\
         gives the simulator 200 seeds in place of 2,000.\n\
         Browser tests use $CHROMIUM or /usr/bin/chromium and are skipped without one, except where CI=true.",
    ),
    (
        "build",
        "[--release]",
        "Compiles the Worker to build/. Development profile, or release with --release and under\n\
         `wrangler deploy`. XTASK_SKIP_BUILD=1 keeps what is there; XTASK_PANIC=abort builds without\n\
         unwinding, to see what that does.",
    ),
    (
        "setup",
        "",
        "Installs what is missing (npm packages, Rust parts, local secrets) and nothing else.",
    ),
    (
        "wrangler",
        "ARGS",
        "Runs wrangler with the right Node: `cargo xtask wrangler deploy`, `… tail`, `… d1 …`.",
    ),
    (
        "size",
        "",
        "Builds for release and prints wasm_gzip_bytes=, script_gzip_bytes= and startup_cpu_ms=.",
    ),
    (
        "bench",
        "next | herd --jobs N | agents --count N | pages",
        "Measures. Ends with lines of key=value.",
    ),
    (
        "chaos",
        "--kills N",
        "Kills real processes with SIGKILL while jobs run. Ends with lines of key=value.",
    ),
    (
        "sim",
        "--seeds N [--from S] | --seed S [--trace] | mutations | shrink --seed S",
        "Runs the real machines in worlds where everything fails, and checks them from outside.\n\
         --seeds N [--from S] [--threads T] [--twice] [--verbose]\n\
         \x20            N worlds from seed S (0), after those of crates/sim/regressions.txt. Every tenth is\n\
         \x20            run twice and must come out equal (--twice: all). Ends with lines of key=value;\n\
         \x20            --verbose adds how often each fault fired.\n\
         --seed S [--trace] [--mutation NAME]\n\
         \x20            One world: what it holds, and with --trace all that happens in it.\n\
         mutations [--seeds N] [--mutation NAME] [--threads T]\n\
         \x20            Plants each bug, or that one, until a checker finds it within N seeds (200).\n\
         shrink --seed S [--mutation NAME]\n\
         \x20            Makes a failing world smaller while it still violates the same invariant.",
    ),
    ("openapi", "", "Writes the OpenAPI document."),
    (
        "screenshots",
        "",
        "Takes a picture of every page in both languages, light and dark, wide and narrow.",
    ),
];

pub fn all() -> ExitCode {
    println!("cargo xtask COMMAND\n");
    for (name, args, text) in COMMANDS {
        println!(
            "  {}\n      {}",
            format!("{name} {args}").trim_end(),
            text.replace('\n', "\n      ")
        );
    }
    ExitCode::SUCCESS
}

pub fn of(command: &str) -> ExitCode {
    match COMMANDS.iter().find(|(name, ..)| *name == command) {
        Some((name, args, text)) => {
            println!("cargo xtask {name} {args}\n\n{text}");
            ExitCode::SUCCESS
        }
        None => all(),
    }
}
