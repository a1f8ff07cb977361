//! The order of events of several clusters and a broker: what is done next, at which cluster, at which instant (Q49).
//!
//! An [`Exchange`] holds the broker, the network, timers and what is still to come, and gives out one [`Task`] after another. The
//! machine around it ([`CoReservations`](super::Grid)) has a cluster carry the task out and hands the report back.

use std::collections::{BTreeSet, VecDeque};

use super::broker::{Broker, Effect, Timer};
use super::messages::{Answer, Command, Envelope, Instruction, Report};
use super::{CoOutcome, CoReservationSettings, Network};
use crate::brokering::co_reservation::local::{ClusterId, OutageEvent};
use crate::kernel::Agenda;
use crate::random::StreamSeed;
use crate::units::{Nodes, Seconds};
use crate::workload::CoRequest;

/// Something to be done at one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// When.
    pub at: Seconds,
    /// Where.
    pub cluster: ClusterId,
    /// What.
    pub command: Command,
}

/// What happens at one instant, in this order. Ends and starts at clusters come before anything that is done to them; jobs of the
/// instant come after all of it, for clusters are settled without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// A cluster or nodes of it fail or come back.
    OutageEvent,
    /// A granted part starts: if it cannot, that is noticed.
    Start,
    /// An envelope arrives. With a latency of 0 these are all the envelopes of one request before the next is taken.
    Arrival,
    /// A time has run out, although an answer that comes in the same instant comes in time.
    Timer,
    /// A request is submitted.
    Submission,
}

/// Broker, network and calendar of a simulation.
#[derive(Debug)]
pub struct Exchange {
    broker: Broker,
    network: Network,
    timers: Agenda<Timer>,
    starts: BTreeSet<(Seconds, ClusterId)>,
    outages: VecDeque<(Seconds, ClusterId, OutageEvent)>,
    requests: VecDeque<CoRequest>,
    /// The start of the part that the task under way asks for.
    asked: Option<Seconds>,
}

impl Exchange {
    /// Nothing is under way yet, among clusters of these sizes.
    #[must_use]
    pub fn new(sizes: Vec<Nodes>, settings: &CoReservationSettings, seed: &StreamSeed) -> Self {
        let network = Network::new(&settings.messages, seed.stream("messages"));
        Self {
            broker: Broker::new(sizes, settings, seed.clone()),
            network,
            timers: Agenda::default(),
            starts: BTreeSet::new(),
            outages: VecDeque::new(),
            requests: VecDeque::new(),
            asked: None,
        }
    }

    /// The same exchange over a network whose messages are late by up to `jitter`, each by its own draw
    /// ([`Network::with_jitter`]).
    #[must_use]
    pub fn with_jitter(mut self, jitter: Seconds) -> Self {
        self.network = self.network.with_jitter(jitter);
        self
    }

    /// Takes requests, in order of submission, none before what has been worked off.
    pub fn submit(&mut self, requests: impl IntoIterator<Item = CoRequest>) {
        self.requests.extend(requests);
    }

    /// Takes outages, in order.
    pub fn apply_outage(
        &mut self,
        outages: impl IntoIterator<Item = (Seconds, ClusterId, OutageEvent)>,
    ) {
        self.outages.extend(outages);
    }

    /// When something is to be done next.
    #[must_use]
    pub fn next_event(&self) -> Option<Seconds> {
        self.next().map(|(at, _)| at)
    }

    /// Whether every request has its verdict, nothing is under way and every granted part has started. OutageEvents go on for
    /// ever.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty()
            && self.starts.is_empty()
            && self.network.next_arrival().is_none()
            && self.broker.is_idle()
    }

    /// The next thing to do at a cluster before `until`; its report is due ([`Exchange::report`]) before the next call.
    pub fn next_task(&mut self, until: Seconds) -> Option<Task> {
        loop {
            let (at, class) = self.next().filter(|&(at, _)| at < until)?;
            match class {
                Class::OutageEvent => {
                    let (_, cluster, outage) = self.outages.pop_front()?;
                    return Some(Task {
                        at,
                        cluster,
                        command: Command::Outage(outage),
                    });
                }
                Class::Start => {
                    let (_, cluster) = self.starts.pop_first()?;
                    return Some(Task {
                        at,
                        cluster,
                        command: Command::Settle,
                    });
                }
                Class::Arrival => match self.network.deliver()? {
                    Envelope::ToCluster(cluster, instruction) => {
                        self.asked = match &instruction {
                            Instruction::Reserve(part) => Some(part.start),
                            Instruction::Probe { .. } | Instruction::Cancel { .. } => None,
                        };
                        return Some(Task {
                            at,
                            cluster,
                            command: Command::Deliver(instruction),
                        });
                    }
                    Envelope::ToBroker(from, answer) => self.broker.receive(at, from, answer),
                },
                Class::Timer => {
                    let (_, timer) = self.timers.pop()?;
                    self.broker.expire(at, timer);
                }
                Class::Submission => {
                    let request = self.requests.pop_front()?;
                    self.broker.submit(at, request);
                }
            }
            self.carry_out_effects(at);
        }
    }

    /// What came of the task at this instant and cluster.
    pub fn report(&mut self, at: Seconds, cluster: ClusterId, report: Report) {
        for part in report.lost {
            let envelope = Envelope::ToBroker(cluster, Answer::Lost(part));
            self.network.send_until_received(at, envelope);
        }
        let Some(answer) = report.answer else {
            return;
        };
        if let Answer::Reserved {
            verdict: Ok(()), ..
        } = &answer
        {
            self.starts
                .extend(self.asked.take().map(|start| (start.max(at), cluster)));
        }
        self.network.send(at, Envelope::ToBroker(cluster, answer));
    }

    /// What became of the requests, in order.
    #[must_use]
    pub fn finish(self) -> Vec<CoOutcome> {
        self.broker.into_outcomes()
    }

    /// What comes first; of what comes at one instant, the first in the order of classes.
    fn next(&self) -> Option<(Seconds, Class)> {
        [
            (
                self.outages.front().map(|outage| outage.0),
                Class::OutageEvent,
            ),
            (self.starts.first().map(|start| start.0), Class::Start),
            (self.network.next_arrival(), Class::Arrival),
            (self.timers.next_time(), Class::Timer),
            (
                self.requests.front().map(|request| request.submit),
                Class::Submission,
            ),
        ]
        .into_iter()
        .filter_map(|(at, class)| at.map(|at| (at, class)))
        .min()
    }

    fn carry_out_effects(&mut self, now: Seconds) {
        for effect in self.broker.take_effects() {
            match effect {
                Effect::Send(cluster, instruction) => {
                    self.network
                        .send(now, Envelope::ToCluster(cluster, instruction));
                }
                Effect::Wake(at, timer) => self.timers.push(at, 0, timer),
            }
        }
    }
}
