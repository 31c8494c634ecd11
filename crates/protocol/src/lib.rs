//! What crosses a wire, read and written in one place.
//!
//! Everything here is pure: the time and random bytes are arguments.
//!
//! - [`document`]: job documents, read into checked definitions and written back.
//! - [`api`]: the routes of the HTTP API as data, and what they take and give.
//! - [`problem`]: how the API says no.
//! - [`keys`], [`codes`]: what is derived from the one secret of a deployment.
//! - [`sign`]: signatures of callbacks, made and checked.
//! - [`target`]: which URLs may be called.
//! - [`wire`]: posts between the objects and the executor, header names, body templates.

pub mod api;
pub mod codes;
pub mod document;
pub mod keys;
pub mod problem;
pub mod sign;
pub mod target;
pub mod wire;
