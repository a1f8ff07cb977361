//! A market over clusters: single jobs are offered to several overbooking clusters, and a broker delegates each to the best quote.
//!
//! # What happens
//!
//! At the submission of a job every cluster settles what happened until then, and quotes the slot that its policy would give the job, with
//! the probability of failure (PoF) of that slot ([`crate::scheduling::Policy::quote_job`]). A provider says `o` times that PoF: `o` is
//! 1 for an honest provider and less for an optimistic one, who also takes on jobs by its true PoF. Its price is
//! `fee · (1 − d · q)`, where the fee is `n · x` (nodes times estimate), `q` the PoF that it says and `d` the discount. The job goes to
//! one cluster, which accepts it at this price, or to none.
//!
//! # What it is worth
//!
//! In fees of the job: kept, it is worth `v` to its customer, who pays the price. Broken, it costs the customer a damage `g`
//! and the provider a penalty `r`, which the customer gets. So the customer expects
//!
//! ```text
//! score = (1 − p) · (v · fee − price) + p · (r − g) · fee
//! ```
//!
//! where `p` is what the broker believes of the quote. It delegates to the highest score above 0; of equal ones to the
//! earliest planned end, of those to one drawn at random.
//!
//! # What it believes
//!
//! Of each provider the broker counts the promises that were decided (kept or broken), and `k` imaginary ones. With Beta counts its
//! realised failure rate is `(k + F) / (…)` and its promised one `(k + Q) / (…)`, with `F` broken promises, `Q` the sum of their promised
//! PoFs, and the same number of promises below both. So it multiplies what the provider says by `(k + F) / (k + Q)`. Counts age with every decided promise
//! of the provider, to a half in `half_life_jobs`. A provider that says 0 is believed, as no factor helps there.

mod reputation;

use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};

pub use self::reputation::Reputation;
use crate::estimates::EstimateModel;
use crate::failures::FailureTrace;
use crate::random::Stream;
use crate::scheduling::measures::Measured;
use crate::scheduling::{
    ClusterMachine, JobOutcome, JobQuote, PolicySettings, SimulationMetrics, registry,
};
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId};

/// Whom the broker delegates to.
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
}

/// What determines a market, beside jobs, statistics and failures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarketSettings {
    /// How many clusters there are.
    pub clusters: u32,
    /// What each of them plans with.
    pub policy: PolicySettings,
    /// Whom the broker delegates to.
    pub rule: DelegationRule,
    /// v: what a kept promise is worth, in fees.
    pub value: f64,
    /// g: what a broken promise costs the customer, in fees.
    pub damage: f64,
    /// r: what a broken promise costs the provider, in fees.
    pub penalty: f64,
    /// d: how much of the fee a certain failure would cost less.
    pub discount: f64,
    /// The share of clusters that are optimistic, rounded to the nearest number of them: the last ones.
    pub optimists: f64,
    /// o: by what those multiply the PoF that they say.
    pub optimism: f64,
    /// k: how many imaginary broken promises the broker begins with.
    pub prior_failures: f64,
    /// Decided promises of a provider after which earlier ones count half; 0: they never age.
    pub half_life_jobs: f64,
}

impl MarketSettings {
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

/// What a market is simulated with.
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
}

/// What became of a market.
#[derive(Clone, Debug, PartialEq)]
pub struct MarketRun {
    /// Totals of all clusters.
    pub metrics: SimulationMetrics,
    /// The providers, in order of their number.
    pub providers: Vec<ProviderResult>,
    /// Its measures.
    pub measured: Measured,
}

/// What became of one provider. Amounts in node-seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderResult {
    /// By what it multiplied the PoF that it said.
    pub optimism: f64,
    /// Jobs that were delegated to it.
    pub jobs: u64,
    /// Broken promises among them.
    pub broken: u64,
    /// Sum of the PoFs that it said of them.
    pub promised: f64,
    /// Prices of kept promises.
    pub revenue: f64,
    /// The same without the penalties of broken ones.
    pub gain: f64,
    /// What the broker believed its failure rate to be after each decided promise.
    pub believed: Vec<f64>,
}

impl ProviderResult {
    /// Share of its promises that were broken; 0 without any.
    #[must_use]
    pub fn failure_rate(&self) -> f64 {
        self.broken as f64 / (self.jobs as f64).max(1.0)
    }

    /// After how many decided promises the broker's belief stayed within `tolerance` of the rate that the whole simulation showed; `None` if
    /// it was outside at the end.
    #[must_use]
    pub fn known_after(&self, tolerance: f64) -> Option<usize> {
        let truth = self.failure_rate();
        let is_outside = |belief: &f64| (belief - truth).abs() >= tolerance;
        let known = self
            .believed
            .iter()
            .rposition(is_outside)
            .map_or(0, |last| last + 1);
        (known < self.believed.len()).then_some(known)
    }
}

