//! From a request to its handler. Every operation is named here once; there is no default.

use cronwright_protocol::api::path;
use cronwright_protocol::api::routes::{Found, Method, Op, Route, find};
use cronwright_protocol::problem::Code;

use super::call::Call;
use super::error::{Answer, Failure, master};
use super::respond::Reply;
use super::{
    apps, audit, auth, endpoints, jobs, jobs_list, jobs_write, limits, pages, pages_home, reports,
    runs, runs_start, session, setup, system, tokens,
};

/// Checks a request and hands it to its handler.
pub async fn serve(call: &mut Call) -> Answer<Reply> {
    let route = admit(call)?;
    call.query = limits::query(call, route)?;
    call.caller = match auth::caller(call, route).await? {
        auth::Admitted::Caller(caller) => caller,
        auth::Admitted::SignInFirst => return Ok(session::to_sign_in(call)),
    };
    dispatch(call, route.op).await
}

fn admit(call: &mut Call) -> Answer<&'static Route> {
    let path = call.request.path();
    path::check(&path).map_err(|fault| Failure::new(Code::BadPath, fault.to_string()))?;
    master(&call.env)?;
    // The text: the platform's own type takes what it does not know for GET.
    let method = match call.request.inner().method() {
        head if head == "HEAD" => "GET".to_owned(),
        other => other,
    };
    match find(&method, &path) {
        Found::Route(route, params) => {
            call.route = Some(route);
            call.params = params;
            Ok(route)
        }
        Found::OtherMethods(methods) => {
            let mut names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
            if methods.contains(&Method::Get) {
                names.push("HEAD");
            }
            let names = names.join(", ");
            Err(
                Failure::new(Code::MethodNotAllowed, format!("this path takes {names}"))
                    .header("allow", names),
            )
        }
        Found::Nothing => Err(Failure::new(
            Code::NotFound,
            "nothing is here; /openapi.json lists what there is",
        )),
    }
}

async fn dispatch(call: &mut Call, op: Op) -> Answer<Reply> {
    match op {
        Op::ListJobs => jobs_list::list(call).await,
        Op::CreateJob => jobs_write::create(call).await,
        Op::PreviewSchedule => jobs::preview(call).await,
        Op::ValidateJob => jobs::validate(call).await,
        Op::GetJob => jobs::get(call).await,
        Op::ReplaceJob => jobs_write::replace(call).await,
        Op::SetJobStatus => jobs_write::set_status(call).await,
        Op::DeleteJob => jobs_write::delete(call).await,
        Op::RunJob => runs_start::run_now(call).await,
        Op::ListJobRuns => runs::of_job(call).await,
        Op::GetTask => runs::latest_of_job(call).await,
        Op::ListRuns => runs::list(call).await,
        Op::GetRun => runs::get(call).await,
        Op::GetRunLedger => runs::ledger(call).await,
        Op::GetRunOutput => runs::output(call).await,
        Op::CancelRun => runs_start::cancel(call).await,
        Op::ReplayRun => runs_start::replay(call).await,
        Op::CompleteRun => reports::complete(call).await,
        Op::ReportProgress => reports::progress(call).await,
        Op::ListApps => apps::list(call).await,
        Op::CreateApp => apps::create(call).await,
        Op::RotateApp => apps::rotate(call).await,
        Op::RetireAppKey => apps::retire(call).await,
        Op::ListEndpoints => endpoints::list(call).await,
        Op::GetEndpoint => endpoints::get(call).await,
        Op::CloseBreaker => endpoints::close_breaker(call).await,
        Op::ListDeliveries => endpoints::deliveries(call).await,
        Op::ReplayDelivery => endpoints::replay(call).await,
        Op::ReplayDeadLetters => endpoints::replay_dead(call).await,
        Op::ListTokens => tokens::list(call).await,
        Op::CreateToken => tokens::create(call).await,
        Op::RevokeToken => tokens::revoke(call).await,
        Op::SetUp => setup::set_up(call).await,
        Op::ListAudit => audit::list(call).await,
        Op::Rebuild => system::rebuild(call).await,
        Op::GetMetrics => system::metrics(call).await,
        Op::GetHealth => system::health(),
        Op::GetOpenapi => Ok(pages::openapi()),
        Op::ApiPage => Ok(pages::api()),
        Op::HomePage => pages_home::home(call).await,
        Op::SignInPage => session::page(call).await,
        Op::SignIn => session::sign_in(call).await,
        Op::SignOut => session::sign_out(call).await,
        Op::GetAsset => pages::asset(call),
    }
}
