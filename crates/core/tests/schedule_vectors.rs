//! The public vectors, the public bugs, and the cases from the field.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use cronwright_core::schedule::{Cron, Dialect, Zone, code, parse_rfc3339, rfc3339};
use cronwright_core::time::Millis;

fn cron(text: &str, dialect: &str, zone: &str) -> Cron {
    let zone = Zone::get(zone).unwrap();
    Cron::parse(text, dialect.parse().unwrap(), zone).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn instant(text: &str) -> Millis {
    parse_rfc3339(text).unwrap_or_else(|| panic!("{text} is no instant"))
}

/// The next `n` fires, `none` for each that is missing.
fn fires(cron: &Cron, from: &str, n: usize) -> Vec<String> {
    let mut at = Some(instant(from));
    let mut fires = Vec::new();
    for _ in 0..n {
        at = at.and_then(|at| cron.next(at));
        fires.push(at.map_or_else(|| "none".to_owned(), rfc3339));
    }
    fires
}

fn rows(data: &str) -> impl Iterator<Item = Vec<&str>> {
    data.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split('\t').collect())
}

#[test]
fn every_public_vector_is_answered_as_the_rules_say() {
    let mut checked = 0;
    for row in rows(include_str!("data/schedule_vectors.tsv")) {
        let (id, dialect, zone, text, from) = (row[0], row[1], row[2], row[3], row[4]);
        checked += 1;
        if row[5] == "ERR" {
            let parsed = Cron::parse(text, dialect.parse().unwrap(), Zone::get(zone).unwrap());
            let error = parsed.expect_err(id);
            let (start, end) = error.span.expect(id);
            assert!(start <= end && end <= text.len(), "{id}: {error}");
            continue;
        }
        let cron = cron(text, dialect, zone);
        assert_eq!(fires(&cron, from, 3), row[5..8], "{id}: {text} in {zone}");
    }
    assert_eq!(checked, 153);
}

#[test]
fn public_bugs_of_other_schedulers_are_not_repeated() {
    let mut issues = std::collections::BTreeSet::new();
    for row in rows(include_str!("data/schedule_bugs.tsv")) {
        let cron = cron(row[3], row[1], row[2]);
        let expected = &row[5..];
        assert_eq!(fires(&cron, row[4], expected.len()), expected, "{}", row[0]);
        issues.insert(row[0]);
    }
    assert_eq!(issues.len(), 11);
}

/// T22, T23, T25, T26 of the cases from the field.
#[test]
fn clock_changes_move_only_the_times_they_take() {
    for (text, zone, from, expected) in [
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T12:00:00Z",
            "2026-03-29T01:00:00Z",
        ),
        (
            "0 0 * * *",
            "America/Sao_Paulo",
            "2018-11-03T12:00:00Z",
            "2018-11-04T03:00:00Z",
        ),
        (
            "0 10 * * *",
            "Europe/Berlin",
            "2026-03-28T12:00:00Z",
            "2026-03-29T08:00:00Z",
        ),
        (
            "0 9 * * *",
            "Asia/Shanghai",
            "2026-07-01T00:00:00Z",
            "2026-07-01T01:00:00Z",
        ),
        (
            "0 9 * * *",
            "America/New_York",
            "2026-07-01T00:00:00Z",
            "2026-07-01T13:00:00Z",
        ),
    ] {
        assert_eq!(
            fires(&cron(text, "unix", zone), from, 1),
            [expected],
            "{text} {zone}"
        );
    }
}

/// Samoa had no 2011-12-30, Kwajalein no 1993-08-21.
#[test]
fn a_calendar_day_that_a_zone_skips_is_not_made_up() {
    for (text, zone, from, expected) in [
        (
            "0 9 * * *",
            "Pacific/Apia",
            "2011-12-29T19:00:00Z",
            "2011-12-30T19:00:00Z",
        ),
        (
            "0 9 30 12 *",
            "Pacific/Apia",
            "2011-12-29T00:00:00Z",
            "2012-12-29T19:00:00Z",
        ),
        (
            "0 9 * * *",
            "Pacific/Kwajalein",
            "1993-08-20T21:00:00Z",
            "1993-08-21T21:00:00Z",
        ),
    ] {
        let cron = cron(text, "unix", zone);
        assert_eq!(fires(&cron, from, 1), [expected], "{text} {zone}");
        assert_eq!(cron.count(instant(from), instant(expected)), 1);
        let last = cron.last_at_or_before(instant(expected).plus(-1), instant(from));
        assert_eq!(last, None);
    }
}

