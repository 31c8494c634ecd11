//! How long D1 keeps what grows.

use cronwright_core::time::{DAY, Millis};

use super::{Database, Query, StoreError, audit, change, runs};

/// How long rows are kept, and how many one sweep removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days for ended runs.
    pub runs_days: u16,
    /// Days for the audit.
    pub audit_days: u16,
    /// Days for sessions after their end.
    pub sessions_days: u16,
    /// Rows removed per table and sweep: deletes are billed and hold the database up. The minute tick
    /// sweeps, so this times 1,440 is what a day can remove.
    pub per_sweep: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            runs_days: 30,
            audit_days: 400,
            sessions_days: 7,
            per_sweep: 2_000,
        }
    }
}

/// How many rows a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Runs.
    pub runs: u64,
    /// Entries of the audit.
    pub audit: u64,
    /// Sessions.
    pub sessions: u64,
}

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[("retention::PRUNE_SESSIONS", PRUNE_SESSIONS)];

const PRUNE_SESSIONS: &str = "
DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2)";

/// Removes what is older than its retention, a bounded number of rows per call.
///
/// # Errors
/// When the database fails; the call may be repeated.
pub async fn sweep(db: &impl Database, now: Millis, keep: &Retention) -> Result<Swept, StoreError> {
    let before = |days: u16| now.plus(i64::from(days).saturating_mul(-DAY));
    let limit = keep.per_sweep;
    Ok(Swept {
        runs: runs::prune(db, before(keep.runs_days), limit).await?,
        audit: audit::prune(db, before(keep.audit_days), limit).await?,
        sessions: change(
            db,
            Query::new(
                PRUNE_SESSIONS,
                [before(keep.sessions_days).into(), limit.into()],
            ),
        )
        .await?,
    })
}
