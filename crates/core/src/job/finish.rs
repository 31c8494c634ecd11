//! The end of a run, and what others say about it afterwards.

use super::event::Event;
use super::run::Owed;
use super::{Effect, JobMachine, Reject, owed};
use crate::ids::RunId;
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
            run.owed.push(Owed::Callback {
                target: target.clone(),
            });
            self.touched.ended_for.push(target);
        }
        let Some(run) = self.runs.get_mut(&seq) else {
            return;
        };
        run.owed
            .extend(dependents.into_iter().map(|job| Owed::Dependent { job }));
        let id = run.id.clone();
        // Whose callback comes first is known when the turn is over: one turn may end many runs.
        let tells = owed::tell_dependents(run);
        self.touched.effects.extend(tells);
        self.touched.ended.insert(seq);
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
        if let Owed::Callback { target } = taken {
            self.touched.taken_by.push(target.clone());
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
        // The endpoint has it, whatever became of its first answer.
        let (taken, others): (Vec<Owed>, Vec<Owed>) = std::mem::take(&mut run.owed)
            .into_iter()
            .partition(|owed| matches!(owed, Owed::Callback { .. }));
        run.owed = others;
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
        for owed in taken {
            if let Owed::Callback { target } = owed {
                self.touched.taken_by.push(target);
            }
        }
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
            | Self::AttemptUnsent { run, .. }
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
