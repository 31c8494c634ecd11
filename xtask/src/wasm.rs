//! Compiles the Worker to build/: cargo, then tools/bundle. Also wrangler's own build command.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use crate::setup::{self, Rust};
use crate::{Outcome, process};

/// `cargo xtask build [--release]`.
pub fn command(args: &[String]) -> Outcome {
    let release = match args {
        [] => false,
        [flag] if flag == "--release" => true,
        _ => return Err("usage: cargo xtask build [--release]".into()),
    };
    // wrangler says what it builds for: only `dev` wants a quick build.
    let deploying = env::var("WRANGLER_COMMAND").is_ok_and(|command| command != "dev");
    build(release || deploying)
}

/// Compiles the Worker to build/, unless XTASK_SKIP_BUILD=1 and something is there.
pub fn build(release: bool) -> Outcome {
    let out = setup::root().join("build");
    if env::var_os("XTASK_SKIP_BUILD").is_some_and(|value| value == "1")
        && out.join("index.js").exists()
    {
        return Ok(());
    }
    let rust = setup::rust()?;
    let target = target_dir(rust);
    fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    // `dev` and a test run in another terminal may build at once; build/ is replaced by one at a time.
    let lock =
        fs::File::create(target.join(".xtask-lock")).and_then(|file| file.lock().map(|()| file));
    let _lock = lock.map_err(|error| format!("the build lock cannot be taken: {error}"))?;

    let mut bundler = cargo(rust, "build");
    bundler.args(["--package", "cronwright-bundle"]);
    process::run("building tools/bundle", &mut bundler)?;

    let mut worker = worker_cargo(rust, "build");
    worker.args(["--lib", "--package", "cronwright"]);
    if release {
        worker.arg("--release");
    }
    process::run("compiling the Worker", &mut worker)?;

    let profile = if release { "release" } else { "debug" };
    let wasm = target
        .join("wasm32-unknown-unknown")
        .join(profile)
        .join("cronwright.wasm");
    let built = fs::metadata(&wasm).map_err(|error| format!("{}: {error}", wasm.display()))?;
    let stamp = format!("{profile} {} {:?}", built.len(), built.modified().ok());
    let stamped = out.join(".stamp");
    if fs::read_to_string(&stamped).is_ok_and(|last| last == stamp) {
        return Ok(());
    }
    let program = target
        .join("debug")
        .join(format!("cronwright-bundle{}", env::consts::EXE_SUFFIX));
    process::run(
        "bundling the Worker",
        Command::new(program)
            .args((profile == "release").then_some("--release"))
            .arg(wasm)
            .arg(&out),
    )?;
    fs::write(&stamped, stamp).map_err(|error| format!("{}: {error}", stamped.display()))
}

/// Its own target folder: RUSTC_BOOTSTRAP is visible to build scripts, so that sharing one with a plain
/// `cargo test` would make each rebuild the other's procedural macros.
fn target_dir(rust: Rust) -> PathBuf {
    let base =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| setup::root().join("target"), PathBuf::from);
    base.join(if matches!(rust, Rust::Abort) {
        "worker-abort"
    } else {
        "worker"
    })
}

fn cargo(rust: Rust, subcommand: &str) -> Command {
    let mut command = Command::new("cargo");
    if let Rust::Unwind { nightly: true } = rust {
        command.arg("+nightly");
    }
    command
        .arg(subcommand)
        .arg("--target-dir")
        .arg(target_dir(rust))
        .current_dir(setup::root());
    // Cargo's own progress says more than we could, but only where somebody looks.
    if env::var_os("WRANGLER_COMMAND").is_some() {
        command.arg("--quiet");
    }
    if let Rust::Unwind { nightly: false } = rust {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    command
}

/// A cargo command for the Worker as it is shipped: wasm32, with unwinding where that can be had.
pub fn worker_cargo(rust: Rust, subcommand: &str) -> Command {
    let mut command = cargo(rust, subcommand);
    command.args(["--target", "wasm32-unknown-unknown"]);
    if let Rust::Unwind { .. } = rust {
        command.arg("-Zbuild-std=std,panic_unwind");
        let flags = env::var("RUSTFLAGS").unwrap_or_default();
        command.env("RUSTFLAGS", format!("{flags} -Cpanic=unwind").trim_start());
    }
    command
}
