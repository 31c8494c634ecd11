//! Bodies of HTTP jobs: `{{name}}` is replaced by a value of the run.
//!
//! One pass from left to right: what a value holds is never looked at again, so parameters cannot reach
//! other values. Unknown names stay as they are, so that a body in another template language passes.
//!
//! | name | value |
//! |---|---|
//! | `scheduleId`, `jobId` | letters, digits, `_`, `-`: safe inside JSON strings, URLs and forms |
//! | `plannedAt` | milliseconds since the epoch, digits |
//! | `attempt`, `fence` | digits |
//! | `params` | the raw JSON of the run's parameters, `null` without any: put it where a JSON value stands, without quotes |

use cronwright_core::ids::{JobId, RunId};
use cronwright_core::time::Millis;

/// Longest filled body, in bytes: `{{params}}` may stand many times.
pub const LONGEST_BODY: usize = 1024 * 1024;

/// Longest name between braces, spaces included.
const LONGEST_NAME: usize = 32;

/// The values of one attempt.
#[derive(Clone, Copy, Debug)]
pub struct Vars<'a> {
    /// The run.
    pub schedule_id: &'a RunId,
    /// Its job.
    pub job_id: &'a JobId,
    /// Its planned instant.
    pub planned_at: Millis,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The lease's fence.
    pub fence: u64,
    /// Raw JSON, checked by whoever took it in.
    pub params: Option<&'a str>,
}

/// The filled body would be longer than [`LONGEST_BODY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body has more than 1 MiB once its template is filled in")]
pub struct BodyTooLong;

/// Fills the template in.
///
/// # Errors
///
/// When the result would have more than 1 MiB.
pub fn fill(template: &str, vars: &Vars<'_>) -> Result<String, BodyTooLong> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        push(&mut filled, before)?;
        if let Some((value, tail)) = known(after, vars) {
            push(&mut filled, &value)?;
            rest = tail;
        } else {
            // One brace only: in `{{{jobId}}` the name begins at the second.
            push(&mut filled, "{")?;
            rest = rest
                .get(before.len().saturating_add(1)..)
                .unwrap_or_default();
        }
    }
    push(&mut filled, rest)?;
    Ok(filled)
}

/// The value of the name that `after` begins with, and what follows its braces. Only the next few bytes
/// are looked at: a long text of open braces must not be searched once per brace.
fn known<'t>(after: &'t str, vars: &Vars<'_>) -> Option<(String, &'t str)> {
    let near = after.as_bytes().iter().take(LONGEST_NAME);
    let length = near.take_while(|byte| **byte != b'}').count();
    let (name, rest) = after.split_at_checked(length)?;
    Some((
        value(name.trim_matches(' '), vars)?,
        rest.strip_prefix("}}")?,
    ))
}

fn push(filled: &mut String, piece: &str) -> Result<(), BodyTooLong> {
    if filled.len().saturating_add(piece.len()) > LONGEST_BODY {
        return Err(BodyTooLong);
    }
    filled.push_str(piece);
    Ok(())
}

fn value(name: &str, vars: &Vars<'_>) -> Option<String> {
    Some(match name {
        "scheduleId" => vars.schedule_id.to_string(),
        "jobId" => vars.job_id.to_string(),
        "plannedAt" => vars.planned_at.0.to_string(),
        "attempt" => vars.attempt.to_string(),
        "fence" => vars.fence.to_string(),
        "params" => vars.params.unwrap_or("null").to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, params: Option<&str>) -> Result<String, BodyTooLong> {
        let (run, job) = (
            "run_3_1f_rs_v1".parse().unwrap(),
            "order-sync".parse().unwrap(),
        );
        fill(
            template,
            &Vars {
                schedule_id: &run,
                job_id: &job,
                planned_at: Millis(1000),
                attempt: 2,
                fence: 9,
                params,
            },
        )
    }

    #[test]
    fn every_name_is_filled_in() {
        let template = r#"{"s":"{{scheduleId}}","j":"{{ jobId }}","t":{{plannedAt}},"a":{{attempt}},"f":{{fence}},"p":{{params}}}"#;
        assert_eq!(
            filled(template, Some(r#"{"x":1}"#)).unwrap(),
            r#"{"s":"run_3_1f_rs_v1","j":"order-sync","t":1000,"a":2,"f":9,"p":{"x":1}}"#
        );
        assert_eq!(filled("{{params}}", None).unwrap(), "null");
    }

    #[test]
    fn a_value_is_never_filled_in_again() {
        assert_eq!(
            filled("{{params}}", Some(r#""{{fence}}""#)).unwrap(),
            r#""{{fence}}""#
        );
        assert_eq!(
            filled("{{{{params}}}}", Some("fence")).unwrap(),
            "{{fence}}"
        );
    }

    #[test]
    fn what_is_no_name_of_ours_stays() {
        for text in [
            "{{other}}",
            "{{",
            "}}",
            "{{scheduleId",
            "{{}}",
            "{ {fence} }",
            "{{Fence}}",
            "价{{",
            "{{\n}}",
        ] {
            assert_eq!(filled(text, None).unwrap(), text);
        }
        assert_eq!(filled("{{x {{fence}}", None).unwrap(), "{{x 9");
        assert_eq!(filled(r#"{"a":{{{fence}}}"#, None).unwrap(), r#"{"a":{9}"#);
    }

    #[test]
    fn parameters_repeated_many_times_do_not_fill_the_memory() {
        let params = format!("\"{}\"", "x".repeat(32 * 1024));
        assert_eq!(
            filled(&"{{params}}".repeat(6_000), Some(&params)),
            Err(BodyTooLong)
        );
    }

    #[test]
    fn a_megabyte_of_open_braces_takes_no_time() {
        let text = "{".repeat(LONGEST_BODY);
        assert_eq!(filled(&text, None).unwrap(), text);
    }
}
