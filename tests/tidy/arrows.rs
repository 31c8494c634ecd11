//! Which room may know which.

use super::source::{Source, words};
use super::{Finding, Tree};

/// A room and what its code may name.
pub struct Room {
    /// For messages.
    pub name: &'static str,
    /// Its files: a folder, or one file.
    pub at: &'static str,
    /// Rooms of `src/` and crates of ours that it may name.
    pub may: &'static [&'static str],
    /// Words its code may not hold, and why.
    pub never: &'static [(&'static str, &'static str)],
}

const NO_PLATFORM: &str = "the platform is for src/ alone (ARCHITECTURE.md, arrows)";
const NO_IO: &str =
    "no clock, randomness, threads or I/O here: take the time and what else is needed as arguments";
const NO_SQL: &str = "SQL is for src/store and src/host/records";
const NO_STEP: &str = "machines are moved by src/host alone: post an event through host::client";

/// Crates and rooms whose names mean ours.
pub const OURS: &[&str] = &[
    "cronwright",
    "cronwright_core",
    "cronwright_protocol",
    "cronwright_agent",
    "cronwright_sim",
];

pub const ROOMS: &[Room] = &[
    Room {
        name: "core",
        at: "crates/core/src/",
        may: &[],
        never: &[
            ("worker", NO_PLATFORM),
            ("web_sys", NO_PLATFORM),
            ("js_sys", NO_PLATFORM),
            ("wasm_bindgen", NO_PLATFORM),
            ("tokio", NO_IO),
            ("rand", NO_IO),
            ("getrandom", NO_IO),
            ("Instant", NO_IO),
            ("SystemTime", NO_IO),
            ("thread", NO_IO),
            ("async", NO_IO),
            ("await", NO_IO),
            ("println", NO_IO),
            (
                "serde_json",
                "records are typed; JSON is the host's and the protocol's business",
            ),
        ],
    },
    Room {
        name: "protocol",
        at: "crates/protocol/src/",
        may: &["cronwright_core"],
        never: &[
            ("worker", NO_PLATFORM),
            ("web_sys", NO_PLATFORM),
            ("js_sys", NO_PLATFORM),
            ("wasm_bindgen", NO_PLATFORM),
            ("tokio", NO_IO),
            ("rand", NO_IO),
            ("getrandom", NO_IO),
            ("Instant", NO_IO),
            ("SystemTime", NO_IO),
            ("async", NO_IO),
            ("await", NO_IO),
            ("JobMachine", NO_STEP),
            ("EndpointMachine", NO_STEP),
        ],
    },
    // The command around the worlds: it has threads and a progress bar; the worlds themselves have neither.
    Room {
        name: "sim command",
        at: "crates/sim/src/cli/",
        may: &["cronwright_sim", "cronwright_core"],
        never: &[
            ("worker", NO_PLATFORM),
            ("rand", NO_IO),
            ("SystemTime", NO_IO),
            ("JobMachine", NO_STEP),
            ("EndpointMachine", NO_STEP),
        ],
    },
    Room {
        name: "sim main",
        at: "crates/sim/src/main.rs",
        may: &[],
        never: &[],
    },
    Room {
        name: "sim",
        at: "crates/sim/src/",
        may: &["cronwright_core"],
        never: &[
            ("worker", NO_PLATFORM),
            ("tokio", NO_IO),
            ("rand", NO_IO),
            ("getrandom", NO_IO),
            ("HashMap", "its order differs from run to run: use BTreeMap"),
            ("HashSet", "its order differs from run to run: use BTreeSet"),
            ("Instant", NO_IO),
            ("SystemTime", NO_IO),
            ("thread", NO_IO),
            ("async", NO_IO),
            ("await", NO_IO),
        ],
    },
    Room {
        name: "ui",
        at: "src/ui/",
        may: &["ui", "cronwright_core"],
        never: &[
            (
                "worker",
                "a page is a view struct and HTML: hand it what it shows",
            ),
            (
                "Env",
                "a page is a view struct and HTML: hand it what it shows",
            ),
            (
                "D1Database",
                "a page is a view struct and HTML: hand it what it shows",
            ),
            ("Instant", "the time is in the view struct"),
            ("SystemTime", "the time is in the view struct"),
            ("JobMachine", NO_STEP),
            ("EndpointMachine", NO_STEP),
            ("async", "a page waits for nothing"),
        ],
    },
    Room {
        name: "store",
        at: "src/store/",
        may: &["store", "cronwright_core"],
        never: &[
            ("Request", "the store knows no HTTP"),
            ("Response", "the store knows no HTTP"),
            ("Fetch", "the store knows no HTTP"),
            ("Stub", "the store asks no objects"),
            ("JobMachine", "no machine is decided from D1"),
            ("EndpointMachine", "no machine is decided from D1"),
        ],
    },
    Room {
        name: "deliver",
        at: "src/deliver/",
        may: &["deliver", "store", "cronwright_core", "cronwright_protocol"],
        never: &[
            ("JobMachine", NO_STEP),
            ("EndpointMachine", NO_STEP),
            (
                "Stub",
                "effects go out; objects are asked by src/host and src/edge",
            ),
            ("prepare", NO_SQL),
            ("SqlStorage", NO_SQL),
        ],
    },
    Room {
        name: "host",
        at: "src/host/",
        may: &["host", "deliver", "cronwright_core", "cronwright_protocol"],
        never: &[
            (
                "D1Database",
                "no machine is decided from D1: ask through src/deliver",
            ),
            ("prepare", "D1 is for src/store"),
            (
                "Fetch",
                "requests to the outside leave through the executor in src/deliver",
            ),
            ("maud", "HTML is for src/ui"),
        ],
    },
    Room {
        name: "edge",
        at: "src/edge/",
        may: &[
            "edge",
            "host::client",
            "host::message",
            "store",
            "ui",
            "cronwright_core",
            "cronwright_protocol",
        ],
        never: &[
            ("JobMachine", NO_STEP),
            ("EndpointMachine", NO_STEP),
            ("Group", NO_STEP),
            ("step", NO_STEP),
            ("prepare", NO_SQL),
            ("SqlStorage", NO_SQL),
            (
                "Fetch",
                "requests to the outside leave through the executor in src/deliver",
            ),
            ("maud", "HTML is for src/ui"),
        ],
    },
    Room {
        name: "entry",
        at: "src/entry.rs",
        may: &["deliver", "edge", "host"],
        never: &[],
    },
    Room {
        name: "lib",
        at: "src/lib.rs",
        may: &[],
        never: &[],
    },
    Room {
        name: "xtask",
        at: "xtask/src/",
        may: &[],
        never: &[],
    },
    Room {
        name: "bundle",
        at: "tools/bundle/src/",
        may: &[],
        never: &[],
    },
];

