//! Interrupted jobs that go on at another cluster, with what they have saved.
//!
//! # When
//!
//! A job that is stopped at the end of its window, or loses a node, has its last checkpoint stored
//! outside of the nodes. Its provider plans the rest as it would without a market. Then, in the
//! same instant, it asks the broker once what the rest would cost at each other cluster. These
//! quote it as a job of which part is done and which cannot start before its checkpoint has
//! arrived:
//!
//! ```text
//! transfer = latency + n · size / bandwidth     (latency alone where nothing is saved)
//! ```
//!
//! # Who promises what to whom
//!
//! The customer keeps the promise that was given: the same deadline, price and penalty, owed by the
//! same provider. That provider buys the rest. With w as the share of the granted work that
//! remains, the other provider asks `w · fee · (1 − d · q)` and owes `r · w · fee` if it breaks the
//! promise. This is a promise of the other provider to the buyer. It may sell the rest of the rest
//! in the same way.
//!
//! # Which
//!
//! With P as the price that the provider gets for the whole job, and p as the believed PoF of a
//! quote, moving is worth
//!
//! ```text
//! (1 − p) · (P − price) + p · (r · w · fee − r · fee)
//! ```
//!
//! and staying is worth `(1 − p₀) · P − p₀ · r · fee`, where p₀ is the provider's own PoF of the
//! rest in the gap that it has planned, or 1 where there is none. The job moves to the best offer
//! if that is better than staying; among equal ones to the earliest planned end, then to the lowest
//! number.

use serde::{Deserialize, Serialize};

use bookahead_core::kernel::ServiceChannel;
use bookahead_core::scheduling::MovedJob;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::JobId;

use super::{Broker, BrokerQuestion, Contract, MarketCluster, ProviderResult};

/// How the rests of jobs move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MigrationSettings {
    /// Size of a checkpoint, in GiB a node of its job.
    pub gib_per_node: f64,
    /// What a transfer gets of the network, in GiB a second.
    pub bandwidth_gib_s: f64,
    /// What a move takes beside that.
    pub latency: Seconds,
    /// Where checkpoints are stored.
    #[serde(default, skip_serializing_if = "CheckpointStorage::is_remote")]
    pub storage: CheckpointStorage,
}

/// Where the checkpoints of a job are stored that may move (Birkenheuer 2012, §2.2.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointStorage {
    /// Outside of the cluster: a job can be moved while no node of its cluster is up.
    #[default]
    Remote,
    /// In the cluster: nothing can be read of them while no node of it is up, so no job moves then.
    Local,
}

impl CheckpointStorage {
    fn is_remote(&self) -> bool {
        *self == Self::Remote
    }
}

impl MigrationSettings {
    /// How long a job is on its way, rounded up to seconds.
    #[must_use]
    pub fn transfer(&self, nodes: Nodes, saved: Seconds) -> Seconds {
        if saved <= Seconds::ZERO {
            return self.latency;
        }
        let seconds = f64::from(nodes.0) * self.gib_per_node / self.bandwidth_gib_s;
        self.latency + Seconds(libm::ceil(seconds) as i64)
    }
}

/// A job that went on at another cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// When it was interrupted.
    pub time: Seconds,
    /// How long it was on its way.
    pub transfer: Seconds,
    /// The cluster that it left, and its number there.
    pub from: (usize, JobId),
    /// The cluster to which it went, and its number there.
    pub to: (usize, JobId),
    /// What it had saved.
    pub saved: Seconds,
    /// What the rest costs if the promise is kept, in node-seconds.
    pub price: f64,
}

/// What a cluster offers for a rest.
struct RestOffer {
    provider: usize,
    contract: Contract,
    worth: f64,
    end: Seconds,
    moved: Box<MovedJob>,
    transfer: Seconds,
}

impl Broker {
    /// Lets happen what happens before `until`, in the order in which it does, as interrupted jobs
    /// may go elsewhere in each instant. At a cluster without jobs there is nothing to be moved.
    pub(super) async fn migrate_before(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        until: Seconds,
    ) {
        loop {
            let mut first = None;
            let mut second = None;
            for (number, provider) in self.providers.iter().enumerate() {
                let Some(next) = provider.next_event.filter(|_| !provider.is_idle) else {
                    continue;
                };
                let next = Some((next, number));
                if first.is_none() || next < first {
                    (first, second) = (next, first);
                } else if second.is_none() || next < second {
                    second = next;
                }
            }
            let Some((now, number)) = first.filter(|&(now, _)| now < until) else {
                return;
            };
            // A cluster goes on alone until something happens at another one.
            let alone = second.map_or(until, |(time, other)| {
                let after = Seconds(i64::from(number < other));
                until.min(time + after)
            });
            let has_waiting = !self.providers[number].interrupted.is_empty();
            let before = if has_waiting { now + Seconds(1) } else { alone };
            let answer = self
                .ask(channel, number, BrokerQuestion::WorkOff(before))
                .await;
            if !self.providers[number].interrupted.is_empty() {
                self.move_interrupted(channel, number, answer.now).await;
            }
        }
    }

