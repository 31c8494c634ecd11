//! Cron sets in English.

use super::set::Bits;
use super::shape::{Shape, YearShape, clock, clock_times, join};
use super::spec::{ALL_MONTH_DAYS, ALL_WEEK_DAYS, DayRule, MonthDays, Spec, WeekDays};

pub(super) const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// The whole sentence, without zone and full stop.
pub(super) fn cron(spec: &Spec) -> String {
    let times = clock_times(spec);
    let fixed = times.is_some();
    let mut text = match times {
        Some(times) => format!("At {}", list(&times)),
        None => rhythm(spec),
    };
    text.push_str(&days(spec, fixed));
    text.push_str(&months(spec.months));
    text.push_str(&years(&YearShape::of(&spec.years)));
    text
}

fn list(items: &[String]) -> String {
    join(items, ", ", " and ")
}

fn numbers(items: &[u32]) -> String {
    list(&items.iter().map(u32::to_string).collect::<Vec<_>>())
}

fn named(bits: Bits, names: &[&str], lo: u32) -> String {
    let hi = lo + u32::try_from(names.len()).unwrap_or(1) - 1;
    let name = |v: u32| names.get((v - lo) as usize).copied().unwrap_or("");
    match Shape::of(bits, lo, hi) {
        Shape::Range(first, last) => format!("{} to {}", name(first), name(last)),
        _ => list(&bits.iter().map(|v| name(v).to_owned()).collect::<Vec<_>>()),
    }
}

/// Seconds, minutes and hours that are not a few clock times.
fn rhythm(spec: &Spec) -> String {
    let hours = Shape::of(spec.hours, 0, 23);
    let minutes = Shape::of(spec.minutes, 0, 59);
    if spec.seconds == Bits(1) {
        return match (&minutes, &hours) {
            (Shape::List(one), _) if one.len() == 1 => at_minute(one, &hours),
            (Shape::All, Shape::All) => "Every minute".to_owned(),
            (Shape::Step(n), _) => format!("Every {n} minutes{}", during(&hours)),
            (Shape::All, _) => format!("Every minute{}", during(&hours)),
            (Shape::Range(a, b), _) => {
                format!("Every minute from minute {a} to {b}{}", of_hours(&hours))
            }
            (Shape::List(list), _) => {
                format!("At minutes {}{}", numbers(list), of_hours(&hours))
            }
        };
    }
    let seconds = match Shape::of(spec.seconds, 0, 59) {
        Shape::All => "Every second".to_owned(),
        Shape::Step(n) => format!("Every {n} seconds"),
        Shape::Range(a, b) => format!("Every second from second {a} to {b}"),
        Shape::List(list) if list.len() == 1 => format!("At second {}", numbers(&list)),
        Shape::List(list) => format!("At seconds {}", numbers(&list)),
    };
    let whole =
        spec.seconds.len() == 60 || matches!(Shape::of(spec.seconds, 0, 59), Shape::Step(_));
    let minutes = match &minutes {
        Shape::All if whole => return format!("{seconds}{}", during(&hours)),
        Shape::All => " of every minute".to_owned(),
        Shape::Step(n) if whole && *n > 1 => {
            format!(
                " during minutes {}",
                numbers(&spec.minutes.iter().collect::<Vec<_>>())
            )
        }
        Shape::Step(n) => format!(" of every {} minute", ordinal(*n)),
        Shape::Range(a, b) => format!(" during minutes {a} to {b}"),
        Shape::List(list) if list.len() == 1 => format!(" during minute {}", numbers(list)),
        Shape::List(list) => format!(" during minutes {}", numbers(list)),
    };
    format!("{seconds}{minutes}{}", of_hours(&hours))
}

/// One minute of some hours.
fn at_minute(minute: &[u32], hours: &Shape) -> String {
    let minute = minute.first().copied().unwrap_or(0);
    let every = if minute == 0 {
        "Every hour".to_owned()
    } else {
        format!("At minute {minute} of every hour")
    };
    match hours {
        Shape::All => every,
        Shape::Step(n) if minute == 0 => format!("Every {n} hours"),
        Shape::Step(n) => format!("Every {n} hours at minute {minute}"),
        Shape::Range(a, b) => {
            format!(
                "{every} from {} to {}",
                clock(*a, minute, 0),
                clock(*b, minute, 0)
            )
        }
        Shape::List(_) => format!("At minute {minute}{}", of_hours(hours)),
    }
}

