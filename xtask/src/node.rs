//! Node and wrangler.
//!
//! wrangler needs Node 22.12 or newer. If the machine's own is older, the one that came with `npm ci`
//! (a platform package, no install script) is used, by path: npm does not link it reliably.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::{Outcome, process, setup};

const NEEDED: (u32, u32) = (22, 12);

/// The Node that runs our scripts.
pub fn path() -> Outcome<PathBuf> {
    if let Some(version) = process::output("node", &["--version"])
        && version_of(&version).is_some_and(|found| found >= NEEDED)
    {
        return Ok(PathBuf::from("node"));
    }
    let os = if cfg!(windows) { "win" } else { "linux" };
    let cpu = if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "x64"
    };
    let binary = if cfg!(windows) {
        "bin/node.exe"
    } else {
        "bin/node"
    };
    let packaged = setup::root()
        .join(format!("node_modules/node-{os}-{cpu}"))
        .join(binary);
    if packaged.exists() {
        return Ok(packaged);
    }
    Err("Node 22.12 or newer is needed: install it, or on Linux and Windows x64 run `cargo xtask setup`".into())
}

/// `node script…` at the root of the repository, with that Node first on PATH.
pub fn script(script: &str) -> Outcome<Command> {
    let node = path()?;
    let mut command = Command::new(&node);
    command.arg(script);
    environment(&mut command, &node);
    Ok(command)
}

/// Runs in the repository, finds the right Node first on PATH, and keeps wrangler quiet and offline.
pub fn environment(command: &mut Command, node: &std::path::Path) {
    command
        .current_dir(setup::root())
        .env("NODE", node)
        // No request for sample `request.cf` data, no telemetry, no error reports.
        .env("CLOUDFLARE_CF_FETCH_ENABLED", "false")
        .env("WRANGLER_SEND_METRICS", "false")
        .env("WRANGLER_SEND_ERROR_REPORTS", "false")
        .env("WRANGLER_HIDE_BANNER", "true");
    if let Some(folder) = node.parent().filter(|folder| folder.is_absolute()) {
        let rest = env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(folder.to_path_buf()).chain(env::split_paths(&rest));
        if let Ok(joined) = env::join_paths(all) {
            command.env("PATH", joined);
        }
    }
}

/// `wrangler …`.
pub fn wrangler() -> Outcome<Command> {
    script("node_modules/wrangler/bin/wrangler.js")
}

/// `cargo xtask wrangler …`.
pub fn wrangler_command(args: &[String]) -> Outcome {
    setup::npm()?;
    process::run("wrangler", wrangler()?.args(args))
}

/// Brings the local database in `state` up to date.
pub fn migrate(state: &str) -> Outcome {
    println!("migrating the local database in {state}");
    let output = wrangler()?
        .args([
            "d1",
            "migrations",
            "apply",
            "DB",
            "--local",
            "--persist-to",
            state,
        ])
        // Answers its question.
        .env("CI", "1")
        .output()
        .map_err(|error| format!("cannot run wrangler: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "the local database could not be migrated; `--state DIR` starts an empty one.\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_compare_by_number() {
        assert_eq!(super::version_of("v22.12.0"), Some((22, 12)));
        assert!(super::version_of("v9.9.9") < Some(super::NEEDED));
        assert_eq!(super::version_of("nonsense"), None);
    }
}
