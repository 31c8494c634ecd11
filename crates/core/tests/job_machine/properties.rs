//! Random histories. `Host` and its oracle check after every step; here is what holds at the end.

use cronwright_core::ids::RunId;
use cronwright_core::job::def::{Definition, Executor, HttpMode, HttpTask, Overlap};
use cronwright_core::job::run::Owed;
use cronwright_core::job::{Event, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::CallbackState;
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis, SECOND};
use proptest::prelude::*;

use super::accounts::policies;
use super::host::Host;
use super::setup::{
    by_hand, every, job_id, minutely, with_callback, with_misfire, with_overlap, with_retries,
};

/// One thing that happens, with choices still open.
#[derive(Clone, Debug)]
enum Move {
    Wait(i64),
    WaitForWakeup,
    Wake,
    Answer {
        pick: usize,
        verdict: Verdict,
    },
    Accept {
        pick: usize,
    },
    Lose {
        pick: usize,
    },
    Forget {
        pick: usize,
    },
    Progress {
        pick: usize,
    },
    Stopped,
    NoCallLeft,
    Late {
        pick: usize,
        fence: u64,
    },
    RunNow {
        key: u8,
        overlap: Option<Overlap>,
    },
    Replay {
        pick: usize,
        key: u8,
    },
    Cancel {
        pick: usize,
    },
    Take {
        pick: usize,
    },
    Settle {
        pick: usize,
        word: u32,
        outcome: CallbackState,
    },
    Edit(usize),
    Enable(bool),
    Link(bool),
    Restart,
    Projected,
    Delete,
}

fn moves() -> impl Strategy<Value = Move> {
    let pick = || 0_usize..32;
    let wait = prop_oneof![
        Just(0),
        Just(1),
        Just(SECOND),
        Just(5 * SECOND),
        Just(30 * SECOND),
        Just(MINUTE),
        Just(10 * MINUTE),
        Just(3 * HOUR)
    ];
    let verdict = prop_oneof![
        3 => Just(Verdict::Succeeded),
        4 => Just(Verdict::Failed),
        2 => Just(Verdict::TimedOut),
        1 => Just(Verdict::FailedForGood),
        1 => Just(Verdict::Stopped),
    ];
    let overlap = prop_oneof![
        3 => Just(None), 1 => Just(Some(Overlap::Skip)), 2 => Just(Some(Overlap::Queue)),
        2 => Just(Some(Overlap::Replace)), 1 => Just(Some(Overlap::Allow))
    ];
    let outcome = prop_oneof![
        Just(CallbackState::Done),
        Just(CallbackState::Failed),
        Just(CallbackState::Pending)
    ];
    prop_oneof![
        4 => wait.prop_map(Move::Wait),
        8 => Just(Move::WaitForWakeup),
        2 => Just(Move::Wake),
        8 => (pick(), verdict).prop_map(|(pick, verdict)| Move::Answer { pick, verdict }),
        2 => pick().prop_map(|pick| Move::Accept { pick }),
        3 => pick().prop_map(|pick| Move::Lose { pick }),
        1 => pick().prop_map(|pick| Move::Forget { pick }),
        1 => pick().prop_map(|pick| Move::Progress { pick }),
        3 => Just(Move::Stopped),
        1 => Just(Move::NoCallLeft),
        1 => (pick(), 0_u64..9).prop_map(|(pick, fence)| Move::Late { pick, fence }),
        4 => (any::<u8>(), overlap).prop_map(|(key, overlap)| Move::RunNow { key, overlap }),
        1 => (pick(), any::<u8>()).prop_map(|(pick, key)| Move::Replay { pick, key }),
        2 => pick().prop_map(|pick| Move::Cancel { pick }),
        4 => pick().prop_map(|pick| Move::Take { pick }),
        4 => (pick(), 0_u32..6, outcome).prop_map(|(pick, word, outcome)| Move::Settle { pick, word, outcome }),
        2 => (0_usize..4).prop_map(Move::Edit),
        1 => any::<bool>().prop_map(Move::Enable),
        1 => any::<bool>().prop_map(Move::Link),
        2 => Just(Move::Restart),
        1 => Just(Move::Projected),
        1 => Just(Move::Delete),
    ]
}

