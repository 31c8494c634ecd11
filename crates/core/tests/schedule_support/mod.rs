//! What the schedule tests share.
#![allow(dead_code, missing_docs)]

pub mod cases;
pub mod reference;
