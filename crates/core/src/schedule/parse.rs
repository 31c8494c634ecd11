//! From text to [`Spec`].

use super::dialect::Dialect;
use super::error::{Field, ScheduleError, code};
use super::parse_days::{is_any, month_days, week_days};
use super::set::{Bits, Years};
use super::spec::{DayRule, MonthDays, Spec, WeekDays};
use super::token::{Range, Token};

/// The longest cron text, in bytes.
pub const MAX_TEXT: usize = 256;

/// What was noticed while reading, for `auto` and for lints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// A `?`.
    pub question: bool,
    /// `L-3` or `L-3W`.
    pub l_minus: bool,
    /// A range over the end of its field.
    pub wrapped: bool,
    /// A weekday given as a number, or a bare `L`.
    pub weekday_number: bool,
    /// Both day fields restricted, star-steps included.
    pub both_days: bool,
    /// `N/step`, and in which field.
    pub open_step: Option<Field>,
    /// A day field that begins with `*` but selects less than all.
    pub star_step: Option<Field>,
}

/// A text that was read.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub spec: Spec,
    pub seen: Seen,
}

const MACROS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// The fields of a text and where they stand, after the checks that need no dialect.
pub(super) fn fields(text: &str) -> Result<Vec<Token<'_>>, ScheduleError> {
    if text.len() > MAX_TEXT {
        let shown: String = text.chars().take(32).collect();
        return Err(ScheduleError::new(code::TOO_LONG)
            .found(shown)
            .allowed(format!("{MAX_TEXT} bytes")));
    }
    let mut fields = Vec::new();
    let mut at = 0;
    for piece in text.split(char::is_whitespace) {
        if !piece.is_empty() {
            fields.push(Token { text: piece, at });
        }
        let end = at + piece.len();
        let blank = text.get(end..).and_then(|rest| rest.chars().next());
        at = end + blank.map_or(0, char::len_utf8);
    }
    let Some(first) = fields.first().copied() else {
        return Err(ScheduleError::new(code::EMPTY).allowed("a cron text such as 0 2 * * *"));
    };
    if first.is("every") || first.is("@every") {
        return Err(ScheduleError::new(code::INTERVAL)
            .span(first.at, first.end())
            .found(text.trim())
            .hint("use an `every` schedule"));
    }
    Ok(fields)
}

