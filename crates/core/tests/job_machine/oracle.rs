//! What a witness outside the machine sees: attempts that may be running, fences, ends. It knows the
//! machine only by its records and effects, so that a fault in the machine cannot hide itself.

use std::collections::{BTreeMap, BTreeSet};

use cronwright_core::ids::RunId;
use cronwright_core::job::Dispatch;
use cronwright_core::job::run::{LEDGER_ROWS, Run};
use cronwright_core::outcome::RunState;
use cronwright_core::time::Millis;

/// An attempt that left and of which nobody has said that it is over.
#[derive(Clone, Debug)]
pub struct Alive {
    pub run: RunId,
    pub until: Millis,
    /// Nobody can call it back, and a person or a deadline ended its run all the same.
    pub given_up: bool,
}

#[derive(Debug, Default)]
pub struct Oracle {
    pub alive: BTreeMap<u64, Alive>,
    keys: BTreeSet<String>,
    last_fence: u64,
    /// Two attempts may be out at once.
    pub allow: bool,
}

impl Oracle {
    pub fn left(&mut self, now: Millis, key: &str, dispatch: &Dispatch) {
        assert_eq!(key, format!("{}/{}", dispatch.run, dispatch.fence));
        assert!(
            self.keys.insert(key.to_owned()),
            "{key} was handed over twice"
        );
        assert!(dispatch.fence > self.last_fence, "fences grow");
        self.last_fence = dispatch.fence;
        self.alive.retain(|_, alive| alive.until > now);
        let mut others = self.alive.values().filter(|alive| !alive.given_up);
        let other = others.next();
        assert!(
            self.allow || other.is_none(),
            "{dispatch:?} left while {other:?} may be running"
        );
        let same = self.alive.values().find(|alive| alive.run == dispatch.run);
        assert!(same.is_none(), "one run twice at once: {same:?}");
        let alive = Alive {
            run: dispatch.run.clone(),
            until: now.plus(dispatch.timeout_ms),
            given_up: false,
        };
        self.alive.insert(dispatch.fence, alive);
    }

    pub fn over(&mut self, fence: u64) {
        self.alive.remove(&fence);
    }

    /// One record and the one before it.
    pub fn changed(&mut self, old: Option<&Run>, new: &Run) {
        assert_eq!(new.rev, old.map_or(0, |run| run.rev) + 1, "{new:?}");
        assert!(new.ledger.len() <= LEDGER_ROWS);
        let last = new.ledger.last().expect("every run has a story");
        assert_eq!(last.to, new.state, "the ledger tells another end: {new:?}");
        assert!(new.losses <= 4, "{new:?}");
        assert_eq!(new.ended_at.is_some(), new.state.is_terminal());
        assert!(new.active.is_none() || new.waits.is_none());
        let open = new.active.is_some() || new.waits.is_some();
        assert_eq!(new.is_open(), open, "an open run runs or waits: {new:?}");
        let Some(old) = old else { return };
        assert_eq!(
            (&old.id, old.seq, &old.trigger),
            (&new.id, new.seq, &new.trigger)
        );
        assert!(new.fence >= old.fence && new.attempts >= old.attempts);
        if old.state.is_terminal() {
            let frozen = |run: &Run| (run.state, run.ended_at, run.result.clone(), run.attempts);
            assert_eq!(frozen(old), frozen(new), "a final state is final");
        }
        let by_order = matches!(new.state, RunState::Cancelled | RunState::TimedOut);
        if by_order && !old.state.is_terminal() && !last.why.starts_with("replaced") {
            for alive in self.alive.values_mut().filter(|alive| alive.run == new.id) {
                alive.given_up = true;
            }
        }
    }
}
