//! The settings of a market.

use serde::{Deserialize, Serialize};

use super::{AuctionSettings, HomeSettings, LoadPricing, MigrationSettings, Overflow};
use crate::co_reservation::ClusterFailureSettings;
use bookahead_core::scheduling::PolicySpec;
use bookahead_core::units::{Nodes, Seconds};

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
    /// The earliest start that the deadline and the budget of the customer allow, among the
    /// clusters whose price for its speed is lowest, then among the next ones (Meltzer 2005,
    /// §4.7.1).
    DeadlineBudget,
}

impl DelegationRule {
    /// Whether the broker learns how true the word of each provider is, and believes accordingly.
    #[must_use]
    pub fn learns(self) -> bool {
        match self {
            Self::Reputation | Self::MostReliable => true,
            Self::Promised | Self::Cheapest | Self::Random | Self::DeadlineBudget => false,
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
    /// How fast each cluster is: a job holds its nodes for 1/speed of the time that it asks for, in
    /// the order of the clusters and repeated where there are more of these; empty: 1 everywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub speeds: Vec<f64>,
    /// The list price of a node-hour at each cluster in coins, in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
    /// How many list fees of the jobs that a customer submitted so far he may spend on all of them;
    /// `None`: any number. Read by the rule "deadline-budget".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
}

impl MarketSettings {
    /// How far ahead clusters say what they have booked; `None` where nobody reads it.
    #[must_use]
    pub fn horizon(&self) -> Option<Seconds> {
        let of_prices = self.load_pricing.map(|pricing| pricing.horizon);
        let of_list = || match self.home?.overflow {
            Overflow::List { horizon, .. } => Some(horizon),
            Overflow::Ask | Overflow::Stay | Overflow::Barter { .. } | Overflow::Lend { .. } => {
                None
            }
        };
        of_prices.or_else(of_list)
    }

    /// How many places each cluster has for nodes of others, beside `own` nodes.
    #[must_use]
    pub fn places(&self, own: Nodes) -> Nodes {
        match self.home.map(|home| home.overflow) {
            Some(Overflow::Lend { places }) => places.unwrap_or(own),
            _ => Nodes(0),
        }
    }

    /// The speed of a cluster.
    #[must_use]
    pub fn speed_of(&self, cluster: u32) -> f64 {
        in_turn(&self.speeds, cluster)
    }

    /// What a cluster asks for work with a list fee of one coin, before discount and load: its
    /// price for its speed, to nine digits, so that equal ratios are equal numbers.
    #[must_use]
    pub fn price_for_speed_of(&self, cluster: u32) -> f64 {
        let ratio = in_turn(&self.prices, cluster) / self.speed_of(cluster);
        libm::round(ratio * 1e9) / 1e9
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

/// What holds for a cluster where these values take turns; 1 where there are none.
fn in_turn(values: &[f64], cluster: u32) -> f64 {
    let place = cluster as usize % values.len().max(1);
    values.get(place).copied().unwrap_or(1.0)
}
