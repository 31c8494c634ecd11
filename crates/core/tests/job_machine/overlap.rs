//! A trigger meets a run that has not ended.

use cronwright_core::job::def::{Definition, Overlap};
use cronwright_core::job::{Event, Verdict};
use cronwright_core::outcome::RunState;
use cronwright_core::time::{HOUR, MINUTE, SECOND};

use super::host::{Host, Manner};
use super::setup::{
    T0, accepting, by_hand, every, minutely, occurrence, with_overlap, with_retries,
};

fn slow(_: &cronwright_core::job::Dispatch) -> Manner {
    Some((90 * SECOND, Verdict::Succeeded))
}

fn patient(overlap: Overlap) -> Definition {
    Definition {
        timeout_ms: HOUR,
        ..with_overlap(overlap, minutely())
    }
}

#[test]
fn skip_records_the_instant_and_names_the_run_in_the_way() {
    let mut host = Host::new(patient(Overlap::Skip));
    host.run_until(T0.plus(4 * MINUTE), slow);
    assert_eq!(host.starts(), [60, 180]);
    let skipped = host.run(&occurrence(T0.plus(2 * MINUTE), 1));
    assert_eq!(skipped.state, RunState::Skipped);
    let why = format!(
        "overlap policy skip: run {} is active since 2026-12-01T00:01:00Z",
        occurrence(T0.plus(MINUTE), 1)
    );
    assert_eq!(skipped.ledger[0].why, why);
}

#[test]
fn a_run_that_ends_in_the_ms_of_the_next_instant_makes_way_for_it() {
    for overlap in [
        Overlap::Skip,
        Overlap::Queue,
        Overlap::Replace,
        Overlap::Allow,
    ] {
        let mut host = Host::new(patient(overlap));
        host.run_until(T0.plus(6 * MINUTE), |_| Some((MINUTE, Verdict::Succeeded)));
        assert_eq!(host.starts(), [60, 120, 180, 240, 300, 360], "{overlap:?}");
    }
}

#[test]
fn queue_starts_the_waiting_run_when_the_one_before_it_ends() {
    let mut host = Host::new(patient(Overlap::Queue));
    host.run_until(T0.plus(3 * MINUTE), slow);
    assert_eq!(host.starts(), [60, 150]);
    assert_eq!(host.newest().state, RunState::Triggered);
    host.run_until(T0.plus(5 * MINUTE), slow);
    assert_eq!(host.starts(), [60, 150, 240]);
}

#[test]
fn a_queue_holds_no_more_than_its_limit_and_says_so() {
    let definition = Definition {
        timeout_ms: HOUR,
        queue_limit: 3,
        ..with_overlap(Overlap::Queue, every(SECOND))
    };
    let mut host = Host::new(definition);
    host.watchful = false;
    host.run_until(T0.plus(HOUR), |_| Some((2 * MINUTE, Verdict::Succeeded)));
    assert_eq!(host.runs.len(), 3_600, "every second is in the books");
    let waiting = host
        .job
        .runs()
        .filter(|run| run.state == RunState::Triggered)
        .count();
    assert_eq!(waiting, 3);
    assert!(host.job.runs().count() <= 8, "memory stays flat");
    let mut full = host
        .runs
        .values()
        .filter(|run| run.state == RunState::Skipped);
    assert!(full.all(|run| run.ledger[0].why == "queue full: 3 run(s) wait already"));
    assert_eq!(host.starts().len(), 30);
}

