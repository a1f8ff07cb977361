//! The settings of a market.

use serde::{Deserialize, Serialize};

use super::{AuctionSettings, HomeSettings, LoadPricing, MigrationSettings, Overflow};
use crate::co_reservation::ClusterFailureSettings;
use bookahead_core::scheduling::PolicySpec;
use bookahead_core::units::Seconds;

/// The rule by which the broker delegates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelegationRule {
    /// The best score by what it believes of each provider.
    #[default]
    Reputation,
    /// The best score by what providers say.
    Promised,
    /// The lowest price, whatever the risk.
    Cheapest,
    /// Any that quotes, drawn at random.
    Random,
    /// The least PoF by what it believes of each provider, whatever the price.
    MostReliable,
}

impl DelegationRule {
    /// Whether the broker learns how true the word of each provider is, and believes accordingly.
    #[must_use]
    pub fn learns(self) -> bool {
        match self {
            Self::Reputation | Self::MostReliable => true,
            Self::Promised | Self::Cheapest | Self::Random => false,
        }
    }
}

/// What determines a market, beside jobs, statistics and failures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarketSettings {
    /// How many clusters there are.
    pub clusters: u32,
    /// What each of them plans with.
    pub policy: PolicySpec,
    /// The rule by which the broker delegates.
    pub rule: DelegationRule,
    /// v: what a kept promise is worth, in fees.
    pub value: f64,
    /// g: what a broken promise costs the customer, in fees.
    pub damage: f64,
    /// r: what a broken promise costs the provider, in fees.
    pub penalty: f64,
    /// d: how much of the fee a certain failure would cost less.
    pub discount: f64,
    /// The share of clusters that are optimistic, rounded to the nearest number of them: the last
    /// ones.
    pub optimists: f64,
    /// o: by what those multiply the PoF that they say.
    pub optimism: f64,
    /// k: how many imaginary broken promises the broker begins with.
    pub prior_failures: f64,
    /// Decided promises of a provider after which earlier ones count half; 0: they never age.
    pub half_life_jobs: f64,
    /// How the rests of interrupted jobs move to other clusters; `None` where they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migration: Option<MigrationSettings>,
    /// Which cluster each job asks first; `None` where none is preferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<HomeSettings>,
    /// How prices follow the load of a provider; `None` where they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_pricing: Option<LoadPricing>,
    /// How prices are made where none is posted; `None` where providers post them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auction: Option<AuctionSettings>,
    /// Failures of whole clusters and of their nodes, beside those that simulations replay or draw
    /// for nodes; `None` where there are none. Providers do not foresee those of clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_failures: Option<ClusterFailureSettings>,
}

impl MarketSettings {
    /// How far ahead clusters say what they have booked; `None` where nobody reads it.
    #[must_use]
    pub fn horizon(&self) -> Option<Seconds> {
        let of_prices = self.load_pricing.map(|pricing| pricing.horizon);
        let of_list = || match self.home?.overflow {
            Overflow::List { horizon, .. } => Some(horizon),
            Overflow::Ask | Overflow::Stay => None,
        };
        of_prices.or_else(of_list)
    }

    /// By what a provider multiplies the PoF that it says.
    #[must_use]
    pub fn optimism_of(&self, provider: u32) -> f64 {
        let optimists = libm::round(self.optimists * f64::from(self.clusters));
        if f64::from(self.clusters - provider) <= optimists {
            self.optimism
        } else {
            1.0
        }
    }
}
