//! What people read: descriptions, lints, previews and refusals.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use cronwright_core::schedule::{
    Cron, Dialect, DialectChoice, Every, Field, Lang, Schedule, Zone, code, parse_rfc3339, preview,
    readings, resolve_dialect, tzdb_version,
};
use cronwright_core::time::Millis;

fn cron(text: &str, dialect: &str, zone: &str) -> Cron {
    let zone = Zone::get(zone).unwrap();
    Cron::parse(text, dialect.parse().unwrap(), zone).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn now() -> Millis {
    parse_rfc3339("2026-11-29T14:00:00Z").unwrap()
}

const WORDS: &[(&str, &str, &str, &str)] = &[
    ("quartz", "0 0/5 * * * ?", "Every 5 minutes", "每 5 分钟"),
    ("unix", "0 2 * * *", "At 02:00 every day", "每天 02:00"),
    (
        "unix",
        "30 2,14 * * *",
        "At 02:30 and 14:30 every day",
        "每天 02:30、14:30",
    ),
    ("unix", "* * * * *", "Every minute", "每分钟"),
    ("unix", "0 * * * *", "Every hour", "每小时"),
    ("unix", "0 */2 * * *", "Every 2 hours", "每 2 小时"),
    (
        "unix",
        "15 * * * *",
        "At minute 15 of every hour",
        "每小时第 15 分",
    ),
    ("unix-seconds", "* * * * * *", "Every second", "每秒"),
    (
        "unix-seconds",
        "*/10 * * * * *",
        "Every 10 seconds",
        "每 10 秒",
    ),
    (
        "quartz",
        "0 15 10 ? * 6L",
        "At 10:15 on the last Friday of the month",
        "每月最后一个周五 10:15",
    ),
    (
        "quartz",
        "0 15 10 ? * 6#3",
        "At 10:15 on the third Friday of the month",
        "每月第三个周五 10:15",
    ),
    (
        "quartz",
        "0 15 10 L-3 * ?",
        "At 10:15, 3 days before the last day of the month",
        "每月最后一天的前 3 天 10:15",
    ),
    (
        "quartz",
        "0 15 10 L * ?",
        "At 10:15 on the last day of the month",
        "每月最后一天 10:15",
    ),
    (
        "quartz",
        "0 15 10 LW * ?",
        "At 10:15 on the last weekday (Monday to Friday) of the month",
        "每月最后一个工作日 10:15",
    ),
    (
        "quartz",
        "0 15 10 15W * ?",
        "At 10:15 on the weekday nearest day 15",
        "每月离 15 日最近的工作日 10:15",
    ),
    (
        "unix",
        "30 4 1,15 * 5",
        "At 04:30 on day 1 and 15, or on Friday",
        "每月 1 日、15 日，或周五 04:30",
    ),
    (
        "unix",
        "0 12 */2 * 1",
        "At 12:00 on day 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 and 31, but only on Monday",
        "",
    ),
    (
        "quartz",
        "0 0 22-2 * * ?",
        "Every hour from 22:00 to 02:00",
        "22:00 至次日 02:00 每小时",
    ),
    (
        "unix",
        "*/15 9-17 * * 1-5",
        "Every 15 minutes from 09:00 to 17:59 on Monday to Friday",
        "每周一至周五 09:00 至 17:59 每 15 分钟",
    ),
    (
        "quartz",
        "0 0 9 ? * 2",
        "At 09:00 on Monday",
        "每周一 09:00",
    ),
    ("unix", "0 9 * * 2", "At 09:00 on Tuesday", "每周二 09:00"),
    (
        "quartz",
        "0 0 0 1 NOV-FEB ?",
        "At 00:00 on day 1 from November to February",
        "11 月至次年 2 月 1 日 00:00",
    ),
    (
        "quartz",
        "0 30 9 ? 1-3 2-6 2024-2026",
        "At 09:30 on Monday to Friday from January to March, from 2024 until 2026",
        "2024 至 2026 年，1 月至 3 月的每周一至周五 09:30",
    ),
    (
        "quartz",
        "0 0 0 1 1 ? 2026,2028",
        "At 00:00 on day 1 in January, in 2026 and 2028",
        "2026 年、2028 年，1 月 1 日 00:00",
    ),
    (
        "unix-seconds",
        "* */15 * * * *",
        "Every second during minutes 0, 15, 30 and 45 of every hour",
        "第 0 分、15 分、30 分、45 分内每秒",
    ),
    ("unix", "@weekly", "At 00:00 on Sunday", "每周日 00:00"),
    (
        "unix",
        "*/25 * * * *",
        "At minutes 0, 25 and 50 of every hour",
        "第 0 分、25 分、50 分",
    ),
    (
        "unix",
        "0 0-20/5 * * *",
        "At 00:00, 05:00, 10:00, 15:00 and 20:00 every day",
        "每天 00:00、05:00、10:00、15:00、20:00",
    ),
    (
        "unix-seconds",
        "30 */2 * * * *",
        "At second 30 of every second minute of every hour",
        "",
    ),
    (
        "quartz",
        "0 0 12 ? * FRI-MON",
        "At 12:00 on Friday to Monday",
        "每周五至周一 12:00",
    ),
    (
        "quartz",
        "0 15 10 1,15,L * ?",
        "At 10:15 on day 1 and 15 and on the last day of the month",
        "每月 1 日、15 日、最后一天 10:15",
    ),
    (
        "quartz",
        "0 15 10 L-3W * ?",
        "At 10:15 on the weekday nearest to 3 days before the last day of the month",
        "每月离最后一天的前 3 天最近的工作日 10:15",
    ),
];

#[test]
fn descriptions_say_what_the_sets_mean() {
    for (dialect, text, en, zh) in WORDS {
        let cron = cron(text, dialect, "UTC");
        assert_eq!(cron.describe(Lang::En), format!("{en} (UTC)"), "{text}");
        if !zh.is_empty() {
            assert_eq!(cron.describe(Lang::Zh), format!("{zh}（UTC）"), "{text}");
        }
    }
}

fn lint_codes(cron: &Cron) -> Vec<&'static str> {
    cron.lints(now()).iter().map(|lint| lint.code).collect()
}

