//! Tokens, set-up and the audit.

use super::{ADMIN, CURSOR, LIMIT, Need, Op, Reply, Route};
use crate::api::routes::Method;
use crate::problem::Code;

const SMALL: usize = 64 * 1024;

pub(super) const ROUTES: &[Route] = &[
    Route::get(Op::ListTokens, "/api/v1/tokens", ADMIN, "List tokens")
        .tag("Access")
        .replies(&[Reply(200, "TokenPage", "The tokens, without their texts.")]),
    Route::post(Op::CreateToken, "/api/v1/tokens", ADMIN, "Make a token")
        .tag("Access")
        .detail("Its text is shown once.")
        .body("TokenRequest", SMALL)
        .replies(&[Reply(201, "TokenText", "The token and its text.")]),
    Route::new(
        Op::RevokeToken,
        Method::Delete,
        "/api/v1/tokens/{tokenId}",
        ADMIN,
        "Revoke a token",
    )
    .tag("Access")
    .detail("It and its sessions end within 60 s everywhere. The last administrator's token stays.")
    .replies(&[Reply(204, "", "The token is revoked.")])
    .problems(&[Code::LastAdmin]),
    Route::post(
        Op::SetUp,
        "/api/v1/setup",
        Need::Anyone,
        "Make the first administrator",
    )
    .tag("Access")
    .detail("With the one-time code of the deployer, once. Afterwards always `already_set_up`.")
    .body("SetupRequest", SMALL)
    .replies(&[Reply(
        201,
        "TokenText",
        "The administrator's token and its text.",
    )])
    .problems(&[
        Code::CodeInvalid,
        Code::AlreadySetUp,
        Code::CrossSite,
        Code::DatabaseUnavailable,
    ]),
    Route::get(
        Op::ListAudit,
        "/api/v1/audit",
        ADMIN,
        "List changes and who made them",
    )
    .tag("Access")
    .query(&[CURSOR, LIMIT])
    .replies(&[Reply(200, "AuditPage", "A page of changes, newest first.")]),
];