/// T51.
#[test]
fn the_last_day_and_the_nearest_weekday_stay_in_their_month() {
    let last = cron("0 0 9 L * ?", "quartz", "UTC");
    let days = fires(&last, "2026-01-01T00:00:00Z", 4);
    assert_eq!(
        days,
        ["01-31", "02-28", "03-31", "04-30"].map(|day| format!("2026-{day}T09:00:00Z"))
    );
    let first = cron("0 0 9 1W 8 ? 2026", "quartz", "UTC");
    let days = fires(&first, "2026-01-01T00:00:00Z", 2);
    assert_eq!(days, ["2026-08-03T09:00:00Z", "none"]);
}

/// T54: what begins with a star is not restricted.
#[test]
fn both_day_fields_mean_or_unless_one_begins_with_a_star() {
    let and = cron("0 0 */10 * 1", "unix", "UTC");
    assert_eq!(
        fires(&and, "2026-11-02T00:00:00Z", 1),
        ["2026-12-21T00:00:00Z"]
    );
    let or = cron("0 0 1-31/10 * 1", "unix", "UTC");
    assert_eq!(
        fires(&or, "2026-11-02T00:00:00Z", 1),
        ["2026-11-09T00:00:00Z"]
    );
    let friday = cron("0 0 13 * 5", "unix", "UTC");
    let days = fires(&friday, "2026-12-05T00:00:00Z", 3);
    assert_eq!(
        days,
        ["11", "13", "18"].map(|day| format!("2026-12-{day}T00:00:00Z"))
    );
}

/// T55.
#[test]
fn malformed_text_is_refused_where_it_goes_wrong() {
    let utc = Zone::utc();
    let error = Cron::parse("0 0 0 ? * 6#2?", Dialect::Quartz, utc).unwrap_err();
    assert_eq!(error.span, Some((13, 14)));
    assert_eq!((error.found.as_str(), error.code), ("?", code::BAD_VALUE));
    assert!(error.to_string().contains("at column 14"), "{error}");

    let list = cron("0 0 0 1,L * ?", "quartz", "UTC");
    let days = fires(&list, "2026-02-01T00:00:00Z", 2);
    assert_eq!(days, ["2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z"]);

    let never = cron("0 0 0 31 2 ?", "quartz", "UTC");
    let now = instant("2026-11-29T00:00:00Z");
    assert_eq!(never.never(now).unwrap().reason, "no_such_date");
    assert_eq!(never.refuse_never(now).unwrap_err().code, code::NEVER_FIRES);
    assert_eq!(list.refuse_never(now), Ok(()));
}

#[test]
fn a_schedule_that_ended_says_so() {
    let now = instant("2026-11-29T00:00:00Z");
    let over = cron("0 0 0 1 1 ? 2020", "quartz", "UTC");
    assert_eq!(over.never(now).unwrap().reason, "years_over");
    let no_leap_year = cron("0 0 0 29 2 ? 2027", "quartz", "UTC");
    assert_eq!(no_leap_year.never(now).unwrap().reason, "only_in_gaps");
}

/// The whole calendar has 84,006 days; the ends of it are ordinary.
#[test]
fn the_first_and_the_last_second_of_the_calendar_fire() {
    let seconds = cron("* * * * * *", "unix-seconds", "Pacific/Kiritimati");
    let (min, max) = (Millis(i64::MIN), Millis(i64::MAX));
    // Kiritimati was 10:40 behind in 1970 and is 14:00 ahead in 2199.
    assert_eq!(rfc3339(seconds.next(min).unwrap()), "1970-01-01T10:40:00Z");
    assert_eq!(
        rfc3339(seconds.last_at_or_before(max, min).unwrap()),
        "2199-12-31T09:59:59Z"
    );
    let days = cron("0 0 0 * * ?", "quartz", "UTC");
    assert_eq!(days.count(min, max), 84_006);
    assert_eq!(days.next(instant("2199-12-31T00:00:00Z")), None);
}
