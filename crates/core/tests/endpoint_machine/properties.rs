//! Random histories. `World` checks after every step that the records are the machine, that refusals
//! change nothing, that bounds hold and that no wakeup is idle; here is what holds over whole histories.

use cronwright_core::endpoint::{AttemptResult, Event, StateWord, attempts_max};
use cronwright_core::ids::RunId;
use cronwright_core::job::def::CallbackPreset;
use cronwright_core::outcome::{CallbackState, FetchFault};
use cronwright_core::time::{DAY, HOUR, MINUTE};
use proptest::prelude::*;

use super::world::{World, fault, new_delivery, run_id, status};

/// One thing that happens, with choices still open.
#[derive(Clone, Debug)]
enum Move {
    Enqueue { job: u32, seq: u64, durable: bool },
    Answer { pick: usize, result: AttemptResult },
    Lose { pick: usize },
    Forget { pick: usize },
    Stale { pick: usize, attempt: u32 },
    Ack { pick: usize },
    Replay { job: u32, seq: u64 },
    ReplayDead,
    CloseBreaker,
    Rotate { key_versions: Vec<u32> },
    Wake,
    Wait { ms: i64 },
    WaitForWakeup,
}

fn result() -> impl Strategy<Value = AttemptResult> {
    let statuses =
        prop_oneof![4 => Just(200), 6 => Just(500), 1 => Just(302), 1 => Just(410), 2 => Just(503)];
    let faults = prop_oneof![
        3 => Just(FetchFault::Timeout),
        2 => Just(FetchFault::Network),
        1 => Just(FetchFault::Internal),
        1 => Just(FetchFault::BlockedTarget),
    ];
    prop_oneof![
        4 => (statuses, proptest::option::of(-5_000_i64..400_000))
            .prop_map(|(code, retry_after_ms)| AttemptResult { retry_after_ms, ..status(code) }),
        1 => faults.prop_map(fault),
    ]
}

fn moves() -> impl Strategy<Value = Move> {
    let pick = || 0_usize..64;
    prop_oneof![
        6 => (0_u32..6, 1_u64..12, any::<bool>()).prop_map(|(job, seq, durable)| Move::Enqueue { job, seq, durable }),
        10 => (pick(), result()).prop_map(|(pick, result)| Move::Answer { pick, result }),
        2 => pick().prop_map(|pick| Move::Lose { pick }),
        1 => pick().prop_map(|pick| Move::Forget { pick }),
        1 => (pick(), 0_u32..9).prop_map(|(pick, attempt)| Move::Stale { pick, attempt }),
        5 => pick().prop_map(|pick| Move::Ack { pick }),
        1 => (0_u32..6, 1_u64..12).prop_map(|(job, seq)| Move::Replay { job, seq }),
        1 => Just(Move::ReplayDead),
        1 => Just(Move::CloseBreaker),
        1 => proptest::collection::vec(1_u32..4, 0..4).prop_map(|key_versions| Move::Rotate { key_versions }),
        2 => Just(Move::Wake),
        4 => prop_oneof![Just(500), Just(5_000), Just(MINUTE), Just(10 * MINUTE), Just(5 * HOUR), Just(2 * DAY)]
            .prop_map(|ms| Move::Wait { ms }),
        6 => Just(Move::WaitForWakeup),
    ]
}

