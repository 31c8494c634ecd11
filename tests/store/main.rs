//! The store does what it says, on SQLite itself with every migration applied.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod access;
mod jobs;
mod runs;
#[path = "../sqlite/mod.rs"]
mod sqlite;

use cronwright_core::ids::JobId;

/// An instant of 2026.
const T: i64 = 1_796_000_000_000;

fn id(text: &str) -> JobId {
    text.parse().unwrap()
}
