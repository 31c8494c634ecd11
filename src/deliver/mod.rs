//! Effects out: HTTP requests of jobs, callbacks, and rows for D1. The only room that fetches.

pub mod directory;
mod executor;
pub mod projection;
mod signing;
mod thin;
mod trip;

pub use executor::{WHOLE, handle};
