//! Callback endpoints and their deliveries.

use cronwright_core::schedule::rfc3339;
use cronwright_core::time::Millis;
use serde::{Deserialize, Serialize};

/// Where the callbacks of one app and URL go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// The endpoint's id.
    pub endpoint_id: String,
    /// The app whose secret signs.
    pub app_id: String,
    /// Where to.
    pub url: String,
    /// `closed` (deliveries flow), `open` (they wait) or `half_open` (one probe is out).
    pub breaker: String,
    /// Failures since the last success.
    pub failures_in_a_row: u32,
    /// Since when the breaker has not been closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// When a probe is let through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_at: Option<String>,
    /// Deliveries that wait.
    pub waiting: u64,
    /// Attempts under way.
    pub in_flight: u64,
    /// Dead letters, kept for replay.
    pub dead: u64,
    /// Counters since the endpoint was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<EndpointCounters>,
    /// Live versions of the signing key, newest first.
    #[serde(default)]
    pub key_versions: Vec<u32>,
    /// When the endpoint was created.
    pub created_at: String,
}

/// Counters of an endpoint since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointCounters {
    /// Posts that were made.
    pub attempts: u64,
    /// Deliveries that were taken.
    pub delivered: u64,
    /// Deliveries that were given up.
    pub dead: u64,
}

/// Endpoints, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EndpointPage {
    /// The endpoints. Counts may be a minute old; one endpoint alone is exact.
    pub items: Vec<Endpoint>,
    /// Give it as `cursor` for the next page; missing on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The push of one run's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The run.
    pub schedule_id: String,
    /// The job.
    pub job_id: String,
    /// The order within the job.
    pub seq: u64,
    /// `waiting`, `in_flight`, `done` or `dead`.
    pub state: String,
    /// Attempts used up in this round.
    pub attempts: u32,
    /// Attempts it may use up.
    pub attempts_max: u32,
    /// How often it was replayed.
    pub round: u32,
    /// No attempt before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// When it was taken in.
    pub enqueued_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Why it was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Its newest attempts, oldest first.
    pub history: Vec<Attempt>,
}

/// One post to a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Which attempt.
    pub attempt: u32,
    /// When it began.
    pub at: String,
    /// The receiver's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// How long it took.
    pub ms: i64,
    /// The beginning of a refusal's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// Deliveries of one endpoint, newest runs first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeliveryPage {
    /// The deliveries.
    pub items: Vec<Delivery>,
}

/// What a replay set going.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// Whether it was accepted; deliveries follow in their order.
    pub accepted: bool,
}

/// The core's views as an endpoint object sends them: the same, with instants as numbers.
mod sent {
    use super::{Deserialize, EndpointCounters, Millis};

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
