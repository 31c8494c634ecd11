//! What holds for every file, whatever its room.

use std::collections::BTreeSet;

use super::source::Source;
use super::{Finding, Tree};

/// Lines that ship in one file, at most.
pub const MOST_LINES: usize = 500;

/// Lines of one function, at most.
pub const MOST_FUNCTION_LINES: usize = 70;

/// Functions that are longer, each with its reason. Shorten them, do not add to them.
pub const LONG: &[(&str, &str)] = &[(
    "src/host/shard/asks.rs::answer",
    "one arm for each question a shard can be asked: the table of its messages",
)];

/// Where SQL may be written.
const SQL_ROOMS: &[&str] = &[
    "src/store/",
    "src/host/records/",
    "tests/",
    "crates/core/tests/",
    "migrations/",
];

/// Where the Worker reads the time; everybody else is given it.
const CLOCKS: &[&str] = &[
    "src/host/object.rs",
    "src/deliver/executor.rs",
    "src/edge/call.rs",
];

/// Ways to panic, and the lint whose exception must say why.
const PANICS: &[(&str, &str)] = &[
    (".unwrap()", "clippy::unwrap_used"),
    (".expect(", "clippy::expect_used"),
    ("panic!", "clippy::panic"),
    ("unreachable!", "clippy::unreachable"),
    ("unimplemented!", "clippy::unimplemented"),
    ("todo!", "clippy::todo"),
];

/// Files whose text is data, copied or made: their lines are not ours.
const MADE: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "src/assets/openapi.json",
    "src/assets/api.html",
];

pub fn sizes(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in tree.shipped() {
        let lines = source.shipped();
        if lines > MOST_LINES {
            let what = format!("{lines} lines, {MOST_LINES} are the most: split it by concern");
            found.push(Finding::new(&source.path, 1, what));
        }
        if source.path == "src/lib.rs" && lines > 100 {
            found.push(Finding::new(
                &source.path,
                1,
                "lib.rs only names the rooms: 100 lines are the most",
            ));
        }
        found.extend(long_functions(source));
    }
    found
}

pub fn long_functions(source: &Source) -> Vec<Finding> {
    let is_known = |name: &str| {
        LONG.iter()
            .any(|(known, _)| *known == format!("{}::{name}", source.path))
    };
    let long = |lines: usize| lines > MOST_FUNCTION_LINES;
    let functions = source.functions();
    let mut found: Vec<Finding> = functions
        .iter()
        .filter(|function| long(function.lines) && !is_known(&function.name))
        .map(|function| {
            let what = format!(
                "fn {} has {} lines, {MOST_FUNCTION_LINES} are the most: keep the branches here and move the leaves out",
                function.name, function.lines
            );
            Finding::new(&source.path, function.line, what)
        })
        .collect();
    for (known, _) in LONG {
        let Some((_, name)) = known
            .split_once("::")
            .filter(|(path, _)| *path == source.path)
        else {
            continue;
        };
        if !functions
            .iter()
            .any(|function| function.name == name && long(function.lines))
        {
            found.push(Finding::new(
                &source.path,
                1,
                format!("fn {name} is no longer long: take it out of LONG in tests/tidy/rules.rs"),
            ));
        }
    }
    found
}

pub fn module_docs(tree: &Tree) -> Vec<Finding> {
    let bare = tree
        .rust
        .iter()
        .filter(|source| !source.text.starts_with("//! "));
    bare.map(|source| {
        Finding::new(
            &source.path,
            1,
            "the first line must be `//! ` and say what the module is for",
        )
    })
    .collect()
}

pub fn sql(tree: &Tree) -> Vec<Finding> {
    let outside = |path: &str| !SQL_ROOMS.iter().any(|room| path.starts_with(room));
    let mut found = Vec::new();
    for source in tree.rust.iter().filter(|source| outside(&source.path)) {
        for (line, text) in source
            .literals
            .iter()
            .filter(|(line, text)| is_sql(text) && !source.is_test(*line))
        {
            let start: String = text.trim().chars().take(30).collect();
            let what = format!(
                "SQL (`{start}…`): D1's belongs into src/store, an object's own into src/host/records"
            );
            found.push(Finding::new(&source.path, *line, what));
        }
    }
    found
}

