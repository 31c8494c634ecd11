//! Edit, pause, resume and delete, also at the very moment of a start.

use cronwright_core::job::def::{Definition, Executor, HttpTask, Misfire, ScheduleSpec};
use cronwright_core::job::{Event, Reject, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::RunState;
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis, SECOND};

use super::host::Host;
use super::occurrences::quick;
use super::setup::{
    T0, cron, every, hourly, job_id, minutely, once, target, with_callback, with_misfire,
};

fn calling(url: &str, definition: Definition) -> Definition {
    let Executor::Http(task) = definition.executor.clone();
    let executor = Executor::Http(HttpTask {
        url: url.to_owned(),
        ..task
    });
    Definition {
        executor,
        ..definition
    }
}

#[test]
fn three_edits_before_the_fire_give_one_run_of_the_last_definition() {
    let mut host = Host::new(cron("30 0 0 * * ?", "UTC"));
    for (n, url) in [
        "https://a.example/",
        "https://b.example/",
        "https://c.example/",
    ]
    .into_iter()
    .enumerate()
    {
        host.wait(3 * SECOND);
        let schedule = if n == 1 {
            "0/30 0 0 * * ?"
        } else {
            "30 0 0 * * ?"
        };
        host.replace(calling(url, cron(schedule, "UTC")));
    }
    host.run_until(T0.plus(10 * MINUTE), quick);
    assert_eq!(host.starts(), [30]);
    let (_, dispatch) = host.dispatches().next().unwrap();
    assert_eq!(dispatch.task.url, "https://c.example/");
    assert_eq!(host.newest().revision, 4);
}

#[test]
fn an_edit_that_leaves_the_time_alone_leaves_the_next_instant_alone() {
    let mut host = Host::new(hourly());
    host.replace(Definition {
        timeout_ms: 5_000,
        ..hourly()
    });
    assert_eq!((host.head.revision, host.head.schedule_version), (2, 1));
    host.replace(every(30 * MINUTE));
    assert_eq!((host.head.revision, host.head.schedule_version), (3, 2));
    assert_eq!(host.job.due_at(), Some(T0.plus(30 * MINUTE)));
}

#[test]
fn an_edit_of_an_outdated_copy_is_refused() {
    let mut host = Host::new(hourly());
    host.replace(minutely());
    let stale = Event::Replace {
        definition: Box::new(hourly()),
        enabled: None,
        revision: Some(1),
        by: "bob".to_owned(),
    };
    assert_eq!(host.feed(stale), Err(Reject::Revision { current: 2 }));
    let spec = ScheduleSpec::Every {
        period_ms: 5,
        anchor: T0,
    };
    let bad = Event::Replace {
        definition: Box::new(Definition {
            schedule: spec,
            ..hourly()
        }),
        enabled: None,
        revision: Some(2),
        by: "bob".to_owned(),
    };
    assert!(matches!(host.feed(bad), Err(Reject::Schedule(_))));
}

#[test]
fn an_instant_that_came_before_the_edit_is_not_lost_to_it() {
    // The alarm is 200 ms late, and a PUT comes first.
    let mut host = Host::new(hourly());
    host.now = T0.plus(HOUR + 200);
    host.replace(every(2 * HOUR));
    assert_eq!(host.starts(), [3_600]);
    assert_eq!(host.job.due_at(), Some(T0.plus(2 * HOUR)));

    // So with a pause, and with instants missed long before it.
    let mut host = Host::new(with_misfire(Misfire::Skip, HOUR, 1, hourly()));
    host.now = T0.plus(3 * HOUR + 200);
    host.set_enabled(false);
    assert_eq!(host.states(), [RunState::Skipped, RunState::Dispatched]);
    assert_eq!(host.runs[&1].range.unwrap().count, 2);

    // And with the end of the job: its record says what became of it.
    let mut host = Host::new(hourly());
    host.now = T0.plus(HOUR + 200);
    host.delete();
    host.stopped();
    assert_eq!(host.states(), [RunState::Cancelled]);
}

/// The job waits for several minutes after each of its instants.
fn jittered(name: &str, period: i64) -> Definition {
    Definition {
        jitter_ms: 10 * MINUTE,
        job_id: job_id("job_7"),
        name: name.to_owned(),
        ..every(period)
    }
}

#[test]
fn an_instant_that_waits_for_its_jitter_runs_when_the_schedule_is_changed() {
    let mut host = Host::new(jittered("a", HOUR));
    let due = host.job.due_at().unwrap();
    assert!(
        due > T0.plus(HOUR + MINUTE),
        "a job whose delay is long enough for this test"
    );
    host.now = T0.plus(HOUR + MINUTE);
    // The new schedule does not have that instant: without its run it would be in no book.
    host.replace(jittered("a", 59 * MINUTE));
    assert_eq!(host.newest().planned_at(), T0.plus(HOUR));
    assert_eq!(host.states(), [RunState::Dispatched]);
}

