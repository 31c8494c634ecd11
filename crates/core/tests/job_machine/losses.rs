//! Attempts without an end: lost, late, accepted, or slow.

use cronwright_core::job::def::{Definition, Overlap};
use cronwright_core::job::{Effect, Event, Reject, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::RunState;
use cronwright_core::time::{HOUR, MINUTE, SECOND};

use super::host::Host;
use super::setup::{T0, accepting, by_hand, with_overlap, with_retries};

fn started(definition: Definition) -> Host {
    let mut host = Host::new(definition);
    host.run_now("k", None).unwrap();
    host
}

#[test]
fn a_lost_attempt_is_made_again_when_the_old_one_must_have_ended() {
    let mut host = started(with_retries(1, by_hand()));
    host.wait(4 * SECOND);
    host.lose();
    assert_eq!(host.states(), [RunState::Lost]);
    assert!(
        matches!(
            host.log.last().unwrap().1.effect,
            Effect::ProjectRun { seq: 1 }
        ),
        "D1 hears of it"
    );
    let wakeup = host.job.next_wakeup().unwrap();
    assert_eq!((wakeup.at, wakeup.why), (T0.plus(32 * SECOND), "retry"));
    host.wake_at(T0.plus(32 * SECOND));
    let dispatch = host.end(Verdict::Failed);
    assert_eq!(
        (dispatch.attempt, dispatch.fence),
        (1, 2),
        "the loss was not the user's"
    );
    host.run_until(T0.plus(HOUR), |_| Some((1, Verdict::Succeeded)));
    assert_eq!(host.starts(), [0, 32, 62]);
    assert_eq!(host.states(), [RunState::Success]);
}

#[test]
fn a_loss_that_is_noticed_after_the_limit_is_made_good_at_once() {
    let mut host = started(by_hand());
    host.wait(33 * SECOND);
    host.lose();
    assert_eq!(host.starts(), [0, 33]);
}

#[test]
fn an_attempt_leaves_only_while_its_whole_limit_fits_in() {
    let host = started(by_hand());
    let dispatch = host.out[0].clone();
    assert_eq!(dispatch.expires, T0.plus(32 * SECOND));
    let may = |ms| dispatch.may_leave(T0.plus(ms));
    assert!(may(0) && may(2 * SECOND));
    assert!(!may(2 * SECOND + 1) && !may(HOUR));
    // The clock of another machine may be behind.
    assert!(may(-1) && may(-HOUR));
}

#[test]
fn an_attempt_that_waited_too_long_for_its_turn_is_handed_over_anew_and_costs_nothing() {
    let mut host = started(with_retries(0, by_hand()));
    for n in 1..=10 {
        host.wait(20 * SECOND);
        let old = host.out.remove(0);
        let (run, fence) = (old.run.clone(), old.fence);
        host.oracle.over(fence);
        host.feed(Event::AttemptUnsent { run, fence }).unwrap();
        let new = host.out[0].clone();
        assert_eq!((new.attempt, new.fence), (1, old.fence + 1));
        assert!(new.may_leave(host.now) && !old.may_leave(host.now));
        assert_eq!(
            (host.newest().attempts, host.newest().losses),
            (1, 0),
            "{n}"
        );
    }
    host.end(Verdict::Succeeded);
    assert_eq!(host.states(), [RunState::Success]);
}

#[test]
fn an_attempt_that_never_left_and_was_asked_to_stop_has_stopped() {
    let mut host = started(by_hand());
    let old = host.out[0].clone();
    host.cancel(&old.run).unwrap();
    let (run, fence) = (old.run.clone(), old.fence);
    host.feed(Event::AttemptUnsent { run, fence }).unwrap();
    assert_eq!(host.states(), [RunState::Cancelled]);
    let (run, fence) = (old.run, old.fence);
    assert!(host.feed(Event::AttemptUnsent { run, fence }).is_err());
}

#[test]
fn an_attempt_may_not_leave_any_more_when_the_next_one_may() {
    let mut host = started(by_hand());
    host.wait(4 * SECOND);
    let outstanding = host.restored().outstanding();
    let waiting = host.out[0].clone();
    assert_eq!(
        outstanding[0].effect,
        Effect::Dispatch(Box::new(waiting.clone())),
        "a restart gives it no more time"
    );
    host.lose();
    let next = host.job.next_wakeup().unwrap().at;
    assert!(next >= waiting.expires, "nothing of it is at work then");
    host.wake_at(next);
    assert!(!waiting.may_leave(next) && host.out[0].may_leave(next));
}

#[test]
fn three_losses_are_made_good_and_the_fourth_ends_the_run() {
    let mut host = started(with_retries(3, by_hand()));
    for _ in 0..4 {
        host.lose();
        host.run_until(host.now.plus(32 * SECOND), |_| None);
        host.out = host
            .dispatches()
            .last()
            .map(|(_, dispatch)| dispatch.clone())
            .into_iter()
            .collect();
    }
    assert_eq!(host.starts(), [0, 32, 64, 96]);
    let run = host.newest();
    assert_eq!(
        (run.state, run.losses, run.attempts, run.fence),
        (RunState::Failed, 4, 1, 4)
    );
    assert_eq!(
        run.result.as_ref().unwrap().error_code.as_deref(),
        Some("lost")
    );
    assert_eq!(host.raised(), [("run_failed", "lost 4 times".to_owned())]);
}

#[test]
fn what_waits_behind_a_run_given_up_starts_when_nothing_can_be_running() {
    let mut host = started(with_overlap(Overlap::Queue, by_hand()));
    host.run_now("waits", None).unwrap();
    for n in 0..4 {
        host.now = T0.plus(n * 32 * SECOND);
        host.feed(Event::Wake).unwrap();
        host.wait(SECOND);
        host.lose();
    }
    assert_eq!(
        host.starts(),
        [0, 32, 64, 96],
        "the last of them may be at it still"
    );
    host.run_until(T0.plus(HOUR), |_| Some((1, Verdict::Succeeded)));
    assert_eq!(host.starts(), [0, 32, 64, 96, 128]);
    assert_eq!(host.states(), [RunState::Failed, RunState::Success]);
}

#[test]
fn only_the_newest_fence_may_say_anything() {
    let mut host = started(by_hand());
    let old = host.lose();
    assert_eq!(
        host.report(&old.run, old.fence, Verdict::Succeeded, 1),
        Err(Reject::StaleFence { current: 0, got: 1 })
    );
    host.wake_at(T0.plus(32 * SECOND));
    assert_eq!(
        host.report(&old.run, old.fence, Verdict::Succeeded, 1),
        Err(Reject::StaleFence { current: 2, got: 1 })
    );
    let refused = [
        Event::AttemptAccepted {
            run: old.run.clone(),
            fence: 1,
        },
        Event::AttemptLost {
            run: old.run.clone(),
            fence: 1,
            why: String::new(),
        },
        Event::Progress {
            run: old.run.clone(),
            fence: 1,
            percent: None,
            message: String::new(),
        },
    ];
    for event in refused {
        assert_eq!(
            host.feed(event),
            Err(Reject::StaleFence { current: 2, got: 1 })
        );
    }
    host.end(Verdict::Failed);
    assert_eq!(
        host.report(&old.run, 2, Verdict::Succeeded, 1),
        Err(Reject::Ended(RunState::Failed))
    );
}

#[test]
fn a_late_report_is_kept_once_as_evidence_and_changes_nothing() {
    let mut host = started(by_hand());
    let old = host.lose();
    host.wake_at(T0.plus(32 * SECOND));
    host.end(Verdict::Failed);
    let before = host.newest().clone();
    let late = Event::LateReport {
        run: old.run.clone(),
        fence: 1,
        what: "Succeeded".to_owned(),
    };
    for _ in 0..3 {
        host.feed(late.clone()).unwrap();
    }
    let after = host.newest().clone();
    assert_eq!(after.ledger.len(), before.ledger.len() + 1);
    assert_eq!(
        after.ledger.last().unwrap().why,
        "late report with fence 1 refused: Succeeded"
    );
    let story = |run: &cronwright_core::job::run::Run| {
        (
            run.state,
            run.result.clone(),
            run.ended_at,
            run.fence,
            run.losses,
        )
    };
    assert_eq!(story(&after), story(&before));
    let unknown = Event::LateReport {
        run: super::setup::foreign(1),
        fence: 1,
        what: String::new(),
    };
    assert!(matches!(host.feed(unknown), Err(Reject::UnknownRun(_))));
}

#[test]
fn a_late_report_finds_a_run_of_long_ago() {
    let mut host = started(by_hand());
    let old = host.end(Verdict::Failed);
    for key in ["a", "b", "c", "d", "e"] {
        host.run_now(key, None).unwrap();
        host.end(Verdict::Succeeded);
    }
    assert!(host.job.run(&old.run).is_none());
    host.feed(Event::LateReport {
        run: old.run.clone(),
        fence: 1,
        what: "Succeeded".to_owned(),
    })
    .unwrap();
    assert_eq!(host.run(&old.run).state, RunState::Failed);
    assert!(
        host.run(&old.run)
            .ledger
            .last()
            .unwrap()
            .why
            .starts_with("late report")
    );
}

#[test]
fn an_accepted_run_survives_a_restart() {
    let mut host = started(accepting(Definition {
        timeout_ms: HOUR,
        ..by_hand()
    }));
    let dispatch = host.accept();
    assert_eq!(host.states(), [RunState::Running]);
    assert!(
        host.restored().outstanding().is_empty(),
        "nobody is to report it as lost"
    );
    host.job = host.restored();
    // A host that has no live call for it and says so all the same.
    let lost = Event::AttemptLost {
        run: dispatch.run.clone(),
        fence: 1,
        why: "no live call".to_owned(),
    };
    assert_eq!(host.feed(lost).unwrap(), []);
    assert_eq!(
        host.feed(Event::AttemptAccepted {
            run: dispatch.run.clone(),
            fence: 1
        })
        .unwrap(),
        [],
        "heard already"
    );
    host.wait(20 * MINUTE);
    host.report(&dispatch.run, 1, Verdict::Succeeded, 5)
        .unwrap();
    assert_eq!(host.states(), [RunState::Success]);
    assert_eq!(host.starts(), [0]);
}

#[test]
fn an_attempt_that_is_out_is_outstanding_until_it_ends_or_is_accepted() {
    let mut host = started(by_hand());
    let outstanding = host.restored().outstanding();
    assert_eq!(outstanding.len(), 1);
    assert_eq!(outstanding[0].key, format!("{}/1", host.newest().id));
    host.end(Verdict::Succeeded);
    assert!(host.restored().outstanding().is_empty());
}

#[test]
fn stopping_an_accepted_run_ends_it_and_says_that_the_callee_was_not_told() {
    let mut host = started(accepting(by_hand()));
    let dispatch = host.accept();
    host.cancel(&dispatch.run).unwrap();
    assert_eq!(host.states(), [RunState::Cancelled]);
    let why = &host.newest().ledger.last().unwrap().why;
    assert_eq!(
        why,
        "stopped on request; the callee had accepted and was not told"
    );
    assert_eq!(
        host.report(&dispatch.run, 1, Verdict::Succeeded, 5),
        Err(Reject::Ended(RunState::Cancelled))
    );
}

#[test]
fn a_stop_while_the_answer_is_under_way_holds_when_it_says_accepted() {
    let mut host = started(accepting(by_hand()));
    let id = host.newest().id.clone();
    host.cancel(&id).unwrap();
    assert_eq!(host.states(), [RunState::Dispatched]);
    host.accept();
    assert_eq!(host.states(), [RunState::Cancelled]);
    assert_eq!(host.job.next_wakeup(), None);
}

#[test]
fn a_slow_run_is_shown_as_running_after_five_seconds() {
    let mut host = started(by_hand());
    let wakeup = host.job.next_wakeup().unwrap();
    assert_eq!((wakeup.at, wakeup.why), (T0.plus(5 * SECOND), "running"));
    assert!(host.wake_at(T0.plus(5 * SECOND - 1)).is_empty());
    host.wake_at(T0.plus(5 * SECOND));
    assert_eq!(host.states(), [RunState::Running]);
}

#[test]
fn a_report_of_progress_shows_a_run_as_running_everywhere() {
    let mut host = started(by_hand());
    let dispatch = host.out[0].clone();
    let progress = |percent| Event::Progress {
        run: dispatch.run.clone(),
        fence: 1,
        percent: Some(percent),
        message: "at it".to_owned(),
    };
    let effects = host.feed(progress(10)).unwrap();
    assert_eq!(host.states(), [RunState::Running]);
    assert_eq!(effects.len(), 1, "D1 hears of the state");
    assert!(host.feed(progress(20)).unwrap().is_empty());
    assert_eq!(host.newest().progress.as_ref().unwrap().percent, Some(20));
}

#[test]
fn a_run_that_may_be_stuck_is_mentioned_once() {
    let mut host = started(Definition {
        timeout_ms: HOUR,
        warn_after_ms: Some(8 * MINUTE),
        ..by_hand()
    });
    host.run_until(T0.plus(40 * MINUTE), |_| None);
    assert_eq!(
        host.raised(),
        [("may_be_stuck", "may be stuck: running for 480 s".to_owned())]
    );
    assert_eq!(host.states(), [RunState::Running]);
}

#[test]
fn without_a_limit_of_its_own_stuck_is_three_times_the_usual() {
    let mut host = Host::new(Definition {
        timeout_ms: HOUR,
        ..by_hand()
    });
    host.run_now("first", None).unwrap();
    host.run_until(T0.plus(50 * MINUTE), |_| {
        Some((50 * MINUTE, Verdict::Succeeded))
    });
    assert!(host.raised().is_empty(), "nothing is known yet");
    for (key, ms) in [("a", MINUTE), ("b", 20 * SECOND)] {
        host.run_now(key, None).unwrap();
        host.run_until(host.now.plus(MINUTE), |_| Some((ms, Verdict::Succeeded)));
    }
    let began = host.now;
    host.run_now("slow", None).unwrap();
    host.run_until(began.plus(10 * MINUTE), |_| None);
    assert_eq!(
        host.raised(),
        [("may_be_stuck", "may be stuck: running for 180 s".to_owned())]
    );
}
