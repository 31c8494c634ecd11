//! Stored records of every past version stay readable: a file per version, one record a line.

use std::collections::BTreeMap;

use cronwright_core::ids::{RunId, RunTag, digest16};
use cronwright_core::job::def::{
    AfterOn, Blackout, CallbackPreset, CallbackTarget, Definition, Misfire, Overlap, RouteStrategy,
    ScheduleSpec,
};
use cronwright_core::job::run::{
    Active, AttemptResult, LedgerRow, Owed, Progress, Run, SkippedRange, Stop, Trigger, Waits,
};
use cronwright_core::job::view::JobStatus;
use cronwright_core::job::{Head, JobMachine, LinkOwed};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::{CallbackState, RunState};
use cronwright_core::time::{HOUR, MINUTE, Millis, SECOND};

use super::setup::{
    AT, T0, accepting, by_hand, cron, every, foreign, job_id, occurrence, once, target,
    with_misfire, with_overlap, with_retries,
};

const V1: &str = include_str!("../data/job_records_v1.jsonl");

fn definitions() -> Vec<Definition> {
    let after = |on| Definition {
        schedule: ScheduleSpec::After {
            job: job_id("job_a"),
            on,
        },
        ..by_hand()
    };
    let blackouts = vec![
        Blackout::Between {
            from: T0,
            until: T0.plus(HOUR),
        },
        Blackout::Weekly {
            days: vec![0, 6],
            from_minute: 1320,
            until_minute: 360,
        },
    ];
    let full = Definition {
        description: Some("orders to the ERP".to_owned()),
        owner: Some("billing".to_owned()),
        labels: BTreeMap::from([("team".to_owned(), "erp".to_owned())]),
        start_at: Some(T0),
        end_at: Some(T0.plus(HOUR)),
        jitter_ms: 5_000,
        blackouts,
        pool: Some("dc1".to_owned()),
        route_strategy: Some(RouteStrategy::ConsistencyHash),
        route_key: Some("customer_id=9527".to_owned()),
        deadline_ms: Some(HOUR),
        warn_after_ms: Some(MINUTE),
        queue_limit: 7,
        callback: Some(CallbackTarget {
            preset: CallbackPreset::Durable,
            ..target("https://cb.example/")
        }),
        ..accepting(with_retries(3, cron("0 0/5 * * * ?", "Asia/Shanghai")))
    };
    vec![
        full,
        by_hand(),
        with_overlap(
            Overlap::Queue,
            with_misfire(Misfire::Skip, HOUR, 1, every(MINUTE)),
        ),
        with_overlap(
            Overlap::Replace,
            with_misfire(Misfire::CatchUp, HOUR, 100, once(T0)),
        ),
        with_overlap(Overlap::Allow, after(AfterOn::Success)),
        after(AfterOn::Failure),
        after(AfterOn::Finish),
    ]
}

fn heads() -> Vec<Head> {
    let head = Head {
        rev: 1,
        status: JobStatus::Enabled,
        revision: 1,
        schedule_version: 1,
        created_at: T0,
        updated_at: T0,
        next_due: None,
        recorded_to: None,
        last_seq: 0,
        last_fence: 0,

        ends: 0,
        settled_below: 1,
        projected: 0,
        changed: Vec::new(),
        durations: Vec::new(),
        dependents: Vec::new(),
        links: Vec::new(),
        tzdb: "2025b".to_owned(),
    };
    let full = Head {
        rev: 42,
        status: JobStatus::Paused,
        revision: 3,
        schedule_version: 2,
        next_due: Some(T0.plus(MINUTE)),
        recorded_to: Some(T0),
        last_seq: 9,
        last_fence: 12,
        settled_below: 8,
        projected: 7,
        changed: vec![2, 5],
        durations: vec![40, 55],
        dependents: vec![job_id("job_b")],
        links: vec![
            LinkOwed {
                job: job_id("job_a"),
                on: true,
            },
            LinkOwed {
                job: job_id("job_c"),
                on: false,
            },
        ],
        ..head.clone()
    };
    vec![
        head.clone(),
        full,
        Head {
            status: JobStatus::Deleted,
            ..head
        },
    ]
}

fn row(at: Millis, to: RunState, by: &str, why: &str, fence: Option<u64>) -> LedgerRow {
    LedgerRow {
        at,
        to,
        by: by.to_owned(),
        why: why.to_owned(),
        fence,
    }
}

/// The smallest record.
fn run(seq: u64, id: RunId, trigger: Trigger) -> Run {
    Run {
        seq,
        id,
        trigger,
        triggered_at: T0,
        rev: 1,
        state: RunState::Triggered,
        revision: 1,
        attempts: 0,
        losses: 0,
        fence: 0,
        active: None,
        waits: Some(Waits::Queue),
        deadline: None,
        started_at: None,
        ended_at: None,
        ended_as: 0,
        result: None,
        progress: None,
        params: None,
        range: None,
        callback: CallbackState::None,
        callback_word: 0,
        owed: Vec::new(),
        ledger: vec![row(
            T0,
            RunState::Triggered,
            "schedule",
            "planned instant",
            None,
        )],
    }
}

fn of(tag: RunTag) -> RunId {
    RunId {
        job: AT,
        at: T0,
        tag,
    }
}

