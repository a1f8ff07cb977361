//! Double auctions (Birkenheuer 2012, §2.1.2, §3.5): customers bid, providers ask, and all that
//! trade in one clearing do so at one price.
//!
//! # When
//!
//! The market clears at every multiple of a period, after the jobs that are submitted in this
//! instant. A job takes part with one bid until its latest start at full length, `d − x`, or until
//! it trades. If it has not traded by then, no cluster takes it.
//!
//! # Who trades
//!
//! Jobs are unlike goods, so bids and asks are coins for a node-hour of the job at full length, in
//! which the list price is 1. Bids come in falling order, equal ones in that of submission. For
//! each of them all clusters are asked with what they have sold in this clearing in their plans,
//! and the lowest ask is that of the job. It trades if its bid is not below its ask, nor below any
//! ask that traded before: what has traded keeps one price. A bid below the ask of its own job lets
//! the next ones pass; one below an ask that traded ends the clearing.
//!
//! # At what price
//!
//! The midpoint of the marginal pair: of the lowest bid and the highest ask that traded.

use bookahead_core::kernel::{Agenda, Decision, ServiceChannel};
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::Seconds;
use bookahead_core::workload::Job;

use super::{AuctionRule, Broker, BrokerQuestion, MarketCluster};

/// A job that waits for a clearing.
struct Waiting {
    job: Job,
    /// What its customer pays at most, in coins for a node-hour.
    bid: f64,
}

/// The jobs that wait, each at the next clearing in which it takes part.
#[derive(Default)]
pub(super) struct Book {
    waiting: Agenda<Waiting>,
    /// Jobs whose latest start came before any clearing.
    missed: u64,
}

impl Book {
    /// When the market is cleared next; `None` where no job waits.
    pub(super) fn next_clearing(&self) -> Option<Seconds> {
        self.waiting.next_time()
    }

    /// Whether no job waits.
    pub(super) fn is_empty(&self) -> bool {
        self.next_clearing().is_none()
    }

    /// Lets a job wait for this clearing, and says whether it could still start then.
    fn enter(&mut self, waiting: Waiting, clearing: Seconds) -> bool {
        let is_in_time = clearing <= waiting.job.deadline - waiting.job.estimate;
        if is_in_time {
            self.waiting.push(clearing, 0, waiting);
        }
        is_in_time
    }

    /// Takes the jobs that wait for the clearing of this instant, highest bids first.
    fn take(&mut self, now: Seconds) -> Vec<Waiting> {
        let mut bids = Vec::new();
        while let Some((_, waiting)) = self.waiting.pop_before(now + Seconds(1)) {
            bids.push(waiting);
        }
        bids.sort_by(|one, other| {
            (other.bid.total_cmp(&one.bid)).then(one.job.id.cmp(&other.job.id))
        });
        bids
    }
}

/// What trades in one clearing, bid by bid in falling order. Amounts are coins for a node-hour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clearing {
    /// The lowest bid and the highest ask that traded.
    marginal: Option<(f64, f64)>,
}

impl Clearing {
    /// Whether a customer who bids this can pay a price at which the others trade, too.
    pub(super) fn is_open_to(&self, bid: f64) -> bool {
        self.marginal.is_none_or(|(_, highest)| bid >= highest)
    }

    /// A bid, to which the clearing is open, trades with an ask that is not above it.
    pub(super) fn trade(&mut self, bid: f64, ask: f64) {
        let highest = self.marginal.map_or(ask, |(_, highest)| highest.max(ask));
        self.marginal = Some((bid, highest));
    }

    /// What all pay who traded; `None` where nobody did.
    pub(super) fn price(&self) -> Option<f64> {
        self.marginal.map(|(bid, ask)| (bid + ask) / 2.0)
    }
}

impl Broker {
    /// The period of clearings; `None` where jobs are offered as they come.
    pub(super) fn clearing_period(&self) -> Option<Seconds> {
        match self.settings.auction?.rule {
            AuctionRule::Double { every } => Some(every),
            AuctionRule::Tender | AuctionRule::ReverseFirst | AuctionRule::ReverseSecond => None,
        }
    }

    /// The customer of a job that was just submitted bids for it.
    pub(super) fn wait_for_clearing(&mut self, job: Job, every: Seconds) {
        self.note_submitted(&job);
        let auction = self.settings.auction;
        let Some(bid) = auction.and_then(|auction| auction.bid(&mut self.bids)) else {
            return;
        };
        let periods = (job.submit.0 + every.0 - 1).div_euclid(every.0);
        let is_in_time = (self.book).enter(Waiting { job, bid }, Seconds(periods * every.0));
        self.book.missed += u64::from(!is_in_time);
    }

    /// Clears the market whenever it is due before `until`.
    pub(super) async fn clear_before(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        until: Seconds,
    ) {
        let Some(every) = self.clearing_period() else {
            return;
        };
        while let Some(now) = self.book.next_clearing().filter(|&now| now < until) {
            self.settle(channel, now).await;
            self.clear(channel, now, every).await;
        }
    }

    /// One clearing.
    async fn clear(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        now: Seconds,
        every: Seconds,
    ) {
        let Some(auction) = self.settings.auction else {
            return;
        };
        let mut clearing = Clearing::default();
        let mut traded = Vec::new();
        for waiting in self.book.take(now) {
            let bid = waiting.bid;
            let mut best = None;
            if clearing.is_open_to(bid) {
                let stopwatch = self.stopwatch.clone();
                let begun = stopwatch.begin();
                let question = BrokerQuestion::Quote(waiting.job.clone());
                let answers = self.ask_all(channel, |_| true, &question).await;
                // Nothing is learned meanwhile: what was sold has no price before the end.
                let offers = self.offers(&waiting.job, Some(bid), &answers);
                best = auction.award(&offers, &mut self.ties);
                self.keep_quotes(&waiting.job, &offers, best);
                stopwatch.end(Decision::Request, begun);
            }
            let Some(best) = best else {
                self.book.enter(waiting, now + every);
                continue;
            };
            clearing.trade(bid, best.contract.price / best.contract.fee);
            traded.push((best.provider, self.providers[best.provider].contracts.len()));
            self.delegate(channel, best, waiting.job, None, now).await;
        }
        let Some(price) = clearing.price() else {
            return;
        };
        for (provider, number) in traded {
            let contract = &mut self.providers[provider].contracts[number];
            contract.price = price * contract.fee;
        }
    }

    /// What waiting for clearings did; nothing where jobs are offered as they come.
    pub(super) fn clearing_measures(&self) -> Measured {
        let mut measured = Measured::default();
        if self.clearing_period().is_some() {
            let missed = 100.0 * self.book.missed as f64;
            let submitted = self.submitted as f64;
            measured.add_ratio("market_missed_clearing_percent", missed, submitted);
        }
        measured
    }
}
