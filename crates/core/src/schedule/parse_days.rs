//! The two day fields, with `?`, `L`, `W` and `#`.

use super::dialect::Dialect;
use super::error::{Field, ScheduleError, code};
use super::parse::{Seen, number_element};
use super::set::Bits;
use super::spec::{MonthDays, WeekDays};
use super::token::{Range, Token};

/// Whether a day field restricts nothing by its text.
pub(super) fn is_any(token: Token<'_>) -> bool {
    token.text == "?" || token.text == "*"
}

/// The day-of-month field.
pub(super) fn month_days(
    token: Token<'_>,
    dialect: Dialect,
    seen: &mut Seen,
) -> Result<MonthDays, ScheduleError> {
    if token.text == "?" {
        seen.question = true;
        return Ok(MonthDays::every());
    }
    let range = Range::of(Field::DayOfMonth, dialect);
    let mut out = MonthDays::default();
    for element in token.list() {
        if element.is("L") {
            out.from_end.insert(0);
        } else if element.is("LW") || element.is("WL") {
            out.nearest_from_end.insert(0);
        } else if let Some(offset) = after_l_minus(element) {
            seen.l_minus = true;
            let (offset, weekday) = match offset.without_suffix("W") {
                Some(offset) => (offset, true),
                None => (offset, false),
            };
            let back = l_offset(&range, offset)?;
            let place = if weekday {
                &mut out.nearest_from_end
            } else {
                &mut out.from_end
            };
            place.insert(back);
        } else if let Some(day) = element.without_suffix("W") {
            out.nearest.insert(nearest_day(&range, element, day)?);
        } else {
            plain(&range, element, seen, &mut out.days)?;
        }
    }
    Ok(out)
}

/// What follows `L-`.
fn after_l_minus(element: Token<'_>) -> Option<Token<'_>> {
    let (l, offset) = element.split('-')?;
    l.is("L").then_some(offset)
}

fn l_offset(range: &Range, token: Token<'_>) -> Result<u32, ScheduleError> {
    let allowed = "L-0 to L-30";
    match token.number() {
        Some(back @ 0..=30) => Ok(back),
        Some(_) => Err(token
            .error(code::OUT_OF_RANGE, range.field)
            .allowed(allowed)),
        None => {
            let rest = token.after_digits();
            Err(rest.error(code::BAD_VALUE, range.field).allowed(allowed))
        }
    }
}

fn nearest_day(range: &Range, element: Token<'_>, day: Token<'_>) -> Result<u32, ScheduleError> {
    match day.number() {
        Some(day @ 1..=31) => Ok(day),
        Some(_) => Err(day
            .error(code::OUT_OF_RANGE, range.field)
            .allowed("1W to 31W, LW")),
        None => Err(element
            .error(code::BAD_VALUE, range.field)
            .allowed("1W to 31W, LW")
            .hint("W goes with a single day")),
    }
}

fn plain(
    range: &Range,
    element: Token<'_>,
    seen: &mut Seen,
    into: &mut Bits,
) -> Result<(), ScheduleError> {
    if element.text == "?" {
        return Err(element
            .error(code::QUESTION_MARK, range.field)
            .hint("'?' stands alone in its field"));
    }
    number_element(range, element, seen, &mut |value| into.insert(value))
}

/// The day-of-week field.
pub(super) fn week_days(
    token: Token<'_>,
    dialect: Dialect,
    seen: &mut Seen,
) -> Result<WeekDays, ScheduleError> {
    if token.text == "?" {
        seen.question = true;
        return Ok(WeekDays::every());
    }
    let range = Range::of(Field::DayOfWeek, dialect);
    let mut out = WeekDays::default();
    for element in token.list() {
        if element.is("L") {
            out.days.insert(bare_l(&range, element, dialect)?);
            seen.weekday_number = true;
        } else if let Some((day, nth)) = element.split('#') {
            let weekday = weekday(&range, day, seen)?;
            let nth = nth_of(&range, nth)?;
            if let Some(days) = out.nth.get_mut(nth) {
                days.insert(weekday);
            }
        } else if let Some(day) = element.without_suffix("L") {
            out.last.insert(weekday(&range, day, seen)?);
        } else {
            plain_weekdays(&range, element, seen, &mut out.days)?;
        }
    }
    Ok(out)
}

fn bare_l(range: &Range, element: Token<'_>, dialect: Dialect) -> Result<u32, ScheduleError> {
    if dialect == Dialect::Quartz {
        return Ok(6);
    }
    Err(range
        .refuse(element, code::BAD_VALUE)
        .hint("a bare L is Saturday in quartz only; write 6, or 5L for the last Friday"))
}

/// 0 is Sunday, whatever the dialect counts.
fn weekday(range: &Range, token: Token<'_>, seen: &mut Seen) -> Result<u32, ScheduleError> {
    if token.text.starts_with(|c: char| c.is_ascii_digit()) {
        seen.weekday_number = true;
    }
    Ok(from_sunday(range, range.value(token)?))
}

const fn from_sunday(range: &Range, value: u32) -> u32 {
    (value - range.lo) % 7
}

/// `nth - 1`, for 1-5.
fn nth_of(range: &Range, token: Token<'_>) -> Result<usize, ScheduleError> {
    let allowed = "#1 to #5";
    match token.number() {
        Some(nth @ 1..=5) => Ok((nth - 1) as usize),
        Some(_) => Err(token
            .error(code::OUT_OF_RANGE, range.field)
            .allowed(allowed)),
        None => {
            let rest = token.after_digits();
            let error = rest.error(code::BAD_VALUE, range.field).allowed(allowed);
            match token.text.strip_suffix(rest.text) {
                Some(number) if !number.is_empty() => {
                    Err(error.hint(format!("remove what follows #{number}")))
                }
                _ => Err(error),
            }
        }
    }
}

fn plain_weekdays(
    range: &Range,
    element: Token<'_>,
    seen: &mut Seen,
    into: &mut Bits,
) -> Result<(), ScheduleError> {
    let body = element.split('/').map_or(element, |(body, _)| body);
    if body.text.contains(|c: char| c.is_ascii_digit()) {
        seen.weekday_number = true;
    }
    let mut bits = Bits::default();
    plain(range, element, seen, &mut bits)?;
    for value in bits.iter() {
        into.insert(from_sunday(range, value));
    }
    Ok(())
}
