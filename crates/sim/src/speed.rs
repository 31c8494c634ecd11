//! How fast the machines themselves are, without a world around them.

use cronwright_core::ids::{JobRef, RunId};
use cronwright_core::job::def::{Definition, ScheduleSpec};
use cronwright_core::job::run::AttemptResult;
use cronwright_core::job::{Change, Effect, Event, JobMachine, Verdict};
use cronwright_core::machine::{Machine, Turn};
use cronwright_core::time::{Millis, SECOND};

/// Steps one job through `runs` runs, each due, handed over and ended; gives the number of steps, or
/// none when a run did not come to its end.
#[must_use]
pub fn steps(template: &Definition, runs: u64) -> Option<u64> {
    let start = Millis(1_772_323_200_000);
    let definition = Definition {
        schedule: ScheduleSpec::Every {
            period_ms: SECOND,
            anchor: start,
        },
        jitter_ms: 0,
        callback: None,
        ..template.clone()
    };
    let at = JobRef {
        shard: 0,
        number: 1,
    };
    let (mut machine, _) = JobMachine::create(start, at, definition, true).ok()?;
    let mut steps: u64 = 0;
    for _ in 0..runs {
        let due = machine.next_wakeup()?.at;
        let turn = machine.step(due, Event::Wake).ok()?;
        let (run, fence) = handed_over(&turn)?;
        machine.committed();
        let ended = Event::AttemptEnded {
            run,
            fence,
            verdict: Verdict::Succeeded,
            result: Box::new(AttemptResult {
                status: Some(200),
                error_code: None,
                summary: None,
                output: None,
                truncated: false,
                ms: 1,
            }),
            by: "executor".to_owned(),
        };
        let turn = machine.step(due.plus(1), ended).ok()?;
        machine.committed();
        if let Some(written) = last_run(&turn) {
            machine.note_projected(written);
        }
        steps = steps.saturating_add(2);
    }
    Some(steps)
}

fn handed_over(turn: &Turn<Change, Effect>) -> Option<(RunId, u64)> {
    turn.effects.iter().find_map(|keyed| match &keyed.effect {
        Effect::Dispatch(dispatch) => Some((dispatch.run.clone(), dispatch.fence)),
        _ => None,
    })
}

fn last_run(turn: &Turn<Change, Effect>) -> Option<&cronwright_core::job::run::Run> {
    turn.changes.iter().find_map(|change| match change {
        Change::Run(run) => Some(run.as_ref()),
        _ => None,
    })
}
