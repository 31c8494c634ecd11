//! `cargo xtask test [--fast]`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use crate::stages::Stages;
use crate::{Outcome, node, process, settings, setup, sim, wasm};

pub fn run(args: &[String]) -> Outcome {
    let fast = match args {
        [] => false,
        [flag] if flag == "--fast" => true,
        _ => return Err("usage: cargo xtask test [--fast]".into()),
    };
    let mut stages = Stages::default();
    let npm = thread::spawn(setup::npm);

    stages.run("format", || cargo(&["fmt", "--all", "--check"]));
    stages.run("native tests", || cargo(&["test", "--no-fail-fast"]));
    sim::stages(&mut stages, fast);
    stages.run("the API's document is fresh", || {
        cargo(&[
            "test",
            "--package",
            "cronwright-protocol",
            "--features",
            "openapi",
            "--test",
            "openapi_document",
        ])
    });
    stages.run("clippy, native", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])
    });
    stages.run("clippy, Worker", || {
        let mut clippy = wasm::worker_cargo(setup::rust()?, "clippy");
        process::run(
            "clippy",
            clippy.args(["--package", "cronwright", "--", "-D", "warnings"]),
        )
    });
    let built = stages.run("build", || wasm::build(false));
    let set_up = stages.run("npm packages", || {
        npm.join().map_err(|_| "npm ci failed".to_owned())??;
        settings::ensure()
    });
    if built && set_up {
        node_stages(&mut stages, fast);
    } else {
        stages.skip(
            "runtime tests",
            "the Worker or the npm packages are missing",
        );
    }
    stages.close()
}

fn node_stages(stages: &mut Stages, fast: bool) {
    node_tests(stages, "runtime tests", "tests/runtime", &[]);
    node_tests(stages, "conformance tests", "tests/conformance", &[]);
    if fast {
        return;
    }
    node_tests(stages, "crash tests", "tests/crash", &[]);
    match chromium() {
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            node_tests(
                stages,
                "browser tests",
                "tests/browser",
                &[("CHROMIUM", &path)],
            );
        }
        None if env::var("CI").is_ok_and(|value| value == "true") => {
            stages.run("browser tests", || {
                Err("no Chromium: apt-get install chromium".into())
            });
        }
        None => stages.skip(
            "browser tests",
            "no Chromium: install it, or set CHROMIUM to its path",
        ),
    }
    stages.run("deploy, dry run", || {
        let mut deploy = node::wrangler()?;
        // Checks wrangler.toml and the bundle with what was just built; the release build has its own command.
        deploy
            .args(["deploy", "--dry-run", "--outdir", "dist"])
            .env("XTASK_SKIP_BUILD", "1");
        process::run("wrangler deploy --dry-run", &mut deploy)
    });
}

/// `node --test` over `folder/*.test.mjs`, one file after another: each starts a whole runtime.
fn node_tests(stages: &mut Stages, name: &str, folder: &str, variables: &[(&str, &str)]) {
    let files = test_files(&setup::root().join(folder));
    if files.is_empty() {
        stages.skip(name, &format!("no {folder}/*.test.mjs yet"));
        return;
    }
    stages.run(name, || {
        let mut tests = node::script("--test")?;
        tests
            .args(["--test-concurrency=2", "--test-reporter=spec"])
            .args(&files)
            .env("XTASK_SKIP_BUILD", "1")
            .envs(variables.iter().copied());
        process::run(name, &mut tests)
    });
}

fn test_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    files.sort();
    files
}

/// $CHROMIUM, or where Debian puts it.
pub fn chromium() -> Option<PathBuf> {
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    named
        .into_iter()
        .chain([PathBuf::from("/usr/bin/chromium")])
        .find(|path| path.exists())
}

fn cargo(args: &[&str]) -> Outcome {
    let mut command = Command::new("cargo");
    process::run("cargo", command.args(args).current_dir(setup::root()))
}
