//! Counting verdicts.

use serde::Serialize;

use crate::report::claims::{Comparison, Verdict};

/// How many claims held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Claims that held.
    pub held: usize,
    /// Claims that did not.
    pub missed: usize,
    /// Claims that could not be compared.
    pub not_tested: usize,
}

impl Tally {
    /// Counts verdicts.
    #[must_use]
    pub fn of<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Self {
        let mut tally = Self::default();
        for comparison in comparisons {
            match comparison.verdict {
                Verdict::Held => tally.held += 1,
                Verdict::Missed(_) => tally.missed += 1,
                Verdict::NotTested(_) => tally.not_tested += 1,
            }
        }
        tally
    }

    /// `12 held, 3 missed, 1 not tested`.
    #[must_use]
    pub fn sentence(self) -> String {
        format!(
            "{} held, {} missed, {} not tested",
            self.held, self.missed, self.not_tested
        )
    }
}