/// T53.
#[test]
fn every_second_of_some_minutes_is_doubted_with_its_count() {
    let odd = cron("* */15 * * * *", "unix-seconds", "UTC");
    let lint = &odd.lints(now())[0];
    assert_eq!(lint.code, "every_second");
    assert_eq!(
        lint.message_en,
        "fires every second during minutes 0, 15, 30, 45 — 5,760 times a day; \
         did you mean `0 */15 * * * *`?"
    );
    assert_eq!(lint.suggestion.as_deref(), Some("0 */15 * * * *"));
}

#[test]
fn lints_name_what_is_probably_not_meant() {
    for (dialect, text, zone, expected) in [
        ("unix", "*/15 * * * *", "UTC", &[][..]),
        ("unix", "0 2 * * *", "UTC", &[]),
        ("quartz", "0 0/5 * * * ?", "UTC", &[]),
        ("unix", "*/7 * * * *", "UTC", &["uneven_step"]),
        ("unix", "* * 2 * *", "UTC", &["every_minute"]),
        ("unix", "* 2 * * *", "UTC", &["every_minute"]),
        ("unix", "5/15 * * * *", "UTC", &["open_step"]),
        (
            "unix",
            "0 12 */2 * 1",
            "UTC",
            &["uneven_step", "star_step_day"],
        ),
        ("unix", "0 0 13 * 5", "UTC", &["either_day"]),
        ("unix", "0 0 31 * *", "UTC", &["missing_months"]),
        ("unix", "0 0 30 * *", "UTC", &["missing_months"]),
        ("quartz", "0 0 0 30 2 ?", "UTC", &["never_fires"]),
        ("unix", "30 2 * * *", "America/New_York", &["next_gap"]),
        ("unix", "30 4 * * *", "America/New_York", &[]),
        ("unix", "30 * * * *", "America/New_York", &[]),
        ("unix", "*/15 2 * * *", "America/New_York", &["next_gap"]),
    ] {
        assert_eq!(lint_codes(&cron(text, dialect, zone)), expected, "{text}");
    }
    let hours = cron("* * 2 * *", "unix", "UTC").lints(now());
    assert_eq!(hours[0].suggestion.as_deref(), Some("0 2 * * *"));
    let step = cron("5/15 * * * *", "unix", "UTC").lints(now());
    assert_eq!(step[0].suggestion.as_deref(), Some("5-59/15 * * * *"));
}

