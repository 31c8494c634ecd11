//! One delivery: its attempts, its end, and the word about it.

use cronwright_core::endpoint::{
    AttemptResult, Breaker, Event, LOSSES_FREE, Reject, Settle, StateWord,
};
use cronwright_core::job::def::CallbackPreset::Standard;
use cronwright_core::machine::Machine;
use cronwright_core::outcome::{CallbackState, FetchFault};
use cronwright_core::time::{HOUR, MINUTE, Millis};

use super::world::{World, fault, new_delivery, run_id, status};

#[test]
fn the_first_attempt_leaves_at_once_and_2xx_is_the_end() {
    for code in [200, 201, 202, 204, 299] {
        let mut world = World::new();
        let run = world.enqueue(1, 1);
        world.run_until(HOUR, |_, _| status(code));
        assert_eq!(world.post_times(&run), [0]);
        assert_eq!(world.state(&run), StateWord::Done);
        assert_eq!(world.told(&run), [(0, CallbackState::Done)]);
        assert_eq!(world.machine.next_wakeup(), None);
    }
}

/// Requirement T-S9. Delays count from the attempt before: 1, 5, 30, 120 and 600 s.
#[test]
fn an_endpoint_that_answers_500_for_15_minutes_gets_six_attempts_and_then_one_failure() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    world.run_until(15 * MINUTE, |_, _| status(500));
    assert_eq!(
        world.post_times(&run),
        [0, 1_000, 6_000, 36_000, 156_000, 756_000]
    );
    assert_eq!(world.told(&run), [(756_000, CallbackState::Failed)]);
    let end = world.words.last().unwrap();
    assert_eq!((end.attempts, end.code.as_deref()), (6, Some("http_500")));
    assert_eq!(world.state(&run), StateWord::Dead);
    assert_eq!(world.stored[&run].settle, Settle::Acked);
    assert_eq!(world.stored[&run].body, new_delivery(1, 1, Standard).body);

    world.run_until(24 * HOUR, |_, _| status(200));
    assert_eq!(world.posts.len(), 6, "nothing more leaves");
    assert_eq!(world.words.len(), 1);
}

#[test]
fn every_attempt_has_the_same_run_and_the_same_bytes_and_its_own_number() {
    let mut world = World::new();
    let run = world.enqueue(7, 3);
    world.run_until(HOUR, |_, _| fault(FetchFault::Timeout));
    let body = new_delivery(7, 3, Standard).body;
    assert!(
        world
            .posts
            .iter()
            .all(|post| post.run == run && post.body == body)
    );
    let numbers: Vec<u32> = world.posts.iter().map(|post| post.attempt).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    assert_eq!(world.stored[&run].code.as_deref(), Some("timeout"));
}

#[test]
fn redirects_and_other_answers_are_failures_that_are_tried_again() {
    for result in [
        status(301),
        status(302),
        status(400),
        status(404),
        status(502),
        fault(FetchFault::Redirect),
    ] {
        let mut world = World::new();
        let run = world.enqueue(1, 1);
        world.answer(result);
        assert_eq!(world.state(&run), StateWord::Waiting);
        assert_eq!(world.stored[&run].not_before, Millis(1_000));
    }
}

#[test]
fn a_200_head_with_a_broken_body_is_a_delivery() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    world.answer(AttemptResult {
        status: Some(200),
        fault: Some(FetchFault::Network),
        ..AttemptResult::default()
    });
    assert_eq!(world.state(&run), StateWord::Done);
}

#[test]
fn a_410_ends_its_delivery_at_once_and_leaves_the_others_alone() {
    let mut world = World::new();
    let gone = world.enqueue(1, 1);
    let next = world.enqueue(1, 2);
    world.run_until(HOUR, |_, run| {
        if *run == gone {
            status(410)
        } else {
            status(200)
        }
    });
    assert_eq!(world.post_times(&gone), [0]);
    assert_eq!(world.stored[&gone].code.as_deref(), Some("http_410"));
    assert_eq!(
        (world.state(&gone), world.state(&next)),
        (StateWord::Dead, StateWord::Done)
    );
}