#[test]
fn a_run_queued_in_the_ms_the_last_one_ends_starts_once() {
    let mut host = Host::new(Definition {
        queue_limit: 2,
        ..with_overlap(Overlap::Queue, by_hand())
    });
    host.watchful = false;
    host.run_now("first", None).unwrap();
    for n in 0..10_000 {
        host.wait(i64::from(n % 3));
        // Before, after, and on both sides of the end.
        match n % 3 {
            0 => {
                host.run_now(&format!("k{n}"), None).unwrap();
                host.end(Verdict::Succeeded);
            }
            1 => {
                host.end(Verdict::Succeeded);
                host.run_now(&format!("k{n}"), None).unwrap();
            }
            _ => {
                host.run_now(&format!("k{n}"), None).unwrap();
                host.run_now(&format!("l{n}"), None).unwrap();
                host.end(Verdict::Failed);
                host.end(Verdict::Succeeded);
            }
        }
        assert_eq!(host.out.len(), 1);
    }
    host.end(Verdict::Succeeded);
    assert!(host.out.is_empty());
    let mut starts: Vec<_> = host
        .dispatches()
        .map(|(_, dispatch)| dispatch.run.clone())
        .collect();
    assert_eq!(starts.len(), host.runs.len());
    starts.sort();
    starts.dedup();
    assert_eq!(starts.len(), host.runs.len(), "each once");
}

#[test]
fn allow_runs_both() {
    let mut host = Host::new(patient(Overlap::Allow));
    host.run_until(T0.plus(4 * MINUTE), slow);
    assert_eq!(host.starts(), [60, 120, 180, 240]);
}

#[test]
fn allow_has_an_end_too() {
    let mut host = Host::new(Definition {
        timeout_ms: 24 * HOUR,
        ..with_overlap(Overlap::Allow, every(SECOND))
    });
    host.watchful = false;
    host.run_until(T0.plus(150 * SECOND), |_| None);
    assert_eq!(host.starts().len(), 100);
    assert_eq!(host.newest().ledger[0].why, "100 runs are active already");
}

#[test]
fn a_run_that_waits_does_not_starve_behind_runs_that_overlap() {
    let mut host = Host::new(patient(Overlap::Allow));
    host.wake_at(T0.plus(MINUTE));
    host.run_now("waits", Some(Overlap::Queue)).unwrap();
    host.run_until(T0.plus(10 * MINUTE), slow);
    let waits = host
        .runs
        .values()
        .find(|run| run.id.tag != occurrence(T0, 1).tag)
        .unwrap();
    assert_eq!(
        waits.started_at,
        Some(T0.plus(150 * SECOND)),
        "as soon as the one before it ended"
    );
}

#[test]
fn replace_waits_until_the_old_run_is_known_to_be_dead() {
    let mut host = Host::new(patient(Overlap::Replace));
    host.wake_at(T0.plus(MINUTE));
    host.wake_at(T0.plus(2 * MINUTE));
    assert_eq!(host.starts(), [60]);
    assert_eq!(host.aborts.len(), 1);
    assert_eq!(host.states(), [RunState::Running, RunState::Triggered]);
    host.wait(7 * SECOND);
    host.stopped();
    assert_eq!(host.starts(), [60, 127]);
    assert_eq!(host.states(), [RunState::Cancelled, RunState::Dispatched]);
    assert_eq!(
        host.runs[&1].ledger.last().unwrap().why,
        "replaced by a newer run"
    );
}

#[test]
fn only_the_newest_of_many_replacements_starts() {
    let mut host = Host::new(patient(Overlap::Replace));
    for minute in 1..=4 {
        host.wake_at(T0.plus(minute * MINUTE));
    }
    assert_eq!(host.aborts.len(), 1, "asked once");
    host.stopped();
    assert_eq!(host.starts(), [60, 240]);
    assert_eq!(
        host.states(),
        [
            RunState::Cancelled,
            RunState::Cancelled,
            RunState::Cancelled,
            RunState::Dispatched
        ]
    );
}

#[test]
fn replace_starts_nothing_of_the_queue_it_clears() {
    let mut host = Host::new(Definition {
        queue_limit: 5,
        ..with_retries(3, with_overlap(Overlap::Queue, by_hand()))
    });
    for key in ["a", "b", "c"] {
        host.run_now(key, None).unwrap();
    }
    // The first waits for its retry: it ends at once, and what it made wait must not start in between.
    host.end(Verdict::Failed);
    host.run_now("newest", Some(Overlap::Replace)).unwrap();
    assert!(host.aborts.is_empty(), "nothing was started to be stopped");
    assert_eq!(
        host.states(),
        [
            RunState::Cancelled,
            RunState::Cancelled,
            RunState::Cancelled,
            RunState::Dispatched
        ]
    );
    assert_eq!(host.starts().len(), 2);
}

