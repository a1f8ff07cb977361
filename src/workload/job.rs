//! The job: a rigid parallel request with an execution window, as every other room of the house sees it.

use serde::{Deserialize, Serialize};

use crate::units::{NodeSeconds, Nodes, Seconds};

/// The position of a job in the workload of one simulation, from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct JobId(pub u32);

/// A rigid parallel job: `nodes` nodes held exclusively for one contiguous interval within `[release, deadline]`
/// (spec `overbooking.md` §1.2, Table 3.1 of the dissertation).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Position in this simulation's workload.
    pub id: JobId,
    /// The job number in the trace it came from (0 for jobs that were never in a trace).
    pub trace_number: i64,
    /// Occurrence time `o`: when the job is submitted and the accept-or-reject decision is taken.
    pub submit: Seconds,
    /// Release time `e`: the earliest permitted start.
    pub release: Seconds,
    /// User-estimated runtime `x`: what is booked and paid; the job never gets more.
    pub estimate: Seconds,
    /// Real runtime `ω`: known to the simulator only, never to a policy.
    pub runtime: Seconds,
    /// Deadline `d`: the latest permitted completion.
    pub deadline: Seconds,
    /// Requested nodes `n`.
    pub nodes: Nodes,
    /// The submitting user's number in the trace, where known.
    pub user: Option<i64>,
    /// The application's (executable's, or worker's) number in the trace, where known.
    pub application: Option<i64>,
}

impl Job {
    /// The fee `n · x`, always of the booked estimate and not of the time used (spec §6).
    #[must_use]
    pub fn fee(&self) -> NodeSeconds {
        self.nodes.for_span(self.estimate)
    }
}
