//! `cargo xtask dev`: everything from a fresh clone to a job that fires.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::process::{self, Running};
use crate::{Outcome, http, node, settings, setup, wasm};

struct Options {
    bare: bool,
    port: u16,
    state: String,
}

fn parse(args: &[String]) -> Outcome<Options> {
    let mut options = Options {
        bare: false,
        port: 8787,
        state: ".wrangler/state".into(),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), &mut args) {
            ("--bare", _) => options.bare = true,
            ("--port", rest) => {
                let port = rest.next().and_then(|value| value.parse().ok());
                options.port = port
                    .filter(|port| *port > 0)
                    .ok_or("--port needs a number from 1 to 65535")?;
            }
            ("--state", rest) => {
                options.state = rest.next().ok_or("--state needs a folder")?.clone()
            }
            (other, _) => return Err(format!("`{other}`? See `cargo xtask dev --help`")),
        }
    }
    Ok(options)
}

pub fn run(args: &[String], start: Instant) -> Outcome {
    let options = parse(args)?;
    let started_at = SystemTime::now()
        .checked_sub(start.elapsed())
        .unwrap_or(UNIX_EPOCH);
    if http::taken(options.port) {
        return Err(format!(
            "port {} is in use: stop what runs there, or give --port N",
            options.port
        ));
    }

    // npm and the database need the network and Node, the Worker needs the compiler: side by side.
    let state = options.state.clone();
    let beside = thread::spawn(move || {
        setup::npm()?;
        settings::ensure()?;
        node::migrate(&state)
    });
    println!("building the Worker (the first time takes about a minute)");
    wasm::build(false)?;
    beside
        .join()
        .map_err(|_| "the set-up failed".to_owned())??;

    let mut wrangler = wrangler_dev(&options)?;
    wait_until_healthy(options.port, &mut wrangler)?;
    println!("ready_ms={}", start.elapsed().as_millis());
    let port = options.port;
    thread::spawn(move || tick_each_minute(port));

    let _demo = if options.bare {
        None
    } else {
        Some(demonstration(&options, started_at)?)
    };
    let status = wrangler.wait()?;
    if process::stopped() || status.success() {
        Ok(())
    } else {
        Err(format!("wrangler dev ended ({status})"))
    }
}

fn wrangler_dev(options: &Options) -> Outcome<Running> {
    // Held on a leash: when xtask dies, even by SIGKILL, the runtime goes too.
    let mut command = node::script("tests/support/leash.mjs")?;
    command
        .arg(node::path()?)
        .arg("node_modules/wrangler/bin/wrangler.js")
        .args(["dev", "--show-interactive-dev-session=false"])
        .args([
            "--port",
            &options.port.to_string(),
            "--persist-to",
            &options.state,
        ])
        // Jobs may call this machine; on Cloudflare that is refused.
        .args(["--var", "ALLOW_LOOPBACK:1"])
        // A registry of its own: another session's Worker of the same name must not answer for ours.
        .env(
            "WRANGLER_REGISTRY_PATH",
            setup::root().join(&options.state).join("registry"),
        );
    process::start_apart("wrangler dev", &mut command)
}

fn wait_until_healthy(port: u16, wrangler: &mut Running) -> Outcome {
    let patience = Instant::now();
    while patience.elapsed() < Duration::from_secs(60) {
        if http::get(port, "/health") == Some(200) {
            return Ok(());
        }
        if process::stopped() || wrangler.ended() {
            return Err("wrangler dev ended before it was ready: its own message is above".into());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err(format!(
        "http://localhost:{port}/health did not answer 200 within 60 s: its answer says what is missing"
    ))
}

/// Nothing fires cron triggers locally, so this does, at each full minute.
fn tick_each_minute(port: u16) {
    loop {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let rest = 60_000 - (now.as_millis() % 60_000) as u64;
        thread::sleep(Duration::from_millis(rest));
        let minute = (now.as_millis() as u64 + rest) / 60_000 * 60_000;
        let _ = http::get(
            port,
            &format!("/cdn-cgi/local/scheduled?cron=*+*+*+*+*&time={minute}"),
        );
    }
}

fn demonstration(options: &Options, started_at: SystemTime) -> Outcome<Running> {
    let started = started_at
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis();
    let mut command = node::script("tests/support/demo.mjs")?;
    command
        .args(["--url", &format!("http://localhost:{}", options.port)])
        .args(["--state", &options.state, "--started", &started.to_string()]);
    process::start_apart("demo", &mut command)
}
