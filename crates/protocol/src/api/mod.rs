//! The HTTP API: its routes as data, and what they take and give.
//!
//! One table ([`routes`]) says which routes exist, who may use them and what they answer. The Worker
//! serves from it and the OpenAPI document is made from it, so that neither can have a route the other
//! does not know.

mod access;
mod callback;
mod callback_sent;
mod job;
mod ledger;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod path;
mod preview;
mod request;
pub mod role;
pub mod routes;
mod run;
mod system;

pub use access::{
    App, AppKey, AppPage, AppRequest, AuditPage, AuditRow, SetupRequest, Token, TokenPage,
    TokenRequest, TokenText,
};
pub use callback::{
    Attempt, CallbackBody, Delivery, DeliveryPage, Endpoint, EndpointCounters, EndpointPage,
    Replayed,
};
pub use job::{Job, JobPage, Recent, StatusRequest};
pub use ledger::{Ledger, LedgerRow};
pub use preview::{Fire, Preview, PreviewRequest, Validation, Words, preview, warnings, words};
pub use request::{CompleteRequest, ProgressRequest, RunRequest};
pub use role::Role;
pub use run::{ProgressReport, Run, RunPage, SkippedRange, TriggeredBy, Waiting};
pub use system::{Health, RebuildRequest, Rebuilt};
