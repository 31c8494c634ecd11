//! The job document: what people write, read into a checked [`Definition`], and written back.
//!
//! Reading collects every error of a document, each with the path of its field. A field that is not
//! known is an error, because a slip in a name must not be lost silently.

mod callback;
mod executor;
mod form;
mod message;
mod never;
mod parts;
mod policy;
mod reader;
mod scan;
mod schedule;
mod span;
mod suggest;
mod target;
mod window;
mod write;

use cronwright_core::ids::JobId;
use cronwright_core::job::def::{Definition, RouteStrategy};
use cronwright_core::time::{DAY, HOUR, Millis};
use serde_json::{Map, Value};

pub use form::{AfterForm, BlackoutForm, Document, ExecutorForm, HttpForm, MisfireForm};
pub use policy::OVERLAPS;
pub use scan::{MAX_DEPTH, MAX_DOCUMENT, check};
pub use schedule::{BareSchedule, read_schedule};
pub use write::write;

use crate::problem::{Code, FieldError};
use reader::{Errors, Object, wrong_type};

/// What a document is read with.
#[derive(Clone, Copy, Debug)]
pub struct ReadContext<'a> {
    /// The time: schedules that never fire from now on are refused.
    pub now: Millis,
    /// Where the id comes from.
    pub id: IdRule<'a>,
    /// Which targets may be called.
    pub targets: &'a crate::target::Policy,
}

/// Where the id of a document comes from.
#[derive(Clone, Copy, Debug)]
pub enum IdRule<'a> {
    /// This one, unless the document has one.
    Default(&'a JobId),
    /// This one; a document that has another is refused.
    Fixed(&'a JobId),
}

/// A document that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// What is to be saved.
    pub definition: Definition,
    /// The status the document asks for, if it does.
    pub enabled: Option<bool>,
}

/// Why a document was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The kind of problem.
    pub code: Code,
    /// Everything that is wrong.
    pub errors: Vec<FieldError>,
}

/// Fields of an answer that a document may repeat, so that what was read can be edited and sent back.
pub const READ_ONLY: [&str; 14] = [
    "createdAt",
    "lastRun",
    "nextDue",
    "nextDueLocal",
    "openRuns",
    "quarantined",
    "recent",
    "revision",
    "scheduleText",
    "scheduleVersion",
    "shard",
    "updatedAt",
    "usualMs",
    "warnings",
];

const ROUTES: [(&str, RouteStrategy); 8] = [
    ("round_robin", RouteStrategy::RoundRobin),
    ("weighted_round_robin", RouteStrategy::WeightedRoundRobin),
    ("random", RouteStrategy::Random),
    ("least_active", RouteStrategy::LeastActive),
    ("consistency_hash", RouteStrategy::ConsistencyHash),
    ("broadcast", RouteStrategy::Broadcast),
    ("sharding", RouteStrategy::Sharding),
    ("pinned", RouteStrategy::Pinned),
];

/// Reads a job document.
///
/// # Errors
/// With everything that is wrong with it; never empty.
pub fn read(bytes: &[u8], context: &ReadContext<'_>) -> Result<Read, Unread> {
    let fields = parse(bytes, MAX_DOCUMENT)?;
    let mut errors = Errors::default();
    let read = read_fields(fields, context, &mut errors);
    match read {
        Some(read) if errors.0.is_empty() => Ok(read),
        _ => Err(Unread {
            code: Code::InvalidDocument,
            errors: errors.0,
        }),
    }
}

/// Reads a JSON object of at most `max` bytes, checked before it is parsed.
///
/// # Errors
/// When it is too large, too deep, or no JSON object.
pub fn parse(bytes: &[u8], max: usize) -> Result<Map<String, Value>, Unread> {
    check(bytes, max)?;
    let malformed = |detail: String| Unread {
        code: Code::MalformedJson,
        errors: vec![FieldError::new("$", "malformed_json", detail)],
    };
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => Err(malformed(wrong_type("$", "an object", &other).detail)),
        Err(error) => Err(malformed(error.to_string())),
    }
}

fn read_fields(
    mut fields: Map<String, Value>,
    context: &ReadContext<'_>,
    errors: &mut Errors,
) -> Option<Read> {
    for name in READ_ONLY {
        fields.remove(name);
    }
    let mut document = Object::new("", fields);
    let job_id = parts::job_id(&mut document, context, errors);
    let name = document.text("name", 1, 200, errors);
    if name.is_none() && errors.0.iter().all(|error| error.field != "name") {
        errors.add(FieldError::new("name", "required", "a job needs a name"));
    }
    let enabled = document.word(
        "status",
        &[("ENABLED", true), ("PAUSED", false), ("DISABLED", false)],
        errors,
    );
    let (start_at, end_at) = window::bounds(&mut document, errors);
    let schedule = schedule::read(&mut document, context, errors);
    let executor = executor::read(&mut document, context, errors);
    parts::pool(&mut document, errors);
    let retry = policy::retry(&mut document, errors);
    let misfire = policy::misfire(&mut document, errors);
    let (overlap, queue_limit) = policy::overlap(&mut document, errors);
    let definition = Definition {
        // Stand-ins are never seen: a missing part has left an error.
        job_id: job_id.unwrap_or_else(|| context.id.given().clone()),
        name: name.unwrap_or_default(),
        description: document
            .text("description", 0, 2000, errors)
            .filter(|text| !text.is_empty()),
        owner: document
            .text("owner", 0, 200, errors)
            .filter(|text| !text.is_empty()),
        labels: parts::labels(&mut document, errors),
        schedule: schedule.unwrap_or(cronwright_core::job::def::ScheduleSpec::None),
        start_at,
        end_at,
        jitter_ms: document.int("jitterMs", 0, HOUR, errors).unwrap_or(0),
        blackouts: window::blackouts(&mut document, errors),
        executor: executor.unwrap_or_else(executor::nothing),
        pool: None,
        route_strategy: document.word("routeStrategy", &ROUTES, errors),
        route_key: document.text("routeKey", 1, 200, errors),
        timeout_ms: document
            .int("timeoutMs", 100, DAY, errors)
            .unwrap_or(30_000),
        deadline_ms: document.int("deadlineMs", 1_000, 7 * DAY, errors),
        warn_after_ms: document.int("warnAfterMs", 100, DAY, errors),
        retry,
        misfire,
        overlap,
        queue_limit,
        callback: callback::read(&mut document, context, errors),
    };
    document.finish(errors);
    if enabled != Some(false) && errors.0.is_empty() {
        never::refuse(&definition, context.now, errors);
    }
    Some(Read {
        definition,
        enabled,
    })
}

impl IdRule<'_> {
    fn given(&self) -> &JobId {
        match self {
            Self::Default(id) | Self::Fixed(id) => id,
        }
    }
}