#[test]
fn a_blocked_target_is_not_tried_again() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    world.run_until(HOUR, |_, _| fault(FetchFault::BlockedTarget));
    assert_eq!(world.post_times(&run), [0]);
    assert_eq!(world.stored[&run].code.as_deref(), Some("blocked_target"));
}

#[test]
fn asking_twice_changes_nothing_whatever_became_of_the_first() {
    let mut world = World::new();
    let again = Event::Enqueue(new_delivery(1, 1, Standard));
    world.enqueue(1, 1);
    assert_eq!(world.feed(again.clone()), Ok(false), "in flight");
    world.answer(status(500));
    world.now = Millis(MINUTE);
    assert_eq!(
        world.feed(again.clone()),
        Ok(false),
        "waiting, and even due"
    );
    world.run_until(HOUR, |_, _| status(500));
    assert_eq!(world.feed(again.clone()), Ok(false), "dead");

    let mut world = World::new();
    world.enqueue(1, 1);
    world.run_until(HOUR, |_, _| status(200));
    assert_eq!(world.feed(again), Ok(false), "done");
}

#[test]
fn word_of_an_attempt_that_is_not_in_flight_changes_nothing() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    let word = |attempt| Event::Attempted {
        run: run.clone(),
        attempt,
        result: status(200),
    };
    let lost = |attempt| Event::AttemptLost {
        run: run.clone(),
        attempt,
    };
    let stale = |expected, got| Err(Reject::StaleAttempt { expected, got });
    assert_eq!(world.feed(word(2)), stale(Some(1), 2));
    world.answer(status(500));
    assert_eq!(world.feed(word(1)), stale(None, 1), "waiting");
    assert_eq!(world.feed(lost(1)), stale(None, 1), "waiting");
    world.now = Millis(1_000);
    world.feed(Event::Wake).unwrap();
    assert_eq!(
        world.feed(word(1)),
        stale(Some(2), 1),
        "the next is in flight"
    );
    assert_eq!(
        world.feed(lost(1)),
        stale(Some(2), 1),
        "the next is in flight"
    );
    world.answer(status(204));
    assert_eq!(world.feed(word(2)), stale(None, 2), "done");
    let unknown = run_id(9, 9);
    let word = Event::Attempted {
        run: unknown.clone(),
        attempt: 1,
        result: status(200),
    };
    assert_eq!(
        world.feed(word),
        Err(Reject::UnknownDelivery { run: unknown })
    );
}

#[test]
fn an_attempt_without_word_times_out_5_s_after_its_limit_and_its_late_word_is_stale() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    assert_eq!(
        world
            .machine
            .next_wakeup()
            .map(|wakeup| (wakeup.at.0, wakeup.why)),
        Some((20_000, "timeout"))
    );
    world.now = Millis(19_999);
    assert_eq!(world.feed(Event::Wake), Ok(false));
    world.now = Millis(20_000);
    world.feed(Event::Wake).unwrap();
    let row = world.stored[&run].history[0].clone();
    assert_eq!(
        (row.fault, row.at, row.ms),
        (Some(FetchFault::Timeout), Millis(0), 20_000)
    );
    let late = Event::Attempted {
        run,
        attempt: 1,
        result: status(200),
    };
    assert_eq!(
        world.feed(late),
        Err(Reject::StaleAttempt {
            expected: None,
            got: 1
        })
    );
}

