//! Options of a queue that plans with predictions.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::predictions::{Corrector, PREDICTORS};
use crate::scheduling::queue::BackfillOrder;
use bookahead_queues::predicted_queue::{PredictedQueueSettings, ScoredOrder};

/// What EASY backfilling plans with, and whom it tries first.
#[derive(Args, Debug)]
pub(super) struct PredictionArguments {
    /// EASY: plan with this predictor of run times instead of what users asked for; keeps all jobs
    /// in memory
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = PossibleValuesParser::new(PREDICTORS.iter().map(|known| known.name)))]
    predictor: Option<String>,
    /// EASY: what is assumed when a job outlives its prediction: request, doubling,
    /// capped-doubling, increments, request-then-steps, steps or none
    #[arg(long, value_name = "NAME", value_parser = variant::<Corrector>)]
    corrector: Option<Corrector>,
    /// EASY: the order of the queue: fcfs, sjf, smallest, saf, f1, f2, f3, f4, wfp3 or unicep
    #[arg(long, value_name = "NAME", value_parser = variant::<ScoredOrder>)]
    order: Option<ScoredOrder>,
    /// EASY: in which order the jobs behind the first are tried: queue, shortest-first, submission
    /// or none
    #[arg(long, value_name = "NAME", value_parser = variant::<BackfillOrder>)]
    backfill: Option<BackfillOrder>,
}

impl PredictionArguments {
    /// The queue that they ask for; `None` where they ask for nothing.
    pub(super) fn queue(&self) -> Option<PredictedQueueSettings> {
        let is_asked = self.predictor.is_some()
            || self.corrector.is_some()
            || self.order.is_some()
            || self.backfill.is_some();
        is_asked.then(|| {
            let default = PredictedQueueSettings::default();
            PredictedQueueSettings {
                predictor: self.predictor.clone().unwrap_or(default.predictor),
                corrector: self.corrector.unwrap_or_default(),
                order: self.order.unwrap_or_default(),
                backfill: self.backfill.unwrap_or_default(),
                ..PredictedQueueSettings::default()
            }
        })
    }
}

/// The name of an enum's variant, as experiment files have it.
pub(super) fn name<T: Serialize>(variant: &T) -> String {
    let value = serde_json::to_value(variant).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The variant of this name; the error says which names there are.
fn variant<T: DeserializeOwned>(name: &str) -> Result<T, Error> {
    T::deserialize(name.into_deserializer())
}
