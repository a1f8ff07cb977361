//! The cluster with its policy, as a machine of a simulation: jobs and node events go in, outcomes
//! come out.

use std::collections::HashMap;

use super::{Allocation, Cluster, Event};
use crate::failures::{NodeEvent, PossibleFailure};
use crate::kernel::{Machine, NoService, REACTION, Step, Stopwatch};
use crate::scheduling::customers::Customers;
use crate::scheduling::learned::Learned;
use crate::scheduling::outcome::{JobOutcome, SimulationMetrics};
use crate::scheduling::policy::Policy;
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId};

/// The input of a cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterInput {
    /// Jobs in order of submission.
    pub arrivals: Vec<Job>,
    /// Failures and repairs of nodes.
    pub node_events: Vec<NodeEvent>,
    /// Failures that happen if the load is high enough by then.
    pub possible_failures: Vec<PossibleFailure>,
    /// Jobs that their users take back if they have not started, and when.
    pub cancellations: Vec<(Seconds, JobId)>,
    /// Outcomes that its clients wait for, in addition to earlier ones.
    pub awaited: Option<Awaited>,
}

/// Outcomes that clients wait for, each with the time after which they react at the earliest: at
/// least [`REACTION`].
#[derive(Clone, Debug, Default)]
pub struct Awaited {
    /// Rejections for want of a slot.
    pub rejections: Option<Seconds>,
    /// Failures of accepted jobs.
    pub failures: Option<Seconds>,
    /// The end of these jobs, whatever it is.
    pub jobs: HashMap<JobId, Seconds>,
}

impl Awaited {
    fn add(&mut self, more: Self) {
        self.rejections = more.rejections.or(self.rejections);
        self.failures = more.failures.or(self.failures);
        self.jobs.extend(more.jobs);
    }

    /// When a client may do something because of this outcome, which is over for it at its end, or
    /// at the submission of a rejected job.
    fn reaction_to(&self, outcome: &JobOutcome) -> Option<Seconds> {
        let verdict = outcome.verdict;
        let delays = [
            self.rejections.filter(|_| verdict.is_dropped()),
            self.failures.filter(|_| verdict.is_failed()),
            self.jobs.get(&outcome.job.id).copied(),
        ];
        let at = outcome.end.unwrap_or(outcome.job.submit);
        delays.into_iter().flatten().min().map(|delay| at + delay)
    }
}

/// The results that became final on a cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterOutput {
    /// Outcomes in the order in which they became final.
    pub outcomes: Vec<JobOutcome>,
    /// Jobs that were taken back, and when.
    pub cancelled: Vec<(Seconds, JobId)>,
}

/// A cluster and the policy that plans it. Cloning it, where its policy can be cloned, forks the
/// simulation.
#[derive(Clone)]
pub struct ClusterMachine<P: Policy + ?Sized = dyn Policy> {
    pub(super) cluster: Cluster,
    pub(super) policy: Box<P>,
    /// How many of the cluster's outcomes the policy has been told.
    pub(super) told: usize,
    /// Outcomes that clients wait for, if any.
    pub(super) awaited: Option<Awaited>,
    pub(super) stopwatch: Stopwatch,
}

impl<P: Policy + ?Sized> ClusterMachine<P> {
    /// An idle cluster of `nodes` nodes, all up, at time 0.
    #[must_use]
    pub fn new(nodes: Nodes, policy: Box<P>) -> Self {
        let mut cluster = Cluster::new(nodes);
        cluster.requeues_stopped = policy.requeues_stopped();
        cluster.save_work(policy.checkpointing());
        cluster.penalty = policy.penalty();
        Self {
            cluster,
            policy,
            told: 0,
            awaited: None,
            stopwatch: Stopwatch::default(),
        }
    }

