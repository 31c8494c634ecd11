//! Names of headers.

/// The run's `scheduleId`, for callees that deduplicate.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// The run's `scheduleId`.
pub const X_SCHEDULE_ID: &str = "X-Schedule-Id";
/// The job's id.
pub const X_JOB_ID: &str = "X-Job-Id";
/// Which attempt of the run.
pub const X_ATTEMPT: &str = "X-Attempt";
/// The lease's fence: refuse a lower one than you have seen for the job.
pub const X_FENCE: &str = "X-Fence";
/// Opens `/complete` and `/progress` for this run and fence.
pub const X_RUN_TOKEN: &str = "X-Run-Token";
/// The planned instant in ms.
pub const X_PLANNED_AT: &str = "X-Planned-At";
/// Articles' scheme: whose secret signed.
pub const X_APP_ID: &str = "X-App-Id";
/// Articles' scheme: when it was signed, in ms.
pub const X_TIMESTAMP: &str = "X-Timestamp";
/// Articles' scheme: a UUID that is never used twice.
pub const X_NONCE: &str = "X-Nonce";
/// Articles' scheme: the signature.
pub const X_SIGNATURE: &str = "X-Signature";
/// Articles' scheme, during a rotation: the signature with the newer secret.
pub const X_SIGNATURE_NEXT: &str = "X-Signature-Next";
/// Standard Webhooks: the message's id.
pub const WEBHOOK_ID: &str = "webhook-id";
/// Standard Webhooks: when it was signed, in seconds.
pub const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
/// Standard Webhooks: the signatures.
pub const WEBHOOK_SIGNATURE: &str = "webhook-signature";

/// Longest header value of a job, in bytes.
pub const LONGEST_VALUE: usize = 4_096;

/// Headers that a job may not set, besides [`RESERVED_PREFIXES`]; lower case. Either the connection owns
/// them, or they say who is calling, or they are ours and must not be forged.
const RESERVED: [&str; 26] = [
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "via",
    "forwarded",
    "x-real-ip",
    "true-client-ip",
    "cdn-loop",
    "http2-settings",
    "idempotency-key",
    "x-schedule-id",
    "x-job-id",
    "x-attempt",
    "x-fence",
    "x-run-token",
    "x-planned-at",
    "x-app-id",
    "x-timestamp",
    "x-nonce",
    "x-http-method-override",
];

/// Beginnings of headers that a job may not set; lower case.
const RESERVED_PREFIXES: [&str; 7] = [
    "cf-",
    "proxy-",
    "sec-",
    "webhook-",
    "x-cronwright-",
    "x-forwarded-",
    "x-signature",
];

/// Why a job may not set a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderRefused {
    /// Not a name by RFC 9110.
    #[error("not a header name: use letters, digits and -")]
    Name,
    /// Set by us, or by the connection.
    #[error("this header is set by Cronwright or by the connection")]
    Reserved,
    /// Holds a control character, or white space at an end.
    #[error("a header value has no control characters and no white space at its ends")]
    Value,
    /// Over 4,096 bytes.
    #[error("a header value has at most 4,096 bytes")]
    TooLong,
}

/// Whether a job may not set the header of that name, in any case.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    RESERVED.contains(&name.as_str())
        || RESERVED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Checks one header of a job.
///
/// # Errors
///
/// When the job may not set it.
pub fn check_header(name: &str, value: &str) -> Result<(), HeaderRefused> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(token) {
        return Err(HeaderRefused::Name);
    }
    if is_reserved(name) {
        return Err(HeaderRefused::Reserved);
    }
    if value.len() > LONGEST_VALUE {
        return Err(HeaderRefused::TooLong);
    }
    // Visible ASCII, spaces and tabs: what every HTTP client agrees on.
    let plain = value
        .bytes()
        .all(|b| b == b'\t' || (b' '..=b'~').contains(&b));
    if !plain || value.trim() != value {
        return Err(HeaderRefused::Value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_headers_cannot_be_set_by_a_job() {
        let ours = [
            IDEMPOTENCY_KEY,
            X_SCHEDULE_ID,
            X_JOB_ID,
            X_ATTEMPT,
            X_FENCE,
            X_RUN_TOKEN,
            X_PLANNED_AT,
            X_APP_ID,
            X_TIMESTAMP,
            X_NONCE,
            X_SIGNATURE,
            X_SIGNATURE_NEXT,
            WEBHOOK_ID,
            WEBHOOK_TIMESTAMP,
            WEBHOOK_SIGNATURE,
        ];
        for name in ours {
            assert!(is_reserved(name), "{name}");
        }
    }

    #[test]
    fn a_header_of_the_connection_is_refused_in_any_case() {
        for name in [
            "HOST",
            "Content-Length",
            "cf-Connecting-IP",
            "CF-Worker",
            "X-Forwarded-For",
            "Proxy-Authorization",
        ] {
            assert_eq!(
                check_header(name, "x"),
                Err(HeaderRefused::Reserved),
                "{name}"
            );
        }
    }

    #[test]
    fn a_value_cannot_begin_another_header() {
        for value in ["a\r\nhost: evil", "a\nb", "a\0", " a", "a ", "ä"] {
            assert_eq!(
                check_header("x-a", value),
                Err(HeaderRefused::Value),
                "{value:?}"
            );
        }
        for name in ["", "a b", "a:", "a\r\n", "ä"] {
            assert_eq!(
                check_header(name, "x"),
                Err(HeaderRefused::Name),
                "{name:?}"
            );
        }
        assert_eq!(check_header("authorization", "Bearer x y"), Ok(()));
    }
}
