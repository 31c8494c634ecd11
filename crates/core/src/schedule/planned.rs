//! Any schedule that is about time.

use super::cron::Cron;
use super::describe::Lang;
use super::every::Every;
use super::rfc3339::rfc3339;
use crate::time::Millis;

/// A compiled schedule. (`after` another job is a trigger, not a time, and lives with the job.)
#[derive(Clone, Debug)]
pub enum Schedule {
    /// A cron text.
    Cron(Cron),
    /// A fixed period.
    Every(Every),
    /// Once.
    At(Millis),
    /// Only by hand, by API, or after another job.
    None,
}

impl Schedule {
    /// The first fire strictly after `after`.
    #[must_use]
    pub fn next(&self, after: Millis) -> Option<Millis> {
        match self {
            Self::Cron(cron) => cron.next(after),
            Self::Every(every) => every.next(after),
            Self::At(at) => (*at > after).then_some(*at),
            Self::None => None,
        }
    }

    /// The newest fire in `(not_before, at]`.
    #[must_use]
    pub fn last_at_or_before(&self, at: Millis, not_before: Millis) -> Option<Millis> {
        match self {
            Self::Cron(cron) => cron.last_at_or_before(at, not_before),
            Self::Every(every) => every.last_at_or_before(at, not_before),
            Self::At(once) => (*once <= at && *once > not_before).then_some(*once),
            Self::None => None,
        }
    }

    /// How many fires are in `(after, until]`.
    #[must_use]
    pub fn count(&self, after: Millis, until: Millis) -> u64 {
        match self {
            Self::Cron(cron) => cron.count(after, until),
            Self::Every(every) => every.count(after, until),
            Self::At(at) => u64::from(*at > after && *at <= until),
            Self::None => 0,
        }
    }

    /// What it does, in words.
    #[must_use]
    pub fn describe(&self, lang: Lang) -> String {
        match (self, lang) {
            (Self::Cron(cron), _) => cron.describe(lang),
            (Self::Every(every), _) => every.describe(lang),
            (Self::At(at), Lang::En) => format!("Once at {}", rfc3339(*at)),
            (Self::At(at), Lang::Zh) => format!("仅一次：{}", rfc3339(*at)),
            (Self::None, Lang::En) => "No schedule".to_owned(),
            (Self::None, Lang::Zh) => "无计划".to_owned(),
        }
    }
}
