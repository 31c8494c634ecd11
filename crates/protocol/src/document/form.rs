//! The document as types: what [`super::write()`] makes, and the schema of what [`super::read`] takes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A job document.
///
/// One of `cron`, `every`, `at` and `after` says when the job fires; without any of them it runs only
/// on request. Everything but `name` and `executor` may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(example = json!({
    "jobId": "order-sync", "name": "order-sync-to-erp", "cron": "0 0/5 * * * ?", "timeZone": "Asia/Shanghai",
    "executor": "https://erp.example.com/run", "timeoutMs": 30000, "retryTimes": 3,
    "callbackUrl": "https://openapi.example.com/v1/callback/order", "status": "ENABLED"
})))]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    /// 1 to 64 of `A-Z a-z 0-9 _ -`. Made by the server when missing.
    #[cfg_attr(
        feature = "openapi",
        schema(required = false, pattern = "^[A-Za-z0-9_-]{1,64}$")
    )]
    pub job_id: String,
    /// Shown and searched.
    #[cfg_attr(
        feature = "openapi",
        schema(required = true, min_length = 1, max_length = 200)
    )]
    pub name: String,
    /// Free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub description: Option<String>,
    /// Who answers for the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub owner: Option<String>,
    /// At most 20 names and values, for filters and grants.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// A cron text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "0 0/5 * * * ?"))]
    pub cron: Option<String>,
    /// The grammar of `cron`: `quartz`, `unix`, `unix-seconds`, or `auto` (default), which is resolved
    /// when the job is saved and refuses texts that mean different things in different grammars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// IANA name of the zone of `cron`. Default `UTC`. `timezone` is taken too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// A period in UTC, `1s` to `366d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "5s"))]
    pub every: Option<String>,
    /// An instant of the series of `every` (RFC 3339). Default: the epoch, so a period of `1h` fires on the hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// Once, at this instant (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// When a run of another job ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<AfterForm>,
    /// No occurrence before this instant (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_at: Option<String>,
    /// No occurrence at or after this instant (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_at: Option<String>,
    /// Every start of the job is late by one fixed amount of 0 to this many ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 3_600_000))]
    pub jitter_ms: Option<i64>,
    /// Windows in which occurrences are skipped, on the clock of `timeZone`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blackouts: Vec<BlackoutForm>,
    /// What a run does.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub executor: ExecutorForm,
    /// The pool whose agents run the job; needed for private addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// How a pool picks an agent: `round_robin`, `weighted_round_robin`, `random`, `least_active`,
    /// `consistency_hash`, `broadcast`, `sharding` or `pinned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_strategy: Option<String>,
    /// The key of `consistency_hash`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_key: Option<String>,
    /// Limit of one attempt. Default 30000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 100, maximum = 86_400_000))]
    pub timeout_ms: Option<i64>,
    /// Limit of a whole run, all attempts and waits included.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1000, maximum = 604_800_000))]
    pub deadline_ms: Option<i64>,
    /// When a running attempt "may be stuck". Default: three times the job's median duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 100, maximum = 86_400_000))]
    pub warn_after_ms: Option<i64>,
    /// Retries after the first attempt. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 20))]
    pub retry_times: Option<u32>,
    /// Waits before each retry, in ms or as texts such as `30s`; the last repeats. Default 30s, 120s, 300s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Value>, max_items = 20))]
    pub retry_delays: Vec<Value>,
    /// Which outcomes are retried: `FAILED`, `TIMED_OUT`. Default both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retry_on: Vec<String>,
    /// What happens to occurrences that passed without a start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misfire: Option<MisfireForm>,
    /// When the previous run is still active: `skip` (default), `queue`, `replace` or `allow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<String>,
    /// With `queue`, how many runs may wait. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 100))]
    pub queue_limit: Option<u32>,
    /// Where results go.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(example = "https://openapi.example.com/v1/callback/order")
    )]
    pub callback_url: Option<String>,
    /// The app whose secret signs callbacks; `appId` is taken too. Default `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_app: Option<String>,
    /// How long callbacks are tried: `standard` (default, 12.6 minutes) or `durable` (75 hours).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_preset: Option<String>,
    /// `ENABLED` (default), or `PAUSED`, for which `DISABLED` is another word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// What a run does: the URL to `POST` to, or all of an HTTP request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum ExecutorForm {
    /// The URL to `POST` to.
    Url(String),
    /// An HTTP request.
    Http(HttpForm),
}

impl Default for ExecutorForm {
    fn default() -> Self {
        Self::Url(String::new())
    }
}

/// An HTTP request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct HttpForm {
    /// Always `http`; other kinds arrive with agents.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub kind: String,
    /// Where to.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub url: String,
    /// `GET`, `POST` (default), `PUT`, `PATCH`, `DELETE` or `HEAD`.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub method: String,
    /// Sent as they are.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// A text, in which `{{scheduleId}}`, `{{jobId}}`, `{{plannedAt}}`, `{{attempt}}`, `{{fence}}` and
    /// `{{params}}` are filled in, or JSON that is sent as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Status codes that mean success: numbers and ranges such as `"200-299"`, which is the default.
    #[cfg_attr(feature = "openapi", schema(required = false, max_items = 20))]
    pub expected_status: Vec<Value>,
    /// `sync` (default): the response is the result. `accepted`: 202 means that the callee reports later.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub mode: String,
}

/// Which job a job runs after: its id, or the id and which ends of its runs count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum AfterForm {
    /// After a success of this job.
    Job(String),
    /// After chosen ends.
    #[serde(rename_all = "camelCase")]
    Ends {
        /// The other job.
        job_id: String,
        /// `success` (default), `failure` or `finish`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
}

/// What happens to occurrences that passed without a start: a policy, or a policy with its bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum MisfireForm {
    /// `fire_once` (default), `skip` or `catch_up`.
    Policy(String),
    /// With bounds.
    #[serde(rename_all = "camelCase")]
    Bounded {
        /// `fire_once`, `skip` or `catch_up`.
        policy: String,
        /// Older occurrences are never made up for: ms, or a text such as `1h`, which is the default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catch_up_window: Option<Value>,
        /// With `catch_up`, how many at most. Default 10.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_catch_up: Option<u32>,
    },
}

/// A window in which occurrences are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BlackoutForm {
    /// For a weekly window: days on which it begins, `SUN` to `SAT`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<String>,
    /// Weekly: `HH:MM`, default `00:00`. Otherwise an instant (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Weekly: `HH:MM`, default `24:00`; before `from` means the next day. Otherwise an instant (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}
