//! The shape of a set, for saying it in words.

use super::civil::{FIRST_YEAR, LAST_YEAR};
use super::set::{Bits, Years};
use super::spec::Spec;

/// More clock times than this, at several minutes, are said as hours and minutes.
const MOST_TIMES: u64 = 6;

/// How a set of numbers is best said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// All of the field.
    All,
    /// Every so many, without a shorter last step.
    Step(u32),
    /// Consecutive numbers, possibly over the end of the field, as first and last.
    Range(u32, u32),
    /// Anything else.
    List(Vec<u32>),
}

impl Shape {
    /// The shape of a set within a field of `lo..=hi`.
    pub fn of(set: Bits, lo: u32, hi: u32) -> Self {
        let members: Vec<u32> = set.iter().collect();
        let span = hi - lo + 1;
        if set.len() == span {
            return Self::All;
        }
        if members.len() < 3 {
            return match members.as_slice() {
                [first, second] if *first == lo && second - first == span - span / 2 && lo == 0 => {
                    Self::Step(second - first)
                }
                _ => Self::List(members),
            };
        }
        if let Some(step) = even_step(&members)
            && members.first() == Some(&lo)
            && members.last().is_some_and(|last| last + step > hi)
            && span.is_multiple_of(step)
        {
            return Self::Step(step);
        }
        match run(set, lo, hi) {
            Some((first, last)) => Self::Range(first, last),
            None => Self::List(members),
        }
    }
}

/// The distance between neighbours, if it is the same everywhere.
fn even_step(members: &[u32]) -> Option<u32> {
    let step = match members {
        [first, second, ..] => second - first,
        _ => return None,
    };
    members
        .iter()
        .zip(members.iter().skip(1))
        .all(|(a, b)| b - a == step)
        .then_some(step)
}

/// First and last of the only run of a set on a circle.
fn run(set: Bits, lo: u32, hi: u32) -> Option<(u32, u32)> {
    let before = |v: u32| if v == lo { hi } else { v - 1 };
    let after = |v: u32| if v == hi { lo } else { v + 1 };
    let mut starts = set.iter().filter(|v| !set.has(before(*v)));
    let first = starts.next()?;
    if starts.next().is_some() {
        return None;
    }
    set.iter()
        .find(|v| !set.has(after(*v)))
        .map(|last| (first, last))
}

/// The years, said as ranges and lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum YearShape {
    /// 1970-2199.
    All,
    /// From 1970 (that is, always) to a last year.
    Until(i32),
    /// From a first year for good.
    From(i32),
    /// First and last.
    Range(i32, i32),
    /// A few years.
    List(Vec<i32>),
    /// Every so many years, first and last.
    Step(i32, i32, i32),
}

impl YearShape {
    pub fn of(years: &Years) -> Self {
        let list: Vec<i32> = years.iter().collect();
        let (Some(first), Some(last)) = (list.first().copied(), list.last().copied()) else {
            return Self::List(list);
        };
        let count = i32::try_from(list.len()).unwrap_or(0);
        if last - first + 1 == count && count > 2 {
            return match (first == FIRST_YEAR, last == LAST_YEAR) {
                (true, true) => Self::All,
                (true, false) => Self::Until(last),
                (false, true) => Self::From(first),
                (false, false) => Self::Range(first, last),
            };
        }
        let step = list.get(1).map_or(1, |second| second - first);
        let even = list
            .iter()
            .zip(list.iter().skip(1))
            .all(|(a, b)| b - a == step);
        if even && count > 4 {
            Self::Step(step, first, last)
        } else {
            Self::List(list)
        }
    }
}

/// All fires of a day as clock times, if they are few and not a rhythm.
pub(super) fn clock_times(spec: &Spec) -> Option<Vec<String>> {
    let few = spec.minutes.len() == 1 || spec.times_per_day() <= MOST_TIMES;
    if !few || spec.seconds.len() > 1 {
        return None;
    }
    let rhythm = |shape: Shape| matches!(shape, Shape::All | Shape::Step(_) | Shape::Range(..));
    if rhythm(Shape::of(spec.hours, 0, 23)) || rhythm(Shape::of(spec.minutes, 0, 59)) {
        return None;
    }
    let second = spec.seconds.first()?;
    let mut times = Vec::new();
    for hour in spec.hours.iter() {
        for minute in spec.minutes.iter() {
            times.push(clock(hour, minute, second));
        }
    }
    Some(times)
}

/// `02:30`, or `02:30:15` when there are seconds.
pub(super) fn clock(hour: u32, minute: u32, second: u32) -> String {
    if second == 0 {
        format!("{hour:02}:{minute:02}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    }
}

/// Joins with a separator and a last conjunction: `1, 2 and 3`.
pub(super) fn join(items: &[String], comma: &str, and: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{}{and}{last}", init.join(comma)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(members: &[u32]) -> Bits {
        let mut bits = Bits::default();
        members.iter().for_each(|m| bits.insert(*m));
        bits
    }

    #[test]
    fn a_set_is_said_the_shortest_true_way() {
        assert_eq!(Shape::of(Bits::span(0, 59), 0, 59), Shape::All);
        assert_eq!(Shape::of(set(&[0, 15, 30, 45]), 0, 59), Shape::Step(15));
        assert_eq!(Shape::of(set(&[0, 30]), 0, 59), Shape::Step(30));
        assert_eq!(
            Shape::of(set(&[22, 23, 0, 1, 2]), 0, 23),
            Shape::Range(22, 2)
        );
        assert_eq!(Shape::of(set(&[1, 2, 3, 4, 5]), 0, 6), Shape::Range(1, 5));
        assert_eq!(
            Shape::of(set(&[5, 20, 35, 50]), 0, 59),
            Shape::List(vec![5, 20, 35, 50])
        );
        assert_eq!(
            Shape::of(set(&[0, 25, 50]), 0, 59),
            Shape::List(vec![0, 25, 50])
        );
        assert_eq!(Shape::of(set(&[4]), 0, 59), Shape::List(vec![4]));
    }
}
