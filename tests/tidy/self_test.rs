//! The rules find what they are for, and nothing else.

use super::arrows::{ROOMS, check_room};
use super::source::{Function, Source};
use super::{Finding, Tree, docs, rules};

fn source(text: &str) -> Source {
    Source::new("src/edge/jobs.rs", text)
}

fn lines(findings: &[Finding]) -> Vec<usize> {
    findings.iter().map(|finding| finding.line).collect()
}

fn arrows(path: &str, text: &str) -> Vec<usize> {
    let room = ROOMS.iter().find(|room| path.starts_with(room.at));
    room.map_or_else(Vec::new, |room| {
        lines(&check_room(room, &Source::new(path, text)))
    })
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = "let a = \"x // y\"; // z \"q\"\nlet b = r#\"a \" b\"#; /* c /* d */ e */ let c = '\"'; let l: &'a str;\n";
    let found = source(text);
    assert_eq!(found.code.len(), text.len());
    assert_eq!(
        found.code.lines().next(),
        Some("let a = \"      \";         ")
    );
    assert_eq!(
        found.literals,
        [(1, "x // y".to_owned()), (2, "a \" b".to_owned())]
    );
    assert!(
        found.code.contains("let l: &'a str;")
            && !found.code.contains('e'.to_string().repeat(2).as_str())
    );
    assert_eq!(
        source("\"a\\\"b\" 'c'").literals,
        [(1, "a\\\"b".to_owned())]
    );
    assert_eq!(
        source("let x = b'\\''; let y = \"é\";").literals,
        [(1, "é".to_owned())]
    );
}

#[test]
fn functions_are_counted_from_their_first_line_to_their_last() {
    let text = "fn a() {}\ntrait T { fn b(); fn c() -> [u8; 3] { [0; 3] } }\nfn d(\n    x: fn(u8) -> u8,\n) {\n    if x(1) > 0 {\n    }\n}\n#[cfg(test)]\nmod tests {\n    fn e() {\n    }\n}\n";
    let function = |name: &str, line, lines| Function {
        name: name.to_owned(),
        line,
        lines,
    };
    assert_eq!(
        source(text).functions(),
        [
            function("a", 1, 1),
            function("c", 2, 1),
            function("d", 3, 6)
        ]
    );
    let long = format!(
        "fn long() {{\n{}}}\n",
        "    f();\n".repeat(rules::MOST_FUNCTION_LINES)
    );
    assert_eq!(lines(&rules::long_functions(&source(&long))), [1]);
}

#[test]
fn paths_are_found_in_trees_and_in_code() {
    let text = "use crate::{store, host::{client::{ask as a, b}, message}};\nlet x = super::super::ui::f();\nfn g<T: Into<u8>>() {}\nuse a::*;\n";
    let paths: Vec<String> = source(text)
        .paths()
        .into_iter()
        .map(|(line, path)| format!("{line} {path}"))
        .collect();
    let wanted = [
        "1 crate::store",
        "1 crate::host::client::ask",
        "1 crate::host::client::b",
        "1 crate::host::message",
        "2 super::super::ui::f",
        "4 a",
    ];
    assert_eq!(paths, wanted);
}

#[test]
fn arrows_that_must_not_be_are_found_however_they_are_written() {
    assert_eq!(
        arrows(
            "src/edge/jobs.rs",
            "use crate::host::client::ask_shard;\nuse crate::{store, ui};\n"
        ),
        []
    );
    assert_eq!(
        arrows(
            "src/edge/jobs.rs",
            "use crate::host::client;\nuse crate::host::shard::Shard;\nuse crate::deliver;\n"
        ),
        [2, 3]
    );
    assert_eq!(
        arrows(
            "src/store/jobs.rs",
            "fn f() { super::super::host::g(); }\nuse crate::edge::x;\nuse super::cells;\n"
        ),
        [1, 2]
    );
    assert_eq!(
        arrows("src/ui/home.rs", "fn f(env: &worker::Env) {}\n"),
        [1, 1]
    );
    assert_eq!(arrows("src/ui/mod.rs", "use super::store;\n"), [1]);
    assert_eq!(
        arrows(
            "crates/core/src/job/mod.rs",
            "use cronwright_protocol::api;\nuse super::x;\nlet t = Instant::now();\n"
        ),
        [1, 3]
    );
    assert_eq!(
        arrows(
            "src/edge/jobs.rs",
            "// machine.step(\nlet x = \"step\"; machine.step(now, event);\n"
        ),
        [2]
    );
    assert_eq!(
        arrows(
            "src/host/clock.rs",
            "#[cfg(test)]\nmod tests {\n    use crate::edge::x;\n}\n"
        ),
        []
    );
}

