//! The study of slots: a planning-based machine that advertises its holes (Singh 2008, chapter 3).

use serde::{Deserialize, Serialize, Serializer};

use crate::scheduling::SlotStudySettings;
use crate::studies::{
    JOB_BYTES, JOBS_A_DAY, SimulationSpec, Strategy, Study, jobs_of, spec_format,
};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "slots",
    about: "planning-based machine that advertises its holes",
    has_metrics: false,
    primary: "slots_mean",
});

/// Bytes of a stored sample with about twenty slots.
const SAMPLE_BYTES: f64 = 400.0;

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
    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-6
    }

    /// Of jobs, and of samples with their slots.
    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        let jobs = jobs_of(&simulation.workload);
        let span = jobs / JOBS_A_DAY * 86_400.0;
        let samples = span / self.settings.sample_period.0.max(1) as f64;
        jobs * JOB_BYTES + samples * SAMPLE_BYTES
    }

    fn jobs_are_background(&self) -> bool {
        true
    }
}
