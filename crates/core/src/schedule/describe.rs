//! A schedule in words, made from its sets and never from its text.

use super::cron::Cron;
use super::every::Every;
use super::{describe_en, describe_zh};
use crate::time::{DAY, HOUR, MINUTE, SECOND};

/// A language of descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// English.
    En,
    /// Chinese.
    Zh,
}

impl Cron {
    /// What it does, in words, with its zone: `At 02:00 every day (Asia/Shanghai)`.
    #[must_use]
    pub fn describe(&self, lang: Lang) -> String {
        match lang {
            Lang::En => format!(
                "{} ({})",
                describe_en::cron(self.spec()),
                self.zone().name()
            ),
            Lang::Zh => format!(
                "{}（{}）",
                describe_zh::cron(self.spec()),
                self.zone().name()
            ),
        }
    }
}

impl Every {
    /// What it does, in words: `Every 1 h 30 min`.
    #[must_use]
    pub fn describe(&self, lang: Lang) -> String {
        let period = span(self.period_ms(), lang);
        match lang {
            Lang::En => format!("Every {period}"),
            Lang::Zh => format!("每 {period}"),
        }
    }
}

/// A span of milliseconds in words.
pub(super) fn span(ms: i64, lang: Lang) -> String {
    let units = match lang {
        Lang::En => [
            (DAY, "d"),
            (HOUR, "h"),
            (MINUTE, "min"),
            (SECOND, "s"),
            (1, "ms"),
        ],
        Lang::Zh => [
            (DAY, "天"),
            (HOUR, "小时"),
            (MINUTE, "分钟"),
            (SECOND, "秒"),
            (1, "毫秒"),
        ],
    };
    let mut rest = ms;
    let mut parts = Vec::new();
    for (size, name) in units {
        if rest >= size {
            parts.push(format!("{} {name}", rest / size));
            rest %= size;
        }
    }
    parts.join(" ")
}