#[test]
fn a_lost_attempt_is_made_again_at_once_and_uses_none_up() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    world.now = Millis(3_000);
    assert_eq!(world.machine.in_flight(), [(run.clone(), 1)]);
    world.calls.clear();
    world
        .feed(Event::AttemptLost {
            run: run.clone(),
            attempt: 1,
        })
        .unwrap();
    assert_eq!(world.post_times(&run), [0, 3_000]);
    assert_eq!(
        (world.stored[&run].attempts, world.stored[&run].starts),
        (0, 2)
    );
    assert_eq!(world.config.breaker, Breaker::default());
    world.run_until(HOUR, |_, _| status(500));
    assert_eq!(world.stored[&run].attempts, 6);
    assert_eq!(world.posts.len(), 7);
}

#[test]
fn losses_without_end_use_attempts_up_and_end() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    while world.state(&run) != StateWord::Dead {
        while let Some((run, attempt)) = world.calls.pop_front() {
            world.feed(Event::AttemptLost { run, attempt }).unwrap();
        }
        if let Some(wakeup) = world
            .machine
            .next_wakeup()
            .filter(|_| world.state(&run) == StateWord::Waiting)
        {
            world.now = wakeup.at;
            world.feed(Event::Wake).unwrap();
        }
    }
    assert_eq!(world.posts.len(), usize::try_from(LOSSES_FREE).unwrap() + 6);
    assert_eq!(world.stored[&run].code.as_deref(), Some("internal"));
    assert_eq!(
        world.config.breaker,
        Breaker::default(),
        "our losses say nothing of the receiver"
    );
}

#[test]
fn the_shard_is_told_until_it_has_taken_our_word() {
    let mut world = World::new();
    world.shards_answer = false;
    let run = world.enqueue(1, 1);
    world.run_until(5 * MINUTE, |_, _| status(200));
    let times: Vec<i64> = world.told(&run).iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 5_000, 35_000, 95_000, 155_000, 215_000, 275_000]);
    assert!(
        world
            .words
            .iter()
            .all(|word| word.word == 1 && word.outcome == CallbackState::Done)
    );
    let owed = world.machine.outstanding();
    assert_eq!(owed.len(), 1);
    assert_eq!(owed[0].key, format!("{run}/settle/1"));

    world
        .feed(Event::SettleAcked {
            run: run.clone(),
            word: 1,
        })
        .unwrap();
    assert!(world.machine.outstanding().is_empty());
    assert_eq!(
        world.feed(Event::SettleAcked { run, word: 1 }),
        Ok(false),
        "once is enough"
    );
    assert_eq!(world.machine.next_wakeup(), None);
    assert_eq!(
        world.feed(Event::SettleAcked {
            run: run_id(9, 9),
            word: 1
        }),
        Ok(false),
        "long gone"
    );
}

#[test]
fn attempts_in_flight_are_not_outstanding_since_their_host_reports_them_lost() {
    let mut world = World::new();
    world.enqueue(1, 1);
    assert!(world.machine.outstanding().is_empty());
}

#[test]
fn a_dead_delivery_is_replayed_with_fresh_attempts_and_the_same_bytes() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    world.run_until(HOUR, |_, _| status(500));
    world.feed(Event::Replay { run: run.clone() }).unwrap();
    // The breaker is long due for a probe, and the replay is it.
    assert_eq!(world.post_times(&run).last(), Some(&HOUR));
    world.run_until(2 * HOUR, |_, _| status(500));
    let replayed: Vec<i64> = world.post_times(&run)[6..]
        .iter()
        .map(|at| at - HOUR)
        .collect();
    assert_eq!(replayed.len(), 6);
    assert_eq!(world.stored[&run].round, 1);
    world.feed(Event::Replay { run: run.clone() }).unwrap();
    world.run_until(3 * HOUR, |_, _| status(200));
    assert_eq!(world.state(&run), StateWord::Done);
    let outcomes: Vec<CallbackState> = world
        .told(&run)
        .into_iter()
        .map(|(_, outcome)| outcome)
        .collect();
    use CallbackState::{Done, Failed, Pending};
    assert_eq!(outcomes, [Failed, Pending, Failed, Pending, Done]);
    assert_eq!(
        (world.config.stats.delivered, world.config.stats.failed),
        (1, 2)
    );
}

