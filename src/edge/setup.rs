//! The first administrator.

use cronwright_core::time::DAY;
use cronwright_protocol::api::{Role, SetupRequest, TokenText};
use cronwright_protocol::codes::{self, CodeKind};
use cronwright_protocol::problem::Code;
use serde_json::json;

use super::call::Call;
use super::error::{Answer, Failure};
use super::respond::Reply;
use super::{audit, limits, session, tokens};
use crate::store;

/// `POST /api/v1/setup`: the code first, so that who has none learns nothing about the deployment.
pub async fn set_up(call: &mut Call) -> Answer<Reply> {
    if !session::is_same_origin(call, false) {
        return Err(Failure::new(
            Code::CrossSite,
            "set up from the command line, or from this deployment's own page",
        ));
    }
    let db = call.db()?;
    if store::setup::is_done(&db).await? {
        return Err(already());
    }
    let request: SetupRequest = limits::body(call, &["code", "name"]).await?;
    limits::text("name", &request.name, 1, 100)?;
    codes::verify(&call.master()?, CodeKind::SetUp, &request.code, call.now)
        .map_err(|error| Failure::new(Code::CodeInvalid, error.to_string()))?;
    // Whoever holds the deployment's secret made the code.
    "deployer".clone_into(&mut call.caller.name);
    let made = tokens::mint(
        call,
        &request.name,
        Role::Admin,
        None,
        Some(call.now.plus(365 * DAY)),
    );
    let claim = store::setup::claim(&db, &made.row, &made.hash, call.now).await;
    // The answer to a claim may be lost although it won: the same token asks again.
    let won = match claim {
        Ok(won) => won,
        Err(_) => store::setup::claim(&db, &made.row, &made.hash, call.now).await?,
    };
    if !won {
        return Err(already());
    }
    call.caller = super::call::Caller::of(&made.row);
    audit::done(call, &made.row.id, json!({"name": made.row.name})).await;
    Reply::json(
        201,
        &TokenText {
            token: tokens::shown(&made.row),
            text: made.text,
        },
    )
}

fn already() -> Failure {
    Failure::new(
        Code::AlreadySetUp,
        "this deployment has its first administrator; ask for a token, or sign in with a sign-in code",
    )
}
