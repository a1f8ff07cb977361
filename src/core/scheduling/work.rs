//! What a policy did to get to its outcomes.

use serde::{Deserialize, Serialize};

use super::measures::Measured;
use super::promising::is_default;

/// How much work a policy did, for the run-time comparisons of Birkenheuer 2012, §6.7.3, and for
/// profiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCounters {
    /// Probabilities of failure that were evaluated in full.
    pub pof_evaluations: u64,
    /// Completion-time distributions that jobs were given, each a convolution of a joint with a
    /// runtime distribution (computed when it is needed).
    pub convolutions: u64,
    /// Times the plan was rebuilt.
    pub replans: u64,
    /// Planned jobs that moved to an earlier start.
    pub moves: u64,
    /// Jobs that passed the first of a queue although their estimate left it too few nodes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub probable_passes: u64,
    /// Those of them that still ran when the first one was to start.
    #[serde(default, skip_serializing_if = "is_default")]
    pub overrun_passes: u64,
}

impl WorkCounters {
    /// The counts of two clusters together.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            pof_evaluations: self.pof_evaluations + other.pof_evaluations,
            convolutions: self.convolutions + other.convolutions,
            replans: self.replans + other.replans,
            moves: self.moves + other.moves,
            probable_passes: self.probable_passes + other.probable_passes,
            overrun_passes: self.overrun_passes + other.overrun_passes,
        }
    }

    /// What came of jobs that passed the first of a queue at a risk.
    #[must_use]
    pub fn measures(&self) -> Measured {
        let (passed, overran) = (self.probable_passes as f64, self.overrun_passes as f64);
        let mut measured = Measured::default();
        measured.add("probable_passes", passed);
        measured.add_ratio("overrun_passes_percent", 100.0 * overran, passed);
        measured
    }
}
