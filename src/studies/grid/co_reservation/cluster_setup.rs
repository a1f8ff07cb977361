//! The clusters of a simulation: those of the thesis, or such that overbook.

use bookahead_core::failures::SurvivalModel;
use bookahead_core::scheduling::Reliability;
use bookahead_core::units::Nodes;
use bookahead_core::workload::Job;
use bookahead_overbooking::registry;

use super::{ClusterFailureSettings, CoReservationInputs, CoReservationSettings};
use crate::co_reservation::local::{
    AccuracySource, ClusterId, LocalService, Partition, ReservationService, RiskPolicy,
    RiskPolicyError,
};

/// The clusters of a simulation, idle.
///
/// # Errors
///
/// When the policy of the clusters is unknown, or sells no windows.
pub fn clusters(
    inputs: &CoReservationInputs,
    settings: &CoReservationSettings,
) -> Result<Vec<Box<dyn LocalService>>, RiskPolicyError> {
    (0..)
        .map(ClusterId)
        .zip(&inputs.clusters)
        .map(
            |(cluster, workload)| -> Result<Box<dyn LocalService>, RiskPolicyError> {
                let nodes = workload.nodes;
                let accuracy = match settings.local.accuracy {
                    AccuracySource::Work => accuracy_of_work(&workload.jobs),
                    AccuracySource::History
                    | AccuracySource::Running
                    | AccuracySource::Category => workload.accuracy,
                };
                let local = settings.local.clone();
                let Some(risk) = &settings.risk else {
                    let offered = local.offered(nodes);
                    let is_divided = local.partition.is_some();
                    let machine = |nodes| {
                        let local = local.clone();
                        ReservationService::new(cluster, nodes, accuracy, inputs.stop, local)
                    };
                    if is_divided {
                        let (jobs, parts) = (machine(Nodes(nodes.0 - offered.0)), machine(offered));
                        return Ok(Box::new(Partition::new(Box::new(jobs), Box::new(parts))));
                    }
                    return Ok(Box::new(machine(nodes)));
                };
                let Some(strategy) = registry::strategy(&risk.strategy) else {
                    return Err(RiskPolicyError::UnknownStrategy {
                        name: risk.strategy.clone(),
                    });
                };
                let policy = risk.cluster_policy(|| drawn_reliability(settings.failures.as_ref()));
                Ok(Box::new(ReservationService::with_policy(
                    cluster,
                    nodes,
                    accuracy,
                    inputs.stop,
                    local,
                    RiskPolicy {
                        policy: (strategy.build)(nodes, &policy, inputs.estimates.clone()),
                        pof_max: risk.pof_max,
                    },
                )?))
            },
        )
        .collect()
}

/// Work ÷ work booked by limits; 1 where nothing was booked (Q10).
fn accuracy_of_work(jobs: &[Job]) -> f64 {
    let (mut done, mut booked) = (0, 0);
    for job in jobs {
        done += job.nodes.for_span(job.runtime.min(job.estimate)).0;
        booked += job.nodes.for_span(job.estimate).0;
    }
    if booked > 0 {
        done as f64 / booked as f64
    } else {
        1.0
    }
}

/// What overbooking clusters believe of their CPUs: exactly what is drawn, though CPUs of one node
/// are taken to fail apart, and failures of whole clusters are not foreseen.
pub(crate) fn drawn_reliability(failures: Option<&ClusterFailureSettings>) -> Reliability {
    let node_mtbf = failures.and_then(|failures| failures.node_mtbf);
    let (rate, repairs) = match (failures, node_mtbf) {
        (Some(failures), Some(mtbf)) => (1.0 / mtbf.hours(), 1.0 / failures.node_repair.hours()),
        _ => (0.0, 1.0),
    };
    let cpus = failures.map_or(1, |failures| failures.node_cpus.max(1));
    let rate_per_hour = rate / f64::from(cpus);
    Reliability {
        survival: SurvivalModel::Poisson { rate_per_hour },
        failure_rate_per_hour: rate_per_hour,
        repair_rate_per_hour: repairs,
        ..Reliability::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bookahead_core::units::Seconds;
    use bookahead_overbooking::registry::STRATEGIES;

    use super::*;
    use crate::co_reservation::{ClusterWorkload, RiskChoice, RiskSettings};

    fn inputs() -> CoReservationInputs {
        CoReservationInputs {
            clusters: vec![ClusterWorkload {
                nodes: Nodes(8),
                jobs: Arc::new([]),
                window_start: Seconds::ZERO,
                accuracy: 0.5,
            }],
            ..CoReservationInputs::default()
        }
    }

    fn with(strategy: &str) -> CoReservationSettings {
        CoReservationSettings {
            risk: Some(RiskSettings {
                choice: RiskChoice::ExpectedCost,
                penalty_ratio: 1.0,
                pof_max: 0.2,
                strategy: strategy.to_owned(),
                reliability: None,
                policy: None,
            }),
            ..CoReservationSettings::default()
        }
    }

    #[test]
    fn clusters_plan_with_any_registered_policy_where_risk_is_set_and_no_other() {
        let made = clusters(&inputs(), &CoReservationSettings::default()).unwrap();
        assert_eq!(made[0].nodes(), Nodes(8));
        for strategy in STRATEGIES {
            assert!(clusters(&inputs(), &with(strategy.name)).is_ok());
        }
        let refused = clusters(&inputs(), &with("luck")).err().unwrap();
        assert!(refused.to_string().contains("easy-backfilling"));
    }

    #[test]
    fn accuracy_of_work_counts_long_and_wide_jobs_more() {
        let job = |nodes, estimate, runtime| {
            Job::rigid(
                bookahead_core::workload::JobId(0),
                Seconds::ZERO,
                Nodes(nodes),
                Seconds(estimate),
            )
            .running_for(Seconds(runtime))
        };
        // 10 of 100, and 1,800 of 1,900 booked; the mean of the ratios would be 0.52.
        assert_eq!(
            accuracy_of_work(&[job(1, 100, 10), job(2, 950, 900)]),
            0.905
        );
        assert_eq!(accuracy_of_work(&[]), 1.0);
    }

    #[test]
    fn clusters_believe_in_the_failures_that_are_drawn() {
        let drawn = ClusterFailureSettings {
            cluster_mtbf: None,
            cluster_repair: Seconds::HOUR,
            node_mtbf: Some(Seconds::HOUR * 800),
            node_repair: Seconds::HOUR * 4,
            node_cpus: 8,
            silent: false,
        };
        let believed = drawn_reliability(Some(&drawn));
        assert_eq!(believed.failure_rate_per_hour, 1.0 / 6_400.0);
        assert_eq!(believed.repair_rate_per_hour, 0.25);
        assert_eq!(drawn_reliability(None).failure_rate_per_hour, 0.0);
    }
}
