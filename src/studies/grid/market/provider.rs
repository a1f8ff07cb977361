//! What the broker knows of a cluster: what it offers, what was agreed with it, and what became of
//! that.

use super::load_price::Sold;
use super::{DelegationRule, MarketAnswer, MarketSettings, ProviderResult, Reputation};
use bookahead_core::scheduling::{JobOutcome, JobQuote};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

/// A cluster as the broker knows it.
pub(super) struct Provider {
    pub(super) nodes: Nodes,
    /// What it last said of itself: when something happens there next, whether it has no jobs, and
    /// what is booked of its next hours.
    pub(super) next_event: Option<Seconds>,
    pub(super) is_idle: bool,
    pub(super) booked: Option<NodeSeconds>,
    /// Outcomes that the broker has not learned from.
    pub(super) decided: Vec<JobOutcome>,
    /// Jobs that were interrupted and not yet offered to others.
    pub(super) interrupted: Vec<JobId>,
    /// The job that went to it since it was last asked something: the next question hands it over.
    pub(super) taken: Option<Job>,
    pub(super) optimism: f64,
    pub(super) speed: f64,
    /// What it asks for a list fee of one coin, before discount and load.
    pub(super) price_for_speed: f64,
    pub(super) reputation: Reputation,
    pub(super) sold: Sold,
    /// What was agreed of each of its jobs, in order of their ids there.
    pub(super) contracts: Vec<Contract>,
    pub(super) result: ProviderResult,
}

/// A delegated job.
#[derive(Clone, Copy)]
pub(super) struct Contract {
    /// The customer's job.
    pub(super) job: JobId,
    /// The home of the job, where jobs have one.
    pub(super) home: Option<usize>,
    /// Whether its home has nodes of another cluster for it.
    pub(super) on_loan: bool,
    /// The customer in the log, where known.
    pub(super) user: Option<i64>,
    /// Nodes times estimate of the job as it was submitted.
    pub(super) fee: f64,
    pub(super) price: f64,
    /// By what the load of the provider raised that price.
    pub(super) load_factor: f64,
    /// The node-seconds of the slot that was planned for it, as at a cluster of speed 1.
    pub(super) planned: f64,
    pub(super) promised: f64,
    /// The provider that bought it as the rest of its contract with this number; `None` where a
    /// customer did.
    pub(super) buyer: Option<(usize, usize)>,
}

/// A quote as the broker weighs it.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    pub(super) provider: usize,
    pub(super) contract: Contract,
    pub(super) score: f64,
    /// The price of the provider for its speed.
    pub(super) price_for_speed: f64,
    /// The PoF that the broker believes.
    pub(super) believed: f64,
    pub(super) start: Seconds,
    pub(super) end: Seconds,
    /// Whether the slot is shorter than the estimate.
    pub(super) overbooked: bool,
}

impl Provider {
    pub(super) fn new(settings: &MarketSettings, nodes: Nodes, number: u32) -> Self {
        let optimism = settings.optimism_of(number);
        Self {
            nodes,
            next_event: None,
            is_idle: true,
            booked: None,
            decided: Vec::new(),
            interrupted: Vec::new(),
            taken: None,
            optimism,
            speed: settings.speed_of(number),
            price_for_speed: settings.price_for_speed_of(number),
            reputation: Reputation::new(settings.prior_failures, settings.half_life_jobs),
            sold: Sold::default(),
            contracts: Vec::new(),
            result: ProviderResult {
                optimism,
                jobs: 0,
                rests: 0,
                broken: 0,
                broken_rests: 0,
                promised: 0.0,
                revenue: 0.0,
                gain: 0.0,
                believed: Vec::new(),
                outcomes: Vec::new(),
            },
        }
    }

    pub(super) fn note(&mut self, answer: &mut MarketAnswer) {
        self.decided.append(&mut answer.outcomes);
        self.interrupted.append(&mut answer.interrupted);
        (self.next_event, self.is_idle) = (answer.next_event, answer.is_idle);
        self.booked = answer.booked;
    }

    /// What it offers, where it does; a customer of a tender bids a share of the list price.
    pub(super) fn offer(
        &self,
        provider: usize,
        job: &Job,
        quote: &JobQuote,
        (settings, bid): (&MarketSettings, Option<f64>),
    ) -> Option<Offer> {
        let mut contract = self.contract(job.id, job.nodes, job.fee().0 as f64, quote, settings);
        if let Some(auction) = &settings.auction {
            // Who understates its risk to others knows it when it asks.
            contract.price = auction.price(quote.pof, contract.fee, settings.penalty, bid)?;
        }
        let Contract { fee, price, .. } = contract;
        let believed = self.believed(contract.promised, settings.rule);
        let kept = settings.value * fee - price;
        let broken = (settings.penalty - settings.damage) * fee;
        Some(Offer {
            provider,
            contract,
            score: (1.0 - believed) * kept + believed * broken,
            price_for_speed: self.price_for_speed,
            believed,
            start: quote.start,
            end: quote.end,
            overbooked: quote.overbooked,
        })
    }

    /// It takes on a job under this contract; the id of the job there.
    pub(super) fn agree(&mut self, contract: Contract) -> JobId {
        let number = u32::try_from(self.contracts.len()).unwrap_or(u32::MAX);
        self.contracts.push(contract);
        self.sold.granted += contract.fee;
        self.sold.planned += contract.planned;
        JobId(number)
    }

    /// What it asks for work with this fee on so many nodes.
    pub(super) fn contract(
        &self,
        job: JobId,
        nodes: Nodes,
        fee: f64,
        quote: &JobQuote,
        settings: &MarketSettings,
    ) -> Contract {
        let promised = (quote.pof * self.optimism).clamp(0.0, 1.0);
        let load_factor = self.load_factor(settings);
        Contract {
            job,
            home: None,
            on_loan: false,
            user: None,
            fee,
            price: fee * (1.0 - settings.discount * promised) * load_factor * self.price_for_speed,
            load_factor,
            planned: nodes.for_span(quote.end - quote.start).0 as f64 * self.speed,
            promised,
            buyer: None,
        }
    }

    /// By what its load raises its prices now; 1 where they do not follow it.
    pub(super) fn load_factor(&self, settings: &MarketSettings) -> f64 {
        let (pricing, booked) = (settings.load_pricing, self.booked);
        let factor = pricing
            .zip(booked)
            .map(|(it, booked)| it.of(self.nodes, booked, &self.sold));
        factor.unwrap_or(1.0)
    }

    /// What the broker believes where it says this.
    pub(super) fn believed(&self, promised: f64, rule: DelegationRule) -> f64 {
        if rule.learns() {
            self.reputation.believed(promised)
        } else {
            promised
        }
    }

    /// Counts one of its promises.
    pub(super) fn decided(
        &mut self,
        number: usize,
        is_broken: bool,
        settings: &MarketSettings,
    ) -> Contract {
        let contract = self.contracts[number];
        self.reputation.decided(contract.promised, is_broken);
        let is_rest = contract.buyer.is_some();
        let result = &mut self.result;
        result.jobs += 1;
        result.rests += u64::from(is_rest);
        result.promised += contract.promised;
        result.believed.push(self.reputation.failure_rate());
        if is_broken {
            result.broken += 1;
            result.broken_rests += u64::from(is_rest);
            result.gain -= settings.penalty * contract.fee;
        } else {
            result.revenue += contract.price;
            result.gain += contract.price;
        }
        contract
    }
}
