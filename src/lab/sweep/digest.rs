//! What tells a result from others: a digest of all that determines it.

use sha2::{Digest as _, Sha256};

use crate::study::inputs::HashDigits;
use crate::study::inputs::seen::digits;

/// What tells a result from others: the first 32 hexadecimal digits of the SHA-256 of a text.
pub type Identity = HashDigits;

/// The beginning of a text whose identity is asked for, and of longer ones that begin with it.
#[derive(Clone, Debug)]
pub(super) struct Digest(Sha256);

impl Digest {
    /// Begins with a text.
    #[must_use]
    pub(super) fn of(text: &str) -> Self {
        Self(Sha256::new_with_prefix(text))
    }

    /// The identity of the text so far.
    #[must_use]
    pub(super) fn identity(&self) -> Identity {
        digits(self.0.clone())
    }

    /// The identity of the text so far and this after it.
    #[must_use]
    pub(super) fn identity_with(&self, more: &str) -> Identity {
        digits(self.0.clone().chain_update(more))
    }
}

/// The identity of a text.
#[must_use]
pub fn digest(text: &str) -> Identity {
    Digest::of(text).identity()
}
