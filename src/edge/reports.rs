//! What callees of accepted runs report.

use cronwright_core::ids::RunId;
use cronwright_core::job::run::AttemptResult;
use cronwright_protocol::api::{CompleteRequest, ProgressRequest, Run};
use cronwright_protocol::keys::verify_run_token;
use cronwright_protocol::problem::Code;
use cronwright_protocol::wire::headers::{X_FENCE, X_RUN_TOKEN};
use serde_json::json;

use super::call::Call;
use super::error::{Answer, Failure};
use super::respond::Reply;
use super::runs::{ask, live, run_id, run_of};
use super::{audit, limits};
use crate::host::message::ShardAsk;

/// Bytes of output that are kept.
const MOST_OUTPUT: usize = 16 * 1024;
/// Characters of a line for people.
const MOST_LINE: usize = 1_000;

/// Which attempt a report is about, and who makes it.
struct Reporter {
    fence: u64,
    by: String,
}

/// The callee proves itself by the token of its run and fence; an operator by being one.
async fn reporter(call: &Call, id: &RunId, fence: Option<u64>) -> Answer<Reporter> {
    let header = match call.header(X_FENCE) {
        None => None,
        Some(text) => Some(
            text.parse::<u64>()
                .map_err(|_| Failure::parameter(X_FENCE, "this is no fence"))?,
        ),
    };
    let fence = fence.or(header);
    if let Some(token) = call.header(X_RUN_TOKEN) {
        let Some(fence) = fence else {
            return Err(Failure::field(
                "fence",
                "required",
                "send the X-Fence that came with the run",
            ));
        };
        if !verify_run_token(&call.master()?, id, fence, &token) {
            return Err(Failure::new(
                Code::TokenInvalid,
                "this token is not that of the run and fence",
            ));
        }
        return Ok(Reporter {
            fence,
            by: "callee".to_owned(),
        });
    }
    let current = live(call, id).await?.run.fence;
    Ok(Reporter {
        fence: fence.unwrap_or(current),
        by: call.caller.name.clone(),
    })
}

/// `POST /api/v1/runs/{scheduleId}/complete`.
pub async fn complete(call: &mut Call) -> Answer<Reply> {
    let id = run_id(call)?;
    let request: CompleteRequest =
        limits::body(call, &["status", "summary", "output", "errorCode", "fence"]).await?;
    let failed = match request.status.as_str() {
        "SUCCESS" => false,
        "FAILED" => true,
        _ => {
            return Err(Failure::field(
                "status",
                "unknown_value",
                "use SUCCESS or FAILED",
            ));
        }
    };
    let error_code = request.error_code.map(error_code).transpose()?;
    let reporter = reporter(call, &id, request.fence).await?;
    let (output, truncated) = cut(request.output);
    let result = AttemptResult {
        status: None,
        error_code: if failed {
            error_code.or_else(|| Some("reported_failure".to_owned()))
        } else {
            error_code
        },
        summary: request
            .summary
            .map(|text| text.chars().take(MOST_LINE).collect()),
        output,
        truncated,
        ms: 0,
    };
    let question = ShardAsk::Complete {
        run: id.clone(),
        fence: reporter.fence,
        failed,
        result: Box::new(result),
        by: reporter.by.clone(),
    };
    let run = run_of(ask(call, &id, &question).await?)?;
    reporter.by.clone_into(&mut call.caller.name);
    audit::done(
        call,
        &id.to_string(),
        json!({"status": request.status, "fence": reporter.fence}),
    )
    .await;
    Reply::json(200, &Run::of(&run.job_id, &run.run))
}

/// `POST /api/v1/runs/{scheduleId}/progress`. Progress is on the run itself, so the audit is spared.
pub async fn progress(call: &mut Call) -> Answer<Reply> {
    let id = run_id(call)?;
    let request: ProgressRequest = limits::body(call, &["percent", "message", "fence"]).await?;
    if request.percent.is_some_and(|percent| percent > 100) {
        return Err(Failure::field("percent", "out_of_range", "0 to 100"));
    }
    let reporter = reporter(call, &id, request.fence).await?;
    let message = request
        .message
        .unwrap_or_default()
        .chars()
        .take(MOST_LINE)
        .collect();
    ask(
        call,
        &id,
        &ShardAsk::Progress {
            run: id.clone(),
            fence: reporter.fence,
            percent: request.percent,
            message,
        },
    )
    .await?;
    Ok(Reply::empty(204))
}

fn error_code(text: String) -> Answer<String> {
    let fits = (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if fits {
        Ok(text)
    } else {
        Err(Failure::field(
            "errorCode",
            "bad_value",
            "1 to 64 of A-Z a-z 0-9 _ - .",
        ))
    }
}

/// The beginning of an output, and whether there was more.
fn cut(output: Option<String>) -> (Option<String>, bool) {
    match output {
        Some(mut text) if text.len() > MOST_OUTPUT => {
            let end = (0..=MOST_OUTPUT)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(0);
            text.truncate(end);
            (Some(text), true)
        }
        other => (other, false),
    }
}
