//! HMAC-SHA256 and hexadecimal text.

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// HMAC-SHA256 of `parts`, one after the other.
pub(crate) fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // The key is laid into one block here, as RFC 2104 says, because that constructor cannot fail.
    let mut block = [0_u8; 64];
    if key.len() > block.len() {
        fill(&mut block, &Sha256::digest(key));
    } else {
        fill(&mut block, key);
    }
    let mut mac = <Hmac<Sha256> as hmac::digest::KeyInit>::new((&block).into());
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn fill(block: &mut [u8; 64], key: &[u8]) {
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// The 32 bytes that 64 lower-case hexadecimal digits stand for: one spelling per value.
pub(crate) fn unhex32(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0_u8; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        for digit in pair {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return None,
            };
            *byte = (*byte << 4) | value;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_agrees_with_rfc_4231_for_short_and_long_keys() {
        let short = hmac_sha256(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(
            hex(&short),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long = hmac_sha256(
            &[0xaa; 131],
            &[b"Test Using Larger Than Block-Size Key - Hash Key First"],
        );
        assert_eq!(
            hex(&long),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn hex_reads_back_and_refuses_everything_else() {
        let bytes = hmac_sha256(b"k", &[]);
        assert_eq!(unhex32(&hex(&bytes)), Some(bytes));
        for bad in [
            &*hex(&bytes).to_uppercase(),
            "",
            "00",
            &"g".repeat(64),
            &"0".repeat(65),
            &"é".repeat(32),
        ] {
            assert_eq!(unhex32(bad), None, "{bad}");
        }
    }
}