fn definitions(
    overlap: Overlap,
    misfire: cronwright_core::job::def::Misfire,
    window: i64,
    most: u32,
) -> [Definition; 4] {
    let full = with_callback("https://cb.example/", with_retries(2, minutely()));
    let Executor::Http(task) = full.executor.clone();
    let accepting = Executor::Http(HttpTask {
        mode: HttpMode::Accepted,
        ..task
    });
    let all = [
        Definition {
            executor: accepting,
            queue_limit: 3,
            ..full
        },
        Definition {
            deadline_ms: Some(2 * MINUTE),
            warn_after_ms: Some(10 * SECOND),
            ..with_retries(20, every(20 * SECOND))
        },
        Definition {
            jitter_ms: 45 * SECOND,
            ..every(40 * SECOND)
        },
        by_hand(),
    ];
    all.map(|definition| with_overlap(overlap, with_misfire(misfire, window, most, definition)))
}

/// A picked item, if there is one.
fn at<T: Clone>(items: &[T], pick: usize) -> Option<T> {
    items.get(pick.checked_rem(items.len())?).cloned()
}

impl Host {
    /// What the history asks for now. A refusal is as good an answer as any; `feed` checks it.
    fn make(&mut self, made: Move, definitions: &[Definition; 4]) {
        let ids: Vec<RunId> = self.runs.values().map(|run| run.id.clone()).collect();
        let out = |host: &mut Self, pick: usize| {
            (!host.out.is_empty()).then(|| host.out.remove(pick % host.out.len()))
        };
        match made {
            Move::Wait(ms) => self.wait(ms),
            Move::WaitForWakeup => {
                if let Some(wakeup) = self.job.next_wakeup() {
                    self.wake_at(wakeup.at);
                }
            }
            Move::Wake => drop(self.feed(Event::Wake)),
            Move::Answer { pick, verdict } => {
                if let Some(dispatch) = out(self, pick) {
                    drop(self.report(&dispatch.run, dispatch.fence, verdict, 10));
                }
            }
            Move::Accept { pick } => {
                if let Some(dispatch) = at(&self.out, pick) {
                    drop(self.feed(Event::AttemptAccepted {
                        run: dispatch.run,
                        fence: dispatch.fence,
                    }));
                }
            }
            Move::Lose { pick } => {
                if let Some(dispatch) = out(self, pick) {
                    drop(self.feed(Event::AttemptLost {
                        run: dispatch.run,
                        fence: dispatch.fence,
                        why: "gone".to_owned(),
                    }));
                }
            }
            Move::Forget { pick } => drop(out(self, pick)),
            Move::Progress { pick } => {
                if let Some(dispatch) = at(&self.out, pick) {
                    drop(self.feed(Event::Progress {
                        run: dispatch.run,
                        fence: dispatch.fence,
                        percent: None,
                        message: "at it".to_owned(),
                    }));
                }
            }
            Move::Stopped if !self.aborts.is_empty() => self.stopped(),
            Move::NoCallLeft if !self.aborts.is_empty() => {
                let (run, fence) = self.aborts.remove(0);
                drop(self.feed(Event::AttemptLost {
                    run,
                    fence,
                    why: "no live call was left to stop".to_owned(),
                }));
            }
            Move::Stopped | Move::NoCallLeft => {}
            Move::Late { pick, fence } => {
                if let Some(run) = at(&ids, pick) {
                    drop(self.feed(Event::LateReport {
                        run,
                        fence,
                        what: "Succeeded".to_owned(),
                    }));
                }
            }
            Move::RunNow { key, overlap } => drop(self.run_now(&key.to_string(), overlap)),
            Move::Replay { pick, key } => {
                let known = self.runs.values().any(|run| matches!(&run.id.tag, cronwright_core::ids::RunTag::Replay(hash) if *hash == cronwright_core::ids::digest16(&[&key.to_string()])));
                if let Some(id) = at(&ids, pick).filter(|_| !known) {
                    let of = Box::new(self.run(&id).clone());
                    drop(self.feed(Event::Replay {
                        of,
                        key: key.to_string(),
                        by: "bob".to_owned(),
                    }));
                }
            }
            Move::Cancel { pick } => {
                let open: Vec<RunId> = self
                    .job
                    .runs()
                    .filter(|run| run.is_open())
                    .map(|run| run.id.clone())
                    .collect();
                if let Some(id) = at(&open, pick) {
                    drop(self.cancel(&id));
                }
            }
            Move::Take { pick } => {
                let owed: Vec<(RunId, Owed)> = self
                    .runs
                    .values()
                    .flat_map(|run| run.owed.iter().map(|owed| (run.id.clone(), owed.clone())))
                    .collect();
                if let Some((run, owed)) = at(&owed, pick) {
                    drop(self.feed(Event::OwedTaken { run, owed }));
                }
            }
            Move::Settle {
                pick,
                word,
                outcome,
            } => {
                if let Some(run) = at(&ids, pick) {
                    drop(self.feed(Event::CallbackSettled {
                        run,
                        word,
                        outcome,
                        why: None,
                    }));
                }
            }
            Move::Edit(n) => {
                let (definition, by) = (Box::new(definitions[n].clone()), "ann".to_owned());
                drop(self.feed(Event::Replace {
                    definition,
                    enabled: None,
                    revision: None,
                    by,
                }));
            }
            Move::Enable(enabled) => drop(self.feed(Event::SetEnabled { enabled })),
            Move::Link(on) => drop(self.feed(Event::Link {
                dependent: job_id("job_x"),
                on,
            })),
            Move::Restart => self.job = self.restored(),
            Move::Projected => {
                for seq in self.job.unprojected(10) {
                    self.projected(seq);
                }
            }
            Move::Delete => drop(self.feed(Event::Delete {
                by: "ann".to_owned(),
            })),
        }
    }

