//! The study of predictions: a queue with backfilling that plans with predicted run times (Tsafrir et al. 2007; Gaussier et al. 2015).

pub(super) mod measures;

use serde::{Deserialize, Serialize, Serializer};

use super::{
    CommonSettings, JOB_BYTES, SimulationSpec, Strategy, Study, WhyNoPlan, jobs_of, spec_format,
};
use crate::predictions::{Corrector, LearnedSettings};
use crate::scheduling::predicted_queue::{PredictedQueueSettings, QueueRules};

pub(super) use measures::MEASURES;

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "predicted-queue",
    about: "queue with EASY backfilling that plans with predicted run times",
    has_metrics: true,
});

/// Who predicts, who corrects, who comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedQueueStudy {
    /// The queue.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: PredictedQueueSettings,
}

fn named<S: Serializer>(
    settings: &PredictedQueueSettings,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}

/// The predictor that learns.
const LEARNED: &str = "learned";

/// Predictors that no job outlives as long as it ends at its request.
const NEVER_SHORT: [&str; 3] = ["request", "double-request", "perfect"];

impl Study for PredictedQueueStudy {
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        *common.estimates = None;
        common.without_failures();
        common.without_policy();
        let settings = &mut self.settings;
        if settings.predictor != LEARNED {
            settings.learned = LearnedSettings::default();
        }
        let is_never_short = NEVER_SHORT.contains(&settings.predictor.as_str());
        if settings.predictor == "perfect"
            || is_never_short && settings.rules == QueueRules::Gaussier2015
        {
            settings.corrector = Corrector::default();
        }
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload)
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        if self.settings.predictor == LEARNED {
            2e-6
        } else {
            5e-7
        }
    }

    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * jobs_of(&simulation.workload)
    }

    fn why_no_plan(&self) -> Option<WhyNoPlan> {
        Some(WhyNoPlan::NoCluster)
    }
}
