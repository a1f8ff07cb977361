//! The broker: it turns requests for parts at several clusters into reservations, or refuses them
//! (Meltzer 2005, §4.1).
//!
//! A pure state machine. Its input is submissions, answers and expired timers; its output is
//! instructions to clusters and the times at which it wants to be woken. Any number of requests may
//! be under way at once. Each is a process of its own that asks one question after another, and
//! they share nothing but the clusters.

mod process;
mod watch;
mod workflows;

use std::collections::BTreeMap;

use rand::RngExt;

use bookahead_core::kernel::{Begun, Decision, Stopwatch};
use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CoRequest, CoRequestId, FurtherCounts};

use self::process::Process;
use self::workflows::Workflows;
use super::information::Information;
use super::messages::{Answer, Instruction};
use super::{
    CoOutcome, CoReservationSettings, RequestClass, RiskSettings, SearchSettings, SecondThoughts,
};
use crate::co_reservation::local::ClusterId;

/// What the broker wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// An instruction is to be sent.
    Send(ClusterId, Instruction),
    /// [`Broker::expire`] is to be called with this timer then.
    Wake(Seconds, Timer),
}

/// A time that runs out unless an answer comes. Timers are never taken back: one whose answer came
/// is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The request.
    pub request: CoRequestId,
    /// What is waited for.
    pub wait: Wait,
}

/// What an answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The probes of this round.
    Probes(u32),
    /// This order to reserve.
    Order(u32),
    /// The cancellation of this order.
    Cancel(u32),
    /// Nothing: parts are queued from now on.
    Queueing,
    /// The start of all queued parts of this round.
    Barrier(u32),
    /// Nothing: a renegotiable request is issued anew.
    Renegotiation,
}

/// What every process goes by.
#[derive(Debug)]
struct Rules {
    /// Sizes of the clusters, which the information service tells (steps 2 and 3 of Meltzer 2005,
    /// Figure 5).
    sizes: Vec<Nodes>,
    /// What each of them has beside CPUs.
    further: FurtherCounts,
    search: SearchSettings,
    latency: Seconds,
    timeout: Seconds,
    renegotiate: bool,
    /// After how many missed polls in a row a cluster is given up; `None` without an agent.
    misses: Option<u32>,
    second_thoughts: Option<SecondThoughts>,
    risk: Option<RiskSettings>,
    information: Information,
    seed: StreamSeed,
}

impl Rules {
    /// The clusters that the broker knows of, with their sizes.
    fn known(&self) -> impl Iterator<Item = (ClusterId, Nodes)> {
        let clusters = (0..).map(ClusterId).zip(self.sizes.iter().copied());
        clusters.filter(|(cluster, _)| self.information.covers(*cluster))
    }

    /// The class of a request, drawn from streams of its own, so that a larger share contains the
    /// smaller one. Tasks of workflows are placed by each other and stay.
    fn class(&self, request: &CoRequest) -> RequestClass {
        let Some(settings) = &self.second_thoughts else {
            return RequestClass::Fixed;
        };
        if request.task.is_some() {
            return RequestClass::Fixed;
        }
        let is_below = |percent: f64, name: &str| {
            let name = format!("co-request {} {name}", request.id.0);
            let drawn: f64 = self.seed.stream(&name).random_range(0.0..100.0);
            drawn < percent
        };
        if settings.priority_percent > 0.0 && is_below(settings.priority_percent, "priority") {
            RequestClass::Priority
        } else if is_below(settings.share_percent, "class") {
            RequestClass::Renegotiable
        } else {
            RequestClass::Fixed
        }
    }
}

/// The reservation broker (GRS).
#[derive(Debug)]
pub struct Broker {
    rules: Rules,
    processes: BTreeMap<CoRequestId, Process>,
    workflows: Workflows,
    /// Polls in a row that a reserved cluster did not answer.
    missed: BTreeMap<ClusterId, u32>,
    effects: Vec<Effect>,
    stopwatch: Stopwatch,
    /// What was spent on each request, where that is measured.
    spent: BTreeMap<CoRequestId, Spent>,
}

/// The broker's own computing for a request.
#[derive(Clone, Copy, Debug)]
enum Spent {
    /// So many nanoseconds so far; it has no verdict.
    Deciding(u64),
    /// It has one, and its time is counted.
    Decided,
}

