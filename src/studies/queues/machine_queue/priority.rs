//! Priorities: the weighted sum of factors, and the decayed use behind one of them.
//!
//! A running job is charged continuously: its cores times the usage factor of its quality times the
//! time that it has run, where each second counts half after every half-life. No period is needed:
//! use is a number, a time and a rate, and is updated exactly whenever it is read.

use std::collections::HashMap;

use bookahead_core::units::Seconds;

use super::description::{
    FairShareAlgorithm, MachineQueueJob, PriorityWeights, QueueMachine, ShareHolder,
};
use super::fair_tree::FairTree;

/// Use that decays, by one holder or all.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Core-seconds, as they count at `at`.
    value: f64,
    at: Seconds,
    /// Core-seconds a second that are added.
    rate: f64,
}

impl Use {
    fn at(&self, now: Seconds, half_life: Option<Seconds>) -> f64 {
        let span = (now - self.at).0 as f64;
        match half_life {
            None => self.value + self.rate * span,
            Some(half_life) => {
                let half_life = half_life.0.max(1) as f64;
                let left = libm::exp2(-span / half_life);
                let added = half_life / std::f64::consts::LN_2 * (1.0 - left);
                self.value * left + self.rate * added
            }
        }
    }

    fn change(&mut self, now: Seconds, half_life: Option<Seconds>, rate: f64) {
        self.value = self.at(now, half_life);
        self.at = now;
        self.rate += rate;
    }
}

/// Against what use is held.
#[derive(Debug)]
enum Shares {
    /// Each holder's part of all shares.
    Parts(Vec<f64>),
    Tree(FairTree),
}

/// Priorities of the jobs of one machine.
#[derive(Debug)]
pub(super) struct Priorities {
    weights: PriorityWeights,
    /// All cores of the machine.
    cores: f64,
    shares: Shares,
    /// Holders that are users: by account in the fair tree, else below account 0.
    by_user: HashMap<(usize, i64), usize>,
    /// Of each holder; in the fair tree also of accounts that hold nothing themselves.
    used: Vec<Use>,
    used_in_all: Use,
    /// Each holder's factor at the last [`Priorities::refresh`].
    factors: Vec<f64>,
}

impl Priorities {
    /// Before anything was used. Users are those of `jobs`.
    pub(super) fn new(machine: &QueueMachine, jobs: &[MachineQueueJob]) -> Self {
        let weights = machine.priority;
        let mut by_user = HashMap::new();
        let shares = match (weights.algorithm, weights.holder) {
            (FairShareAlgorithm::FairTree, _) => {
                let mut accounts = Vec::new();
                for job in jobs {
                    let next = machine.accounts.len() + accounts.len();
                    by_user.entry((job.account.0, job.user)).or_insert_with(|| {
                        accounts.push(job.account.0);
                        next
                    });
                }
                Shares::Tree(FairTree::of(machine, accounts))
            }
            (FairShareAlgorithm::Classic, ShareHolder::Account) => {
                let all: f64 = machine.accounts.iter().map(|account| account.shares).sum();
                let part = |shares: f64| if all > 0.0 { shares / all } else { 0.0 };
                let accounts = machine.accounts.iter();
                Shares::Parts(accounts.map(|account| part(account.shares)).collect())
            }
            (FairShareAlgorithm::Classic, ShareHolder::User) => {
                for job in jobs {
                    let next = by_user.len();
                    by_user.entry((0, job.user)).or_insert(next);
                }
                Shares::Parts(vec![1.0 / by_user.len() as f64; by_user.len()])
            }
        };
        let holders = match &shares {
            Shares::Parts(parts) => parts.len(),
            Shares::Tree(tree) => tree.len(),
        };
        let cores: u64 = machine
            .classes
            .iter()
            .map(|class| u64::from(class.nodes.0) * u64::from(class.each.cores))
            .sum();
        Self {
            weights,
            cores: cores as f64,
            used: vec![Use::default(); holders],
            factors: vec![1.0; holders],
            shares,
            by_user,
            used_in_all: Use::default(),
        }
    }

    /// Whether the order of waiting jobs never changes.
    pub(super) fn are_fixed(&self) -> bool {
        self.weights.age == 0.0 && self.weights.fair_share == 0.0
    }

    /// The holder that is charged for a job.
    pub(super) fn holder_of(&self, job: &MachineQueueJob) -> usize {
        match (self.weights.algorithm, self.weights.holder) {
            (FairShareAlgorithm::FairTree, _) => self.by_user[&(job.account.0, job.user)],
            (FairShareAlgorithm::Classic, ShareHolder::Account) => job.account.0,
            (FairShareAlgorithm::Classic, ShareHolder::User) => self.by_user[&(0, job.user)],
        }
    }

    /// Adds this many core-seconds a second to the use of a holder from now on; a negative number
    /// reduces it.
    pub(super) fn charge(&mut self, holder: usize, now: Seconds, rate: f64) {
        if self.weights.fair_share == 0.0 || rate == 0.0 {
            return;
        }
        let half_life = self.weights.half_life;
        match &self.shares {
            Shares::Parts(_) => self.used[holder].change(now, half_life, rate),
            Shares::Tree(tree) => {
                for node in tree.path(holder) {
                    self.used[node].change(now, half_life, rate);
                }
            }
        }
        self.used_in_all.change(now, half_life, rate);
    }

    /// Works out the factors of shares as they are now.
    pub(super) fn refresh(&mut self, now: Seconds) {
        if self.weights.fair_share == 0.0 {
            return;
        }
        let half_life = self.weights.half_life;
        let all = self.used_in_all.at(now, half_life);
        let used = self.used.iter().map(|used| used.at(now, half_life));
        match &self.shares {
            Shares::Parts(parts) => {
                for ((factor, used), part) in self.factors.iter_mut().zip(used).zip(parts) {
                    *factor = share_factor(used, all, *part, self.weights.damping);
                }
            }
            Shares::Tree(tree) => {
                let used: Vec<f64> = used.collect();
                tree.factors(&used, all, &mut self.factors);
            }
        }
    }

    /// The part of a job's priority that time does not change.
    pub(super) fn fixed_part(&self, machine: &QueueMachine, job: &MachineQueueJob) -> f64 {
        let weights = &self.weights;
        let mut size = (f64::from(job.cores) / self.cores).min(1.0);
        if weights.favours_small {
            size = 1.0 - size;
        }
        weights.size * size
            + weights.partition * machine.partitions[job.partition.0].factor
            + weights.quality * machine.qualities[job.quality.0].factor
    }

    /// The priority of a job that has waited for `waited`, with the factors of the last
    /// [`Priorities::refresh`].
    pub(super) fn of(&self, fixed_part: f64, waited: Seconds, holder: usize) -> f64 {
        let weights = &self.weights;
        let mut priority = fixed_part;
        if weights.age != 0.0 {
            let oldest = weights.oldest.0.max(1) as f64;
            priority += weights.age * (waited.0 as f64 / oldest).clamp(0.0, 1.0);
        }
        if weights.fair_share != 0.0 {
            priority += weights.fair_share * self.factors[holder];
        }
        priority
    }
}

/// `2^(−(u/s)/damping)`: 1 for a holder without use, ½ for use equal to the share, 0 for a holder
/// without a share.
fn share_factor(used: f64, used_in_all: f64, share: f64, damping: f64) -> f64 {
    if share <= 0.0 {
        return 0.0;
    }
    if used <= 0.0 || used_in_all <= 0.0 {
        return 1.0;
    }
    libm::exp2(-(used / used_in_all / share) / damping)
}
