//! A market over clusters: single jobs are offered to several overbooking clusters, and a broker
//! delegates each to the best quote.
//!
//! # What happens
//!
//! When a job is submitted, every cluster settles its events until then and quotes the slot that
//! its policy would give the job, with the probability of failure (PoF) of that slot
//! ([`bookahead_core::scheduling::JobQuoter::quote_job`]). A provider states `o` times that PoF:
//! `o` is 1 for an honest provider and less for an optimistic one, who also accepts jobs by the
//! true PoF. Its price is `fee · (1 − d · q)`, where the fee is `n · x` (nodes times estimate), `q`
//! the stated PoF and `d` the discount. The job goes to one cluster, which accepts it at this
//! price, or to none.
//!
//! # What it is worth
//!
//! All amounts are in fees of the job. A kept promise is worth `v` to the customer, who pays the
//! price. A broken one costs the customer a damage `g` and the provider a penalty `r`, which the
//! customer receives. So the customer expects
//!
//! ```text
//! score = (1 − p) · (v · fee − price) + p · (r − g) · fee
//! ```
//!
//! where `p` is the PoF that the broker believes. It delegates to the highest score above 0; among
//! equal scores to the earliest planned end, and among those to one drawn at random. Another rule
//! takes the least `p`, whatever the price and the score.
//!
//! # What it believes
//!
//! The broker counts the decided (kept or broken) promises of each provider, and `k` imaginary
//! ones. With Beta counts the realised failure rate is `(k + F) / (…)` and the promised one
//! `(k + Q) / (…)`, where `F` is the number of broken promises, `Q` the sum of their promised PoFs,
//! and both denominators are the same. So the broker multiplies a stated PoF by
//! `(k + F) / (k + Q)`. Counts age with every decided promise of the provider, to a half in
//! `half_life_jobs`. A stated PoF of 0 is believed, as no factor changes it.
//!
//! With `load_pricing` prices follow the load of a provider: `market/load_price.rs`.
//!
//! With `auction` nobody posts a price: `market/auction.rs`, `market/double.rs`.
//!
//! With `speeds` and `prices` clusters are unlike: a job holds nodes for 1/speed of its time, and
//! costs price ÷ speed as much. Fees, values and penalties stay those of the job as it was
//! submitted. A rule that goes by this ratio, by deadlines and budgets: `market/budget.rs`.
//!
//! With `migration` an interrupted job may go on at another cluster: `market/migration.rs`. With
//! `home` each job has a cluster that is asked first: `market/home.rs`, `market/published.rs`,
//! `market/barter.rs`, `market/lent.rs`.

mod auction;
mod barter;
mod budget;
mod cluster;
mod double;
mod home;
mod lent;
mod load_price;
mod machine;
mod measured;
mod migration;
mod outages;
mod outcome;
mod provider;
mod published;
mod reputation;
mod settings;
pub mod study;

use std::sync::Arc;

use rand::RngExt;

pub use self::auction::{AuctionRule, AuctionSettings};
use self::barter::Ledger;
use self::budget::Accounts;
pub use self::cluster::{BrokerQuestion, MarketAnswer, MarketCluster, MarketQuestion};
use self::double::Book;
use self::home::Community;
pub use self::home::{HomeRule, HomeSettings, Overflow};
use self::lent::Loans;
pub use self::load_price::{LoadPricing, PricedSupply};
pub use self::machine::{Market, MarketError, MarketInput, market_scene};
pub use self::migration::{CheckpointStorage, MigrationSettings, Move};
pub use self::outages::with_cluster_outages;
pub use self::outcome::{Delegation, MarketRun, ProviderResult, Quote};
use self::provider::{Contract, Offer, Provider};
use self::published::JobList;
pub use self::reputation::Reputation;
pub use self::settings::{DelegationRule, MarketSettings};
use bookahead_core::estimates::EstimateModel;
use bookahead_core::failures::FailureTrace;
use bookahead_core::kernel::{Decision, ServiceChannel, Stopwatch};
use bookahead_core::random::Stream;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;

