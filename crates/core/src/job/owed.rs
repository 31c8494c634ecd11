//! The words owed to others about ended runs.
//!
//! An endpoint hears of one run of a job at a time, in the order of their ends: were the first word lost
//! and the second not, the results would arrive the wrong way round.

use super::def::CallbackTarget;
use super::run::{Owed, Run};
use super::{Effect, JobMachine, Touched};
use crate::machine::Keyed;

impl JobMachine {
    /// The words to endpoints that a turn brings: about a run that ended and has none of its job before
    /// it, or about the next one after the endpoint has taken a result.
    pub(super) fn deliver_effects(&self, touched: &Touched) -> Vec<Keyed<Effect>> {
        let mut effects: Vec<Keyed<Effect>> = Vec::new();
        let ended = touched.ended_for.iter().map(|target| (target, true));
        let taken = touched.taken_by.iter().map(|target| (target, false));
        for (target, must_be_new) in ended.chain(taken) {
            let next = self.next_callback(target);
            if let Some(run) = next.filter(|run| !must_be_new || touched.runs.contains(&run.seq)) {
                let told = deliver(run, target);
                if effects.iter().all(|known| known.key != told.key) {
                    effects.push(told);
                }
            }
        }
        effects
    }

    /// The run whose result an endpoint has to take next.
    fn next_callback(&self, target: &CallbackTarget) -> Option<&Run> {
        let owes = |run: &&Run| callbacks(run).any(|other| same_endpoint(other, target));
        let runs = self.runs.values().filter(owes);
        runs.min_by_key(|run| (run.ended_as, run.seq))
    }

    /// The same for every endpoint, in one pass: after a long outage there are many runs.
    fn next_callbacks(&self) -> Vec<(&CallbackTarget, &Run)> {
        let mut firsts: Vec<(&CallbackTarget, &Run)> = Vec::new();
        for run in self.runs.values() {
            for target in callbacks(run) {
                let place = |run: &Run| (run.ended_as, run.seq);
                let known = firsts
                    .iter_mut()
                    .find(|(other, _)| same_endpoint(other, target));
                match known {
                    Some((_, first)) if place(run) < place(first) => *first = run,
                    Some(_) => {}
                    None => firsts.push((target, run)),
                }
            }
        }
        firsts
    }

    pub(super) fn outstanding_effects(&self) -> Vec<Keyed<Effect>> {
        let mut effects = self.link_effects();
        let firsts = self.next_callbacks();
        effects.extend(firsts.iter().map(|(target, run)| deliver(run, target)));
        for (seq, run) in &self.runs {
            effects.extend(tell_dependents(run));
            let out = run.active.is_some_and(|active| !active.accepted);
            if let Some(dispatch) = self.dispatch_of(*seq).filter(|_| out) {
                effects.push(Keyed {
                    key: format!("{}/{}", run.id, dispatch.fence),
                    effect: Effect::Dispatch(Box::new(dispatch)),
                });
            }
        }
        effects
    }
}

/// The endpoints that have to take a run's result.
fn callbacks(run: &Run) -> impl Iterator<Item = &CallbackTarget> {
    run.owed.iter().filter_map(|owed| match owed {
        Owed::Callback { target } => Some(target),
        Owed::Dependent { .. } => None,
    })
}

/// The word about a run, with what the run itself has of the endpoint: its preset may be another than
/// that of the runs around it.
fn deliver(run: &Run, target: &CallbackTarget) -> Keyed<Effect> {
    let own = callbacks(run).find(|own| same_endpoint(own, target));
    let target = own.unwrap_or(target);
    Keyed {
        key: format!("{}/callback", run.id),
        effect: Effect::Deliver {
            run: Box::new(run.clone()),
            target: target.clone(),
        },
    }
}

/// Tells the jobs that run after this one.
pub(super) fn tell_dependents(run: &Run) -> Vec<Keyed<Effect>> {
    let jobs = run.owed.iter().filter_map(|owed| match owed {
        Owed::Dependent { job } => Some(job),
        Owed::Callback { .. } => None,
    });
    jobs.map(|job| Keyed {
        key: format!("{}/after/{job}", run.id),
        effect: Effect::TellDependent {
            dependent: job.clone(),
            run: run.id.clone(),
            ended: run.state,
        },
    })
    .collect()
}

fn same_endpoint(one: &CallbackTarget, other: &CallbackTarget) -> bool {
    one.app == other.app && one.url == other.url
}