#[test]
fn replace_waits_for_an_accepted_run_until_its_word_or_its_limit() {
    let definition = Definition {
        timeout_ms: 10 * MINUTE,
        ..accepting(with_overlap(Overlap::Replace, by_hand()))
    };
    let mut host = Host::new(definition);
    host.run_now("a", None).unwrap();
    let first = host.accept();
    host.wait(MINUTE);
    host.run_now("b", None).unwrap();
    assert!(host.aborts.is_empty(), "there is nobody to call");
    assert_eq!(host.starts(), [0]);
    let mut heard = Host::new(host.definition.clone());
    heard.run_now("a", None).unwrap();
    heard.accept();
    heard.wait(MINUTE);
    heard.run_now("b", None).unwrap();
    heard.wait(MINUTE);
    heard
        .report(&first.run, first.fence, Verdict::Succeeded, 5)
        .unwrap();
    assert_eq!(heard.starts(), [0, 120]);
    assert_eq!(
        heard.states(),
        [RunState::Success, RunState::Dispatched],
        "it was done after all"
    );

    host.run_until(T0.plus(11 * MINUTE), |_| Some((1, Verdict::Succeeded)));
    assert_eq!(host.starts(), [0, 602]);
    assert_eq!(host.states(), [RunState::Cancelled, RunState::Success]);
}

#[test]
fn replace_waits_for_a_lost_attempt_until_nothing_can_be_running() {
    let definition = Definition {
        timeout_ms: 10 * MINUTE,
        ..with_overlap(Overlap::Replace, by_hand())
    };
    // Lost before it was replaced, and lost while it was asked to stop.
    for lost_first in [true, false] {
        let mut host = Host::new(definition.clone());
        host.run_now("a", None).unwrap();
        host.wait(MINUTE);
        if lost_first {
            host.lose();
            host.run_now("b", None).unwrap();
        } else {
            host.run_now("b", None).unwrap();
            host.lose();
        }
        assert_eq!(host.starts(), [0], "the callee may be at it still");
        host.aborts.clear();
        host.run_until(T0.plus(11 * MINUTE), |_| Some((1, Verdict::Succeeded)));
        assert_eq!(host.starts(), [0, 602]);
        assert_eq!(host.states(), [RunState::Cancelled, RunState::Success]);
        assert_eq!(
            host.runs[&1].ledger.last().unwrap().why,
            "replaced by a newer run"
        );
    }
}

#[test]
fn the_deadline_of_a_lost_run_that_was_replaced_does_not_shorten_the_wait() {
    let patient = Definition {
        timeout_ms: 10 * MINUTE,
        ..with_overlap(Overlap::Replace, by_hand())
    };
    let mut host = Host::new(Definition {
        deadline_ms: Some(2 * MINUTE),
        ..patient.clone()
    });
    host.run_now("a", None).unwrap();
    host.replace(patient);
    host.wait(MINUTE);
    host.lose();
    host.run_now("b", None).unwrap();
    host.run_until(T0.plus(HOUR), |_| Some((1, Verdict::Succeeded)));
    assert_eq!(host.starts(), [0, 602]);
    assert_eq!(host.states(), [RunState::Cancelled, RunState::Success]);
}

#[test]
fn the_policy_of_the_day_decides_about_a_new_trigger_and_what_waits_still_starts() {
    let mut host = Host::new(patient(Overlap::Queue));
    host.wake_at(T0.plus(MINUTE));
    host.wake_at(T0.plus(2 * MINUTE));
    host.replace(patient(Overlap::Skip));
    host.wake_at(T0.plus(3 * MINUTE));
    assert_eq!(
        host.states(),
        [RunState::Running, RunState::Triggered, RunState::Skipped]
    );
    host.set_enabled(false);
    host.end(Verdict::Succeeded);
    assert_eq!(
        host.states(),
        [RunState::Success, RunState::Dispatched, RunState::Skipped]
    );
    host.feed(Event::Wake).unwrap();
}
