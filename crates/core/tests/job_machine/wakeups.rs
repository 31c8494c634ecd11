//! When the job has to be stepped, and what D1 lacks of it.

use cronwright_core::job::def::{Definition, Overlap};
use cronwright_core::job::{Event, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::CallbackState;
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
    let outcome = CallbackState::Done;
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

/// Five runs that ended; the first two have left memory.
fn five_ended() -> Host {
    let mut host = Host::new(by_hand());
    for key in ["a", "b", "c", "d", "e"] {
        host.run_now(key, None).unwrap();
        host.end(Verdict::Succeeded);
    }
    host
}

/// An attempt that no longer counts says how it ended.
fn late_report(host: &Host, seq: u64, fence: u64) -> Event {
    Event::LateReport {
        run: host.runs[&seq].id.clone(),
        fence,
        what: "Failed".to_owned(),
    }
}

#[test]
fn what_d1_lacks_is_known_after_a_restart() {
    let mut host = five_ended();
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
        let outcome = CallbackState::Done;
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
fn what_d1_says_about_a_form_that_is_no_longer_the_last_one_does_not_count() {
    // D1 has all of it, or nothing yet.
    for all in [true, false] {
        let mut host = five_ended();
        if all {
            (1..=5).for_each(|seq| host.projected(seq));
            host.feed(late_report(&host, 1, 8)).unwrap();
        }
        let under_way = host.runs[&1].clone();
        assert!(under_way.is_settled());
        host.feed(late_report(&host, 1, 9)).unwrap();
        assert!(host.job.run(&under_way.id).is_none(), "it has left memory");
        host.job.note_projected(&under_way);
        assert!(host.job.unprojected(100).contains(&1), "{all}");
        host.projected(1);
        assert!(!host.job.unprojected(100).contains(&1), "{all}");
    }
}

#[test]
fn events_about_a_forgotten_run_that_are_stored_together_see_each_other() {
    let mut host = five_ended();
    let before = host.runs[&1].clone();
    assert!(host.job.run(&before.id).is_none());
    host.feed_together(vec![late_report(&host, 1, 8), late_report(&host, 1, 9)]);
    let after = host.runs[&1].clone();
    assert_eq!(after.rev, before.rev + 2);
    let added: Vec<&str> = after.ledger[before.ledger.len()..]
        .iter()
        .map(|row| row.why.as_str())
        .collect();
    assert_eq!(
        added,
        [
            "late report with fence 8 refused: Failed",
            "late report with fence 9 refused: Failed"
        ]
    );
    assert!(
        host.job.run(&after.id).is_none(),
        "once it is stored, it may go"
    );
}

#[test]
fn a_run_that_is_settled_in_a_flush_is_not_forgotten_before_the_flush_is_stored() {
    let mut host = Host::new(with_callback("https://cb.example/", by_hand()));
    for key in ["a", "b", "c", "d", "e"] {
        host.run_now(key, None).unwrap();
        host.end(Verdict::Succeeded);
    }
    let run = host.runs[&1].id.clone();
    let word = |word, outcome| Event::CallbackSettled {
        run: run.clone(),
        word,
        outcome,
        why: None,
    };
    // Given up, and delivered again by hand in the same moment.
    let again = vec![
        word(1, CallbackState::Failed),
        word(2, CallbackState::Pending),
    ];
    host.feed_together(again);
    assert_eq!(host.runs[&1].callback, CallbackState::Pending);
    assert_eq!(host.head.settled_below, 1);
    host.feed(word(3, CallbackState::Done)).unwrap();
    let rows = host.runs[&1].ledger.iter().rev().take(3);
    let why: Vec<&str> = rows.map(|row| row.why.as_str()).collect();
    assert_eq!(
        why,
        [
            "callback delivered",
            "callback is being delivered again",
            "callback given up: no attempt succeeded"
        ]
    );
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
    let late = |host: &mut Host, seq: u64| host.feed(late_report(host, seq, 9)).unwrap();
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
