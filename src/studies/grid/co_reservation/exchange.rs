//! The order of events of several clusters and a broker: the next step, its cluster and its instant
//! (Q49).
//!
//! An [`Exchange`] holds the broker, the network, timers and pending input. It gives out one
//! [`Task`] after another, or several of one instant that do not depend on each other. The machine
//! around it ([`CoReservations`](super::CoReservations)) has the clusters carry them out and hands
//! the reports back.

use std::collections::BTreeMap;

use bookahead_core::kernel::{Agenda, Stopwatch};
use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::CoRequest;

use super::broker::{Broker, Effect, Timer};
use super::messages::{Answer, Command, Envelope, Instruction, Report};
use super::{CoOutcome, CoReservationSettings, Network};
use crate::co_reservation::local::{ClusterId, OutageEvent};

/// A command for one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The instant.
    pub at: Seconds,
    /// The cluster.
    pub cluster: ClusterId,
    /// The command.
    pub command: Command,
}

/// Events, in the order of [`Event::class`] within one instant.
#[derive(Debug)]
enum Event {
    /// A cluster or nodes of it fail or come back.
    Outage(ClusterId, OutageEvent),
    /// A granted part starts; if it cannot, its loss is noticed.
    Start(ClusterId),
    /// A queued part may begin; if it does, that is noticed.
    Look(ClusterId),
    /// An envelope arrives.
    Arrival(Envelope),
    /// A timer expires.
    Timer(Timer),
    /// The agent polls, and does so again after this time.
    Watch(Seconds),
    /// A cluster is polled.
    Poll(ClusterId),
    /// A cluster publishes its state.
    Publication(ClusterId),
    /// A request is submitted.
    Submission(CoRequest),
}

impl Event {
    /// Ends and starts at clusters come before any command. Jobs of the instant come after all
    /// commands, because clusters are settled without them. With a latency of 0 all envelopes of
    /// one request arrive before the next request is taken. An answer that arrives in the instant
    /// in which its timer expires is in time.
    fn class(&self) -> u8 {
        match self {
            Self::Outage(..) => 0,
            Self::Start(_) | Self::Look(_) => 1,
            Self::Arrival(_) => 2,
            Self::Timer(_) => 3,
            Self::Watch(_) | Self::Poll(_) => 4,
            Self::Publication(_) => 5,
            Self::Submission(_) => 6,
        }
    }
}

/// Broker, network and calendar of a simulation.
#[derive(Debug)]
pub struct Exchange {
    broker: Broker,
    network: Network,
    events: Agenda<Event>,
    /// The number of starts, envelopes and submissions among the events.
    under_way: usize,
    /// The start of the part that the current task asks for.
    asked: Option<Seconds>,
    /// Whether a cluster may lose parts that it has promised, so that their starts are watched.
    loses_parts: bool,
    /// When the clusters at which parts wait are looked at next.
    looks: BTreeMap<ClusterId, Seconds>,
    /// How often clusters publish their state; 0 for whenever a request is submitted.
    period: Seconds,
}

impl Exchange {
    /// An exchange without requests, among clusters of these sizes.
    #[must_use]
    pub fn new(sizes: Vec<Nodes>, settings: &CoReservationSettings, seed: &StreamSeed) -> Self {
        let network = Network::new(&settings.messages, seed.stream("messages"));
        let mut exchange = Self {
            broker: Broker::new(sizes, settings, seed.clone()),
            network,
            events: Agenda::default(),
            under_way: 0,
            asked: None,
            loses_parts: settings.risk.is_some(),
            looks: BTreeMap::new(),
            period: settings.information.period,
        };
        if let Some(watch) = settings.watch {
            exchange.push(watch.every, Event::Watch(watch.every));
        }
        if exchange.period > Seconds::ZERO {
            exchange.publish_at(Seconds::ZERO);
        }
        exchange
    }

    /// All clusters whose state is read publish it then.
    fn publish_at(&mut self, at: Seconds) {
        for cluster in self.broker.publishers() {
            self.push(at, Event::Publication(cluster));
        }
    }

