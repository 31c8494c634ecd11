//! The documents speak of what is there.

use super::{Finding, Tree};

/// Documents whose every path is held against the tree.
const DOCUMENTS: &[&str] = &[
    "README.md",
    "README.zh-CN.md",
    "ARCHITECTURE.md",
    "DESIGN.md",
    "CONTRIBUTING.md",
];

/// Folders that a path in a document begins with.
const FOLDERS: &[&str] = &[
    "src/",
    "crates/",
    "tests/",
    "xtask/",
    "tools/",
    "migrations/",
    ".ci/",
    ".cargo/",
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for name in DOCUMENTS {
        match tree.text(name) {
            Some(text) => found.extend(check_document(tree, name, text)),
            None => found.push(Finding::new(name, 1, "this document is missing")),
        }
    }
    let map = tree.text("ARCHITECTURE.md").unwrap_or_default();
    for room in tree.rooms() {
        if !map.contains(&format!("`{room}`")) {
            found.push(Finding::new(
                "ARCHITECTURE.md",
                1,
                format!("the code map lacks `{room}`: say in one line what it is for"),
            ));
        }
    }
    found
}

/// Paths in backticks that lead nowhere. `path::name` also says that the file has a test of that name.
pub fn check_document(tree: &Tree, name: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let (path, inside) = quoted
                .split_once("::")
                .map_or((quoted, None), |(path, inside)| (path, Some(inside)));
            let is_path = FOLDERS.iter().any(|folder| path.starts_with(folder))
                && !path.contains(['*', '{', '<', ' ', '…']);
            if !is_path {
                continue;
            }
            if !tree.holds(path) {
                found.push(Finding::new(
                    name,
                    n + 1,
                    format!("`{path}` is not there: the document is behind the tree"),
                ));
            } else if let Some(inside) =
                inside.filter(|inside| !tree.text(path).unwrap_or_default().contains(inside))
            {
                found.push(Finding::new(name, n + 1, format!("`{path}` has nothing called `{inside}`: an invariant needs the test that holds it")));
            }
        }
    }
    found
}
