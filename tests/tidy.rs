//! The house rules, as a test. Each failure says where, and what to do.
//!
//! - `tidy/arrows.rs`: which room may know which. - `tidy/rules.rs`: sizes, SQL, panics, dead files,
//!   leftovers. - `tidy/docs.rs`: what the documents name exists. - `tidy/source.rs`: the scanner.
//!
//! Standard library only, so that it can be run in a second without anything else being compiled:
//! `CARGO_MANIFEST_DIR=$PWD rustc --edition 2024 --test tests/tidy.rs -o target/tidy && target/tidy`

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/self_test.rs"]
mod self_test;
#[path = "tidy/source.rs"]
mod source;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use source::Source;

/// Something to put right.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// The repository: what git tracks or would track.
struct Tree {
    /// Files that are text.
    texts: Vec<(String, String)>,
    rust: Vec<Source>,
}

impl Tree {
    /// Read once, for all tests.
    fn read() -> &'static Self {
        static TREE: OnceLock<Tree> = OnceLock::new();
        TREE.get_or_init(Self::from_disk)
    }

    fn from_disk() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut texts: Vec<(String, String)> = listed(root)
            .into_iter()
            .filter_map(|path| {
                Some((
                    path.clone(),
                    std::fs::read_to_string(root.join(&path)).ok()?,
                ))
            })
            .collect();
        texts.sort();
        Self::of(texts)
    }

    fn of(texts: Vec<(String, String)>) -> Self {
        let rust = texts.iter().filter(|(path, _)| path.ends_with(".rs"));
        let rust = rust.map(|(path, text)| Source::new(path, text)).collect();
        Self { texts, rust }
    }

    fn text(&self, path: &str) -> Option<&str> {
        let found = self.texts.iter().find(|(known, _)| known == path)?;
        Some(&found.1)
    }

    /// Whether there is such a file or folder.
    fn holds(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.texts
            .iter()
            .any(|(known, _)| known == path || known.starts_with(&folder))
    }

    /// Rust that is no test, example or benchmark.
    fn shipped(&self) -> impl Iterator<Item = &Source> {
        let is_shipped = |path: &str| path.starts_with("src/") || path.contains("/src/");
        self.rust
            .iter()
            .filter(move |source| is_shipped(&source.path))
    }

    /// Folders of `src/`, crates, and folders of `tests/`, each with `/`.
    fn rooms(&self) -> BTreeSet<String> {
        let folder = |path: &str| {
            let mut parts = path.split('/');
            let (first, second) = (parts.next()?, parts.next()?);
            let is_room = matches!(first, "src" | "crates" | "tests") && parts.next().is_some();
            is_room.then(|| format!("{first}/{second}/"))
        };
        self.texts
            .iter()
            .filter_map(|(path, _)| folder(path))
            .collect()
    }
}

/// Files that git tracks, and those that it would.
fn listed(root: &Path) -> Vec<String> {
    let git = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output();
    match git {
        Ok(output) if output.status.success() => {
            let names = String::from_utf8_lossy(&output.stdout).into_owned();
            names
                .split('\0')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect()
        }
        // Unpacked from an archive: everything but what tools make.
        _ => walk(root, root),
    }
}

fn walk(root: &Path, folder: &Path) -> Vec<String> {
    let made = |name: &str| {
        name == ".git"
            || name == ".wrangler"
            || name == "node_modules"
            || name == "build"
            || name == ".dev.vars"
            || name.starts_with("target")
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if made(&entry.file_name().to_string_lossy()) {
            continue;
        }
        if path.is_dir() {
            found.extend(walk(root, &path));
        } else if let Ok(relative) = path.strip_prefix(root) {
            found.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    found
}

fn assert_none(findings: &[Finding]) {
    let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        findings.is_empty(),
        "\n\n{}\n\n{} to put right\n",
        list.join("\n"),
        findings.len()
    );
}

#[test]
fn the_tree_is_read() {
    let tree = Tree::read();
    assert!(tree.rust.len() > 100 && tree.text("wrangler.toml").is_some());
}

#[test]
fn no_room_knows_what_it_must_not() {
    assert_none(&arrows::check(Tree::read()));
}

#[test]
fn no_sql_outside_its_rooms() {
    assert_none(&rules::sql(Tree::read()));
}

#[test]
fn the_worker_reads_the_time_at_its_doors_alone() {
    assert_none(&rules::clocks(Tree::read()));
}

#[test]
fn nothing_that_ships_panics_without_a_reason() {
    assert_none(&rules::panics(Tree::read()));
}

#[test]
fn files_and_functions_are_short() {
    assert_none(&rules::sizes(Tree::read()));
}

#[test]
fn every_module_says_what_it_is_for() {
    assert_none(&rules::module_docs(Tree::read()));
}

#[test]
fn every_file_is_reached() {
    assert_none(&rules::dead(Tree::read()));
}

#[test]
fn nothing_is_left_over() {
    assert_none(&rules::leftovers(Tree::read()));
}

#[test]
fn the_documents_name_what_is_there() {
    assert_none(&docs::check(Tree::read()));
}
