//! HTTP in. One table says what exists (`cronwright_protocol::api::routes`); here it is served.
//!
//! A request passes, in this order: its path is the one spelling it has; the deployment has its secret;
//! the table has the route; the query holds only what the route takes; whoever asks may; the body is
//! within its limit. Only then does anything look at what it says. Everything that goes wrong becomes a
//! problem in `error`, everything that goes out passes `respond`.

mod apps;
mod audit;
mod auth;
mod call;
mod endpoints;
mod error;
mod jobs;
mod jobs_list;
mod jobs_write;
mod limits;
mod pages;
mod pages_home;
mod reports;
mod respond;
mod route;
mod rows;
mod runs;
mod runs_start;
mod session;
mod setup;
mod system;
mod tokens;

use worker::{Context, Env, Request, Response, Result};

use call::Call;

/// Answers a request. Whatever happens becomes a response.
///
/// # Errors
/// Only when the runtime cannot even make a response.
pub async fn handle(request: Request, env: Env, context: Context) -> Result<Response> {
    let mut call = Call::new(request, env, context);
    let answer = route::serve(&mut call).await;
    respond::finish(&call, answer)
}
