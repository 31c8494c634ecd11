//! A saved definition as the document that would save it again.

use cronwright_core::job::def::{
    AfterOn, Blackout, CallbackPreset, Definition, Executor, HttpMode, HttpTask, Misfire,
    MisfirePolicy, Overlap, RetryOn, RouteStrategy, ScheduleSpec,
};
use cronwright_core::schedule::rfc3339;
use cronwright_core::time::Millis;
use serde_json::Value;

use super::form::{AfterForm, BlackoutForm, Document, ExecutorForm, HttpForm, MisfireForm};
use super::span::period_text;
use super::window::{DAYS, clock};

/// Writes a definition out in full: defaults are spelled out, so a later default changes no saved job.
#[must_use]
pub fn write(definition: &Definition, enabled: bool) -> Document {
    let Definition {
        executor: Executor::Http(task),
        callback,
        retry,
        ..
    } = definition;
    let mut document = Document {
        job_id: definition.job_id.to_string(),
        name: definition.name.clone(),
        description: definition.description.clone(),
        owner: definition.owner.clone(),
        labels: definition.labels.clone(),
        start_at: definition.start_at.map(rfc3339),
        end_at: definition.end_at.map(rfc3339),
        jitter_ms: Some(definition.jitter_ms).filter(|jitter| *jitter != 0),
        blackouts: definition.blackouts.iter().map(blackout).collect(),
        executor: ExecutorForm::Http(http(task)),
        pool: definition.pool.clone(),
        route_strategy: definition
            .route_strategy
            .map(|strategy| route(strategy).to_owned()),
        route_key: definition.route_key.clone(),
        timeout_ms: Some(definition.timeout_ms),
        deadline_ms: definition.deadline_ms,
        warn_after_ms: definition.warn_after_ms,
        retry_times: Some(retry.times),
        retry_delays: retry.delays_ms.iter().map(|ms| Value::from(*ms)).collect(),
        retry_on: retry.on.iter().map(|on| retried(*on).to_owned()).collect(),
        misfire: Some(misfire(&definition.misfire)),
        overlap: Some(overlap(definition.overlap).to_owned()),
        queue_limit: Some(definition.queue_limit),
        callback_url: callback.as_ref().map(|target| target.url.clone()),
        callback_app: callback.as_ref().map(|target| target.app.to_string()),
        callback_preset: callback
            .as_ref()
            .map(|target| preset(target.preset).to_owned()),
        status: Some(if enabled { "ENABLED" } else { "PAUSED" }.to_owned()),
        ..Document::default()
    };
    schedule(&mut document, &definition.schedule);
    document
}

fn schedule(document: &mut Document, spec: &ScheduleSpec) {
    match spec {
        ScheduleSpec::Cron {
            text,
            dialect,
            zone,
        } => {
            document.cron = Some(text.clone());
            document.dialect = Some(dialect.as_str().to_owned());
            document.time_zone = Some(zone.clone());
        }
        ScheduleSpec::Every { period_ms, anchor } => {
            document.every = Some(period_text(*period_ms));
            document.anchor = Some(*anchor)
                .filter(|anchor| *anchor != Millis::ZERO)
                .map(rfc3339);
        }
        ScheduleSpec::At { at } => document.at = Some(rfc3339(*at)),
        ScheduleSpec::After { job, on } => {
            let on = match on {
                AfterOn::Success => "success",
                AfterOn::Failure => "failure",
                AfterOn::Finish => "finish",
            };
            document.after = Some(AfterForm::Ends {
                job_id: job.to_string(),
                on: Some(on.to_owned()),
            });
        }
        ScheduleSpec::None => {}
    }
}

fn http(task: &HttpTask) -> HttpForm {
    HttpForm {
        kind: "http".to_owned(),
        url: task.url.clone(),
        method: task.method.clone(),
        headers: task.headers.clone(),
        body: task.body.clone().map(Value::String),
        expected_status: task.expect.iter().map(|range| status(*range)).collect(),
        mode: match task.mode {
            HttpMode::Sync => "sync",
            HttpMode::Accepted => "accepted",
        }
        .to_owned(),
    }
}

fn status((from, to): (u16, u16)) -> Value {
    if from == to {
        Value::from(from)
    } else {
        Value::from(format!("{from}-{to}"))
    }
}

fn blackout(window: &Blackout) -> BlackoutForm {
    match window {
        Blackout::Between { from, until } => BlackoutForm {
            days: Vec::new(),
            from: Some(rfc3339(*from)),
            until: Some(rfc3339(*until)),
        },
        Blackout::Weekly {
            days,
            from_minute,
            until_minute,
        } => BlackoutForm {
            days: days
                .iter()
                .filter_map(|day| DAYS.get(usize::from(*day)))
                .map(|day| (*day).to_owned())
                .collect(),
            from: Some(clock(*from_minute)),
            until: Some(clock(*until_minute)),
        },
    }
}

fn misfire(policy: &MisfirePolicy) -> MisfireForm {
    let name = match policy.policy {
        Misfire::FireOnce => "fire_once",
        Misfire::Skip => "skip",
        Misfire::CatchUp => "catch_up",
    };
    MisfireForm::Bounded {
        policy: name.to_owned(),
        catch_up_window: Some(Value::from(policy.catch_up_window_ms)),
        max_catch_up: Some(policy.max_catch_up),
    }
}

const fn retried(on: RetryOn) -> &'static str {
    match on {
        RetryOn::Failed => "FAILED",
        RetryOn::TimedOut => "TIMED_OUT",
    }
}

const fn overlap(overlap: Overlap) -> &'static str {
    match overlap {
        Overlap::Skip => "skip",
        Overlap::Queue => "queue",
        Overlap::Replace => "replace",
        Overlap::Allow => "allow",
    }
}

const fn preset(preset: CallbackPreset) -> &'static str {
    match preset {
        CallbackPreset::Standard => "standard",
        CallbackPreset::Durable => "durable",
    }
}

const fn route(strategy: RouteStrategy) -> &'static str {
    match strategy {
        RouteStrategy::RoundRobin => "round_robin",
        RouteStrategy::WeightedRoundRobin => "weighted_round_robin",
        RouteStrategy::Random => "random",
        RouteStrategy::LeastActive => "least_active",
        RouteStrategy::ConsistencyHash => "consistency_hash",
        RouteStrategy::Broadcast => "broadcast",
        RouteStrategy::Sharding => "sharding",
        RouteStrategy::Pinned => "pinned",
    }
}
