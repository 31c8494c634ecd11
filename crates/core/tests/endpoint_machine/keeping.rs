//! What is kept, for how long, and what is refused.

use cronwright_core::endpoint::{
    BODY_BYTES_MAX, Config, DEAD_BYTES_KEPT, DEAD_KEPT, DEAD_KEPT_MS, DONE_KEPT, Delivery,
    DeliveryState, EndpointMachine, Event, NewDelivery, QUEUE_BYTES_MAX, QUEUE_MAX, Reject,
    SWEEP_MAX, Settle, StateWord, patience_ms,
};
use cronwright_core::job::def::CallbackPreset::Standard;
use cronwright_core::machine::Machine;
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis};

use super::records::delivery;
use super::world::{World, job_id, new_delivery, run_id, status};

/// A machine with these records, made without stepping.
fn with(deliveries: Vec<Delivery>) -> EndpointMachine {
    EndpointMachine::restore(World::new().config, deliveries)
}

/// A record in a given state, taken in at 0 and ended, if it has, at its `seq`.
fn record(job: u32, seq: u64, state: DeliveryState, settle: Settle, body: &str) -> Delivery {
    let ended = matches!(state, DeliveryState::Done | DeliveryState::Dead);
    Delivery {
        run: run_id(job, seq),
        job: job_id(job),
        state,
        settle,
        starts: 1,
        word: u32::from(ended),
        not_before: Millis(0),
        enqueued_at: Millis(0),
        give_up_at: Millis(patience_ms(Standard)),
        ended_at: ended.then(|| Millis(i64::try_from(seq).unwrap())),
        body: body.to_owned(),
        ..delivery(seq)
    }
}

#[test]
fn the_newest_hundred_delivered_are_kept_and_only_settled_ones_are_dropped() {
    let mut world = World::new();
    for seq in 1..=150 {
        world.enqueue(1, seq);
        world.run_until(i64::try_from(seq).unwrap() * 1_000, |_, _| status(200));
    }
    assert_eq!(world.stored.len(), DONE_KEPT);
    assert!(world.stored.values().all(|found| found.seq > 50));

    world.shards_answer = false;
    for seq in 151..=300 {
        world.enqueue(1, seq);
        world.run_until(i64::try_from(seq).unwrap() * 1_000, |_, _| status(200));
    }
    assert_eq!(
        world.stored.len(),
        DONE_KEPT + 150,
        "what a shard does not know is kept"
    );
}

#[test]
fn a_dead_delivery_is_kept_for_thirty_days() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    world.run_until(DEAD_KEPT_MS + 756_000 - 1, |_, _| status(500));
    assert_eq!(world.state(&run), StateWord::Dead);
    let wakeup = world.machine.next_wakeup().unwrap();
    assert_eq!(
        (wakeup.at.0, wakeup.why),
        (DEAD_KEPT_MS + 756_000, "retention")
    );
    world.run_until(31 * DAY, |_, _| status(500));
    assert!(world.stored.is_empty());
    assert_eq!(world.machine.next_wakeup(), None);
}

#[test]
fn of_the_dead_the_newest_thousand_are_kept() {
    let dead = (1..=1_050).map(|seq| record(1, seq, DeliveryState::Dead, Settle::Acked, "{}"));
    let mut machine = with(dead.collect());
    machine.step(Millis(HOUR), Event::Wake).unwrap();
    assert_eq!(machine.view().dead, DEAD_KEPT);
    assert!(machine.delivery(&run_id(1, 50)).is_none());
    assert!(machine.delivery(&run_id(1, 51)).is_some());
}

#[test]
fn large_dead_bodies_are_kept_within_sixteen_mebibytes() {
    let body = "x".repeat(BODY_BYTES_MAX);
    let dead = (1..=300).map(|seq| record(1, seq, DeliveryState::Dead, Settle::Acked, &body));
    let mut machine = with(dead.collect());
    machine.step(Millis(HOUR), Event::Wake).unwrap();
    assert_eq!(machine.view().dead, DEAD_BYTES_KEPT / BODY_BYTES_MAX);
}

#[test]
fn a_queue_that_is_full_refuses_and_takes_again_when_there_is_room() {
    let waiting =
        (0..10_000).map(|n| record(n, 1, DeliveryState::Waiting, Settle::Unsettled, "{}"));
    let mut machine = with(waiting.collect());
    let before = machine.clone();
    let one_more = Event::Enqueue(new_delivery(70_000, 1, Standard));
    assert_eq!(
        machine.step(Millis(0), one_more.clone()),
        Err(Reject::QueueFull { limit: QUEUE_MAX })
    );
    assert_eq!(machine, before);
    let repeated = Event::Enqueue(new_delivery(1, 1, Standard));
    assert!(
        machine.step(Millis(0), repeated).unwrap().is_empty(),
        "one that is here is no news"
    );

    machine.step(Millis(0), Event::Wake).unwrap();
    let (run, attempt) = machine.in_flight().remove(0);
    machine
        .step(
            Millis(0),
            Event::Attempted {
                run: run.clone(),
                attempt,
                result: status(200),
            },
        )
        .unwrap();
    assert!(
        machine.step(Millis(0), one_more.clone()).is_err(),
        "its shard does not know yet"
    );
    let word = machine.delivery(&run).unwrap().word;
    machine
        .step(Millis(0), Event::SettleAcked { run, word })
        .unwrap();
    machine.step(Millis(0), one_more).unwrap();
}

