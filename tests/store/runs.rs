//! Runs: what is projected comes back, the newest copy wins, and every list shows each once.

use cronwright::store::runs::{RunFilter, RunRow};
use cronwright::store::{StoreError, jobs, runs};
use cronwright_core::ids::{JobRef, RunId, RunTag, digest16};
use cronwright_core::job::run::{LedgerRow, Run, SkippedRange, Trigger};
use cronwright_core::outcome::{CallbackState, RunState};
use cronwright_core::time::Millis;
use serde_json::json;

use crate::sqlite::{Sqlite, now};
use crate::{T, id};

fn run_id(at: i64) -> RunId {
    RunId {
        job: JobRef {
            shard: 3,
            number: 51,
        },
        at: Millis(at),
        tag: RunTag::Occurrence(1),
    }
}

// From JSON, so that a field the store does not keep can come without a change here.
fn run(at: i64, state: RunState) -> Run {
    let ended = state.is_terminal().then_some(at + 95);
    let json = json!({
        "seq": 7, "id": run_id(at), "trigger": { "kind": "schedule", "lateMs": 12 }, "triggeredAt": at + 12, "rev": 3,
        "state": state, "revision": 2, "attempts": 1, "fence": 9, "startedAt": at + 15, "endedAt": ended, "callback": "PENDING",
        "result": { "status": 200, "errorCode": "http_200", "summary": "ok ’\"<订单", "ms": 79 },
        "ledger": [{ "at": at, "to": state, "by": "schedule", "why": "due", "fence": 9 }],
    });
    serde_json::from_value(json).unwrap()
}

fn row(at: i64, state: RunState) -> RunRow {
    RunRow::from(&id("job_1"), &run(at, state))
}

fn newest(db: &Sqlite, states: &[RunState], limit: u32) -> Vec<RunRow> {
    now(runs::latest(
        db,
        &RunFilter {
            states: states.to_vec(),
            before: None,
            limit,
        },
    ))
    .unwrap()
}

#[test]
fn a_run_comes_back_as_it_was_projected() {
    let db = Sqlite::new();
    let (of, by) = (run_id(T - 1), "admin".to_owned());
    let triggers = [
        Trigger::Schedule { late_ms: 5_001 },
        Trigger::CatchUp { late_ms: 90_000 },
        Trigger::Manual { by: by.clone() },
        Trigger::Replay { of: of.clone(), by },
        Trigger::After {
            job: id("other"),
            run: of,
            ended: RunState::Failed,
        },
    ];
    let tags = ["m", "r"].map(|key| digest16(&[key]));
    let mut rows = Vec::new();
    for (step, trigger) in triggers.into_iter().enumerate() {
        for (place, state) in RunState::ALL.into_iter().enumerate() {
            let mut run = run(T + (step * 10 + place) as i64, state);
            run.trigger = trigger.clone();
            run.id.tag = if place % 2 == 0 {
                RunTag::Manual(tags[0].clone())
            } else {
                RunTag::Replay(tags[1].clone())
            };
            if place % 3 == 0 {
                (run.started_at, run.result, run.callback) = (None, None, CallbackState::None);
                run.range = Some(SkippedRange {
                    count: 525_600,
                    first: Millis(T - 1),
                    last: run.id.at,
                });
            }
            rows.push(RunRow::from(&id("job_1"), &run));
        }
    }
    now(runs::project(&db, &rows)).unwrap();
    for row in &rows {
        assert_eq!(now(runs::get(&db, &row.id)).unwrap().as_ref(), Some(row));
    }
    assert_eq!(now(runs::get(&db, &run_id(T - 5))).unwrap(), None);
}

#[test]
fn an_older_copy_of_a_run_never_replaces_a_newer_one() {
    let db = Sqlite::new();
    let newer = row(T, RunState::Success);
    let older = RunRow {
        rev: 2,
        ..row(T, RunState::Running)
    };
    now(runs::project(
        &db,
        &[older.clone(), newer.clone(), older.clone()],
    ))
    .unwrap();
    now(runs::project(&db, &[older])).unwrap();
    assert_eq!(now(runs::get(&db, &newer.id)).unwrap(), Some(newer));
}

#[test]
fn a_projection_whose_answer_was_lost_can_be_repeated() {
    let db = Sqlite::new();
    let rows: Vec<RunRow> = (0..50).map(|n| row(T + n, RunState::Failed)).collect();
    db.lose_answer.set(true);
    assert!(now(runs::project(&db, &rows)).is_err());
    assert_eq!(
        now(runs::project(&db, &rows)),
        Ok(0),
        "nothing is written twice"
    );
    assert_eq!(newest(&db, &[], 500).len(), 50);
}

