//! An endpoint hears of the runs of a job one at a time, in the order of their ends.

use cronwright_core::job::def::{CallbackPreset, CallbackTarget, Definition, Overlap};
use cronwright_core::job::run::Owed;
use cronwright_core::job::{Effect, Event, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::{CallbackState, RunState};
use cronwright_core::time::SECOND;

use super::host::Host;
use super::setup::{by_hand, job_id, target, with_callback, with_overlap, with_retries};

const URL: &str = "https://cb.example/";
const OTHER: &str = "https://other.example/";
const NONE: [u64; 0] = [];

fn telling(overlap: Overlap) -> Definition {
    Definition {
        queue_limit: 5,
        ..with_overlap(overlap, with_callback(URL, by_hand()))
    }
}

/// Asks for so many runs: the first is run 1.
fn host(overlap: Overlap, runs: usize) -> Host {
    let mut host = Host::new(telling(overlap));
    for key in ["a", "b", "c"].into_iter().take(runs) {
        host.run_now(key, None).unwrap();
        host.wait(SECOND);
    }
    host
}

/// Of which runs these effects tell an endpoint: the one that the run owes its result.
fn told<'a>(effects: impl IntoIterator<Item = &'a Effect>) -> Vec<u64> {
    let run = |effect: &Effect| match effect {
        Effect::Deliver { run, target } => {
            let target = target.clone();
            assert!(
                run.owed.contains(&Owed::Callback { target }),
                "its receipt would name another: {run:?}"
            );
            Some(run.seq)
        }
        _ => None,
    };
    effects.into_iter().filter_map(run).collect()
}

/// Of which runs a host would tell that starts again.
fn told_again(host: &Host) -> Vec<u64> {
    let outstanding = host.restored().outstanding();
    told(outstanding.iter().map(|keyed| &keyed.effect))
}

/// Ends the attempt of a run, and says of which runs an endpoint is told thereupon.
fn end(host: &mut Host, seq: u64) -> Vec<u64> {
    host.wait(SECOND);
    let run = &host.runs[&seq];
    let (id, fence) = (run.id.clone(), run.fence);
    host.out.retain(|dispatch| dispatch.fence != fence);
    told(&host.report(&id, fence, Verdict::Succeeded, 40).unwrap())
}

fn owed_to(host: &Host, seq: u64) -> Option<CallbackTarget> {
    let mut targets = host.runs[&seq].owed.iter().filter_map(|owed| match owed {
        Owed::Callback { target } => Some(target.clone()),
        Owed::Dependent { .. } => None,
    });
    targets.next_back()
}

/// The endpoint has taken a result.
fn taken(host: &mut Host, seq: u64) -> Vec<u64> {
    let target = owed_to(host, seq).unwrap_or_else(|| target(URL));
    let run = host.runs[&seq].id.clone();
    let owed = Owed::Callback { target };
    told(&host.feed(Event::OwedTaken { run, owed }).unwrap())
}

/// The endpoint says how it ended.
fn settled(host: &mut Host, seq: u64, outcome: CallbackState) -> Vec<u64> {
    let settled = Event::CallbackSettled {
        run: host.runs[&seq].id.clone(),
        word: 1,
        outcome,
        why: None,
    };
    told(&host.feed(settled).unwrap())
}

#[test]
fn the_result_of_a_queued_run_waits_until_the_one_before_it_is_taken() {
    let mut host = host(Overlap::Queue, 3);
    assert_eq!(end(&mut host, 1), [1]);
    assert_eq!(end(&mut host, 2), NONE);
    assert_eq!(end(&mut host, 3), NONE);
    // Taken, not delivered: from here on the endpoint keeps the order.
    assert_eq!(taken(&mut host, 1), [2]);
    assert_eq!(host.runs[&1].callback, CallbackState::Pending);
    assert_eq!(taken(&mut host, 1), NONE, "the receipt comes again");
    assert_eq!(taken(&mut host, 2), [3]);
    assert_eq!(taken(&mut host, 3), NONE);
    assert_eq!(told(host.log.iter().map(|(_, it)| &it.effect)), [1, 2, 3]);
}

#[test]
fn among_runs_that_overlap_the_order_is_that_of_their_ends() {
    let mut host = host(Overlap::Allow, 3);
    assert_eq!(end(&mut host, 3), [3]);
    assert_eq!(end(&mut host, 2), NONE);
    assert_eq!(end(&mut host, 1), NONE);
    assert_eq!(taken(&mut host, 3), [2], "started later, ended earlier");
    assert_eq!(taken(&mut host, 2), [1]);
}

#[test]
fn a_result_whose_receipt_was_lost_holds_nothing_up_once_it_is_settled() {
    for outcome in [CallbackState::Done, CallbackState::Failed] {
        let mut host = host(Overlap::Allow, 2);
        assert_eq!(end(&mut host, 1), [1]);
        assert_eq!(end(&mut host, 2), NONE);
        assert_eq!(settled(&mut host, 1, outcome), [2], "{outcome:?}");
        assert_eq!(settled(&mut host, 1, outcome), NONE, "it repeats itself");
        assert_eq!(taken(&mut host, 1), NONE, "the receipt comes after all");
        assert_eq!(told_again(&host), [2]);
    }
}