fn open_runs() -> Vec<Run> {
    let hash = || digest16(&["k"]);
    let active = Active {
        fence: 4,
        since: T0,
        timeout: T0.plus(MINUTE),
        warn: Millis(i64::MAX),
        accepted: false,
        warned: false,
        stopping: None,
    };
    let out = |seq, state, active| Run {
        state,
        attempts: 1,
        fence: 4,
        active: Some(active),
        waits: None,
        started_at: Some(T0),
        ..run(
            seq,
            of(RunTag::Manual(hash())),
            Trigger::Manual {
                by: "ann".to_owned(),
            },
        )
    };
    let stops = [Stop::Cancel, Stop::Replaced, Stop::Deleted, Stop::Deadline];
    let mut runs = vec![
        run(1, occurrence(T0, 1), Trigger::Schedule { late_ms: 7_000 }),
        out(2, RunState::Dispatched, active),
        Run {
            params: Some(r#"{"n":1}"#.to_owned()),
            progress: Some(Progress {
                at: T0,
                percent: Some(40),
                message: "at it".to_owned(),
            }),
            deadline: Some(T0.plus(HOUR)),
            ..out(
                3,
                RunState::Running,
                Active {
                    accepted: true,
                    warned: true,
                    warn: T0.plus(SECOND),
                    ..active
                },
            )
        },
        Run {
            waits: Some(Waits::Retry {
                until: T0.plus(30 * SECOND),
            }),
            attempts: 1,
            ..run(4, occurrence(T0, 2), Trigger::CatchUp { late_ms: 90_000 })
        },
        Run {
            state: RunState::Lost,
            losses: 2,
            waits: Some(Waits::Lost {
                until: T0.plus(MINUTE),
                stop: None,
            }),
            ..run(
                5,
                of(RunTag::Replay(hash())),
                Trigger::Replay {
                    of: occurrence(T0, 1),
                    by: "ann".to_owned(),
                },
            )
        },
        Run {
            state: RunState::Lost,
            losses: 1,
            waits: Some(Waits::Lost {
                until: T0.plus(MINUTE),
                stop: Some(Stop::Replaced),
            }),
            ..run(6, occurrence(T0, 3), Trigger::Schedule { late_ms: 0 })
        },
    ];
    runs.extend(stops.into_iter().zip(7..).map(|(stop, seq)| {
        out(
            seq,
            RunState::Running,
            Active {
                stopping: Some(stop),
                ..active
            },
        )
    }));
    runs
}

fn ended_runs() -> Vec<Run> {
    let result = AttemptResult {
        status: Some(503),
        error_code: Some("http_503".to_owned()),
        summary: Some("busy".to_owned()),
        output: Some("trying\nbusy".to_owned()),
        truncated: true,
        ms: 41,
    };
    let trigger = Trigger::After {
        job: job_id("job_a"),
        run: foreign(1),
        ended: RunState::Success,
    };
    let failed = Run {
        rev: 6,
        state: RunState::Failed,
        attempts: 2,
        fence: 9,
        waits: None,
        ended_at: Some(T0.plus(SECOND)),
        result: Some(result),
        callback: CallbackState::Pending,
        callback_word: 2,
        owed: vec![
            Owed::Callback {
                target: target("https://cb.example/"),
            },
            Owed::Dependent {
                job: job_id("job_b"),
            },
        ],
        ledger: vec![
            row(T0, RunState::Triggered, "job job_a", "ended", None),
            row(
                T0.plus(SECOND),
                RunState::Failed,
                "executor",
                "attempt 2/2: HTTP 503 after 41 ms",
                Some(9),
            ),
        ],
        ..run(1, of(RunTag::After(digest16(&["x"]))), trigger)
    };
    let ended = |seq, state, callback| Run {
        state,
        callback,
        waits: None,
        ended_at: Some(T0),
        ..run(seq, occurrence(T0, 1), Trigger::Schedule { late_ms: 0 })
    };
    vec![
        failed,
        ended(2, RunState::Success, CallbackState::Done),
        ended(3, RunState::TimedOut, CallbackState::Failed),
        ended(4, RunState::Cancelled, CallbackState::None),
        Run {
            range: Some(SkippedRange {
                count: 179,
                first: T0.plus(-HOUR),
                last: T0,
            }),
            ..ended(5, RunState::Skipped, CallbackState::None)
        },
    ]
}

fn written() -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(
        definitions()
            .iter()
            .map(|record| serde_json::to_string(record).unwrap()),
    );
    lines.extend(
        heads()
            .iter()
            .map(|record| serde_json::to_string(record).unwrap()),
    );
    lines.extend(
        open_runs()
            .iter()
            .chain(&ended_runs())
            .map(|record| serde_json::to_string(record).unwrap()),
    );
    lines.join("\n") + "\n"
}

fn read<T: serde::de::DeserializeOwned>(lines: &mut std::str::Lines<'_>, count: usize) -> Vec<T> {
    lines
        .take(count)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn records_of_version_1_are_read_as_they_were_meant() {
    let mut lines = V1.lines();
    assert_eq!(
        read::<Definition>(&mut lines, definitions().len()),
        definitions()
    );
    assert_eq!(read::<Head>(&mut lines, heads().len()), heads());
    assert_eq!(read::<Run>(&mut lines, open_runs().len()), open_runs());
    assert_eq!(read::<Run>(&mut lines, ended_runs().len()), ended_runs());
    assert_eq!(lines.next(), None);
}

#[test]
fn what_is_written_now_is_version_1_to_the_byte() {
    if let Ok(path) = std::env::var("WRITE_RECORDS") {
        std::fs::write(path, written()).unwrap();
        return;
    }
    assert_eq!(
        written(),
        V1,
        "a new form needs a new file; the old ones stay"
    );
}

#[test]
fn a_machine_is_made_of_them() {
    for definition in definitions() {
        let head = heads().remove(1);
        let job = JobMachine::restore(AT, definition, head, open_runs()).unwrap();
        assert_eq!(job.runs().count(), 10);
        assert!(job.next_wakeup().is_some());
        assert_eq!(
            job.outstanding().len(),
            2 + 5,
            "two links, and the attempts that were not accepted"
        );
    }
}
