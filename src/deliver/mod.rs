//! Effects out: HTTP requests of jobs, callbacks, and rows for D1. The only room that fetches.

mod exchange;
mod executor;
pub mod directory;
pub mod projection;
mod signing;
mod thin;

pub use executor::{WHOLE, handle, policy_of};
