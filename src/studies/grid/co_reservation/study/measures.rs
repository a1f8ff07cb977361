//! Requests for parts at several clusters (`src/studies/grid/co_reservation/evaluation.rs`).

use crate::co_reservation::local::ClusterId;
use rusqlite::types::Value;

use bookahead_core::scheduling::measures::{Measure, QuantityKind, Topic, measure};
use bookahead_lab::tables::StoredQuantity;

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("co_requests", "", "Co-reservation requests", 0, Topic::Detail),
    measure("co_granted", "", "Co-reservations granted", 0, Topic::Detail),
    measure("co_failure_rate", "", "Failure rate of co-reservations", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_no_candidate_rate", "", "Failed without any candidate", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_refused_rate", "", "Failed with every candidate refused", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_candidates_mean", "", "Mean complete candidates of a request", 1, Topic::Detail),
    measure("co_relative_start_mean", "", "Mean relative start offset", 3, Topic::CoReservations),
    measure("co_relative_start_deviation", "", "Standard deviation of the relative start offset", 3, Topic::Detail),
    measure("co_relative_cost_mean", "", "Mean relative cost offset", 3, Topic::CoReservations),
    measure("co_relative_cost_deviation", "", "Standard deviation of the relative cost offset", 3, Topic::Detail),
    measure("co_weekend1_relative_start_mean", "", "Mean relative start offset at the first weekend", 3, Topic::Detail),
    measure("co_weekend1_relative_cost_mean", "", "Mean relative cost offset at the first weekend", 3, Topic::Detail),
    measure("co_weekend2_relative_start_mean", "", "Mean relative start offset at the second weekend", 3, Topic::Detail),
    measure("co_weekend2_relative_cost_mean", "", "Mean relative cost offset at the second weekend", 3, Topic::Detail),
    measure("co_window_start_mean", "", "Mean start offset within the window asked for", 3, Topic::CoReservations),
    measure("co_window_start_latest_mean", "", "Mean start offset up to the latest candidate start", 3, Topic::Detail),
    measure("co_at_earliest_share", "", "Share of requests that start at the earliest start asked for", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_cost_mean", "", "Mean total cost", 1, Topic::CoReservations),
    measure("co_day_share", "", "Share of granted requests entirely by day", 3, Topic::Detail).of_kind(QuantityKind::Fraction),
    measure("co_night_share", "", "Share of granted requests entirely by night", 3, Topic::Detail).of_kind(QuantityKind::Fraction),
    measure("co_granted_work_hours", "CPU·h", "Mean work of a granted request (CPU·h)", 1, Topic::Detail),
    measure("co_lead_hours", "h", "Mean lead time of granted requests (h)", 2, Topic::CoReservations),
    measure("co_response_hours", "h", "Mean time from the earliest start asked for to the end of granted requests (h)", 2, Topic::CoReservations),
    measure("co_idle_hours", "CPU·h", "Work that queued parts held while they waited for others, or gave back (CPU·h)", 0, Topic::Machine),
    measure("messages_total", "", "Reserve and cancel messages", 0, Topic::Messages),
    measure("messages_mean", "", "Mean messages a request", 2, Topic::Messages),
    measure("messages_deviation", "", "Standard deviation of messages a request", 2, Topic::Detail),
    measure("messages_max", "", "Messages of the least efficient request", 0, Topic::Messages),
    measure("messages_max_worst_case", "", "Worst case of that request", 0, Topic::Detail),
    measure("messages_max_candidates", "", "Candidates of that request", 0, Topic::Detail),
    measure("messages_with_probes_total", "", "Messages with status queries", 0, Topic::Messages),
    measure("messages_part_failures", "", "Parts refused", 0, Topic::Messages).of_kind(QuantityKind::RareCount),
    measure("messages_cancellations", "", "Parts given back", 0, Topic::Messages),
    measure("messages_beyond_minimum", "", "Messages beyond one a part of granted requests", 0, Topic::Detail),
    measure("messages_timed_out", "", "Answers that did not come in time", 0, Topic::Detail),
    measure("messages_repeated", "", "Messages sent again", 0, Topic::Detail),
    measure("co_known_clusters", "", "Clusters that the broker knows of", 1, Topic::Detail),
    measure("co_probed_clusters_mean", "", "Mean clusters asked for offers a request", 2, Topic::Messages),
    measure("co_second_round_rate", "", "Share of requests whose first clusters offered no candidate", 3, Topic::Messages).of_kind(QuantityKind::Fraction),
    measure("reservation_efficiency_mean", "", "Mean reservation efficiency", 4, Topic::Messages),
    measure("top_request_message_share", "", "Share of all messages that one request took", 3, Topic::Detail).of_kind(QuantityKind::Fraction),
    measure("unfairness_mean", "", "Mean unfairness degree", 3, Topic::Fairness),
    measure("unfairness_deviation", "", "Standard deviation of the unfairness degree", 3, Topic::Detail),
    measure("expansion_factor_mean", "", "Mean expansion factor of jobs", 3, Topic::Fairness),
    measure("longest_wait_seconds", "s", "Longest wait of a job (s)", 0, Topic::Fairness),
    measure("ten_longest_waits_seconds", "s", "Mean of the ten longest waits (s)", 0, Topic::Fairness),
    measure("drain_hours", "h", "Drained after the end of submissions (h)", 1, Topic::Detail),
    measure("grid_utilisation_percent", "%", "Utilisation of all clusters (%)", 2, Topic::Machine),
    measure("grid_job_percent", "%", "Utilisation by jobs (%)", 2, Topic::Machine),
    measure("grid_part_percent", "%", "Utilisation by reservations (%)", 2, Topic::Machine),
    measure("grid_backlog_hours", "h", "Mean backlog time at queries (h)", 2, Topic::Fairness),
    measure("backlog_error_hours", "h", "Backlog time less the time until the jobs in the system had ended (h)", 2, Topic::Fairness).of_kind(QuantityKind::Signed),
    measure("backlog_absolute_error_hours", "h", "Distance of the backlog time from the time until the jobs in the system had ended (h)", 2, Topic::Detail),
    measure("backlog_work_error_hours", "h", "Backlog time less that of true run times (h)", 2, Topic::Fairness).of_kind(QuantityKind::Signed),
    measure("backlog_work_absolute_error_hours", "h", "Distance of the backlog time from that of true run times (h)", 2, Topic::Detail),
    measure("co_lost_rate", "", "Share of granted requests that lost a part", 4, Topic::LostParts).of_kind(QuantityKind::Fraction),
    measure("co_kept_rate", "", "Share of requests that were granted and kept every part, or had it replaced", 4, Topic::Detail).of_kind(QuantityKind::Fraction),
    measure("co_replaced_rate", "", "Share of lost parts that were replaced", 4, Topic::LostParts).of_kind(QuantityKind::Fraction),
    measure("co_given_up_parts", "", "Parts that the agent gave up", 0, Topic::LostParts).of_kind(QuantityKind::RareCount),
    measure("co_given_up_in_vain_share", "", "Share of these that their cluster had kept", 3, Topic::LostParts).of_kind(QuantityKind::Fraction),
    measure("co_renegotiable_granted", "", "Renegotiable requests granted", 0, Topic::Detail),
    measure("co_renegotiations_mean", "", "How often a renegotiable granted request was issued anew", 2, Topic::CoReservations),
    measure("co_improved_rate", "", "Share of renegotiable granted requests that got something better", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_earlier_hours", "h", "How much earlier than first granted renegotiable requests start (h)", 2, Topic::CoReservations).of_kind(QuantityKind::Signed),
    measure("co_fixed_kept_rate", "", "Share of requests that are negotiated once that were granted and ran as promised", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_renegotiable_kept_rate", "", "Share of renegotiable requests that were granted and ran as promised", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_priority_kept_rate", "", "Share of requests with priority that were granted and ran as promised", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_utility_mean", "", "Mean utility of a request: 1 at its earliest start, 0 at its latest or without a reservation", 3, Topic::CoReservations),
    measure("co_displaced_rate", "", "Share of renegotiable granted requests that others took a part from", 3, Topic::LostParts).of_kind(QuantityKind::Fraction),
    measure("co_displaced_kept_rate", "", "Share of these that ran all the same", 3, Topic::LostParts).of_kind(QuantityKind::Fraction),
    measure("co_displaced_later_hours", "h", "How much later than first granted these start (h)", 2, Topic::LostParts).of_kind(QuantityKind::Signed),
    measure("single_asked", "", "Single jobs asked for", 0, Topic::Detail),
    measure("single_granted_rate", "", "Share of single jobs of which nothing was refused", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("single_kept_rate", "", "Share of single jobs that were granted and ran as promised", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("single_delay_hours", "h", "Mean delay of single jobs beyond their shortest time (h)", 2, Topic::CoReservations),
    measure("single_price", "", "Price of a CPU-hour of single jobs", 3, Topic::CoReservations),
    measure("co_reservation_asked", "", "Co-reservations asked for", 0, Topic::Detail),
    measure("co_reservation_granted_rate", "", "Share of co-reservations of which nothing was refused", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_reservation_kept_rate", "", "Share of co-reservations that were granted and ran as promised", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("co_reservation_delay_hours", "h", "Mean delay of co-reservations beyond their shortest time (h)", 2, Topic::CoReservations),
    measure("co_reservation_price", "", "Price of a CPU-hour of co-reservations", 3, Topic::CoReservations),
    measure("workflow_asked", "", "Workflows asked for", 0, Topic::Detail),
    measure("workflow_granted_rate", "", "Share of workflows of which nothing was refused", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("workflow_kept_rate", "", "Share of workflows that were granted and ran as promised", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("workflow_delay_hours", "h", "Mean delay of workflows beyond their shortest time (h)", 2, Topic::CoReservations),
    measure("workflow_price", "", "Price of a CPU-hour of workflows", 3, Topic::CoReservations),
    measure("workflow_vain_hours", "CPU·h", "Work of tasks whose workflow did not run whole (CPU·h)", 0, Topic::LostParts),
    measure("co_surcharge_mean", "", "Mean surcharge of renegotiable granted requests", 1, Topic::CoReservations),
    measure("co_pof_mean", "", "Mean promised probability of failure", 4, Topic::Risk),
    measure("co_risk_cost_mean", "", "Mean expected cost: price and PoF × penalty", 1, Topic::Risk),
    measure("co_realised_cost_mean", "", "Mean cost after penalties that were paid back", 1, Topic::Risk).of_kind(QuantityKind::Signed),
    measure("co_earned_total", "", "Earned by clusters: prices less penalties", 0, Topic::Risk).of_kind(QuantityKind::Signed),
    measure("grid_job_gain", "VC", "Earned by clusters with jobs (VC)", 0, Topic::Risk).of_kind(QuantityKind::Signed),
    measure("grid_gain", "VC", "Earned by clusters (VC)", 0, Topic::Risk).of_kind(QuantityKind::Signed),
    measure("grid_accepted_rate", "", "Share of jobs that were accepted", 3, Topic::Risk).of_kind(QuantityKind::Fraction),
    measure("grid_overbooked_rate", "", "Share of accepted jobs that were overbooked", 4, Topic::Risk).of_kind(QuantityKind::Fraction),
    measure("grid_broken_rate", "", "Share of accepted jobs whose promise was broken", 4, Topic::Risk).of_kind(QuantityKind::Fraction),
    measure("licence_use_percent", "%", "Licences that parts held, of those of all clusters (%)", 2, Topic::Machine),
    measure("licence_lack_share", "", "Share of candidates with free CPUs that lacked licences", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("storage_use_percent", "%", "Storage that parts held, of that of all clusters (%)", 2, Topic::Machine),
    measure("storage_lack_share", "", "Share of candidates with free CPUs that lacked storage", 3, Topic::CoReservations).of_kind(QuantityKind::Fraction),
    measure("quota_period_hours", "CPU·h", "Work of granted parts in periods with a quota of their own (CPU·h)", 0, Topic::Machine),
    measure("leaked_cpu_seconds", "CPU·s", "CPU-seconds held by parts that belong to no granted request and were never given back", 0, Topic::Detail),
    measure("undecided_cpu_seconds", "CPU·s", "CPU-seconds held by parts that were given back after they had begun", 0, Topic::Detail),
];

/// Quantities of one cluster, some of them by class of job or part, in the order of tables.
#[rustfmt::skip]
pub const CLUSTER_MEASURES: &[Measure] = &[
    measure("cluster_jobs", "", "Jobs", 0, Topic::Clusters),
    measure("cluster_accuracy", "", "Accuracy of limits", 3, Topic::Clusters),
    measure("filtering_degree", "", "Mean filtering degree", 3, Topic::Clusters),
    measure("infeasibility_rate", "", "Infeasibility rate", 3, Topic::Clusters).of_kind(QuantityKind::Fraction),
    measure("cluster_utilisation_percent", "%", "Utilisation (%)", 1, Topic::Clusters),
    measure("cluster_job_percent", "%", "Utilisation by jobs (%)", 1, Topic::Clusters),
    measure("cluster_part_percent", "%", "Utilisation by reservations (%)", 1, Topic::Clusters),
    measure("cluster_expansion_factor", "", "Mean expansion factor", 3, Topic::Clusters),
    measure("cluster_backlog_now_hours", "h", "Backlog time at queries (h)", 2, Topic::Clusters),
    measure("cluster_backlog_earliest_hours", "h", "Backlog time for the earliest start (h)", 2, Topic::Clusters),
    measure("cluster_parts", "", "Parts granted", 0, Topic::Clusters),
    measure("cluster_part_nodes", "CPUs", "Mean CPUs of a part", 1, Topic::Clusters),
    measure("cluster_part_hours", "h", "Mean duration of a part (h)", 2, Topic::Clusters),
    measure("cluster_longest_wait_seconds", "s", "Longest wait (s)", 0, Topic::Clusters),
    measure("cluster_drain_hours", "h", "Drained after the end of submissions (h)", 1, Topic::Clusters),
    measure("cluster_lost_parts", "", "Parts lost", 0, Topic::Clusters).of_kind(QuantityKind::RareCount),
    measure("cluster_overbooked_jobs", "", "Overbooked jobs with a PoF", 0, Topic::Clusters),
    measure("cluster_overbooked_promised", "", "Mean PoF promised to overbooked jobs", 3, Topic::Clusters).of_kind(QuantityKind::Fraction),
    measure("cluster_overbooked_failed", "", "Share of overbooked jobs that failed", 3, Topic::Clusters).of_kind(QuantityKind::Fraction),
    measure("cluster_restarts", "", "Restarts of jobs", 1, Topic::Clusters).of_kind(QuantityKind::RareCount),
    measure("cluster_late_jobs", "", "Late jobs", 1, Topic::Clusters).of_kind(QuantityKind::RareCount),
    // By class; the class is the text beside the value.
    measure("class_job_percent", "%", "Utilisation by jobs of a size (%)", 2, Topic::Clusters),
    measure("class_expansion_factor", "", "Mean expansion factor by size of job", 3, Topic::Clusters),
    measure("class_part_percent_by_nodes", "%", "Utilisation by parts of a size (%)", 2, Topic::Clusters),
    measure("class_part_percent_by_duration", "%", "Utilisation by parts of a duration (%)", 2, Topic::Clusters),
    measure("class_parts_by_nodes", "", "Parts by size", 0, Topic::Clusters),
    measure("class_parts_by_duration", "", "Parts by duration", 0, Topic::Clusters),
    measure("class_earliest_parts_by_nodes", "", "Parts at the earliest start by size", 0, Topic::Clusters),
    measure("class_earliest_parts_by_duration", "", "Parts at the earliest start by duration", 0, Topic::Clusters),
];

/// A quantity of one cluster, as findings and readers name it: `infeasibility_rate@2` at cluster 2
/// (counted from 0), `class_job_percent@2/129-256` of a class there.
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
    /// Where the store keeps it.
    #[must_use]
    pub fn stored(self) -> StoredQuantity {
        StoredQuantity {
            join:
                "JOIN cluster_measure d ON d.simulation = m.id AND d.cluster = ?3 AND d.class = ?4
                AND d.measure = (SELECT code FROM measure WHERE name = ?2)",
            parameters: vec![
                Value::Text(self.measure.to_owned()),
                Value::Integer(self.cluster.0.into()),
                Value::Text(self.class.to_owned()),
            ],
        }
    }

    /// Reads such a name; `None` for any other.
    #[must_use]
    pub fn parse(name: &'n str) -> Option<Self> {
        let (measure, place) = name.split_once('@')?;
        let (cluster, class) = place.split_once('/').unwrap_or((place, ""));
        let known = CLUSTER_MEASURES.iter().find(|known| known.name == measure);
        Some(Self {
            measure: known?.name,
            cluster: ClusterId(cluster.parse().ok()?),
            class,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
