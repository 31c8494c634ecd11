//! Attempts, their limits and what follows each.

use cronwright_core::job::def::{Definition, RetryOn, RetryPolicy};
use cronwright_core::job::{Effect, Verdict, judge};
use cronwright_core::outcome::{FetchFault, RunState};
use cronwright_core::time::{HOUR, MINUTE, SECOND};

use super::host::{Host, Manner};
use super::setup::{T0, accepting, by_hand, with_retries};

fn failing(_: &cronwright_core::job::Dispatch) -> Manner {
    Some((SECOND, Verdict::Failed))
}

fn started(definition: Definition) -> Host {
    let mut host = Host::new(definition);
    host.run_now("k", None).unwrap();
    host
}

#[test]
fn retries_come_in_stages_counted_from_each_failure() {
    let mut host = started(with_retries(3, by_hand()));
    host.run_until(T0.plus(HOUR), failing);
    assert_eq!(host.starts(), [0, 31, 152, 453]);
    assert_eq!(host.states(), [RunState::Failed]);
    let attempts: Vec<(u32, u64)> = host
        .dispatches()
        .map(|(_, dispatch)| (dispatch.attempt, dispatch.fence))
        .collect();
    assert_eq!(attempts, [(1, 1), (2, 2), (3, 3), (4, 4)]);
    let why: Vec<&str> = host
        .newest()
        .ledger
        .iter()
        .map(|row| row.why.as_str())
        .collect();
    assert!(
        why.contains(&"attempt 1/4: HTTP 500 after 1000 ms; next in 30 s"),
        "{why:?}"
    );
}

#[test]
fn the_last_stage_repeats() {
    let mut host = started(with_retries(5, by_hand()));
    host.run_until(T0.plus(HOUR), failing);
    assert_eq!(host.starts(), [0, 31, 152, 453, 754, 1_055]);
}

#[test]
fn trouble_is_raised_once_and_at_the_end() {
    let mut host = started(with_retries(3, by_hand()));
    host.run_until(T0.plus(HOUR), failing);
    let raised = host.raised();
    assert_eq!(
        raised,
        [(
            "run_failed",
            "attempt 4/4: HTTP 500 after 1000 ms".to_owned()
        )]
    );
    let mut host = started(with_retries(3, by_hand()));
    host.run_until(T0.plus(HOUR), |dispatch| {
        Some((
            1,
            if dispatch.attempt < 3 {
                Verdict::Failed
            } else {
                Verdict::Succeeded
            },
        ))
    });
    assert!(host.raised().is_empty());
    assert_eq!(host.states(), [RunState::Success]);
}

#[test]
fn only_the_chosen_outcomes_are_retried() {
    for (on, verdict, starts) in [
        (RetryOn::Failed, Verdict::Failed, 3),
        (RetryOn::Failed, Verdict::TimedOut, 1),
        (RetryOn::TimedOut, Verdict::TimedOut, 3),
        (RetryOn::TimedOut, Verdict::Failed, 1),
    ] {
        let retry = RetryPolicy {
            times: 2,
            delays_ms: vec![1_000],
            on: vec![on],
        };
        let mut host = started(Definition { retry, ..by_hand() });
        host.run_until(T0.plus(HOUR), |_| Some((10, verdict)));
        assert_eq!(host.starts().len(), starts, "{on:?} {verdict:?}");
        let state = if verdict == Verdict::Failed {
            RunState::Failed
        } else {
            RunState::TimedOut
        };
        assert_eq!(host.states(), [state]);
    }
}

#[test]
fn what_cannot_be_helped_by_trying_again_is_not_tried_again() {
    for (verdict, state) in [
        (Verdict::FailedForGood, RunState::Failed),
        (Verdict::Stopped, RunState::Cancelled),
    ] {
        let mut host = started(with_retries(3, by_hand()));
        host.run_until(T0.plus(HOUR), |_| Some((10, verdict)));
        assert_eq!((host.starts().len(), host.states()), (1, vec![state]));
    }
}

