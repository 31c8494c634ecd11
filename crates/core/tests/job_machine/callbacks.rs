//! The result of a run is owed to its endpoint until the endpoint has it.

use cronwright_core::job::run::Owed;
use cronwright_core::job::{Effect, Event, Verdict};
use cronwright_core::machine::Machine;
use cronwright_core::outcome::{CallbackState, RunState};
use cronwright_core::time::HOUR;

use super::host::Host;
use super::setup::{T0, by_hand, hourly, target, with_callback, with_misfire};

const URL: &str = "https://cb.example/";

fn ended() -> Host {
    let mut host = Host::new(with_callback(URL, by_hand()));
    host.run_now("k", None).unwrap();
    host.end(Verdict::Succeeded);
    host
}

fn settle(host: &mut Host, word: u32, outcome: CallbackState) -> Vec<Effect> {
    let run = host.newest().id.clone();
    let why = (outcome == CallbackState::Failed).then(|| "http_500".to_owned());
    host.feed(Event::CallbackSettled {
        run,
        word,
        outcome,
        why,
    })
    .unwrap()
}

fn taken(host: &mut Host) {
    let run = host.newest().id.clone();
    host.feed(Event::OwedTaken {
        run,
        owed: Owed::Callback {
            target: target(URL),
        },
    })
    .unwrap();
}

fn delivering(host: &Host) -> Vec<(String, String)> {
    let urls = host
        .restored()
        .outstanding()
        .into_iter()
        .map(|keyed| match keyed.effect {
            Effect::Deliver { target, run } => {
                (keyed.key, format!("{} {}", target.url, run.state.as_str()))
            }
            other => panic!("{other:?}"),
        });
    urls.collect()
}

#[test]
fn a_callback_is_owed_until_it_is_taken_and_open_until_it_is_settled() {
    let mut host = ended();
    let key = format!("{}/callback", host.newest().id);
    assert_eq!(delivering(&host), [(key, format!("{URL} SUCCESS"))]);
    assert_eq!(host.newest().callback, CallbackState::Pending);
    taken(&mut host);
    taken(&mut host);
    assert!(delivering(&host).is_empty());
    assert!(!host.newest().is_settled());
    settle(&mut host, 1, CallbackState::Done);
    assert!(host.newest().is_settled());
}

#[test]
fn where_it_goes_is_fixed_when_the_run_ends() {
    let mut host = Host::new(with_callback("https://old.example/", by_hand()));
    host.run_now("k", None).unwrap();
    host.replace(with_callback(URL, by_hand()));
    host.end(Verdict::Failed);
    host.replace(with_callback("https://new.example/", by_hand()));
    assert_eq!(delivering(&host)[0].1, format!("{URL} FAILED"));
    host.replace(by_hand());
    assert_eq!(delivering(&host)[0].1, format!("{URL} FAILED"));
}

#[test]
fn every_end_is_told_and_what_never_started_is_not() {
    let mut host = Host::new(with_callback(URL, hourly()));
    host.wake_at(T0.plus(HOUR));
    host.run_now("waits", Some(cronwright_core::job::def::Overlap::Queue))
        .unwrap();
    let waiting = host.newest().id.clone();
    host.cancel(&waiting).unwrap();
    assert_eq!(host.newest().callback, CallbackState::Pending);
    let skip = cronwright_core::job::def::Misfire::Skip;
    let mut host = Host::new(with_callback(URL, with_misfire(skip, HOUR, 1, hourly())));
    host.wake_at(T0.plus(2 * HOUR - 1));
    assert_eq!(
        (host.newest().state, host.newest().callback),
        (RunState::Skipped, CallbackState::None)
    );
}

#[test]
fn words_of_the_endpoint_count_in_their_order() {
    let mut host = ended();
    settle(&mut host, 1, CallbackState::Failed);
    assert_eq!(
        host.raised(),
        [("callback_failed", "callback given up: http_500".to_owned())]
    );
    assert!(
        settle(&mut host, 1, CallbackState::Failed).is_empty(),
        "it repeats itself until it is heard"
    );
    settle(&mut host, 3, CallbackState::Done);
    assert!(
        settle(&mut host, 2, CallbackState::Pending).is_empty(),
        "old news"
    );
    assert_eq!(
        (host.newest().callback, host.newest().callback_word),
        (CallbackState::Done, 3)
    );
    assert_eq!(host.raised().len(), 1);
    assert_eq!(
        host.newest().state,
        RunState::Success,
        "the run is what it was"
    );
}

#[test]
fn a_word_that_overtakes_the_receipt_settles_what_was_owed() {
    let mut host = ended();
    settle(&mut host, 1, CallbackState::Done);
    assert!(delivering(&host).is_empty());
    taken(&mut host);
    assert!(host.newest().is_settled());
}

#[test]
fn a_replayed_callback_is_pending_again_and_runs_nothing() {
    let mut host = ended();
    taken(&mut host);
    settle(&mut host, 1, CallbackState::Failed);
    let id = host.newest().id.clone();
    for key in ["a", "b", "c", "d"] {
        host.run_now(key, None).unwrap();
        host.end(Verdict::Succeeded);
        taken(&mut host);
        settle(&mut host, 1, CallbackState::Done);
    }
    assert!(host.job.run(&id).is_none(), "long settled");
    (1..=5).for_each(|seq| host.projected(seq));
    assert!(host.job.is_idle());
    let starts = host.starts().len();
    let again = |word, outcome| Event::CallbackSettled {
        run: id.clone(),
        word,
        outcome,
        why: None,
    };
    host.feed(again(2, CallbackState::Pending)).unwrap();
    assert_eq!(host.head.settled_below, 1, "a restart reads it again");
    assert_eq!(
        host.restored().run(&id).unwrap().callback,
        CallbackState::Pending
    );
    assert_eq!(host.restored().unprojected(100), [1], "D1 has another word");
    host.projected(1);
    host.feed(again(3, CallbackState::Done)).unwrap();
    assert_eq!(host.head.settled_below, 6);
    assert_eq!(host.restored().unprojected(100), [1]);
    host.projected(1);
    assert!(host.job.is_idle());
    assert_eq!(host.starts().len(), starts);
}

#[test]
fn a_run_without_a_callback_hears_no_word_about_one() {
    let mut host = Host::new(by_hand());
    host.run_now("k", None).unwrap();
    assert!(settle(&mut host, 1, CallbackState::Done).is_empty());
    host.end(Verdict::Succeeded);
    assert!(settle(&mut host, 1, CallbackState::Done).is_empty());
    assert_eq!(host.newest().callback, CallbackState::None);
}