#[test]
fn a_delivered_one_is_replayed_too_and_one_under_way_is_not() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    let replay = Event::Replay { run: run.clone() };
    let refused = |state| {
        Err(Reject::NotReplayable {
            run: run.clone(),
            state,
        })
    };
    assert_eq!(world.feed(replay.clone()), refused(StateWord::InFlight));
    world.answer(status(500));
    assert_eq!(world.feed(replay.clone()), refused(StateWord::Waiting));
    world.run_until(MINUTE, |_, _| status(200));
    world.feed(replay).unwrap();
    world.run_until(HOUR, |_, _| status(200));
    assert_eq!(world.post_times(&run), [0, 1_000, MINUTE]);
    let unknown = run_id(9, 9);
    assert_eq!(
        world.feed(Event::Replay {
            run: unknown.clone()
        }),
        Err(Reject::UnknownDelivery { run: unknown })
    );
}

#[test]
fn a_late_ack_of_an_earlier_word_does_not_settle_a_later_one() {
    let mut world = World::new();
    world.shards_answer = false;
    let run = world.enqueue(1, 1);
    world.answer(status(410));
    world.feed(Event::Replay { run: run.clone() }).unwrap();
    world.answer(status(200));
    for word in [1, 2] {
        assert_eq!(
            world.feed(Event::SettleAcked {
                run: run.clone(),
                word
            }),
            Ok(false)
        );
    }
    assert_eq!(world.machine.outstanding().len(), 1);
    assert_eq!(world.feed(Event::SettleAcked { run, word: 3 }), Ok(true));
    assert!(world.machine.outstanding().is_empty());
}

#[test]
fn replaying_the_dead_takes_all_of_them_and_no_other() {
    let mut world = World::new();
    let dead: Vec<_> = (1..=3).map(|job| world.enqueue(job, 1)).collect();
    world.run_until(MINUTE, |_, _| status(410));
    let done = world.enqueue(4, 1);
    world.run_until(2 * MINUTE, |_, _| status(200));
    world.feed(Event::ReplayDead).unwrap();
    world.run_until(3 * MINUTE, |_, _| status(200));
    assert!(dead.iter().all(|run| world.state(run) == StateWord::Done));
    assert_eq!(world.post_times(&done).len(), 1);
    assert_eq!(world.feed(Event::ReplayDead), Ok(false), "none is left");
}

#[test]
fn a_rotation_holds_from_the_next_attempt_on() {
    let mut world = World::new();
    world.enqueue(1, 1);
    world
        .feed(Event::Rotate {
            key_versions: vec![2, 1],
        })
        .unwrap();
    world.run_until(
        MINUTE,
        |at, _| if at == 0 { status(401) } else { status(200) },
    );
    let versions: Vec<_> = world
        .posts
        .iter()
        .map(|post| post.key_versions.clone())
        .collect();
    assert_eq!(versions, [vec![1], vec![2, 1]]);
    for found in [vec![], vec![1, 2], vec![2, 2], vec![3, 2, 1]] {
        let refused = world.feed(Event::Rotate {
            key_versions: found.clone(),
        });
        assert_eq!(refused, Err(Reject::BadKeyVersions { found }));
    }
}

#[test]
fn excerpts_are_kept_of_failures_only_and_cut() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    let says = |code| AttemptResult {
        excerpt: Some("错".repeat(5_000)),
        ..status(code)
    };
    world.run_until(MINUTE, |at, _| if at == 0 { says(500) } else { says(200) });
    let excerpts: Vec<_> = world.stored[&run]
        .history
        .iter()
        .map(|row| row.excerpt.as_ref().map(|text| text.chars().count()))
        .collect();
    assert_eq!(excerpts, [Some(300), None]);
}
