//! The breaker.

use cronwright_core::endpoint::{Breaker, EndpointMachine, Event, StateWord};
use cronwright_core::ids::RunId;
use cronwright_core::machine::Machine;
use cronwright_core::outcome::FetchFault;
use cronwright_core::time::{HOUR, MINUTE, Millis};

use super::world::{World, fault, status};

/// Five jobs whose first deliveries failed at 0, and a breaker that is open.
fn opened() -> World {
    let mut world = World::new();
    for job in 0..5 {
        world.enqueue(job, 1);
        world.answer(status(500));
    }
    world
}

fn wake_at(world: &mut World, at: i64) {
    world.now = Millis(at);
    world.feed(Event::Wake).unwrap();
}

#[test]
fn it_opens_at_the_fifth_failure_in_a_row_over_all_jobs() {
    let mut world = World::new();
    for job in 0..4 {
        world.enqueue(job, 1);
        world.answer(status(500));
        assert_eq!(
            world.config.breaker,
            Breaker::Closed {
                failures_in_a_row: job + 1
            }
        );
    }
    world.enqueue(4, 1);
    world.answer(fault(FetchFault::Timeout));
    assert_eq!(
        world.config.breaker,
        Breaker::Open {
            since: Millis(0),
            probe_at: Millis(MINUTE)
        }
    );
    assert_eq!(
        world
            .machine
            .next_wakeup()
            .map(|wakeup| (wakeup.at.0, wakeup.why)),
        Some((MINUTE, "attempt"))
    );
}

#[test]
fn a_success_starts_the_count_anew() {
    let mut world = World::new();
    for job in 0..20 {
        world.enqueue(job, 1);
        world.answer(if job % 5 == 4 {
            status(200)
        } else {
            status(500)
        });
        assert!(matches!(world.config.breaker, Breaker::Closed { .. }));
    }
}

#[test]
fn what_waits_while_it_is_open_uses_no_attempts() {
    let mut world = opened();
    let parked: Vec<RunId> = (10..30).map(|job| world.enqueue(job, 1)).collect();
    for second in 1..60 {
        wake_at(&mut world, second * 1_000);
    }
    assert_eq!(world.posts.len(), 5, "nothing leaves");
    assert!(parked.iter().all(|run| world.stored[run].attempts == 0));
    assert!(
        parked
            .iter()
            .all(|run| world.stored[run].history.is_empty())
    );
}

#[test]
fn after_a_minute_exactly_one_probe_goes() {
    let mut world = opened();
    let parked = world.enqueue(10, 1);
    wake_at(&mut world, MINUTE - 1);
    assert!(world.calls.is_empty());
    wake_at(&mut world, MINUTE);
    assert_eq!(world.calls.len(), 1);
    let (probe, _) = world.calls[0].clone();
    assert_eq!(probe, parked, "what is due longest goes first");
    assert_eq!(
        world.config.breaker,
        Breaker::HalfOpen {
            since: Millis(0),
            probing: probe
        }
    );
    wake_at(&mut world, MINUTE + 10_000);
    world.enqueue(11, 1);
    assert_eq!(world.calls.len(), 1, "and no other while it is out");
}

#[test]
fn a_probe_that_succeeds_lets_all_go_at_most_eight_at_a_time() {
    let mut world = opened();
    for job in 10..40 {
        world.enqueue(job, 1);
    }
    wake_at(&mut world, MINUTE);
    world.answer(status(200));
    assert_eq!(world.config.breaker, Breaker::default());
    assert_eq!(world.calls.len(), 8);
    world.run_until(MINUTE, |_, _| status(200));
    assert!(
        world
            .stored
            .values()
            .all(|found| found.state.word() == StateWord::Done)
    );
}

#[test]
fn a_probe_that_fails_opens_it_for_another_minute_and_uses_up_an_attempt_of_its_own() {
    let mut world = opened();
    wake_at(&mut world, MINUTE);
    let probe = world.answer(status(500));
    assert_eq!(
        world.config.breaker,
        Breaker::Open {
            since: Millis(0),
            probe_at: Millis(2 * MINUTE)
        }
    );
    let used: u32 = world.stored.values().map(|found| found.attempts).sum();
    assert_eq!((world.stored[&probe].attempts, used), (2, 6));
    wake_at(&mut world, 2 * MINUTE);
    assert_ne!(
        world.calls[0].0, probe,
        "the next probe is another's: each bears its share"
    );
}

#[test]
fn a_probe_that_our_own_side_spoiled_opens_it_again_too() {
    let mut world = opened();
    wake_at(&mut world, MINUTE);
    world.answer(fault(FetchFault::Internal));
    assert_eq!(
        world.config.breaker,
        Breaker::Open {
            since: Millis(0),
            probe_at: Millis(2 * MINUTE)
        }
    );
}

#[test]
fn faults_of_our_own_side_do_not_open_it() {
    let mut world = World::new();
    for job in 0..30 {
        world.enqueue(job, 1);
        world.answer(fault(if job % 2 == 0 {
            FetchFault::Internal
        } else {
            FetchFault::Aborted
        }));
    }
    assert_eq!(world.config.breaker, Breaker::default());
}

