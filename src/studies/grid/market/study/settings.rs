//! The study of a market: overbooking clusters quote price and risk of single jobs, and a broker
//! delegates (2012 thesis, outlook).

use serde::{Deserialize, Serialize, Serializer};

use crate::market::MarketSettings;
use bookahead_lab::study::{Strategy, spec_format};
use bookahead_overbooking::registry;

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "market",
    about: "clusters that quote price and risk of single jobs, and a broker that delegates them",
    has_metrics: false,
    primary: "market_provider_gain_percent",
    earned: None,
});

/// Who offers what, and whom the broker believes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarketStudy {
    /// The market.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: MarketSettings,
}

fn named<S: Serializer>(settings: &MarketSettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}

impl MarketStudy {
    pub(super) fn overbooks(&self) -> bool {
        let strategy = registry::strategy(&self.settings.policy.strategy);
        strategy.is_none_or(|strategy| strategy.overbooks)
    }
}
