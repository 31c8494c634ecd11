//! Installs what is missing: npm packages and the Rust parts of the Worker's build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, process, settings};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// `cargo xtask setup`.
pub fn command() -> Outcome {
    npm()?;
    settings::ensure()?;
    let rust = rust()?;
    println!("ready: {}", rust.describe());
    Ok(())
}

/// `npm ci`, if package-lock.json is not the one that was installed.
pub fn npm() -> Outcome {
    let lock = fs::read(root().join("package-lock.json"))
        .map_err(|error| format!("package-lock.json cannot be read: {error}"))?;
    let stamp = root().join("node_modules/.xtask-lock");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    println!("installing npm packages (once)");
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    // Warnings about the engines of an older Node are harmless: wrangler is run with its own.
    let mut ci = Command::new(npm);
    ci.args(["ci", "--loglevel=error"]).current_dir(root());
    process::run("npm ci", &mut ci)
        .map_err(|error| format!("{error}: Node 20 or newer with npm 10 or newer is needed"))?;
    fs::write(&stamp, lock)
        .map_err(|error| format!("{} cannot be written: {error}", stamp.display()))
}

/// How the Worker is compiled on this machine.
#[derive(Clone, Copy)]
pub enum Rust {
    /// With unwinding, so that a panic is one failed call: the standard library is built with it.
    Unwind { nightly: bool },
    /// Without: a panic takes every call of its isolate with it.
    Abort,
}

impl Rust {
    pub fn describe(self) -> &'static str {
        match self {
            Self::Unwind { nightly: false } => {
                "the Worker unwinds (this toolchain, standard library from source)"
            }
            Self::Unwind { nightly: true } => {
                "the Worker unwinds (nightly, standard library from source)"
            }
            Self::Abort => "the Worker aborts on panic",
        }
    }
}

/// Finds a way to compile the Worker, adding what rustup can add.
///
/// The first choice needs no second toolchain: the active one, its own library source (a few MB), and
/// RUSTC_BOOTSTRAP, which lets a stable cargo build the standard library.
pub fn rust() -> Outcome<Rust> {
    if std::env::var_os("XTASK_PANIC").is_some_and(|value| value == "abort") {
        return abort();
    }
    if has_source(&[]) {
        return Ok(Rust::Unwind { nightly: false });
    }
    println!("adding the Rust library source: rustup component add rust-src");
    if rustup(&["component", "add", "rust-src"]) && has_source(&[]) {
        return Ok(Rust::Unwind { nightly: false });
    }
    if has_source(&["+nightly"])
        || (rustup(&[
            "toolchain",
            "install",
            "nightly",
            "--profile",
            "minimal",
            "--component",
            "rust-src",
        ]) && has_source(&["+nightly"]))
    {
        return Ok(Rust::Unwind { nightly: true });
    }
    eprintln!(
        "\nWARNING: no Rust library source could be had, so this build ABORTS ON PANIC: one panic ends every\n\
         call in flight of its isolate. Good enough to look around; do not deploy it.\n\
         To fix it: rustup component add rust-src\n"
    );
    abort()
}

fn abort() -> Outcome<Rust> {
    let target = sysroot(&[]).map(|path| path.join("lib/rustlib/wasm32-unknown-unknown"));
    if target.is_some_and(|path| path.exists())
        || rustup(&["target", "add", "wasm32-unknown-unknown"])
    {
        return Ok(Rust::Abort);
    }
    Err("the Rust target for Wasm is missing: rustup target add wasm32-unknown-unknown".into())
}

fn has_source(toolchain: &[&str]) -> bool {
    sysroot(toolchain).is_some_and(|path| {
        path.join("lib/rustlib/src/rust/library/Cargo.lock")
            .exists()
    })
}

fn sysroot(toolchain: &[&str]) -> Option<PathBuf> {
    let args: Vec<&str> = toolchain
        .iter()
        .copied()
        .chain(["--print", "sysroot"])
        .collect();
    process::output("rustc", &args).map(PathBuf::from)
}

fn rustup(args: &[&str]) -> bool {
    let mut command = Command::new("rustup");
    process::run("rustup", command.args(args)).is_ok()
}
