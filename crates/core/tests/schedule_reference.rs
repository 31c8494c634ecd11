//! The engine against a second, slow reading of the rules.
//!
//! The reference shares no code with the engine: it asks of each value whether the text matches it,
//! walks local days one by one, and lets jiff's civil times say what is a gap and what a repeat.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod schedule_support;

use cronwright_core::schedule::{Cron, Zone, rfc3339};
use cronwright_core::time::{Millis, SECOND};
use schedule_support::cases::{Case, Random, changes, clock_change_case, general_case};
use schedule_support::reference::Reference;

const FIRES: usize = 4;

fn engine(case: &Case) -> Cron {
    let zone = Zone::get(case.zone).unwrap();
    let cron = Cron::parse(&case.text, case.dialect, zone);
    cron.unwrap_or_else(|error| panic!("{case:?}: {error}"))
}

/// The engine's fires, counts and backward search for a case, against the reference.
fn check(case: &Case) {
    let cron = engine(case);
    let from = Millis(case.from * SECOND);
    let expected: Vec<Millis> = Reference::new(&case.text, case.dialect, case.zone)
        .fires(case.from, FIRES)
        .into_iter()
        .map(|second| Millis(second * SECOND))
        .collect();
    let mut found = Vec::new();
    let mut at = from;
    while found.len() < FIRES
        && let Some(next) = cron.next(at)
    {
        found.push(next);
        at = next;
    }
    let words = |fires: &[Millis]| fires.iter().map(|f| rfc3339(*f)).collect::<Vec<_>>();
    assert_eq!(words(&found), words(&expected), "{case:?}");

    let mut before = from;
    for (i, fire) in expected.iter().enumerate() {
        let n = i as u64 + 1;
        assert_eq!(
            cron.count(from, *fire),
            n,
            "{case:?} until {}",
            rfc3339(*fire)
        );
        assert_eq!(cron.count(from, fire.plus(-1)), n - 1, "{case:?}");
        assert_eq!(cron.last_at_or_before(*fire, from), Some(*fire), "{case:?}");
        let previous = (before > from).then_some(before);
        assert_eq!(
            cron.last_at_or_before(fire.plus(-1), from),
            previous,
            "{case:?}"
        );
        before = *fire;
    }
}

#[test]
fn the_engine_agrees_with_the_reference_on_random_texts() {
    let mut random = Random::new(20_261_129);
    for _ in 0..2_500 {
        check(&general_case(&mut random));
    }
}

#[test]
fn the_engine_agrees_with_the_reference_around_clock_changes() {
    let mut random = Random::new(7);
    let changes = changes();
    for _ in 0..2_500 {
        check(&clock_change_case(&mut random, &changes));
    }
}

/// T24: ten years in every zone there is.
#[test]
fn every_zone_runs_forwards_for_ten_years() {
    let names: Vec<String> = jiff::tz::TimeZoneDatabase::bundled()
        .available()
        .map(|name| name.to_string())
        .collect();
    assert!(names.len() > 500);
    let (start, end) = (Millis(1_577_836_800_000), Millis(1_893_456_000_000));
    for name in names {
        for text in ["30 2 * * *", "*/30 0-3 * * 0"] {
            let zone = Zone::get(&name).unwrap();
            let cron = Cron::parse(text, cronwright_core::schedule::Dialect::Unix, zone).unwrap();
            let mut at = start;
            let mut count = 0;
            while let Some(next) = cron.next(at).filter(|next| *next <= end) {
                assert!(next > at, "{name} {text}");
                at = next;
                count += 1;
            }
            assert_eq!(cron.count(start, end), count, "{name} {text}");
        }
    }
}
