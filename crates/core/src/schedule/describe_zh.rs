//! Cron sets in Chinese: the date first, then the time.

use super::set::Bits;
use super::shape::{Shape, YearShape, clock, clock_times, join};
use super::spec::{ALL_MONTH_DAYS, ALL_WEEK_DAYS, DayRule, MonthDays, Spec, WeekDays};

pub(super) const WEEKDAYS: [&str; 7] = ["周日", "周一", "周二", "周三", "周四", "周五", "周六"];

/// The whole sentence, without zone and full stop.
pub(super) fn cron(spec: &Spec) -> String {
    let times = clock_times(spec);
    let date = date(spec, times.is_some());
    let time = match times {
        Some(times) => list(&times),
        None => rhythm(spec),
    };
    let years = years(&YearShape::of(&spec.years));
    let separator = if date.is_empty() { "" } else { " " };
    format!("{years}{date}{separator}{time}")
}

fn list(items: &[String]) -> String {
    join(items, "、", "、")
}

fn numbers(items: &[u32], unit: &str) -> String {
    let items: Vec<String> = items.iter().map(|n| format!("{n} {unit}")).collect();
    list(&items)
}

fn weekdays(bits: Bits) -> String {
    let name = |v: u32| WEEKDAYS.get(v as usize).copied().unwrap_or("");
    match Shape::of(bits, 0, 6) {
        Shape::Range(first, last) => format!("{}至{}", name(first), name(last)),
        _ => list(&bits.iter().map(|v| name(v).to_owned()).collect::<Vec<_>>()),
    }
}

/// Seconds, minutes and hours that are not a few clock times.
fn rhythm(spec: &Spec) -> String {
    let hours = Shape::of(spec.hours, 0, 23);
    let minutes = Shape::of(spec.minutes, 0, 59);
    let seconds = Shape::of(spec.seconds, 0, 59);
    if spec.seconds == Bits(1) {
        if let Shape::List(one) = &minutes
            && let [minute] = one.as_slice()
        {
            return at_minute(*minute, &hours);
        }
        return format!("{}{}", during(&hours), unit(&minutes, "分钟", "分"));
    }
    let seconds = unit(&seconds, "秒", "秒");
    let minutes = match &minutes {
        Shape::All => return format!("{}{seconds}", during(&hours)),
        Shape::Step(n) if *n > 1 => {
            format!(
                "第 {}",
                numbers(&spec.minutes.iter().collect::<Vec<_>>(), "分")
            )
        }
        Shape::Step(_) => String::new(),
        Shape::Range(a, b) => format!("第 {a} 至 {b} 分"),
        Shape::List(list) => format!("第 {}", numbers(list, "分")),
    };
    format!("{}{minutes}内{seconds}", during(&hours))
}

fn unit(shape: &Shape, every: &str, at: &str) -> String {
    match shape {
        Shape::All => format!("每{every}"),
        Shape::Step(n) => format!("每 {n} {every}"),
        Shape::Range(a, b) => format!("第 {a} 至 {b} {at}每{every}"),
        Shape::List(list) => format!("第 {}", numbers(list, at)),
    }
}

fn at_minute(minute: u32, hours: &Shape) -> String {
    let every = if minute == 0 {
        "每小时".to_owned()
    } else {
        format!("每小时第 {minute} 分")
    };
    match hours {
        Shape::All => every,
        Shape::Step(n) if minute == 0 => format!("每 {n} 小时"),
        Shape::Step(n) => format!("每 {n} 小时的第 {minute} 分"),
        Shape::Range(a, b) => {
            let over = if b < a { "次日" } else { "" };
            format!(
                "{} 至{over} {} {every}",
                clock(*a, minute, 0),
                clock(*b, minute, 0)
            )
        }
        Shape::List(list) => format!("{}的第 {minute} 分", numbers(list, "时")),
    }
}

fn during(hours: &Shape) -> String {
    match hours {
        Shape::All => String::new(),
        Shape::Range(a, b) => {
            let over = if b < a { "次日" } else { "" };
            format!("{} 至{over} {} ", clock(*a, 0, 0), clock(*b, 59, 0))
        }
        Shape::Step(n) => format!("每隔 {n} 小时的一小时内"),
        Shape::List(list) => format!("{}内", numbers(list, "时")),
    }
}