#[test]
fn a_queue_of_large_bodies_is_full_at_thirty_two_mebibytes() {
    let body = "x".repeat(BODY_BYTES_MAX);
    let waiting = (0..512).map(|n| record(n, 1, DeliveryState::Waiting, Settle::Unsettled, &body));
    let mut machine = with(waiting.collect());
    let refused = machine.step(Millis(0), Event::Enqueue(new_delivery(70_000, 1, Standard)));
    assert_eq!(
        refused,
        Err(Reject::QueueBytesFull {
            limit: QUEUE_BYTES_MAX
        })
    );
}

#[test]
fn a_full_queue_takes_no_replay() {
    let mut records: Vec<Delivery> = (0..10_000)
        .map(|n| record(n, 1, DeliveryState::Waiting, Settle::Unsettled, "{}"))
        .collect();
    records.push(record(70_000, 1, DeliveryState::Dead, Settle::Acked, "{}"));
    let mut machine = with(records);
    let refused = machine.step(
        Millis(0),
        Event::Replay {
            run: run_id(70_000, 1),
        },
    );
    assert_eq!(refused, Err(Reject::QueueFull { limit: QUEUE_MAX }));
    machine.step(Millis(0), Event::ReplayDead).unwrap();
    assert_eq!(machine.view().dead, 1);
}

#[test]
fn a_body_over_64_kibibytes_is_refused() {
    let mut world = World::new();
    let body = |bytes| {
        Event::Enqueue(NewDelivery {
            body: "x".repeat(bytes),
            ..new_delivery(1, 1, Standard)
        })
    };
    let (bytes, limit) = (BODY_BYTES_MAX + 1, BODY_BYTES_MAX);
    assert_eq!(
        world.feed(body(bytes)),
        Err(Reject::BodyTooLarge { bytes, limit })
    );
    assert_eq!(world.feed(body(limit)), Ok(true));
}

#[test]
fn ten_thousand_that_are_given_up_at_once_are_handled_in_parts() {
    let waiting =
        (0..10_000).map(|n| record(n, 1, DeliveryState::Waiting, Settle::Unsettled, "{}"));
    let mut config = World::new().config;
    config.breaker = cronwright_core::endpoint::Breaker::Open {
        since: Millis(0),
        probe_at: Millis(400 * DAY),
    };
    let mut machine = EndpointMachine::restore(config, waiting.collect());
    let now = Millis(10 * DAY);
    let mut turns = 0;
    while machine.next_wakeup().is_some_and(|wakeup| wakeup.at <= now) {
        let turn = machine.step(now, Event::Wake).unwrap();
        assert!(!turn.is_empty() && turn.changes.len() <= 3 * SWEEP_MAX);
        turns += 1;
    }
    assert_eq!(
        (turns, machine.view().dead, machine.view().queue_length),
        (50, 10_000, 0)
    );
}

#[test]
fn history_is_bounded_over_any_number_of_replays() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    for round in 1..=20 {
        world.run_until(round * HOUR, |_, _| status(500));
        world.feed(Event::Replay { run: run.clone() }).unwrap();
    }
    assert_eq!(world.stored[&run].history.len(), 32);
    assert_eq!(
        world.stored[&run].history.last().map(|row| row.attempt),
        Some(120)
    );
}

#[test]
fn a_probe_that_is_not_in_flight_does_not_hold_the_breaker_for_ever() {
    let mut config: Config = World::new().config;
    config.breaker = cronwright_core::endpoint::Breaker::HalfOpen {
        since: Millis(5),
        probing: run_id(1, 1),
    };
    let waiting = record(1, 1, DeliveryState::Waiting, Settle::Unsettled, "{}");
    let mut machine = EndpointMachine::restore(config, vec![waiting]);
    assert_eq!(
        machine.next_wakeup().map(|wakeup| wakeup.at),
        Some(Millis(5))
    );
    machine.step(Millis(MINUTE), Event::Wake).unwrap();
    assert_eq!(machine.in_flight().len(), 1);
}

#[test]
fn views_count_filter_and_page() {
    let mut world = World::new();
    for seq in 1..=5 {
        world.enqueue(1, seq);
        world.run_until(i64::try_from(seq).unwrap(), |_, _| status(200));
    }
    world.enqueue(2, 6);
    world.answer(status(410));
    world.enqueue(3, 7);
    let view = world.machine.view();
    assert_eq!(
        (view.queue_length, view.in_flight, view.dead, view.unsettled),
        (0, 1, 1, 1)
    );
    assert_eq!((view.breaker, view.failures_in_a_row), ("closed", 1));
    assert_eq!(view.endpoint_id.as_str().len(), 19);

    let seqs = |state, after: Option<u64>, limit| -> Vec<u64> {
        let after = after.map(|seq| run_id(1, seq));
        world
            .machine
            .deliveries(state, after.as_ref(), limit)
            .iter()
            .map(|found| found.seq)
            .collect()
    };
    assert_eq!(seqs(None, None, 3), [7, 6, 5]);
    assert_eq!(seqs(Some(StateWord::Done), None, 2), [5, 4]);
    assert_eq!(seqs(Some(StateWord::Done), Some(4), 9), [3, 2, 1]);
    assert_eq!(seqs(Some(StateWord::Dead), None, 9), [6]);
    assert_eq!(seqs(Some(StateWord::Waiting), None, 9), [] as [u64; 0]);
    let json = serde_json::to_value(&view).unwrap();
    let keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = [
        "endpointId",
        "app",
        "url",
        "breaker",
        "failuresInARow",
        "queueLength",
        "inFlight",
        "dead",
        "unsettled",
        "stats",
        "keyVersions",
        "createdAt",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    for word in StateWord::ALL {
        assert_eq!(StateWord::parse(word.as_str()), Some(word));
        assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
    }
}
