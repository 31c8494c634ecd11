//! The Durable Objects: thin shells around the machines of `cronwright-core`.
//!
//! A host loads records, feeds events, commits turns and performs effects. What it never does is
//! decide. `shard` hosts many jobs, `endpoint` one callback endpoint, `clock` the minute.

pub mod client;
pub mod message;

mod classes;
mod clock;
mod endpoint;
mod executor;
mod object;
mod records;
mod shard;