#[test]
fn a_run_that_waits_for_its_retry_says_so_to_d1() {
    let mut host = started(with_retries(1, by_hand()));
    host.end(Verdict::Failed);
    assert_eq!(host.states(), [RunState::Triggered]);
    assert!(matches!(
        host.log.last().unwrap().1.effect,
        Effect::ProjectRun { seq: 1 }
    ));
}

#[test]
fn a_stopped_run_is_not_retried() {
    // While an attempt is out: whatever its end, it was stopped.
    for verdict in [Verdict::Stopped, Verdict::Failed, Verdict::TimedOut] {
        let mut host = started(with_retries(3, by_hand()));
        let id = host.newest().id.clone();
        host.cancel(&id).unwrap();
        host.end(verdict);
        host.run_until(T0.plus(HOUR), failing);
        assert_eq!(
            (host.starts().len(), host.states()),
            (1, vec![RunState::Cancelled])
        );
        assert!(
            host.raised().is_empty(),
            "nobody is alarmed by what was asked for"
        );
    }
    // While it waits for its retry.
    let mut host = started(with_retries(3, by_hand()));
    let id = host.end(Verdict::Failed).run;
    host.cancel(&id).unwrap();
    host.run_until(T0.plus(HOUR), failing);
    assert_eq!(
        (host.starts().len(), host.states()),
        (1, vec![RunState::Cancelled])
    );
}

#[test]
fn a_run_that_was_done_before_it_could_be_stopped_succeeded() {
    let mut host = started(by_hand());
    let id = host.newest().id.clone();
    host.cancel(&id).unwrap();
    host.cancel(&id).unwrap();
    assert_eq!(host.aborts.len(), 1, "asked once");
    host.end(Verdict::Succeeded);
    assert_eq!(host.states(), [RunState::Success]);
    assert!(host.cancel(&id).is_err());
}

#[test]
fn every_attempt_has_the_whole_time_limit() {
    let definition = Definition {
        timeout_ms: MINUTE,
        ..with_retries(3, by_hand())
    };
    let mut host = started(definition);
    host.run_until(T0.plus(HOUR), |_| Some((50 * SECOND, Verdict::Failed)));
    assert_eq!(host.starts(), [0, 80, 250, 600]);
    assert!(
        host.dispatches()
            .all(|(_, dispatch)| dispatch.timeout_ms == MINUTE)
    );
    assert_eq!(host.states(), [RunState::Failed]);
}

#[test]
fn an_attempt_that_nobody_ends_is_ended_a_little_after_its_limit() {
    let mut host = started(with_retries(1, by_hand()));
    host.run_until(T0.plus(HOUR), |_| None);
    assert_eq!(
        host.starts(),
        [0, 65],
        "30 s limit, 5 s for the executor to say so, 30 s wait"
    );
    assert_eq!(host.states(), [RunState::TimedOut]);
    let aborted = host
        .log
        .iter()
        .filter(|(_, keyed)| matches!(keyed.effect, Effect::Abort { .. }))
        .count();
    assert_eq!(aborted, 2, "each is stopped");
    assert_eq!(
        host.newest().result.as_ref().unwrap().error_code.as_deref(),
        Some("timeout")
    );
}

#[test]
fn an_accepted_attempt_ends_at_its_limit() {
    let mut host = started(accepting(by_hand()));
    host.accept();
    host.run_until(T0.plus(HOUR), |_| None);
    assert_eq!(host.newest().ended_at, Some(T0.plus(32 * SECOND)));
    assert_eq!(host.states(), [RunState::TimedOut]);
}

