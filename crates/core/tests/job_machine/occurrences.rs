//! Planned instants become runs: each once, at its second.

use cronwright_core::job::def::{Blackout, Definition};
use cronwright_core::job::{Change, Event, Verdict};
use cronwright_core::machine::{Machine, Wakeup};
use cronwright_core::outcome::RunState;
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis, SECOND};

use super::host::{Host, Manner};
use super::setup::{T0, cron, every, hourly, job_id, minutely, occurrence, once};

pub fn quick(_: &cronwright_core::job::Dispatch) -> Manner {
    Some((40, Verdict::Succeeded))
}

/// The seconds since `T0` at which occurrences were planned, by their state.
fn planned(host: &Host, state: RunState) -> Vec<i64> {
    let runs = host.runs.values().filter(|run| run.state == state);
    runs.map(|run| run.planned_at().since(T0) / SECOND)
        .collect()
}

#[test]
fn the_next_instant_and_the_run_are_stored_in_one_turn() {
    let mut host = Host::new(minutely());
    assert_eq!(
        host.job.next_wakeup(),
        Some(Wakeup {
            at: T0.plus(MINUTE),
            why: "due"
        })
    );
    let mut machine = host.restored();
    let turn = machine.step(T0.plus(MINUTE), Event::Wake).unwrap();
    let [Change::Run(run), Change::Head(head)] = turn.changes.as_slice() else {
        panic!("{turn:?}")
    };
    assert_eq!(run.id, occurrence(T0.plus(MINUTE), 1));
    assert_eq!(head.next_due, Some(T0.plus(2 * MINUTE)));
    assert_eq!(run.state, RunState::Dispatched);
    assert!(
        host.wake_at(T0.plus(MINUTE - 1)).is_empty(),
        "not a ms before its time"
    );
}

#[test]
fn an_occurrence_has_the_same_id_whoever_computes_it() {
    let ids = |host: &Host| {
        host.runs
            .values()
            .map(|run| run.id.to_string())
            .collect::<Vec<_>>()
    };
    let (mut first, mut second) = (Host::new(minutely()), Host::new(minutely()));
    first.run_until(T0.plus(5 * MINUTE), quick);
    for minute in 1..=5 {
        second.wake_at(T0.plus(minute * MINUTE + 7));
        second.end(Verdict::Failed);
    }
    assert_eq!(ids(&first), ids(&second));
}

#[test]
fn jitter_is_one_fixed_delay_per_job() {
    let jittered = |name: &str| Definition {
        jitter_ms: 30_000,
        job_id: job_id(name),
        ..minutely()
    };
    let delays = |name: &str| {
        let mut host = Host::new(jittered(name));
        host.run_until(T0.plus(10 * MINUTE), quick);
        let late = |(at, dispatch): (&Millis, &cronwright_core::job::Dispatch)| {
            at.since(dispatch.planned_at)
        };
        let delays: Vec<i64> = host.dispatches().map(late).collect();
        assert!(
            delays.len() >= 9 && delays.iter().all(|delay| *delay == delays[0]),
            "{delays:?}"
        );
        assert!(
            host.runs
                .values()
                .all(|run| run.ledger[0].why == "planned instant"),
            "jitter is not lateness"
        );
        delays[0]
    };
    let all: Vec<i64> = (0..20).map(|n| delays(&format!("job_{n}"))).collect();
    assert_eq!(
        all,
        (0..20)
            .map(|n| delays(&format!("job_{n}")))
            .collect::<Vec<_>>()
    );
    assert!(all.iter().all(|delay| (0..=30_000).contains(delay)));
    let spread: std::collections::BTreeSet<_> = all.iter().collect();
    assert!(spread.len() > 10, "jobs differ: {all:?}");
}

#[test]
fn nothing_fires_before_start_at_or_from_end_at_on() {
    let definition = Definition {
        start_at: Some(T0.plus(3 * MINUTE)),
        end_at: Some(T0.plus(6 * MINUTE)),
        ..minutely()
    };
    let mut host = Host::new(definition.clone());
    host.run_until(T0.plus(DAY), quick);
    assert_eq!(
        host.starts(),
        [180, 240, 300],
        "the start belongs to the span, the end does not"
    );
    assert_eq!(host.job.next_wakeup(), None);

    // An end that passes while the scheduler is down does not add instants behind it.
    let mut host = Host::new(definition);
    host.wake_at(T0.plus(10 * MINUTE));
    let covered: u64 = host
        .runs
        .values()
        .map(|run| run.range.map_or(1, |range| range.count))
        .sum();
    assert_eq!(covered, 3);
    assert_eq!(host.newest().planned_at(), T0.plus(5 * MINUTE));
}

