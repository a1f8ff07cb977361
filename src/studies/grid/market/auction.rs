//! Tendering, reverse and double auctions (2012 thesis, §2.1.2, §3.5): the customer, the
//! competition of providers, or both make the price that a posted quote otherwise has.
//!
//! A provider loses by a contract whose price is below what it asks at least, with its own PoF q, a
//! penalty of r fees, a safety factor S and a cost of c a node-hour:
//!
//! ```text
//! ask = S · q · r · fee / (1 − q) + c · fee
//! ```
//!
//! The fee is a coin for a node-hour of the estimate, so that `c · fee` is the cost of the nodes.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{Broker, DelegationRule, Offer, choose};
use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;

/// How a price is made where none is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuctionRule {
    /// The customer names a price, drawn uniformly between half and one and a half times the list
    /// price (the fee). Of the providers that ask less, the one with the earliest planned end gets
    /// the job, at that price.
    Tender,
    /// Sealed asks: the lowest one, if it is not above the list price, gets the job and what it
    /// asked.
    ReverseFirst,
    /// The same, and it gets what the second lowest asked (Vickrey), or the list price where nobody
    /// else asked no more than that.
    ReverseSecond,
    /// Customers bid as in a tender, providers ask, and all that trade in a clearing do so at one
    /// price: `market/double.rs`.
    Double {
        /// The time from one clearing to the next.
        every: Seconds,
    },
}

/// What determines an auction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuctionSettings {
    /// How the price is made.
    pub rule: AuctionRule,
    /// S: by what providers multiply their expected penalty when they ask.
    pub safety: f64,
    /// c: what a node-hour costs them, in coins.
    pub node_hour_cost: f64,
}

impl AuctionSettings {
    /// The least that a provider asks, in the unit of the fee, for work that it fails at with this
    /// probability and at a penalty of so many fees; infinite where it certainly fails.
    #[must_use]
    pub fn ask(&self, pof: f64, fee: f64, penalty: f64) -> f64 {
        let risk = if pof == 0.0 {
            0.0
        } else {
            self.safety * pof * penalty * fee / (1.0 - pof)
        };
        risk + self.node_hour_cost * fee
    }

    /// The price at which a provider takes part, if it does; in a double auction what it asks.
    /// `bid` is what the customer names of the fee, where it does.
    pub(super) fn price(&self, pof: f64, fee: f64, penalty: f64, bid: Option<f64>) -> Option<f64> {
        let ask = self.ask(pof, fee, penalty);
        match (self.rule, bid) {
            (AuctionRule::Double { .. }, Some(share)) => (ask <= share * fee).then_some(ask),
            (_, Some(share)) => (share * fee > ask).then_some(share * fee),
            (_, None) => (ask <= fee).then_some(ask),
        }
    }

    /// What the customer names for the next job; `None` where providers name prices.
    pub(super) fn bid(&self, bids: &mut Stream) -> Option<f64> {
        let names_price = matches!(self.rule, AuctionRule::Tender | AuctionRule::Double { .. });
        names_price.then(|| bids.random_range(0.5..1.5))
    }

    /// Who gets the job, and at what price.
    pub(super) fn award(&self, offers: &[Offer], ties: &mut Stream) -> Option<Offer> {
        // Under a tender all prices are the same, and the earliest end decides.
        let mut best = choose(offers, DelegationRule::Cheapest, ties)?;
        if self.rule == AuctionRule::ReverseSecond {
            let others = (offers.iter()).filter(|offer| offer.provider != best.provider);
            let prices = others.map(|offer| offer.contract.price);
            best.contract.price = prices.fold(best.contract.fee, f64::min);
        }
        Some(best)
    }
}

impl Broker {
    /// What was agreed of the price of all jobs, and their list prices.
    pub(super) fn agreed(&self) -> (f64, f64) {
        let contracts = (self.providers.iter()).flat_map(|provider| &provider.contracts);
        contracts.fold((0.0, 0.0), |(price, fee), contract| {
            (price + contract.price, fee + contract.fee)
        })
    }
}
