//! The system itself.

use serde::{Deserialize, Serialize};

/// Whether the Worker serves, and which one it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Always true: what cannot serve answers with a problem.
    pub ok: bool,
    /// The release.
    pub version: String,
    /// The release of the time zone database.
    pub tzdb_version: String,
}

/// A step of a rebuild of the database from the objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RebuildRequest {
    /// Where the step before ended; missing for the first step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Shards to walk, when `JOB_SHARDS` was lowered: 1 to 1,024. Default: as many as are configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1024))]
    pub shards: Option<u16>,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    /// Jobs written by this step.
    pub jobs: u64,
    /// Runs written by this step.
    pub runs: u64,
    /// Whether everything was walked.
    pub done: bool,
    /// Give it as `cursor` for the next step; missing when done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
