//! How far it is, on stderr when that is a terminal; and the one clock of this crate.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Real time, for rates. A world has its own.
#[expect(
    clippy::disallowed_methods,
    reason = "a program on a developer's machine measures how fast it is"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// Draws until all is done; returns at once where nobody looks.
pub fn watch(total: u64, done: impl Fn() -> u64, ended: impl Fn() -> bool) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let start = now();
    while !ended() {
        write(&format!("\r{}\x1b[K", line(done(), total, start.elapsed())));
        std::thread::sleep(Duration::from_millis(100));
    }
    clear();
}

/// Takes the bar away, so that what is printed next begins a line of its own.
pub fn clear() {
    write("\r\x1b[K");
}

/// One line in place of the last.
pub fn show(text: &str) {
    write(&format!("\r{text}\x1b[K"));
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    if stderr.is_terminal() {
        // A terminal that has gone away is no reason to stop.
        let _ = stderr.write_all(text.as_bytes());
        let _ = stderr.flush();
    }
}

fn line(done: u64, total: u64, passed: Duration) -> String {
    const WIDTH: u64 = 30;
    let full = done.saturating_mul(WIDTH).checked_div(total).unwrap_or(0);
    let bar: String = (0..WIDTH)
        .map(|cell| if cell < full { '#' } else { '.' })
        .collect();
    let rate = rate(done, passed);
    format!("[{bar}] {done} of {total} seeds, {rate:.1} a second")
}

/// How many a second; none at once is 0.
pub fn rate(count: u64, passed: Duration) -> f64 {
    let seconds = passed.as_secs_f64();
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_as_full_as_the_work_is_done() {
        let half = line(10, 20, Duration::from_secs(4));
        assert_eq!(half.matches('#').count(), 15);
        assert!(half.ends_with("10 of 20 seeds, 2.5 a second"), "{half}");
        assert_eq!(line(0, 0, Duration::ZERO).matches('#').count(), 0);
    }
}
