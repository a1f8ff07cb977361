//! What the machines of a simulation held over time, as counts of nodes: the plan of a machine that
//! does not say which nodes.

use crate::scheduling::JobOutcome;
use crate::units::{Nodes, Seconds};

/// One machine of a simulation and all that it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineUse {
    /// What it is called: `machine`, `cluster 2`, or the label of a site.
    pub name: String,
    /// Its size.
    pub nodes: Nodes,
    /// What it held, in any order.
    pub held: Vec<Held>,
}

/// Nodes that were held from `start` on, up to and without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// By what, in the plural: `jobs`, `reservations`.
    pub kind: &'static str,
    /// First second.
    pub start: Seconds,
    /// First second after it.
    pub end: Seconds,
    /// How many.
    pub nodes: Nodes,
}

impl Held {
    /// What a machine's own jobs are called.
    pub const JOBS: &str = "jobs";

    /// What these jobs held: of those that started anew, the last time.
    pub fn by_jobs(outcomes: &[JobOutcome]) -> impl Iterator<Item = Self> {
        outcomes.iter().filter_map(|outcome| {
            Some(Self {
                kind: Self::JOBS,
                start: outcome.start?,
                end: outcome.end?,
                nodes: outcome.job.nodes,
            })
        })
    }
}
