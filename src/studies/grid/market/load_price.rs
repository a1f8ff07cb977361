//! Prices that follow the load of a provider (Birkenheuer 2012, §2.1.2, §3.5).
//!
//! With u as the share of its capacity that a provider has booked within the horizon, it asks
//!
//! ```text
//! p(u) = 1 + a · (u − u₀) / u₀, between a lowest and a highest factor
//! ```
//!
//! times what it would ask otherwise. Capacity is that of the nodes, or of the nodes with the
//! virtual supply v that the provider believes in, `1 + v` times as much: v is by how much the
//! node-time that it sold exceeds the slots that it planned for it, over all promises that it gave.
//! A price is fixed when it is quoted.

use serde::{Deserialize, Serialize};

use super::Broker;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

/// How prices follow the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPricing {
    /// a: by how much of itself the price rises when the load doubles.
    pub slope: f64,
    /// u₀: the load at which the price is the usual one, above 0.
    pub usual_load: f64,
    /// The lowest factor.
    pub lowest: f64,
    /// The highest factor.
    pub highest: f64,
    /// What counts as capacity.
    pub supply: PricedSupply,
    /// How far ahead the load is measured.
    pub horizon: Seconds,
}

/// What counts as capacity where prices follow the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PricedSupply {
    /// The nodes.
    #[default]
    Nodes,
    /// The nodes, and what the provider believes to sell beyond them by overbooking.
    Overbooked,
}

/// What a provider sold so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sold {
    /// The node-seconds that were paid for.
    pub(super) granted: f64,
    /// The node-seconds of the slots that were planned for them.
    pub(super) planned: f64,
}

impl Sold {
    /// v: by how much more than what it planned it sold; 0 before it sold anything.
    fn surplus(&self) -> f64 {
        if self.planned > 0.0 {
            (self.granted / self.planned - 1.0).max(0.0)
        } else {
            0.0
        }
    }
}

impl LoadPricing {
    /// p(u).
    #[must_use]
    pub fn factor(&self, load: f64) -> f64 {
        let free = 1.0 + self.slope * (load - self.usual_load) / self.usual_load;
        free.clamp(self.lowest, self.highest)
    }

    /// The factor of a provider of so many nodes with so much booked within the horizon.
    pub(super) fn of(&self, nodes: Nodes, booked: NodeSeconds, sold: &Sold) -> f64 {
        let supply = match self.supply {
            PricedSupply::Nodes => 1.0,
            PricedSupply::Overbooked => 1.0 + sold.surplus(),
        };
        let capacity = nodes.for_span(self.horizon).0 as f64 * supply;
        self.factor(booked.0 as f64 / capacity)
    }
}

impl Broker {
    /// What was asked and sold; nothing where prices do not follow the load.
    pub(super) fn price_measures(&self) -> Measured {
        let mut measured = Measured::default();
        if self.settings.load_pricing.is_none() {
            return measured;
        }
        let contracts = self.providers.iter().flat_map(|it| &it.contracts);
        let (mut prices, mut usual, mut granted, mut planned) = (0.0, 0.0, 0.0, 0.0);
        // Rests were sold before.
        for contract in contracts.filter(|it| it.buyer.is_none()) {
            prices += contract.price;
            usual += contract.price / contract.load_factor;
            granted += contract.fee;
            planned += contract.planned;
        }
        measured.add_ratio("market_price_percent", 100.0 * prices, usual);
        let beyond = 100.0 * (granted - planned);
        measured.add_ratio("market_virtual_supply_percent", beyond, planned);
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pricing(supply: PricedSupply) -> LoadPricing {
        LoadPricing {
            slope: 1.0,
            usual_load: 0.5,
            lowest: 0.5,
            highest: 2.0,
            supply,
            horizon: Seconds(86_400),
        }
    }

    #[test]
    fn the_factor_is_that_by_hand_and_stays_between_its_limits() {
        let pricing = pricing(PricedSupply::Nodes);
        // 1 + (0.2 − 0.5) / 0.5 = 0.4, below the limit; 1.6; 2.4, above it.
        for (load, expected) in [(0.2, 0.5), (0.5, 1.0), (0.8, 1.6), (1.2, 2.0)] {
            assert!((pricing.factor(load) - expected).abs() < 1e-12, "{load}");
        }
        let half = LoadPricing {
            slope: 0.5,
            ..pricing
        };
        assert!((half.factor(0.8) - 1.3).abs() < 1e-12);
    }

    #[test]
    fn virtual_supply_lowers_the_price_of_the_same_load() {
        // 80 of 100 node-days are booked. A quarter more was sold than was planned: u = 0.64.
        let booked = NodeSeconds(80 * 86_400);
        let sold = Sold {
            granted: 125.0,
            planned: 100.0,
        };
        let of = |supply, sold| pricing(supply).of(Nodes(100), booked, sold);
        assert!((of(PricedSupply::Nodes, &sold) - 1.6).abs() < 1e-12);
        assert!((of(PricedSupply::Overbooked, &sold) - 1.28).abs() < 1e-12);
        // Who has sold nothing knows of no surplus.
        assert!((of(PricedSupply::Overbooked, &Sold::default()) - 1.6).abs() < 1e-12);
    }
}
