//! Which arrows of the machines' state diagrams were taken.

use std::collections::BTreeSet;

use cronwright_core::endpoint::{Config, Delivery, StateWord};
use cronwright_core::job::run::Run;

/// An arrow: machine, from, to.
pub type Arrow = (&'static str, &'static str, &'static str);

/// The arrows that were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage(BTreeSet<Arrow>);

impl Coverage {
    /// The arrows, in order.
    pub fn arrows(&self) -> impl Iterator<Item = &Arrow> {
        self.0.iter()
    }

    /// Whether it was taken.
    #[must_use]
    pub fn took(&self, arrow: &Arrow) -> bool {
        self.0.contains(arrow)
    }

    /// Adds those of another world.
    pub fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// A run was stored: its ledger has every move since.
    pub(crate) fn run(&mut self, old: Option<&Run>, new: &Run) {
        let known = old.map_or(0, |run| run.ledger.len());
        let mut from = old.map_or("(none)", |run| run.state.as_str());
        for row in new.ledger.iter().skip(known) {
            let to = row.to.as_str();
            if from != to {
                self.0.insert(("run", from, to));
            }
            from = to;
        }
    }

    /// A delivery was stored. One turn may take several arrows, of which records show the ends.
    pub(crate) fn delivery(&mut self, old: Option<&Delivery>, new: &Delivery) {
        let to = new.state.word();
        let from = old.map(|delivery| delivery.state.word());
        let name = |word: StateWord| word.as_str();
        let mut take = |from: &'static str, to: &'static str| {
            let _ = self.0.insert(("delivery", from, to));
        };
        let waiting = name(StateWord::Waiting);
        match from {
            None if to == StateWord::Waiting => take("(none)", waiting),
            None => {
                take("(none)", waiting);
                take(waiting, name(to));
            }
            Some(from) if from == to && old.is_some_and(|old| old.starts < new.starts) => {
                take(name(from), waiting);
                take(waiting, name(to));
            }
            Some(from @ (StateWord::Done | StateWord::Dead)) if to == StateWord::InFlight => {
                take(name(from), waiting);
                take(waiting, name(to));
            }
            Some(from) if from != to => take(name(from), name(to)),
            Some(_) => {}
        }
    }

    /// The breaker's record was stored.
    pub(crate) fn breaker(&mut self, old: Option<&Config>, new: &Config) {
        let (Some(old), to) = (old, new.breaker.as_str()) else {
            return;
        };
        let from = old.breaker.as_str();
        if from != to {
            self.0.insert(("breaker", from, to));
        }
    }
}
