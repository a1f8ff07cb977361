//! What determines the node failures that a simulation meets.

use serde::{Deserialize, Serialize};

use super::{FailurePattern, SurvivalModel};
use crate::units::Seconds;

/// Everything that determines the failures of a simulation, apart from seed, workload and
/// replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureSettings {
    /// Where failures come from.
    pub source: FailureSource,
    /// Failure-clock time at which every simulation starts (A-29; default 0). Negative: the clock
    /// begins so much later, after a lead-in in which nothing fails.
    pub offset: Seconds,
}

/// Where node failures come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FailureSource {
    /// Nodes never fail.
    None,
    /// Replay of the LANL table LA-UR-05-7318 (Birkenheuer 2012, §5.1.1), nodes of the systems
    /// numbered one after the other.
    Lanl {
        /// File name, looked up as it stands, then in the folder of failure data.
        file: String,
        /// System numbers, 18 and 19 in the thesis.
        systems: Vec<u32>,
    },
    /// Drawn from a model: up-times from `survival`, exponential down-times.
    Generated {
        /// Distribution of up-times of one node.
        survival: SurvivalModel,
        /// μ, repairs per hour.
        repair_rate_per_hour: f64,
        /// When failures come, beside the model; left out where it is plain.
        #[serde(default, skip_serializing_if = "FailurePattern::is_plain")]
        pattern: FailurePattern,
    },
}

impl FailureSettings {
    /// Whether failures follow the load of the cluster that meets them.
    #[must_use]
    pub fn follow_load(&self) -> bool {
        matches!(&self.source, FailureSource::Generated { pattern, .. } if pattern.load.is_some())
    }
}
