//! The study of a market: overbooking clusters quote price and risk of single jobs, and a broker
//! delegates (2012 thesis, outlook).

use serde::{Deserialize, Serialize, Serializer};

use crate::brokering::market::{DelegationRule, MarketSettings};
use crate::scheduling::{Reliability, registry};
use crate::studies::{CommonSettings, SimulationSpec, Strategy, Study, jobs_of, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "market",
    about: "clusters that quote price and risk of single jobs, and a broker that delegates them",
    has_metrics: false,
    primary: "market_provider_gain_percent",
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
    fn overbooks(&self) -> bool {
        let strategy = registry::strategy(&self.settings.policy.strategy);
        strategy.is_none_or(|strategy| strategy.overbooks)
    }
}

impl Study for MarketStudy {
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        if let Some(checkpoint) = common.scheduling.checkpoint.take() {
            self.settings.policy.checkpoint = Some(checkpoint.normalised());
        }
        if let Some(believed) = common.believed(&self.settings.policy.strategy)
            && believed != Reliability::default()
        {
            self.settings.policy.reliability = believed;
        }
        common.without_policy();
        if self.settings.policy.checkpoint.is_none() {
            self.settings.migration = None;
        }
        if !self.overbooks() {
            *common.estimates = None;
        }
        let settings = &mut self.settings;
        if settings.rule != DelegationRule::Reputation {
            (settings.prior_failures, settings.half_life_jobs) = (1.0, 0.0);
        }
        if settings.optimism == 1.0 || settings.optimists == 0.0 {
            (settings.optimism, settings.optimists) = (1.0, 0.0);
        }
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload) * f64::from(self.settings.clusters)
    }

    /// For a quote.
    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-5
    }

    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        0.0
    }
}
