//! Endpoints and deliveries as their objects send them.

use cronwright_core::schedule::rfc3339;

use super::callback::{Attempt, Delivery, Endpoint};

/// The core's views as an endpoint object sends them: the same, with instants as numbers.
mod sent {
    use cronwright_core::time::Millis;
    use serde::Deserialize;

    use crate::api::EndpointCounters;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Endpoint {
        pub endpoint_id: String,
        pub app: String,
        pub url: String,
        pub breaker: String,
        #[serde(default)]
        pub failures_in_a_row: u32,
        pub since: Option<Millis>,
        pub probe_at: Option<Millis>,
        pub queue_length: u64,
        pub in_flight: u64,
        pub dead: u64,
        #[serde(default)]
        pub stats: EndpointCounters,
        #[serde(default)]
        pub key_versions: Vec<u32>,
        pub created_at: Millis,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Delivery {
        pub schedule_id: String,
        pub job_id: String,
        pub seq: u64,
        pub state: String,
        pub attempts: u32,
        pub attempts_max: u32,
        pub round: u32,
        pub not_before: Option<Millis>,
        pub enqueued_at: Millis,
        pub ended_at: Option<Millis>,
        pub code: Option<String>,
        #[serde(default)]
        pub history: Vec<Attempt>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Attempt {
        pub attempt: u32,
        pub at: Millis,
        pub status: Option<u16>,
        pub fault: Option<String>,
        pub ms: i64,
        pub excerpt: Option<String>,
    }
}

impl Endpoint {
    /// The endpoint as its object sent it.
    ///
    /// # Errors
    /// When that is not the core's view of an endpoint.
    pub fn of(view: serde_json::Value) -> Result<Self, serde_json::Error> {
        let sent: sent::Endpoint = serde_json::from_value(view)?;
        Ok(Self {
            endpoint_id: sent.endpoint_id,
            app_id: sent.app,
            url: sent.url,
            breaker: sent.breaker,
            failures_in_a_row: sent.failures_in_a_row,
            since: sent.since.map(rfc3339),
            probe_at: sent.probe_at.map(rfc3339),
            waiting: sent.queue_length,
            in_flight: sent.in_flight,
            dead: sent.dead,
            counters: Some(sent.stats),
            key_versions: sent.key_versions,
            created_at: rfc3339(sent.created_at),
        })
    }
}

impl Delivery {
    /// The delivery as its endpoint's object sent it.
    ///
    /// # Errors
    /// When that is not the core's view of a delivery.
    pub fn of(view: serde_json::Value) -> Result<Self, serde_json::Error> {
        let sent: sent::Delivery = serde_json::from_value(view)?;
        let history = sent.history.into_iter().map(|row| Attempt {
            attempt: row.attempt,
            at: rfc3339(row.at),
            status: row.status,
            fault: row.fault,
            ms: row.ms,
            excerpt: row.excerpt,
        });
        Ok(Self {
            schedule_id: sent.schedule_id,
            job_id: sent.job_id,
            seq: sent.seq,
            state: sent.state,
            attempts: sent.attempts,
            attempts_max: sent.attempts_max,
            round: sent.round,
            not_before: sent.not_before.map(rfc3339),
            enqueued_at: rfc3339(sent.enqueued_at),
            ended_at: sent.ended_at.map(rfc3339),
            code: sent.code,
            history: history.collect(),
        })
    }
}