#[test]
fn a_preview_notes_what_clock_changes_do() {
    let from = parse_rfc3339("2027-03-13T12:00:00Z").unwrap();
    let gap = preview(
        &Schedule::Cron(cron("30 2 * * *", "unix", "America/New_York")),
        from,
        5,
    );
    let first = &gap.next[0];
    assert_eq!(first.utc, "2027-03-14T07:00:00Z");
    assert_eq!(first.local, "2027-03-14T03:00:00-04:00");
    assert_eq!(first.weekday.en, "Sunday");
    let note = first.note.as_ref().unwrap();
    assert_eq!(
        note.en,
        "02:30 does not exist on 2027-03-14; runs at 03:00 EDT"
    );
    assert_eq!(gap.next[1].note, None);
    assert_eq!(gap.next.len(), 5);
    assert_eq!(gap.average_gap_ms, Some(86_400_000));

    let from = parse_rfc3339("2026-10-31T12:00:00Z").unwrap();
    let twice = preview(
        &Schedule::Cron(cron("30 1 * * *", "unix", "America/New_York")),
        from,
        1,
    );
    let note = twice.next[0].note.as_ref().unwrap();
    assert_eq!(note.en, "01:30 happens twice; first pass only");

    let from = parse_rfc3339("2026-11-01T05:30:00Z").unwrap();
    let both = preview(
        &Schedule::Cron(cron("30 * * * *", "unix", "America/New_York")),
        from,
        1,
    );
    let note = both.next[0].note.as_ref().unwrap();
    assert!(
        note.en
            .starts_with("interval: also runs in the repeated hour"),
        "{note:?}"
    );
}

#[test]
fn a_preview_tells_the_end_and_the_reason_for_nothing() {
    let ends = preview(
        &Schedule::Cron(cron("0 0 12 1 1 ? 2027-2028", "quartz", "UTC")),
        now(),
        5,
    );
    assert_eq!(ends.last_fire.as_deref(), Some("2028-01-01T12:00:00Z"));
    assert_eq!(ends.next.len(), 2);
    let never = preview(
        &Schedule::Cron(cron("0 0 0 31 2 ?", "quartz", "UTC")),
        now(),
        5,
    );
    assert_eq!(never.never.unwrap().reason, "no_such_date");
    let past = preview(&Schedule::At(Millis(0)), now(), 5);
    assert_eq!(past.never.unwrap().reason, "in_the_past");
    let every = Every::new(90_000, Millis(0)).unwrap();
    let every = preview(&Schedule::Every(every), now(), 2);
    assert_eq!(every.description.en, "Every 1 min 30 s");
    assert_eq!(every.shortest_gap_ms, Some(90_000));
    assert!(preview(&Schedule::None, now(), 5).next.is_empty());
}

#[test]
fn a_preview_is_camel_case_json() {
    let schedule = Schedule::Cron(cron("0 0 2 * * ?", "quartz", "Asia/Shanghai"));
    let json = serde_json::to_value(preview(&schedule, now(), 1)).unwrap();
    assert_eq!(json["dialect"], "quartz");
    assert_eq!(json["tzdbVersion"], tzdb_version());
    assert_eq!(json["next"][0]["utc"], "2026-11-29T18:00:00Z");
    assert_eq!(json["next"][0]["local"], "2026-11-30T02:00:00+08:00");
    assert_eq!(json["next"][0]["weekday"]["zh"], "周一");
    assert_eq!(json["next"][0]["inMs"], 4 * 3_600_000);
    assert!(json["next"][0].get("note").is_none());
    assert_eq!(json["description"]["zh"], "每天 02:00（Asia/Shanghai）");
}

