//! Runs.

use super::jobs::IDEMPOTENCY_KEY;
use super::{CURSOR, LIMIT, Need, OPERATOR, Op, Param, Reply, Route, Takes, VIEWER};
use crate::problem::Code;

const RUN_TOKEN: Param = Param(
    "X-Run-Token",
    Takes::Text(128),
    "What the callee was given with the request; opens this run and attempt only. Used instead of an API token.",
);

const SMALL: usize = 64 * 1024;

pub(super) const ROUTES: &[Route] = &[
    Route::get(Op::ListRuns, "/api/v1/runs", VIEWER, "List the latest runs")
        .tag("Runs")
        .detail("Over all jobs, newest first. Read from the database: a run appears when it has ended, or after 5 s.")
        .query(&[
            Param("status", Takes::Text(120), "Only runs of these statuses, separated by commas."),
            CURSOR,
            LIMIT,
        ])
        .replies(&[Reply(200, "RunPage", "A page of runs.")]),
    Route::get(Op::GetRun, "/api/v1/runs/{scheduleId}", VIEWER, "Read a run")
        .tag("Runs")
        .replies(&[Reply(200, "Run", "The run.")]),
    Route::get(Op::GetRunLedger, "/api/v1/runs/{scheduleId}/ledger", VIEWER, "Read why a run went as it did")
        .tag("Runs")
        .detail("Every transition with its time, actor and reason.")
        .replies(&[Reply(200, "Ledger", "The transitions, oldest first.")]),
    Route::get(Op::GetRunOutput, "/api/v1/runs/{scheduleId}/output", VIEWER, "Download a run's output")
        .tag("Runs")
        .detail("As an attachment of plain text.")
        .replies(&[Reply(200, "text/plain", "The output of the last attempt; empty when there is none.")]),
    Route::post(Op::CancelRun, "/api/v1/runs/{scheduleId}/cancel", OPERATOR, "Stop a run")
        .tag("Runs")
        .detail("A cancelled run is not retried.")
        .replies(&[Reply(202, "Run", "The run was asked to stop.")])
        .problems(&[Code::RunEnded, Code::JobDeleted, Code::Refused]),
    Route::post(Op::ReplayRun, "/api/v1/runs/{scheduleId}/replay", OPERATOR, "Run a past run again")
        .tag("Runs")
        .detail("With the same input and the job's present document. The past run stays as it is.")
        .headers(&[IDEMPOTENCY_KEY])
        .replies(&[
            Reply(200, "Run", "The key is that of an earlier replay."),
            Reply(201, "Run", "The new run was recorded; its address is in `Location`."),
        ])
        .problems(&[Code::RunActive, Code::QueueFull, Code::JobDeleted, Code::Quarantined, Code::Refused]),
    Route::post(Op::CompleteRun, "/api/v1/runs/{scheduleId}/complete", Need::Callee, "Report the end of an accepted run")
        .tag("Reports")
        .detail("For callees of jobs in mode `accepted`, and for operators. The first report counts; one of an older attempt is refused with `stale_fence` and kept as evidence.")
        .headers(&[RUN_TOKEN])
        .body("CompleteRequest", SMALL)
        .replies(&[Reply(200, "Run", "The run as it is now.")])
        .problems(&[Code::RunEnded, Code::RunNotRunning, Code::StaleFence, Code::JobDeleted, Code::Refused]),
    Route::post(Op::ReportProgress, "/api/v1/runs/{scheduleId}/progress", Need::Callee, "Report how far an accepted run is")
        .tag("Reports")
        .headers(&[RUN_TOKEN])
        .body("ProgressRequest", SMALL)
        .replies(&[Reply(204, "", "Noted.")])
        .problems(&[Code::RunEnded, Code::RunNotRunning, Code::StaleFence, Code::JobDeleted, Code::Refused]),
];
