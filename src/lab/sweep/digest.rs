//! What tells a result from others: a digest of all that determines it.

use arrayvec::ArrayString;
use sha2::{Digest, Sha256};

/// What tells a result from others: 32 hexadecimal digits of a SHA-256, kept in their place, because sweeps have millions.
pub type Identity = ArrayString<32>;

/// The first 32 hexadecimal digits of the SHA-256 of a text.
#[must_use]
pub fn digest(text: &str) -> Identity {
    let hash = Sha256::digest(text.as_bytes());
    let mut digits = Identity::new();
    for byte in hash.iter().take(16) {
        for half in [byte >> 4, byte & 15] {
            digits.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    digits
}
