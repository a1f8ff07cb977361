//! Options of a queue that plans with predictions.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::predictions::{CORRECTORS, PREDICTORS};
use crate::scheduling::predicted_queue::{BackfillOrder, PredictedQueueSettings, QUEUE_ORDERS};

/// What EASY backfilling plans with, and whom it tries first.
#[derive(Args, Debug)]
pub(super) struct PredictionArguments {
    /// EASY: who predicts how long a job will run, in the place of what its user asked for; keeps all jobs in memory
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(PREDICTORS.iter().map(|known| known.name)))]
    predictor: Option<String>,
    /// EASY: what holds when a job outlives its prediction
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(CORRECTORS.iter().map(|known| name(&known.0))))]
    corrector: Option<String>,
    /// EASY: who is the first of the queue
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(QUEUE_ORDERS.iter().map(|known| name(&known.0))))]
    order: Option<String>,
    /// EASY: in which order the jobs behind the first are tried
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new([BackfillOrder::Queue, BackfillOrder::ShortestFirst].map(|order| name(&order))))]
    backfill: Option<String>,
}

impl PredictionArguments {
    /// The queue that they ask for; `None` where they ask for nothing.
    pub(super) fn queue(&self) -> Option<PredictedQueueSettings> {
        let Self {
            predictor,
            corrector,
            order,
            backfill,
        } = self;
        let asked = [predictor, corrector, order, backfill];
        asked.iter().any(|asked| asked.is_some()).then(|| {
            let default = PredictedQueueSettings::default();
            PredictedQueueSettings {
                predictor: predictor.clone().unwrap_or(default.predictor),
                corrector: named(corrector).unwrap_or_default(),
                order: named(order).unwrap_or_default(),
                backfill: named(backfill).unwrap_or_default(),
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

fn named<T: DeserializeOwned>(name: &Option<String>) -> Option<T> {
    let name = name.as_deref()?;
    T::deserialize(IntoDeserializer::<Error>::into_deserializer(name)).ok()
}
