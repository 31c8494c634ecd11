//! Effects out: HTTP requests of jobs, callbacks, and rows for D1. The only room that fetches.

pub mod directory;
mod exchange;
mod executor;
pub mod projection;
mod signing;
mod thin;

pub use executor::{WHOLE, handle};