    /// From now on measures with this stopwatch how long the policy takes to admit or refuse what
    /// is submitted.
    pub fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.stopwatch = stopwatch.clone();
    }

    /// From now on these are the customers of its jobs, who may refuse a late end.
    pub fn serve(&mut self, customers: Customers) {
        self.cluster.customers = Some(customers);
    }

    /// Records from now on which nodes jobs hold and when: [`ClusterMachine::take_allocations`].
    pub fn record_allocations(&mut self) {
        self.cluster.allocations.get_or_insert_default();
    }

    /// The allocations recorded since the last call, in the order of their ends.
    pub fn take_allocations(&mut self) -> Vec<Allocation> {
        self.cluster
            .allocations
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Hands over arrivals, none in the past. Jobs whose ids continue those of the earlier arrivals
    /// are found fastest.
    pub fn submit(&mut self, jobs: impl IntoIterator<Item = Job>) {
        for job in jobs {
            let (time, id) = (job.submit, job.id);
            self.cluster.jobs.push(job);
            // Late jobs arrive at once.
            let time = time.max(self.cluster.now);
            self.cluster.schedule(time, Event::Arrival(id));
        }
    }

    /// Hands over node failures and repairs. Events of nodes that the cluster does not have are
    /// ignored.
    pub fn inject(&mut self, events: &[NodeEvent]) {
        for event in events {
            if event.node.0 < self.cluster.nodes.0 {
                let kind = if event.up {
                    Event::Repair(event.node)
                } else {
                    Event::Failure(event.node)
                };
                self.cluster.schedule(event.time, kind);
            }
        }
    }

    /// Hands over when users take jobs back, if these have not started by then; not in the past.
    /// Fixed reservations are not taken back.
    pub fn cancel(&mut self, cancellations: impl IntoIterator<Item = (Seconds, JobId)>) {
        for (time, job) in cancellations {
            self.cluster.schedule(time, Event::Cancellation(job));
        }
    }

    /// The jobs that were taken back since the last call, and when. They have no outcome.
    pub fn take_cancelled(&mut self) -> Vec<(Seconds, JobId)> {
        std::mem::take(&mut self.cluster.cancelled)
    }

    /// Processes every event before `until`.
    pub fn advance(&mut self, until: Seconds) {
        while self.work_off_one(until).is_some() {}
    }

    /// Processes one event before `until`; returns its time, if there was one.
    pub(super) fn work_off_one(&mut self, until: Seconds) -> Option<Seconds> {
        let (time, event) = self.cluster.events.pop_before(until)?;
        if !self.cluster.is_stale(event) {
            self.cluster.move_to(time);
            self.handle(event);
            self.tell_outcomes();
        }
        // A stale event may be the last of its instant, too.
        if self.cluster.now() == time && self.cluster.events.next_time() != Some(time) {
            self.policy.settled(&mut self.cluster);
            self.tell_outcomes();
        }
        Some(time)
    }

    pub(super) fn tell_outcomes(&mut self) {
        for outcome in &self.cluster.outcomes[self.told..] {
            self.policy.decided(outcome);
        }
        self.told = self.cluster.outcomes.len();
    }

    /// What the policy has learned so far, where it learns.
    #[must_use]
    pub fn learned(&mut self) -> Option<&mut Learned> {
        self.policy.learned()
    }

    /// Whether every job that was handed over has its outcome.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.cluster.jobs.open() == 0
    }

    /// The time of the next event of a job or node, if there is one.
    #[must_use]
    pub fn next_event(&self) -> Option<Seconds> {
        self.cluster.events.next_time()
    }

    /// The outcomes since the last call, in the order in which they became final.
    pub fn take_outcomes(&mut self) -> Vec<JobOutcome> {
        self.told = 0;
        std::mem::take(&mut self.cluster.outcomes)
    }

    /// Totals so far.
    #[must_use]
    pub fn metrics(&self) -> SimulationMetrics {
        self.cluster.metrics()
    }

    /// What the policy sees.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// What plans it.
    #[must_use]
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// What plans it, to be told what comes to it past the cluster.
    #[must_use]
    pub fn policy_mut(&mut self) -> &mut P {
        &mut self.policy
    }

    /// The cluster and what plans it, which is asked about the cluster.
    #[must_use]
    pub fn parts(&mut self) -> (&mut Cluster, &mut P) {
        (&mut self.cluster, &mut self.policy)
    }

    /// Processes every event before `now` and waits until then.
    pub fn wait_until(&mut self, now: Seconds) {
        self.advance(now);
        self.cluster.move_to(now.max(self.cluster.now()));
    }

    /// Processes every event until `now` and waits until then. Changes from outside are settled
    /// like an event.
    pub fn settle(&mut self, now: Seconds) {
        loop {
            self.advance(now + Seconds(1));
            self.cluster.move_to(now.max(self.cluster.now()));
            self.policy.settled(&mut self.cluster);
            self.tell_outcomes();
            if self.next_event().is_none_or(|time| time > now) {
                return;
            }
        }
    }
}

impl Machine for ClusterMachine {
    type Input = ClusterInput;
    type Output = ClusterOutput;
    type Service = NoService;

    fn take(&mut self, input: ClusterInput) {
        if let Some(more) = input.awaited {
            self.awaited.get_or_insert_default().add(more);
        }
        self.submit(input.arrivals);
        self.cancel(input.cancellations);
        self.inject(&input.node_events);
        self.expose(&input.possible_failures);
    }

    fn advance(&mut self, mut until: Seconds) -> Step<NoService> {
        let (mut outcomes, mut cancelled) = (0, 0);
        while let Some(time) = self.work_off_one(until) {
            let Some(awaited) = &self.awaited else {
                continue;
            };
            if self.is_idle() {
                // Whether there will be more is for the clients to say.
                until = until.min(time + REACTION);
            }
            for outcome in &self.cluster.outcomes[outcomes..] {
                if let Some(at) = awaited.reaction_to(outcome) {
                    until = until.min(at.max(time + REACTION));
                }
            }
            for &(at, job) in &self.cluster.cancelled[cancelled..] {
                if let Some(delay) = awaited.jobs.get(&job) {
                    until = until.min(at + *delay);
                }
            }
            (outcomes, cancelled) = (self.cluster.outcomes.len(), self.cluster.cancelled.len());
        }
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        self.next_event()
    }

    fn is_idle(&self) -> bool {
        self.is_idle()
    }

    fn hand_out(&mut self) -> ClusterOutput {
        ClusterOutput {
            outcomes: self.take_outcomes(),
            cancelled: self.take_cancelled(),
        }
    }

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.time_decisions(stopwatch);
    }
}