#[test]
fn the_bundled_zones_are_the_release_the_vectors_need() {
    assert!(tzdb_version() >= "2026e", "{}", tzdb_version());
}

#[test]
fn auto_tells_a_dialect_or_refuses() {
    for (text, expected) in [
        ("0 2 * * *", Ok(Dialect::Unix)),
        ("@daily", Ok(Dialect::Unix)),
        ("0 0/5 * * * ?", Ok(Dialect::Quartz)),
        ("0 0 12 ? * 1", Ok(Dialect::Quartz)),
        ("0 0 12 * * ? 2027", Ok(Dialect::Quartz)),
        ("0 0 12 L-3 * *", Ok(Dialect::Quartz)),
        ("0 0 22-2 * * *", Ok(Dialect::Quartz)),
        ("0 0 12 * * FRI-MON", Ok(Dialect::Quartz)),
        ("0 0 2 * * *", Ok(Dialect::UnixSeconds)),
        ("0 0 2 * * MON-FRI", Ok(Dialect::UnixSeconds)),
        ("0 0 2 * * MON#2", Ok(Dialect::UnixSeconds)),
        ("0 0 2 1 * *", Ok(Dialect::UnixSeconds)),
        ("0 0 12 * * 1", Err(code::AMBIGUOUS_DIALECT)),
        ("0 0 12 * * 1-7", Err(code::AMBIGUOUS_DIALECT)),
        ("0 0 12 * * L", Err(code::AMBIGUOUS_DIALECT)),
        ("0 0 12 1 * MON", Err(code::AMBIGUOUS_DIALECT)),
        ("0 0 12 * * MON/2", Err(code::AMBIGUOUS_DIALECT)),
        ("0 61 12 * * MON", Err(code::OUT_OF_RANGE)),
        ("* * * *", Err(code::FIELD_COUNT)),
        ("every 5s", Err(code::INTERVAL)),
        ("@every 5s", Err(code::INTERVAL)),
        ("@reboot", Err(code::NO_REBOOT)),
        ("", Err(code::EMPTY)),
    ] {
        let found = resolve_dialect(text, DialectChoice::Auto, &Zone::utc(), now());
        assert_eq!(found.map_err(|e| e.code), expected, "{text}");
    }
}

#[test]
fn an_ambiguous_text_is_shown_in_both_readings() {
    let zone = Zone::get("Asia/Shanghai").unwrap();
    let text = "0 0 12 * * 1";
    let error = resolve_dialect(text, DialectChoice::Auto, &zone, now()).unwrap_err();
    // 2026-11-30 is a Monday, 2026-12-06 a Sunday.
    let both = "quartz: 2026-12-06T12:00:00+08:00, 2026-12-13T12:00:00+08:00, \
                2026-12-20T12:00:00+08:00; unix-seconds: 2026-11-30T12:00:00+08:00, \
                2026-12-07T12:00:00+08:00, 2026-12-14T12:00:00+08:00";
    assert_eq!(error.hint, both);
    let [quartz, unix] = readings(text, &zone, now());
    assert_eq!((quartz.next.len(), unix.next.len()), (3, 3));
    let quartz = resolve_dialect(text, DialectChoice::Fixed(Dialect::Quartz), &zone, now());
    assert_eq!(quartz, Ok(Dialect::Quartz));
}

