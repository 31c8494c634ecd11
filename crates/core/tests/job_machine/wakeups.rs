//! When the job has to be stepped, and what D1 lacks of it.

use cronwright_core::job::def::{Definition, Overlap};
use cronwright_core::job::{Event, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::time::{HOUR, MINUTE, SECOND};

use super::host::Host;
use super::setup::{T0, accepting, by_hand, hourly, minutely, with_callback, with_retries};

fn why(host: &Host) -> (i64, &'static str) {
    let wakeup = host.job.next_wakeup().unwrap();
    (wakeup.at.since(T0) / SECOND, wakeup.why)
}

#[test]
fn the_earliest_of_all_timers_is_the_next_wakeup() {
    let definition = Definition {
        deadline_ms: Some(20 * SECOND),
        warn_after_ms: Some(8 * SECOND),
        ..with_retries(1, minutely())
    };
    let mut host = Host::new(definition);
    let mut seen = vec![why(&host)];
    host.run_now("k", None).unwrap();
    for _ in 0..3 {
        seen.push(why(&host));
        host.wake_at(T0.plus(why(&host).0 * SECOND));
    }
    assert_eq!(
        seen,
        [(60, "due"), (5, "running"), (8, "stuck"), (20, "deadline")]
    );
    assert_eq!(
        why(&host),
        (35, "timeout"),
        "asked to stop at the deadline, and silent since"
    );

    let mut host = Host::new(Definition {
        deadline_ms: Some(45 * SECOND),
        ..with_retries(1, minutely())
    });
    host.run_now("k", None).unwrap();
    host.end(Verdict::Failed);
    assert_eq!(why(&host), (30, "retry"));
}

#[test]
fn a_wakeup_that_is_early_or_repeated_does_nothing() {
    let mut host = Host::new(hourly());
    for ms in [0, 1, HOUR - 1] {
        assert!(host.wake_at(T0.plus(ms)).is_empty());
    }
    host.wake_at(T0.plus(HOUR));
    for _ in 0..5 {
        let rev = host.head.rev;
        assert!(host.feed(Event::Wake).unwrap().is_empty());
        assert_eq!(host.head.rev, rev, "nothing is written");
    }
    assert_eq!(host.runs.len(), 1);
}

#[test]
fn one_late_wakeup_does_all_that_came_in_between() {
    // Limit, retry and the next occurrence passed: the run is ended and the instant is in the books.
    let mut host = Host::new(with_retries(1, minutely()));
    host.wake_at(T0.plus(MINUTE));
    host.out.clear();
    host.wake_at(T0.plus(2 * MINUTE));
    assert_eq!(host.runs.len(), 2);
    host.wake_at(T0.plus(2 * MINUTE + 30 * SECOND));
    assert_eq!(host.starts(), [60, 150]);
}

#[test]
fn from_wakeup_to_wakeup_a_silent_job_takes_few_steps() {
    let definition = accepting(Definition {
        warn_after_ms: Some(6 * SECOND),
        ..with_retries(20, minutely())
    });
    let mut host = Host::new(definition);
    let mut steps = 0;
    while host.now < T0.plus(HOUR) {
        let at = host.job.next_wakeup().unwrap().at;
        assert!(at > host.now || steps == 0);
        host.wake_at(at);
        host.aborts.clear();
        steps += 1;
    }
    assert!(steps < 200, "{steps} steps in an hour");
}

#[test]
fn an_idle_job_is_one_that_time_alone_concerns() {
    let mut host = Host::new(with_callback("https://cb.example/", hourly()));
    assert!(host.job.is_idle());
    host.wake_at(T0.plus(HOUR));
    assert!(!host.job.is_idle());
    host.end(Verdict::Succeeded);
    let run = host.newest().clone();
    host.feed(Event::OwedTaken {
        run: run.id.clone(),
        owed: run.owed[0].clone(),
    })
    .unwrap();
    let outcome = cronwright_core::outcome::CallbackState::Done;
    host.feed(Event::CallbackSettled {
        run: run.id.clone(),
        word: 1,
        outcome,
        why: None,
    })
    .unwrap();
    assert!(!host.job.is_idle(), "D1 lacks its end");
    host.job.note_projected(&run);
    assert!(!host.job.is_idle(), "D1 has an older form of it");
    host.projected(1);
    assert!(host.job.is_idle());
}

#[test]
fn what_d1_lacks_is_known_after_a_restart() {
    let mut host = Host::new(by_hand());
    for key in ["a", "b", "c", "d", "e"] {
        host.run_now(key, None).unwrap();
        host.end(Verdict::Succeeded);
    }
    host.run_now("open", None).unwrap();
    assert_eq!(host.job.unprojected(100), [1, 2, 3, 4, 5]);
    assert_eq!(host.job.unprojected(2), [1, 2]);
    for seq in [2, 1, 4] {
        host.projected(seq);
    }
    assert_eq!(host.job.unprojected(100), [3, 5]);
    host.end(Verdict::Succeeded);
    // The word about 4 came before that about 3: it is forgotten, and 4 is written again.
    let job = host.restored();
    assert_eq!(job.unprojected(100), [3, 4, 5, 6]);
    assert_eq!(host.head.projected, 2);
}

#[test]
fn an_earlier_form_in_d1_is_not_taken_for_the_last_one() {
    // While a slow write is under way, the run is settled and forgotten.
    let mut host = Host::new(with_callback("https://cb.example/", by_hand()));
    host.run_now("k", None).unwrap();
    host.end(Verdict::Succeeded);
    let early = host.newest().clone();
    for n in 0..4 {
        host.run_now(&format!("k{n}"), None).unwrap();
        host.end(Verdict::Succeeded);
    }
    for seq in 1..=5 {
        let run = host.runs[&seq].id.clone();
        let outcome = cronwright_core::outcome::CallbackState::Done;
        host.feed(Event::CallbackSettled {
            run,
            word: 1,
            outcome,
            why: None,
        })
        .unwrap();
    }
    assert!(host.job.run(&early.id).is_none());
    host.job.note_projected(&early);
    assert!(host.job.unprojected(100).contains(&1));
    host.projected(1);
    assert!(!host.job.unprojected(100).contains(&1));
}

#[test]
fn evidence_that_comes_after_all_was_written_is_written_too() {
    let mut host = Host::new(Definition {
        overlap: Overlap::Queue,
        ..by_hand()
    });
    for n in 0..70 {
        host.run_now(&format!("k{n}"), None).unwrap();
        host.end(Verdict::Succeeded);
        host.projected(n + 1);
    }
    assert!(host.job.is_idle());
    let late = |host: &mut Host, seq: u64| {
        let run = host.runs[&seq].id.clone();
        host.feed(Event::LateReport {
            run,
            fence: 9,
            what: "Failed".to_owned(),
        })
        .unwrap()
    };
    assert_eq!(
        late(&mut host, 3),
        [cronwright_core::job::Effect::ProjectRun { seq: 3 }]
    );
    assert_eq!(host.restored().unprojected(100), [3]);
    host.projected(3);
    assert!(host.job.is_idle());
    // Very many of them make no endless list.
    for seq in 2..=70 {
        late(&mut host, seq);
    }
    assert!(host.head.changed.len() <= 64);
    let lacking = host.restored().unprojected(100);
    assert!(
        (2..=70)
            .filter(|seq| *seq != 3)
            .all(|seq| lacking.contains(&seq)),
        "{lacking:?}"
    );
}

#[test]
fn memory_holds_what_is_open_and_a_few_of_the_newest() {
    let mut host = Host::new(Definition {
        overlap: Overlap::Queue,
        queue_limit: 2,
        ..by_hand()
    });
    for n in 0..50 {
        host.run_now(&format!("k{n}"), None).unwrap();
        host.end(Verdict::Succeeded);
    }
    assert_eq!(host.job.runs().count(), 3);
    assert_eq!(host.head.settled_below, 51);
}
