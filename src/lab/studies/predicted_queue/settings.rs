//! The study of predictions: a queue with backfilling that plans with predicted run times (Tsafrir
//! et al. 2007; Gaussier et al. 2015).

use serde::{Deserialize, Serialize, Serializer};

use crate::predictions::{Build, Corrector, Reads, predictor};
use crate::scheduling::predicted_queue::{PredictedQueueSettings, QueueRules};
use crate::studies::{CommonSettings, Strategy, Study, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "predicted-queue",
    about: "queue with EASY backfilling that plans with predicted run times",
    has_metrics: true,
    primary: "bounded_slowdown",
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

impl Study for PredictedQueueStudy {
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        common.without_all();
        let settings = &mut self.settings;
        // An unknown name is an error when it is run.
        let Some(predictor) = predictor(&settings.predictor) else {
            return;
        };
        settings.told = settings.told.read_by(predictor.reads);
        let ends_at_request = settings.rules == QueueRules::Gaussier2015;
        let is_exact = matches!(predictor.build, Build::KnowsRunTime);
        if is_exact || predictor.is_never_short && ends_at_request {
            settings.corrector = Corrector::default();
        }
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        let reads = predictor(&self.settings.predictor).map(|predictor| predictor.reads);
        match reads {
            Some(Reads::Learned) => 2e-6,
            _ => 5e-7,
        }
    }
}