#[test]
fn very_long_ledgers_are_projected_in_several_statements_of_one_transaction() {
    let db = Sqlite::new();
    let mut long = row(T, RunState::Failed);
    long.ledger = vec![
        LedgerRow {
            why: "x".repeat(1_000),
            ..long.ledger[0].clone()
        };
        60
    ];
    let rows: Vec<RunRow> = (0..60)
        .map(|n| RunRow {
            id: run_id(T + n),
            ..long.clone()
        })
        .collect();
    assert_eq!(now(runs::project(&db, &rows)), Ok(60));
    assert_eq!(
        now(runs::get(&db, &run_id(T + 59))).unwrap(),
        Some(rows[59].clone())
    );
}

#[test]
fn pages_of_any_size_show_every_run_once_and_newest_first() {
    let db = Sqlite::new();
    // Three runs share each instant.
    let rows: Vec<RunRow> = (0..90_i64)
        .map(|n| {
            let state = RunState::ALL[n as usize % 10];
            RunRow {
                id: RunId {
                    job: JobRef {
                        shard: 1,
                        number: n as u32,
                    },
                    ..run_id(T + n / 3)
                },
                ..row(T, state)
            }
        })
        .collect();
    now(runs::project(&db, &rows)).unwrap();
    for states in [
        vec![],
        vec![RunState::Failed, RunState::TimedOut],
        vec![RunState::Success, RunState::Skipped],
    ] {
        let mut expected: Vec<&RunRow> = rows
            .iter()
            .filter(|row| states.is_empty() || states.contains(&row.state))
            .collect();
        expected.sort_by_key(|row| std::cmp::Reverse((row.id.at, row.id.to_string())));
        for limit in [1, 2, 7, 500] {
            let (mut found, mut before) = (Vec::new(), None);
            loop {
                let page = now(runs::latest(
                    &db,
                    &RunFilter {
                        states: states.clone(),
                        before,
                        limit,
                    },
                ))
                .unwrap();
                let Some(last) = page.last() else { break };
                before = Some(last.id.clone());
                found.extend(page);
            }
            assert_eq!(
                found.iter().collect::<Vec<_>>(),
                expected,
                "{states:?} by {limit}"
            );
        }
    }
}

#[test]
fn the_counts_are_those_of_failed_late_and_running_runs_since_then() {
    let db = Sqlite::new();
    let late = RunRow {
        late_ms: runs::LATE_MS,
        ..row(T + 2, RunState::Success)
    };
    let rows = [
        row(T - 1, RunState::Failed),
        row(T, RunState::Failed),
        row(T + 1, RunState::TimedOut),
        late,
        row(T + 3, RunState::Running),
        row(T + 4, RunState::Success),
        row(T + 5, RunState::Skipped),
    ];
    now(runs::project(&db, &rows)).unwrap();
    let counts = now(runs::counts(&db, Millis(T))).unwrap();
    assert_eq!((counts.failed, counts.late, counts.running), (2, 1, 1));
}

#[test]
fn old_ended_runs_are_pruned_a_few_at_a_time_and_open_ones_stay() {
    let db = Sqlite::new();
    let rows: Vec<RunRow> = (0..20)
        .map(|n| {
            row(
                T + n,
                if n % 4 == 0 {
                    RunState::Unknown
                } else {
                    RunState::Success
                },
            )
        })
        .collect();
    now(runs::project(&db, &rows)).unwrap();
    let removed: Vec<u64> = (0..3)
        .map(|_| now(runs::prune(&db, Millis(T + 16), 10)).unwrap())
        .collect();
    assert_eq!(removed, [10, 2, 0]);
    assert_eq!(newest(&db, &[], 500).len(), 8);
}

#[test]
fn a_failure_or_a_damaged_row_is_an_error_and_never_an_absence() {
    let db = Sqlite::new();
    now(runs::project(&db, &[row(T, RunState::Success)])).unwrap();
    db.connection
        .execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE runs SET state = 'GREAT'")
        .unwrap();
    let damaged = now(runs::get(&db, &run_id(T))).unwrap_err();
    assert!(
        matches!(&damaged, StoreError::Corrupt { table: "runs", column: "state", detail } if detail.contains("GREAT")),
        "{damaged}"
    );
    db.down.set(true);
    assert!(matches!(
        now(runs::get(&db, &run_id(T))),
        Err(StoreError::Unavailable(_))
    ));
    assert!(matches!(
        now(jobs::get(&db, &id("a"))),
        Err(StoreError::Unavailable(_))
    ));
}
