//! What tells a result from others: a digest of all that determines it.

use sha2::{Digest, Sha256};

use crate::study::inputs::HashDigits;
use crate::study::inputs::seen::digits;

/// What tells a result from others.
pub type Identity = HashDigits;

/// The first 32 hexadecimal digits of the SHA-256 of a text.
#[must_use]
pub fn digest(text: &str) -> Identity {
    digits(Sha256::new_with_prefix(text))
}
