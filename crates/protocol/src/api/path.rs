//! One spelling per path.
//!
//! Guards and routers that read a path differently are how schedulers have been taken over, so a path
//! that could be read in two ways is refused before anything looks at it. No id of ours needs escaping.

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// A byte that no route has: `%`, `;`, `\`, a control character, non-ASCII.
    #[error("a path has only A-Z a-z 0-9 . _ - and /; nothing in it is escaped")]
    Byte,
    /// `//`, or a slash at the end.
    #[error("a path has no empty segment and no slash at its end")]
    EmptySegment,
    /// `.` or `..`.
    #[error("a path has no segment of dots")]
    Dots,
    /// `/API/v1`, `/api/V1`.
    #[error("letter case matters: use /api/v1")]
    Case,
    /// Over 512 bytes.
    #[error("the path is too long")]
    TooLong,
}

const LONGEST: usize = 512;

/// Refuses a path that is not in its one spelling.
///
/// # Errors
/// With what is wrong with it.
pub fn check(path: &str) -> Result<(), PathFault> {
    if path.len() > LONGEST {
        return Err(PathFault::TooLong);
    }
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'/');
    if !path.bytes().all(allowed) {
        return Err(PathFault::Byte);
    }
    let Some(rest) = path.strip_prefix('/') else {
        return Err(PathFault::EmptySegment);
    };
    if rest.is_empty() {
        return Ok(());
    }
    for (index, segment) in rest.split('/').enumerate() {
        if segment.is_empty() {
            return Err(PathFault::EmptySegment);
        }
        if segment.bytes().all(|b| b == b'.') {
            return Err(PathFault::Dots);
        }
        let known = ["api", "v1"].get(index);
        if known.is_some_and(|known| segment.eq_ignore_ascii_case(known) && segment != *known) {
            return Err(PathFault::Case);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_of_a_path_is_refused() {
        for (path, fault) in [
            ("", PathFault::EmptySegment),
            ("api/v1/jobs", PathFault::EmptySegment),
            ("//api/v1/jobs", PathFault::EmptySegment),
            ("/api//v1/jobs", PathFault::EmptySegment),
            ("/api/v1//jobs", PathFault::EmptySegment),
            ("/api/v1/jobs/", PathFault::EmptySegment),
            ("/api/v1/jobs//a", PathFault::EmptySegment),
            ("//", PathFault::EmptySegment),
            ("/aPi/v1/jobs", PathFault::Case),
            ("/API/v1/jobs", PathFault::Case),
            ("/api/V1/jobs", PathFault::Case),
            ("/api/v1%2fjobs", PathFault::Byte),
            ("/api/v1%2Fjobs", PathFault::Byte),
            ("/api/v1/jobs%5ca", PathFault::Byte),
            ("/%61pi/v1/jobs", PathFault::Byte),
            ("/api/v1/jobs;x", PathFault::Byte),
            ("/api;x/v1/jobs", PathFault::Byte),
            ("/api/v1/jobs\\a", PathFault::Byte),
            ("/api/v1/jobs%00", PathFault::Byte),
            ("/api/v1/jobs\n", PathFault::Byte),
            ("/api/v1/jobs/ä", PathFault::Byte),
            ("/api/v1/jobs?x", PathFault::Byte),
            ("/api/v1/../v1/jobs", PathFault::Dots),
            ("/api/v1/./jobs", PathFault::Dots),
            ("/api/v1/jobs/...", PathFault::Dots),
            ("/api/v1/%2e%2e/jobs", PathFault::Byte),
        ] {
            assert_eq!(check(path), Err(fault), "{path:?}");
        }
        assert_eq!(
            check(&format!("/{}", "x".repeat(600))),
            Err(PathFault::TooLong)
        );
    }

    #[test]
    fn canonical_paths_pass() {
        for path in [
            "/",
            "/api",
            "/api/v1/jobs",
            "/api/v1/jobs/A-b_9",
            "/assets/app.css",
            "/openapi.json",
            "/health",
        ] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
    }
}
