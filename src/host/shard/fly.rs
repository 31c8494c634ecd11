//! Handing attempts to the executor, and taking in what comes back.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use cronwright_core::job::def::HttpMode;
use cronwright_core::job::run::AttemptResult;
use cronwright_core::job::{Dispatch, Event, Verdict, judge};
use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;
use cronwright_protocol::wire::{Post, PostBatch, PostKind, Posted, template};
use futures_util::StreamExt;
use worker::{AbortController, Delay};

use super::Shard;
use crate::host::executor;
use crate::host::object::now;

/// Posts in one call of the executor while a herd drains: as many as one invocation may have waiting for
/// an answer, so that none stands behind another. Alone, a post has its own call, so that it can be
/// broken off.
const BATCH: usize = 6;

/// The runtime closes a connection a moment after the call on it was broken off: a stop is reported when
/// that has happened, so that the next request does not overtake it.
const CLOSING_MS: u64 = 50;

/// Redirects an HTTP job follows.
const REDIRECTS: u8 = 3;

/// Longest one-line summary, in characters.
const SUMMARY_CHARS: usize = 1_000;

/// A result without a response.
pub fn nothing(code: &str, summary: &str) -> AttemptResult {
    AttemptResult {
        status: None,
        error_code: Some(code.to_owned()),
        summary: Some(summary.to_owned()),
        output: None,
        truncated: false,
        ms: 0,
    }
}

impl Shard {
    /// Sends attempts off. Each comes back as an event, whatever happens to its call.
    pub(super) fn fly(self: &Rc<Self>, leaving: Vec<(u64, Dispatch)>) {
        let herd = self.inner.borrow().flights.waiting() > 0;
        let size = if herd { BATCH } else { 1 };
        let mut posts = Vec::with_capacity(leaving.len());
        for (handle, dispatch) in leaving {
            match self.post_of(handle, &dispatch) {
                Ok(post) => posts.push(post),
                Err(unsent) => self.unsent(handle, unsent),
            }
        }
        for batch in posts.chunks(size) {
            let signal = match batch {
                [single] => {
                    let controller = AbortController::default();
                    let signal = controller.signal();
                    self.inner
                        .borrow_mut()
                        .controllers
                        .insert(single.id, controller);
                    Some(signal)
                }
                _ => None,
            };
            let shard = Rc::clone(self);
            let batch = PostBatch {
                posts: batch.to_vec(),
            };
            self.platform
                .state
                .wait_until(async move { shard.call(batch, signal).await });
        }
    }

    /// Reports an attempt that does not leave. Not stepped in place: a whole herd that is too late would
    /// come back here each time.
    fn unsent(self: &Rc<Self>, handle: u64, unsent: Unsent) {
        let Some(flight) = self.inner.borrow_mut().flights.land(handle, now()) else {
            return;
        };
        let (run, fence) = (flight.run, flight.fence);
        let event = match unsent {
            Unsent::TooLate => {
                self.inner.borrow_mut().flights.hurry(flight.number);
                Event::AttemptUnsent { run, fence }
            }
            Unsent::Fault(why) => Event::AttemptLost { run, fence, why },
        };
        self.post(flight.number, event);
    }

    fn post_of(&self, handle: u64, dispatch: &Dispatch) -> Result<Post, Unsent> {
        let inner = self.inner.borrow();
        let machine = inner
            .roster
            .get(dispatch.run.job.number)
            .ok_or_else(|| Unsent::Fault("the job is gone".to_owned()))?;
        if !dispatch.may_leave(now()) {
            return Err(Unsent::TooLate);
        }
        let job = machine.definition().job_id.clone();
        let vars = template::Vars {
            schedule_id: &dispatch.run,
            job_id: &job,
            planned_at: dispatch.planned_at,
            attempt: dispatch.attempt,
            fence: dispatch.fence,
            params: dispatch.params.as_deref(),
        };
        let body = match (&dispatch.task.body, &dispatch.params) {
            (Some(text), _) => Some(
                template::fill(text, &vars).map_err(|error| Unsent::Fault(error.to_string()))?,
            ),
            (None, params) => params.clone(),
        };
        Ok(Post {
            id: handle,
            kind: PostKind::Job,
            run: dispatch.run.to_string(),
            job: job.to_string(),
            attempt: dispatch.attempt,
            fence: dispatch.fence,
            planned_at: dispatch.planned_at,
            url: dispatch.task.url.clone(),
            method: dispatch.task.method.clone(),
            headers: dispatch
                .task
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            body,
            timeout_ms: dispatch.timeout_ms,
            app: dispatch.app.as_ref().map(ToString::to_string),
            key_versions: Vec::new(),
            expect: dispatch.task.expect.clone(),
            accepts_later: dispatch.task.mode == HttpMode::Accepted,
            redirects: REDIRECTS,
        })
    }