#[test]
fn refusals_point_at_what_is_wrong() {
    use Field::{DayOfMonth, DayOfWeek, Hour, Minute, Month, Year};
    for (dialect, text, code, field, span) in [
        ("unix", "0 24 * * *", code::OUT_OF_RANGE, Some(Hour), (2, 4)),
        (
            "unix",
            "  0 24 * * *",
            code::OUT_OF_RANGE,
            Some(Hour),
            (4, 6),
        ),
        (
            "unix",
            "5-1 * * * *",
            code::BACKWARDS_RANGE,
            Some(Minute),
            (0, 3),
        ),
        (
            "unix",
            "0 12 * * FRI-MON",
            code::BACKWARDS_RANGE,
            Some(DayOfWeek),
            (9, 16),
        ),
        (
            "unix",
            "0 0 1,,2 * *",
            code::BAD_VALUE,
            Some(DayOfMonth),
            (6, 6),
        ),
        ("unix", "*/0 * * * *", code::BAD_STEP, Some(Minute), (2, 3)),
        ("unix", "/5 * * * *", code::BAD_VALUE, Some(Minute), (0, 0)),
        ("unix", "0 0 * MOO *", code::BAD_VALUE, Some(Month), (6, 9)),
        (
            "unix",
            "0 0 * * MONDAY",
            code::BAD_VALUE,
            Some(DayOfWeek),
            (8, 14),
        ),
        (
            "unix",
            "0 0 * * L",
            code::BAD_VALUE,
            Some(DayOfWeek),
            (8, 9),
        ),
        (
            "unix",
            "0 0 ？ * *",
            code::BAD_VALUE,
            Some(DayOfMonth),
            (4, 7),
        ),
        (
            "quartz",
            "0 0 0 ? * ?",
            code::QUESTION_MARK,
            Some(DayOfWeek),
            (10, 11),
        ),
        (
            "quartz",
            "0 ? 0 * * ?",
            code::BAD_VALUE,
            Some(Minute),
            (2, 3),
        ),
        (
            "quartz",
            "0 0 0 1 * MON",
            code::BOTH_DAYS,
            Some(DayOfWeek),
            (10, 13),
        ),
        (
            "quartz",
            "0 0 0 L-31 * ?",
            code::OUT_OF_RANGE,
            Some(DayOfMonth),
            (8, 10),
        ),
        (
            "quartz",
            "0 0 0 1-5W * ?",
            code::BAD_VALUE,
            Some(DayOfMonth),
            (6, 10),
        ),
        (
            "quartz",
            "0 0 0 ? * 6#6",
            code::OUT_OF_RANGE,
            Some(DayOfWeek),
            (12, 13),
        ),
        (
            "quartz",
            "0 0 0 1 1 ? 2200",
            code::OUT_OF_RANGE,
            Some(Year),
            (12, 16),
        ),
        (
            "quartz",
            "0 0 0 1 1 ? 2030-2020",
            code::BACKWARDS_RANGE,
            Some(Year),
            (12, 21),
        ),
        ("unix", "0 0 * * * *", code::FIELD_COUNT, None, (10, 11)),
        ("unix", "@daily 5", code::FIELD_COUNT, None, (7, 8)),
        ("unix", "@dayly", code::UNKNOWN_MACRO, None, (0, 6)),
    ] {
        let error = Cron::parse(text, dialect.parse().unwrap(), Zone::utc()).unwrap_err();
        assert_eq!(
            (error.code, error.field, error.span),
            (code, field, Some(span)),
            "{text}: {error}"
        );
        let found = text.get(span.0..span.1).unwrap();
        assert!(
            error.found == found || error.code == code::FIELD_COUNT,
            "{error}"
        );
    }
}

#[test]
fn a_refusal_is_one_clear_sentence() {
    let error = Cron::parse("0 24 * * *", Dialect::Unix, Zone::utc()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hour: value out of range: found '24' at column 3, allowed: 0-23, * , - /; \
         midnight is hour 0"
    );
    let json = serde_json::to_value(&error).unwrap();
    assert_eq!(json["field"], "hour");
    let range = Cron::parse("0 12 * * FRI-MON", Dialect::Unix, Zone::utc()).unwrap_err();
    assert_eq!(range.hint, "write FRI-SAT,SUN-MON");
    let range = Cron::parse("0 12 * * 5-0", Dialect::Unix, Zone::utc()).unwrap_err();
    assert_eq!(range.hint, "write 5-7: Sunday is also 7");
}
