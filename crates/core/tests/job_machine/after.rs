//! Jobs that run after other jobs, and the word that passes between them.

use cronwright_core::job::def::{AfterOn, Blackout, Definition, Overlap, ScheduleSpec};
use cronwright_core::job::run::{Owed, Trigger};
use cronwright_core::job::{Effect, Event, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::RunState;
use cronwright_core::time::{HOUR, MINUTE, SECOND};

use super::host::Host;
use super::setup::{T0, by_hand, foreign, hourly, job_id};

fn after(job: &str, on: AfterOn) -> Definition {
    let schedule = ScheduleSpec::After {
        job: job_id(job),
        on,
    };
    Definition {
        job_id: job_id("job_b"),
        schedule,
        ..by_hand()
    }
}

fn word(n: i64, ended: RunState) -> Event {
    Event::Upstream {
        job: job_id("job_a"),
        run: foreign(n),
        ended,
    }
}

fn links(effects: &[Effect]) -> Vec<(String, bool)> {
    let tell = |effect: &Effect| match effect {
        Effect::TellUpstream { upstream, on } => Some((upstream.to_string(), *on)),
        _ => None,
    };
    effects.iter().filter_map(tell).collect()
}

#[test]
fn each_way_to_follow_starts_after_the_ends_it_names() {
    use RunState::{Cancelled, Failed, Success, TimedOut};
    for (on, ends) in [
        (AfterOn::Success, vec![Success]),
        (AfterOn::Failure, vec![Failed, TimedOut]),
        (AfterOn::Finish, vec![Success, Failed, TimedOut, Cancelled]),
    ] {
        for ended in [Success, Failed, TimedOut, Cancelled] {
            let mut host = Host::new(after("job_a", on));
            assert_eq!(
                host.job.next_wakeup(),
                None,
                "it waits for word, not for time"
            );
            host.feed(word(1, ended)).unwrap();
            let started = host.starts().len() == 1;
            assert_eq!(started, ends.contains(&ended), "{on:?} {ended:?}");
        }
    }
}

#[test]
fn a_run_that_cannot_follow_is_recorded_with_the_one_it_waited_for() {
    let mut host = Host::new(after("job_a", AfterOn::Success));
    host.feed(word(1, RunState::TimedOut)).unwrap();
    let run = host.newest();
    assert_eq!(run.state, RunState::Skipped);
    assert_eq!(
        run.ledger[0].why,
        format!(
            "job job_a did not succeed: run {} ended as TIMED_OUT",
            foreign(1)
        )
    );
    assert_eq!(
        run.trigger,
        Trigger::After {
            job: job_id("job_a"),
            run: foreign(1),
            ended: RunState::TimedOut
        }
    );
}

#[test]
fn word_that_comes_again_changes_nothing() {
    let mut host = Host::new(after("job_a", AfterOn::Finish));
    host.feed(word(1, RunState::Success)).unwrap();
    assert!(host.feed(word(1, RunState::Success)).unwrap().is_empty());
    host.end(Verdict::Succeeded);
    assert!(host.feed(word(1, RunState::Success)).unwrap().is_empty());
    host.feed(word(2, RunState::Success)).unwrap();
    assert_eq!(host.runs.len(), 2);
}

#[test]
fn word_about_another_job_or_to_a_paused_one_starts_nothing() {
    let mut host = Host::new(after("job_a", AfterOn::Finish));
    let other = Event::Upstream {
        job: job_id("job_c"),
        run: foreign(1),
        ended: RunState::Success,
    };
    assert!(host.feed(other).unwrap().is_empty());
    host.set_enabled(false);
    host.feed(word(1, RunState::Success)).unwrap();
    assert!(host.runs.is_empty());
    host.set_enabled(true);
    host.feed(word(2, RunState::Success)).unwrap();
    assert_eq!(host.starts().len(), 1);
    host.replace(hourly());
    host.feed(word(3, RunState::Success)).unwrap();
    assert_eq!(host.runs.len(), 1, "it no longer runs after anything");
}

#[test]
fn a_trigger_after_another_job_obeys_the_overlap_policy() {
    let mut host = Host::new(after("job_a", AfterOn::Finish));
    host.feed(word(1, RunState::Success)).unwrap();
    host.feed(word(2, RunState::Success)).unwrap();
    assert_eq!(host.states(), [RunState::Dispatched, RunState::Skipped]);
    let mut host = Host::new(Definition {
        overlap: Overlap::Queue,
        ..after("job_a", AfterOn::Finish)
    });
    host.feed(word(1, RunState::Success)).unwrap();
    host.feed(word(2, RunState::Success)).unwrap();
    host.end(Verdict::Failed);
    assert_eq!(host.states(), [RunState::Failed, RunState::Dispatched]);
}

#[test]
fn the_span_and_the_windows_of_the_job_hold_for_it_too() {
    let span = Definition {
        start_at: Some(T0.plus(MINUTE)),
        end_at: Some(T0.plus(HOUR)),
        ..after("job_a", AfterOn::Finish)
    };
    let mut host = Host::new(span);
    host.feed(word(1, RunState::Success)).unwrap();
    assert!(host.runs.is_empty(), "before its start");
    host.now = T0.plus(MINUTE);
    host.feed(word(2, RunState::Success)).unwrap();
    host.end(Verdict::Succeeded);
    host.now = T0.plus(HOUR);
    host.feed(word(3, RunState::Success)).unwrap();
    assert_eq!(host.runs.len(), 1, "from its end on");

    let blackouts = vec![Blackout::Between {
        from: T0,
        until: T0.plus(MINUTE),
    }];
    let mut host = Host::new(Definition {
        blackouts,
        ..after("job_a", AfterOn::Finish)
    });
    host.wait(SECOND);
    host.feed(word(4, RunState::Success)).unwrap();
    assert_eq!(
        (host.states(), host.newest().ledger[0].why.as_str()),
        (vec![RunState::Skipped], "falls into a blackout window")
    );
}

#[test]
fn the_other_job_is_told_of_the_link_until_it_has_heard() {
    let mut host = Host::new(after("job_a", AfterOn::Finish));
    let told: Vec<Effect> = host
        .job
        .outstanding()
        .into_iter()
        .map(|keyed| keyed.effect)
        .collect();
    assert_eq!(links(&told), [("job_a".to_owned(), true)]);
    assert!(!host.job.is_idle());
    let edit = |definition: Definition| Event::Replace {
        definition: Box::new(definition),
        enabled: None,
        revision: None,
        by: "ann".to_owned(),
    };
    assert_eq!(
        links(&host.feed(edit(after("job_a", AfterOn::Success))).unwrap()),
        []
    );
    let effects = host.feed(edit(after("job_c", AfterOn::Success))).unwrap();
    assert_eq!(
        links(&effects),
        [("job_a".to_owned(), false), ("job_c".to_owned(), true)]
    );
    host.feed(Event::LinkTaken {
        job: job_id("job_c"),
        on: true,
    })
    .unwrap();
    host.feed(Event::LinkTaken {
        job: job_id("job_a"),
        on: false,
    })
    .unwrap();
    assert!(host.job.outstanding().is_empty());
    host.delete();
    let told: Vec<Effect> = host
        .job
        .outstanding()
        .into_iter()
        .map(|keyed| keyed.effect)
        .collect();
    assert_eq!(links(&told), [("job_c".to_owned(), false)]);
    assert!(!host.job.is_gone());
    let effects = host
        .feed(Event::LinkTaken {
            job: job_id("job_c"),
            on: false,
        })
        .unwrap();
    assert_eq!(
        effects,
        [Effect::ProjectJob],
        "the host looks whether it may forget the job"
    );
    assert!(host.job.is_gone());
}

#[test]
fn two_jobs_that_follow_the_same_one_have_a_word_each() {
    let keys = |name: &str| {
        let named = |definition| Definition {
            job_id: job_id(name),
            ..definition
        };
        let mut host = Host::new(named(after("job_a", AfterOn::Finish)));
        let owed: Vec<String> = host
            .restored()
            .outstanding()
            .into_iter()
            .map(|it| it.key)
            .collect();
        host.replace(named(hourly()));
        let told = host
            .log
            .iter()
            .filter(|(_, keyed)| matches!(keyed.effect, Effect::TellUpstream { .. }));
        let told: Vec<String> = told.map(|(_, keyed)| keyed.key.clone()).collect();
        assert_eq!(
            told[..1],
            owed,
            "one word has one key, also after a restart"
        );
        told
    };
    // Both may live in one shard, where a word that is on its way is not told a second time.
    let (one, other) = (keys("job_b"), keys("job_d"));
    assert_eq!((one.len(), other.len()), (2, 2), "follows, and no longer");
    assert!(
        one.iter().all(|key| !other.contains(key)),
        "{one:?} {other:?}"
    );
}

#[test]
fn an_old_word_about_a_link_that_arrives_last_is_set_right() {
    let mut host = Host::new(after("job_a", AfterOn::Finish));
    host.feed(Event::LinkTaken {
        job: job_id("job_a"),
        on: true,
    })
    .unwrap();
    host.replace(hourly());
    host.replace(after("job_a", AfterOn::Finish));
    // Both words are on their way, and the older one is taken last.
    host.feed(Event::LinkTaken {
        job: job_id("job_a"),
        on: true,
    })
    .unwrap();
    let effects = host
        .feed(Event::LinkTaken {
            job: job_id("job_a"),
            on: false,
        })
        .unwrap();
    assert_eq!(links(&effects), [("job_a".to_owned(), true)]);
    host.feed(Event::LinkTaken {
        job: job_id("job_a"),
        on: true,
    })
    .unwrap();
    assert!(host.job.outstanding().is_empty());
}

#[test]
fn every_job_that_runs_after_this_one_is_told_of_each_end_until_it_has_heard() {
    let mut host = Host::new(by_hand());
    for (name, on) in [
        ("job_x", true),
        ("job_y", true),
        ("job_y", true),
        ("job_z", true),
        ("job_z", false),
    ] {
        host.feed(Event::Link {
            dependent: job_id(name),
            on,
        })
        .unwrap();
    }
    host.run_now("k", None).unwrap();
    let run = host.end(Verdict::Failed).run;
    let told = |host: &Host| {
        let outstanding = host.job.outstanding();
        let names = outstanding.iter().map(|keyed| match &keyed.effect {
            Effect::TellDependent {
                dependent,
                run: of,
                ended: RunState::Failed,
            } if *of == run => dependent.to_string(),
            other => panic!("{other:?}"),
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(told(&host), ["job_x", "job_y"]);
    assert!(!host.newest().is_settled());
    host.feed(Event::Link {
        dependent: job_id("job_x"),
        on: false,
    })
    .unwrap();
    assert_eq!(told(&host), ["job_x", "job_y"], "what was owed is owed");
    for name in ["job_y", "job_x", "job_x"] {
        host.feed(Event::OwedTaken {
            run: run.clone(),
            owed: Owed::Dependent { job: job_id(name) },
        })
        .unwrap();
    }
    assert!(host.job.outstanding().is_empty());
    assert!(host.newest().is_settled());
}

#[test]
fn d1_hears_of_the_form_in_which_a_run_is_settled() {
    let mut host = Host::new(by_hand());
    host.feed(Event::Link {
        dependent: job_id("job_x"),
        on: true,
    })
    .unwrap();
    host.run_now("k", None).unwrap();
    let run = host.end(Verdict::Succeeded).run;
    let written = host.newest().clone();
    let effects = host
        .feed(Event::OwedTaken {
            run: run.clone(),
            owed: Owed::Dependent {
                job: job_id("job_x"),
            },
        })
        .unwrap();
    assert_eq!(effects, [Effect::ProjectRun { seq: 1 }]);
    host.job.note_projected(&written);
    assert!(!host.job.is_idle(), "that was an earlier form");
    host.projected(1);
    assert!(host.job.is_idle(), "and the job can rest, or be gone");
}
