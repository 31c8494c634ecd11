//! What the API and the pages see.

use std::cmp::Reverse;

use serde::Serialize;

use super::Breaker;
use super::delay::attempts_max;
use super::record::{AttemptRow, Config, Delivery, DeliveryState, Settle, StateWord, Stats};
use super::step::EndpointMachine;
use crate::ids::{AppId, EndpointId, JobId, RunId};
use crate::time::Millis;

/// An endpoint at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointView {
    /// The endpoint's id.
    pub endpoint_id: EndpointId,
    /// Whose secret signs.
    pub app: AppId,
    /// Where to.
    pub url: String,
    /// `closed`, `open` or `half_open`.
    pub breaker: &'static str,
    /// Failures since the last success, while closed.
    pub failures_in_a_row: u32,
    /// Since when the breaker has not been closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    /// When a probe is let through, while open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_at: Option<Millis>,
    /// Deliveries that wait.
    pub queue_length: usize,
    /// Attempts under way.
    pub in_flight: usize,
    /// Dead deliveries, kept for replay.
    pub dead: usize,
    /// Ends that the jobs' shards do not know yet.
    pub unsettled: usize,
    /// Counters since the endpoint was created.
    pub stats: Stats,
    /// Live versions of the signing key, newest first.
    pub key_versions: Vec<u32>,
    /// When the endpoint was created.
    pub created_at: Millis,
}

/// A delivery as lists show it; the body is in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// Whose result.
    pub schedule_id: RunId,
    /// Whose run.
    pub job_id: JobId,
    /// The order within the job.
    pub seq: u64,
    /// Where it stands.
    pub state: StateWord,
    /// Attempts used up in this round.
    pub attempts: u32,
    /// Attempts it may use up.
    pub attempts_max: u32,
    /// How often it was replayed.
    pub round: u32,
    /// While it waits: no attempt before this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Millis>,
    /// When it was taken in.
    pub enqueued_at: Millis,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// Why it was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whether the job's shard knows how it ended.
    pub settled: bool,
    /// Bytes of its body.
    pub body_bytes: usize,
    /// Its newest attempts, oldest first.
    pub history: Vec<AttemptRow>,
}

impl EndpointMachine {
    /// The endpoint's own record.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The delivery of that run, body included.
    #[must_use]
    pub fn delivery(&self, run: &RunId) -> Option<&Delivery> {
        self.queue.get(run)
    }

    /// Runs and numbers of the attempts in flight: a host that starts again reports each of these
    /// that it has no live call for as [`AttemptLost`](super::Event::AttemptLost).
    #[must_use]
    pub fn in_flight(&self) -> Vec<(RunId, u32)> {
        let found = self
            .queue
            .in_flight
            .iter()
            .filter_map(|(_, run)| self.queue.get(run));
        found
            .map(|delivery| (delivery.run.clone(), delivery.starts))
            .collect()
    }

    /// The endpoint at a glance.
    #[must_use]
    pub fn view(&self) -> EndpointView {
        let Config {
            app,
            url,
            key_versions,
            breaker,
            created_at,
            stats,
        } = &self.config;
        let (failures_in_a_row, since, probe_at) = match breaker {
            Breaker::Closed { failures_in_a_row } => (*failures_in_a_row, None, None),
            Breaker::Open { since, probe_at } => (0, Some(*since), Some(*probe_at)),
            Breaker::HalfOpen { since, .. } => (0, Some(*since), None),
        };
        EndpointView {
            endpoint_id: self.config.id(),
            app: app.clone(),
            url: url.clone(),
            breaker: breaker.as_str(),
            failures_in_a_row,
            since,
            probe_at,
            queue_length: self.queue.give_up.len(),
            in_flight: self.queue.in_flight.len(),
            dead: self.queue.dead_len,
            unsettled: self.queue.owed.len(),
            stats: *stats,
            key_versions: key_versions.clone(),
            created_at: *created_at,
        }
    }

    /// At most `limit` deliveries, latest runs first, of one state or of all; `after` is the last run
    /// of the page before, which need not exist any more.
    #[must_use]
    pub fn deliveries(
        &self,
        state: Option<StateWord>,
        after: Option<&RunId>,
        limit: usize,
    ) -> Vec<DeliveryView> {
        let place = |run: &RunId| Reverse((run.at, run.clone()));
        let after = after.map(place);
        let mut found: Vec<&Delivery> = self
            .queue
            .all()
            .filter(|delivery| state.is_none_or(|state| delivery.state.word() == state))
            .filter(|delivery| {
                after
                    .as_ref()
                    .is_none_or(|after| place(&delivery.run) > *after)
            })
            .collect();
        found.sort_by_cached_key(|delivery| place(&delivery.run));
        found
            .into_iter()
            .take(limit)
            .map(DeliveryView::of)
            .collect()
    }
}

impl DeliveryView {
    /// The delivery as lists show it.
    #[must_use]
    pub fn of(delivery: &Delivery) -> Self {
        Self {
            schedule_id: delivery.run.clone(),
            job_id: delivery.job.clone(),
            seq: delivery.seq,
            state: delivery.state.word(),
            attempts: delivery.attempts,
            attempts_max: attempts_max(delivery.preset),
            round: delivery.round,
            not_before: (delivery.state == DeliveryState::Waiting).then_some(delivery.not_before),
            enqueued_at: delivery.enqueued_at,
            ended_at: delivery.ended_at,
            code: delivery.code.clone(),
            settled: delivery.settle == Settle::Acked,
            body_bytes: delivery.body.len(),
            history: delivery.history.clone(),
        }
    }
}