#[test]
fn a_lost_probe_is_made_again_at_once() {
    let mut world = opened();
    wake_at(&mut world, MINUTE);
    let (run, attempt) = world.calls.pop_front().unwrap();
    world.now = Millis(MINUTE + 2_000);
    world
        .feed(Event::AttemptLost {
            run: run.clone(),
            attempt,
        })
        .unwrap();
    assert_eq!(world.calls.len(), 1);
    assert!(matches!(world.config.breaker, Breaker::HalfOpen { .. }));
    assert_eq!(world.stored[&run].attempts, 1, "the loss used none up");
}

/// Until a minute it is known that the receiver is down; one delivery runs out of patience at half of
/// it, behind one of its job that may not go before an hour.
fn out_of_patience() -> EndpointMachine {
    let mut world = opened();
    let (head, behind) = (world.enqueue(9, 1), world.enqueue(9, 2));
    world.stored.get_mut(&head).unwrap().not_before = Millis(HOUR);
    world.stored.get_mut(&behind).unwrap().give_up_at = Millis(MINUTE / 2);
    let waits = [&head, &behind].map(|run| world.stored[run].clone());
    EndpointMachine::restore(world.config, waits.to_vec())
}

#[test]
fn a_late_alarm_expires_what_a_timely_one_would_have_and_does_not_ring_again_for_it() {
    let timely = {
        let mut machine = out_of_patience();
        assert_eq!(machine.next_wakeup().unwrap().at, Millis(MINUTE / 2));
        drop(machine.step(Millis(MINUTE / 2), Event::Wake).unwrap());
        (machine.view().queue_length, machine.view().dead)
    };
    for late in [MINUTE - 1, MINUTE, MINUTE + 1, 10 * MINUTE] {
        let mut machine = out_of_patience();
        assert!(!machine.step(Millis(late), Event::Wake).unwrap().is_empty());
        assert_eq!(
            (machine.view().queue_length, machine.view().dead),
            timely,
            "{late}"
        );
        assert!(machine.next_wakeup().unwrap().at > Millis(late), "{late}");
    }
}

#[test]
fn a_lost_attempt_that_was_no_probe_waits_for_the_breaker() {
    let mut world = World::new();
    let runs: Vec<RunId> = (0..6).map(|job| world.enqueue(job, 1)).collect();
    for _ in 0..5 {
        world.answer(status(500));
    }
    let (run, attempt) = world.calls.pop_front().unwrap();
    assert_eq!(run, runs[5]);
    world.feed(Event::AttemptLost { run, attempt }).unwrap();
    assert!(world.calls.is_empty());
    assert_eq!(
        world.machine.next_wakeup().map(|wakeup| wakeup.at),
        Some(Millis(MINUTE))
    );
}

#[test]
fn an_attempt_that_left_before_it_opened_may_still_close_it() {
    let mut world = World::new();
    for job in 0..6 {
        world.enqueue(job, 1);
    }
    for _ in 0..5 {
        world.answer(status(500));
    }
    assert_eq!(world.config.breaker.as_str(), "open");
    world.answer(status(200));
    assert_eq!(world.config.breaker, Breaker::default());
}

#[test]
fn attempts_that_left_before_it_opened_do_not_keep_it_open_longer() {
    let mut world = World::new();
    for job in 0..8 {
        world.enqueue(job, 1);
    }
    for n in 0..8 {
        world.now = Millis(n * 1_000);
        world.answer(status(500));
    }
    assert_eq!(
        world.config.breaker,
        Breaker::Open {
            since: Millis(4_000),
            probe_at: Millis(64_000)
        }
    );
}

#[test]
fn an_operator_closes_it_and_what_waited_goes() {
    let mut world = opened();
    for job in 10..40 {
        world.enqueue(job, 1);
    }
    world.feed(Event::CloseBreaker).unwrap();
    assert_eq!(world.config.breaker, Breaker::default());
    assert_eq!(world.calls.len(), 8);
    let mut world = World::new();
    assert_eq!(world.feed(Event::CloseBreaker), Ok(false), "it was closed");
}

#[test]
fn a_probe_without_word_times_out_and_opens_it_again() {
    let mut world = opened();
    wake_at(&mut world, MINUTE);
    world.calls.clear();
    wake_at(&mut world, MINUTE + 20_000);
    assert_eq!(
        world.config.breaker,
        Breaker::Open {
            since: Millis(0),
            probe_at: Millis(2 * MINUTE + 20_000)
        }
    );
}

#[test]
fn a_lone_delivery_is_its_own_probe_at_its_own_time() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    world.run_until(160_000, |_, _| status(500));
    assert_eq!(
        world.config.breaker,
        Breaker::Open {
            since: Millis(156_000),
            probe_at: Millis(216_000)
        }
    );
    assert_eq!(
        world.machine.next_wakeup().map(|wakeup| wakeup.at),
        Some(Millis(756_000))
    );
    world.run_until(HOUR, |_, _| status(200));
    assert_eq!(world.post_times(&run).last(), Some(&756_000));
    assert_eq!(world.config.breaker, Breaker::default());
}
