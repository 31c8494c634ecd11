//! What is asked about runs, and what callees report.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RunRequest {
    /// Input of the run: any JSON, at most 16 KiB; fills `{{params}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
    /// Instead of the job's own overlap policy: `skip`, `queue`, `replace` or `allow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<String>,
}

/// The end of an accepted run, as its callee reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CompleteRequest {
    /// `SUCCESS` or `FAILED`.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub status: String,
    /// One line for people, at most 1,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Output, at most 16 KiB are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Stable word of what went wrong, 1–64 of `A-Z a-z 0-9 _ - .`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// The `X-Fence` the callee was given. Required with `X-Run-Token`; otherwise default: that of the current attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
}

/// How far an accepted run is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ProgressRequest {
    /// 0–100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 100))]
    pub percent: Option<u8>,
    /// At most 1,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// As for the end of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
}
