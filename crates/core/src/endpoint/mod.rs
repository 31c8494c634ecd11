//! Callback endpoints: one queue, one order and one breaker per app and URL.
//!
//! The job's shard says "deliver these bytes" ([`Event::Enqueue`]); the endpoint signs nothing and
//! sends nothing itself, it decides *when* each attempt is made ([`Effect::Post`]) and tells the shard
//! how the delivery ended ([`Effect::Settle`]) until the shard has taken its word. A callback retry
//! never runs a job again: nothing here can.
//!
//! - [`step`](EndpointMachine): the machine and its transition table.
//! - `record`: what is stored. `event`: what goes in and comes out.
//! - `delay`: when to try again, and when to give up. `breaker`: whether to try at all.
//! - `queue`: the deliveries and the order they go in.
//! - `control`: what shards and operators ask for. `attempt`: what an attempt's end means.
//! - `sweep`: what time alone does. `view`: what people see.

mod attempt;
mod breaker;
mod control;
mod delay;
mod event;
mod queue;
mod record;
mod step;
mod sweep;
mod view;

pub use breaker::{Breaker, FAILURES_TO_OPEN, PROBE_EVERY_MS};
pub use delay::{attempts_max, base_delays_ms, delay_ms, honoured_ms, patience_ms};
pub use event::{AttemptResult, Change, Effect, EndpointTurn, Event, NewDelivery, Reject};
pub use record::{
    AttemptRow, Config, Delivery, DeliveryState, RECORD_VERSION, Settle, StateWord, Stats,
};
pub use step::EndpointMachine;
pub use view::{DeliveryView, EndpointView};

use crate::time::{DAY, SECOND};

/// Limit of one attempt over head and body, in ms.
pub const TIMEOUT_MS: i64 = 15 * SECOND;
/// How much longer than [`TIMEOUT_MS`] the machine waits for word of an attempt, in ms.
pub const GRACE_MS: i64 = 5 * SECOND;
/// Attempts in flight at one endpoint, at most.
pub const IN_FLIGHT_MAX: usize = 8;
/// Deliveries that have not ended, or whose end the shard has not taken yet, at most.
pub const QUEUE_MAX: usize = 10_000;
/// Bytes of their bodies, at most: an object has 128 MiB of memory for everything.
pub const QUEUE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of one body, at most. Standard Webhooks asks for less than 20 kB; a result document may be larger.
pub const BODY_BYTES_MAX: usize = 64 * 1024;
/// Delivered records that are kept: the newest so many.
pub const DONE_KEPT: usize = 100;
/// Dead deliveries that are kept for replay: the newest so many.
pub const DEAD_KEPT: usize = 1_000;
/// Bytes of dead bodies that are kept for replay, at most.
pub const DEAD_BYTES_KEPT: usize = 16 * 1024 * 1024;
/// How long a dead delivery is kept for replay, in ms.
pub const DEAD_KEPT_MS: i64 = 30 * DAY;
/// Lost attempts of one delivery that cost it nothing; later ones count as failures of ours.
pub const LOSSES_FREE: u32 = 3;
/// Rows of history kept per delivery: the newest so many.
pub const HISTORY_MAX: usize = 32;
/// Characters of a failed response's body that are kept.
pub const EXCERPT_CHARS_MAX: usize = 300;
/// Records of one kind that one [`Event::Wake`] handles, at most: the rest follows at the next.
pub const SWEEP_MAX: usize = 200;
