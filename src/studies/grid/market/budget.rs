//! Deadline-and-budget scheduling by price-performance groups, as economic brokers of grids do it
//! (Meltzer 2005, §4.7.1, Fig. 9).
//!
//! Clusters with the same price for their speed are a group. In the cheapest group the broker takes
//! the earliest start of those that end by the deadline and that the customer can pay; where there
//! is none, it looks at the next group. It stops where the budget ends.
//!
//! What a customer may spend grows with his jobs: users of a log come back.

use std::collections::BTreeMap;

use super::{Contract, DelegationRule, Offer, choose};
use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

/// Who pays: a user of the log, or a job whose user is not known, alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Customer {
    User(i64),
    Job(JobId),
}

impl Customer {
    fn of(user: Option<i64>, job: JobId) -> Self {
        user.map_or(Self::Job(job), Self::User)
    }
}

/// What customers may still spend; empty where there is no budget.
#[derive(Default)]
pub(super) struct Accounts {
    /// In node-seconds at the list price.
    left: BTreeMap<Customer, f64>,
    /// Jobs that went nowhere though an offer would have ended in time.
    pub(super) over_budget: u64,
}

impl Accounts {
    /// A customer submits a job, which raises what he may spend by so many of its list fees.
    pub(super) fn submitted(&mut self, job: &Job, budget: Option<f64>) {
        if let Some(budget) = budget {
            let left = self.left.entry(Customer::of(job.user, job.id)).or_default();
            *left += budget * job.fee().0 as f64;
        }
    }

    /// He agrees to pay this price.
    pub(super) fn agreed(&mut self, contract: &Contract) {
        self.add(contract, -contract.price);
    }

    /// The promise was broken, so that he does not pay it.
    pub(super) fn returned(&mut self, contract: &Contract) {
        self.add(contract, contract.price);
    }

    fn add(&mut self, contract: &Contract, price: f64) {
        let customer = Customer::of(contract.user, contract.job);
        if let Some(left) = self.left.get_mut(&customer) {
            *left += price;
        }
    }

    /// The offer that a job takes of its customer's deadline and budget.
    pub(super) fn choose(
        &mut self,
        job: &Job,
        offers: &[Offer],
        ties: &mut Stream,
    ) -> Option<Offer> {
        let customer = Customer::of(job.user, job.id);
        let left = self.left.get(&customer).copied();
        let best = within(offers, job.deadline, left.unwrap_or(f64::INFINITY), ties);
        let has_one_in_time = || offers.iter().any(|offer| offer.end <= job.deadline);
        self.over_budget += u64::from(best.is_none() && has_one_in_time());
        best
    }
}

/// The earliest start of the cheapest group with an offer that ends by the deadline and costs at
/// most so much.
pub(super) fn within(
    offers: &[Offer],
    deadline: Seconds,
    left: f64,
    ties: &mut Stream,
) -> Option<Offer> {
    let is_within = |offer: &&Offer| offer.end <= deadline && offer.contract.price <= left;
    let within: Vec<Offer> = offers.iter().filter(is_within).copied().collect();
    choose(&within, DelegationRule::DeadlineBudget, ties)
}
