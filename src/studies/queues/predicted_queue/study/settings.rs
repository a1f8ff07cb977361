//! The study of predictions: a queue with backfilling that plans with predicted run times (Tsafrir
//! et al. 2007; Gaussier et al. 2015).

use serde::{Deserialize, Serialize, Serializer};

use crate::predicted_queue::PredictedQueueSettings;
use bookahead_lab::study::{Strategy, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "predicted-queue",
    about: "queue with EASY backfilling that plans with predicted run times",
    has_metrics: true,
    primary: "bounded_slowdown",
    earned: None,
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
