//! Commands whose work is done by other programs: benchmarks and chaos (Node scripts under tests/, on
//! the release build) and the OpenAPI document (Rust).

use std::process::Command;

use crate::{Outcome, node, process, settings, setup, test, wasm};

/// `cargo xtask bench next | …`.
pub fn bench(args: &[String]) -> Outcome {
    match args {
        [] => {
            Err("usage: cargo xtask bench next | herd --jobs N | agents --count N | pages".into())
        }
        [what, rest @ ..] if what == "next" => cargo(
            &[
                "run",
                "--release",
                "--quiet",
                "--package",
                "cronwright-core",
                "--example",
                "bench_next",
                "--",
            ],
            rest,
        ),
        _ => on_release("tests/bench/main.mjs", args),
    }
}

/// `cargo xtask chaos --kills N`.
pub fn chaos(args: &[String]) -> Outcome {
    on_release("tests/chaos/main.mjs", args)
}

/// `cargo xtask screenshots`.
pub fn screenshots(args: &[String]) -> Outcome {
    if test::chromium().is_none() {
        return Err("no Chromium: install it, or set CHROMIUM to its path".into());
    }
    on_release("tests/browser/screenshots.mjs", args)
}

/// `cargo xtask openapi`.
pub fn openapi() -> Outcome {
    cargo(
        &[
            "run",
            "--quiet",
            "--package",
            "cronwright-protocol",
            "--features",
            "openapi",
            "--example",
            "openapi",
        ],
        &[],
    )
}

fn on_release(script: &str, args: &[String]) -> Outcome {
    setup::npm()?;
    settings::ensure()?;
    wasm::build(true)?;
    process::run(
        script,
        node::script(script)?
            .args(args)
            .env("XTASK_SKIP_BUILD", "1"),
    )
}

fn cargo(args: &[&str], rest: &[String]) -> Outcome {
    let mut command = Command::new("cargo");
    process::run(
        "cargo",
        command.args(args).args(rest).current_dir(setup::root()),
    )
}
