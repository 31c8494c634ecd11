//! Instants and spans as people read them.

use cronwright_core::schedule::rfc3339_at;
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis, SECOND};
use maud::{Markup, html};

use super::Lang;
use super::words::pick;

/// An instant on a wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The instant.
    pub at: Millis,
    /// How far that wall is ahead of UTC at the instant, in seconds.
    pub offset_s: i32,
}

impl Moment {
    /// The instant in UTC.
    #[must_use]
    pub const fn utc(at: Millis) -> Self {
        Self { at, offset_s: 0 }
    }

    /// `14:05:00` on the day of `now`, `11-30 14:05` in its year, otherwise `2027-01-01 14:05`.
    pub(super) fn clock(self, now: Millis) -> String {
        let whole = Millis(self.at.0.div_euclid(SECOND).saturating_mul(SECOND));
        let (then, today) = (
            rfc3339_at(whole, self.offset_s),
            rfc3339_at(now, self.offset_s),
        );
        let part =
            |text: &str, from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
        if part(&then, 0, 10) == part(&today, 0, 10) {
            part(&then, 11, 19)
        } else if part(&then, 0, 4) == part(&today, 0, 4) {
            format!("{} {}", part(&then, 5, 10), part(&then, 11, 16))
        } else {
            format!("{} {}", part(&then, 0, 10), part(&then, 11, 16))
        }
    }

    /// The clock as an element that says the exact instant to machines and on hovering.
    pub(super) fn element(self, now: Millis) -> Markup {
        let exact = rfc3339_at(self.at, self.offset_s);
        html! { time datetime=(exact) title=(exact) { (self.clock(now)) } }
    }
}

/// A span: `85 ms`, `1.2 s`, `3 min 5 s`.
pub(super) fn span(ms: i64, lang: Lang) -> String {
    let ms = ms.max(0);
    match ms / SECOND {
        0 => format!("{ms} ms"),
        // Cut, not rounded: 9.96 s must not read "10.0 s".
        whole @ 1..10 => format!("{whole}.{} s", ms % SECOND / 100),
        whole @ 10..60 => format!("{whole} s"),
        _ => long(ms, 2, lang),
    }
}

/// A span without fractions, in at most `most` neighbouring units: `12 s`, `3 min 5 s`, `2 d 3 h`.
fn long(ms: i64, most: usize, lang: Lang) -> String {
    let units = [
        (DAY, pick(lang, " d", " 天")),
        (HOUR, pick(lang, " h", " 小时")),
        (MINUTE, pick(lang, " min", " 分钟")),
        (SECOND, pick(lang, " s", " 秒")),
    ];
    let mut parts = Vec::new();
    let mut rest = ms.max(0);
    for (size, name) in units {
        let count = rest / size;
        rest %= size;
        if count > 0 {
            parts.push(format!("{count}{name}"));
        }
        if parts.len() == most || (parts.len() == 1 && count == 0) {
            break;
        }
    }
    if parts.is_empty() {
        format!("0{}", pick(lang, " s", " 秒"))
    } else {
        parts.join(" ")
    }
}

/// How far away an instant is: `in 3 min 5 s`, but `3 min ago`: what is to come is waited for.
pub(super) fn distance(at: Millis, now: Millis, lang: Lang) -> String {
    let ms = at.since(now);
    let span = long(ms.saturating_abs(), if ms > 0 { 2 } else { 1 }, lang);
    match (lang, ms > 0) {
        _ if ms.saturating_abs() < SECOND => pick(lang, "now", "现在").to_owned(),
        (Lang::En, true) => format!("in {span}"),
        (Lang::En, false) => format!("{span} ago"),
        (Lang::Zh, true) => format!("{span}后"),
        (Lang::Zh, false) => format!("{span}前"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_at_most_two_units_that_follow_each_other() {
        let cases = [
            (0, "0 ms", "0 ms"),
            (999, "999 ms", "999 ms"),
            (1_000, "1.0 s", "1.0 s"),
            (9_999, "9.9 s", "9.9 s"),
            (10_000, "10 s", "10 s"),
            (185_000, "3 min 5 s", "3 分钟 5 秒"),
            (HOUR + 5_000, "1 h", "1 小时"),
            (2 * DAY + 3 * HOUR, "2 d 3 h", "2 天 3 小时"),
            (-5, "0 ms", "0 ms"),
        ];
        for (ms, en, zh) in cases {
            assert_eq!(
                (span(ms, Lang::En).as_str(), span(ms, Lang::Zh).as_str()),
                (en, zh)
            );
        }
    }

    #[test]
    fn distances_say_which_way() {
        let now = Millis(1_796_000_000_000);
        let words = |ms: i64| {
            (
                distance(now.plus(ms), now, Lang::En),
                distance(now.plus(ms), now, Lang::Zh),
            )
        };
        assert_eq!(words(12_400), ("in 12 s".into(), "12 秒后".into()));
        assert_eq!(
            words(65_000),
            ("in 1 min 5 s".into(), "1 分钟 5 秒后".into())
        );
        assert_eq!(words(-65_000), ("1 min ago".into(), "1 分钟前".into()));
        assert_eq!(words(-999), ("now".into(), "现在".into()));
        assert_eq!(
            distance(Millis(i64::MIN), Millis(i64::MAX), Lang::En)
                .split(' ')
                .next_back(),
            Some("ago")
        );
    }

    #[test]
    fn a_clock_says_as_much_of_the_date_as_is_needed() {
        let now = Millis(1_796_000_000_000); // 2026-11-30T00:53:20Z
        let clock = |ms: i64, offset_s: i32| {
            Moment {
                at: now.plus(ms),
                offset_s,
            }
            .clock(now)
        };
        assert_eq!(clock(123, 0), "00:53:20");
        assert_eq!(clock(-HOUR, 0), "11-29 23:53");
        assert_eq!(clock(-HOUR, 8 * 3_600), "07:53:20");
        assert_eq!(clock(40 * DAY, 0), "2027-01-09 00:53");
    }
}