#[test]
fn sql_is_told_from_english() {
    for text in [
        "SELECT a FROM b",
        " select a\nfrom b where c",
        "INSERT INTO a",
        "update a set b = 1",
        "DELETE FROM a WHERE b",
        "CREATE TABLE IF NOT EXISTS a (b)",
        "WITH a AS (b) SELECT c",
    ] {
        assert!(rules::is_sql(text), "{text}");
    }
    for text in [
        "select a job from the list",
        "update the job",
        "delete from",
        "with a token",
        "insert",
        "create a table",
        "",
    ] {
        assert!(!rules::is_sql(text), "{text}");
    }
    let tree = Tree::of(vec![(
        "src/edge/a.rs".to_owned(),
        "//! A.\nconst A: &str = \"DELETE FROM jobs\";\n".to_owned(),
    )]);
    assert_eq!(lines(&rules::sql(&tree)), [2]);
}

#[test]
fn a_panic_needs_a_reason_near_it() {
    let bare = "fn a() {\n    b.unwrap();\n}\n";
    let other = "#[expect(clippy::panic, reason = \"x\")]\nfn a() {\n    b.unwrap();\n}\n";
    let excused = "#[expect(\n    clippy::unwrap_used,\n    reason = \"x\"\n)]\nfn a() {\n    b.unwrap();\n}\n";
    let test = "#[cfg(test)]\nmod tests {\n    fn a() {\n        panic!();\n    }\n}\n";
    let found = |text: &str| lines(&rules::panics_in(&source(text)));
    assert_eq!(found(bare), [2]);
    assert_eq!(found(other), [3]);
    assert_eq!(found(excused), []);
    assert_eq!(found(test), []);
    assert_eq!(found("fn a() {\n    b.unwrap_or(1); // .unwrap()\n}\n"), []);
}

#[test]
fn files_that_nothing_leads_to_are_found() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let tree = Tree::of(vec![
        file("src/lib.rs", "pub mod a;\n#[cfg(x)]\nmod b;\n"),
        file("src/a/mod.rs", "mod c;\n"),
        file("src/a/c.rs", "// mod d;\n"),
        file("src/a/d.rs", ""),
        file("src/b.rs", "mod e;\n"),
        file("src/b/e.rs", ""),
        file("tests/t.rs", "#[path = \"t/f.rs\"]\nmod f;\n"),
        file("tests/t/f.rs", ""),
        file("tests/u/main.rs", "mod g;\n"),
        file("tests/u/g.rs", ""),
        file("tests/u/h.rs", ""),
    ]);
    let dead: Vec<String> = rules::dead(&tree)
        .into_iter()
        .map(|finding| finding.path)
        .collect();
    assert_eq!(dead, ["src/a/d.rs", "tests/u/h.rs"]);
}

#[test]
fn traces_of_a_machine_are_found() {
    let found = |path: &str, text: &str| lines(&rules::machine_traces(path, text));
    let folder = "work";
    assert_eq!(
        found(
            "a.md",
            &format!("see /{folder}/main\nsee ./{folder}/main and x/{folder}/y\n")
        ),
        [1]
    );
    assert_eq!(
        found(
            "package-lock.json",
            "\"a\": {\n  \"resolved\": \"https://x/a.tgz\"\n"
        ),
        [2]
    );
    assert_eq!(
        found(
            "Cargo.lock",
            "source = \"registry+https://github.com/rust-lang/crates.io-index\"\nsource = \"sparse+https://x/\"\n"
        ),
        [2]
    );
}

#[test]
fn a_document_that_is_behind_the_tree_is_found() {
    let tree = Tree::of(vec![(
        "tests/a.rs".to_owned(),
        "fn holds() {}\n".to_owned(),
    )]);
    let text = "`tests/a.rs` and `tests/`\n`tests/b.rs`\n`tests/a.rs::holds`\n`tests/a.rs::breaks`\n`src/*/x` `cargo test`\n";
    assert_eq!(lines(&docs::check_document(&tree, "A.md", text)), [2, 4]);
}
