//! A brute-force reading of the rules, for valid texts.

use std::collections::BTreeSet;

use cronwright_core::schedule::Dialect;
use jiff::civil::{Date, DateTime, Time, Weekday, date};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan};

const MONTHS: &str = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
const WEEKDAYS: &str = "SUNMONTUEWEDTHUFRISAT";

pub struct Reference {
    fields: Vec<String>,
    quartz: bool,
    zone: TimeZone,
    /// Seconds of a day, ascending.
    times: Vec<i64>,
    interval: bool,
}

/// What one element of a list, without `L`, `W` and `#`, says about a value.
fn element_has(element: &str, value: i32, lo: i32, hi: i32, quartz: bool, names: &str) -> bool {
    let number = |text: &str| -> i32 {
        match names.find(text) {
            Some(at) if !text.is_empty() && !names.is_empty() => {
                at as i32 / 3 + if names == WEEKDAYS && !quartz { 0 } else { 1 }
            }
            _ => text.parse().unwrap(),
        }
    };
    let (body, step) = match element.split_once('/') {
        Some((body, step)) => (body, Some(step.parse::<i32>().unwrap())),
        None => (element, None),
    };
    let on = |distance: i32| distance % step.unwrap_or(1) == 0;
    if body == "*" || body.is_empty() {
        return on(value - lo);
    }
    match body.split_once('-') {
        Some((a, b)) => {
            let (a, b) = (number(a), number(b));
            let span = hi - lo + 1;
            let distance = (value - a).rem_euclid(span);
            let length = if a <= b { b - a } else { b - a + span };
            distance <= length && on(distance)
        }
        None if step.is_some() => value >= number(body) && on(value - number(body)),
        None => value == number(body),
    }
}

fn field_has(text: &str, value: i32, lo: i32, hi: i32, quartz: bool, names: &str) -> bool {
    text.split(',')
        .any(|element| element_has(element, value, lo, hi, quartz, names))
}

fn sunday_based(weekday: Weekday) -> i32 {
    i32::from(weekday.to_sunday_zero_offset())
}

/// Looks around `day` for the closest Monday-Friday of the month.
fn nearest(day: Date) -> Date {
    [0, -1, 1, -2, 2]
        .into_iter()
        .filter_map(|shift: i64| day.checked_add(shift.days()).ok())
        .find(|d| d.month() == day.month() && !matches!(sunday_based(d.weekday()), 0 | 6))
        .unwrap()
}

impl Reference {
    pub fn new(text: &str, dialect: Dialect, zone: &str) -> Self {
        let mut fields: Vec<String> = text
            .split_whitespace()
            .map(str::to_ascii_uppercase)
            .collect();
        if dialect == Dialect::Unix {
            fields.insert(0, "0".to_owned());
        }
        if fields.len() == 6 {
            fields.push("*".to_owned());
        }
        let quartz = dialect == Dialect::Quartz;
        let members = |field: usize, hi: i32| -> Vec<i32> {
            let has = |value: &i32| field_has(&fields[field], *value, 0, hi, quartz, "");
            (0..=hi).filter(has).collect()
        };
        let (seconds, minutes, hours) = (members(0, 59), members(1, 59), members(2, 23));
        let mut times = Vec::new();
        for hour in &hours {
            for minute in &minutes {
                let start = hour * 3_600 + minute * 60;
                times.extend(seconds.iter().map(|second| i64::from(start + second)));
            }
        }
        Self {
            interval: fields[..3].iter().any(|f| f.contains(['*', '-', '/'])),
            fields,
            quartz,
            zone: TimeZoneDatabase::bundled().get(zone).unwrap(),
            times,
        }
    }

    fn month_day_has(&self, day: Date) -> bool {
        let last = day.last_of_month();
        let back = |n: i64| last.checked_sub(n.days()).unwrap();
        let in_month = |d: Date| d.month() == day.month();
        self.fields[3].split(',').any(|element| match element {
            "?" => true,
            "L" => day == last,
            "LW" | "WL" => day == nearest(last),
            _ => {
                if let Some(offset) = element.strip_prefix("L-") {
                    match offset.strip_suffix('W') {
                        Some(n) => {
                            let target = back(n.parse().unwrap());
                            in_month(target) && nearest(target) == day
                        }
                        None => back(offset.parse().unwrap()) == day,
                    }
                } else if let Some(n) = element.strip_suffix('W') {
                    let n: i8 = n.parse().unwrap();
                    n <= last.day() && nearest(date(day.year(), day.month(), n)) == day
                } else {
                    element_has(element, i32::from(day.day()), 1, 31, self.quartz, "")
                }
            }
        })
    }