impl Default for Spent {
    fn default() -> Self {
        Self::Deciding(0)
    }
}

impl Broker {
    /// A broker for clusters of these sizes. The order of a request's candidates is drawn from a
    /// stream of its own (Q25).
    #[must_use]
    pub fn new(sizes: Vec<Nodes>, settings: &CoReservationSettings, seed: StreamSeed) -> Self {
        let information = Information::new(&settings.information, sizes.len() as u32, &seed);
        Self {
            rules: Rules {
                sizes,
                further: settings.local.further,
                search: settings.search.clone(),
                latency: settings.messages.latency,
                timeout: settings.messages.timeout,
                renegotiate: settings.renegotiate,
                misses: settings.watch.map(|watch| watch.misses),
                second_thoughts: settings.second_thoughts,
                risk: settings.risk.clone(),
                information,
                seed,
            },
            processes: BTreeMap::new(),
            workflows: Workflows::default(),
            missed: BTreeMap::new(),
            effects: Vec::new(),
            stopwatch: Stopwatch::default(),
            spent: BTreeMap::new(),
        }
    }

    /// From now on measures with this stopwatch how long it computes for each request.
    pub fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.stopwatch = stopwatch.clone();
    }

    /// Adds what was spent on a request since `begun`; when it needs nothing more for the first
    /// time, that is what its decision took. What its parts begin, lose or give up later is none.
    fn spend(&mut self, id: CoRequestId, begun: Option<Begun>) {
        let Some(nanoseconds) = self.stopwatch.since(begun) else {
            return;
        };
        let Spent::Deciding(spent) = self.spent.entry(id).or_default() else {
            return;
        };
        *spent += nanoseconds;
        if self.processes.get(&id).is_some_and(Process::is_idle) {
            self.stopwatch.count(Decision::Request, *spent);
            self.spent.insert(id, Spent::Decided);
        }
    }

    /// A client asks (step 1). A task of a workflow is sought as soon as those before it are
    /// granted.
    pub fn submit(&mut self, now: Seconds, request: CoRequest) {
        let (id, begun) = (request.id, self.stopwatch.begin());
        let request = self.rules.search.as_run(request);
        if request.task.is_some() {
            self.submit_task(now, request);
        } else {
            let process = Process::begin(&self.rules, now, request, &mut self.effects);
            self.processes.insert(id, process);
        }
        self.spend(id, begun);
    }

    /// The clusters that publish their state.
    #[must_use]
    pub fn publishers(&self) -> Vec<ClusterId> {
        self.rules.information.publishers().collect()
    }

    /// A cluster has published how many of its CPUs are free: every request looks that up (steps 2
    /// and 3).
    pub fn publish(&mut self, from: ClusterId, free: Nodes) {
        self.rules.information.publish(from, free);
    }

    /// A cluster answers.
    pub fn receive(&mut self, now: Seconds, from: ClusterId, answer: Answer) {
        let request = match &answer {
            Answer::Probed { request, .. }
            | Answer::Reserved { request, .. }
            | Answer::Cancelled { request, .. } => *request,
            Answer::Begun(part) => part.request,
            Answer::Lost(part) => part.request,
        };
        let begun = self.stopwatch.begin();
        if let Some(process) = self.processes.get_mut(&request) {
            process.receive(&self.rules, now, from, answer, &mut self.effects);
        }
        self.follow(now, request);
        self.spend(request, begun);
    }

    /// A timer that was asked for by [`Effect::Wake`] has run out.
    pub fn expire(&mut self, now: Seconds, timer: Timer) {
        let begun = self.stopwatch.begin();
        if let Some(process) = self.processes.get_mut(&timer.request) {
            process.expire(&self.rules, now, timer.wait, &mut self.effects);
        }
        self.follow(now, timer.request);
        self.spend(timer.request, begun);
    }

    /// What is to be done since the last call, in order.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Whether every request has its verdict and no answer is waited for.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.workflows.is_empty() && self.processes.values().all(Process::is_idle)
    }

    /// The outcomes of the requests so far, in their order.
    #[must_use]
    pub fn into_outcomes(self) -> Vec<CoOutcome> {
        self.processes
            .into_values()
            .map(Process::into_outcome)
            .collect()
    }
}
