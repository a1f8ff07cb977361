//! Properties and measures of a cluster in a study of several clusters.

use bookahead_core::units::{Nodes, Seconds};

use crate::co_reservation::CoReservationInputs;
use crate::co_reservation::local::ClusterId;

/// What a cluster of a simulation is.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSummary {
    /// Its size in CPUs.
    pub nodes: Nodes,
    /// The id of its first job; that of the first job behind it where it has none.
    pub first_job: u32,
    /// Its number of jobs.
    pub jobs: u32,
    /// Where its excerpt begins in the trace.
    pub window_start: Seconds,
    /// Mean of run time ÷ limit over its jobs.
    pub accuracy: f64,
    /// When submissions end.
    pub stop: Seconds,
}

impl ClusterSummary {
    /// The clusters of a simulation, in order.
    #[must_use]
    pub fn of(inputs: &CoReservationInputs) -> Vec<Self> {
        let mut next = 0;
        inputs
            .clusters
            .iter()
            .map(|cluster| {
                let jobs = u32::try_from(cluster.jobs.len()).unwrap_or(u32::MAX);
                let first_job = cluster.jobs.first().map_or(next, |job| job.id.0);
                next = first_job + jobs;
                Self {
                    nodes: cluster.nodes,
                    first_job,
                    jobs,
                    window_start: cluster.window_start,
                    accuracy: cluster.accuracy,
                    stop: inputs.stop,
                }
            })
            .collect()
    }
}

/// One value of one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterValue {
    /// The cluster.
    pub cluster: ClusterId,
    /// Its name in the list of the study (`studies::co_reservation`).
    pub measure: &'static str,
    /// The class of jobs or parts; empty where it is about all.
    pub class: &'static str,
    /// The value.
    pub value: f64,
}