/// Months and days; `每天` only before clock times.
fn date(spec: &Spec, fixed: bool) -> String {
    let months = match Shape::of(spec.months, 1, 12) {
        Shape::All => None,
        Shape::Range(a, b) if b < a => Some(format!("{a} 月至次年 {b} 月")),
        Shape::Range(a, b) => Some(format!("{a} 月至 {b} 月")),
        _ => Some(numbers(&spec.months.iter().collect::<Vec<_>>(), "月")),
    };
    let by_date = month_days(&spec.month_days);
    let by_week = week_days(&spec.week_days);
    let prefix = months.clone().unwrap_or_else(|| "每月".to_owned());
    match (by_date, by_week) {
        (None, None) => match (months, fixed) {
            (Some(months), _) => format!("{months}每天"),
            (None, true) => "每天".to_owned(),
            (None, false) => String::new(),
        },
        (Some(days), None) => glue(&prefix, &days),
        (None, Some((days, monthly))) => match (months, monthly) {
            (None, true) => format!("每月{days}"),
            (None, false) => format!("每{days}"),
            (Some(months), true) => format!("{months}的{days}"),
            (Some(months), false) => format!("{months}的每{days}"),
        },
        (Some(days), Some((week, _))) => match spec.rule {
            DayRule::Either => format!("{}，或{week}", glue(&prefix, &days)),
            DayRule::Both => format!("{}，且须为{week}", glue(&prefix, &days)),
        },
    }
}

/// A space between Chinese and a number, as everywhere else.
fn glue(before: &str, after: &str) -> String {
    let space = after.starts_with(|c: char| c.is_ascii_digit());
    format!("{before}{}{after}", if space { " " } else { "" })
}

fn month_days(days: &MonthDays) -> Option<String> {
    if days.days == ALL_MONTH_DAYS {
        return None;
    }
    let mut parts = Vec::new();
    match Shape::of(days.days, 1, 31) {
        Shape::List(list) if list.is_empty() => {}
        Shape::Range(a, b) if a < b => parts.push(format!("{a} 至 {b} 日")),
        _ => parts.push(numbers(&days.days.iter().collect::<Vec<_>>(), "日")),
    }
    for back in days.from_end.iter() {
        parts.push(last_day(back));
    }
    for day in days.nearest.iter() {
        parts.push(format!("离 {day} 日最近的工作日"));
    }
    for back in days.nearest_from_end.iter() {
        parts.push(match back {
            0 => "最后一个工作日".to_owned(),
            _ => format!("离{}最近的工作日", last_day(back)),
        });
    }
    Some(list(&parts))
}

fn last_day(back: u32) -> String {
    match back {
        0 => "最后一天".to_owned(),
        _ => format!("最后一天的前 {back} 天"),
    }
}

/// The words, and whether they count within a month.
fn week_days(days: &WeekDays) -> Option<(String, bool)> {
    if days.days == ALL_WEEK_DAYS {
        return None;
    }
    let mut parts = Vec::new();
    if days.days != Bits(0) {
        parts.push(weekdays(days.days));
    }
    let monthly = parts.is_empty();
    for (nth, number) in days.nth.iter().zip(["一", "二", "三", "四", "五"]) {
        if *nth != Bits(0) {
            parts.push(format!("第{number}个{}", weekdays(*nth)));
        }
    }
    if days.last != Bits(0) {
        parts.push(format!("最后一个{}", weekdays(days.last)));
    }
    Some((list(&parts), monthly))
}

fn years(shape: &YearShape) -> String {
    match shape {
        YearShape::All => String::new(),
        YearShape::Until(last) => format!("到 {last} 年为止，"),
        YearShape::From(first) => format!("自 {first} 年起，"),
        YearShape::Range(first, last) => format!("{first} 至 {last} 年，"),
        YearShape::Step(step, first, last) => {
            format!("{first} 至 {last} 年间每 {step} 年，")
        }
        YearShape::List(list) => {
            let years: Vec<u32> = list.iter().filter_map(|y| u32::try_from(*y).ok()).collect();
            format!("{}，", numbers(&years, "年"))
        }
    }
}
