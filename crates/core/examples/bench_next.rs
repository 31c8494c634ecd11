//! How long one `next` takes, alone and against the `cron` crate.
//!
//! `cargo run -p cronwright-core --release --example bench_next` ends with `next_ns` (median of the
//! everyday lines), `worst_ns` (slowest of the rare ones), `count_year_us` and `vs_cron_ratio` (median
//! over the everyday lines of the crate's time by ours). The crate is asked in UTC throughout, which is
//! in its favour: it has no zone data without `chrono-tz`.
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::hint::black_box;
use std::str::FromStr;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use cronwright_core::schedule::{Cron, Dialect, ScheduleError, Zone};
use cronwright_core::time::{DAY, Millis};

const EVERYDAY: &[(&str, &str)] = &[
    ("0 * * * * ?", "UTC"),
    ("*/5 * * * * ?", "UTC"),
    ("0 0 2 * * ?", "UTC"),
    ("0 30 9 ? * MON-FRI", "UTC"),
    ("0 0 2 * * ?", "Asia/Shanghai"),
    ("0 0/5 * * * ?", "Asia/Shanghai"),
    ("0 30 2 * * ?", "America/New_York"),
    ("0 */15 * * * ?", "America/New_York"),
    ("0 0 9 1,15 * ?", "Europe/Berlin"),
];

const WORST: &[(&str, &str)] = &[
    ("0 0 0 30 2 ?", "UTC"),
    ("0 0 0 30 2 ?", "America/New_York"),
    ("0 0 0 29 2 ?", "America/New_York"),
    ("0 0 0 ? 2 MON#5", "America/New_York"),
    ("59 59 23 31 12 ? 2199", "America/New_York"),
    ("0 0 0 29 2 ? 2196", "America/New_York"),
    ("0 0 0 29 2 ? 2197", "America/New_York"),
    ("0 0/30 2 8-14 3 ? 2027", "America/New_York"),
    ("0 0 0 31W 2,4,6,9,11 ?", "America/New_York"),
    ("0 0 0 LW * ?", "America/New_York"),
];

/// The fastest of several rounds, per call.
fn measure(mut call: impl FnMut(i64)) -> f64 {
    const CALLS: i64 = 2_000;
    // 2026-11-29, and then on by an odd step so that no two calls are alike.
    let (start, step) = (1_795_960_800_000, 7_919_000);
    let mut best = Duration::MAX;
    for _ in 0..15 {
        let clock = Instant::now();
        for i in 0..CALLS {
            call(start + i * step);
        }
        best = best.min(clock.elapsed());
    }
    best.as_secs_f64() * 1e9 / CALLS as f64
}

fn ours(text: &str, zone: &str) -> Result<f64, ScheduleError> {
    let cron = Cron::parse(text, Dialect::Quartz, Zone::get(zone)?)?;
    Ok(measure(|at| {
        black_box(cron.next(black_box(Millis(at))));
    }))
}

fn theirs(text: &str) -> Option<f64> {
    let schedule = cron::Schedule::from_str(text).ok()?;
    Some(measure(|at| {
        let from: DateTime<Utc> = DateTime::from_timestamp_millis(at).unwrap_or_default();
        black_box(schedule.after(black_box(&from)).next());
    }))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<(), ScheduleError> {
    let (mut everyday, mut ratios, mut worst) = (Vec::new(), Vec::new(), 0.0_f64);
    println!(
        "{:<26} {:<18} {:>9} {:>9}",
        "line", "zone", "next ns", "cron ns"
    );
    for (text, zone) in EVERYDAY.iter().chain(WORST) {
        let (our, their) = (ours(text, zone)?, theirs(text));
        let shown = their.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}"));
        println!("{text:<26} {zone:<18} {our:>9.0} {shown:>9}");
        if EVERYDAY.contains(&(text, zone)) {
            everyday.push(our);
            ratios.extend(their.map(|their| their / our));
        } else {
            worst = worst.max(our);
        }
    }
    let seconds = Cron::parse(
        "* * * * * ?",
        Dialect::Quartz,
        Zone::get("America/New_York")?,
    )?;
    let year = measure(|at| {
        black_box(seconds.count(Millis(at), Millis(at + 366 * DAY)));
    });
    let parse = measure(|_| {
        black_box(
            Cron::parse(
                "0 30 9 ? * MON-FRI",
                Dialect::Quartz,
                seconds.zone().clone(),
            )
            .is_ok(),
        );
    });
    println!("parse_ns={parse:.0}");
    println!("count_year_us={:.2}", year / 1e3);
    println!("next_ns={:.0}", median(everyday));
    println!("worst_ns={worst:.0}");
    println!("vs_cron_ratio={:.1}", median(ratios));
    Ok(())
}
