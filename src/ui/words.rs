//! How states look and what they are called. Colour never carries a meaning alone: each has its word.

use cronwright_core::job::view::JobStatus;
use cronwright_core::outcome::RunState;
use maud::{Markup, html};

use super::Lang;

/// The colour of a state; `app.css` has a class of that name.
pub(super) const fn tone(state: RunState) -> &'static str {
    match state {
        RunState::Success => "good",
        RunState::Failed | RunState::TimedOut => "bad",
        RunState::Lost | RunState::Unknown => "warn",
        RunState::Dispatched | RunState::Running => "live",
        RunState::Triggered | RunState::Cancelled | RunState::Skipped => "dim",
    }
}

/// The name of a run's state.
pub(super) const fn state(state: RunState, lang: Lang) -> &'static str {
    let (en, zh) = match state {
        RunState::Triggered => ("Waiting", "等待中"),
        RunState::Dispatched => ("Started", "已派发"),
        RunState::Running => ("Running", "运行中"),
        RunState::Lost => ("Lost", "失联"),
        RunState::Unknown => ("Unknown", "未知"),
        RunState::Success => ("Success", "成功"),
        RunState::Failed => ("Failed", "失败"),
        RunState::TimedOut => ("Timed out", "超时"),
        RunState::Cancelled => ("Cancelled", "已取消"),
        RunState::Skipped => ("Skipped", "已跳过"),
    };
    pick(lang, en, zh)
}

/// The name of a job's status.
pub(super) const fn status(status: JobStatus, lang: Lang) -> &'static str {
    let (en, zh) = match status {
        JobStatus::Enabled => ("Enabled", "已启用"),
        JobStatus::Paused => ("Paused", "已暂停"),
        JobStatus::Deleted => ("Being deleted", "删除中"),
    };
    pick(lang, en, zh)
}

/// A dot in the state's colour and the state's name.
pub(super) fn badge(run: RunState, lang: Lang) -> Markup {
    html! {
        span class={ "state " (tone(run)) } { i.dot aria-hidden="true" {} (state(run, lang)) }
    }
}

/// One of two texts.
pub(super) const fn pick<'a>(lang: Lang, en: &'a str, zh: &'a str) -> &'a str {
    match lang {
        Lang::En => en,
        Lang::Zh => zh,
    }
}