#[test]
fn an_instant_that_waits_for_its_jitter_stays_when_something_else_is_changed() {
    let mut host = Host::new(jittered("a", HOUR));
    let due = host.job.due_at().unwrap();
    host.now = T0.plus(HOUR + MINUTE);
    host.replace(jittered("b", HOUR));
    assert_eq!(host.job.due_at(), Some(due));
    host.run_until(due, quick);
    assert_eq!(host.newest().planned_at(), T0.plus(HOUR));
    assert_eq!(host.runs.len(), 1);
}

#[test]
fn an_edit_that_also_pauses_starts_nothing_and_says_so() {
    let mut host = Host::new(jittered("a", HOUR));
    host.now = T0.plus(HOUR + MINUTE);
    let (definition, by) = (Box::new(jittered("a", 59 * MINUTE)), "ann".to_owned());
    let edit = Event::Replace {
        definition,
        enabled: Some(false),
        revision: None,
        by,
    };
    host.feed(edit).unwrap();
    assert_eq!(host.states(), [RunState::Skipped]);
}

#[test]
fn an_edit_catches_up_on_every_instant_that_waits_and_on_none_twice() {
    let catching = |most, period| with_misfire(Misfire::CatchUp, HOUR, most, jittered("a", period));
    let seconds = |at: Millis| at.since(T0) / SECOND;
    // Instants of the new schedule that are not those of the old one, or all of them and more.
    for (period, next) in [(59 * SECOND, 236), (30 * SECOND, 210)] {
        for most in [10, 2] {
            let mut host = Host::new(catching(most, MINUTE));
            assert!(host.job.due_at().unwrap() > T0.plus(4 * MINUTE));
            host.now = T0.plus(3 * MINUTE + SECOND);
            host.replace(catching(most, period));
            let planned = |host: &Host| -> Vec<i64> {
                let runs = host.runs.values();
                runs.map(|run| seconds(run.planned_at())).collect()
            };
            assert_eq!(planned(&host), [60, 120, 180], "in the books, in that turn");
            host.run_until(host.job.due_at().unwrap(), quick);
            assert_eq!(planned(&host), [60, 120, 180, next]);
            let started: Vec<i64> = host
                .dispatches()
                .map(|(_, dispatch)| seconds(dispatch.planned_at))
                .collect();
            let skipped = if most == 2 { 1 } else { 0 };
            assert_eq!(started, planned(&host)[skipped..]);
            assert!(host.runs.values().all(|run| run.range.is_none()));
        }
    }
}

#[test]
fn what_waits_for_its_jitter_when_the_job_is_switched_off_is_in_the_books() {
    let definition = || Definition {
        jitter_ms: 10 * MINUTE,
        job_id: job_id("job_7"),
        ..minutely()
    };
    let asleep = |host: &mut Host| {
        assert!(host.job.due_at().unwrap() > T0.plus(4 * MINUTE));
        host.now = T0.plus(3 * MINUTE + SECOND);
    };
    for delete in [false, true] {
        let mut host = Host::new(definition());
        asleep(&mut host);
        if delete {
            host.delete();
        } else {
            host.set_enabled(false);
        }
        let range = host.newest().range.unwrap();
        assert_eq!(
            (range.count, range.first, range.last),
            (3, T0.plus(MINUTE), T0.plus(3 * MINUTE))
        );
        assert!(host.newest().ledger[0].why.ends_with("before it started"));
        assert!(host.raised().is_empty(), "it was asked for");
    }
}

#[test]
fn a_job_paused_for_thirty_days_goes_on_at_its_next_time() {
    let mut host = Host::new(minutely());
    host.run_until(T0.plus(2 * MINUTE + SECOND), quick);
    host.set_enabled(false);
    assert_eq!(host.job.next_wakeup(), None);
    host.now = T0.plus(30 * DAY + 10 * SECOND);
    host.feed(Event::Wake).unwrap();
    host.set_enabled(true);
    host.run_until(T0.plus(30 * DAY + MINUTE), quick);
    assert_eq!(host.starts(), [60, 120, 30 * 86_400 + 60]);
    assert_eq!(host.runs.len(), 3, "paused time is not made up for");
}

#[test]
fn pausing_and_resuming_twice_is_the_same_as_once() {
    let mut host = Host::new(hourly());
    host.set_enabled(true);
    let due = host.job.due_at();
    host.set_enabled(false);
    host.set_enabled(false);
    host.set_enabled(true);
    assert_eq!(host.job.due_at(), due);
}