/// The input of a market.
#[derive(Clone, Debug)]
pub struct MarketInputs {
    /// Size of each cluster.
    pub nodes: Nodes,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// Statistics that all providers share; needed by policies that overbook.
    pub estimates: Option<Arc<EstimateModel>>,
    /// The failures of each cluster; where there are fewer, the others have none.
    pub failures: Vec<FailureTrace>,
    /// Decides between equal quotes.
    pub ties: Stream,
    /// Draws the homes of jobs.
    pub homes: Stream,
    /// Draws the prices that customers name in a tender or a double auction.
    pub bids: Stream,
}

/// The broker's side of a market.
struct Broker {
    settings: MarketSettings,
    keep_outcomes: bool,
    providers: Vec<Provider>,
    ties: Stream,
    homes: Stream,
    bids: Stream,
    /// By home; empty where jobs have none.
    communities: Vec<Community>,
    list: JobList,
    book: Book,
    ledger: Ledger,
    loans: Loans,
    accounts: Accounts,
    /// What customers gained.
    customers: f64,
    /// The list fees of jobs whose promises were kept.
    kept_fees: f64,
    moves: Vec<Move>,
    /// Empty unless outcomes are kept.
    quotes: Vec<Quote>,
    /// How many jobs came, and the sum of their fees in node-seconds.
    submitted: u64,
    offered: f64,
    stopwatch: Stopwatch,
}

impl Broker {
    fn new(settings: &MarketSettings, inputs: &MarketInputs, keep_outcomes: bool) -> Self {
        let provider = |number| Provider::new(settings, inputs.nodes, number);
        let homes = settings.home.map_or(0, |_| settings.clusters as usize);
        Self {
            settings: settings.clone(),
            keep_outcomes,
            providers: (0..settings.clusters).map(provider).collect(),
            ties: inputs.ties.clone(),
            homes: inputs.homes.clone(),
            bids: inputs.bids.clone(),
            communities: vec![Community::default(); homes],
            list: JobList::default(),
            book: Book::default(),
            ledger: Ledger::new(homes),
            loans: Loans::new(settings.home.map(|home| home.overflow), &inputs.failures),
            accounts: Accounts::default(),
            customers: 0.0,
            kept_fees: 0.0,
            moves: Vec::new(),
            quotes: Vec::new(),
            submitted: 0,
            offered: 0.0,
            stopwatch: Stopwatch::default(),
        }
    }

    /// Offers jobs as they come, and lets happen at all clusters what happens before `until`.
    async fn work_off(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        jobs: Vec<Job>,
        until: Seconds,
    ) {
        let clearings = self.clearing_period();
        for job in jobs {
            self.work_off_list(channel, job.submit).await;
            if let Some(every) = clearings {
                self.clear_before(channel, job.submit).await;
                self.wait_for_clearing(job, every);
                continue;
            }
            let stopwatch = self.stopwatch.clone();
            let begun = stopwatch.begin();
            self.offer(channel, job).await;
            stopwatch.end(Decision::Request, begun);
        }
        self.work_off_list(channel, until).await;
        self.clear_before(channel, until).await;
        if self.settings.migration.is_some() {
            self.migrate_before(channel, until).await;
        } else {
            self.ask_all(channel, |_| true, &BrokerQuestion::WorkOff(until))
                .await;
        }
    }

