//! The HTTP API: its routes as data, and what they take and give.
//!
//! One table ([`routes`]) says which routes exist, who may use them and what they answer. The Worker
//! serves from it and the OpenAPI document is made from it, so that neither can have a route the other
//! does not know.

mod access;
mod callback;
mod job;
pub mod path;
mod preview;
pub mod role;
pub mod routes;
mod run;
mod system;

pub use access::{AppKey, AppPage, AppRequest, App, AuditPage, AuditRow, SetupRequest, Token, TokenPage, TokenRequest, TokenText};
pub use callback::{Attempt, Delivery, DeliveryPage, Endpoint, EndpointCounters, EndpointPage, Replayed};
pub use job::{Job, JobPage, Recent, StatusRequest};
pub use preview::{Fire, Preview, PreviewRequest, Validation, Words, preview, warnings, words};
pub use role::Role;
pub use run::{CompleteRequest, Ledger, LedgerRow, ProgressReport, ProgressRequest, Run, RunPage, RunRequest, SkippedRange, TriggeredBy, Waiting};
pub use system::{Health, RebuildRequest, Rebuilt};
