//! Clusters that run jobs of each other for node-hours instead of money (Birkenheuer 2012, §2.1.2).
//!
//! One ledger has a balance for each cluster, all of them 0 at first. A cluster that keeps a
//! promise to a job of another community earns the nodes times the estimate of that job, which the
//! home of the job pays. What a home owes is limited, promises that are not decided included. The
//! customer has his contract with his home: it is paid by him, and pays the penalty.

use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::NodeSeconds;

use super::provider::Contract;
use super::{Broker, Overflow};

/// Who owes whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// By cluster, in node-seconds; their sum is 0.
    balances: Vec<f64>,
    /// What each will have to pay if all promises to its community are kept.
    pending: Vec<f64>,
    /// Node-seconds that were paid.
    exchanged: f64,
    /// Jobs for which the credit of their home did not suffice.
    out_of_credit: u64,
}

impl Ledger {
    pub(super) fn new(clusters: usize) -> Self {
        Self {
            balances: vec![0.0; clusters],
            pending: vec![0.0; clusters],
            ..Self::default()
        }
    }

    /// Whether a home with this credit may pay for a job; it is counted where it may not.
    pub(super) fn may_pay(&mut self, home: usize, fee: f64, credit: NodeSeconds) -> bool {
        let left = self.balances[home] - self.pending[home] - fee;
        let may_pay = left >= -(credit.0 as f64);
        self.out_of_credit += u64::from(!may_pay);
        may_pay
    }

    /// A promise was decided, and paid if it was kept.
    fn settle(&mut self, home: usize, provider: usize, fee: f64, is_broken: bool) {
        self.pending[home] -= fee;
        if !is_broken {
            self.balances[home] -= fee;
            self.balances[provider] += fee;
            self.exchanged += fee;
        }
    }
}

impl Broker {
    /// The home of a job that another cluster runs in exchange for node-hours.
    fn barter_home(&self, contract: &Contract, provider: usize) -> Option<usize> {
        let barters = matches!(self.settings.home?.overflow, Overflow::Barter { .. });
        contract.home.filter(|home| barters && *home != provider)
    }

    /// A cluster has taken a job, whose home will pay for it where it is another one.
    pub(super) fn owe_in_kind(&mut self, contract: &Contract, provider: usize) {
        if let Some(home) = self.barter_home(contract, provider) {
            self.ledger.pending[home] += contract.fee;
        }
    }

    /// A promise was kept or broken. What its provider was paid, or owes the customer, is the
    /// matter of the home.
    pub(super) fn settle_in_kind(&mut self, contract: &Contract, provider: usize, is_broken: bool) {
        let Some(home) = self.barter_home(contract, provider) else {
            return;
        };
        (self.ledger).settle(home, provider, contract.fee, is_broken);
        let (revenue, gain) = if is_broken {
            (0.0, -self.settings.penalty * contract.fee)
        } else {
            (contract.price, contract.price)
        };
        for (cluster, sign) in [(provider, -1.0), (home, 1.0)] {
            let result = &mut self.providers[cluster].result;
            result.revenue += sign * revenue;
            result.gain += sign * gain;
        }
    }

    /// How one-sided the exchange was, and whom it refused; nothing where nobody exchanges.
    pub(super) fn barter_measures(&self) -> Measured {
        let mut measured = Measured::default();
        let overflow = self.settings.home.map(|home| home.overflow);
        if !matches!(overflow, Some(Overflow::Barter { .. })) {
            return measured;
        }
        let (ledger, jobs) = (&self.ledger, self.submitted as f64);
        let refused = 100.0 * ledger.out_of_credit as f64;
        measured.add_ratio("market_out_of_credit_percent", refused, jobs);
        let owed: f64 = (ledger.balances.iter())
            .filter(|balance| **balance > 0.0)
            .sum();
        measured.add_ratio("market_owed_percent", 100.0 * owed, ledger.exchanged);
        measured
    }
}
