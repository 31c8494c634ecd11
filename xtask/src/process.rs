//! Child processes: what runs is known, so that a signal to xtask stops all of it.

use std::collections::BTreeSet;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Outcome;

static STOPPED: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a signal asked xtask to stop.
pub fn stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// INT, TERM and HUP reach every child; a second signal does not wait for them.
pub fn forward_signals() {
    let handler = || {
        let again = STOPPED.swap(true, Ordering::SeqCst);
        for pid in running().iter() {
            signal(*pid, if again { "KILL" } else { "TERM" });
        }
        if again {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("xtask: signals cannot be handled ({error}); stop the children by hand");
    }
}

// Through the system's own command: std can only send KILL, and a libc call would need `unsafe`.
fn signal(pid: u32, name: &str) {
    let mut command = if cfg!(windows) {
        let mut taskkill = Command::new("taskkill");
        taskkill.args(["/F", "/T", "/PID", &pid.to_string()]);
        taskkill
    } else {
        let mut kill = Command::new("kill");
        kill.args(["-s", name, &pid.to_string()]);
        kill
    };
    // A child that is already gone is what was wanted.
    let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// A running child that is stopped when it is dropped.
pub struct Running {
    child: Child,
    what: String,
    /// Kept open, since its end is what tells a leashed child to stop; `Child::wait` would close it.
    _stdin: Option<ChildStdin>,
}

impl Running {
    pub fn wait(&mut self) -> Outcome<ExitStatus> {
        let status = self
            .child
            .wait()
            .map_err(|error| format!("{}: {error}", self.what));
        running().remove(&self.child.id());
        status
    }

    pub fn ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn stop(&mut self) {
        if !self.ended() {
            signal(self.child.id(), "TERM");
            let patience = Instant::now();
            while !self.ended() && patience.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(20));
            }
            if !self.ended() {
                signal(self.child.id(), "KILL");
            }
        }
        running().remove(&self.child.id());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts a child. `what` names it in errors.
pub fn start(what: &str, command: &mut Command) -> Outcome<Running> {
    if stopped() {
        return Err("stopped".into());
    }
    let mut child = command.spawn().map_err(|error| {
        format!(
            "{what}: cannot run `{}`: {error}",
            command.get_program().to_string_lossy()
        )
    })?;
    running().insert(child.id());
    if stopped() {
        // The signal came between the check and the registration.
        signal(child.id(), "TERM");
    }
    let _stdin = child.stdin.take();
    Ok(Running {
        child,
        what: what.into(),
        _stdin,
    })
}

/// Starts a child in a process group of its own, so that the terminal's ^C reaches xtask alone and the
/// child is stopped in order. Its stdin stays open for as long as xtask lives: see leash.mjs.
pub fn start_apart(what: &str, command: &mut Command) -> Outcome<Running> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    start(what, command.stdin(Stdio::piped()))
}

/// Runs a child to its end; anything but success is an error.
pub fn run(what: &str, command: &mut Command) -> Outcome {
    let status = start(what, command)?.wait()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{what} failed ({status})"))
    }
}

/// Runs a child quietly and returns what it printed, or nothing if it failed.
pub fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(args)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
