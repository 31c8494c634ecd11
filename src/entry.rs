//! What the runtime calls: requests, the minute tick, the executor.

use std::panic::AssertUnwindSafe;

use wasm_bindgen::prelude::*;
use worker::{Context, Env, Request, Response, Result, ScheduleContext, ScheduledEvent, event};

use crate::{deliver, edge, host};

/// A request from outside.
#[event(fetch)]
async fn fetch(request: Request, env: Env, context: Context) -> Result<Response> {
    edge::handle(request, env, context).await
}

/// The Cron Trigger: the mainspring.
#[event(scheduled)]
async fn scheduled(_event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    if let Err(error) = host::client::poke_clock(&env).await {
        worker::console_error!(
            "{{\"event\":\"tick_failed\",\"detail\":{:?}}}",
            error.to_string()
        );
    }
}

/// The executor: `src/shim.js` calls it from the `Executor` entrypoint, which has no public route.
#[wasm_bindgen]
pub async fn executor_fetch(
    request: web_sys::Request,
    env: Env,
    _context: worker::worker_sys::Context,
) -> std::result::Result<web_sys::Response, JsValue> {
    AssertUnwindSafe(async move {
        let response = deliver::handle(request.into(), env)
            .await
            .map_err(JsValue::from)?;
        Ok(response.into())
    })
    .await
}
