//! What many worlds came to, and what must hold of them together.

use std::collections::BTreeMap;
use std::time::Duration;

use cronwright_sim::{Fault, Fired, Outcome};

use super::progress::rate;

/// With so many seeds a fault that never fired is one that cannot.
const ENOUGH: u64 = 200;

/// How many seeds of an invariant are named.
const NAMED: usize = 10;

/// Sums over worlds.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Seeds that were asked for.
    pub seeds: u64,
    /// Seeds of the regressions file.
    pub replays: u64,
    /// Steps of machines. What is run a second time is not counted, here and below.
    pub events: u64,
    /// Virtual time, in ms.
    pub lived_ms: i64,
    /// Real time of all threads within worlds.
    pub busy: Duration,
    /// How often each fault fired.
    pub fired: Fired,
    /// Seeds that violate, for each invariant.
    pub violated: BTreeMap<&'static str, Vec<u64>>,
    /// Seeds that came out differently the second time.
    pub unequal: Vec<u64>,
}

impl Tally {
    /// Adds one world.
    pub fn add(&mut self, seed: u64, outcome: &Outcome) {
        self.events = self.events.saturating_add(outcome.events);
        self.lived_ms = self.lived_ms.saturating_add(outcome.lived_ms);
        self.fired.add(&outcome.fired);
        if let Some(violation) = &outcome.violation {
            let seeds = self.violated.entry(violation.invariant).or_default();
            seeds.push(seed);
        }
    }

    /// Adds those of another thread.
    pub fn merge(&mut self, other: Self) {
        self.seeds = self.seeds.saturating_add(other.seeds);
        self.replays = self.replays.saturating_add(other.replays);
        self.events = self.events.saturating_add(other.events);
        self.lived_ms = self.lived_ms.saturating_add(other.lived_ms);
        self.busy = self.busy.saturating_add(other.busy);
        self.fired.add(&other.fired);
        for (invariant, seeds) in other.violated {
            self.violated.entry(invariant).or_default().extend(seeds);
        }
        self.unequal.extend(other.unequal);
    }

    /// Faults that should have fired by now.
    pub fn unfired(&self) -> Vec<Fault> {
        let never = |fault: &&Fault| self.fired.of(**fault) == 0;
        let all = if self.seeds < ENOUGH { &[] } else { Fault::ALL };
        all.iter().filter(never).copied().collect()
    }

    /// Whether all is as it must be.
    pub fn holds(&self) -> bool {
        self.violated.is_empty() && self.unequal.is_empty() && self.unfired().is_empty()
    }

    /// What does not hold, in sentences; nothing when all holds.
    pub fn complaints(&self) -> String {
        let mut text = String::new();
        for (invariant, seeds) in &self.violated {
            text.push_str(&format!("{invariant} is violated by {}\n", named(seeds)));
        }
        if !self.unequal.is_empty() {
            let seeds = named(&self.unequal);
            text.push_str(&format!("not deterministic: {seeds}\n"));
        }
        for fault in self.unfired() {
            text.push_str(&format!(
                "{fault:?} never fired in {} seeds ({}): its occasion is not reached, or its rate is too low\n",
                self.seeds,
                fault.text()
            ));
        }
        text
    }

    /// The closing lines of `key=value`.
    pub fn figures(&self, passed: Duration, verbose: bool) -> String {
        let lived = self.seeds.saturating_add(self.replays);
        let violations: usize = self.violated.values().map(Vec::len).sum();
        let mut text = format!(
            "regressions={}\nnondeterministic={}\nunfired={}\nseeds={}\nevents={}\nviolations={violations}\n\
             seeds_per_s={:.1}\nevents_per_s_core={:.0}\nsimulated_hours={:.1}\n",
            self.replays,
            self.unequal.len(),
            self.unfired().len(),
            self.seeds,
            self.events,
            rate(lived, passed),
            rate(self.events, self.busy),
            hours(self.lived_ms),
        );
        if verbose {
            text.push_str(&fired(&self.fired, true));
        }
        text
    }
}

/// Lines of how often each fault fired; `all` has those that did not, too.
pub fn fired(fired: &Fired, all: bool) -> String {
    let counts = Fault::ALL.iter().map(|fault| (fault, fired.of(*fault)));
    let counts = counts.filter(|(_, count)| all || *count > 0);
    counts
        .map(|(fault, count)| format!("fired.{fault:?}={count}\n"))
        .collect()
}

/// Hours of so many ms.
pub fn hours(ms: i64) -> f64 {
    ms as f64 / 3_600_000.0
}

/// The lowest seeds of a list, and how many there are.
fn named(seeds: &[u64]) -> String {
    let mut sorted = seeds.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let first: Vec<String> = sorted.iter().take(NAMED).map(u64::to_string).collect();
    let more = if sorted.len() > NAMED { ", …" } else { "" };
    let count = sorted.len();
    let noun = if count == 1 { "seed" } else { "seeds" };
    format!("{count} {noun}: {}{more}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing;

    fn of(seeds: u64) -> Tally {
        let mut tally = Tally::default();
        for seed in 0..seeds {
            tally.seeds += 1;
            tally.add(seed, &testing::well(&testing::plan(seed)));
        }
        tally
    }

    #[test]
    fn a_fault_that_never_fires_fails_a_long_run_and_is_named() {
        let (mut few, mut many) = (of(ENOUGH - 1), of(ENOUGH));
        assert!(many.holds());
        few.fired.set(Fault::ClockJumps, 0);
        many.fired.set(Fault::ClockJumps, 0);
        assert!(few.holds());
        assert!(!many.holds());
        assert!(
            many.complaints()
                .contains("ClockJumps never fired in 200 seeds")
        );
    }

    #[test]
    fn figures_are_sums_over_threads() {
        let (mut one, mut other) = (of(3), of(2));
        other.add(9, &testing::broken(&testing::plan(9), "I4"));
        other.busy = Duration::from_secs(2);
        one.merge(other);
        let figures = one.figures(Duration::from_secs(10), true);
        for line in [
            "seeds=5\n",
            "events=60\n",
            "violations=1\n",
            "seeds_per_s=0.5\n",
            "events_per_s_core=30\n",
            "simulated_hours=6.0\n",
            "fired.AlarmTwice=6\n",
        ] {
            assert!(figures.contains(line), "{line} in\n{figures}");
        }
        assert_eq!(one.complaints(), "I4 is violated by 1 seed: 9\n");
        assert!(!one.holds());
    }
}