#[test]
fn word_about_a_result_that_was_taken_long_ago_brings_nothing_out_again() {
    let mut host = host(Overlap::Allow, 3);
    assert_eq!(end(&mut host, 1), [1]);
    assert_eq!(taken(&mut host, 1), NONE);
    assert_eq!(end(&mut host, 2), [2]);
    assert_eq!(end(&mut host, 3), NONE);
    assert_eq!(settled(&mut host, 1, CallbackState::Done), NONE);
}

#[test]
fn after_a_restart_the_oldest_result_that_is_owed_goes_out_alone() {
    let mut host = host(Overlap::Allow, 3);
    for seq in [2, 1, 3] {
        end(&mut host, seq);
    }
    assert_eq!(told_again(&host), [2]);
    taken(&mut host, 2);
    assert_eq!(told_again(&host), [1]);
    // The one who waits is not forgotten by a host that starts again in between.
    host.job = host.restored();
    assert_eq!(taken(&mut host, 1), [3]);
    assert_eq!(told_again(&host), [3]);
}

#[test]
fn of_many_runs_that_end_in_one_turn_one_result_goes_out() {
    // One run is out, and another takes the place of it and of two that wait.
    let mut host = host(Overlap::Queue, 3);
    let effects = host.run_now("d", Some(Overlap::Replace)).unwrap();
    let ended = [RunState::Cancelled, RunState::Cancelled];
    assert_eq!(host.states()[1..3], ended, "both in that turn");
    assert_eq!(told(&effects), [2]);
    host.wait(SECOND);
    host.stopped();
    assert_eq!(told_again(&host), [2], "run 1 ended after them");
    assert_eq!(taken(&mut host, 2), [3]);
    assert_eq!(taken(&mut host, 3), [1]);

    // So with the end of a job of which nothing is out.
    let mut host = Host::new(with_retries(2, telling(Overlap::Queue)));
    for key in ["a", "b", "c"] {
        host.run_now(key, None).unwrap();
    }
    host.end(Verdict::Failed);
    let by = "ann".to_owned();
    let effects = host.feed(Event::Delete { by }).unwrap();
    assert_eq!(host.states(), [RunState::Cancelled; 3]);
    assert_eq!(told(&effects), [1]);
}

#[test]
fn endpoints_do_not_wait_for_each_other() {
    let mut host = host(Overlap::Allow, 3);
    assert_eq!(end(&mut host, 1), [1]);
    host.replace(with_callback(OTHER, telling(Overlap::Allow)));
    assert_eq!(end(&mut host, 2), [2], "another endpoint");
    assert_eq!(told_again(&host), [1, 2]);
    assert_eq!(end(&mut host, 3), NONE, "the same as run 2");
    assert_eq!(taken(&mut host, 1), NONE);
    assert_eq!(taken(&mut host, 2), [3]);
}

#[test]
fn an_app_of_its_own_makes_an_endpoint_and_another_patience_does_not() {
    let to = |target| Definition {
        callback: Some(target),
        ..telling(Overlap::Allow)
    };
    let mut host = host(Overlap::Allow, 3);
    assert_eq!(end(&mut host, 1), [1]);
    let patient = CallbackTarget {
        preset: CallbackPreset::Durable,
        ..target(URL)
    };
    host.replace(to(patient));
    assert_eq!(end(&mut host, 2), NONE);
    let foreign = CallbackTarget {
        app: "app_crm".parse().unwrap(),
        ..target(URL)
    };
    host.replace(to(foreign));
    assert_eq!(end(&mut host, 3), [3]);
    assert_eq!(taken(&mut host, 1), [2]);
}

#[test]
fn each_result_goes_out_as_its_own_run_owes_it() {
    let to = |preset| Definition {
        callback: Some(CallbackTarget {
            preset,
            ..target(URL)
        }),
        ..telling(Overlap::Allow)
    };
    let presets = |host: &Host| -> Vec<CallbackPreset> {
        let told = host
            .log
            .iter()
            .filter_map(|(_, keyed)| match &keyed.effect {
                Effect::Deliver { target, .. } => Some(target.preset),
                _ => None,
            });
        told.collect()
    };
    // The endpoint is the same, and is asked to be more patient with the second result.
    let (one, other) = (CallbackPreset::Standard, CallbackPreset::Durable);
    let mut host = host(Overlap::Allow, 3);
    host.replace(to(one));
    end(&mut host, 2);
    host.replace(to(other));
    end(&mut host, 3);
    host.replace(to(one));
    end(&mut host, 1);
    assert_eq!(told_again(&host), [2]);
    assert_eq!(taken(&mut host, 2), [3]);
    assert_eq!(told_again(&host), [3]);
    assert_eq!(taken(&mut host, 3), [1]);
    assert_eq!(presets(&host), [one, other, one]);
}

#[test]
fn jobs_that_follow_hear_of_every_end_at_once() {
    let mut host = host(Overlap::Queue, 2);
    let dependent = job_id("job_x");
    host.feed(Event::Link {
        dependent,
        on: true,
    })
    .unwrap();
    for seq in [1, 2] {
        end(&mut host, seq);
    }
    let heard = host
        .log
        .iter()
        .filter_map(|(_, keyed)| match &keyed.effect {
            Effect::TellDependent { run, .. } => Some(run),
            _ => None,
        });
    let ids: Vec<_> = host.runs.values().map(|run| &run.id).collect();
    assert_eq!(heard.collect::<Vec<_>>(), ids);
}
