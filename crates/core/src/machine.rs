//! The contract between a machine and its host.
//!
//! A host does four things and decides nothing: it loads a machine's records, feeds an event, commits
//! the [`Turn`] in one transaction, and then performs the turn's effects. What an effect brings back
//! is the next event. Because a machine keeps every unacknowledged effect in its records, a host that
//! was killed between commit and effect asks for [`Machine::outstanding`] and goes on.

use crate::time::Millis;

/// When a machine next has to be stepped, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wakeup {
    /// The instant. Stepping earlier, later or repeatedly is harmless.
    pub at: Millis,
    /// Why, for logs and tests: a fixed word such as `"due"` or `"retry"`.
    pub why: &'static str,
}

impl Wakeup {
    /// The earlier of two wakeups, where either may be missing.
    #[must_use]
    pub fn earlier(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(x), Some(y)) => Some(x.min(y)),
            (x, y) => x.or(y),
        }
    }
}

/// An effect and its idempotency key. Performing it twice with one key must be the same as once.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyed<E> {
    /// Unique per (machine, sequence, kind): for example `run_3_1f_lx2k9a00_v1/7`.
    pub key: String,
    /// What to do.
    pub effect: E,
}

/// What one step decided: committed as a whole before any effect is performed.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn<C, E> {
    /// Records to store or drop, in order.
    pub changes: Vec<C>,
    /// Effects to perform after the commit, in order.
    pub effects: Vec<Keyed<E>>,
}

impl<C, E> Default for Turn<C, E> {
    fn default() -> Self {
        Self {
            changes: Vec::new(),
            effects: Vec::new(),
        }
    }
}

impl<C, E> Turn<C, E> {
    /// Whether nothing changed and nothing is to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.effects.is_empty()
    }
}

/// A pure state machine.
pub trait Machine {
    /// What can happen to it.
    type Event;
    /// A keyed record that changed.
    type Change;
    /// Something for the host to do.
    type Effect;
    /// Why an event was refused. A refused event changes nothing.
    type Reject;

    /// Takes one event at `now`.
    ///
    /// # Errors
    /// When the event does not fit the state; the machine is then unchanged.
    fn step(
        &mut self,
        now: Millis,
        event: Self::Event,
    ) -> Result<Turn<Self::Change, Self::Effect>, Self::Reject>;

    /// When the host must step it next, if ever.
    fn next_wakeup(&self) -> Option<Wakeup>;

    /// Effects that were committed and not yet acknowledged, for a host that starts again.
    fn outstanding(&self) -> Vec<Keyed<Self::Effect>>;
}

/// Turns of one or many machines that are committed together.
///
/// This is the one place where the rule lives that nothing is performed before it is stored: effects
/// go in with [`Group::add`] and come out of [`Group::commit`] alone, after the changes were written.
/// Every host commits through it, the simulator's too.
#[derive(Debug)]
pub struct Group<K, C, E> {
    turns: Vec<(K, Turn<C, E>)>,
}

impl<K, C, E> Default for Group<K, C, E> {
    fn default() -> Self {
        Self { turns: Vec::new() }
    }
}

impl<K: Clone, C, E> Group<K, C, E> {
    /// Takes a turn of the machine called `key`.
    pub fn add(&mut self, key: K, turn: Turn<C, E>) {
        if !turn.is_empty() {
            self.turns.push((key, turn));
        }
    }

    /// Whether there is nothing to commit or perform.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The machines that have a turn in it; one may come several times.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.turns.iter().map(|(key, _)| key)
    }

    /// Writes all changes with one call of `write`, and gives out the effects if it succeeded.
    ///
    /// # Errors
    /// What `write` said. The machines are then ahead of their records: drop and restore them.
    pub fn commit<X>(
        self,
        write: impl FnOnce(Vec<(K, C)>) -> Result<(), X>,
    ) -> Result<Vec<(K, Keyed<E>)>, X> {
        let mut changes = Vec::with_capacity(self.turns.len().saturating_mul(2));
        let mut effects = Vec::with_capacity(self.turns.len());
        for (key, turn) in self.turns {
            changes.extend(turn.changes.into_iter().map(|change| (key.clone(), change)));
            effects.extend(turn.effects.into_iter().map(|effect| (key.clone(), effect)));
        }
        write(changes)?;
        Ok(effects)
    }
}
