//! Many seeds: threads share a counter, and every world is checked on its own and together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use cronwright_sim::{Options, Plan};

use super::report::Reports;
use super::tally::Tally;
use super::world::{Run, difference};
use super::{Verdict, print, progress, regressions};

/// One world in so many is run twice, since chance that comes from elsewhere makes seeds worthless.
const TWICE_EVERY: u64 = 10;

/// What `--seeds N` asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Campaign {
    /// The first seed.
    pub from: u64,
    /// How many.
    pub seeds: u64,
    /// How many at a time.
    pub threads: usize,
    /// Every world is run twice.
    pub twice: bool,
    /// Says how often each fault fired.
    pub verbose: bool,
}

/// Lives through all of them and prints what they came to.
pub fn run(campaign: &Campaign, run: Run) -> Verdict {
    let work = Work {
        campaign,
        replays: regressions::seeds()?,
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        reports: Reports::default(),
        run,
    };
    let start = progress::now();
    let tally = work.all()?;
    print(&tally.complaints());
    print(&tally.figures(start.elapsed(), campaign.verbose));
    Ok(tally.holds())
}

/// What the threads share.
struct Work<'a> {
    campaign: &'a Campaign,
    replays: Vec<u64>,
    next: AtomicU64,
    done: AtomicU64,
    reports: Reports,
    run: Run,
}

/// A seed whose turn it is.
struct Turn {
    /// How many were before it.
    number: u64,
    seed: u64,
    is_replay: bool,
}

impl Work<'_> {
    fn all(&self) -> Result<Tally, String> {
        let total = self.campaign.seeds.saturating_add(self.replayed());
        let mut sum = Tally::default();
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.campaign.threads)
                .map(|_| scope.spawn(|| self.until_none_is_left()))
                .collect();
            let ended = || threads.iter().all(|thread| thread.is_finished());
            progress::watch(total, || self.done.load(Ordering::Relaxed), ended);
            for thread in threads {
                let part = thread.join();
                sum.merge(part.map_err(|_| "the simulator itself broke down, see above")?);
            }
            Ok(sum)
        })
    }

    fn until_none_is_left(&self) -> Tally {
        let mut tally = Tally::default();
        while let Some(turn) = self.take() {
            self.one(&turn, &mut tally);
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        tally
    }

    fn take(&self) -> Option<Turn> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let replay = usize::try_from(number)
            .ok()
            .and_then(|at| self.replays.get(at));
        if let Some(seed) = replay {
            return Some(Turn {
                number,
                seed: *seed,
                is_replay: true,
            });
        }
        let after = number.checked_sub(self.replayed())?;
        (after < self.campaign.seeds).then(|| Turn {
            number,
            seed: self.campaign.from.saturating_add(after),
            is_replay: false,
        })
    }

    fn replayed(&self) -> u64 {
        u64::try_from(self.replays.len()).unwrap_or(u64::MAX)
    }

    fn one(&self, turn: &Turn, tally: &mut Tally) {
        let plan = Plan::of_seed(turn.seed);
        let start = progress::now();
        let outcome = (self.run)(&plan, Options::default());
        tally.busy = tally.busy.saturating_add(start.elapsed());
        let count = if turn.is_replay {
            &mut tally.replays
        } else {
            &mut tally.seeds
        };
        *count = count.saturating_add(1);
        tally.add(turn.seed, &outcome);
        let mut is_equal = true;
        if self.campaign.twice || turn.number.is_multiple_of(TWICE_EVERY) {
            // Drawn anew, since a plan must be the same each time as well.
            let again = (self.run)(&Plan::of_seed(turn.seed), Options::default());
            if let Some(what) = difference(&outcome, &again) {
                self.reports.unequal(turn.seed, &what);
                is_equal = false;
            }
        }
        if outcome.violation.is_some() {
            is_equal &= self.reports.violation(&plan, &outcome, self.run);
        }
        if !is_equal {
            tally.unequal.push(turn.seed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing;

    fn tally(campaign: &Campaign, replays: &[u64], run: Run) -> Tally {
        let work = Work {
            campaign,
            replays: replays.to_vec(),
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            reports: Reports::default(),
            run,
        };
        work.all().unwrap()
    }

    fn campaign(seeds: u64, twice: bool) -> Campaign {
        Campaign {
            from: 100,
            seeds,
            threads: 3,
            twice,
            verbose: false,
        }
    }

    #[test]
    fn every_seed_has_its_turn_once_and_known_ones_come_first() {
        let campaign = campaign(5, false);
        let work = Work {
            campaign: &campaign,
            replays: vec![7, 3],
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            reports: Reports::default(),
            run: |plan, _| testing::well(plan),
        };
        let turns = std::iter::from_fn(|| work.take());
        let seeds: Vec<(u64, bool)> = turns.map(|turn| (turn.seed, turn.is_replay)).collect();
        let (old, new) = seeds.split_at(2);
        assert_eq!(old, [(7, true), (3, true)]);
        assert_eq!(new, [100, 101, 102, 103, 104].map(|seed| (seed, false)));
    }

    #[test]
    fn a_violation_is_counted_and_the_other_seeds_go_on() {
        let run: Run = |plan, _| match plan.seed {
            103 | 7 => testing::broken(plan, "I4"),
            _ => testing::well(plan),
        };
        let sum = tally(&campaign(20, false), &[7], run);
        assert_eq!((sum.seeds, sum.replays, sum.events), (20, 1, 210));
        let mut seeds = sum.violated.get("I4").cloned().unwrap();
        seeds.sort_unstable();
        assert_eq!(seeds, [7, 103]);
        assert!(sum.unequal.is_empty());
        assert!(!sum.holds());
    }

    #[test]
    fn chance_from_outside_the_seed_is_found() {
        static OUTSIDE: AtomicU64 = AtomicU64::new(0);
        let run: Run = |plan, _| {
            let mut outcome = testing::well(plan);
            outcome.hash = OUTSIDE.fetch_add(1, Ordering::Relaxed);
            outcome
        };
        assert_eq!(tally(&campaign(20, false), &[], run).unequal.len(), 2);
        let sum = tally(&campaign(20, true), &[], run);
        assert_eq!(sum.unequal.len(), 20);
        assert!(!sum.holds());
    }
}
