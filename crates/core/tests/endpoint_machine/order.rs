//! Many deliveries: order within a job, freedom between jobs, bounds.

use std::collections::BTreeMap;

use cronwright_core::endpoint::{Event, IN_FLIGHT_MAX, StateWord};
use cronwright_core::ids::RunId;
use cronwright_core::job::def::CallbackPreset::Durable;
use cronwright_core::outcome::FetchFault;
use cronwright_core::time::{HOUR, MINUTE, Millis, SECOND};

use super::world::{World, fault, run_id, status};

#[test]
fn the_next_delivery_of_a_job_waits_for_the_end_of_the_one_before() {
    let mut world = World::new();
    let runs: Vec<RunId> = (1..=3).map(|seq| world.enqueue(1, seq)).collect();
    let other = world.enqueue(2, 1);
    assert_eq!(world.post_times(&other), [0], "another job does not wait");
    world.run_until(HOUR, |at, run| {
        if *run == runs[0] && at < 6_000 {
            status(500)
        } else {
            status(200)
        }
    });
    assert_eq!(world.post_times(&runs[0]), [0, 1_000, 6_000]);
    assert_eq!(world.post_times(&runs[1]), [6_000]);
    assert_eq!(world.post_times(&runs[2]), [6_000]);
}

#[test]
fn a_dead_delivery_lets_the_next_one_go() {
    let mut world = World::new();
    let (first, second) = (world.enqueue(1, 1), world.enqueue(1, 2));
    world.run_until(HOUR, |_, run| {
        if *run == first {
            status(500)
        } else {
            status(200)
        }
    });
    assert_eq!(world.state(&first), StateWord::Dead);
    assert_eq!(world.state(&second), StateWord::Done);
    let at = world.post_times(&second)[0];
    // The sixth failure was a probe, so the next attempt of anyone is a minute later.
    assert_eq!(at, 756_000 + MINUTE);
}

#[test]
fn of_what_came_out_of_order_the_lower_seq_goes_first() {
    let mut world = World::new();
    let ahead = world.enqueue(1, 1);
    let (later, earlier) = (world.enqueue(1, 9), world.enqueue(1, 5));
    world.run_until(MINUTE, |_, _| status(200));
    let order: Vec<RunId> = world.posts.iter().map(|post| post.run.clone()).collect();
    assert_eq!(order, [ahead, earlier, later]);
}

#[test]
fn at_most_eight_attempts_are_in_flight_and_each_answer_lets_one_more_go() {
    let mut world = World::new();
    for job in 0..20 {
        world.enqueue(job, 1);
    }
    assert_eq!(world.calls.len(), IN_FLIGHT_MAX);
    world.answer(status(200));
    assert_eq!(world.posts.len(), IN_FLIGHT_MAX + 1);
    world.run_until(MINUTE, |_, _| status(200));
    assert!(
        world
            .stored
            .values()
            .all(|found| found.state.word() == StateWord::Done)
    );
}

#[test]
fn a_receiver_that_is_down_for_a_minute_loses_nothing_and_keeps_every_order() {
    let mut world = World::new();
    for seq in 1..=4 {
        for job in 0..25 {
            world.enqueue(job, seq);
        }
    }
    world.run_until(2 * HOUR, |at, _| {
        if at < MINUTE {
            fault(FetchFault::Network)
        } else {
            status(200)
        }
    });
    assert!(
        world
            .stored
            .values()
            .all(|found| found.state.word() == StateWord::Done)
    );
    for job in 0..25 {
        let order: Vec<&RunId> = world
            .posts
            .iter()
            .filter(|post| post.run.job.number == job && post.at >= MINUTE)
            .map(|post| &post.run)
            .collect();
        assert_eq!(
            order,
            (1..=4)
                .map(|seq| run_id(job, seq))
                .collect::<Vec<_>>()
                .iter()
                .collect::<Vec<_>>()
        );
    }
    let last = world.posts.iter().map(|post| post.at).max().unwrap();
    assert!(
        last <= 2 * MINUTE,
        "all delivered within the minute that follows: {last}"
    );
    assert!(world.stored.values().all(|found| found.attempts <= 3));
}

#[test]
fn a_receiver_that_is_back_within_twelve_minutes_loses_nothing() {
    let mut world = World::new();
    for job in 0..100 {
        world.enqueue(job, 1);
    }
    world.run_until(HOUR, |at, _| {
        if at < 12 * MINUTE {
            status(503)
        } else {
            status(200)
        }
    });
    assert!(
        world
            .stored
            .values()
            .all(|found| found.state.word() == StateWord::Done)
    );
}

#[test]
fn a_receiver_that_is_gone_for_ever_ends_every_delivery_and_keeps_it() {
    let mut world = World::new();
    for seq in 1..=12 {
        for job in 0..4 {
            world.enqueue(job, seq);
        }
        world.enqueue_as(9, seq, Durable);
    }
    world.run_until(30 * 24 * HOUR, |_, _| fault(FetchFault::Network));
    assert_eq!(world.stored.len(), 60);
    for found in world.stored.values() {
        assert_eq!(found.state.word(), StateWord::Dead);
        assert!(found.ended_at.unwrap() <= Millis(12 * 24 * HOUR));
    }
    assert!(
        world
            .stored
            .values()
            .any(|found| found.code.as_deref() == Some("expired"))
    );
    let mut by_minute = BTreeMap::new();
    for post in world.posts.iter().filter(|post| post.at >= MINUTE) {
        *by_minute.entry(post.at / MINUTE).or_insert(0) += 1;
    }
    assert_eq!(
        by_minute.values().max(),
        Some(&1),
        "a dead receiver gets one call a minute"
    );
}

#[test]
fn a_slow_receiver_of_one_job_does_not_delay_the_others() {
    let mut world = World::new();
    let slow = world.enqueue(1, 1);
    world.calls.clear();
    let others: Vec<RunId> = (2..=50).map(|job| world.enqueue(job, 1)).collect();
    world.run_until(SECOND, |_, _| status(200));
    assert_eq!(world.state(&slow), StateWord::InFlight);
    assert!(others.iter().all(|run| world.post_times(run) == [0]));
}

#[test]
fn an_outage_of_ours_expires_nothing_while_the_receiver_is_there() {
    for opened in [false, true] {
        let mut world = World::new();
        for job in 0..60 {
            world.enqueue(job, 1);
            if opened && job < 5 {
                world.answer(status(500));
            }
        }
        let lost = world.machine.in_flight();
        world.calls.clear();
        world.now = Millis(20 * 24 * HOUR);
        for (run, attempt) in lost {
            world.feed(Event::AttemptLost { run, attempt }).unwrap();
        }
        world.run_until(21 * 24 * HOUR, |_, _| status(200));
        assert!(
            world
                .stored
                .values()
                .all(|found| found.state.word() == StateWord::Done)
        );
    }
}

#[test]
fn past_its_patience_a_delivery_has_one_attempt_and_no_second() {
    let mut world = World::new();
    let (first, second) = (world.enqueue(1, 1), world.enqueue(1, 2));
    world.now = Millis(world.stored[&first].give_up_at.0);
    world.run_until(world.now.0 + HOUR, |_, _| status(500));
    assert_eq!(world.post_times(&first).len(), 1);
    assert_eq!(world.post_times(&second).len(), 1);
    assert!(
        world
            .stored
            .values()
            .all(|found| found.code.as_deref() == Some("http_500"))
    );
}