impl World {
    fn make(&mut self, made: Move) {
        match made {
            Move::Enqueue { job, seq, durable } => {
                let preset = if durable {
                    CallbackPreset::Durable
                } else {
                    CallbackPreset::Standard
                };
                // A shard does not ask again once it has taken our word, and only then is a record dropped.
                let dropped = |run: &RunId| {
                    self.words.iter().any(|word| word.run == *run) && !self.stored.contains_key(run)
                };
                if !dropped(&run_id(job, seq)) {
                    self.offer(Event::Enqueue(new_delivery(job, seq, preset)));
                }
            }
            Move::Answer { pick, result } => {
                if let Some((run, attempt)) = take(&mut self.calls, pick) {
                    self.offer(Event::Attempted {
                        run,
                        attempt,
                        result,
                    });
                }
            }
            Move::Lose { pick } => {
                if let Some((run, attempt)) = take(&mut self.calls, pick) {
                    self.offer(Event::AttemptLost { run, attempt });
                }
            }
            Move::Forget { pick } => drop(take(&mut self.calls, pick)),
            Move::Stale { pick, attempt } => {
                if let Some(post) = self.posts.get(pick) {
                    let (run, result) = (post.run.clone(), status(200));
                    self.offer(Event::Attempted {
                        run,
                        attempt,
                        result,
                    });
                }
            }
            Move::Ack { pick } => {
                if let Some((run, word)) = take(&mut self.letters, pick) {
                    self.offer(Event::SettleAcked { run, word });
                }
            }
            Move::Replay { job, seq } => self.offer(Event::Replay {
                run: run_id(job, seq),
            }),
            Move::ReplayDead => self.offer(Event::ReplayDead),
            Move::CloseBreaker => self.offer(Event::CloseBreaker),
            Move::Rotate { key_versions } => self.offer(Event::Rotate { key_versions }),
            Move::Wake => self.offer(Event::Wake),
            Move::Wait { ms } => self.now = self.now.plus(ms),
            Move::WaitForWakeup => {
                use cronwright_core::machine::Machine;
                if let Some(wakeup) = self.machine.next_wakeup() {
                    self.now = self.now.max(wakeup.at);
                    assert_eq!(self.feed(Event::Wake), Ok(true));
                }
            }
        }
    }

    /// Feeds an event that may be refused; `feed` checks that a refusal changes nothing.
    fn offer(&mut self, event: Event) {
        drop(self.feed(event));
    }
}

fn take<T>(queue: &mut std::collections::VecDeque<T>, pick: usize) -> Option<T> {
    let index = pick.checked_rem(queue.len())?;
    queue.remove(index)
}

/// A hundred histories take about 3 s; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 100;
    }
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_history_keeps_the_invariants_and_ends_when_time_goes_on(
        moves in proptest::collection::vec(moves(), 1..160),
        up in any::<bool>(),
    ) {
        let mut world = World::new();
        for made in moves {
            world.make(made);
        }

        // From here on the host loses nothing and time goes on: all end, and every shard knows.
        let lost: Vec<(RunId, u32)> = world.machine.in_flight();
        world.calls.clear();
        for (run, attempt) in lost {
            world.feed(Event::AttemptLost { run, attempt }).unwrap();
        }
        let end = world.now.0 + 14 * DAY;
        world.run_until(end, |_, _| if up { status(200) } else { status(500) });
        for found in world.stored.values() {
            prop_assert!(matches!(found.state.word(), StateWord::Done | StateWord::Dead), "{:?}", found);
            prop_assert_eq!(found.settle, cronwright_core::endpoint::Settle::Acked);
            prop_assert!(found.attempts <= attempts_max(found.preset));
            let last = world.words.iter().rfind(|word| word.run == found.run).unwrap();
            let outcome = if found.state.word() == StateWord::Done { CallbackState::Done } else { CallbackState::Failed };
            prop_assert_eq!((last.word, last.outcome), (found.word, outcome));
        }
        prop_assert_eq!(world.config.stats.attempts, u64::try_from(world.posts.len()).unwrap());
    }

    /// Without replays or losses, a run's whole number of attempts is bounded by its preset.
    #[test]
    fn a_delivery_never_leaves_more_often_than_its_preset_allows(
        answers in proptest::collection::vec(result(), 1..80),
        jobs in 1_u32..10,
    ) {
        let mut world = World::new();
        for job in 0..jobs {
            world.enqueue(job, 1);
            world.enqueue(job, 2);
        }
        let mut next = answers.iter().cycle();
        world.run_until(30 * DAY, |_, _| next.next().cloned().unwrap());
        for found in world.stored.values() {
            let posts = u32::try_from(world.post_times(&found.run).len()).unwrap();
            prop_assert_eq!(posts, found.attempts);
            prop_assert!(posts <= 6);
            let times = world.post_times(&found.run);
            let base = [1_000, 5_000, 30_000, 120_000, 600_000];
            for (pair, least) in times.windows(2).zip(base) {
                prop_assert!(pair[1] - pair[0] >= least, "never sooner than its own schedule: {:?}", times);
            }
        }
    }
}
