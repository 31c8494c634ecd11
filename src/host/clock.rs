//! The second clock: an object that re-arms itself each minute, and the fan-out of the minute tick.
//!
//! The Cron Trigger pokes it, and so does every new job. Whoever comes first in a minute ticks; the
//! other finds it done.

use std::cell::Cell;
use std::rc::Rc;

use cronwright_core::time::{HOUR, MINUTE, Millis, SECOND};
use futures_util::future::join_all;
use worker::{Env, Response, State};

use super::client::{ask_endpoint, ask_shard, job_shards};
use super::message::{EndpointAsk, ShardAsk, ShardReply, TickReport};
use super::object::{Platform, now};
use crate::deliver::{directory, projection};

/// The cron trigger may come this late before the clock's own alarm ticks in its place.
const PATIENCE_MS: i64 = 15 * SECOND;

/// Lateness above which "scheduler lag" is raised.
const LAG_MS: i64 = 10 * SECOND;

/// Endpoints asked at once.
const POKES: usize = 50;

/// The clock.
pub struct Clock {
    platform: Platform,
    /// The minute of the last tick.
    ticked: Cell<i64>,
    /// The hour in which all endpoints were asked last.
    poked: Cell<i64>,
}

impl Clock {
    /// A clock around what the runtime gives.
    pub fn new(state: State, env: Env) -> Rc<Self> {
        Rc::new(Self {
            platform: Platform::new(state, env),
            ticked: Cell::new(0),
            poked: Cell::new(0),
        })
    }

    /// The cron trigger, or a start: ticks once a minute, and sets the alarm if it is not set.
    pub async fn fetch(self: &Rc<Self>, name: &str) -> worker::Result<Response> {
        if let Err(error) = self.platform.open(Some(name)) {
            return Response::error(error.to_string(), 500);
        }
        let time = now();
        let reports = self.tick(time).await;
        self.arm(time);
        Response::from_json(&reports)
    }

    /// The clock's own minute.
    pub fn alarm(self: &Rc<Self>) {
        self.platform.alarm_fired();
        let time = now();
        self.arm(time);
        let clock = Rc::clone(self);
        // Not awaited: an alarm that waits for the network holds up the next.
        self.platform.state.wait_until(async move {
            clock.tick(time).await;
        });
    }

    fn arm(&self, time: Millis) {
        let next = time
            .0
            .div_euclid(MINUTE)
            .saturating_add(1)
            .saturating_mul(MINUTE);
        self.platform.wake_by(Millis(next).plus(PATIENCE_MS));
    }

    async fn tick(&self, time: Millis) -> Vec<TickReport> {
        let minute = time.0.div_euclid(MINUTE);
        if self.ticked.replace(minute) >= minute {
            return Vec::new();
        }
        let env = &self.platform.env;
        let ticks = (0..job_shards(env))
            .map(|shard| async move { (shard, ask_shard(env, shard, &ShardAsk::Tick).await) });
        let mut reports = Vec::new();
        for (shard, reply) in join_all(ticks).await {
            match reply {
                Ok(ShardReply::Tick(report)) => {
                    if report.late_ms > LAG_MS {
                        worker::console_error!(
                            "{{\"event\":\"raise\",\"cause\":\"scheduler_lag\",\"shard\":{shard},\"late_ms\":{}}}",
                            report.late_ms
                        );
                    }
                    reports.push(report);
                }
                Ok(_) => {}
                Err(error) => worker::console_error!(
                    "{{\"event\":\"tick_failed\",\"detail\":{:?}}}",
                    error.to_string()
                ),
            }
        }
        if let Err(why) = projection::sweep(env, time).await {
            worker::console_warn!("{{\"event\":\"d1_away\",\"why\":{why:?}}}");
        }
        let hour = time.0.div_euclid(HOUR);
        if self.poked.replace(hour) < hour {
            self.poke_endpoints().await;
        }
        reports
    }

    /// Shards wake the endpoints that owe them word. One that lost its alarm with nothing but a replay
    /// waiting is known to no shard: once an hour every endpoint is asked to look.
    async fn poke_endpoints(&self) {
        let env = &self.platform.env;
        let endpoints = match directory::endpoints(env).await {
            Ok(endpoints) => endpoints,
            Err(why) => {
                // Tried again in a minute.
                self.poked.set(0);
                worker::console_warn!("{{\"event\":\"d1_away\",\"why\":{why:?}}}");
                return;
            }
        };
        for some in endpoints.chunks(POKES) {
            let asks = some
                .iter()
                .map(|endpoint| ask_endpoint(env, endpoint, &EndpointAsk::Tick));
            for answer in join_all(asks).await {
                if let Err(error) = answer {
                    worker::console_warn!(
                        "{{\"event\":\"tick_failed\",\"detail\":{:?}}}",
                        error.to_string()
                    );
                }
            }
        }
    }
}
