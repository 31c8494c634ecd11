//! The simulator's host does what `tests/conformance/scenarios.json` says. The real object on the real
//! runtime has to do the same: `tests/conformance/conformance.test.mjs`.

#[cfg(test)]
mod differences;
#[cfg(test)]
mod forms;

#[test]
fn the_simulators_host_does_what_the_scenarios_say() {
    let text = include_str!("../../../../tests/conformance/scenarios.json");
    let file: forms::File = serde_json::from_str(text).unwrap();
    let mut broken = Vec::new();
    for scenario in &file.scenarios {
        let seen = scenario.script().play();
        let differences = scenario.differences(&seen);
        if !differences.is_empty() {
            let (claim, why) = (&scenario.claim, &scenario.why);
            let trace = seen.trace.join("\n");
            let differences = differences.join("\n");
            broken.push(format!("{claim}\n({why})\n{differences}\n\n{trace}"));
        }
    }
    let count = broken.len();
    assert!(count == 0, "{count} broken:\n\n{}", broken.join("\n\n"));
}