    pub(super) async fn settle(&mut self, channel: &ServiceChannel<MarketCluster>, now: Seconds) {
        self.ask_all(channel, |_| true, &BrokerQuestion::Settle(now))
            .await;
        self.learn();
    }

    /// Asks for offers for the jobs that a cluster has just interrupted, in the order in which it
    /// did.
    async fn move_interrupted(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        number: usize,
        now: Seconds,
    ) {
        let interrupted = std::mem::take(&mut self.providers[number].interrupted);
        self.settle(channel, now).await;
        for job in interrupted {
            if let Some(offer) = self.best_offer(channel, number, job, now).await {
                self.accept(channel, number, job, now, offer).await;
            }
        }
        // Other jobs that were interrupted meanwhile.
        for other in 0..self.providers.len() {
            if !self.providers[other].interrupted.is_empty() {
                Box::pin(self.move_interrupted(channel, other, now)).await;
            }
        }
    }

    /// The best offer for a rest, if it is better than what its provider has planned.
    async fn best_offer(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        seller: usize,
        job: JobId,
        now: Seconds,
    ) -> Option<RestOffer> {
        let migration = self.settings.migration?;
        let own = self.ask(channel, seller, BrokerQuestion::Rest(job)).await;
        let moved = own.rest?;
        let whole = self.providers[seller].contracts[job.0 as usize];
        let owed = self.settings.penalty * whole.fee;
        let own = own.quote.map_or(1.0, |quote| quote.pof);
        let staying = (1.0 - own) * whole.price - own * owed;
        let transfer = migration.transfer(moved.job().nodes, moved.saved());
        let moved = Box::new(moved.arriving(now + transfer));
        let fee = moved.job().fee().0 as f64 * moved.left();
        let mut best: Option<RestOffer> = None;
        let question = BrokerQuestion::QuoteRest(moved.clone());
        let is_other = |number| number != seller;
        for (number, answer) in self.ask_all(channel, is_other, &question).await {
            let Some(quote) = answer.quote else {
                continue;
            };
            let (other, settings) = (&self.providers[number], &self.settings);
            let contract = Contract {
                buyer: Some((seller, job.0 as usize)),
                ..other.contract(whole.job, moved.job().nodes, fee, &quote, settings)
            };
            let believed = other.believed(contract.promised, settings.rule);
            let worth = (1.0 - believed) * (whole.price - contract.price)
                + believed * (settings.penalty * fee - owed);
            let is_better = best.as_ref().map_or(worth > staying, |best| {
                worth > best.worth || (worth == best.worth && quote.end < best.end)
            });
            if is_better {
                best = Some(RestOffer {
                    provider: number,
                    contract,
                    worth,
                    end: quote.end,
                    moved: moved.clone(),
                    transfer,
                });
            }
        }
        best
    }

    async fn accept(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        seller: usize,
        job: JobId,
        now: Seconds,
        offer: RestOffer,
    ) {
        let id = self.providers[offer.provider].agree(offer.contract);
        self.moves.push(Move {
            time: now,
            transfer: offer.transfer,
            from: (seller, job),
            to: (offer.provider, id),
            saved: offer.moved.saved(),
            price: offer.contract.price,
        });
        // Both clusters plan anew before any other is asked.
        let receive = BrokerQuestion::Receive(offer.moved, now);
        self.ask(channel, offer.provider, receive).await;
        self.ask(channel, seller, BrokerQuestion::HandOver(job, now))
            .await;
        self.learn();
    }
}

/// What moves did.
pub(super) fn measures(moves: &[Move], providers: &[ProviderResult], offered: f64) -> Measured {
    let mut measured = Measured::default();
    let rests: u64 = providers.iter().map(|provider| provider.rests).sum();
    let broken: u64 = providers.iter().map(|provider| provider.broken_rests).sum();
    measured.add("market_moves", moves.len() as f64);
    let hours: f64 = moves.iter().map(|each| each.transfer.hours()).sum();
    measured.add_ratio("market_transfer_hours", hours, moves.len() as f64);
    let kept = 100.0 * (rests - broken) as f64;
    measured.add_ratio("market_moved_kept_percent", kept, rests as f64);
    let prices: f64 = moves.iter().map(|each| each.price).sum();
    measured.add_ratio("market_rest_prices_percent", 100.0 * prices, offered);
    measured
}
