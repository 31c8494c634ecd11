//! Nonces: version 4 UUIDs in text form.

use crate::keys::mac::hex;

/// Lengths of the groups of a UUID's text.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// The UUID (version 4) of 16 random bytes.
#[must_use]
pub fn nonce_from(random: [u8; 16]) -> String {
    let bits = u128::from_be_bytes(random);
    let version = (bits & !(0xf << 76)) | (0x4 << 76);
    let variant = (version & !(0b11 << 62)) | (0b10 << 62);
    let digits = hex(&variant.to_be_bytes());
    let mut text = String::with_capacity(36);
    let mut rest = digits.as_str();
    for length in GROUPS {
        if !text.is_empty() {
            text.push('-');
        }
        let (group, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
        text.push_str(group);
        rest = tail;
    }
    text
}

/// Whether a text is a UUID of any version, hence 36 bytes.
#[must_use]
pub fn is_nonce(text: &str) -> bool {
    let mut groups = text.split('-');
    let fits = GROUPS.into_iter().all(|length| {
        groups.next().is_some_and(|group| {
            group.len() == length && group.bytes().all(|b| b.is_ascii_hexdigit())
        })
    });
    fits && groups.next().is_none()
}
