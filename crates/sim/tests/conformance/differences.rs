//! What was seen against what is expected.

use cronwright_sim::script::{Seen, SeenRun};

use crate::forms::{RunForm, Scenario};

impl Scenario {
    /// What is wrong with what was seen.
    pub fn differences(&self, seen: &Seen) -> Vec<String> {
        let mut found = Vec::new();
        found.extend(seen.failed.clone());
        found.extend(seen.violation.as_ref().map(|v| format!("{v:?}")));
        for (place, (name, expected)) in self.expect.iter().enumerate() {
            let runs = &seen.runs[place];
            let of = |(i, run): (usize, &SeenRun)| worded(run, expected.get(i));
            let worded: Vec<RunForm> = runs.iter().enumerate().map(of).collect();
            if worded != *expected {
                let line = |runs: &Vec<RunForm>| serde_json::to_string_pretty(runs).unwrap();
                let (is, should) = (line(&worded), line(expected));
                found.push(format!("runs of {name} are {is}\nand should be {should}"));
            }
            if runs.iter().any(|run| run.bodies > 1) {
                found.push(format!("a run of {name} was told in two ways"));
            }
            if seen.fences[place].is_sorted_by(|one, next| one < next) {
                continue;
            }
            found.push(format!("fences of {name}: {:?}", seen.fences[place]));
        }
        let names = self.names();
        let heard = seen.deliveries.iter();
        let heard: Vec<String> = heard
            .map(|(place, seq)| format!("{}/{seq}", names[*place]))
            .collect();
        if heard != self.deliveries {
            found.push(format!("deliveries: {heard:?}, not {:?}", self.deliveries));
        }
        found
    }
}

/// A run as the scenarios word it; of what only some expect, as much as this one does.
fn worded(run: &SeenRun, expected: Option<&RunForm>) -> RunForm {
    let wants = |what: fn(&RunForm) -> bool| expected.is_some_and(what);
    let most = expected.and_then(|run| run.late_ms);
    let bounds = expected.and_then(|run| run.again_ms.clone());
    let gaps = bounds.map(|bounds| {
        let bounds = bounds.into_iter().chain(std::iter::repeat(0));
        let gaps = run.again_ms.iter().zip(bounds);
        gaps.map(|(gap, bound)| bound.min(*gap)).collect()
    });
    RunForm {
        state: run.state.as_str().to_owned(),
        attempts: run.attempts,
        ledger: run.ledger.iter().map(|to| to.as_str().to_owned()).collect(),
        starts: run.starts,
        callback: run.callback.as_str().to_owned(),
        deliveries: run.deliveries,
        revision: wants(|run| run.revision.is_some()).then_some(run.revision),
        again_ms: gaps,
        late_ms: most.map(|most| run.late_ms.map_or(i64::MAX, |late| late.max(most))),
    }
}
