//! The studies of this program: one folder each, and one line in the list below.

pub mod co_reservation;
pub mod machine_queue;
pub mod market;
pub mod overbooking;
pub mod predicted_queue;
pub mod provisioning;
pub mod reservations;
pub mod slots;
pub mod virtual_reservations;

use crate::scheduling::predicted_queue::PredictedQueueSettings;
use crate::study::{Studies, StudySpec, name_of, study};

pub use self::co_reservation::measures::ClusterMeasureName;

/// A policy on one cluster, and nothing beside its jobs.
#[must_use]
pub fn policy_alone() -> StudySpec {
    StudySpec::of(overbooking::OverbookingStudy::default())
}

/// A queue that plans with predictions, and nothing beside its jobs; with what stands for it where
/// a policy's name stands.
#[must_use]
pub fn predicting_queue(settings: PredictedQueueSettings) -> (&'static str, StudySpec) {
    let name = name_of(predicted_queue::STRATEGY);
    let study = predicted_queue::PredictedQueueStudy { settings };
    (name, StudySpec::of(study))
}

/// The studies of this program, in the order of tables, of keys and of their documentation.
pub const STUDIES: Studies = Studies::new(&[
    study::<overbooking::OverbookingStudy>(),
    study::<reservations::ReservationsStudy>(),
    study::<slots::SlotsStudy>(),
    study::<virtual_reservations::VirtualReservationsStudy>(),
    study::<co_reservation::CoReservationStudy>(),
    study::<provisioning::ProvisioningStudy>(),
    study::<predicted_queue::PredictedQueueStudy>(),
    study::<market::MarketStudy>(),
    study::<machine_queue::MachineQueueStudy>(),
]);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::studies::co_reservation::measures::CLUSTER_MEASURES;

    #[test]
    fn every_study_has_the_primary_quantity_that_it_declares() {
        for study in STUDIES.iter() {
            let Some(strategy) = study.strategy() else {
                continue;
            };
            // A metric of jobs is no measure, and only some studies have metrics.
            let mut measures = study.measures().iter();
            let own = measures.any(|own| own.name == strategy.primary);
            assert!(own || strategy.has_metrics, "{}", strategy.name);
        }
    }

    #[test]
    fn every_measure_has_a_name_of_its_own() {
        let all = || STUDIES.measures().chain(CLUSTER_MEASURES);
        let names: BTreeSet<&str> = all().map(|measure| measure.name).collect();
        assert_eq!(names.len(), all().count());
    }
}
