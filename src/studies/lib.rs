//! The studies of this program: one folder each in the crate of its family, and one line in each of
//! the lists below.
//!
//! ```
//! use bookahead_studies::STUDIES;
//!
//! let study = STUDIES.of_strategy("co-reservation").expect("a study");
//! assert_eq!(study.name(), "co-reservation");
//! // Whatever is no strategy of a study with a machine of its own is a policy on one cluster.
//! let policy = STUDIES.policy("heuristic-overbooking").expect("a policy");
//! assert!(policy.overbooks);
//! ```

use bookahead_lab::study::{Studies, StudySpec, name_of, study};
use bookahead_queues::predicted_queue::PredictedQueueSettings;
use bookahead_report::Views;

/// A policy on one cluster, and nothing beside its jobs.
#[must_use]
pub fn policy_alone() -> StudySpec {
    StudySpec::of(bookahead_overbooking::study::OverbookingStudy::default())
}

/// A queue that plans with predictions, and nothing beside its jobs; with what stands for it where
/// a policy's name stands.
#[must_use]
pub fn predicting_queue(settings: PredictedQueueSettings) -> (&'static str, StudySpec) {
    let name = name_of(bookahead_queues::predicted_queue::study::STRATEGY);
    let study = bookahead_queues::predicted_queue::study::PredictedQueueStudy { settings };
    (name, StudySpec::of(study))
}

/// The studies of this program, in the order of tables, of keys and of their documentation.
pub const STUDIES: Studies = Studies::new(&[
    study::<bookahead_overbooking::study::OverbookingStudy>(),
    study::<bookahead_reservations::replanning::study::ReservationsStudy>(),
    study::<bookahead_reservations::slots::study::SlotsStudy>(),
    study::<bookahead_reservations::virtual_reservations::study::VirtualReservationsStudy>(),
    study::<bookahead_grid::co_reservation::study::CoReservationStudy>(),
    study::<bookahead_workflows::provisioning::study::ProvisioningStudy>(),
    study::<bookahead_queues::predicted_queue::study::PredictedQueueStudy>(),
    study::<bookahead_grid::market::study::MarketStudy>(),
    study::<bookahead_queues::machine_queue::study::MachineQueueStudy>(),
    study::<bookahead_reservations::packing::study::PackingStudy>(),
]);

/// What reports show of single studies beyond what they show of every run.
pub const VIEWS: Views = Views::new(&[
    (
        "overbooking",
        &bookahead_overbooking::study::view::Overbooking,
    ),
    (
        "reservations",
        &bookahead_reservations::replanning::study::view::Reservations,
    ),
    ("slots", &bookahead_reservations::slots::study::view::Slots),
    (
        "virtual-reservations",
        &bookahead_reservations::virtual_reservations::study::view::VirtualReservations,
    ),
    (
        "co-reservation",
        &bookahead_grid::co_reservation::study::view::CoReservation,
    ),
    (
        "provisioning",
        &bookahead_workflows::provisioning::study::view::Provisioning,
    ),
    ("market", &bookahead_grid::market::study::view::Market),
]);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use bookahead_grid::co_reservation::study::measures::CLUSTER_MEASURES;

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