/// Whether a text is a statement of SQL.
pub fn is_sql(text: &str) -> bool {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let small = flat.to_lowercase();
    let begins = |start: &str, then: &str| small.starts_with(start) && small.contains(then);
    let any = [
        ("insert into ", ""),
        ("insert or ", ""),
        ("delete from ", ""),
        ("create table ", ""),
        ("create index ", ""),
        ("create unique index ", ""),
        ("drop table ", ""),
        ("drop index ", ""),
        ("alter table ", ""),
        ("pragma ", ""),
        ("update ", " set "),
        ("with ", " select "),
    ];
    let is_select =
        flat.starts_with("SELECT ") || begins("select ", " from ") && begins("select ", " where ");
    is_select || any.into_iter().any(|(start, then)| begins(start, then))
}

pub fn panics(tree: &Tree) -> Vec<Finding> {
    let ships = |path: &str| path.starts_with("src/") || path.starts_with("crates/");
    tree.shipped()
        .filter(|source| ships(&source.path))
        .flat_map(panics_in)
        .collect()
}

pub fn panics_in(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    for (line, code) in source.lines() {
        for (way, lint) in PANICS.iter().filter(|(way, _)| code.contains(way)) {
            if !is_excused(source, line, lint) {
                let what = format!(
                    "`{way}`: handle it, or say why it cannot happen with #[expect({lint}, reason = \"…\")]"
                );
                found.push(Finding::new(&source.path, line, what));
            }
        }
    }
    found
}

/// Whether an attribute above the line, in its function or on it, excuses the lint with a reason.
fn is_excused(source: &Source, line: usize, lint: &str) -> bool {
    let functions = source.functions();
    let around = functions
        .iter()
        .filter(|f| (f.line..f.line + f.lines).contains(&line));
    let first = around
        .map(|f| f.line)
        .min()
        .unwrap_or(line)
        .saturating_sub(6);
    let lines: Vec<&str> = source
        .text
        .lines()
        .take(line)
        .skip(first.saturating_sub(1))
        .collect();
    let near = lines.join(" ");
    let mut attributes = near.split("#[").filter_map(|rest| rest.split("]").next());
    attributes.any(|text| {
        (text.starts_with("expect(") || text.starts_with("allow("))
            && text.contains(lint)
            && text.contains("reason")
    })
}

pub fn clocks(tree: &Tree) -> Vec<Finding> {
    let ours = |source: &&Source| {
        source.path.starts_with("src/") && !CLOCKS.contains(&source.path.as_str())
    };
    let mut found = Vec::new();
    for source in tree.rust.iter().filter(ours) {
        for (line, _) in source
            .lines()
            .filter(|(_, code)| code.contains("Date::now("))
        {
            let what = format!(
                "the time is read in {} only: take it as an argument",
                CLOCKS.join(", ")
            );
            found.push(Finding::new(&source.path, line, what));
        }
    }
    found
}

pub fn leftovers(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree
        .texts
        .iter()
        .filter(|(path, _)| !path.starts_with("tests/tidy"))
    {
        found.extend(machine_traces(path, text));
        if !text.is_empty() && !text.ends_with('\n') {
            let last = text.lines().count();
            found.push(Finding::new(
                path,
                last,
                "the last line does not end: add a line feed",
            ));
        }
        if MADE.contains(&path.as_str()) {
            continue;
        }
        for (n, line) in text.lines().enumerate() {
            if line.contains("SELECT *") {
                found.push(Finding::new(
                    path,
                    n + 1,
                    "name the columns: `*` means another thing after each migration",
                ));
            }
        }
    }
    found
}