    /// From now on measures with this stopwatch how long the broker computes for each request.
    pub(super) fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.broker.time_decisions(stopwatch);
    }

    /// Prepares for outages: a cluster may lose parts that it has promised.
    pub(super) fn expect_outages(&mut self) {
        self.loses_parts = true;
    }

    /// The same exchange over a network that delays each message by a drawn time of up to `jitter`
    /// ([`Network::with_jitter`]).
    #[must_use]
    pub fn with_jitter(mut self, jitter: Seconds) -> Self {
        self.network = self.network.with_jitter(jitter);
        self
    }

    /// Takes requests in order of submission, none of them in the past.
    pub fn submit(&mut self, requests: impl IntoIterator<Item = CoRequest>) {
        for request in requests {
            if self.period == Seconds::ZERO {
                self.publish_at(request.submit);
            }
            self.push(request.submit, Event::Submission(request));
        }
    }

    /// Takes outages, in order.
    pub fn apply_outage(
        &mut self,
        outages: impl IntoIterator<Item = (Seconds, ClusterId, OutageEvent)>,
    ) {
        for (at, cluster, outage) in outages {
            self.push(at, Event::Outage(cluster, outage));
        }
    }

    /// The time of the next event.
    #[must_use]
    pub fn next_event(&self) -> Option<Seconds> {
        self.events.next_time()
    }

    /// Whether every request has its verdict, no message is under way and every granted part has
    /// started. Outages never end.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.under_way == 0 && self.broker.is_idle()
    }

    /// The next tasks before `until`: one task, or several of one instant at different clusters
    /// that do not depend on each other's reports. Their reports are due ([`Exchange::report`]), in
    /// the order of the tasks, before the next call.
    pub fn next_tasks(&mut self, until: Seconds) -> Vec<Task> {
        let mut tasks = Vec::from_iter(self.next_task(until));
        while self.goes_with(&tasks) {
            tasks.extend(self.next_task(until));
        }
        tasks
    }

    /// Whether the next event is a task that does not depend on these.
    fn goes_with(&self, tasks: &[Task]) -> bool {
        let Some(last) = tasks.last() else {
            return false;
        };
        let stands_alone = match &last.command {
            Command::Settle | Command::Publish => false,
            Command::Poll => true,
            Command::Deliver(instruction) => may_start(instruction),
            Command::Outage(_) => true,
        };
        if stands_alone || self.events.next_time() != Some(last.at) {
            return false;
        }
        let next = match self.events.next() {
            Some(Event::Start(cluster)) if self.loses_parts => cluster,
            Some(Event::Publication(cluster)) => cluster,
            Some(Event::Arrival(Envelope::ToCluster(cluster, instruction)))
                if !may_start(instruction) =>
            {
                cluster
            }
            _ => return false,
        };
        tasks.iter().all(|task| task.cluster != *next)
    }

    fn next_task(&mut self, until: Seconds) -> Option<Task> {
        while let Some((at, event)) = self.events.pop_before(until) {
            let task = |cluster, command| Task {
                at,
                cluster,
                command,
            };
            match event {
                Event::Outage(cluster, outage) => {
                    return Some(task(cluster, Command::Outage(outage)));
                }
                Event::Start(cluster) => {
                    self.under_way -= 1;
                    // The cluster is settled once for all of its parts that start now.
                    if self.loses_parts && !self.starts_next(at, cluster) {
                        return Some(task(cluster, Command::Settle));
                    }
                }
                Event::Look(cluster) => {
                    if self.looks.get(&cluster) == Some(&at) {
                        self.looks.remove(&cluster);
                        return Some(task(cluster, Command::Settle));
                    }
                }
                Event::Arrival(Envelope::ToCluster(cluster, instruction)) => {
                    self.under_way -= 1;
                    self.asked = match &instruction {
                        Instruction::Reserve(part) => Some(part.start),
                        _ => None,
                    };
                    return Some(task(cluster, Command::Deliver(instruction)));
                }
                Event::Arrival(Envelope::ToBroker(from, answer)) => {
                    self.under_way -= 1;
                    self.broker.receive(at, from, answer);
                }
                Event::Timer(timer) => self.broker.expire(at, timer),
                Event::Watch(every) => {
                    self.push(at + every, Event::Watch(every));
                    for cluster in self.broker.watched(at) {
                        self.push(at, Event::Poll(cluster));
                    }
                }
                Event::Poll(cluster) => return Some(task(cluster, Command::Poll)),
                Event::Publication(cluster) => {
                    if self.period > Seconds::ZERO {
                        self.push(at + self.period, Event::Publication(cluster));
                    }
                    return Some(task(cluster, Command::Publish));
                }
                Event::Submission(request) => {
                    self.under_way -= 1;
                    self.broker.submit(at, request);
                }
            }
            self.carry_out_effects(at);
        }
        None
    }

    /// Takes the report of the task at this instant and cluster.
    pub fn report(&mut self, at: Seconds, cluster: ClusterId, report: Report) {
        debug_assert!(self.loses_parts || report.lost.is_empty());
        for part in report.lost {
            let arrival = self.network.send_until_received(at);
            let envelope = Envelope::ToBroker(cluster, Answer::Lost(part));
            self.push(arrival, Event::Arrival(envelope));
        }
        for part in report.begun {
            let arrival = self.network.send_until_received(at);
            let envelope = Envelope::ToBroker(cluster, Answer::Begun(part));
            self.push(arrival, Event::Arrival(envelope));
        }
        self.look(cluster, report.next_look);
        if let Some(answers) = report.answered_poll {
            self.broker.polled(at, cluster, answers);
            self.carry_out_effects(at);
        }
        if let Some(free) = report.published {
            self.broker.publish(cluster, free);
        }
        let Some(answer) = report.answer else {
            return;
        };
        let is_granted = matches!(
            &answer,
            Answer::Reserved {
                verdict: Ok(()),
                ..
            }
        );
        if is_granted && let Some(start) = self.asked.take() {
            self.push(start.max(at), Event::Start(cluster));
        }
        self.send(at, Envelope::ToBroker(cluster, answer));
    }

    /// A cluster at which parts wait is looked at then; `None` where none waits.
    fn look(&mut self, cluster: ClusterId, at: Option<Seconds>) {
        let Some(at) = at else {
            self.looks.remove(&cluster);
            return;
        };
        if self.looks.insert(cluster, at) != Some(at) {
            self.push(at, Event::Look(cluster));
        }
    }

    /// A window begins, for which clusters get their jobs with the first question: those at which
    /// parts wait are asked at once, as they did not know of these jobs when they said when to look
    /// again.
    pub(super) fn begin_window(&mut self, at: Seconds) {
        for cluster in self.looks.keys().copied().collect::<Vec<_>>() {
            self.look(cluster, Some(at));
        }
    }

    /// The outcomes of the requests, in order.
    #[must_use]
    pub fn finish(self) -> Vec<CoOutcome> {
        self.broker.into_outcomes()
    }

    fn carry_out_effects(&mut self, now: Seconds) {
        for effect in self.broker.take_effects() {
            match effect {
                Effect::Send(cluster, instruction) => {
                    self.send(now, Envelope::ToCluster(cluster, instruction));
                }
                Effect::Wake(at, timer) => self.push(at, Event::Timer(timer)),
            }
        }
    }

    fn send(&mut self, now: Seconds, envelope: Envelope) {
        if let Some(arrival) = self.network.send(now) {
            self.push(arrival, Event::Arrival(envelope));
        }
    }

    fn push(&mut self, at: Seconds, event: Event) {
        let class = event.class();
        match &event {
            Event::Outage(..)
            | Event::Timer(_)
            | Event::Look(_)
            | Event::Watch(_)
            | Event::Poll(_)
            | Event::Publication(_) => {}
            Event::Start(_) | Event::Arrival(_) | Event::Submission(_) => self.under_way += 1,
        }
        match event {
            // Clusters start their parts in the order of their numbers.
            Event::Start(cluster) | Event::Look(cluster) => {
                self.events
                    .push_ranked(at, class, u64::from(cluster.0), event);
            }
            _ => self.events.push(at, class, event),
        }
    }

    /// Whether the next event is another start at this cluster in the same instant.
    fn starts_next(&self, at: Seconds, cluster: ClusterId) -> bool {
        self.events.next_time() == Some(at)
            && matches!(self.events.next(), Some(Event::Start(other)) if *other == cluster)
    }
}

/// Whether a part may start because of this instruction, in the same instant and before anything
/// else.
fn may_start(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Reserve(_))
}
