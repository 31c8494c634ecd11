//! The decisions of Cronwright, and nothing else.
//!
//! Everything here is a pure function of its arguments: no clock is read, no random number drawn,
//! nothing is sent or stored. Hosts (a Durable Object, the simulator) feed events and the time in,
//! commit the [`machine::Turn`] that comes back, and only then perform its effects.
//!
//! - [`schedule`]: planned instants from cron text, intervals and single instants, in time zones.
//! - [`machine`]: the contract between a machine and its host.
//! - [`job`], [`endpoint`]: the machines.
//! - [`outcome`]: the names of states, shared by records, API, pages and callbacks.
//! - [`ids`], [`time`]: the values they speak in.

pub mod endpoint;
pub mod ids;
pub mod job;
pub mod machine;
pub mod outcome;
pub mod schedule;
pub mod time;

/// Whether a field may be left out of a record.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
