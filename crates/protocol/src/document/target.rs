//! Whether a URL may be called, said about the field that holds it.

use super::ReadContext;
use super::reader::Errors;
use crate::problem::FieldError;
use crate::target::{Blocked, check, check_form};

/// Who is called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Callee {
    /// A job's executor, called from the edge.
    Job,
    /// A job's executor, called by an agent of a pool: private addresses are what pools are for.
    PooledJob,
    /// A receiver of callbacks.
    Receiver,
}

impl Callee {
    pub fn job(pooled: bool) -> Self {
        if pooled { Self::PooledJob } else { Self::Job }
    }
}

/// The URL as it will be called, if it may be.
pub(super) fn url_of(
    path: &str,
    text: &str,
    callee: Callee,
    context: &ReadContext<'_>,
    errors: &mut Errors,
) -> Option<String> {
    let judged = match callee {
        Callee::Job | Callee::Receiver => check(text, context.targets),
        Callee::PooledJob => check_form(text),
    };
    match judged {
        Ok(target) => Some(target.as_str().to_owned()),
        Err(blocked) => {
            let host = if blocked.host.is_empty() {
                String::new()
            } else {
                format!(": {}", blocked.host)
            };
            let error = FieldError::new(
                path,
                Blocked::CODE,
                format!("this target is not called from here{host}"),
            );
            errors.none(error.hint(blocked.hint()))
        }
    }
}
