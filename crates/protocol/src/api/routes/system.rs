//! The system itself.

use super::{ADMIN, Need, Op, Reply, Route, VIEWER};
use crate::problem::Code;

pub(super) const ROUTES: &[Route] = &[
    Route::post(Op::Rebuild, "/api/v1/system/rebuild", ADMIN, "Rebuild the database from the objects")
        .tag("System")
        .detail("One bounded step per call: repeat with `nextCursor` until `done`. Safe at any time and any number of times.")
        .optional_body("RebuildRequest", 64 * 1024)
        .replies(&[Reply(200, "Rebuilt", "What this step did.")])
        .problems(&[Code::ObjectUnavailable]),
    Route::get(Op::GetMetrics, "/api/v1/system/metrics", VIEWER, "Metrics in Prometheus text")
        .tag("System")
        .replies(&[Reply(200, "text/plain", "The metrics.")])
        .problems(&[Code::ObjectUnavailable]),
    Route::get(Op::GetHealth, "/health", Need::Anyone, "Whether the Worker serves")
        .tag("System")
        .replies(&[Reply(200, "Health", "It does.")]),
    Route::get(Op::GetOpenapi, "/openapi.json", Need::Anyone, "This description")
        .tag("System")
        .replies(&[Reply(200, "application/json", "OpenAPI 3.1.")]),
];
