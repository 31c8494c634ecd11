//! The end of a run, and the word owed to others about it.

use super::event::Event;
use super::run::Owed;
use super::{Effect, JobMachine, Reject};
use crate::ids::RunId;
use crate::machine::Keyed;
use crate::outcome::{CallbackState, RunState};
use crate::time::Millis;

impl JobMachine {
    /// Ends a run for good, and lets the next one start.
    pub(super) fn finish(&mut self, now: Millis, seq: u64, state: RunState, by: &str, why: String) {
        let callback = self.definition.callback.clone();
        let dependents = self.head.dependents.clone();
        let Some(run) = self.change(seq) else { return };
        run.active = None;
        run.waits = None;
        run.ended_at = Some(now);
        run.enter(now, state, by, why.clone());
        if let Some(target) = callback {
            run.callback = CallbackState::Pending;
            run.owed.push(Owed::Callback { target });
        }
        run.owed
            .extend(dependents.into_iter().map(|job| Owed::Dependent { job }));
        let id = run.id.clone();
        for owed in self.owed_effects(seq) {
            self.touched.effects.push(owed);
        }
        self.effect(format!("{seq}/project"), Effect::ProjectRun { seq });
        if matches!(state, RunState::Failed | RunState::TimedOut) {
            self.effect(
                format!("{id}/failed"),
                Effect::Raise {
                    cause: "run_failed",
                    run: id,
                    detail: why,
                },
            );
        }
        self.start_next(now);
    }

    /// Effects that tell others of an ended run, for as long as they have not heard.
    pub(super) fn owed_effects(&self, seq: u64) -> Vec<Keyed<Effect>> {
        let Some(run) = self.runs.get(&seq) else {
            return Vec::new();
        };
        run.owed
            .iter()
            .map(|owed| match owed {
                Owed::Callback { target } => Keyed {
                    key: format!("{}/callback", run.id),
                    effect: Effect::Deliver {
                        run: Box::new(run.clone()),
                        target: target.clone(),
                    },
                },
                Owed::Dependent { job } => Keyed {
                    key: format!("{}/after/{job}", run.id),
                    effect: Effect::TellDependent {
                        dependent: job.clone(),
                        run: run.id.clone(),
                        ended: run.state,
                    },
                },
            })
            .collect()
    }

    pub(super) fn outstanding_effects(&self) -> Vec<Keyed<Effect>> {
        let mut effects: Vec<Keyed<Effect>> = self.link_effects();
        for (seq, run) in &self.runs {
            effects.extend(self.owed_effects(*seq));
            if let Some(dispatch) = self
                .dispatch_of(*seq)
                .filter(|_| run.active.is_some_and(|active| !active.accepted))
            {
                effects.push(Keyed {
                    key: format!("{}/{}", run.id, dispatch.fence),
                    effect: Effect::Dispatch(Box::new(dispatch)),
                });
            }
        }
        effects
    }

    pub(super) fn owed_taken(&mut self, id: &RunId, taken: &Owed) {
        let Some(seq) = self
            .run(id)
            .filter(|run| run.owed.contains(taken))
            .map(|run| run.seq)
        else {
            return;
        };
        if let Some(run) = self.change(seq) {
            run.owed.retain(|owed| owed != taken);
        }
    }

    pub(super) fn callback_settled(
        &mut self,
        now: Millis,
        id: &RunId,
        word: u32,
        outcome: CallbackState,
        why: Option<String>,
    ) -> Result<(), Reject> {
        let run = self.run(id).ok_or_else(|| Reject::UnknownRun(id.clone()))?;
        // The endpoint repeats itself until it is heard.
        if word <= run.callback_word || run.callback == CallbackState::None {
            return Ok(());
        }
        let seq = run.seq;
        let Some(run) = self.change(seq) else {
            return Ok(());
        };
        run.callback = outcome;
        run.callback_word = word;
        run.owed
            .retain(|owed| !matches!(owed, Owed::Callback { .. }));
        let text = match outcome {
            CallbackState::Done => "callback delivered".to_owned(),
            CallbackState::Failed => format!(
                "callback given up: {}",
                why.as_deref().unwrap_or("no attempt succeeded")
            ),
            CallbackState::Pending => "callback is being delivered again".to_owned(),
            CallbackState::None => "no callback".to_owned(),
        };
        run.note(now, "receiver", text.clone());
        self.effect(format!("{seq}/project"), Effect::ProjectRun { seq });
        if outcome == CallbackState::Failed {
            self.effect(
                format!("{id}/callback_failed"),
                Effect::Raise {
                    cause: "callback_failed",
                    run: id.clone(),
                    detail: text,
                },
            );
        }
        Ok(())
    }
}

impl Event {
    /// Whether the event is about one run that may no longer be in memory.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        match self {
            Self::Cancel { run, .. }
            | Self::AttemptAccepted { run, .. }
            | Self::AttemptEnded { run, .. }
            | Self::AttemptLost { run, .. }
            | Self::LateReport { run, .. }
            | Self::Progress { run, .. }
            | Self::OwedTaken { run, .. }
            | Self::CallbackSettled { run, .. } => Some(run),
            Self::Wake
            | Self::RunNow { .. }
            | Self::Replay { .. }
            | Self::Replace { .. }
            | Self::SetEnabled { .. }
            | Self::Delete { .. }
            | Self::Upstream { .. }
            | Self::Link { .. }
            | Self::LinkTaken { .. } => None,
        }
    }
}
