//! Accounts with their shares, and the weights of priorities.

use super::WEEK_HOURS;
use super::checks::Checks;
use crate::machine_queue::machines::file::{RawAlgorithm, RawHolder, RawMachine, RawPriority};
use crate::machine_queue::{
    Account, AccountIndex, FairShareAlgorithm, Limits, PriorityWeights, ShareHolder,
};

impl Checks<'_, '_> {
    pub(super) fn accounts(&mut self, raw: &RawMachine) -> Vec<Account> {
        if raw.account.is_empty() {
            return vec![Account {
                name: "all".to_owned(),
                parent: None,
                shares: 1.0,
                per_user: Limits::default(),
                in_all: Limits::default(),
            }];
        }
        self.names(
            "account",
            raw.account.iter().map(|account| account.name.as_str()),
        );
        let accounts: Vec<Account> = (raw.account.iter().enumerate())
            .map(|(at, account)| {
                let path = |key: &str| format!("account.{at}.{key}");
                let shares = account.shares.unwrap_or(1.0);
                Account {
                    name: account.name.clone(),
                    parent: self.parent(raw, at),
                    shares: self.number(&path("shares"), shares, f64::MAX),
                    per_user: self.limits(&path("per_user"), &account.per_user),
                    in_all: self.limits(&path("in_all"), &account.in_all),
                }
            })
            .collect();
        let has_shares = accounts.iter().any(|account| account.shares > 0.0);
        self.require(has_shares, "account.0.shares", || {
            "no account has a share".to_owned()
        });
        accounts
    }

    /// The account above one.
    fn parent(&mut self, raw: &RawMachine, at: usize) -> Option<AccountIndex> {
        let place = |name: &String| raw.account.iter().position(|account| account.name == *name);
        let parent = raw.account[at].parent.as_ref()?;
        let path = format!("account.{at}.parent");
        let Some(above) = place(parent) else {
            self.refuse(&path, format!("there is no account `{parent}`"));
            return None;
        };
        let next = |place_of: &usize| raw.account[*place_of].parent.as_ref().and_then(place);
        let mut chain = std::iter::successors(Some(above), next).take(raw.account.len());
        if chain.any(|account| account == at) {
            self.refuse(&path, "the account would be above itself");
            return None;
        }
        let algorithm = raw.priority.as_ref().map(|of| of.fair_share_algorithm);
        self.require(algorithm == Some(RawAlgorithm::FairTree), &path, || {
            "accounts above others count in the fair tree only: set priority.fair_share_algorithm"
                .to_owned()
        });
        Some(AccountIndex(above))
    }

    pub(super) fn priority(&mut self, raw: &RawPriority) -> PriorityWeights {
        let weights = [
            ("age", raw.age),
            ("fair_share", raw.fair_share),
            ("size", raw.size),
            ("partition", raw.partition),
            ("qos", raw.qos),
        ];
        for (key, weight) in weights {
            self.number(&format!("priority.{key}"), weight, f64::MAX);
        }
        let damping = raw.damping.unwrap_or(1.0);
        self.require(
            damping.is_finite() && damping > 0.0,
            "priority.damping",
            || format!("{damping} is out of range"),
        );
        if raw.fair_share_algorithm == RawAlgorithm::FairTree {
            let told = || "the fair tree has none: leave it out".to_owned();
            self.require(raw.damping.is_none(), "priority.damping", told);
            self.require(raw.holder == RawHolder::User, "priority.holder", told);
        }
        let half_life = self.hours(
            "priority.half_life_hours",
            raw.half_life_hours.unwrap_or(WEEK_HOURS),
        );
        let decays = raw.decays.unwrap_or(true);
        self.require(
            decays || raw.half_life_hours.is_none(),
            "priority.half_life_hours",
            || "use that does not decay has no half life: leave one of the two out".to_owned(),
        );
        PriorityWeights {
            age: raw.age,
            oldest: self.hours(
                "priority.oldest_hours",
                raw.oldest_hours.unwrap_or(WEEK_HOURS),
            ),
            fair_share: raw.fair_share,
            algorithm: match raw.fair_share_algorithm {
                RawAlgorithm::Classic => FairShareAlgorithm::Classic,
                RawAlgorithm::FairTree => FairShareAlgorithm::FairTree,
            },
            damping,
            holder: match raw.holder {
                RawHolder::User => ShareHolder::User,
                RawHolder::Account => ShareHolder::Account,
            },
            half_life: decays.then_some(half_life),
            size: raw.size,
            favours_small: raw.favours_small,
            partition: raw.partition,
            quality: raw.qos,
        }
    }
}