/// A cluster with what the broker knows of it.
struct Provider {
    machine: ClusterMachine,
    optimism: f64,
    reputation: Reputation,
    /// What was agreed of each of its jobs, in order of their ids there.
    contracts: Vec<Contract>,
    result: ProviderResult,
}

/// A delegated job.
#[derive(Clone, Copy)]
struct Contract {
    fee: f64,
    price: f64,
    promised: f64,
}

/// A quote as the broker weighs it.
#[derive(Clone, Copy)]
struct Offer {
    provider: usize,
    contract: Contract,
    score: f64,
    end: Seconds,
}

/// Simulates a market; `None` where no such policy is registered.
#[must_use]
pub fn simulate_market(settings: &MarketSettings, mut inputs: MarketInputs) -> Option<MarketRun> {
    let mut providers = providers(settings, &inputs)?;
    let mut customers = 0.0;
    let mut offers = Vec::with_capacity(providers.len());
    for job in inputs.jobs.iter() {
        offers.clear();
        for (number, provider) in providers.iter_mut().enumerate() {
            provider.machine.settle(job.submit);
            customers += provider.learn(settings);
            if let Some(quote) = provider.machine.quote_job(job) {
                offers.push(provider.offer(number, job, &quote, settings));
            }
        }
        let Some(best) = choose(&offers, settings.rule, &mut inputs.ties) else {
            continue;
        };
        let provider = &mut providers[best.provider];
        let number = u32::try_from(provider.contracts.len()).unwrap_or(u32::MAX);
        provider.contracts.push(best.contract);
        provider.machine.submit([Job {
            id: JobId(number),
            ..job.clone()
        }]);
        provider.machine.settle(job.submit);
    }
    for provider in &mut providers {
        while !provider.machine.is_idle()
            && let Some(next) = provider.machine.next_event()
        {
            provider.machine.advance(next + Seconds(1));
        }
        customers += provider.learn(settings);
    }
    Some(result(settings, &inputs.jobs, providers, customers))
}

fn providers(settings: &MarketSettings, inputs: &MarketInputs) -> Option<Vec<Provider>> {
    let strategy = registry::strategy(&settings.policy.strategy)?;
    let provider = |number: u32| {
        let policy = (strategy.build)(inputs.nodes, &settings.policy, inputs.estimates.clone());
        let mut machine = ClusterMachine::new(inputs.nodes, policy);
        if let Some(failures) = inputs.failures.get(number as usize) {
            machine.inject(&failures.events);
        }
        let optimism = settings.optimism_of(number);
        Provider {
            machine,
            optimism,
            reputation: Reputation::new(settings.prior_failures, settings.half_life_jobs),
            contracts: Vec::new(),
            result: ProviderResult {
                optimism,
                jobs: 0,
                broken: 0,
                promised: 0.0,
                revenue: 0.0,
                gain: 0.0,
                believed: Vec::new(),
            },
        }
    };
    Some((0..settings.clusters).map(provider).collect())
}

impl Provider {
    fn offer(
        &self,
        provider: usize,
        job: &Job,
        quote: &JobQuote,
        settings: &MarketSettings,
    ) -> Offer {
        let fee = job.fee().0 as f64;
        let promised = (quote.pof * self.optimism).clamp(0.0, 1.0);
        let price = fee * (1.0 - settings.discount * promised);
        let believed = match settings.rule {
            DelegationRule::Reputation => self.reputation.believed(promised),
            DelegationRule::Promised | DelegationRule::Cheapest | DelegationRule::Random => {
                promised
            }
        };
        let kept = settings.value * fee - price;
        let broken = (settings.penalty - settings.damage) * fee;
        Offer {
            provider,
            contract: Contract {
                fee,
                price,
                promised,
            },
            score: (1.0 - believed) * kept + believed * broken,
            end: quote.end,
        }
    }

    /// Reads the outcomes since the last time, and says what they were worth to customers.
    fn learn(&mut self, settings: &MarketSettings) -> f64 {
        let outcomes = self.machine.take_outcomes();
        outcomes
            .iter()
            .map(|outcome| self.decided(outcome, settings))
            .sum()
    }

