//! The engine against the `cron` crate, where both mean the same: six or seven fields in UTC, one day
//! field restricted at most, no `L`, `W`, `#` and no range over the end of a field.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod schedule_support;

use std::str::FromStr;

use chrono::{DateTime, Utc};
use cronwright_core::schedule::{Cron, Dialect, Zone};
use cronwright_core::time::Millis;
use schedule_support::cases::{Random, field};

fn text(r: &mut Random) -> String {
    let second = r.pick(&["0", "0", "30", "*/20", "*", "5/15", "10-20"]);
    let minute = field(r, 0, 59, false, 20);
    let hour = field(r, 0, 23, false, 30);
    let month = match r.number(0, 2) {
        0 => field(r, 1, 12, false, 10),
        _ => r.pick(&["*", "FEB,MAR", "jun-aug"]).to_owned(),
    };
    let (day, weekday) = match r.number(0, 3) {
        0 => ("?".to_owned(), "*".to_owned()),
        1 => (field(r, 1, 31, false, 10), "?".to_owned()),
        2 => ("?".to_owned(), field(r, 1, 7, false, 0)),
        _ => (
            "?".to_owned(),
            r.pick(&["MON-FRI", "SUN", "tue,THU"]).to_owned(),
        ),
    };
    let year = r.pick(&["", "", " *", " 2024-2030", " 2025", " 2026/3"]);
    format!("{second} {minute} {hour} {day} {month} {weekday}{year}")
}

#[test]
fn the_engine_agrees_with_the_cron_crate_in_utc() {
    let mut random = Random::new(17);
    let mut fires = 0;
    for _ in 0..2_000 {
        let text = text(&mut random);
        let ours = Cron::parse(&text, Dialect::Quartz, Zone::utc()).unwrap();
        let theirs = cron::Schedule::from_str(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut at = Millis(random.number(0, 2_208_988_800) * 1_000);
        for _ in 0..4 {
            let start: DateTime<Utc> = DateTime::from_timestamp_millis(at.0).unwrap();
            let expected = theirs
                .after(&start)
                .next()
                .map(|t| Millis(t.timestamp_millis()));
            let found = ours.next(at);
            // The crate's calendar ends with 2100.
            if expected.is_none() && found.is_some_and(|t| t.0 > 4_133_980_800_000) {
                break;
            }
            assert_eq!(found, expected, "{text} after {start}");
            let Some(next) = found else { break };
            at = next;
            fires += 1;
        }
    }
    assert!(fires > 6_000, "only {fires} fires compared");
}
