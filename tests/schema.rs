//! The schema: what it is, that it speaks the core's words, and that no list walks a whole table.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::path::Path;

use cronwright::store::endpoints::Breaker;
use cronwright::store::runs::{LATE_MS, TriggerKind};
use cronwright::store::statements;
use cronwright::store::tokens::Role;
use cronwright_core::job::view::JobStatus;
use cronwright_core::outcome::{CallbackState, RunState};
use cronwright_core::schedule::Dialect;

mod sqlite;
use sqlite::Sqlite;

fn here(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn schema(db: &Sqlite) -> String {
    let order =
        "SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'index', name";
    let mut statement = db.connection.prepare(order).unwrap();
    let texts: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    texts.join("\n\n") + "\n"
}

#[test]
fn the_schema_after_all_migrations_is_the_golden_one() {
    let (golden, found) = (here("tests/schema.sql"), schema(&Sqlite::new()));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(
        found == expected,
        "the schema changed; if that is meant: UPDATE_GOLDEN=1 cargo test --test schema"
    );
}

/// The words in `CHECK (column IN ('…', …))` of a table.
fn check_list(table: &str, column: &str) -> BTreeSet<String> {
    let db = Sqlite::new();
    let sql: String = db
        .connection
        .query_row(
            "SELECT sql FROM sqlite_master WHERE name = ?1",
            [table],
            |row| row.get(0),
        )
        .unwrap();
    let list = sql
        .split_once(&format!("CHECK ({column} IN ("))
        .unwrap_or_else(|| panic!("{table}.{column} has no CHECK list"))
        .1;
    list.split_once(')')
        .unwrap()
        .0
        .split(", ")
        .map(|word| word.trim_matches('\'').to_owned())
        .collect()
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    words.into_iter().map(str::to_owned).collect()
}

#[test]
fn check_lists_name_exactly_the_values_of_the_enums() {
    assert_eq!(
        check_list("runs", "state"),
        words(RunState::ALL.map(RunState::as_str))
    );
    assert_eq!(
        check_list("runs", "callback"),
        words(CallbackState::ALL.map(CallbackState::as_str))
    );
    assert_eq!(
        check_list("runs", "trigger_kind"),
        words(TriggerKind::ALL.map(TriggerKind::as_str))
    );
    assert_eq!(
        check_list("endpoints", "breaker"),
        words(Breaker::ALL.map(Breaker::as_str))
    );
    assert_eq!(
        check_list("tokens", "role"),
        words(Role::ALL.map(Role::as_str))
    );
    let statuses = [JobStatus::Enabled, JobStatus::Paused, JobStatus::Deleted];
    assert_eq!(
        check_list("jobs", "status"),
        words(statuses.map(JobStatus::as_str))
    );
    let dialects = [Dialect::Quartz, Dialect::Unix, Dialect::UnixSeconds];
    assert_eq!(
        check_list("jobs", "dialect"),
        words(dialects.map(Dialect::as_str))
    );
    // The kinds of schedules and executors are held by tests/store.rs, which stores one of each.
}

#[test]
fn what_the_index_calls_late_is_what_the_store_calls_late() {
    assert!(schema(&Sqlite::new()).contains(&format!(
        "WHERE state <> 'SUCCESS' OR late_ms >= {LATE_MS};"
    )));
    let with_condition = statements()
        .iter()
        .filter(|(_, sql)| sql.contains("INDEXED BY runs_notable"))
        .count();
    let alike = format!("(state <> 'SUCCESS' OR late_ms >= {LATE_MS})");
    assert_eq!(
        statements()
            .iter()
            .filter(|(_, sql)| sql.contains(&alike))
            .count(),
        with_condition
    );
}

/// Names of text constants in the store's sources, as `file::NAME`.
fn constants() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(here("src/store")).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            if let Some((name, _)) = line
                .trim_start_matches("pub ")
                .strip_prefix("const ")
                .and_then(|rest| rest.split_once(": &str ="))
            {
                names.insert(format!("{file}::{name}"));
            }
        }
    }
    names
}

#[test]
fn every_statement_is_listed_once() {
    let listed: Vec<&str> = statements().iter().map(|(name, _)| *name).collect();
    assert_eq!(words(listed.iter().copied()), constants());
    assert_eq!(listed.len(), constants().len());
}

fn plan(db: &Sqlite, sql: &str) -> Vec<String> {
    let mut statement = db
        .connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap_or_else(|error| panic!("{error}\n{sql}"));
    let nulls = vec![rusqlite::types::Null; statement.parameter_count()];
    let rows = statement
        .query_map(rusqlite::params_from_iter(nulls), |row| {
            row.get::<_, String>(3)
        })
        .unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn no_statement_scans_a_table() {
    let db = Sqlite::new();
    for (name, sql) in statements() {
        for step in plan(&db, sql) {
            // A JSON array that was bound is as long as its caller made it; a constant row is one row.
            let harmless = step.starts_with("SCAN json_each")
                || step.starts_with("SCAN each")
                || step == "SCAN CONSTANT ROW";
            assert!(
                !step.starts_with("SCAN") || harmless,
                "{name}: {step}\n{sql}"
            );
        }
    }
}

#[test]
fn lists_come_out_of_their_index_in_order() {
    let db = Sqlite::new();
    for (name, sql) in statements()
        .into_iter()
        .filter(|(_, sql)| sql.contains("ORDER BY"))
    {
        for step in plan(&db, sql) {
            assert!(
                !step.contains("TEMP B-TREE FOR ORDER BY"),
                "{name}: {step}\n{sql}"
            );
        }
    }
}

#[test]
fn the_lists_use_the_index_made_for_them() {
    let db = Sqlite::new();
    let expected = [
        (
            "jobs::LIST",
            "SEARCH jobs USING INDEX jobs_search (job_id>?)",
        ),
        (
            "jobs::LIST_BY_LABEL",
            "SEARCH job_labels USING COVERING INDEX job_labels_by_label (label=? AND job_id>?)",
        ),
        (
            "runs::GET",
            "SEARCH runs USING PRIMARY KEY (at=? AND run_id=?)",
        ),
        (
            "runs::LATEST",
            "SEARCH runs USING PRIMARY KEY ((at,run_id)<(?,?))",
        ),
        (
            "runs::LATEST_NOTABLE",
            "SEARCH runs USING INDEX runs_notable ((at,run_id)<(?,?))",
        ),
        (
            "runs::COUNTS",
            "SEARCH runs USING COVERING INDEX runs_notable (at>?)",
        ),
        (
            "audit::LIST",
            "SEARCH audit USING INTEGER PRIMARY KEY (rowid<?)",
        ),
    ];
    for (name, step) in expected {
        let (_, sql) = statements()
            .into_iter()
            .find(|(listed, _)| *listed == name)
            .unwrap();
        let found = plan(&db, sql);
        assert!(found.iter().any(|line| line == step), "{name}: {found:#?}");
    }
}
