//! Every change, and who made it.

use cronwright_core::schedule::rfc3339;
use cronwright_protocol::api::{AuditPage, AuditRow};
use serde_json::Value;

use super::call::Call;
use super::error::{Answer, Failure};
use super::respond::Reply;
use crate::store;
use crate::store::audit::AuditEntry;

/// Notes a change that was made. It was made whether or not it can be noted, so a failure is logged with
/// all that the row would have held.
pub async fn note(call: &Call, action: &str, object: &str, detail: Value) {
    let entry = AuditEntry {
        at: call.now,
        actor: call.caller.name.clone(),
        action: action.to_owned(),
        object: object.to_owned(),
        detail,
        request_id: call.id.clone(),
    };
    let Ok(db) = call.db() else { return };
    let mut outcome = store::audit::append(&db, &entry).await;
    if outcome.is_err() {
        // One request's entry is added once, so a second try is harmless.
        outcome = store::audit::append(&db, &entry).await;
    }
    if let Err(error) = outcome {
        worker::console_error!(
            "{}",
            serde_json::json!({"event": "audit_failed", "cause": error.to_string(), "at": entry.at, "actor": entry.actor, "action": entry.action,
                "object": entry.object, "request": entry.request_id})
        );
    }
}

/// The same under the name of the call's operation.
pub async fn done(call: &Call, object: &str, detail: Value) {
    let action = call.route.map_or("", |route| route.op.id());
    note(call, action, object, detail).await;
}

/// `GET /api/v1/audit`.
pub async fn list(call: &Call) -> Answer<Reply> {
    let before = match call.param("cursor") {
        None => None,
        Some(text) => Some(
            text.parse::<u64>()
                .ok()
                .filter(|id| *id < 1 << 53)
                .ok_or_else(|| Failure::parameter("cursor", "this is no cursor"))?,
        ),
    };
    let limit = call.limit();
    let mut rows = store::audit::list(&call.db()?, before, limit.saturating_add(1)).await?;
    let keep = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > keep;
    rows.truncate(keep);
    let next_cursor = rows.last().filter(|_| more).map(|row| row.id.to_string());
    let items = rows.into_iter().map(|row| AuditRow {
        audit_id: row.id,
        at: rfc3339(row.entry.at),
        actor: row.entry.actor,
        action: row.entry.action,
        object: row.entry.object,
        detail: row.entry.detail,
        request_id: row.entry.request_id,
    });
    Reply::json(
        200,
        &AuditPage {
            items: items.collect(),
            next_cursor,
        },
    )
}
