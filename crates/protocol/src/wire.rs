//! What crosses between our own parts, and between us and those we call.
//!
//! - [`post`]: the batch an object hands to the executor, and the lines that come back.
//! - [`headers`]: names of headers, and which of them a job may set.
//! - [`template`]: bodies of jobs.
//! - [`retry_after`]: the receiver's wish to be left alone for a while.

pub mod headers;
pub mod post;
pub mod retry_after;
pub mod template;

pub use post::{Post, PostBatch, PostKind, Posted, WireError};
pub use retry_after::parse_retry_after;
