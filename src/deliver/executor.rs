//! The stateless executor: carries out a batch of posts beside each other and answers with a line for
//! each as it ends. Reached through the service binding only.

use std::cell::RefCell;

use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;
use cronwright_protocol::target::Policy;
use cronwright_protocol::wire::{Post, PostBatch, Posted};
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};
use worker::{Env, Request, Response};

use super::signing;
use super::thin::Flock;
use super::trip::{Headers, Trip, failed};

/// How long ends are held back so that a batch can be answered whole: a stream costs more than the posts.
const PATIENCE_MS: u32 = 150;

/// Header of an answer that holds all ends.
pub const WHOLE: &str = "x-whole";

thread_local! {
    static POLICY: RefCell<Option<Policy>> = const { RefCell::new(None) };
}

/// Carries out a batch.
///
/// # Errors
/// When the request is no batch.
pub async fn handle(mut request: Request, env: Env) -> worker::Result<Response> {
    let text = request.text().await?;
    let batch = match PostBatch::from_text(&text) {
        Ok(batch) => batch,
        Err(error) => return Response::error(error.to_string(), 400),
    };
    let mut trips = Trips::new(policy(&env));
    // A signature may have to ask D1 for the app first; the others do not wait for that.
    let (signed, plain): (Vec<Post>, Vec<Post>) =
        batch.posts.into_iter().partition(signing::is_signed);
    for post in plain {
        trips.start(post, Ok(Vec::new()));
    }
    trips.leave();
    let signatures = signed
        .iter()
        .map(|post| signing::headers(&env, post, now()));
    let signatures = join_all(signatures).await;
    for (post, signature) in signed.into_iter().zip(signatures) {
        trips.start(post, signature);
    }
    trips.leave();
    answer(trips).await
}

/// Most batches end within a moment and are answered whole; of a slow one, each end is told as it comes.
async fn answer(mut trips: Trips) -> worker::Result<Response> {
    trips.next(PATIENCE_MS).await;
    if trips.out == 0 {
        let response = Response::ok(std::mem::take(&mut trips.lines))?;
        response.headers().set(WHOLE, "1")?;
        return Ok(response);
    }
    let pieces = stream::unfold(trips, |mut trips| async move {
        while trips.lines.is_empty() && trips.out > 0 {
            trips.next(0).await;
        }
        let piece = std::mem::take(&mut trips.lines);
        (!piece.is_empty()).then_some((piece, trips))
    });
    Response::from_stream(pieces.map(|text| Ok::<Vec<u8>, worker::Error>(text.into_bytes())))
}

/// The posts of a batch.
struct Trips {
    policy: Policy,
    flock: Flock,
    arrived: Millis,
    /// By place; none when it has ended.
    trips: Vec<Option<Trip>>,
    /// Those that have not ended.
    out: usize,
    /// Places of those that are to leave.
    ready: Vec<usize>,
    /// Ends that nobody was told of.
    lines: String,
}

impl Trips {
    fn new(policy: Policy) -> Self {
        Self {
            policy,
            flock: Flock::new(),
            arrived: now(),
            trips: Vec::new(),
            out: 0,
            ready: Vec::new(),
            lines: String::new(),
        }
    }

    /// The limit began when the batch arrived: what signing took is gone.
    fn start(&mut self, mut post: Post, signature: Result<Headers, String>) {
        let time = now();
        post.timeout_ms = post.timeout_ms.saturating_sub(time.since(self.arrived));
        let started = match signature {
            Ok(_) if post.timeout_ms <= 0 => {
                let why = "the limit passed before the request could be signed".to_owned();
                Err(failed(&post, time, (FetchFault::Internal, why)))
            }
            Ok(headers) => Trip::start(post, &self.policy, headers, time),
            Err(why) => Err(failed(&post, time, (FetchFault::Internal, why))),
        };
        match started {
            Ok(trip) => {
                self.ready.push(self.trips.len());
                self.trips.push(Some(trip));
                self.out = self.out.saturating_add(1);
            }
            Err(posted) => self.tell(&posted),
        }
    }

    /// Sends what is ready.
    fn leave(&mut self) {
        let ready = std::mem::take(&mut self.ready);
        let requests: Vec<_> = ready
            .iter()
            .filter_map(|id| Some(self.trips.get(*id)?.as_ref()?.request(*id)))
            .collect();
        if let Err(why) = self.flock.send(&requests) {
            self.give_up(&ready, &why);
        }
    }

    /// Waits for ends, as [`Flock::ended`] does.
    async fn next(&mut self, ms: u32) {
        if self.out == 0 {
            return;
        }
        match self.flock.ended(ms).await {
            Ok(answers) => {
                for answer in answers {
                    let id = answer.id;
                    let Some(slot) = self.trips.get_mut(id) else {
                        continue;
                    };
                    let Some(trip) = slot else { continue };
                    match trip.take(answer, &self.policy) {
                        Some(posted) => {
                            *slot = None;
                            self.out = self.out.saturating_sub(1);
                            self.tell(&posted);
                        }
                        None => self.ready.push(id),
                    }
                }
                self.leave();
            }
            Err(why) => {
                let all: Vec<usize> = (0..self.trips.len()).collect();
                self.give_up(&all, &why);
            }
        }
    }

    fn give_up(&mut self, places: &[usize], why: &str) {
        for id in places {
            if let Some(trip) = self.trips.get_mut(*id).and_then(Option::take) {
                self.out = self.out.saturating_sub(1);
                self.tell(&trip.broke(why));
            }
        }
    }

    fn tell(&mut self, posted: &Posted) {
        self.lines.push_str(&posted.to_line().unwrap_or_default());
    }
}

fn now() -> Millis {
    Millis(i64::try_from(worker::Date::now().as_millis()).unwrap_or(i64::MAX))
}

/// What may be called: the same for every request of a deployment.
fn policy(env: &Env) -> Policy {
    POLICY.with_borrow_mut(|known| known.get_or_insert_with(|| policy_of(env)).clone())
}

fn policy_of(env: &Env) -> Policy {
    let var = |name: &str| {
        env.var(name)
            .map(|value| value.to_string())
            .unwrap_or_default()
    };
    Policy::of_settings(&var("OWN_HOSTS"), &var("ALLOW_LOOPBACK"))
}