#[test]
fn an_edit_can_pause_and_resume_along_with_it() {
    let mut host = Host::new(hourly());
    let edit = |enabled| Event::Replace {
        definition: Box::new(minutely()),
        enabled: Some(enabled),
        revision: None,
        by: "ann".to_owned(),
    };
    host.feed(edit(false)).unwrap();
    assert_eq!(host.job.next_wakeup(), None);
    host.feed(edit(true)).unwrap();
    assert_eq!(host.job.due_at(), Some(T0.plus(MINUTE)));
}

#[test]
fn a_past_at_that_is_moved_on_fires_at_its_new_time() {
    let mut host = Host::new(once(T0.plus(MINUTE)));
    host.run_until(T0.plus(HOUR), quick);
    host.replace(once(T0.plus(2 * HOUR)));
    host.run_until(T0.plus(DAY), quick);
    assert_eq!(host.starts(), [60, 7_200]);
}

#[test]
fn a_run_under_way_is_not_touched_by_an_edit_and_its_retry_takes_the_new_one() {
    let first = super::setup::with_retries(1, calling("https://a.example/", hourly()));
    let mut host = Host::new(first.clone());
    host.wake_at(T0.plus(HOUR));
    host.replace(calling("https://b.example/", first));
    assert!(host.aborts.is_empty());
    host.end(Verdict::Failed);
    host.run_until(T0.plus(HOUR + 5 * MINUTE), quick);
    let urls: Vec<&str> = host
        .dispatches()
        .map(|(_, dispatch)| dispatch.task.url.as_str())
        .collect();
    assert_eq!(urls, ["https://a.example/", "https://b.example/"]);
    assert_eq!(host.newest().revision, 2);
}

#[test]
fn a_deleted_job_takes_nothing_more_and_is_gone_when_all_is_told() {
    let mut host = Host::new(with_callback("https://cb.example/", hourly()));
    host.feed(Event::Link {
        dependent: job_id("job_b"),
        on: true,
    })
    .unwrap();
    host.wake_at(T0.plus(HOUR));
    host.delete();
    assert_eq!(host.aborts.len(), 1);
    for refused in [
        Event::Delete { by: "x".to_owned() },
        Event::SetEnabled { enabled: true },
    ] {
        assert_eq!(host.feed(refused), Err(Reject::Deleted));
    }
    assert_eq!(host.run_now("k", None), Err(Reject::Deleted));
    host.stopped();
    let run = host.newest().clone();
    assert_eq!(run.state, RunState::Cancelled);
    assert!(!host.job.is_gone());
    for owed in run.owed.clone() {
        host.feed(Event::OwedTaken {
            run: run.id.clone(),
            owed,
        })
        .unwrap();
    }
    host.projected(run.seq);
    assert!(!host.job.is_gone(), "its callback is on its way");
    let outcome = cronwright_core::outcome::CallbackState::Done;
    host.feed(Event::CallbackSettled {
        run: run.id.clone(),
        word: 1,
        outcome,
        why: None,
    })
    .unwrap();
    assert!(!host.job.is_gone(), "D1 lacks the end");
    host.projected(run.seq);
    assert!(host.job.is_gone());
    assert_eq!(
        target("https://cb.example/"),
        host.definition.callback.clone().unwrap()
    );
}

#[test]
fn a_deleted_job_gives_up_on_a_lost_attempt_and_on_retries() {
    let mut host = Host::new(super::setup::with_retries(5, hourly()));
    host.wake_at(T0.plus(HOUR));
    host.delete();
    host.lose();
    assert_eq!(host.states(), [RunState::Cancelled]);
    let mut host = Host::new(super::setup::with_retries(5, hourly()));
    host.wake_at(T0.plus(HOUR));
    host.end(Verdict::Failed);
    host.delete();
    assert_eq!(host.states(), [RunState::Cancelled]);
    assert_eq!(host.job.next_wakeup(), None);
}

#[test]
fn deleting_stops_the_queue_without_starting_any_of_it() {
    let definition = Definition {
        queue_limit: 5,
        ..super::setup::with_overlap(cronwright_core::job::def::Overlap::Queue, hourly())
    };
    // The first is out, or waits for its retry and ends at once.
    for out in [true, false] {
        let mut host = Host::new(super::setup::with_retries(2, definition.clone()));
        for key in ["a", "b", "c"] {
            host.run_now(key, None).unwrap();
        }
        if !out {
            host.end(Verdict::Failed);
        }
        host.delete();
        if out {
            host.stopped();
        }
        assert_eq!(host.states(), [RunState::Cancelled; 3]);
        assert_eq!((host.starts().len(), host.aborts.len()), (1, 0));
    }
}
