//! Limits that hold before anything is parsed.

use super::Unread;
use crate::problem::{Code, FieldError};

/// Bytes of a job document.
pub const MAX_DOCUMENT: usize = 64 * 1024;
/// Levels of nesting of any JSON body.
pub const MAX_DEPTH: usize = 32;

/// Refuses a text that is too large, or nested more deeply than [`MAX_DEPTH`].
///
/// One pass, no recursion, no allocation. Invalid JSON passes: the parser says what is wrong with it.
///
/// # Errors
/// When it is either.
pub fn check(bytes: &[u8], max: usize) -> Result<(), Unread> {
    if bytes.len() > max {
        let detail = format!("{} bytes, at most {max} are taken", bytes.len());
        return Err(Unread {
            code: Code::TooLarge,
            errors: vec![FieldError::new("$", "too_large", detail)],
        });
    }
    if depth(bytes) > MAX_DEPTH {
        let detail = format!("nested more than {MAX_DEPTH} levels deep");
        return Err(Unread {
            code: Code::TooDeep,
            errors: vec![FieldError::new("$", "too_deep", detail)],
        });
    }
    Ok(())
}

fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut in_text, mut escaped) = (false, false);
    for byte in bytes {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{' | b'[') => {
                depth = depth.saturating_add(1);
                deepest = deepest.max(depth);
            }
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_texts_do_not_count() {
        assert_eq!(depth(br#"{"a":"[[[[\"[[["}"#), 1);
        assert_eq!(depth(br#"[[{"a":[]}]]"#), 4);
    }

    #[test]
    fn a_deep_document_is_refused_without_parsing() {
        let deep = "[".repeat(33);
        assert_eq!(
            check(deep.as_bytes(), MAX_DOCUMENT).unwrap_err().code,
            Code::TooDeep
        );
        assert!(check("[".repeat(32).as_bytes(), MAX_DOCUMENT).is_ok());
    }

    #[test]
    fn a_large_document_is_refused_without_parsing() {
        let large = vec![b' '; MAX_DOCUMENT + 1];
        assert_eq!(
            check(&large, MAX_DOCUMENT).unwrap_err().code,
            Code::TooLarge
        );
    }
}
