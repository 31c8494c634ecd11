//! What holds for every text, zone and instant.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod schedule_support;

use cronwright_core::schedule::{
    Cron, Dialect, DialectChoice, Every, Lang, Schedule, Zone, Zones, parse_period, parse_rfc3339,
    preview, readings, resolve_dialect,
};
use cronwright_core::time::{DAY, Millis, SECOND};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use schedule_support::cases::{Case, Random, changes, clock_change_case, general_case};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261_129),
        ..ProptestConfig::default()
    }
}

fn compile(case: &Case) -> Cron {
    Cron::parse(&case.text, case.dialect, Zone::get(case.zone).unwrap()).unwrap()
}

fn any_case() -> impl Strategy<Value = Case> {
    any::<u64>().prop_map(|seed| general_case(&mut Random::new(seed)))
}

fn any_clock_change() -> impl Strategy<Value = Case> {
    let changes = changes();
    any::<u64>().prop_map(move |seed| clock_change_case(&mut Random::new(seed), &changes))
}

/// The invariants of the clock rule, from one start.
fn invariants(case: &Case, permille: i64) -> Result<(), TestCaseError> {
    let cron = compile(case);
    let start = Millis(case.from * SECOND);
    let mut at = start;
    for _ in 0..20 {
        let Some(next) = cron.next(at) else { break };
        prop_assert!(next > at, "{case:?}");
        prop_assert_eq!(next.0 % SECOND, 0);
        let between = at.plus((next.since(at) - 1) / 1_000 * permille);
        prop_assert_eq!(
            cron.next(between),
            Some(next),
            "{:?} from {:?}",
            case,
            between
        );
        prop_assert_eq!(cron.next(next.plus(-1)), Some(next), "{:?}", case);
        prop_assert_eq!(
            cron.last_at_or_before(next.plus(-1), at),
            None,
            "{:?}",
            case
        );
        at = next;
    }
    Ok(())
}

