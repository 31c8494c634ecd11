//! Instants that passed without a start: what runs of them, and that every one is in the books.

use std::time::Instant;

use cronwright_core::job::def::{Blackout, Definition, Misfire, Overlap};
use cronwright_core::job::run::Trigger;
use cronwright_core::job::{Event, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::RunState;
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis, SECOND};

use super::host::Host;
use super::occurrences::quick;
use super::setup::{T0, cron, every, minutely, once, with_misfire, with_overlap};

/// Planned instants in the books, whatever became of them.
fn covered(host: &Host) -> u64 {
    host.runs
        .values()
        .map(|run| run.range.map_or(1, |range| range.count))
        .sum()
}

/// Comes back after a pause of the scheduler and lets everything run.
fn down(definition: Definition, ms: i64) -> Host {
    let mut host = Host::new(definition);
    host.wake_at(T0.plus(ms));
    host.run_until(T0.plus(ms + 20 * SECOND), quick);
    host
}

#[test]
fn a_start_late_by_up_to_a_minute_is_an_ordinary_start_that_says_so() {
    for policy in [Misfire::FireOnce, Misfire::Skip, Misfire::CatchUp] {
        for (late, why) in [
            (7, "planned instant, late by 7 s"),
            (60, "planned instant, late by 60 s"),
            (0, "planned instant"),
        ] {
            let host = down(
                with_misfire(policy, HOUR, 10, every(HOUR)),
                HOUR + late * SECOND,
            );
            let run = host.newest();
            assert_eq!(
                (run.state, run.ledger[0].why.as_str()),
                (RunState::Success, why)
            );
            assert_eq!(
                run.trigger,
                Trigger::Schedule {
                    late_ms: late * SECOND
                }
            );
            assert_eq!(host.runs.len(), 1);
        }
    }
}

#[test]
fn a_start_late_by_more_than_a_minute_follows_the_policy() {
    let late = HOUR + 61 * SECOND;
    for (policy, state) in [
        (Misfire::FireOnce, RunState::Success),
        (Misfire::CatchUp, RunState::Success),
        (Misfire::Skip, RunState::Skipped),
    ] {
        let host = down(with_misfire(policy, HOUR, 10, every(HOUR)), late);
        assert_eq!(host.states(), [state]);
        let caught = matches!(host.newest().trigger, Trigger::CatchUp { late_ms: 61_000 });
        assert_eq!(caught, state == RunState::Success);
    }
}

#[test]
fn three_hours_down_cost_one_run_with_fire_once_and_none_is_forgotten() {
    let host = down(minutely(), 3 * HOUR + 30 * SECOND);
    assert_eq!(host.states(), [RunState::Skipped, RunState::Success]);
    let range = host.runs[&1].range.unwrap();
    assert_eq!(
        (range.count, range.first, range.last),
        (179, T0.plus(MINUTE), T0.plus(179 * MINUTE))
    );
    assert_eq!(host.newest().planned_at(), T0.plus(180 * MINUTE));
    assert_eq!(covered(&host), 180);
    assert_eq!(host.raised().len(), 1, "one word for all of them");
}

#[test]
fn three_hours_down_run_nothing_late_with_skip() {
    let host = down(
        with_misfire(Misfire::Skip, HOUR, 10, every(2 * MINUTE)),
        3 * HOUR + 90 * SECOND,
    );
    assert_eq!(
        host.states(),
        [RunState::Skipped],
        "one record for all of them"
    );
    assert_eq!((covered(&host), host.starts().len()), (90, 0));
    assert_eq!(
        host.runs[&1].ledger[0].why,
        "missed, and the misfire policy is skip"
    );
}

#[test]
fn three_hours_down_catch_up_the_newest_n_in_order_one_after_the_other() {
    let host = down(
        with_misfire(Misfire::CatchUp, HOUR, 10, minutely()),
        3 * HOUR + 30 * SECOND,
    );
    assert_eq!(covered(&host), 180);
    assert_eq!(host.runs[&1].range.unwrap().count, 170);
    let minutes: Vec<i64> = host
        .dispatches()
        .map(|(_, dispatch)| dispatch.planned_at.since(T0) / MINUTE)
        .collect();
    assert_eq!(minutes, (171..=180).collect::<Vec<_>>());
    assert!(matches!(
        host.newest().trigger,
        Trigger::Schedule { late_ms: 30_000 }
    ));
    assert!(matches!(host.runs[&2].trigger, Trigger::CatchUp { .. }));
}

#[test]
fn catching_up_ends_at_its_window() {
    let host = down(
        with_misfire(Misfire::CatchUp, 5 * MINUTE, 100, minutely()),
        3 * HOUR,
    );
    let minutes: Vec<i64> = host
        .dispatches()
        .map(|(_, dispatch)| dispatch.planned_at.since(T0) / MINUTE)
        .collect();
    assert_eq!(minutes, (175..=180).collect::<Vec<_>>());
    assert_eq!(covered(&host), 180);
}

