//! The schemas of everything that crosses the API.

use serde_json::Value;
use utoipa::OpenApi;

use crate::api;
use crate::document;
use crate::problem::{FieldError, Problem};

#[derive(OpenApi)]
#[openapi(components(schemas(
    document::Document,
    document::ExecutorForm,
    document::HttpForm,
    document::AfterForm,
    document::MisfireForm,
    document::BlackoutForm,
    api::Job,
    api::JobPage,
    api::Recent,
    api::StatusRequest,
    api::Words,
    api::PreviewRequest,
    api::Preview,
    api::Fire,
    api::Validation,
    api::Run,
    api::RunPage,
    api::RunRequest,
    api::TriggeredBy,
    api::ProgressReport,
    api::Waiting,
    api::SkippedRange,
    api::Ledger,
    api::LedgerRow,
    api::CompleteRequest,
    api::ProgressRequest,
    api::App,
    api::AppKey,
    api::AppRequest,
    api::AppPage,
    api::Endpoint,
    api::EndpointCounters,
    api::EndpointPage,
    api::Delivery,
    api::Attempt,
    api::DeliveryPage,
    api::Replayed,
    api::CallbackBody,
    api::Token,
    api::TokenText,
    api::TokenRequest,
    api::TokenPage,
    api::Role,
    api::SetupRequest,
    api::AuditRow,
    api::AuditPage,
    api::Health,
    api::RebuildRequest,
    api::Rebuilt,
    Problem,
    FieldError
)))]
struct Components;

pub(super) fn schemas() -> Value {
    let mut whole = serde_json::to_value(Components::openapi()).unwrap_or_default();
    whole
        .pointer_mut("/components/schemas")
        .map(Value::take)
        .unwrap_or_default()
}