/// Counting and searching backwards, against walking.
fn counts(case: &Case, days: i64) -> Result<(), TestCaseError> {
    let cron = compile(case);
    let start = Millis(case.from * SECOND);
    let end = start.plus(days * DAY / 4);
    let fires: Vec<Millis> = std::iter::successors(cron.next(start), |at| cron.next(*at))
        .take_while(|at| *at <= end)
        .take(5_000)
        .collect();
    if fires.len() == 5_000 {
        return Ok(());
    }
    prop_assert_eq!(
        cron.count(start, end),
        fires.len() as u64,
        "{:?} {}",
        case,
        days
    );
    prop_assert_eq!(
        cron.last_at_or_before(end, start),
        fires.last().copied(),
        "{:?}",
        case
    );
    if let Some(middle) = fires.get(fires.len() / 2) {
        let (head, tail) = (cron.count(start, *middle), cron.count(*middle, end));
        prop_assert_eq!(head + tail, fires.len() as u64, "{:?}", case);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn fires_only_move_forwards(case in any_case(), permille in 0..1_000_i64) {
        invariants(&case, permille)?;
    }

    #[test]
    fn fires_only_move_forwards_around_clock_changes(
        case in any_clock_change(), permille in 0..1_000_i64,
    ) {
        invariants(&case, permille)?;
    }

    #[test]
    fn counts_are_what_a_walk_finds(case in any_case(), days in 1..800_i64) {
        counts(&case, days)?;
    }

    #[test]
    fn counts_are_what_a_walk_finds_around_clock_changes(
        case in any_clock_change(), days in 1..20_i64,
    ) {
        counts(&case, days)?;
    }

    #[test]
    fn a_period_is_counted_as_it_is_walked(
        period in 1_000..10_000_000_i64, anchor in -1_000_000..1_000_000_i64,
        start in -10_000_000..10_000_000_i64, span in 0..100_000_000_i64,
    ) {
        let every = Every::new(period, Millis(anchor)).unwrap();
        let (start, end) = (Millis(start), Millis(start + span));
        let fires: Vec<Millis> = std::iter::successors(every.next(start), |at| every.next(*at))
            .take_while(|at| *at <= end)
            .collect();
        prop_assert_eq!(every.count(start, end), fires.len() as u64);
        prop_assert_eq!(every.last_at_or_before(end, start), fires.last().copied());
        prop_assert!(fires.windows(2).all(|pair| pair[1].since(pair[0]) == period));
    }
}

/// Everything that can be asked of a text, at any time.
fn ask_everything(text: &str, at: Millis) {
    let zone = Zone::utc();
    for dialect in [Dialect::Quartz, Dialect::Unix, Dialect::UnixSeconds] {
        if let Ok(cron) = Cron::parse(text, dialect, zone.clone()) {
            let _ = cron.last_at_or_before(at, Millis(i64::MIN));
            let _ = cron.count(Millis(i64::MIN), at);
            let _ = cron.describe(Lang::Zh);
            let _ = preview(&Schedule::Cron(cron), at, usize::MAX);
        }
    }
    let _ = resolve_dialect(text, DialectChoice::Auto, &zone, at);
    let _ = readings(text, &zone, at);
    let _ = parse_period(text);
    let _ = parse_rfc3339(text);
    let _ = Zone::get(text);
    let _ = text.parse::<DialectChoice>();
}

proptest! {
    #![proptest_config(config(1_500))]

    #[test]
    fn no_text_makes_it_panic(text in ".{0,40}", at in any::<i64>()) {
        ask_everything(&text, Millis(at));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        ask_everything(&String::from_utf8_lossy(&bytes), Millis(0));
    }

    #[test]
    fn no_near_miss_makes_it_panic(
        text in "([0-9*?LW#,/@a-z-]{1,6} ){4,6}[0-9*?LW#,/-]{1,6}", at in any::<i64>(),
    ) {
        ask_everything(&text, Millis(at));
    }
}

#[test]
fn enormous_texts_and_numbers_are_refused_at_once() {
    for text in [
        "*".repeat(1_000_000),
        "0 ".repeat(500_000),
        format!("{} * * * *", "9".repeat(200)),
        format!("*/{} * * * *", "9".repeat(200)),
        format!("0 0 * * MON#{}", "9".repeat(200)),
        format!("every {}s", "9".repeat(1_000_000)),
        "１２".repeat(100_000),
    ] {
        ask_everything(&text, Millis(0));
        assert!(Cron::parse(&text, Dialect::Unix, Zone::utc()).is_err());
    }
}

#[test]
fn the_ends_of_time_are_no_trap() {
    let mut zones = Zones::default();
    for zone in ["UTC", "America/New_York", "Pacific/Kiritimati"] {
        let zone = zones.get(zone).unwrap();
        let cron = Cron::parse("*/5 * * * *", Dialect::Unix, zone.clone()).unwrap();
        let (min, max) = (Millis(i64::MIN), Millis(i64::MAX));
        let (first, last) = (
            cron.next(min).unwrap(),
            cron.last_at_or_before(max, min).unwrap(),
        );
        assert_eq!(cron.next(max), None);
        assert_eq!(cron.last_at_or_before(min, min), None);
        assert_eq!(cron.count(max, min), 0);
        assert_eq!(cron.count(first, last) + 1, cron.count(min, max));
        for at in [min, max] {
            let _ = (
                zone.offset_seconds_at(at),
                zone.local(at),
                zone.abbreviation_at(at),
            );
            let _ = preview(&Schedule::Cron(cron.clone()), at, 5);
            let every = Every::new(1_000, at).unwrap();
            let _ = preview(&Schedule::Every(every), at, 5);
        }
    }
}

/// A year of every second: counted by months, not by fires.
#[test]
fn a_year_of_seconds_is_counted_exactly() {
    let zone = Zone::get("America/New_York").unwrap();
    let cron = Cron::parse("* * * * * *", Dialect::UnixSeconds, zone).unwrap();
    let start = parse_rfc3339("2026-01-01T05:00:00Z").unwrap();
    assert_eq!(cron.count(start, start.plus(365 * DAY)), 365 * 86_400);
}