/// Hours around a rhythm of minutes.
fn during(hours: &Shape) -> String {
    match hours {
        Shape::All => String::new(),
        Shape::Range(a, b) => format!(" from {} to {}", clock(*a, 0, 0), clock(*b, 59, 0)),
        Shape::Step(n) => format!(" of every {} hour", ordinal(*n)),
        Shape::List(list) => {
            let spans: Vec<String> = list
                .iter()
                .map(|h| format!("{} to {}", clock(*h, 0, 0), clock(*h, 59, 0)))
                .collect();
            format!(" from {}", self::list(&spans))
        }
    }
}

fn of_hours(hours: &Shape) -> String {
    match hours {
        Shape::All => " of every hour".to_owned(),
        Shape::List(list) if list.len() == 1 => format!(" of hour {}", numbers(list)),
        Shape::List(list) => format!(" of hours {}", numbers(list)),
        Shape::Range(a, b) => format!(" of hours {a} to {b}"),
        Shape::Step(n) => format!(" of every {} hour", ordinal(*n)),
    }
}

fn ordinal(n: u32) -> String {
    match n {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        21 => "21st".to_owned(),
        22 => "22nd".to_owned(),
        23 => "23rd".to_owned(),
        _ => format!("{n}th"),
    }
}

fn days(spec: &Spec, fixed: bool) -> String {
    let month_days = month_days(&spec.month_days);
    let week_days = week_days(&spec.week_days);
    match (month_days, week_days) {
        (None, None) if fixed => " every day".to_owned(),
        (None, None) => String::new(),
        (Some(days), None) | (None, Some(days)) => days,
        (Some(month), Some(week)) => match spec.rule {
            DayRule::Either => format!("{month}, or{week}"),
            DayRule::Both => format!("{month}, but only{week}"),
        },
    }
}

fn month_days(days: &MonthDays) -> Option<String> {
    if days.days == ALL_MONTH_DAYS {
        return None;
    }
    let mut parts = Vec::new();
    match Shape::of(days.days, 1, 31) {
        Shape::List(list) if list.is_empty() => {}
        Shape::Range(a, b) => parts.push(format!(" on days {a} to {b}")),
        _ => parts.push(format!(
            " on day {}",
            numbers(&days.days.iter().collect::<Vec<_>>())
        )),
    }
    for back in days.from_end.iter() {
        parts.push(before_last("the last day of the month", back, "on "));
    }
    for day in days.nearest.iter() {
        parts.push(format!(" on the weekday nearest day {day}"));
    }
    for back in days.nearest_from_end.iter() {
        parts.push(if back == 0 {
            " on the last weekday (Monday to Friday) of the month".to_owned()
        } else {
            format!(
                " on the weekday nearest to{}",
                before_last("the last day of the month", back, "").trim_start_matches(',')
            )
        });
    }
    Some(join(&parts, ",", " and"))
}

fn before_last(what: &str, back: u32, on: &str) -> String {
    match back {
        0 => format!(" {on}{what}"),
        1 => format!(", 1 day before {what}"),
        _ => format!(", {back} days before {what}"),
    }
}

fn week_days(days: &WeekDays) -> Option<String> {
    if days.days == ALL_WEEK_DAYS {
        return None;
    }
    let mut parts = Vec::new();
    if days.days != Bits(0) {
        parts.push(format!(" on {}", named(days.days, &WEEKDAYS, 0)));
    }
    for (nth, name) in days.nth.iter().zip(ORDINALS) {
        if *nth != Bits(0) {
            let names = named(*nth, &WEEKDAYS, 0);
            parts.push(format!(" on the {name} {names} of the month"));
        }
    }
    if days.last != Bits(0) {
        let names = named(days.last, &WEEKDAYS, 0);
        parts.push(format!(" on the last {names} of the month"));
    }
    Some(join(&parts, ",", " and"))
}

fn months(months: Bits) -> String {
    match Shape::of(months, 1, 12) {
        Shape::All => String::new(),
        Shape::Range(..) => format!(" from {}", named(months, &MONTHS, 1)),
        _ => format!(" in {}", named(months, &MONTHS, 1)),
    }
}

fn years(shape: &YearShape) -> String {
    match shape {
        YearShape::All => String::new(),
        YearShape::Until(last) => format!(", until {last}"),
        YearShape::From(first) => format!(", from {first}"),
        YearShape::Range(first, last) => format!(", from {first} until {last}"),
        YearShape::Step(step, first, last) => {
            format!(", every {step} years from {first} until {last}")
        }
        YearShape::List(list) => {
            let years: Vec<String> = list.iter().map(i32::to_string).collect();
            format!(", in {}", self::list(&years))
        }
    }
}