    async fn offer(&mut self, channel: &ServiceChannel<MarketCluster>, job: Job) {
        self.note_submitted(&job);
        if self.settings.migration.is_some() {
            self.migrate_before(channel, job.submit + Seconds(1)).await;
        }
        let home = self.note_home(&job);
        self.accounts.submitted(&job, self.settings.budget);
        let best = match home {
            Some(home) => self.offer_from_home(channel, &job, home).await,
            None => {
                let offers = self.quotes(channel, &job, |_| true).await;
                let best = match &self.settings.auction {
                    None if self.settings.rule == DelegationRule::DeadlineBudget => {
                        self.accounts.choose(&job, &offers, &mut self.ties)
                    }
                    None => choose(&offers, self.settings.rule, &mut self.ties),
                    Some(auction) => auction.award(&offers, &mut self.ties),
                };
                self.keep_quotes(&job, &offers, best);
                best
            }
        };
        if let Some(best) = best {
            let now = job.submit;
            self.delegate(channel, best, job, home, now).await;
        }
    }

    fn note_submitted(&mut self, job: &Job) {
        self.submitted += 1;
        self.offered += job.fee().0 as f64;
    }

    /// What these clusters offer for a job.
    async fn quotes(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        job: &Job,
        is_asked: impl Fn(usize) -> bool,
    ) -> Vec<Offer> {
        let auction = self.settings.auction;
        let bid = auction.and_then(|auction| auction.bid(&mut self.bids));
        let question = BrokerQuestion::Quote(job.clone());
        let answers = self.ask_all(channel, is_asked, &question).await;
        self.learn();
        self.offers(job, bid, &answers)
    }

    /// What clusters offer that gave these answers, when the customer bids so much of the fee.
    fn offers(&self, job: &Job, bid: Option<f64>, answers: &[(usize, MarketAnswer)]) -> Vec<Offer> {
        let offer = |(number, answer): &(usize, MarketAnswer)| {
            let quote = answer.quote.as_ref()?;
            self.providers[*number].offer(*number, job, quote, (&self.settings, bid))
        };
        answers.iter().filter_map(offer).collect()
    }

    /// Notes the quotes among which it was decided about a job, where they are kept.
    fn keep_quotes(&mut self, job: &Job, offers: &[Offer], best: Option<Offer>) {
        if !self.keep_outcomes {
            return;
        }
        let taken = best.map(|best| best.provider);
        let quotes = offers.iter().map(|offer| Quote {
            job: job.id,
            cluster: offer.provider,
            start: offer.start,
            end: offer.end,
            pof: offer.contract.promised,
            price: offer.contract.price,
            score: offer.score,
            is_taken: Some(offer.provider) == taken,
        });
        self.quotes.extend(quotes);
    }

    /// A job goes to the cluster that made this offer, now.
    async fn delegate(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        offer: Offer,
        job: Job,
        home: Option<usize>,
        now: Seconds,
    ) {
        if let Some(home) = home {
            self.note_taken(home, offer.provider);
        }
        let contract = Contract {
            home,
            user: job.user,
            ..offer.contract
        };
        self.accounts.agreed(&contract);
        self.owe_in_kind(&contract, offer.provider);
        let provider = &mut self.providers[offer.provider];
        let id = provider.agree(contract);
        provider.taken = Some(Job { id, ..job });
        if self.settings.migration.is_some() || now > job.submit {
            // What happens next at this cluster may come before the next question, or it may be
            // asked for another job in this instant.
            let nothing_more = BrokerQuestion::WorkOff(now);
            self.ask(channel, offer.provider, nothing_more).await;
        }
    }

    /// Asks a cluster, and takes note of what it says of itself.
    async fn ask(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        number: usize,
        question: BrokerQuestion,
    ) -> MarketAnswer {
        let provider = &mut self.providers[number];
        let taken = provider.taken.take();
        let question = MarketQuestion::Broker { taken, question };
        let mut answer = channel.ask(number, question).await;
        provider.note(&mut answer);
        answer
    }

