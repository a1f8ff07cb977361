//! Jobs that belong to a community with a cluster of its own, and what becomes of those for which
//! that cluster has no room (Birkenheuer 2012, §1.2.2).
//!
//! # Order
//!
//! The home cluster of a job is asked first. A slot of full length there is taken, if its customer
//! expects to gain by it. Otherwise the job goes, in this order, to a slot of full length
//! elsewhere, to a shorter one at home, to a shorter one elsewhere; the rule of the broker chooses
//! among the offers of one place in this order.
//!
//! Not here: jobs that are published for underused clusters to take ([`super::published`]).

use rand::RngExt;
use serde::{Deserialize, Serialize};

use bookahead_core::kernel::ServiceChannel;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::Job;

use super::{Broker, MarketCluster, Offer, choose};

/// Where jobs are at home, and what becomes of those for which their home has no room.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HomeSettings {
    /// Which cluster is the home of a job.
    pub of: HomeRule,
    /// What becomes of a job that its home cannot place at full length.
    pub overflow: Overflow,
}

/// Which cluster is the home of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HomeRule {
    /// The user's number in the trace, modulo the number of clusters; the job's own number where
    /// its user is not known.
    User,
    /// Drawn for each job.
    Drawn {
        /// How many jobs are at home at the first cluster, in percent; the others share the rest
        /// equally. `None`: all have equal shares.
        first_percent: Option<f64>,
    },
}

/// What becomes of a job that its home cannot place at full length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// The other clusters are asked at once.
    Ask,
    /// Nobody else is asked: it gets a shorter slot at home, or none.
    Stay,
    /// It is published for underused clusters to take, until it could no longer start in time.
    /// Then all are asked.
    List {
        /// How often clusters look at the list.
        every: Seconds,
        /// The occupancy of the next `horizon`, from 0 to 1, below which a cluster takes jobs.
        below: f64,
        /// How far ahead occupancy is measured.
        horizon: Seconds,
    },
    /// Another cluster may take it in exchange for node-hours (Birkenheuer 2012, §2.1.2).
    Barter {
        /// What a home may owe the others at most.
        credit: NodeSeconds,
        /// Below which PoF, as the broker believes it, a slot is good enough.
        below_pof: f64,
    },
    /// Another cluster may lend its home the nodes that are missing.
    Lend {
        /// How many nodes of others a home may hold or have booked at a time; `None`: as many as
        /// it has.
        places: Option<Nodes>,
    },
}

/// The jobs that are at home at one cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Community {
    jobs: u64,
    /// Fees of all of them, in node-seconds.
    fees: f64,
    /// Jobs that some cluster took.
    taken: u64,
    /// Jobs that another cluster than its own took.
    away: u64,
    kept: u64,
    kept_away: u64,
}

impl HomeSettings {
    /// The home of a job among so many clusters; `draw` is uniform on `[0, 1)`.
    pub(super) fn home_of(&self, job: &Job, clusters: usize, draw: impl FnOnce() -> f64) -> usize {
        match self.of {
            HomeRule::User => {
                let number = job.user.unwrap_or_else(|| i64::from(job.id.0));
                number.rem_euclid(clusters as i64) as usize
            }
            HomeRule::Drawn { first_percent } => {
                let others = clusters - 1;
                let equal = 1.0 / clusters as f64;
                let first = first_percent.map_or(equal, |percent| percent / 100.0);
                let drawn = draw();
                if drawn < first || others == 0 {
                    return 0;
                }
                let place = (drawn - first) / (1.0 - first) * others as f64;
                1 + (place as usize).min(others - 1)
            }
        }
    }
}

impl Broker {
    /// The home of a job that was just submitted, of which its community takes note; `None` where
    /// jobs have none.
    pub(super) fn note_home(&mut self, job: &Job) -> Option<usize> {
        let (settings, homes) = (self.settings.home?, &mut self.homes);
        let home = settings.home_of(job, self.providers.len(), || homes.random());
        let community = &mut self.communities[home];
        community.jobs += 1;
        community.fees += job.fee().0 as f64;
        Some(home)
    }