    async fn call(self: Rc<Self>, batch: PostBatch, signal: Option<worker::AbortSignal>) {
        self.count("executor_calls", 1.0);
        let mut out: BTreeSet<u64> = batch.posts.iter().map(|post| post.id).collect();
        let failure = match executor::post(&self.platform.env, &batch, signal.as_ref()).await {
            Ok(mut answers) => loop {
                match answers.next().await {
                    Some(Ok(posted)) => {
                        out.remove(&posted.id);
                        self.landed(&posted);
                    }
                    Some(Err(error)) => break error,
                    None => break "the executor's answer ended early".to_owned(),
                }
                if out.is_empty() {
                    return;
                }
            },
            Err(error) => error,
        };
        let aborted = signal.as_ref().is_some_and(|signal| signal.aborted());
        if aborted {
            Delay::from(Duration::from_millis(CLOSING_MS)).await;
        }
        for handle in out {
            self.missing(handle, &failure, aborted);
        }
    }

    /// An answer about one post.
    fn landed(self: &Rc<Self>, posted: &Posted) {
        if let Some((number, event)) = self.came_back(posted) {
            self.took_in(number, event);
        }
    }

    /// What an answer means to the job; none when nobody waits for it.
    fn came_back(&self, posted: &Posted) -> Option<(u32, Event)> {
        let mut inner = self.inner.borrow_mut();
        inner.controllers.remove(&posted.id);
        let flight = inner.flights.land(posted.id, now())?;
        let machine = inner.roster.get(flight.number)?;
        let cronwright_core::job::def::Executor::Http(task) = &machine.definition().executor;
        let verdict = judge(task, posted.status, posted.fault);
        drop(inner);
        let (run, fence) = (flight.run, flight.fence);
        let event = match verdict {
            None => Event::AttemptAccepted { run, fence },
            // It never left us: the loss is ours, and not an attempt of the user's.
            Some(_) if posted.fault == Some(FetchFault::Internal) => Event::AttemptLost {
                run,
                fence,
                why: posted.detail.clone().unwrap_or_default(),
            },
            Some(verdict) => Event::AttemptEnded {
                run,
                fence,
                verdict,
                result: Box::new(result_of(posted, verdict)),
                by: "executor".to_owned(),
            },
        };
        Some((flight.number, event))
    }

    /// Takes an event in. When everything that had left is back, there is nothing to wait for.
    fn took_in(self: &Rc<Self>, number: u32, event: Event) {
        let all_back = self.inner.borrow().flights.out() == 0;
        if all_back {
            self.inner.borrow_mut().inbox.push((number, event));
            self.flush();
        } else {
            self.post(number, event);
        }
    }

    /// A post whose call broke: stopped by us, or lost.
    fn missing(self: &Rc<Self>, handle: u64, why: &str, aborted: bool) {
        let mut inner = self.inner.borrow_mut();
        inner.controllers.remove(&handle);
        let Some(flight) = inner.flights.land(handle, now()) else {
            return;
        };
        drop(inner);
        let (run, fence) = (flight.run, flight.fence);
        let event = if aborted {
            Event::AttemptEnded {
                run,
                fence,
                verdict: Verdict::Stopped,
                result: Box::new(nothing("aborted", "stopped while it was running")),
                by: "executor".to_owned(),
            }
        } else {
            Event::AttemptLost {
                run,
                fence,
                why: format!("the executor broke off: {why}"),
            }
        };
        self.took_in(flight.number, event);
    }

    /// Looks again when a slow post has widened the window.
    pub(super) fn widen_later(self: &Rc<Self>, time: Millis) {
        let mut inner = self.inner.borrow_mut();
        let Some(at) = inner.flights.next_widening(time) else {
            return;
        };
        if inner.flights.widening_planned() {
            return;
        }
        inner.flights.plan_widening(true);
        drop(inner);
        let shard = Rc::clone(self);
        let wait = u64::try_from(at.since(time).max(1)).unwrap_or(1);
        self.platform.state.wait_until(async move {
            Delay::from(Duration::from_millis(wait)).await;
            shard.inner.borrow_mut().flights.plan_widening(false);
            let time = now();
            if let Err(error) = shard.launch(time) {
                shard.failed("launch", &error);
            }
        });
    }
}

/// Why an attempt does not leave.
enum Unsent {
    /// The loss is ours.
    Fault(String),
    /// It waited so long for its turn that its whole limit does not fit in any more.
    TooLate,
}

fn result_of(posted: &Posted, verdict: Verdict) -> AttemptResult {
    let body = posted.body.as_deref().unwrap_or("").trim_end();
    let last_line = body.lines().next_back().unwrap_or("");
    let json = posted
        .content_type
        .as_deref()
        .is_some_and(|kind| kind.contains("json"));
    let line = if json { body } else { last_line };
    let fault = posted.fault.map(|fault| {
        posted
            .detail
            .clone()
            .unwrap_or_else(|| fault.sentence().to_owned())
    });
    let summary: Option<String> =
        fault.or_else(|| (!line.is_empty()).then(|| line.chars().take(SUMMARY_CHARS).collect()));
    let error_code = match (verdict, posted.fault, posted.status) {
        (Verdict::Succeeded, ..) => None,
        (_, Some(fault), _) => Some(fault.as_str().to_owned()),
        (_, None, Some(status)) => Some(format!("http_{status}")),
        (_, None, None) => Some("network".to_owned()),
    };
    // A body that is its own summary is kept once.
    let output = posted.body.clone().filter(|body| {
        !body.is_empty() && (posted.truncated || summary.as_deref() != Some(body.as_str()))
    });
    AttemptResult {
        status: posted.status,
        error_code,
        summary,
        output,
        truncated: posted.truncated,
        ms: posted.ms,
    }
}
