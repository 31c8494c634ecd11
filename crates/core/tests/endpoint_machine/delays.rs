//! When a delivery is tried again.

use cronwright_core::endpoint::{
    AttemptResult, attempts_max, base_delays_ms, delay_ms, honoured_ms, patience_ms,
};
use cronwright_core::job::def::CallbackPreset::{Durable, Standard};
use cronwright_core::outcome::{CallbackState, FetchFault};
use cronwright_core::time::{DAY, HOUR, MINUTE, SECOND};

use super::world::{World, run_id, status};

#[test]
fn standard_waits_1_s_5_s_30_s_2_min_and_10_min_exactly() {
    let waits: Vec<_> = (0..=6)
        .map(|attempts| delay_ms(Standard, attempts, &run_id(1, 1)))
        .collect();
    let expected = [
        None,
        Some(1_000),
        Some(5_000),
        Some(30_000),
        Some(120_000),
        Some(600_000),
        None,
    ];
    assert_eq!(waits, expected);
    assert_eq!(attempts_max(Standard), 6);
}

#[test]
fn durable_makes_12_attempts_whose_base_delays_span_75_hours() {
    assert_eq!(attempts_max(Durable), 12);
    let hours = |n: i64| n * HOUR;
    let expected = [
        5 * SECOND,
        30 * SECOND,
        2 * MINUTE,
        10 * MINUTE,
        30 * MINUTE,
        hours(2),
        hours(5),
        hours(10),
        hours(14),
        hours(20),
        hours(24),
    ];
    assert_eq!(base_delays_ms(Durable), expected);
    assert!(expected.iter().sum::<i64>() >= 75 * HOUR);
    assert_eq!(delay_ms(Durable, 12, &run_id(1, 1)), None);
}

#[test]
fn durable_jitter_is_fixed_by_the_run_within_20_percent_and_never_shortens_the_75_hours() {
    let mut firsts = std::collections::BTreeSet::new();
    for seq in 0..2_000 {
        let run = run_id(1, seq);
        let waits: Vec<i64> = (1..=11)
            .map(|attempts| delay_ms(Durable, attempts, &run).unwrap())
            .collect();
        let again: Vec<i64> = (1..=11)
            .map(|attempts| delay_ms(Durable, attempts, &run).unwrap())
            .collect();
        assert_eq!(waits, again);
        for (wait, base) in waits.iter().zip(base_delays_ms(Durable)) {
            assert!(
                (wait - base).abs() * 5 <= *base,
                "{wait} is more than 20 % from {base}"
            );
        }
        assert!(waits.iter().sum::<i64>() >= 75 * HOUR, "{waits:?}");
        firsts.insert(waits[0]);
    }
    assert!(firsts.len() > 300, "runs are spread: {}", firsts.len());
}

#[test]
fn a_lone_durable_delivery_leaves_at_exactly_its_own_times_and_dies_after_twelve() {
    let mut world = World::new();
    let run = world.enqueue_as(1, 1, Durable);
    world.run_until(200 * HOUR, |_, _| status(500));
    let mut at = 0;
    let mut expected = vec![0];
    for attempts in 1..=11 {
        at += delay_ms(Durable, attempts, &run).unwrap();
        expected.push(at);
    }
    // The breaker opens at the fifth failure; only waits shorter than a minute could then be longer.
    assert_eq!(world.post_times(&run), expected);
    assert_eq!(world.told(&run), [(at, CallbackState::Failed)]);
}

#[test]
fn retry_after_is_held_between_our_delay_and_twice_that_but_a_minute_is_always_granted() {
    for (delay, asked, granted) in [
        (SECOND, None, SECOND),
        (SECOND, Some(-5), SECOND),
        (SECOND, Some(0), SECOND),
        (SECOND, Some(30 * SECOND), 30 * SECOND),
        (SECOND, Some(MINUTE), MINUTE),
        (SECOND, Some(HOUR), MINUTE),
        (10 * MINUTE, Some(MINUTE), 10 * MINUTE),
        (10 * MINUTE, Some(15 * MINUTE), 15 * MINUTE),
        (10 * MINUTE, Some(i64::MAX), 20 * MINUTE),
    ] {
        assert_eq!(
            honoured_ms(delay, asked),
            granted,
            "delay {delay}, asked {asked:?}"
        );
    }
}

#[test]
fn retry_after_counts_with_429_and_503_only() {
    for (code, second) in [
        (429, 20_000),
        (503, 20_000),
        (500, 1_000),
        (404, 1_000),
        (302, 1_000),
    ] {
        let mut world = World::new();
        let run = world.enqueue(1, 1);
        let asks = |code| AttemptResult {
            retry_after_ms: Some(20_000),
            ..status(code)
        };
        world.run_until(
            25_000,
            |at, _| if at == 0 { asks(code) } else { status(200) },
        );
        assert_eq!(world.post_times(&run), [0, second], "{code}");
    }
}

#[test]
fn a_lone_delivery_has_all_its_attempts_before_its_patience_ends_whatever_the_receiver_asks() {
    for preset in [Standard, Durable] {
        let mut world = World::new();
        let run = world.enqueue_as(1, 1, preset);
        world.run_until(30 * DAY, |_, _| AttemptResult {
            retry_after_ms: Some(i64::MAX),
            ..status(503)
        });
        assert_eq!(world.stored[&run].attempts, attempts_max(preset));
        assert_eq!(world.stored[&run].code.as_deref(), Some("http_503"));
        assert!(world.post_times(&run).last().unwrap() + DAY <= patience_ms(preset));
    }
}

#[test]
fn an_attempt_that_takes_its_time_delays_the_next_by_as_much() {
    let mut world = World::new();
    let run = world.enqueue(1, 1);
    world.now = cronwright_core::time::Millis(14_000);
    world.answer(super::world::fault(FetchFault::Network));
    world.run_until(15_000, |_, _| status(200));
    assert_eq!(world.post_times(&run), [0, 15_000]);
}