/// The text of a macro, if the fields are one.
pub(super) fn expand(fields: &[Token<'_>]) -> Result<Option<&'static str>, ScheduleError> {
    let Some(first) = fields.first().filter(|f| f.text.starts_with('@')) else {
        return Ok(None);
    };
    let error = |code| {
        ScheduleError::new(code)
            .span(first.at, first.end())
            .found(first.text)
            .allowed("@yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly")
    };
    if first.is("@reboot") {
        return Err(error(code::NO_REBOOT).hint("there is no boot to wait for; choose a time"));
    }
    let found = MACROS.iter().find(|(name, _)| first.is(name));
    match (found, fields.get(1)) {
        (Some((_, text)), None) => Ok(Some(text)),
        (Some(_), Some(extra)) => Err(ScheduleError::new(code::FIELD_COUNT)
            .span(extra.at, extra.end())
            .found(extra.text)
            .hint("a macro stands alone")),
        (None, _) => Err(error(code::UNKNOWN_MACRO)),
    }
}

/// Reads a text in a dialect.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Parsed, ScheduleError> {
    let tokens = fields(text)?;
    match expand(&tokens)? {
        Some(long) => parse_fields(&fields(long)?, Dialect::Unix, long),
        None => parse_fields(&tokens, dialect, text),
    }
}

fn parse_fields(
    tokens: &[Token<'_>],
    dialect: Dialect,
    text: &str,
) -> Result<Parsed, ScheduleError> {
    let zero = Token { text: "0", at: 0 };
    let star = Token { text: "*", at: 0 };
    let (second, rest, year) = match (dialect, tokens) {
        (Dialect::Unix, rest @ [_, _, _, _, _]) => (zero, rest, star),
        (Dialect::UnixSeconds | Dialect::Quartz, [second, rest @ ..]) if rest.len() == 5 => {
            (*second, rest, star)
        }
        (Dialect::Quartz, [second, rest @ .., year]) if rest.len() == 5 => (*second, rest, *year),
        _ => return Err(wrong_count(tokens, dialect, text)),
    };
    let [minute, hour, day, month, weekday] = rest else {
        return Err(wrong_count(tokens, dialect, text));
    };
    let mut seen = Seen::default();
    let bits = |field, token, seen: &mut Seen| number_set(Range::of(field, dialect), token, seen);
    let seconds = bits(Field::Second, second, &mut seen)?;
    let minutes = bits(Field::Minute, *minute, &mut seen)?;
    let hours = bits(Field::Hour, *hour, &mut seen)?;
    let month_days = month_days(*day, dialect, &mut seen)?;
    let months = bits(Field::Month, *month, &mut seen)?;
    let week_days = week_days(*weekday, dialect, &mut seen)?;
    let years = year_set(year, dialect, &mut seen)?;
    let rule = day_rule(*day, *weekday, dialect, &mut seen)?;
    note_star_steps(*day, *weekday, &month_days, &week_days, &mut seen);
    let interval = [second, *minute, *hour]
        .iter()
        .any(|token| token.text.contains(['*', '-', '/']));
    Ok(Parsed {
        spec: Spec {
            seconds,
            minutes,
            hours,
            month_days,
            months,
            week_days,
            years,
            rule,
            interval,
        },
        seen,
    })
}

fn wrong_count(tokens: &[Token<'_>], dialect: Dialect, text: &str) -> ScheduleError {
    let (allowed, most) = match dialect {
        Dialect::Quartz => ("6 or 7 fields", 7),
        Dialect::Unix => ("5 fields", 5),
        Dialect::UnixSeconds => ("6 fields", 6),
    };
    let hint = match (dialect, tokens.len()) {
        (Dialect::Quartz | Dialect::UnixSeconds, 5) => "put the second, such as 0, in front",
        (Dialect::Unix, 6) => "for seconds use unix-seconds or quartz",
        (Dialect::Unix | Dialect::UnixSeconds, 7) => "for years use quartz",
        _ => "",
    };
    let start = tokens.get(most).map_or(0, |token| token.at);
    ScheduleError::new(code::FIELD_COUNT)
        .span(start, text.len())
        .found(format!("{} fields", tokens.len()))
        .allowed(format!("{allowed} in {dialect}"))
        .hint(hint)
}

/// A set of numbers below 64.
pub(super) fn number_set(
    range: Range,
    token: Token<'_>,
    seen: &mut Seen,
) -> Result<Bits, ScheduleError> {
    let mut bits = Bits::default();
    for element in token.list() {
        number_element(&range, element, seen, &mut |value| bits.insert(value))?;
    }
    Ok(bits)
}

fn year_set(token: Token<'_>, dialect: Dialect, seen: &mut Seen) -> Result<Years, ScheduleError> {
    if token.text == "*" {
        return Ok(Years::all());
    }
    let range = Range::of(Field::Year, dialect);
    let mut years = Years::default();
    for element in token.list() {
        number_element(&range, element, seen, &mut |year| {
            years.insert(i32::try_from(year).unwrap_or(0));
        })?;
    }
    Ok(years)
}

/// One of `*`, `5`, `1-5`, each with an optional `/step`.
pub(super) fn number_element(
    range: &Range,
    element: Token<'_>,
    seen: &mut Seen,
    put: &mut dyn FnMut(u32),
) -> Result<(), ScheduleError> {
    let (body, step) = match element.split('/') {
        Some((body, step)) => (body, Some(step_of(range, step)?)),
        None => (element, None),
    };
    let stride = step.unwrap_or(1) as usize;
    if body.text == "*" || body.text.is_empty() && step.is_some() && range.bare_step {
        (range.lo..=range.hi).step_by(stride).for_each(put);
        return Ok(());
    }
    let Some((from, to)) = body.split('-') else {
        let from = range.value(body)?;
        if step.is_some() {
            seen.open_step = seen.open_step.or(Some(range.field));
        }
        let to = if step.is_some() { range.hi } else { from };
        (from..=to).step_by(stride).for_each(put);
        return Ok(());
    };
    let (from, to) = (range.value(from)?, range.value(to)?);
    if from <= to {
        (from..=to).step_by(stride).for_each(put);
        return Ok(());
    }
    if !range.wraps {
        return Err(backwards(range, body, from, to));
    }
    seen.wrapped = true;
    let span = range.hi - range.lo + 1;
    (from..=to + span)
        .step_by(stride)
        .for_each(|value| put((value - range.lo) % span + range.lo));
    Ok(())
}

fn step_of(range: &Range, token: Token<'_>) -> Result<u32, ScheduleError> {
    match token.number() {
        Some(step) if (1..=range.hi).contains(&step) => Ok(step),
        _ => Err(token
            .error(code::BAD_STEP, range.field)
            .allowed(format!("1-{}", range.hi))),
    }
}

fn backwards(range: &Range, body: Token<'_>, from: u32, to: u32) -> ScheduleError {
    let hint = match range.field {
        Field::Year => "put the smaller year first".to_owned(),
        Field::DayOfWeek if to == 0 => format!("write {from}-7: Sunday is also 7"),
        _ => {
            let name = |v: u32| match range.names.get((v - range.lo) as usize) {
                Some(name) => (*name).to_owned(),
                None => v.to_string(),
            };
            let (last, lo) = (
                name(range.hi - u32::from(range.field == Field::DayOfWeek)),
                name(range.lo),
            );
            format!("write {}-{last},{lo}-{}", name(from), name(to))
        }
    };
    range.refuse(body, code::BACKWARDS_RANGE).hint(hint)
}

/// How the day fields combine; refuses what quartz cannot mean.
fn day_rule(
    day: Token<'_>,
    weekday: Token<'_>,
    dialect: Dialect,
    seen: &mut Seen,
) -> Result<DayRule, ScheduleError> {
    let restricted = !is_any(day) && !is_any(weekday);
    seen.both_days = restricted;
    if dialect != Dialect::Quartz {
        let starred = |token: Token<'_>| token.text.starts_with(['*', '?']);
        let either = !starred(day) && !starred(weekday);
        return Ok(if either {
            DayRule::Either
        } else {
            DayRule::Both
        });
    }
    if day.text == "?" && weekday.text == "?" {
        return Err(weekday
            .error(code::QUESTION_MARK, Field::DayOfWeek)
            .allowed("'?' in one day field")
            .hint("use * in the other"));
    }
    if restricted {
        return Err(weekday
            .error(code::BOTH_DAYS, Field::DayOfWeek)
            .allowed("one day field, the other '?'")
            .hint("put ? in one of them, or use unix-seconds, where both mean \"or\""));
    }
    Ok(DayRule::Both)
}

fn note_star_steps(
    day: Token<'_>,
    weekday: Token<'_>,
    month_days: &MonthDays,
    week_days: &WeekDays,
    seen: &mut Seen,
) {
    let (day_less, week_less) = (
        *month_days != MonthDays::every(),
        *week_days != WeekDays::every(),
    );
    if !day_less || !week_less {
        return;
    }
    if day.text.starts_with('*') {
        seen.star_step = Some(Field::DayOfMonth);
    } else if weekday.text.starts_with('*') {
        seen.star_step = Some(Field::DayOfWeek);
    }
}
