//! Fair shares of the slow twin: use is summed up anew over all runs, and nobody decays.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::*;

/// A level of the fair tree as a fraction of whole numbers: nothing by something where there is no
/// share, something by nothing where nothing was used.
#[derive(Clone, Copy, Debug)]
struct Fraction(u128, u128);

impl Fraction {
    fn new(above: f64, below: f64, shares: f64) -> Self {
        if shares == 0.0 {
            Self(0, 1)
        } else if below == 0.0 {
            Self(1, 0)
        } else {
            Self(above as u128, below as u128)
        }
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Fraction {}

impl Twin<'_> {
    /// What jobs used until now, in core-seconds: a whole number, as all factors are whole here.
    fn used(&self, counts: &dyn Fn(&MachineQueueJob) -> bool) -> f64 {
        self.runs
            .iter()
            .filter(|run| counts(&self.jobs[run.job]))
            .map(|run| {
                let quality = &self.machine.qualities[self.jobs[run.job].quality.0];
                let cores = run.nodes.len() as f64 * f64::from(run.each.cores);
                cores * quality.usage_factor * (run.end.min(self.now) - run.start) as f64
            })
            .sum()
    }

    /// Whether an account is another one, or below it.
    fn is_below(&self, account: usize, above: usize) -> bool {
        account == above
            || self.machine.accounts[account]
                .parent
                .is_some_and(|parent| self.is_below(parent.0, above))
    }

    /// The levels of a user's accounts and then its own in the fair tree, from the top; each is
    /// shares by use, as a fraction.
    fn levels(&self, user: (usize, i64), users: &BTreeSet<(usize, i64)>) -> Vec<Fraction> {
        let accounts = &self.machine.accounts;
        let of_account = |account: usize| {
            self.used(&|job: &MachineQueueJob| self.is_below(job.account.0, account))
        };
        let shares_below = |above: Option<usize>| -> f64 {
            let of_accounts = (accounts.iter())
                .filter(|account| account.parent.map(|parent| parent.0) == above)
                .map(|account| account.shares);
            let of_users = users.iter().filter(|user| Some(user.0) == above);
            of_accounts.sum::<f64>() + of_users.count() as f64
        };
        let all = self.used(&|_| true);
        let level = |above: Option<usize>, shares: f64, used: f64| {
            Fraction::new(
                shares * above.map_or(all, of_account),
                shares_below(above) * used,
                shares,
            )
        };
        let own = self.used(&|job: &MachineQueueJob| (job.account.0, job.user) == user);
        let mut levels = vec![level(Some(user.0), 1.0, own)];
        let mut account = Some(user.0);
        while let Some(at) = account {
            let parent = accounts[at].parent.map(|parent| parent.0);
            levels.push(level(parent, accounts[at].shares, of_account(at)));
            account = parent;
        }
        levels.reverse();
        levels
    }

    /// The factor of the fair tree: all users in order of their levels. One ties with the one
    /// before whose levels are the same, or were all the same until they ended.
    fn rank_factor(&self, job: &MachineQueueJob) -> f64 {
        let users: BTreeSet<(usize, i64)> = (self.jobs.iter())
            .map(|job| (job.account.0, job.user))
            .collect();
        let mut order: Vec<(Vec<Fraction>, (usize, i64))> = (users.iter())
            .map(|user| (self.levels(*user, &users), *user))
            .collect();
        order.sort_by(|(one, _), (other, _)| {
            let first = one.iter().zip(other).find(|(one, other)| one != other);
            first.map_or(one.len().cmp(&other.len()), |(one, other)| other.cmp(one))
        });
        let mut rank = order.len();
        for (at, (levels, user)) in order.iter().enumerate() {
            if at == 0 || !levels.starts_with(&order[at - 1].0) {
                rank = order.len() - at;
            }
            if *user == (job.account.0, job.user) {
                return rank as f64 / order.len() as f64;
            }
        }
        unreachable!("every job has a user")
    }

    /// The factor of fair shares.
    pub(super) fn shares_factor(&self, job: &MachineQueueJob) -> f64 {
        let weights = &self.machine.priority;
        if weights.algorithm == FairShareAlgorithm::FairTree {
            return self.rank_factor(job);
        }
        let used = |counts: &dyn Fn(&MachineQueueJob) -> bool| self.used(counts);
        let all = used(&|_| true);
        let (own, share) = match weights.holder {
            ShareHolder::User => {
                let users: BTreeSet<i64> = self.jobs.iter().map(|job| job.user).collect();
                (
                    used(&|other| other.user == job.user),
                    1.0 / users.len() as f64,
                )
            }
            ShareHolder::Account => {
                let shares: f64 = self
                    .machine
                    .accounts
                    .iter()
                    .map(|account| account.shares)
                    .sum();
                let own = used(&|other| other.account == job.account);
                (
                    own,
                    self.machine.accounts[job.account.0].shares / shares.max(1.0),
                )
            }
        };
        if share == 0.0 {
            0.0
        } else if own == 0.0 {
            1.0
        } else {
            libm::exp2(-(own / all / share) / weights.damping)
        }
    }
}
