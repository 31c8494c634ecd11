//! Apps, endpoints and deliveries.

use super::{ADMIN, CURSOR, LIMIT, OPERATOR, Op, Param, Reply, Route, Takes, VIEWER};
use crate::problem::Code;

const SMALL: usize = 64 * 1024;

pub(super) const ROUTES: &[Route] = &[
    Route::get(Op::ListApps, "/api/v1/apps", VIEWER, "List apps")
        .tag("Callbacks")
        .replies(&[Reply(200, "AppPage", "The apps.")]),
    Route::post(Op::CreateApp, "/api/v1/apps", ADMIN, "Create an app")
        .tag("Callbacks")
        .detail("Answers with the secret that signs its callbacks. It is shown once.")
        .body("AppRequest", SMALL)
        .replies(&[Reply(201, "AppKey", "The app and its secret.")])
        .problems(&[Code::AppExists]),
    Route::post(
        Op::RotateApp,
        "/api/v1/apps/{appId}/rotate",
        ADMIN,
        "Give an app a new secret",
    )
    .tag("Callbacks")
    .detail("For 24 hours callbacks carry the signatures of both.")
    .replies(&[Reply(200, "AppKey", "The app and its new secret.")])
    .problems(&[Code::Refused, Code::ObjectUnavailable]),
    Route::post(
        Op::RetireAppKey,
        "/api/v1/apps/{appId}/retire",
        ADMIN,
        "End an app's older secret",
    )
    .tag("Callbacks")
    .detail("Once every receiver has the new one. Without this the older one ends 24 hours after the rotation.")
    .replies(&[Reply(200, "App", "The app.")])
    .problems(&[Code::Refused]),
    Route::get(
        Op::ListEndpoints,
        "/api/v1/endpoints",
        VIEWER,
        "List callback endpoints",
    )
    .tag("Callbacks")
    .query(&[CURSOR, LIMIT])
    .replies(&[Reply(200, "EndpointPage", "A page of endpoints.")]),
    Route::get(
        Op::GetEndpoint,
        "/api/v1/endpoints/{endpointId}",
        VIEWER,
        "Read a callback endpoint",
    )
    .tag("Callbacks")
    .replies(&[Reply(
        200,
        "Endpoint",
        "The endpoint, as its object has it now.",
    )]),
    Route::post(
        Op::CloseBreaker,
        "/api/v1/endpoints/{endpointId}/close-breaker",
        OPERATOR,
        "Close an endpoint's breaker",
    )
    .tag("Callbacks")
    .detail("Waiting deliveries flow again at once.")
    .replies(&[Reply(200, "Endpoint", "The endpoint as it is now.")])
    .problems(&[Code::Refused]),
    Route::get(
        Op::ListDeliveries,
        "/api/v1/endpoints/{endpointId}/deliveries",
        VIEWER,
        "List an endpoint's deliveries",
    )
    .tag("Callbacks")
    .detail("Newest runs first. `state=dead` are the dead letters.")
    .query(&[
        Param(
            "state",
            Takes::Word(&["waiting", "in_flight", "done", "dead"]),
            "Only deliveries of this state.",
        ),
        LIMIT,
    ])
    .replies(&[Reply(200, "DeliveryPage", "The deliveries.")])
    .problems(&[Code::Refused]),
    Route::post(
        Op::ReplayDelivery,
        "/api/v1/endpoints/{endpointId}/deliveries/{scheduleId}/replay",
        OPERATOR,
        "Deliver a dead letter again",
    )
    .tag("Callbacks")
    .detail("Posts the same body again; the job is not run again.")
    .replies(&[Reply(202, "Replayed", "The delivery waits for its turn.")])
    .problems(&[
        Code::DeliveryNotFound,
        Code::CallbackNotReplayable,
        Code::Refused,
    ]),
    Route::post(
        Op::ReplayDeadLetters,
        "/api/v1/endpoints/{endpointId}/replay-dead",
        OPERATOR,
        "Deliver every dead letter again",
    )
    .tag("Callbacks")
    .replies(&[Reply(
        202,
        "Replayed",
        "The deliveries wait for their turn.",
    )])
    .problems(&[Code::Refused]),
];
