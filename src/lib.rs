//! Cronwright on Cloudflare Workers: the rooms, and the three ways in.
//!
//! `edge` takes HTTP in, `host` are the Durable Objects, `deliver` lets effects out, `store` is D1, `ui`
//! makes pages. What they decide is decided in `cronwright-core`. ARCHITECTURE.md is the map.

pub mod store;
pub mod ui;

#[cfg(target_arch = "wasm32")]
mod deliver;
#[cfg(target_arch = "wasm32")]
mod edge;
#[cfg(target_arch = "wasm32")]
mod entry;
#[cfg(target_arch = "wasm32")]
mod host;