    fn decided(&mut self, outcome: &JobOutcome, settings: &MarketSettings) -> f64 {
        let contract = self.contracts[outcome.job.id.0 as usize];
        let is_broken = !outcome.verdict.is_successful();
        self.reputation.decided(contract.promised, is_broken);
        let result = &mut self.result;
        result.jobs += 1;
        result.promised += contract.promised;
        result.believed.push(self.reputation.failure_rate());
        if is_broken {
            result.broken += 1;
            result.gain -= settings.penalty * contract.fee;
            (settings.penalty - settings.damage) * contract.fee
        } else {
            result.revenue += contract.price;
            result.gain += contract.price;
            settings.value * contract.fee - contract.price
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
        DelegationRule::Random => std::cmp::Ordering::Equal,
    };
    let is_wanted = |offer: &&Offer| match rule {
        DelegationRule::Reputation | DelegationRule::Promised => offer.score > 0.0,
        DelegationRule::Cheapest | DelegationRule::Random => true,
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

/// How near the broker's belief must be to the truth to count as knowledge.
const KNOWN_WITHIN: f64 = 0.02;

fn result(
    settings: &MarketSettings,
    jobs: &[Job],
    providers: Vec<Provider>,
    customers: f64,
) -> MarketRun {
    let mut metrics = SimulationMetrics::default();
    let mut results = Vec::with_capacity(providers.len());
    for provider in providers {
        let own = provider.machine.metrics();
        metrics = own.beside(&metrics);
        results.push(provider.result);
    }
    let not_delegated = jobs.len() as u64 - metrics.submitted;
    metrics.submitted += not_delegated;
    metrics.dropped += not_delegated;
    let offered: f64 = jobs.iter().map(|job| job.fee().0 as f64).sum();
    let mut measured = Measured::default();
    let delegated: u64 = results.iter().map(|result| result.jobs).sum();
    let broken: u64 = results.iter().map(|result| result.broken).sum();
    let percent = |measured: &mut Measured, name, above: f64, below: f64| {
        measured.add_ratio(name, 100.0 * above, below);
    };
    let gain: f64 = results.iter().map(|result| result.gain).sum();
    percent(&mut measured, "market_provider_gain_percent", gain, offered);
    percent(
        &mut measured,
        "market_customer_gain_percent",
        customers,
        offered,
    );
    let total = jobs.len() as f64;
    percent(
        &mut measured,
        "market_delegated_percent",
        delegated as f64,
        total,
    );
    let kept = (delegated - broken) as f64;
    percent(&mut measured, "market_kept_percent", kept, delegated as f64);
    let sum: f64 = results.iter().map(|result| result.revenue).sum();
    let squares: f64 = results
        .iter()
        .map(|result| result.revenue * result.revenue)
        .sum();
    let clusters = results.len() as f64;
    percent(
        &mut measured,
        "market_jain_percent",
        sum * sum,
        clusters * squares,
    );
    for (is_honest, names) in [(true, &HONEST), (false, &OPTIMISTIC)] {
        let of_kind: Vec<&ProviderResult> = results
            .iter()
            .filter(|result| (result.optimism == 1.0) == is_honest)
            .collect();
        let number = of_kind.len() as f64;
        let sum = |value: fn(&ProviderResult) -> f64| -> f64 {
            of_kind.iter().map(|result| value(result)).sum()
        };
        let jobs = sum(|result| result.jobs as f64);
        // An equal share of all fees is 100 %.
        percent(
            &mut measured,
            names[0],
            sum(|result| result.gain) * clusters,
            offered * number,
        );
        percent(
            &mut measured,
            names[1],
            jobs * clusters,
            delegated as f64 * number,
        );
        percent(&mut measured, names[2], sum(|result| result.promised), jobs);
        percent(
            &mut measured,
            names[3],
            sum(|result| result.broken as f64),
            jobs,
        );
        if settings.rule == DelegationRule::Reputation {
            let known: Vec<f64> = of_kind
                .iter()
                .filter_map(|result| result.known_after(KNOWN_WITHIN))
                .map(|jobs| jobs as f64)
                .collect();
            measured.add_ratio(names[4], known.iter().sum(), known.len() as f64);
            percent(&mut measured, names[5], known.len() as f64, number);
        }
    }
    MarketRun {
        metrics,
        providers: results,
        measured,
    }
}

/// Measures of honest providers, and of the others in the same order.
const HONEST: [&str; 6] = [
    "market_honest_gain_percent",
    "market_honest_share_percent",
    "market_honest_promised_percent",
    "market_honest_broken_percent",
    "market_honest_known_after_jobs",
    "market_honest_known_percent",
];
const OPTIMISTIC: [&str; 6] = [
    "market_optimistic_gain_percent",
    "market_optimistic_share_percent",
    "market_optimistic_promised_percent",
    "market_optimistic_broken_percent",
    "market_optimistic_known_after_jobs",
    "market_optimistic_known_percent",
];

#[cfg(test)]
mod tests;