#[test]
fn at_fires_once() {
    let mut host = Host::new(once(T0.plus(90 * SECOND)));
    host.run_until(T0.plus(DAY), quick);
    assert_eq!(host.starts(), [90]);
    assert_eq!(host.job.next_wakeup(), None);
}

#[test]
fn a_restart_does_not_move_the_phase_of_every() {
    let mut host = Host::new(every(10 * MINUTE));
    host.now = T0.plus(7 * MINUTE);
    assert_eq!(
        host.restored().next_wakeup().unwrap().at,
        T0.plus(10 * MINUTE)
    );
    let edited = Definition {
        name: "renamed".to_owned(),
        ..every(10 * MINUTE)
    };
    host.replace(edited);
    assert_eq!(host.job.next_wakeup().unwrap().at, T0.plus(10 * MINUTE));
}

#[test]
fn a_window_between_two_instants_skips_what_falls_into_it() {
    let from = T0.plus(2 * MINUTE);
    let blackouts = vec![Blackout::Between {
        from,
        until: T0.plus(4 * MINUTE),
    }];
    let mut host = Host::new(Definition {
        blackouts,
        ..minutely()
    });
    host.run_until(T0.plus(5 * MINUTE), quick);
    assert_eq!(planned(&host, RunState::Skipped), [120, 180]);
    assert_eq!(host.starts(), [60, 240, 300]);
    assert_eq!(
        host.run(&occurrence(from, 1)).ledger[0].why,
        "falls into a blackout window"
    );
}

#[test]
fn a_weekly_window_follows_the_wall_clock_of_the_job() {
    // Tuesday 22:00 to 06:00 in Shanghai is Tuesday 14:00 to 22:00 in UTC.
    let blackouts = vec![Blackout::Weekly {
        days: vec![2],
        from_minute: 22 * 60,
        until_minute: 6 * 60,
    }];
    let mut host = Host::new(Definition {
        blackouts: blackouts.clone(),
        ..cron("0 0 * * * ?", "Asia/Shanghai")
    });
    host.run_until(T0.plus(2 * DAY), quick);
    let hours: Vec<i64> = planned(&host, RunState::Skipped)
        .iter()
        .map(|second| second / 3_600)
        .collect();
    assert_eq!(hours, (14..22).collect::<Vec<_>>());

    // A fixed period has no zone: its wall is UTC, and the window that began on Tuesday wraps.
    let mut host = Host::new(Definition {
        blackouts,
        ..hourly()
    });
    host.run_until(T0.plus(2 * DAY), quick);
    let hours: Vec<i64> = planned(&host, RunState::Skipped)
        .iter()
        .map(|second| second / 3_600)
        .collect();
    assert_eq!(hours, (22..30).collect::<Vec<_>>());
}

#[test]
fn a_weekly_window_within_a_day_ends_before_its_last_minute() {
    let blackouts = vec![Blackout::Weekly {
        days: vec![2, 3],
        from_minute: 60,
        until_minute: 1440,
    }];
    let mut host = Host::new(Definition {
        blackouts,
        ..hourly()
    });
    host.run_until(T0.plus(2 * DAY - 1), quick);
    let hours: Vec<i64> = planned(&host, RunState::Success)
        .iter()
        .map(|second| second / 3_600)
        .collect();
    assert_eq!(hours, [24], "00:00 on Wednesday alone");
}

#[test]
fn an_update_of_the_zones_plans_anew_and_loses_no_instant() {
    // 09:00 in Shanghai is 01:00Z. The old database had it an hour later.
    let host = Host::new(cron("0 0 9 * * ?", "Asia/Shanghai"));
    let mut head = host.head.clone();
    assert_eq!(head.next_due, Some(T0.plus(HOUR)));
    head.next_due = Some(T0.plus(2 * HOUR));
    head.tzdb = "2001a".to_owned();
    let restore = |head: &cronwright_core::job::Head| {
        cronwright_core::job::JobMachine::restore(
            super::setup::AT,
            host.definition.clone(),
            head.clone(),
            Vec::new(),
        )
        .unwrap()
    };
    let mut job = restore(&head);
    assert!(
        job.next_wakeup().unwrap().at <= T0,
        "it asks for a step at once"
    );
    job.step(T0.plus(5), Event::Wake).unwrap();
    assert_eq!(job.next_wakeup().unwrap().at, T0.plus(HOUR));
    assert_eq!(job.head().tzdb, cronwright_core::schedule::tzdb_version());

    // Seen only after the instant of the new rules: it is late, not lost.
    let mut job = restore(&head);
    let turn = job.step(T0.plus(HOUR + 30 * MINUTE), Event::Wake).unwrap();
    let runs = turn
        .changes
        .iter()
        .filter(|change| matches!(change, Change::Run(_)))
        .count();
    assert_eq!(runs, 1, "{turn:?}");
    assert_eq!(job.runs().next().unwrap().planned_at(), T0.plus(HOUR));
}