    fn week_day_has(&self, day: Date) -> bool {
        let today = sunday_based(day.weekday());
        let is = |text: &str| {
            let number = match WEEKDAYS.find(text) {
                Some(at) => at as i32 / 3,
                None if self.quartz => text.parse::<i32>().unwrap() - 1,
                None => text.parse::<i32>().unwrap() % 7,
            };
            number == today
        };
        self.fields[5].split(',').any(|element| match element {
            "?" => true,
            "L" => today == 6,
            _ => {
                if let Some((weekday, nth)) = element.split_once('#') {
                    is(weekday) && (i32::from(day.day()) + 6) / 7 == nth.parse::<i32>().unwrap()
                } else if let Some(weekday) = element.strip_suffix('L') {
                    is(weekday) && day.day() + 7 > day.last_of_month().day()
                } else if self.quartz {
                    element_has(element, today + 1, 1, 7, true, WEEKDAYS)
                } else {
                    let has = |v| element_has(element, v, 0, 7, false, WEEKDAYS);
                    has(today) || today == 0 && !element.starts_with('*') && has(7)
                }
            }
        })
    }

    fn day_has(&self, day: Date) -> bool {
        let (by_date, by_week) = (self.month_day_has(day), self.week_day_has(day));
        let starred = |field: usize| self.fields[field].starts_with(['*', '?']);
        if self.quartz || starred(3) || starred(5) {
            by_date && by_week
        } else {
            by_date || by_week
        }
    }

    /// The instants of one local time.
    fn instants(&self, local: DateTime) -> Vec<i64> {
        let second = |offset: jiff::tz::Offset| offset.to_timestamp(local).unwrap().as_second();
        match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => vec![second(offset)],
            AmbiguousOffset::Fold { before, .. } if !self.interval => vec![second(before)],
            AmbiguousOffset::Fold { before, after } => vec![second(before), second(after)],
            AmbiguousOffset::Gap { .. } if self.interval => vec![],
            AmbiguousOffset::Gap { before, after } => {
                let gap = after.seconds() - before.seconds();
                // As if the clock had not jumped: just after the change.
                let late = Timestamp::from_second(second(before) + 1).unwrap();
                let end = self.zone.preceding(late).next().unwrap().timestamp();
                if gap < 86_400 {
                    vec![end.as_second()]
                } else {
                    vec![]
                }
            }
        }
    }

    /// The first `n` fires after a UTC second.
    pub fn fires(&self, from: i64, n: usize) -> Vec<i64> {
        let start = Timestamp::from_second(from).unwrap();
        let mut day = self.zone.to_datetime(start).date().yesterday().unwrap();
        let mut found = BTreeSet::new();
        let mut settled = None;
        while day.year() < 2200 {
            let year = i32::from(day.year());
            let month = i32::from(day.month());
            if !field_has(&self.fields[6], year, 1970, 2199, false, "") {
                day = date(day.year() + 1, 1, 1);
                continue;
            }
            if !field_has(&self.fields[4], month, 1, 12, self.quartz, MONTHS) {
                day = day.last_of_month().tomorrow().unwrap();
                continue;
            }
            if self.day_has(day) {
                for time in &self.times {
                    let clock = Time::midnight() + time.seconds();
                    let after = self.instants(day.to_datetime(clock));
                    found.extend(after.into_iter().filter(|second| *second > from));
                }
            }
            // A later day can reach back over the end of this one, but not over two.
            if found.len() >= n {
                let end = *settled.get_or_insert_with(|| day.checked_add(2.days()).unwrap());
                if day >= end {
                    break;
                }
            }
            day = day.tomorrow().unwrap();
        }
        found.into_iter().take(n).collect()
    }
}
