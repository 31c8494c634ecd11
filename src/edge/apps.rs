//! Apps: outside systems that take callbacks.

use cronwright_core::ids::AppId;
use cronwright_core::schedule::rfc3339;
use cronwright_core::time::DAY;
use cronwright_protocol::api::{App, AppKey, AppPage, AppRequest};
use cronwright_protocol::keys::app_secret;
use cronwright_protocol::problem::Code;
use serde_json::json;

use super::call::Call;
use super::error::{Answer, Failure, no_such};
use super::respond::Reply;
use super::{audit, limits};
use crate::store;
use crate::store::apps::AppRow;

/// How long the key before signs too.
const BOTH_LIVE_MS: i64 = DAY;
/// Apps that are listed.
const MOST: u32 = 500;

/// `GET /api/v1/apps`.
pub async fn list(call: &Call) -> Answer<Reply> {
    let rows = store::apps::list(&call.db()?, None, MOST).await?;
    Reply::json(
        200,
        &AppPage {
            items: rows.iter().map(|row| shown(row, call)).collect(),
        },
    )
}

/// `POST /api/v1/apps`.
pub async fn create(call: &mut Call) -> Answer<Reply> {
    let request: AppRequest = limits::body(call, &["appId", "name"]).await?;
    let id: AppId = request
        .app_id
        .parse()
        .map_err(|error: cronwright_core::ids::IdError| {
            Failure::field("appId", "bad_id", error.to_string())
        })?;
    let name = request.name.unwrap_or_else(|| id.to_string());
    limits::text("name", &name, 1, 200)?;
    let db = call.db()?;
    if !store::apps::create(&db, &id, &name, call.now, &call.caller.name).await? {
        return Err(Failure::new(
            Code::AppExists,
            format!("there is an app {id} already; its secret was shown when it was made"),
        ));
    }
    audit::done(call, id.as_str(), json!({"name": name})).await;
    key(call, 201, &id).await
}

/// `POST /api/v1/apps/{appId}/rotate`.
pub async fn rotate(call: &Call) -> Answer<Reply> {
    let row = row(call).await?;
    // A second rotation would end the key that receivers still hold.
    if row.previous.is_some_and(|(_, until)| call.now < until) {
        return Err(Failure::new(
            Code::Refused,
            "a rotation is under way: two keys are live until it ends, or until the older one is retired",
        ));
    }
    if !store::apps::rotate(
        &call.db()?,
        &row.id,
        row.key_version,
        call.now.plus(BOTH_LIVE_MS),
    )
    .await?
    {
        return Err(Failure::new(
            Code::Refused,
            "the app was rotated at the same moment",
        ));
    }
    audit::done(call, row.id.as_str(), json!({"from": row.key_version})).await;
    key(call, 200, &row.id).await
}

/// `POST /api/v1/apps/{appId}/retire`.
pub async fn retire(call: &Call) -> Answer<Reply> {
    let row = row(call).await?;
    if !store::apps::retire(&call.db()?, &row.id, row.key_version).await? {
        return Err(Failure::new(
            Code::Refused,
            "the app was rotated at the same moment",
        ));
    }
    let retired = row.previous.map(|(version, _)| version);
    audit::done(call, row.id.as_str(), json!({"retired": retired})).await;
    Reply::json(200, &shown(&found(call, &row.id).await?, call))
}

async fn row(call: &Call) -> Answer<AppRow> {
    let id: AppId = call
        .params
        .get("appId")
        .parse()
        .map_err(no_such(Code::AppNotFound))?;
    found(call, &id).await
}

async fn found(call: &Call, id: &AppId) -> Answer<AppRow> {
    store::apps::get(&call.db()?, id)
        .await?
        .ok_or_else(|| Failure::new(Code::AppNotFound, format!("there is no app {id}")))
}

/// The app and the secret of its newest key.
async fn key(call: &Call, status: u16, id: &AppId) -> Answer<Reply> {
    let row = found(call, id).await?;
    let secret = app_secret(&call.master()?, id, row.key_version)
        .text()
        .to_owned();
    Reply::json(
        status,
        &AppKey {
            app: shown(&row, call),
            secret,
        },
    )
}

fn shown(row: &AppRow, call: &Call) -> App {
    let previous = row.previous.filter(|(_, until)| call.now < *until);
    App {
        app_id: row.id.to_string(),
        name: row.name.clone(),
        key_version: row.key_version,
        previous_version: previous.map(|(version, _)| version),
        previous_until: previous.map(|(_, until)| rfc3339(until)),
        created_at: rfc3339(row.created_at),
        created_by: row.created_by.clone(),
    }
}
