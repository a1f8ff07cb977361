//! Every quantity that a study of several clusters measures, by name: of the whole simulation in
//! [`MEASURES`](crate::scheduling::measures::MEASURES), of one cluster in [`CLUSTER_MEASURES`].

use crate::brokering::GridInputs;
use crate::scheduling::local::ClusterId;
use crate::scheduling::measures::{Measure, Topic};
use crate::units::{Nodes, Seconds};

const fn measure(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    decimals: usize,
) -> Measure {
    Measure {
        name,
        unit,
        title,
        decimals,
        topic: Topic::Clusters,
    }
}

/// Quantities of one cluster, some of them by class of job or part, in the order of tables.
#[rustfmt::skip]
pub const CLUSTER_MEASURES: &[Measure] = &[
    measure("cluster_jobs", "", "Jobs", 0),
    measure("cluster_accuracy", "", "Accuracy of limits", 3),
    measure("filtering_degree", "", "Mean filtering degree", 3),
    measure("infeasibility_rate", "", "Infeasibility rate", 3),
    measure("cluster_utilisation_percent", "%", "Utilisation (%)", 1),
    measure("cluster_job_percent", "%", "Utilisation by jobs (%)", 1),
    measure("cluster_part_percent", "%", "Utilisation by reservations (%)", 1),
    measure("cluster_expansion_factor", "", "Mean expansion factor", 3),
    measure("cluster_backlog_now_hours", "h", "Backlog time at queries (h)", 2),
    measure("cluster_backlog_earliest_hours", "h", "Backlog time for the earliest start (h)", 2),
    measure("cluster_parts", "", "Parts granted", 0),
    measure("cluster_part_nodes", "CPUs", "Mean CPUs of a part", 1),
    measure("cluster_part_hours", "h", "Mean duration of a part (h)", 2),
    measure("cluster_longest_wait_seconds", "s", "Longest wait (s)", 0),
    measure("cluster_drain_hours", "h", "Drained after the end of submissions (h)", 1),
    measure("cluster_lost_parts", "", "Parts lost", 0),
    // By class; the class is the text beside the value.
    measure("class_job_percent", "%", "Utilisation by jobs of a size (%)", 2),
    measure("class_expansion_factor", "", "Mean expansion factor by size of job", 3),
    measure("class_part_percent_by_nodes", "%", "Utilisation by parts of a size (%)", 2),
    measure("class_part_percent_by_duration", "%", "Utilisation by parts of a duration (%)", 2),
    measure("class_parts_by_nodes", "", "Parts by size", 0),
    measure("class_parts_by_duration", "", "Parts by duration", 0),
    measure("class_earliest_parts_by_nodes", "", "Parts at the earliest start by size", 0),
    measure("class_earliest_parts_by_duration", "", "Parts at the earliest start by duration", 0),
];

/// Finds a quantity of a cluster by name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Measure> {
    CLUSTER_MEASURES.iter().find(|measure| measure.name == name)
}

/// A quantity of one cluster, as findings and readers name it: `infeasibility_rate@2` at cluster 2 (counted from 0),
/// `class_job_percent@2/129-256` of a class there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterMeasureName<'n> {
    /// Its name in [`CLUSTER_MEASURES`].
    pub measure: &'n str,
    /// The cluster.
    pub cluster: ClusterId,
    /// The class; empty where it is about all.
    pub class: &'n str,
}

impl<'n> ClusterMeasureName<'n> {
    /// Reads such a name; `None` for any other.
    #[must_use]
    pub fn parse(name: &'n str) -> Option<Self> {
        let (measure, place) = name.split_once('@')?;
        let (cluster, class) = place.split_once('/').unwrap_or((place, ""));
        Some(Self {
            measure: find(measure)?.name,
            cluster: ClusterId(cluster.parse().ok()?),
            class,
        })
    }
}

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
    pub fn of(inputs: &GridInputs) -> Vec<Self> {
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
    /// Its name in [`CLUSTER_MEASURES`].
    pub measure: &'static str,
    /// The class of jobs or parts; empty where it is about all.
    pub class: &'static str,
    /// The value.
    pub value: f64,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scheduling::measures::MEASURES;

    #[test]
    fn measures_of_clusters_have_names_that_nothing_else_has() {
        let names: BTreeSet<&str> = CLUSTER_MEASURES
            .iter()
            .chain(MEASURES)
            .map(|measure| measure.name)
            .collect();
        assert_eq!(names.len(), CLUSTER_MEASURES.len() + MEASURES.len());
    }

    #[test]
    fn a_measure_is_named_with_its_cluster_and_class() {
        let name = |measure, cluster, class| {
            Some(ClusterMeasureName {
                measure,
                cluster: ClusterId(cluster),
                class,
            })
        };
        let parse = ClusterMeasureName::parse;
        assert_eq!(
            parse("infeasibility_rate@2"),
            name("infeasibility_rate", 2, "")
        );
        assert_eq!(
            parse("class_job_percent@12/129-256"),
            name("class_job_percent", 12, "129-256")
        );
        for other in [
            "infeasibility_rate",
            "co_failure_rate@2",
            "filtering_degree@",
            "filtering_degree@x",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
