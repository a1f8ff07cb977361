//! What a simulation of several clusters reads and what it produces.

use std::sync::Arc;

use bookahead_core::estimates::EstimateModel;
use bookahead_core::failures::FailureTrace;
use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CoRequest, Job};

use super::outcome::{CoOutcome, TimeLine};
use crate::co_reservation::local::{LocalTotals, PartOutcome};

/// The jobs of one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterWorkload {
    /// Its size in CPUs.
    pub nodes: Nodes,
    /// Its jobs in order of submission; ids go on from the cluster before, so that they are unique.
    pub jobs: Arc<[Job]>,
    /// Where its excerpt begins in the trace.
    pub window_start: Seconds,
    /// Mean of run time ÷ limit over its jobs.
    pub accuracy: f64,
}

/// What a simulation of several clusters reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoReservationInputs {
    /// The clusters.
    pub clusters: Vec<ClusterWorkload>,
    /// Requests in order of submission, ids 0, 1, 2, …
    pub requests: Arc<[CoRequest]>,
    /// When submissions end, of jobs and of requests (Meltzer 2005, §6.1).
    pub stop: Seconds,
    /// How well users of the trace estimate, learned from jobs that no cluster runs; where clusters
    /// overbook.
    pub estimates: Option<Arc<EstimateModel>>,
    /// Failures of nodes, which are numbered one cluster after the other.
    pub failures: Arc<FailureTrace>,
}

/// What it produces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoReservationRun {
    /// Totals over the jobs of all clusters.
    pub metrics: SimulationMetrics,
    /// Job outcomes in order of job id; always complete, as measures need them.
    pub jobs: Vec<JobOutcome>,
    /// One outcome a request, in order.
    pub requests: Vec<CoOutcome>,
    /// The outcome of every promised part, by cluster, in the order in which it became final.
    pub parts: Vec<Vec<PartOutcome>>,
    /// Sums of each cluster.
    pub totals: Vec<LocalTotals>,
    /// Use over time of each cluster, sampled hourly.
    pub time_lines: Vec<TimeLine>,
}
