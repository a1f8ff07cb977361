//! The study of slots: a planning-based machine that advertises its holes (Singh 2008, chapter 3).

pub(super) mod measures;

use serde::{Deserialize, Serialize, Serializer};

use super::{CommonSettings, SimulationSpec, Strategy, Study, jobs_of, spec_format};
use crate::scheduling::SlotStudySettings;

pub(super) use measures::MEASURES;

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "slots",
    about: "planning-based machine that advertises its holes",
    has_metrics: false,
});

/// Where slots come from and how often they are looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotsStudy {
    /// The source of slots, the rules of their list, the time between samples.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: SlotStudySettings,
}

fn named<S: Serializer>(settings: &SlotStudySettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}

impl Study for SlotsStudy {
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        *common.estimates = None;
        common.without_failures();
        common.without_policy();
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload)
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-6
    }

    /// It keeps no outcome of a job.
    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        0.0
    }
}
