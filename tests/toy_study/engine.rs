//! A toy study: it counts the jobs of a workload, each with a weight.

use serde::{Deserialize, Serialize, Serializer};

use super::{CommonSettings, SimulationSpec, Strategy, Study, jobs_of, spec_format};
use crate::scheduling::measures::{Measure, Topic, measure};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "toy",
    about: "jobs, counted",
    has_metrics: false,
    primary: "toy_weight",
});

/// What it measures.
pub(super) const MEASURES: &[Measure] = &[measure(
    "toy_weight",
    "",
    "Weight of all jobs",
    1,
    Topic::Slots,
)];

/// How jobs are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToySettings {
    /// What a job counts.
    pub weight: f64,
}

/// The study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToyStudy {
    /// How jobs are counted.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: ToySettings,
}

fn named<S: Serializer>(settings: &ToySettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}

impl Study for ToyStudy {
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        *common.estimates = None;
        common.without_failures();
        common.without_policy();
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload)
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-9
    }

    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        0.0
    }
}