/// Arrows that must not exist.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in &tree.rust {
        match ROOMS.iter().find(|room| source.path.starts_with(room.at)) {
            Some(room) => found.extend(check_room(room, source)),
            None if source.path.contains("/src/") || source.path.starts_with("src/") => found.push(Finding::new(
                &source.path,
                1,
                "this file is in no room: put it into one, or give its room a line in tests/tidy/arrows.rs and ARCHITECTURE.md",
            )),
            None => {}
        }
    }
    found
}

/// What is wrong with one file of a room.
pub fn check_room(room: &Room, source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    for (line, path) in source.paths() {
        let Some(target) = target(room, &source.path, &path) else {
            continue;
        };
        let is_open = |open: &str| target == open || target.starts_with(&format!("{open}::"));
        if !room.may.iter().any(|open| is_open(open)) {
            let what = format!(
                "{} → {target}: no such arrow. {} may name: {}. Move the code, or pass what it needs as an argument",
                room.name,
                room.name,
                if room.may.is_empty() {
                    "nothing of ours".to_owned()
                } else {
                    room.may.join(", ")
                }
            );
            found.push(Finding::new(&source.path, line, what));
        }
    }
    for (line, code) in source.lines() {
        for (_, word) in words(code) {
            if let Some((_, why)) = room.never.iter().find(|(never, _)| *never == word) {
                let what = format!("`{word}` in {}: {why}", room.name);
                found.push(Finding::new(&source.path, line, what));
            }
        }
    }
    found
}

/// The room or crate of ours that a path leads to; none when it stays in the file's own crate of
/// `crates/`, or leads to somebody else's.
fn target(room: &Room, file: &str, path: &str) -> Option<String> {
    let mut segments: Vec<&str> = path.split("::").collect();
    let first = *segments.first()?;
    if OURS.contains(&first) {
        return Some(path.to_owned());
    }
    if !room.at.starts_with("src/") {
        return None;
    }
    let mut at: Vec<&str> = match first {
        "crate" => Vec::new(),
        "super" | "self" => module_of(file),
        _ => return None,
    };
    segments.reverse();
    while let Some(segment) = segments.pop() {
        match segment {
            "crate" | "self" => {}
            "super" => drop(at.pop()),
            name => at.push(name),
        }
    }
    Some(at.join("::")).filter(|target| !target.is_empty())
}

/// The module that a file of `src/` is.
fn module_of(file: &str) -> Vec<&str> {
    let inside = file.trim_start_matches("src/").trim_end_matches(".rs");
    let mut module: Vec<&str> = inside.split('/').collect();
    if matches!(module.last(), Some(&"mod" | &"lib")) {
        module.pop();
    }
    module
}
