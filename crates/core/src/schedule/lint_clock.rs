//! Doubts about the time of day: too many fires, and the next clock change.

use super::civil::DAY_SECONDS;
use super::cron::Cron;
use super::days::Days;
use super::error::Field;
use super::lint::{HORIZON, Lint};
use super::set::Bits;
use super::shape::join;
use super::zone::{Local, Segment};
use crate::time::{Millis, SECOND};

const SIXTY: Bits = Bits::span(0, 59);
const DAY: Bits = Bits::span(0, 23);

/// `* */15 * * * *`: every second of some minutes or hours.
pub(super) fn every_second(cron: &Cron) -> Option<Lint> {
    let spec = cron.spec();
    if spec.seconds != SIXTY || (spec.minutes == SIXTY && spec.hours == DAY) {
        return None;
    }
    let (en, zh) = if spec.minutes == SIXTY {
        let hours = few(spec.hours);
        (format!("hours {hours}"), format!("{hours} 时内"))
    } else {
        let minutes = few(spec.minutes);
        (format!("minutes {minutes}"), format!("{minutes} 分内"))
    };
    let times = thousands(spec.times_per_day());
    let suggestion = if spec.minutes == SIXTY {
        cron.with_fields(&[(Field::Second, "0"), (Field::Minute, "0")])
    } else {
        cron.with_fields(&[(Field::Second, "0")])
    };
    let did = suggestion.as_deref().unwrap_or("");
    Some(
        Lint::new(
            "every_second",
            Field::Second,
            format!("fires every second during {en} — {times} times a day; did you mean `{did}`?"),
            format!("在{zh}每秒触发一次，每天 {times} 次；是否想写 `{did}`？"),
        )
        .suggest(suggestion),
    )
}

/// `* 2 * * *` or `* * 2 * *`: every minute of an hour or a day that was picked singly.
pub(super) fn every_minute(cron: &Cron) -> Option<Lint> {
    let spec = cron.spec();
    if spec.minutes != SIXTY || spec.seconds.len() != 1 {
        return None;
    }
    let one_hour = spec.hours.len() == 1;
    let picked = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let day = cron
        .field_text(Field::DayOfMonth)
        .filter(|text| picked(text));
    let (en, zh, suggestion) = match (one_hour, day) {
        (true, _) => (
            format!("hour {}", few(spec.hours)),
            format!("{} 时内", few(spec.hours)),
            cron.with_fields(&[(Field::Minute, "0")]),
        ),
        (false, Some(day)) if spec.hours == DAY => {
            let hour = day.parse().ok().filter(|hour: &u32| *hour < 24);
            let moved = hour.and_then(|_| {
                cron.with_fields(&[
                    (Field::Minute, "0"),
                    (Field::Hour, day),
                    (Field::DayOfMonth, "*"),
                ])
            });
            (format!("day {day}"), format!("{day} 日内"), moved)
        }
        _ => return None,
    };
    let times = thousands(spec.times_per_day());
    let did = match &suggestion {
        Some(text) => (
            format!("; did you mean `{text}`?"),
            format!("；是否想写 `{text}`？"),
        ),
        None => (String::new(), String::new()),
    };
    Some(
        Lint::new(
            "every_minute",
            Field::Minute,
            format!(
                "fires every minute of {en} — {times} times that day{}",
                did.0
            ),
            format!("在{zh}每分钟触发一次，当天 {times} 次{}", did.1),
        )
        .suggest(suggestion),
    )
}

/// A fixed time in the next hour that a clock change takes, or an interval job that has its whole day
/// there.
pub(super) fn in_next_gap(cron: &Cron, now: Millis) -> Option<Lint> {
    let from = now.0.div_euclid(SECOND);
    let mut segment = cron.zone().segment(from);
    while segment.end <= from.saturating_add(HORIZON) {
        segment = cron.zone().segment(segment.end);
        let start = segment.start + segment.before;
        let fires = cron.fires();
        if segment.gap() == 0 || !fires.days.any_between(start, start + segment.gap()) {
            continue;
        }
        if cron.is_interval() && fires_outside(&fires.days, &segment) {
            continue;
        }
        let gone = Local::of(start, 0);
        let back = Local::of(segment.start + segment.offset, 0);
        let date = format!("{:04}-{:02}-{:02}", gone.year, gone.month, gone.day);
        let (a, b) = (clock(&gone), clock(&back));
        let (en, zh) = if fires.makes_up(&segment) {
            (
                format!("fires in it run once, at {b}"),
                format!("其中的触发在 {b} 执行一次"),
            )
        } else {
            (
                "fires in it are skipped".to_owned(),
                "其中的触发被跳过".to_owned(),
            )
        };
        return Some(Lint::new(
            "next_gap",
            Field::Hour,
            format!(
                "{a} to {b} does not exist on {date} in {}: {en}",
                cron.zone().name()
            ),
            format!(
                "{} 的 {date} 没有 {a} 至 {b} 这段时间：{zh}",
                cron.zone().name()
            ),
        ));
    }
    None
}

/// Whether an interval job fires on the day of a gap all the same.
fn fires_outside(days: &Days<'_>, segment: &Segment) -> bool {
    let gap = segment.start + segment.before;
    let day = gap - gap.rem_euclid(DAY_SECONDS);
    let all = days.seconds_between(day, day + DAY_SECONDS);
    all > days.seconds_between(gap, gap + segment.gap())
}

pub(super) fn clock(local: &Local) -> String {
    super::shape::clock(local.hour, local.minute, local.second)
}

/// The members, or the first few of many.
fn few(bits: Bits) -> String {
    let all: Vec<String> = bits.iter().map(|v| v.to_string()).collect();
    match all.get(..6) {
        Some(first) if all.len() > 8 => format!("{}, …", first.join(", ")),
        _ => join(&all, ", ", ", "),
    }
}

/// `5,760`.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