#[test]
fn the_deadline_ends_the_whole_run() {
    // An attempt is out: it is stopped, and its end is the run's.
    let definition = Definition {
        deadline_ms: Some(40 * SECOND),
        timeout_ms: MINUTE,
        ..with_retries(3, by_hand())
    };
    let mut host = started(definition.clone());
    host.end(Verdict::Failed);
    host.run_until(T0.plus(HOUR), |_| None);
    assert_eq!(host.starts(), [0, 30]);
    assert_eq!(
        (host.states(), host.newest().ended_at),
        (vec![RunState::TimedOut], Some(T0.plus(40 * SECOND)))
    );
    assert_eq!(
        host.raised(),
        [("run_failed", "the deadline of the run passed".to_owned())]
    );

    // It waits in the queue.
    let mut host = started(definition.clone());
    host.run_now("second", Some(cronwright_core::job::def::Overlap::Queue))
        .unwrap();
    host.run_until(T0.plus(40 * SECOND), |_| None);
    assert_eq!(host.states(), [RunState::TimedOut, RunState::TimedOut]);
    assert_eq!(host.starts(), [0]);
}

#[test]
fn what_waited_beyond_its_deadline_is_not_started_to_be_stopped() {
    let definition = Definition {
        deadline_ms: Some(10 * SECOND),
        ..by_hand()
    };
    let mut host = started(definition);
    host.run_now("second", Some(cronwright_core::job::def::Overlap::Queue))
        .unwrap();
    host.wait(10 * SECOND);
    host.end(Verdict::Succeeded);
    assert_eq!(host.states(), [RunState::Success, RunState::TimedOut]);
    assert_eq!((host.starts(), host.aborts.len()), (vec![0], 0));
}

#[test]
fn no_retry_is_planned_beyond_the_deadline() {
    let mut host = started(Definition {
        deadline_ms: Some(31 * SECOND),
        ..with_retries(3, by_hand())
    });
    host.run_until(T0.plus(HOUR), failing);
    assert_eq!(
        (host.starts(), host.states()),
        (vec![0], vec![RunState::Failed])
    );
    assert_eq!(host.newest().ended_at, Some(T0.plus(SECOND)));
}

#[test]
fn a_stop_that_nobody_confirms_ends_with_the_limit_of_the_attempt() {
    let mut host = started(by_hand());
    let id = host.newest().id.clone();
    host.cancel(&id).unwrap();
    host.out.clear();
    host.aborts.clear();
    host.wake_at(T0.plus(35 * SECOND));
    assert_eq!(host.states(), [RunState::Cancelled]);
}

#[test]
fn an_answer_is_judged_by_what_the_job_expects() {
    let cronwright_core::job::def::Executor::Http(task) = by_hand().executor;
    assert_eq!(judge(&task, Some(204), None), Some(Verdict::Succeeded));
    assert_eq!(
        judge(&task, Some(202), None),
        Some(Verdict::Succeeded),
        "not an accepting job"
    );
    assert_eq!(judge(&task, Some(404), None), Some(Verdict::Failed));
    assert_eq!(judge(&task, None, None), Some(Verdict::Failed));
    assert_eq!(
        judge(&task, Some(200), Some(FetchFault::Timeout)),
        Some(Verdict::TimedOut)
    );
    assert_eq!(
        judge(&task, None, Some(FetchFault::BlockedTarget)),
        Some(Verdict::FailedForGood)
    );
    assert_eq!(
        judge(&task, None, Some(FetchFault::Aborted)),
        Some(Verdict::Stopped)
    );
    let cronwright_core::job::def::Executor::Http(task) = accepting(by_hand()).executor;
    assert_eq!(judge(&task, Some(202), None), None);
    assert_eq!(judge(&task, Some(200), None), Some(Verdict::Succeeded));
}

#[test]
fn a_long_story_keeps_its_beginning_and_end_and_says_what_it_left_out() {
    let mut host = started(with_retries(20, by_hand()));
    host.run_until(T0.plus(10 * HOUR), |_| Some((10 * SECOND, Verdict::Failed)));
    let run = host.newest();
    assert_eq!((run.attempts, host.starts().len()), (21, 21));
    let why: Vec<&str> = run.ledger.iter().map(|row| row.why.as_str()).collect();
    assert_eq!(why.len(), cronwright_core::job::run::LEDGER_ROWS);
    assert_eq!(why[0], "run on request");
    assert!(why[59].starts_with("attempt 21/21"));
    assert_eq!(
        why.iter().filter(|why| why.contains("left out")).count(),
        1,
        "{why:?}"
    );
}
