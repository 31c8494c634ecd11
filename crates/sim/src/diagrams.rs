//! The state diagrams of the machines: every arrow there is, what takes it, and, where no world takes
//! it, why. Written to `docs/machines.md` with the arrows marked that were taken.

use std::fmt::Write;

use crate::coverage::{Arrow, Coverage};

/// An arrow of a diagram.
struct Drawn {
    arrow: Arrow,
    /// What takes it.
    label: &'static str,
}

/// Arrows that no world takes, and why there they are all the same.
const EXPLAINED: &[(Arrow, &str)] = &[(
    ("delivery", "waiting", "dead"),
    "patience outlasts a day of outage and more; the test `a_receiver_that_is_gone_for_ever_ends_every_delivery_and_keeps_it` of crates/core takes it",
)];

macro_rules! diagram {
    ($machine:literal: $($from:literal -> $to:literal, $label:literal;)*) => {
        &[$(Drawn { arrow: ($machine, $from, $to), label: $label },)*]
    };
}

const RUN: &[Drawn] = diagram! { "run":
    "(none)" -> "TRIGGERED", "instant due, run on request, replay, another job ended";
    "(none)" -> "SKIPPED", "missed, overlapping, queue full, the other job failed, paused";
    "TRIGGERED" -> "DISPATCHED", "nothing in the way";
    "TRIGGERED" -> "CANCELLED", "cancelled, replaced, deleted";
    "TRIGGERED" -> "TIMED_OUT", "deadline";
    "DISPATCHED" -> "RUNNING", "accepted, progress, still out after 5 s";
    "DISPATCHED" -> "SUCCESS", "succeeded";
    "DISPATCHED" -> "TRIGGERED", "failed or over its limit, retries left";
    "DISPATCHED" -> "FAILED", "failed, none left";
    "DISPATCHED" -> "TIMED_OUT", "over its limit, none left; deadline";
    "DISPATCHED" -> "CANCELLED", "stopped";
    "DISPATCHED" -> "LOST", "no live call is left";
    "RUNNING" -> "DISPATCHED", "it waited too long for its turn and never left";
    "RUNNING" -> "SUCCESS", "succeeded";
    "RUNNING" -> "TRIGGERED", "failed or over its limit, retries left";
    "RUNNING" -> "FAILED", "failed, none left";
    "RUNNING" -> "TIMED_OUT", "over its limit, none left; deadline";
    "RUNNING" -> "CANCELLED", "stopped";
    "RUNNING" -> "LOST", "no live call is left";
    "LOST" -> "DISPATCHED", "its time limit has passed";
    "LOST" -> "FAILED", "lost too often";
    "LOST" -> "CANCELLED", "cancelled, deleted, replaced";
    "LOST" -> "TIMED_OUT", "deadline";
};

const DELIVERY: &[Drawn] = diagram! { "delivery":
    "(none)" -> "waiting", "enqueued";
    "waiting" -> "in_flight", "due, its turn, the breaker lets it through";
    "waiting" -> "dead", "out of patience";
    "in_flight" -> "done", "2xx";
    "in_flight" -> "waiting", "failed or lost, attempts left";
    "in_flight" -> "dead", "last attempt failed";
    "done" -> "waiting", "replayed";
    "dead" -> "waiting", "replayed";
};

const BREAKER: &[Drawn] = diagram! { "breaker":
    "closed" -> "open", "fifth failure in a row";
    "open" -> "half_open", "a probe leaves";
    "half_open" -> "open", "the probe failed or was lost";
    "half_open" -> "closed", "any 2xx, or an operator";
    "open" -> "closed", "any 2xx, or an operator";
};

const ALL: &[(&str, &[Drawn])] = &[
    ("A run", RUN),
    ("A delivery", DELIVERY),
    ("The breaker of an endpoint", BREAKER),
];

/// The diagrams as a document. Solid arrows were taken, dashed ones were not.
#[must_use]
pub fn document(coverage: &Coverage, seeds: u64) -> String {
    let mut text = format!(
        "# State diagrams\n\n\
         Made by `cargo xtask sim coverage --seeds {seeds} --write docs/machines.md`, and compared by the tests. An arrow\n\
         is solid if a world of the simulator took it, dashed if none did.\n"
    );
    for (title, drawn) in ALL {
        let _ = write!(text, "\n## {title}\n\n```mermaid\nflowchart LR\n");
        for Drawn { arrow, label } in *drawn {
            let (_, from, to) = arrow;
            let line = if coverage.took(arrow) { "-->" } else { "-.->" };
            let _ = writeln!(
                text,
                "  {}[\"{from}\"] {line}|\"{label}\"| {}[\"{to}\"]",
                node(from),
                node(to)
            );
        }
        text.push_str("```\n");
    }
    text.push_str("\n## Arrows that no world took\n\n");
    if EXPLAINED.is_empty() {
        text.push_str("None.\n");
    }
    for ((machine, from, to), why) in EXPLAINED {
        let _ = writeln!(text, "- {machine}: {from} → {to}: {why}.");
    }
    text
}

fn node(state: &str) -> String {
    state
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase()
        + "_"
}

/// What is wrong with the diagrams: arrows taken that are not drawn, and drawn ones that nobody took
/// and nobody explains.
#[must_use]
pub fn faults(coverage: &Coverage) -> Vec<String> {
    let drawn = || ALL.iter().flat_map(|(_, drawn)| drawn.iter());
    let unknown = coverage
        .arrows()
        .filter(|taken| drawn().all(|drawn| drawn.arrow != **taken))
        .map(|(machine, from, to)| format!("{machine}: {from} -> {to} was taken and is not drawn"));
    let unexplained = drawn()
        .filter(|drawn| !coverage.took(&drawn.arrow))
        .filter(|drawn| EXPLAINED.iter().all(|(arrow, _)| *arrow != drawn.arrow))
        .map(|drawn| {
            let (machine, from, to) = drawn.arrow;
            format!("{machine}: {from} -> {to} was not taken, and nobody says why")
        });
    unknown.chain(unexplained).collect()
}
