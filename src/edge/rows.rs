//! Runs as the database has them, in the API's words.

use cronwright_core::outcome::RunState;
use cronwright_core::schedule::rfc3339;
use cronwright_protocol::api::{Ledger, LedgerRow, Run, SkippedRange, TriggeredBy};

use super::error::{Answer, Failure};
use crate::store::runs::RunRow;

/// A run of a list.
pub fn run(row: &RunRow) -> Run {
    Run {
        schedule_id: row.id.to_string(),
        job_id: row.job_id.to_string(),
        seq: row.seq,
        status: row.state.as_str().to_owned(),
        trigger: TriggeredBy {
            kind: row.trigger.as_str().to_owned(),
            by: row.trigger_by.clone(),
            late_ms: Some(row.late_ms),
            run: row.trigger_run.as_ref().map(ToString::to_string),
        },
        planned_at: rfc3339(row.id.at),
        triggered_at: rfc3339(row.triggered_at),
        started_at: row.started_at.map(rfc3339),
        ended_at: row.ended_at.map(rfc3339),
        duration_ms: row.duration_ms,
        attempt: row.attempts,
        losses: row.losses,
        fence: row.fence,
        revision: row.revision,
        http_status: row.http_status,
        error_code: row.error_code.clone(),
        summary: row.summary.clone(),
        progress: None,
        waits: None,
        deadline_at: None,
        skipped: row.range_count.map(|count| SkippedRange {
            count,
            first: None,
            last: Some(rfc3339(row.id.at)),
        }),
        callback: row.callback.as_str().to_owned(),
    }
}

/// The transitions of a run.
pub fn ledger(row: &RunRow) -> Ledger {
    let rows = row.ledger.iter().map(|entry| LedgerRow {
        at: rfc3339(entry.at),
        to: entry.to.as_str().to_owned(),
        by: entry.by.clone(),
        why: entry.why.clone(),
        fence: entry.fence,
    });
    Ledger {
        schedule_id: row.id.to_string(),
        rows: rows.collect(),
    }
}

/// The states that a list is narrowed to: names separated by commas.
pub fn states(text: Option<&str>) -> Answer<Vec<RunState>> {
    let names = text
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let read = names.map(|name| {
        RunState::parse(name).ok_or_else(|| {
            let known: Vec<&str> = RunState::ALL.iter().map(|state| state.as_str()).collect();
            Failure::parameter("status", format!("use {}", known.join(", ")))
        })
    });
    read.collect()
}
