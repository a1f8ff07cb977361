//! Nodes that clusters lend each other (Birkenheuer 2012, §1.2.2).
//!
//! A job that its home cannot place at full length stays at home where another cluster lends what
//! is missing: for the time of its estimate, from the first instant in which the plans of the home
//! and of one lender together leave enough nodes free until the job would have to end. What is left
//! over of that time when the job has ended early is the home's. Lenders plan around what they
//! lent, and nobody pays for it.

use std::collections::BTreeMap;

use bookahead_core::failures::{FailureTrace, NodeEvent};
use bookahead_core::kernel::ServiceChannel;
use bookahead_core::plan::NodeSet;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::Job;

use super::{Broker, BrokerQuestion, MarketCluster, Offer, Overflow, choose};

/// How many nodes a cluster has free throughout a job, by the start of it; each number holds until
/// the next instant.
pub(super) type Room = Vec<(Seconds, Nodes)>;

/// What the broker knows of loans.
#[derive(Default)]
pub(super) struct Loans {
    /// What happens to the nodes of each cluster, which happens to them wherever they are.
    failures: Vec<FailureTrace>,
    /// Jobs that stayed at home with nodes of another cluster.
    jobs: u64,
    kept: u64,
    /// The node-seconds that were lent.
    lent: f64,
}

/// Nodes that a cluster lends the home of a job.
struct Loan {
    lender: usize,
    nodes: Nodes,
    start: Seconds,
    end: Seconds,
}

impl Loans {
    pub(super) fn new(overflow: Option<Overflow>, failures: &[FailureTrace]) -> Self {
        let lends = matches!(overflow, Some(Overflow::Lend { .. }));
        Self {
            failures: failures.iter().filter(|_| lends).cloned().collect(),
            ..Self::default()
        }
    }

    /// What happens from now on to the nodes of a cluster until they are back, in their places at
    /// another one.
    fn in_places(
        &self,
        lender: usize,
        (nodes, places): (&NodeSet, &NodeSet),
        (now, end): (Seconds, Seconds),
    ) -> Vec<NodeEvent> {
        let place_of: BTreeMap<NodeIndex, NodeIndex> = nodes.iter().zip(places.iter()).collect();
        let mut down_now = BTreeMap::new();
        let mut later = Vec::new();
        let trace = self.failures.get(lender);
        let events = trace.into_iter().flat_map(|trace| &trace.events);
        for event in events.take_while(|event| event.time < end) {
            let Some(&node) = place_of.get(&event.node) else {
                continue;
            };
            let event = NodeEvent { node, ..*event };
            if event.time > now {
                later.push(event);
            } else if event.up {
                down_now.remove(&node);
            } else {
                down_now.insert(node, NodeEvent { time: now, ..event });
            }
        }
        down_now.into_values().chain(later).collect()
    }

    /// A promise was kept that rested on a loan.
    pub(super) fn note_kept(&mut self) {
        self.kept += 1;
    }
}

impl Broker {
    /// The offer of full length that its home makes for a job with nodes of another cluster, which
    /// lends them if the job takes it. What the home offered without them is replaced then.
    pub(super) async fn offer_with_lent_nodes(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        job: &Job,
        home: usize,
        offers: &mut Vec<Offer>,
    ) -> Option<Offer> {
        let loan = self.find_loan(channel, job, home).await?;
        let &Loan {
            lender,
            nodes,
            start,
            end,
        } = &loan;
        let lend = BrokerQuestion::Lend { nodes, start, end };
        let lent = self.ask(channel, lender, lend).await.nodes?;
        let borrow = BrokerQuestion::Borrow { nodes, start, end };
        let places = self.ask(channel, home, borrow).await.nodes?;
        let events = (self.loans).in_places(lender, (&lent, &places), (job.submit, end));
        let happens = BrokerQuestion::Happens(events);
        self.ask(channel, home, happens).await;
        let with_loan = self.quotes(channel, job, |number| number == home).await;
        let full: Vec<Offer> = (with_loan.iter())
            .filter(|offer| !offer.overbooked)
            .copied()
            .collect();
        let Some(mut offer) = choose(&full, self.settings.rule, &mut self.ties) else {
            for (cluster, nodes) in [(lender, lent), (home, places)] {
                let revoke = BrokerQuestion::Revoke { nodes, start };
                self.ask(channel, cluster, revoke).await;
            }
            return None;
        };
        self.loans.jobs += 1;
        self.loans.lent += nodes.for_span(end - start).0 as f64;
        offer.contract.on_loan = true;
        *offers = with_loan;
        Some(offer)
    }

    /// Who could lend the home of a job what is missing, and when first. Of several lenders the one
    /// with most nodes to spare then, of equal ones the first.
    async fn find_loan(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        job: &Job,
        home: usize,
    ) -> Option<Loan> {
        let room = |of_home| BrokerQuestion::Room {
            now: job.submit,
            length: job.estimate,
            until: job.deadline - job.estimate,
            of_home,
        };
        let own = self.ask(channel, home, room(true)).await;
        let lenders = self.ask_all(channel, |it| it != home, &room(false)).await;
        let all = lenders.iter().flat_map(|(_, answer)| &answer.room);
        let from = job.submit.max(job.release);
        let mut starts: Vec<Seconds> = (own.room.iter().chain(all))
            .map(|&(start, _)| start.max(from))
            .collect();
        starts.sort_unstable();
        starts.dedup();
        for start in starts {
            let missing = job.nodes.0.saturating_sub(room_at(&own.room, start).0);
            if missing == 0 || missing > own.empty_places.0 {
                continue;
            }
            let spare = |(number, answer): &(usize, super::MarketAnswer)| {
                (room_at(&answer.room, start).0, std::cmp::Reverse(*number))
            };
            let most = lenders.iter().map(spare).max()?;
            if most.0 >= missing {
                return Some(Loan {
                    lender: most.1.0,
                    nodes: Nodes(missing),
                    start,
                    end: start + job.estimate,
                });
            }
        }
        None
    }

    /// What was lent, and what became of the jobs that needed it; nothing where nobody lends.
    pub(super) fn loan_measures(&self) -> Measured {
        let mut measured = Measured::default();
        let overflow = self.settings.home.map(|home| home.overflow);
        if !matches!(overflow, Some(Overflow::Lend { .. })) {
            return measured;
        }
        let Loans {
            jobs, kept, lent, ..
        } = self.loans;
        let percent = [
            (
                "market_borrowing_percent",
                jobs as f64,
                self.submitted as f64,
            ),
            ("market_borrowing_kept_percent", kept as f64, jobs as f64),
            ("market_lent_percent", lent, self.offered),
        ];
        for (name, above, below) in percent {
            measured.add_ratio(name, 100.0 * above, below);
        }
        measured
    }
}

/// How many nodes are free for a job that starts then.
fn room_at(room: &Room, start: Seconds) -> Nodes {
    let later = room.partition_point(|&(time, _)| time <= start);
    later.checked_sub(1).map_or(Nodes(0), |place| room[place].1)
}