    /// Asks these clusters the same, and takes note of what they say of themselves.
    async fn ask_all(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        is_asked: impl Fn(usize) -> bool,
        question: &BrokerQuestion,
    ) -> Vec<(usize, MarketAnswer)> {
        let providers = self.providers.iter_mut().enumerate();
        let questions: Vec<_> = providers
            .filter(|(number, _)| is_asked(*number))
            .map(|(number, provider)| {
                let (taken, question) = (provider.taken.take(), question.clone());
                (number, MarketQuestion::Broker { taken, question })
            })
            .collect();
        let numbers: Vec<usize> = questions.iter().map(|(number, _)| *number).collect();
        let mut answers = channel.ask_all(questions).await;
        for (&number, answer) in numbers.iter().zip(&mut answers) {
            self.providers[number].note(answer);
        }
        numbers.into_iter().zip(answers).collect()
    }

    /// Reads the outcomes since the last time, and what they were worth to customers.
    fn learn(&mut self) {
        for number in 0..self.providers.len() {
            let outcomes = std::mem::take(&mut self.providers[number].decided);
            let worth = outcomes
                .iter()
                .map(|outcome| {
                    let contract = outcome.job.id.0 as usize;
                    self.decided(number, contract, !outcome.verdict.is_successful())
                })
                .sum::<f64>();
            self.customers += worth;
            if self.keep_outcomes {
                self.providers[number].result.outcomes.extend(outcomes);
            }
        }
    }

    /// A promise was kept or broken, and with it those for which it was bought; what that was worth
    /// to the customer.
    fn decided(&mut self, provider: usize, number: usize, is_broken: bool) -> f64 {
        let contract = self.providers[provider].decided(number, is_broken, &self.settings);
        self.settle_in_kind(&contract, provider, is_broken);
        let fee = contract.fee;
        match contract.buyer {
            Some((buyer, bought_for)) => {
                let result = &mut self.providers[buyer].result;
                if is_broken {
                    result.gain += self.settings.penalty * fee;
                } else {
                    result.gain -= contract.price;
                    result.revenue -= contract.price;
                }
                self.decided(buyer, bought_for, is_broken)
            }
            None if is_broken => {
                self.accounts.returned(&contract);
                (self.settings.penalty - self.settings.damage) * fee
            }
            None => {
                if let Some(home) = contract.home {
                    self.note_kept(home, provider);
                }
                if contract.on_loan {
                    self.loans.note_kept();
                }
                self.kept_fees += fee;
                self.settings.value * fee - contract.price
            }
        }
    }
}

/// The offer that is taken.
fn choose(offers: &[Offer], rule: DelegationRule, ties: &mut Stream) -> Option<Offer> {
    let better = |one: &Offer, other: &Offer| match rule {
        DelegationRule::Reputation | DelegationRule::Promised => {
            (one.score.total_cmp(&other.score)).then(other.end.cmp(&one.end))
        }
        DelegationRule::Cheapest => {
            (other.contract.price.total_cmp(&one.contract.price)).then(other.end.cmp(&one.end))
        }
        DelegationRule::MostReliable => {
            (other.believed.total_cmp(&one.believed)).then(other.end.cmp(&one.end))
        }
        DelegationRule::DeadlineBudget => (other.price_for_speed)
            .total_cmp(&one.price_for_speed)
            .then((other.start, other.end).cmp(&(one.start, one.end))),
        DelegationRule::Random => std::cmp::Ordering::Equal,
    };
    let is_wanted = |offer: &&Offer| match rule {
        DelegationRule::Reputation | DelegationRule::Promised => offer.score > 0.0,
        DelegationRule::Cheapest
        | DelegationRule::Random
        | DelegationRule::MostReliable
        | DelegationRule::DeadlineBudget => true,
    };
    let mut best: Vec<&Offer> = Vec::new();
    for offer in offers.iter().filter(is_wanted) {
        match best.first().map(|first| better(offer, first)) {
            Some(std::cmp::Ordering::Less) => {}
            Some(std::cmp::Ordering::Equal) => best.push(offer),
            Some(std::cmp::Ordering::Greater) | None => {
                best.clear();
                best.push(offer);
            }
        }
    }
    match best.len() {
        0 => None,
        1 => Some(*best[0]),
        several => Some(*best[ties.random_range(0..several)]),
    }
}

#[cfg(test)]
mod tests;
