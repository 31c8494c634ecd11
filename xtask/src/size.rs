//! `cargo xtask size`: what a deploy would upload, and how long it takes to start.

use crate::{Outcome, node, process, setup, wasm};

pub fn run() -> Outcome {
    setup::npm()?;
    wasm::build(true)?;
    process::run(
        "size",
        node::script("xtask/size.mjs")?.env("XTASK_SKIP_BUILD", "1"),
    )
}
