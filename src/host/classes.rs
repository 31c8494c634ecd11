//! The classes that the runtime makes. Each only unwraps the request.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

/// The name under which an object was called: after a restart the runtime does not know it.
async fn unwrap(mut request: Request) -> Result<(String, String)> {
    let name = request.path().trim_start_matches('/').to_owned();
    Ok((name, request.text().await?))
}

/// Hosts the job machines of many jobs.
#[durable_object(alarm)]
pub struct JobShard(AssertUnwindSafe<Rc<super::shard::Shard>>);

impl DurableObject for JobShard {
    fn new(state: State, env: Env) -> Self {
        Self(AssertUnwindSafe(super::shard::Shard::new(state, env)))
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let (name, body) = unwrap(request).await?;
        self.0.fetch(&name, &body).await
    }

    async fn alarm(&self) -> Result<Response> {
        self.0.alarm();
        Response::empty()
    }
}

/// Hosts one callback endpoint.
#[durable_object(alarm)]
pub struct Endpoint(AssertUnwindSafe<Rc<super::endpoint::Endpoint>>);

impl DurableObject for Endpoint {
    fn new(state: State, env: Env) -> Self {
        Self(AssertUnwindSafe(super::endpoint::Endpoint::new(state, env)))
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let (name, body) = unwrap(request).await?;
        self.0.fetch(&name, &body).await
    }

    async fn alarm(&self) -> Result<Response> {
        self.0.alarm();
        Response::empty()
    }
}

/// The second clock.
#[durable_object(alarm)]
pub struct Clock(AssertUnwindSafe<Rc<super::clock::Clock>>);

impl DurableObject for Clock {
    fn new(state: State, env: Env) -> Self {
        Self(AssertUnwindSafe(super::clock::Clock::new(state, env)))
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let (name, _) = unwrap(request).await?;
        self.0.fetch(&name).await
    }

    async fn alarm(&self) -> Result<Response> {
        self.0.alarm();
        Response::empty()
    }
}