    /// From here on everything answers, and time goes on: when is the last run at its end?
    fn heal(&mut self) {
        let lost: Vec<(RunId, u64)> = self
            .job
            .runs()
            .filter_map(|run| {
                run.active
                    .filter(|active| !active.accepted)
                    .map(|active| (run.id.clone(), active.fence))
            })
            .collect();
        self.out.clear();
        self.aborts.clear();
        for (run, fence) in lost {
            self.feed(Event::AttemptLost {
                run,
                fence,
                why: "restart".to_owned(),
            })
            .unwrap();
        }
        drop(self.feed(Event::SetEnabled { enabled: false }));
        let end: Millis = self.now.plus(2 * DAY);
        self.run_until(end, |dispatch| {
            Some((
                SECOND,
                if dispatch.fence % 2 == 0 {
                    Verdict::Failed
                } else {
                    Verdict::Succeeded
                },
            ))
        });
        for (run, owed) in self
            .runs
            .values()
            .flat_map(|run| run.owed.iter().map(|owed| (run.id.clone(), owed.clone())))
            .collect::<Vec<_>>()
        {
            self.feed(Event::OwedTaken { run, owed }).unwrap();
        }
        let pending: Vec<(RunId, u32)> = self
            .runs
            .values()
            .filter(|run| run.callback == CallbackState::Pending)
            .map(|run| (run.id.clone(), run.callback_word + 1))
            .collect();
        for (run, word) in pending {
            self.feed(Event::CallbackSettled {
                run,
                word,
                outcome: CallbackState::Done,
                why: None,
            })
            .unwrap();
        }
    }
}

/// `PROPTEST_CASES` asks for another number.
pub fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    config
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn any_history_keeps_the_invariants_and_every_run_ends_when_time_goes_on(
        moves in proptest::collection::vec(moves(), 1..140),
        (overlap, misfire, window, most) in policies(),
        first in 0_usize..4,
    ) {
        let definitions = definitions(overlap, misfire, window, most);
        let mut host = Host::new(definitions[first].clone());
        for made in moves {
            host.make(made, &definitions);
        }
        host.heal();
        for run in host.runs.values() {
            prop_assert!(!run.is_open(), "never ended: {:?}", run);
            prop_assert!(run.attempts <= 21, "{:?}", run);
        }
        prop_assert!(host.oracle.alive.values().all(|alive| alive.until <= host.now));
        for seq in host.job.unprojected(usize::MAX) {
            host.projected(seq);
        }
        prop_assert!(host.job.is_idle(), "{:?}", host.job);
        prop_assert_eq!(host.job.next_wakeup(), None);
        drop(host.feed(Event::Delete { by: "ann".to_owned() }));
        prop_assert!(host.job.is_gone());
    }

    /// One definition throughout: no run has more attempts than its retries allow.
    #[test]
    fn attempts_never_exceed_the_retries_and_losses_do_not_count(
        ends in proptest::collection::vec(0_u8..4, 1..40),
        retries in 0_u32..4,
    ) {
        let mut host = Host::new(with_retries(retries, by_hand()));
        host.run_now("k", None).unwrap();
        for end in ends {
            match (host.out.is_empty(), end) {
                (true, _) => {
                    let Some(wakeup) = host.job.next_wakeup() else { break };
                    host.wake_at(wakeup.at);
                }
                (false, 0) => drop(host.lose()),
                (false, 1) => drop(host.end(Verdict::TimedOut)),
                (false, _) => drop(host.end(Verdict::Failed)),
            }
        }
        let run = host.newest();
        prop_assert!(run.attempts <= retries + 1);
        prop_assert!(run.fence <= u64::from(retries + 1 + 4));
    }
}
