//! Jobs.

use super::{CURSOR, LIMIT, Need, OPERATOR, Op, Param, Reply, Route, Takes, VIEWER};
use crate::api::routes::Method;
use crate::document::MAX_DOCUMENT;
use crate::problem::Code;

const IF_MATCH: Param = Param(
    "If-Match",
    Takes::Text(64),
    "The ETag of the job as it was read; refused when the job has changed since.",
);

const KEY: Param = Param(
    "Idempotency-Key",
    Takes::Text(255),
    "The same key is the same run: a repeated request finds the run of the first. Made by the server when missing.",
);

const SMALL: usize = 64 * 1024;

const fn change(
    op: Op,
    method: Method,
    path: &'static str,
    need: Need,
    summary: &'static str,
) -> Route {
    Route::new(op, method, path, need, summary).tag("Jobs")
}

pub(super) const ROUTES: &[Route] = &[
    Route::get(Op::ListJobs, "/api/v1/jobs", VIEWER, "List jobs")
        .tag("Jobs")
        .detail("In the order of their ids. A token that is limited to jobs sees those.")
        .query(&[
            Param("q", Takes::Text(100), "Part of the name or the id, in any letter case."),
            Param("status", Takes::Word(&["ENABLED", "PAUSED"]), "Only jobs of this status."),
            Param("label", Takes::Text(264), "Only jobs with this label: `name` or `name=value`."),
            CURSOR,
            LIMIT,
        ])
        .replies(&[Reply(200, "JobPage", "A page of jobs.")])
        .problems(&[Code::DatabaseUnavailable]),
    Route::post(Op::CreateJob, "/api/v1/jobs", OPERATOR, "Create a job")
        .tag("Jobs")
        .detail("Takes effect at once. An existing id is refused with `job_exists`, never overwritten.")
        .body("Document", MAX_DOCUMENT)
        .replies(&[Reply(201, "Job", "The job was created; its address is in `Location`.")])
        .problems(&[Code::JobExists, Code::JobDeleted, Code::Refused, Code::ObjectUnavailable]),
    Route::post(Op::PreviewSchedule, "/api/v1/jobs/preview", VIEWER, "Preview a schedule")
        .tag("Jobs")
        .detail("The next fires with their local times and what is odd about them, the schedule in words, and doubts about it. Changes nothing.")
        .body("PreviewRequest", SMALL)
        .replies(&[Reply(200, "Preview", "What the schedule would do.")]),
    Route::post(Op::ValidateJob, "/api/v1/jobs/validate", VIEWER, "Check a job document")
        .tag("Jobs")
        .detail("Reads the document as creation would and reports everything that is wrong with it. Changes nothing.")
        .body("Document", MAX_DOCUMENT)
        .replies(&[Reply(200, "Validation", "What would happen.")]),
    Route::get(Op::GetJob, "/api/v1/jobs/{jobId}", VIEWER, "Read a job")
        .tag("Jobs")
        .replies(&[Reply(200, "Job", "The job; its revision is the `ETag`.")]),
    change(Op::ReplaceJob, Method::Put, "/api/v1/jobs/{jobId}", OPERATOR, "Replace a job's document")
        .detail("Fields that are left out go back to their defaults, except `status`, which stays. Runs that are open go on as they began. Never creates.")
        .headers(&[IF_MATCH])
        .body("Document", MAX_DOCUMENT)
        .replies(&[Reply(200, "Job", "The job as it is now.")])
        .problems(&[Code::RevisionMismatch, Code::JobDeleted, Code::Refused, Code::Quarantined]),
    change(Op::SetJobStatus, Method::Patch, "/api/v1/jobs/{jobId}", OPERATOR, "Pause or resume a job")
        .detail("A paused job has no occurrences; it still runs on request.")
        .headers(&[IF_MATCH])
        .body("StatusRequest", SMALL)
        .replies(&[Reply(200, "Job", "The job as it is now.")])
        .problems(&[Code::RevisionMismatch, Code::JobDeleted, Code::Refused, Code::Quarantined]),
    change(Op::DeleteJob, Method::Delete, "/api/v1/jobs/{jobId}", OPERATOR, "Delete a job")
        .detail("Active runs are stopped. Past runs stay readable until their retention ends.")
        .headers(&[IF_MATCH])
        .replies(&[Reply(204, "", "The job is gone.")])
        .problems(&[Code::RevisionMismatch, Code::JobDeleted, Code::Refused]),
    Route::post(Op::RunJob, "/api/v1/jobs/{jobId}/runs", OPERATOR, "Run a job now")
        .tag("Runs")
        .detail("Obeys the job's overlap policy: when a run is active and the policy is `skip`, the answer is `run_active`, naming it; give `overlap` to choose otherwise.")
        .query(&[Param("wait", Takes::Text(8), "Answer when the run has ended, at the latest after this long: `25s` is the most.")])
        .headers(&[KEY])
        .optional_body("RunRequest", SMALL)
        .replies(&[
            Reply(200, "Run", "The run has ended, or the key is that of an earlier run."),
            Reply(201, "Run", "The run was recorded; its address is in `Location`."),
            Reply(202, "Run", "The run had not ended in the time to wait; ask at `Location`."),
        ])
        .problems(&[Code::RunActive, Code::QueueFull, Code::JobDeleted, Code::Quarantined, Code::Refused]),
    Route::get(Op::ListJobRuns, "/api/v1/jobs/{jobId}/runs", VIEWER, "List the runs of a job")
        .tag("Runs")
        .detail("Newest first, read from the job's own object.")
        .query(&[
            Param("status", Takes::Text(120), "Only runs of these statuses, separated by commas."),
            CURSOR,
            LIMIT,
        ])
        .replies(&[Reply(200, "RunPage", "A page of runs.")]),
    Route::get(Op::GetTask, "/api/v1/tasks/{jobId}", VIEWER, "Read the latest run of a job")
        .tag("Runs")
        .detail("For callers that know the job but not the run. One run alone is at `/api/v1/runs/{scheduleId}`.")
        .replies(&[Reply(200, "Run", "The newest run, ended or not.")])
        .problems(&[Code::RunNotFound]),
];

pub(super) const IDEMPOTENCY_KEY: Param = KEY;