/// What only means something on the machine where it was written.
pub fn machine_traces(path: &str, text: &str) -> Vec<Finding> {
    let folders = ["/work/", "/root/", "/home/", "/Users/", "C:\\Users\\"];
    // Cargo's own name for its registry; everything else comes from somebody's mirror.
    let is_lock = path == "Cargo.lock" || path == "package-lock.json";
    let is_plain = |line: &str| line.contains("https://github.com/rust-lang/crates.io-index");
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        if let Some(folder) = folders
            .into_iter()
            .find(|folder| holds_folder(line, folder))
        {
            found.push(Finding::new(
                path,
                n + 1,
                format!(
                    "`{folder}` is a folder of one machine: use a path relative to the repository"
                ),
            ));
        }
        let is_source =
            line.contains("\"resolved\":") || line.trim_start().starts_with("source = ");
        if is_lock && is_source && !is_plain(line) {
            found.push(Finding::new(
                path,
                n + 1,
                "the address of a registry or mirror: keep it out (.npmrc, CONTRIBUTING.md)",
            ));
        }
        if !is_lock
            && ["registry.", "mirror."]
                .iter()
                .any(|host| line.contains(&format!("//{host}")))
        {
            found.push(Finding::new(
                path,
                n + 1,
                "the address of a registry or mirror belongs into nobody's clone",
            ));
        }
    }
    found
}

/// Whether a path begins with that folder, and not merely contains a part of that name.
fn holds_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| {
            !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | ')' | '>'))
        })
    })
}

/// Files that nothing leads to.
pub fn dead(tree: &Tree) -> Vec<Finding> {
    let mut alive: BTreeSet<String> = tree
        .rust
        .iter()
        .map(|source| source.path.clone())
        .filter(|path| is_root(path))
        .collect();
    let mut open: Vec<String> = alive.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let Some(source) = tree.rust.iter().find(|source| source.path == path) else {
            continue;
        };
        for (name, moved) in source.modules() {
            for file in files_of(&path, &name, moved.as_deref()) {
                if alive.insert(file.clone()) {
                    open.push(file);
                }
            }
        }
    }
    let mut found = Vec::new();
    for source in tree
        .rust
        .iter()
        .filter(|source| !alive.contains(&source.path))
    {
        found.push(Finding::new(
            &source.path,
            1,
            "no `mod` leads here: declare it or delete it",
        ));
    }
    for (path, _) in tree
        .texts
        .iter()
        .filter(|(path, _)| path.starts_with("src/assets/"))
    {
        let name = path.rsplit('/').next().unwrap_or(path);
        if !tree.rust.iter().any(|source| source.text.contains(name)) {
            found.push(Finding::new(
                path,
                1,
                "no Rust file names this asset: serve it or delete it",
            ));
        }
    }
    found
}

/// Whether cargo itself looks for this file.
fn is_root(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let folder = path
        .strip_suffix(file)
        .unwrap_or_default()
        .trim_end_matches('/');
    let parent = folder.rsplit('/').next().unwrap_or(folder);
    let targets = ["tests", "examples", "benches", "bin"];
    let in_targets = |folder: &str| targets.contains(&folder.rsplit('/').next().unwrap_or(folder));
    match file {
        "build.rs" => true,
        "lib.rs" => parent == "src",
        "main.rs" => {
            parent == "src"
                || folder
                    .rsplit_once('/')
                    .is_some_and(|(above, _)| in_targets(above))
        }
        _ => in_targets(parent),
    }
}

/// Where the module `name` of a file may be.
fn files_of(path: &str, name: &str, moved: Option<&str>) -> Vec<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    if let Some(moved) = moved {
        return vec![format!("{folder}/{moved}")];
    }
    let own = file.trim_end_matches(".rs");
    let below = if own == "mod" || is_root(path) {
        folder.to_owned()
    } else {
        format!("{folder}/{own}")
    };
    vec![
        format!("{below}/{name}.rs"),
        format!("{below}/{name}/mod.rs"),
    ]
}
