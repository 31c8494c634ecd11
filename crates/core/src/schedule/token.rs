//! Pieces of a cron text that know where they stand, and the numbers in them.

use super::dialect::Dialect;
use super::error::{Field, ScheduleError, code};

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub text: &'a str,
    /// Byte offset in the whole text.
    pub at: usize,
}

impl<'a> Token<'a> {
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// The pieces between commas.
    pub fn list(self) -> impl Iterator<Item = Token<'a>> {
        let mut at = self.at;
        self.text.split(',').map(move |text| {
            let token = Token { text, at };
            at = token.end() + 1;
            token
        })
    }

    /// The pieces before and after the first `mark`.
    pub fn split(self, mark: char) -> Option<(Token<'a>, Token<'a>)> {
        let (left, right) = self.text.split_once(mark)?;
        let right_at = self.end() - right.len();
        Some((
            Token {
                text: left,
                at: self.at,
            },
            Token {
                text: right,
                at: right_at,
            },
        ))
    }

    /// What follows leading ASCII digits.
    pub fn after_digits(self) -> Token<'a> {
        let text = self.text.trim_start_matches(|c: char| c.is_ascii_digit());
        Token {
            text,
            at: self.end() - text.len(),
        }
    }

    /// The token without a suffix, in any letter case.
    pub fn without_suffix(self, suffix: &str) -> Option<Token<'a>> {
        let cut = self.text.len().checked_sub(suffix.len())?;
        let (text, tail) = self.text.split_at_checked(cut)?;
        tail.eq_ignore_ascii_case(suffix)
            .then_some(Token { text, at: self.at })
    }

    pub fn is(&self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
    }

    /// The token as a number, if it is all ASCII digits; absurdly long ones saturate.
    pub fn number(&self) -> Option<u32> {
        if self.text.is_empty() {
            return None;
        }
        self.text.bytes().try_fold(0_u32, |sum, byte| {
            byte.is_ascii_digit().then(|| {
                sum.saturating_mul(10)
                    .saturating_add(u32::from(byte - b'0'))
            })
        })
    }

    pub fn error(&self, code: &'static str, field: Field) -> ScheduleError {
        ScheduleError::new(code)
            .field(field)
            .span(self.at, self.end())
            .found(self.text)
    }
}

/// What a field of numbers may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub field: Field,
    pub lo: u32,
    pub hi: u32,
    /// Names of the numbers from `lo` on, or from 0 for weekdays in unix.
    pub names: &'static [&'static str],
    /// Whether ranges may run over the end (`22-2`).
    pub wraps: bool,
    /// Whether `/5` may stand for `*/5`.
    pub bare_step: bool,
}

pub(super) const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
pub(super) const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl Range {
    pub fn of(field: Field, dialect: Dialect) -> Self {
        let quartz = dialect == Dialect::Quartz;
        let (lo, hi, names): (u32, u32, &'static [&'static str]) = match field {
            Field::Second | Field::Minute => (0, 59, &[]),
            Field::Hour => (0, 23, &[]),
            Field::DayOfMonth => (1, 31, &[]),
            Field::Month => (1, 12, &MONTHS),
            Field::DayOfWeek => (u32::from(quartz), 7, &WEEKDAYS),
            Field::Year => (1970, 2199, &[]),
        };
        Self {
            field,
            lo,
            hi,
            names,
            wraps: quartz && field != Field::Year,
            bare_step: quartz,
        }
    }

    /// What may stand in this field, for error messages.
    pub fn allowed(&self) -> String {
        let mut text = format!("{}-{}", self.lo, self.hi);
        if let (Some(first), Some(last)) = (self.names.first(), self.names.last()) {
            text.push_str(&format!(" or {first}-{last}"));
        }
        text.push_str(match self.field {
            Field::DayOfMonth => ", * , - / ? L W",
            Field::DayOfWeek => ", * , - / ? L #",
            _ => ", * , - /",
        });
        text
    }

    pub fn refuse(&self, token: Token<'_>, code: &'static str) -> ScheduleError {
        token.error(code, self.field).allowed(self.allowed())
    }

    /// A number or a name.
    pub fn value(&self, token: Token<'_>) -> Result<u32, ScheduleError> {
        if let Some(index) = self.names.iter().position(|name| token.is(name)) {
            return Ok(self.lo + u32::try_from(index).unwrap_or(0));
        }
        if let Some(value) = token.number() {
            if (self.lo..=self.hi).contains(&value) {
                return Ok(value);
            }
            return Err(self
                .refuse(token, code::OUT_OF_RANGE)
                .hint(self.range_hint(value)));
        }
        Err(self.refuse_text(token))
    }

    fn refuse_text(&self, token: Token<'_>) -> ScheduleError {
        let rest = token.after_digits();
        if rest.text.len() < token.text.len() {
            return self.refuse(rest, code::BAD_VALUE).hint(format!(
                "remove what follows '{}'",
                token
                    .text
                    .get(..token.text.len() - rest.text.len())
                    .unwrap_or("")
            ));
        }
        let error = self.refuse(token, code::BAD_VALUE);
        if token.text.is_empty() {
            return error.hint("a number is missing here");
        }
        if !token.text.is_ascii() {
            return error.hint("use plain ASCII characters, not full-width ones");
        }
        match token.text.get(..3) {
            Some(start)
                if token.text.len() > 3
                    && self.names.iter().any(|n| start.eq_ignore_ascii_case(n)) =>
            {
                error.hint(format!("write {}", start.to_ascii_uppercase()))
            }
            _ if token.is("?") => error.hint("'?' is for the day fields only"),
            _ => error,
        }
    }

    fn range_hint(&self, value: u32) -> String {
        match (self.field, value) {
            (Field::Hour, 24) => "midnight is hour 0".to_owned(),
            (Field::Second | Field::Minute, 60) => "a full turn is 0".to_owned(),
            (Field::DayOfWeek, 0) => "in quartz Sunday is 1".to_owned(),
            _ => String::new(),
        }
    }
}
