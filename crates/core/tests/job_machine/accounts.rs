//! Every instant that came while the schedule was on is in the books, once (I4).

use std::collections::BTreeSet;

use cronwright_core::ids::RunTag;
use cronwright_core::job::Verdict;
use cronwright_core::job::def::{Definition, Misfire, Overlap};
use cronwright_core::machine::Machine;
use cronwright_core::schedule::Schedule;
use cronwright_core::time::{MINUTE, Millis, SECOND};
use proptest::prelude::*;

use super::host::Host;
use super::properties::config;
use super::setup::{T0, cron, every, with_misfire, with_overlap};

/// A span of time in which a schedule was on: `(from, to]`.
struct On {
    schedule: Schedule,
    version: u32,
    from: Millis,
    to: Millis,
}

/// Looks at every record: what it covers lies in the schedule, once; and nothing else is missing.
fn audit(host: &Host, spans: &[On]) {
    let mut wanted: BTreeSet<(u32, Millis)> = BTreeSet::new();
    for span in spans {
        let mut at = span.from;
        while let Some(next) = span.schedule.next(at).filter(|next| *next <= span.to) {
            wanted.insert((span.version, next));
            at = next;
        }
    }
    for run in host.runs.values() {
        let RunTag::Occurrence(version) = run.id.tag else {
            continue;
        };
        let (first, count) = run
            .range
            .map_or((run.id.at, 1), |range| (range.first, range.count));
        let covered: Vec<_> = wanted
            .range((version, first)..=(version, run.id.at))
            .copied()
            .collect();
        assert_eq!(
            u64::try_from(covered.len()),
            Ok(count),
            "twice in the books, or not planned: {run:?}"
        );
        for instant in covered {
            wanted.remove(&instant);
        }
    }
    assert!(wanted.is_empty(), "in no book: {wanted:?}");
}

#[derive(Clone, Debug)]
enum Deed {
    Sleep(i64),
    End,
    Fail,
    Lose,
    Pause,
    Resume,
    Edit(usize),
    RunNow,
    Restart,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let sleep = prop_oneof![6 => 0_i64..5_000, 4 => 5_000_i64..200_000, 1 => 200_000_i64..8_000_000, 2 => (1_i64..200).prop_map(|n| n * SECOND)];
    let deed = prop_oneof![
        12 => sleep.prop_map(Deed::Sleep),
        5 => Just(Deed::End),
        2 => Just(Deed::Fail),
        1 => Just(Deed::Lose),
        1 => Just(Deed::Pause),
        2 => Just(Deed::Resume),
        2 => (0_usize..4).prop_map(Deed::Edit),
        1 => Just(Deed::RunNow),
        1 => Just(Deed::Restart),
    ];
    proptest::collection::vec(deed, 1..60)
}

pub fn policies() -> impl Strategy<Value = (Overlap, Misfire, i64, u32)> {
    let overlap = prop_oneof![
        Just(Overlap::Skip),
        Just(Overlap::Queue),
        Just(Overlap::Replace),
        Just(Overlap::Allow)
    ];
    let misfire = prop_oneof![
        Just(Misfire::FireOnce),
        Just(Misfire::Skip),
        Just(Misfire::CatchUp)
    ];
    (
        overlap,
        misfire,
        prop_oneof![Just(0), Just(90 * SECOND), Just(60 * MINUTE)],
        1_u32..30,
    )
}

fn schedules() -> [Definition; 4] {
    [
        every(MINUTE),
        every(7 * SECOND),
        cron("0 0/2 * * * ?", "Europe/Berlin"),
        cron("13,14 * 0-2 * * ?", "UTC"),
    ]
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn every_instant_is_in_exactly_one_record(deeds in deeds(), (overlap, misfire, window, most) in policies(), first in 0_usize..4) {
        let [a, b, c, d] = schedules().map(|definition| with_overlap(overlap, with_misfire(misfire, window, most, definition)));
        let choices = [a, b, c, d];
        let mut host = Host::new(choices[first].clone());
        let mut spans: Vec<On> = Vec::new();
        let mut on = Some(T0);
        let close = |host: &Host, on: &mut Option<Millis>, spans: &mut Vec<On>, schedule: Schedule, version: u32| {
            if let Some(from) = on.take() {
                spans.push(On { schedule, version, from, to: host.now });
            }
        };
        for deed in deeds {
            let (schedule, version) = (host.definition.schedule.compile().unwrap(), host.head.schedule_version);
            match deed {
                Deed::Sleep(ms) => {
                    host.wait(ms);
                    // One time in three the alarm does not come.
                    if ms % 3 != 0 {
                        host.wake_at(host.now);
                    }
                }
                Deed::End | Deed::Fail if !host.out.is_empty() => {
                    let dispatch = host.out.remove(0);
                    let verdict = if matches!(deed, Deed::End) { Verdict::Succeeded } else { Verdict::Failed };
                    drop(host.report(&dispatch.run, dispatch.fence, verdict, 10));
                }
                Deed::Lose if !host.out.is_empty() => {
                    let dispatch = host.out.remove(0);
                    drop(host.feed(cronwright_core::job::Event::AttemptLost { run: dispatch.run, fence: dispatch.fence, why: "gone".to_owned() }));
                }
                Deed::End | Deed::Fail | Deed::Lose => {}
                Deed::Pause => {
                    host.set_enabled(false);
                    close(&host, &mut on, &mut spans, schedule, version);
                }
                Deed::Resume => {
                    host.set_enabled(true);
                    on.get_or_insert(host.now);
                }
                Deed::Edit(n) => {
                    host.replace(choices[n].clone());
                    if host.head.schedule_version != version && on.is_some() {
                        close(&host, &mut on, &mut spans, schedule, version);
                        on = Some(host.now);
                    }
                }
                Deed::RunNow => drop(host.run_now(&format!("k{}", host.head.rev), None)),
                Deed::Restart => host.job = host.restored(),
            }
        }
        host.wake_at(host.now);
        let (schedule, version) = (host.definition.schedule.compile().unwrap(), host.head.schedule_version);
        close(&host, &mut on, &mut spans, schedule, version);
        audit(&host, &spans);
        if let Some(wakeup) = host.job.next_wakeup() {
            prop_assert!(wakeup.at > host.now);
        }
    }
}
