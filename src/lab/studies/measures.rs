//! The measures of all studies.

use super::STUDY_MEASURES;
pub use super::co_reservation::measures::ClusterMeasureName;
use crate::scheduling::measures::Measure;

const COUNT: usize = {
    let mut count = 0;
    let mut study = 0;
    while study < STUDY_MEASURES.len() {
        count += STUDY_MEASURES[study].len();
        study += 1;
    }
    count
};

/// All measures, in the order in which tables show them.
pub const MEASURES: &[Measure] = &{
    let mut all = [super::reservations::MEASURES[0]; COUNT];
    let (mut study, mut place) = (0, 0);
    while study < STUDY_MEASURES.len() {
        let mut within = 0;
        while within < STUDY_MEASURES[study].len() {
            all[place] = STUDY_MEASURES[study][within];
            within += 1;
            place += 1;
        }
        study += 1;
    }
    all
};

/// Finds a measure by name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|measure| measure.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::studies::co_reservation::measures::CLUSTER_MEASURES;

    #[test]
    fn every_study_has_the_primary_quantity_that_it_declares() {
        for (strategy, measures) in super::super::NAMES.iter().zip(STUDY_MEASURES) {
            let Some(strategy) = strategy else { continue };
            // A metric of jobs is no measure, and only some studies have metrics.
            let own = measures.iter().any(|own| own.name == strategy.primary);
            assert!(own || strategy.has_metrics, "{}", strategy.name);
        }
    }

    #[test]
    fn every_measure_has_a_name_of_its_own() {
        let all = || MEASURES.iter().chain(CLUSTER_MEASURES);
        let names: BTreeSet<&str> = all().map(|measure| measure.name).collect();
        assert_eq!(names.len(), all().count());
    }
}