#[test]
fn a_hundred_runs_catch_up_whatever_the_queue_holds() {
    for overlap in [
        Overlap::Skip,
        Overlap::Queue,
        Overlap::Replace,
        Overlap::Allow,
    ] {
        let definition = with_overlap(
            overlap,
            with_misfire(Misfire::CatchUp, 365 * DAY, 100, minutely()),
        );
        let host = down(definition, 3 * HOUR);
        assert_eq!(host.starts().len(), 100, "{overlap:?}");
        assert_eq!(covered(&host), 180);
    }
}

#[test]
fn what_is_older_than_the_window_is_recorded_and_not_run() {
    for policy in [Misfire::FireOnce, Misfire::CatchUp] {
        let host = down(
            with_misfire(policy, HOUR, 10, every(DAY)),
            3 * DAY + 2 * HOUR,
        );
        assert_eq!((covered(&host), host.starts().len()), (3, 0), "{policy:?}");
        let why: Vec<&str> = host
            .runs
            .values()
            .map(|run| run.ledger[0].why.as_str())
            .collect();
        assert!(
            why.iter().all(|why| !why.contains("one run makes up")),
            "no run does: {why:?}"
        );
    }
}

#[test]
fn the_window_includes_its_last_ms() {
    let definition = with_misfire(Misfire::FireOnce, 10 * MINUTE, 1, every(HOUR));
    assert_eq!(
        down(definition.clone(), HOUR + 10 * MINUTE).states(),
        [RunState::Success]
    );
    assert_eq!(
        down(definition, HOUR + 10 * MINUTE + 1).states(),
        [RunState::Skipped]
    );
}

#[test]
fn at_that_was_missed_runs_late_or_is_recorded() {
    let host = down(once(T0.plus(MINUTE)), HOUR);
    assert!(matches!(host.newest().trigger, Trigger::CatchUp { .. }));
    let host = down(once(T0.plus(MINUTE)), 2 * HOUR);
    assert_eq!(
        host.newest().ledger[0].why,
        "missed, and older than the catch-up window"
    );
    let host = down(
        with_misfire(Misfire::Skip, HOUR, 1, once(T0.plus(MINUTE))),
        HOUR,
    );
    assert_eq!(
        (host.states(), host.job.next_wakeup()),
        (vec![RunState::Skipped], None)
    );
}

#[test]
fn a_window_that_swallows_the_newest_instant_leaves_no_promise_of_a_run() {
    let blackouts = vec![Blackout::Between {
        from: T0.plus(170 * MINUTE),
        until: T0.plus(200 * MINUTE),
    }];
    let host = down(
        Definition {
            blackouts,
            ..minutely()
        },
        3 * HOUR,
    );
    assert_eq!((covered(&host), host.starts().len()), (180, 0));
    for run in host.runs.values() {
        assert!(
            !run.ledger[0].why.contains("one run makes up"),
            "no run does: {run:?}"
        );
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test is about the time it takes"
)]
fn a_year_of_missed_minutes_costs_little_and_leaves_few_records() {
    for text in [
        "0 * * * * ?",
        "* * * * * ?",
        "0 0/7 9-17 ? * MON-FRI",
        "0 30 2 L * ?",
    ] {
        for (policy, most) in [
            (Misfire::FireOnce, 1),
            (Misfire::Skip, 1),
            (Misfire::CatchUp, 100),
        ] {
            let definition = with_misfire(policy, 366 * DAY, most, cron(text, "America/New_York"));
            let mut host = Host::new(definition);
            let schedule = host.definition.schedule.compile().unwrap();
            let now = T0.plus(366 * DAY);
            // The best of three: others use this machine too.
            let took = (0..3).map(|_| {
                let mut job = host.restored();
                let began = Instant::now();
                job.step(now, Event::Wake).unwrap();
                began.elapsed()
            });
            let took = took.min().unwrap();
            assert!(took.as_millis() <= 50, "{text} {policy:?}: {took:?}");
            host.wake_at(now);
            assert!(host.runs.len() <= 101);
            assert_eq!(covered(&host), schedule.count(T0, now), "{text} {policy:?}");
        }
    }
}

#[test]
fn a_clock_that_goes_back_makes_nothing_fire_twice() {
    // The clock of a new machine is behind: nothing fires twice, and nothing is planned anew.
    let mut host = Host::new(minutely());
    host.wake_at(T0.plus(MINUTE));
    host.end(Verdict::Succeeded);
    host.now = Millis(T0.0 + MINUTE - 5);
    host.feed(Event::Wake).unwrap();
    host.set_enabled(false);
    host.set_enabled(true);
    host.run_until(T0.plus(2 * MINUTE), quick);
    assert_eq!(host.starts(), [60, 120]);
}
