//! Who may do what.

use cronwright_core::ids::JobId;
use serde::{Deserialize, Serialize};

/// What a token or session may do: each role may do all that those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also creates, changes and runs jobs.
    Operator,
    /// Also manages apps, tokens and the system.
    Admin,
}

impl Role {
    /// Every role, from the least.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    /// The name on the wire and in D1.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }

    /// The role of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// The jobs a token reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All of them.
    #[default]
    All,
    /// Only these.
    Jobs(Vec<JobId>),
}

impl Reach {
    /// Whether it reaches this job.
    #[must_use]
    pub fn holds(&self, job: &JobId) -> bool {
        match self {
            Self::All => true,
            Self::Jobs(jobs) => jobs.contains(job),
        }
    }

    /// Whether it reaches every job: what is not about one job needs this.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }
}
