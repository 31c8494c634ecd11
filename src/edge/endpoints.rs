//! Callback endpoints and their deliveries.

use cronwright_core::ids::{EndpointId, RunId};
use cronwright_core::schedule::rfc3339;
use cronwright_protocol::api::{Delivery, DeliveryPage, Endpoint, EndpointPage, Replayed};
use cronwright_protocol::problem::Code;
use serde_json::json;

use super::audit;
use super::call::Call;
use super::error::{Answer, Failure, no_such, unexpected};
use super::respond::Reply;
use crate::host::client::ask_endpoint;
use crate::host::message::{EndpointAsk, EndpointReply};
use crate::store;
use crate::store::endpoints::EndpointRow;

/// `GET /api/v1/endpoints`.
pub async fn list(call: &Call) -> Answer<Reply> {
    let after: Option<EndpointId> = match call.param("cursor") {
        None => None,
        Some(text) => Some(
            text.parse()
                .map_err(|_| Failure::parameter("cursor", "this is no cursor"))?,
        ),
    };
    let limit = call.limit();
    let mut rows =
        store::endpoints::list(&call.db()?, None, after.as_ref(), limit.saturating_add(1)).await?;
    let keep = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > keep;
    rows.truncate(keep);
    let next_cursor = rows.last().filter(|_| more).map(|row| row.id.to_string());
    Reply::json(
        200,
        &EndpointPage {
            items: rows.iter().map(copied).collect(),
            next_cursor,
        },
    )
}

fn copied(row: &EndpointRow) -> Endpoint {
    Endpoint {
        endpoint_id: row.id.to_string(),
        app_id: row.app.to_string(),
        url: row.url.clone(),
        breaker: row.breaker.as_str().to_owned(),
        failures_in_a_row: 0,
        since: None,
        probe_at: None,
        waiting: u64::from(row.waiting),
        in_flight: 0,
        dead: u64::from(row.dead),
        counters: None,
        key_versions: Vec::new(),
        created_at: rfc3339(row.created_at),
    }
}

/// `GET /api/v1/endpoints/{endpointId}`.
pub async fn get(call: &Call) -> Answer<Reply> {
    Reply::json(200, &view(call, &known(call).await?).await?)
}

/// An object is made by being asked, so only endpoints that the database knows are.
async fn known(call: &Call) -> Answer<EndpointId> {
    let id: EndpointId = call
        .params
        .get("endpointId")
        .parse()
        .map_err(no_such(Code::EndpointNotFound))?;
    let row = store::endpoints::get(&call.db()?, &id).await?;
    row.map(|row| row.id)
        .ok_or_else(|| Failure::new(Code::EndpointNotFound, format!("there is no endpoint {id}")))
}

async fn view(call: &Call, id: &EndpointId) -> Answer<Endpoint> {
    match ask(call, id, &EndpointAsk::View).await? {
        EndpointReply::View(view) => {
            Endpoint::of(view).map_err(|error| unexpected(&error.to_string()))
        }
        other
        @ (EndpointReply::Done | EndpointReply::Deliveries(_) | EndpointReply::Refused(_)) => {
            Err(unexpected(&format!("{other:?}")))
        }
    }
}

/// Asks an endpoint; a refusal becomes a problem.
async fn ask(call: &Call, id: &EndpointId, ask: &EndpointAsk) -> Answer<EndpointReply> {
    match ask_endpoint(&call.env, id, ask).await? {
        EndpointReply::Refused(mut refusal) => {
            // To an endpoint a run is a delivery.
            if refusal.code == "run_not_found" {
                Code::DeliveryNotFound
                    .as_str()
                    .clone_into(&mut refusal.code);
            }
            Err(refusal.into())
        }
        reply @ (EndpointReply::Done | EndpointReply::View(_) | EndpointReply::Deliveries(_)) => {
            Ok(reply)
        }
    }
}

/// `POST /api/v1/endpoints/{endpointId}/close-breaker`.
pub async fn close_breaker(call: &Call) -> Answer<Reply> {
    let id = known(call).await?;
    ask(call, &id, &EndpointAsk::CloseBreaker).await?;
    audit::done(call, id.as_str(), json!({})).await;
    Reply::json(200, &view(call, &id).await?)
}

/// `GET /api/v1/endpoints/{endpointId}/deliveries`.
pub async fn deliveries(call: &Call) -> Answer<Reply> {
    let id = known(call).await?;
    let state = call.param("state").map(str::to_owned);
    let items = match ask(
        call,
        &id,
        &EndpointAsk::Deliveries {
            state,
            limit: call.limit(),
        },
    )
    .await?
    {
        EndpointReply::Deliveries(views) => views
            .into_iter()
            .map(Delivery::of)
            .collect::<Result<Vec<_>, _>>(),
        other @ (EndpointReply::Done | EndpointReply::View(_) | EndpointReply::Refused(_)) => {
            return Err(unexpected(&format!("{other:?}")));
        }
    };
    Reply::json(
        200,
        &DeliveryPage {
            items: items.map_err(|error| unexpected(&error.to_string()))?,
        },
    )
}

/// `POST /api/v1/endpoints/{endpointId}/deliveries/{scheduleId}/replay`.
pub async fn replay(call: &Call) -> Answer<Reply> {
    let id = known(call).await?;
    let run: RunId = call
        .params
        .get("scheduleId")
        .parse()
        .map_err(no_such(Code::DeliveryNotFound))?;
    ask(call, &id, &EndpointAsk::Replay { run: run.clone() }).await?;
    audit::done(call, &run.to_string(), json!({"endpointId": id})).await;
    Reply::json(202, &Replayed { accepted: true })
}

/// `POST /api/v1/endpoints/{endpointId}/replay-dead`.
pub async fn replay_dead(call: &Call) -> Answer<Reply> {
    let id = known(call).await?;
    ask(call, &id, &EndpointAsk::ReplayDead).await?;
    audit::done(call, id.as_str(), json!({})).await;
    Reply::json(202, &Replayed { accepted: true })
}