    /// The offer that a job takes that comes from its home, now; `None` where there is none, or
    /// none yet.
    pub(super) async fn offer_from_home(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        job: &Job,
        home: usize,
    ) -> Option<Offer> {
        let overflow = self.settings.home?.overflow;
        let mut offers = self.quotes(channel, job, |number| number == home).await;
        let full: Vec<Offer> = (offers.iter())
            .filter(|it| !it.overbooked)
            .copied()
            .collect();
        let mut best = choose(&full, self.settings.rule, &mut self.ties);
        if best.is_none() {
            match overflow {
                Overflow::List { .. } if self.publish(job, home) => return None,
                Overflow::Ask | Overflow::List { .. } => {
                    let others = self.quotes(channel, job, |number| number != home).await;
                    offers.extend(others);
                }
                Overflow::Barter { credit, below_pof } => {
                    let fee = job.fee().0 as f64;
                    if self.ledger.may_pay(home, fee, credit) {
                        let others = self.quotes(channel, job, |number| number != home).await;
                        offers.extend(others.into_iter().filter(|it| it.believed < below_pof));
                    }
                }
                Overflow::Lend { .. } => {
                    best = self
                        .offer_with_lent_nodes(channel, job, home, &mut offers)
                        .await;
                }
                Overflow::Stay => {}
            }
            if best.is_none() {
                best = self.choose_in_order(&offers, home);
            }
        }
        self.keep_quotes(job, &offers, best);
        best
    }

    /// Full length before shorter, at home before elsewhere.
    pub(super) fn choose_in_order(&mut self, offers: &[Offer], home: usize) -> Option<Offer> {
        let order = [(false, true), (false, false), (true, true), (true, false)];
        order.into_iter().find_map(|(overbooked, at_home)| {
            let is_of = |offer: &&Offer| {
                offer.overbooked == overbooked && (offer.provider == home) == at_home
            };
            let of: Vec<Offer> = offers.iter().filter(is_of).copied().collect();
            choose(&of, self.settings.rule, &mut self.ties)
        })
    }

    /// A cluster took a job of this community.
    pub(super) fn note_taken(&mut self, home: usize, provider: usize) {
        let community = &mut self.communities[home];
        community.taken += 1;
        community.away += u64::from(provider != home);
    }

    /// The promise that a cluster gave to a job of this community was kept.
    pub(super) fn note_kept(&mut self, home: usize, provider: usize) {
        let community = &mut self.communities[home];
        community.kept += 1;
        community.kept_away += u64::from(provider != home);
    }

    /// What homes and delegation did; nothing where jobs have no home.
    pub(super) fn home_measures(&self) -> Measured {
        let mut measured = Measured::default();
        if self.settings.home.is_none() {
            return measured;
        }
        let sum = |of: fn(&Community) -> u64| self.communities.iter().map(of).sum::<u64>() as f64;
        let (taken, away) = (sum(|it| it.taken), sum(|it| it.away));
        measured.add_ratio("market_away_percent", 100.0 * away, taken);
        let kept_away = sum(|it| it.kept_away);
        measured.add_ratio("market_away_kept_percent", 100.0 * kept_away, away);
        for (names, is_first) in [(&MOST_LOADED, true), (&LEAST_LOADED, false)] {
            let Some(community) = self.extreme(is_first) else {
                continue;
            };
            let jobs = community.jobs as f64;
            let refused = (community.jobs - community.taken) as f64;
            measured.add_ratio(names[0], 100.0 * refused, jobs);
            measured.add_ratio(names[1], 100.0 * community.kept as f64, jobs);
        }
        measured.extend(&self.list_measures());
        measured.extend(&self.barter_measures());
        measured.extend(&self.loan_measures());
        measured
    }

    /// The community with the most fees, or the one with the least; of equal ones the first.
    fn extreme(&self, is_most: bool) -> Option<&Community> {
        let with_jobs = self.communities.iter().filter(|it| it.jobs > 0);
        with_jobs.reduce(|found, it| {
            let is_further = if is_most {
                it.fees > found.fees
            } else {
                it.fees < found.fees
            };
            if is_further { it } else { found }
        })
    }
}

/// Measures of the community with the most fees, and of the one with the least in the same order.
const MOST_LOADED: [&str; 2] = [
    "market_most_loaded_refused_percent",
    "market_most_loaded_kept_percent",
];
const LEAST_LOADED: [&str; 2] = [
    "market_least_loaded_refused_percent",
    "market_least_loaded_kept_percent",
];
