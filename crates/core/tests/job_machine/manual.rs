//! Runs on request, and past runs again.

use cronwright_core::job::def::Overlap;
use cronwright_core::job::run::Trigger;
use cronwright_core::job::{Event, Reject, Verdict};
use cronwright_core::outcome::RunState;
use cronwright_core::time::{MINUTE, SECOND};

use super::host::Host;
use super::setup::{T0, by_hand, minutely, with_overlap};

fn ask(key: &str) -> Event {
    Event::RunNow {
        key: key.to_owned(),
        params: Some(r#"{"n":1}"#.to_owned()),
        overlap: None,
        by: "ann".to_owned(),
    }
}

#[test]
fn a_request_with_a_known_key_is_the_run_it_made() {
    let mut host = Host::new(by_hand());
    host.feed(ask("k")).unwrap();
    host.wait(SECOND);
    assert_eq!(host.feed(ask("k")).unwrap(), []);
    host.end(Verdict::Succeeded);
    assert_eq!(host.feed(ask("k")).unwrap(), []);
    assert_eq!(host.runs.len(), 1);
    host.feed(ask("l")).unwrap();
    assert_eq!(host.runs.len(), 2);
}

#[test]
fn a_paused_job_runs_on_request() {
    let mut host = Host::create(T0, minutely(), false);
    host.run_now("k", None).unwrap();
    assert_eq!(host.starts(), [0]);
}

#[test]
fn a_refusal_names_the_run_that_is_active() {
    let mut host = Host::new(minutely());
    host.wake_at(T0.plus(MINUTE));
    host.wait(SECOND);
    let reject = host.run_now("k", None).unwrap_err();
    let run = host.newest().id.clone();
    assert_eq!(
        reject,
        Reject::Active {
            run: run.clone(),
            since: T0.plus(MINUTE)
        }
    );
    assert_eq!(
        reject.to_string(),
        format!(
            "run {run} is active since 2026-12-01T00:01:00Z; wait for it, or choose overlap queue, replace or allow"
        )
    );
    assert_eq!(host.runs.len(), 1, "a refused request leaves no record");
}

#[test]
fn a_full_queue_is_a_refusal_too() {
    let mut host = Host::new(with_overlap(Overlap::Queue, by_hand()));
    host.run_now("a", None).unwrap();
    host.run_now("b", None).unwrap();
    assert_eq!(host.run_now("c", None), Err(Reject::QueueFull { limit: 1 }));
}

#[test]
fn who_asks_may_choose_another_policy() {
    for (overlap, starts, open) in [
        (Overlap::Queue, 1, 2),
        (Overlap::Allow, 2, 2),
        (Overlap::Replace, 1, 2),
    ] {
        let mut host = Host::new(by_hand());
        host.run_now("a", None).unwrap();
        host.run_now("b", Some(overlap)).unwrap();
        assert_eq!(host.starts().len(), starts, "{overlap:?}");
        assert_eq!(host.job.runs().filter(|run| run.is_open()).count(), open);
        assert_eq!(host.aborts.len(), usize::from(overlap == Overlap::Replace));
    }
}

#[test]
fn a_replay_has_the_input_of_the_run_it_repeats() {
    let mut host = Host::new(by_hand());
    host.feed(ask("k")).unwrap();
    let first = host.end(Verdict::Failed);
    assert_eq!(first.params.as_deref(), Some(r#"{"n":1}"#));
    let of = Box::new(host.newest().clone());
    let replay = Event::Replay {
        of,
        key: "again".to_owned(),
        by: "bob".to_owned(),
    };
    host.wait(MINUTE);
    host.feed(replay.clone()).unwrap();
    assert_eq!(host.feed(replay.clone()).unwrap(), []);
    let again = host.end(Verdict::Succeeded);
    assert_eq!(again.params, first.params);
    assert_ne!(again.run, first.run);
    assert!(again.fence > first.fence);
    assert_eq!(
        host.newest().trigger,
        Trigger::Replay {
            of: first.run.clone(),
            by: "bob".to_owned()
        }
    );
    assert_eq!(
        host.run(&first.run).state,
        RunState::Failed,
        "the past is left as it was"
    );
    host.run_now("busy", None).unwrap();
    let Event::Replay { of, by, .. } = replay else {
        panic!()
    };
    let other = Event::Replay {
        of,
        key: "third".to_owned(),
        by,
    };
    assert!(
        matches!(host.feed(other), Err(Reject::Active { .. })),
        "a replay obeys the overlap policy"
    );
}

#[test]
fn more_requests_than_may_run_at_once_are_refused_without_a_record() {
    let mut host = Host::new(with_overlap(Overlap::Allow, by_hand()));
    host.watchful = false;
    for n in 0..100 {
        host.run_now(&format!("k{n}"), None).unwrap();
    }
    assert!(matches!(
        host.run_now("one too many", None),
        Err(Reject::Active { .. })
    ));
    assert_eq!(host.runs.len(), 100);
}

#[test]
fn a_run_can_be_stopped_only_once_it_exists_and_while_it_is_open() {
    let mut host = Host::new(by_hand());
    assert!(matches!(
        host.cancel(&super::setup::foreign(1)),
        Err(Reject::UnknownRun(_))
    ));
    host.run_now("a", None).unwrap();
    host.run_now("b", Some(Overlap::Queue)).unwrap();
    let waiting = host.newest().id.clone();
    host.cancel(&waiting).unwrap();
    assert_eq!(
        host.newest().state,
        RunState::Cancelled,
        "what waits ends at once"
    );
    assert_eq!(
        host.cancel(&waiting),
        Err(Reject::Ended(RunState::Cancelled))
    );
    host.end(Verdict::Succeeded);
    assert_eq!(host.starts().len(), 1);
}
