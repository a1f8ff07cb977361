//! A cluster that overbooks behind its local reservation service: a planning policy for the jobs, parts over the tails of jobs
//! whose users asked for too much, and answers with a price and a risk.

mod answers;
mod records;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::backlog::LimitAccuracy;
use super::{
    ClusterId, LocalService, LocalSettings, LocalTotals, LostPart, OutageEvent, PartOrder,
    PartOutcome, Probe, ProbeAnswer, Refusal, TimeLinePoint,
};
use crate::estimates::EstimateModel;
use crate::scheduling::registry;
use crate::scheduling::{ClusterMachine, JobOutcome, Phase, PolicySettings, SimulationMetrics};
use crate::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use crate::workload::{CoRequestId, Job, JobId, JobKind};

/// A cluster whose jobs are planned by a policy of the registry and that promises parts over the tails of these jobs.
///
/// # Jobs
///
/// They are accepted or rejected at their submission, and may be overbooked, as the policy does it
/// ([`PolicySettings::acceptance`]). A job whose deadline is [`Seconds::FAR`], as in a whole trace, always finds a slot of full
/// length, so that it is neither rejected nor overbooked; only parts are then placed at a risk. Jobs with a deadline of
/// some laxity × estimate may be both.
///
/// # Parts
///
/// A part is a fixed window ([`ClusterMachine::quote_window`]). It is offered if its PoF is at most the cluster's maximum, and
/// reserved if it is at most that of the order, too; a window in which the plan has all CPUs free needs no test. If at its
/// start the jobs in front have not made room, it is lost and the jobs go on: nothing that was promised to a job is broken
/// for it. With a maximum of 0 it is the policy's fixed reservation ([`crate::scheduling::Policy`]).
///
/// The other filters of a probe, tariffs and the quota are those of any cluster. What nodes' failures add to the PoF comes from
/// [`PolicySettings::reliability`].
pub struct OverbookingMachine {
    cluster: ClusterId,
    machine: ClusterMachine,
    nodes: Nodes,
    stop: Seconds,
    settings: LocalSettings,
    pof_max: f64,
    now: Seconds,
    /// Jobs that have not been handed to the machine.
    arriving: VecDeque<Job>,
    next_id: u32,
    /// Jobs and parts without an outcome, by the machine's numbers.
    open: BTreeMap<JobId, Open>,
    /// Every order that was ever granted, with the machine's number of its part while there is one.
    granted: BTreeMap<OrderKey, Option<JobId>>,
    /// Orders that are void: cancelled, or lost after they were granted.
    void: BTreeMap<OrderKey, Refusal>,
    /// Nodes that are down by themselves; with the cluster, all are.
    broken: BTreeSet<NodeIndex>,
    is_up: bool,
    job_outcomes: Vec<JobOutcome>,
    part_outcomes: Vec<PartOutcome>,
    lost: Vec<LostPart>,
    metrics: SimulationMetrics,
    totals: LocalTotals,
    first_submit: Option<Seconds>,
    last_job_end: Seconds,
    /// What limits are worth, by the jobs that ended.
    accuracy: LimitAccuracy,
}

/// An order: its request and its number within it.
type OrderKey = (CoRequestId, u32);

/// How a cluster overbooks.
#[derive(Clone, Debug)]
pub struct Overbooking {
    /// How it plans its jobs.
    pub policy: PolicySettings,
    /// What it knows of its users.
    pub estimates: Option<Arc<EstimateModel>>,
    /// The highest PoF of a part that it offers.
    pub pof_max: f64,
}

/// What the machine knows by a number.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// A job, with its own number.
    Job(JobId),
    Part(PartOrder),
}

/// Why there can be no such cluster.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OverbookingError {
    /// The policy is not registered.
    #[error(
        "there is no strategy {name:?}; a cluster plans with one of {}",
        registered()
    )]
    UnknownStrategy {
        /// Its name.
        name: String,
    },
    /// The highest PoF is no probability.
    #[error("`pof_max` must be a probability between 0 and 1, but is {found}")]
    Probability {
        /// Its value.
        found: f64,
    },
}

fn registered() -> String {
    let names = registry::STRATEGIES.iter().map(|strategy| strategy.name);
    names.collect::<Vec<_>>().join(", ")
}

impl OverbookingMachine {
    /// An idle cluster of `nodes` CPUs at time 0. `accuracy` is the mean of run time ÷ limit over the jobs of its workload,
    /// `stop` the end of submissions.
    ///
    /// # Errors
    ///
    /// When the policy is unknown, or `pof_max` is no probability.
    pub fn new(
        cluster: ClusterId,
        nodes: Nodes,
        accuracy: f64,
        stop: Seconds,
        settings: LocalSettings,
        overbooking: Overbooking,
    ) -> Result<Self, OverbookingError> {
        let Overbooking {
            policy,
            estimates,
            pof_max,
        } = overbooking;
        let Some(strategy) = registry::strategy(&policy.strategy) else {
            return Err(OverbookingError::UnknownStrategy {
                name: policy.strategy,
            });
        };
        if !(0.0..=1.0).contains(&pof_max) {
            return Err(OverbookingError::Probability { found: pof_max });
        }
        let mut machine = ClusterMachine::new(nodes, (strategy.build)(nodes, &policy, estimates));
        machine.record_allocations();
        Ok(Self {
            cluster,
            machine,
            nodes,
            stop,
            settings,
            pof_max,
            now: Seconds::ZERO,
            arriving: VecDeque::new(),
            next_id: 0,
            open: BTreeMap::new(),
            granted: BTreeMap::new(),
            void: BTreeMap::new(),
            broken: BTreeSet::new(),
            is_up: true,
            job_outcomes: Vec::new(),
            part_outcomes: Vec::new(),
            lost: Vec::new(),
            metrics: SimulationMetrics::default(),
            totals: LocalTotals::default(),
            first_submit: None,
            last_job_end: Seconds::ZERO,
            accuracy: LimitAccuracy::new(accuracy),
        })
    }

    fn number(&mut self, what: Open) -> JobId {
        let id = JobId(self.next_id);
        self.next_id += 1;
        self.open.insert(id, what);
        id
    }

    /// Hands over the jobs that are submitted before `until`; those of an instant come after its messages (Q49).
    fn hand_over(&mut self, until: Seconds) {
        let due = self.arriving.partition_point(|job| job.submit < until);
        let due: Vec<Job> = self.arriving.drain(..due).collect();
        for job in due {
            let id = self.number(Open::Job(job.id));
            self.machine.submit([Job { id, ..job }]);
        }
    }

    /// Everything that is due at `now` after something happened from outside.
    fn catch_up(&mut self) {
        self.machine.settle(self.now);
        self.collect();
    }

    /// Parts that have not ended.
    fn parts(&self) -> impl Iterator<Item = (JobId, &PartOrder)> {
        self.open.iter().filter_map(|(&id, open)| match open {
            Open::Part(order) => Some((id, order)),
            Open::Job(_) => None,
        })
    }

    fn is_running(&self, id: JobId) -> bool {
        self.machine.cluster().phase(id) == Phase::Running
    }

    fn range(&self, first: u32, count: u32) -> impl Iterator<Item = NodeIndex> + use<> {
        let end = first.saturating_add(count).min(self.nodes.0);
        (first..end).map(NodeIndex)
    }
}

impl LocalService for OverbookingMachine {
    fn nodes(&self) -> Nodes {
        self.nodes
    }

    fn submit(&mut self, jobs: &[Job]) {
        self.arriving.extend(jobs.iter().cloned());
    }

    fn advance(&mut self, until: Seconds) {
        let until = until.max(self.now);
        self.hand_over(until);
        self.machine.advance(until);
        self.now = until;
        self.collect();
    }

    fn settle(&mut self, now: Seconds) {
        if now >= self.now {
            self.hand_over(now);
            self.now = now;
        }
        self.catch_up();
    }

    fn probe(&mut self, now: Seconds, probe: &Probe) -> ProbeAnswer {
        self.settle(now);
        self.answer(now, probe)
    }

    fn reserve(&mut self, now: Seconds, order: &PartOrder) -> Result<(), Refusal> {
        self.settle(now);
        let key = (order.request, order.order);
        if let Some(&refusal) = self.void.get(&key) {
            return Err(refusal);
        }
        if self.granted.contains_key(&key) {
            return Ok(());
        }
        if order.start < now {
            return Err(Refusal::Past);
        }
        let end = order.start + order.duration;
        let limit = order.pof_limit.min(self.pof_max);
        let quote = self.machine.quote_window(order.nodes, order.start, end);
        if !self.is_up || !quote.is_some_and(|quote| quote.is_within(limit)) {
            return Err(Refusal::Occupied);
        }
        if !self.is_within_quota(order.nodes, order.start, end) {
            return Err(Refusal::Quota);
        }
        let id = JobId(self.next_id);
        let part = Job {
            id,
            trace_number: 0,
            submit: now,
            release: order.start,
            estimate: order.duration,
            runtime: order.duration,
            deadline: end,
            nodes: order.nodes,
            user: None,
            application: None,
            kind: JobKind::Reservation,
        };
        if !self.machine.reserve_window(part, limit) {
            return Err(Refusal::Occupied);
        }
        self.number(Open::Part(*order));
        self.granted.insert(key, Some(id));
        self.catch_up();
        Ok(())
    }

    fn cancel(&mut self, now: Seconds, request: CoRequestId, order: u32) -> bool {
        self.settle(now);
        let key = (request, order);
        self.void.insert(key, Refusal::Cancelled);
        let Some(id) = self.granted.get_mut(&key).and_then(Option::take) else {
            return false;
        };
        self.machine.withdraw_window(id);
        self.collect();
        if let Some(Open::Part(order)) = self.open.remove(&id) {
            self.part_outcomes.push(PartOutcome {
                order,
                gone: Some(now),
                lost: false,
            });
        }
        self.catch_up();
        true
    }

    fn apply_outage(&mut self, now: Seconds, outage: OutageEvent) {
        match outage {
            // What is repaired at an instant is there for whatever starts then.
            OutageEvent::ClusterUp | OutageEvent::NodesUp { .. } => {
                self.advance(now);
                self.machine.wait_until(self.now);
            }
            OutageEvent::ClusterDown | OutageEvent::NodesDown { .. } => self.settle(now),
        }
        match outage {
            OutageEvent::ClusterDown => {
                self.is_up = false;
                self.machine.nodes_down(self.range(0, self.nodes.0));
            }
            OutageEvent::ClusterUp => {
                self.is_up = true;
                let sound: Vec<NodeIndex> = self
                    .range(0, self.nodes.0)
                    .filter(|node| !self.broken.contains(node))
                    .collect();
                self.machine.nodes_up(sound);
            }
            OutageEvent::NodesDown { first, count } => {
                self.broken.extend(self.range(first, count));
                self.machine.nodes_down(self.range(first, count));
            }
            OutageEvent::NodesUp { first, count } => {
                for node in self.range(first, count) {
                    self.broken.remove(&node);
                }
                if self.is_up {
                    self.machine.nodes_up(self.range(first, count));
                }
            }
        }
        self.catch_up();
    }

    fn is_up(&self) -> bool {
        self.is_up
    }

    fn next_event(&self) -> Option<Seconds> {
        let arrival = self.arriving.front().map(|job| job.submit);
        [arrival, self.machine.next_event()]
            .into_iter()
            .flatten()
            .min()
    }

    fn is_idle(&self) -> bool {
        self.arriving.is_empty() && self.open.is_empty()
    }

    fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        std::mem::take(&mut self.job_outcomes)
    }

    fn take_part_outcomes(&mut self) -> Vec<PartOutcome> {
        std::mem::take(&mut self.part_outcomes)
    }

    fn take_lost_parts(&mut self) -> Vec<LostPart> {
        std::mem::take(&mut self.lost)
    }

    fn metrics(&self) -> SimulationMetrics {
        let mut metrics = self.metrics;
        let first = self.first_submit.unwrap_or(self.last_job_end);
        metrics.makespan = (self.last_job_end - first).max(Seconds::ZERO);
        metrics.capacity = self.nodes.for_span(metrics.makespan);
        metrics.work = self.machine.metrics().work;
        metrics
    }

    fn totals(&self) -> LocalTotals {
        let mut totals = self.totals;
        let cluster = self.machine.cluster();
        for (&id, open) in &self.open {
            let held = match cluster.start_of(id) {
                Some(start) if self.is_running(id) => cluster
                    .job(id)
                    .nodes
                    .for_span((self.now.min(self.stop) - start).max(Seconds::ZERO)),
                _ => NodeSeconds(0),
            };
            match open {
                Open::Job(_) => totals.job_work += held,
                Open::Part(_) => totals.part_work += held,
            }
        }
        totals
    }

    fn in_use(&self) -> TimeLinePoint {
        let mut point = TimeLinePoint {
            time: self.now,
            jobs: 0,
            parts: 0,
        };
        for (&id, open) in &self.open {
            if self.is_running(id) {
                let nodes = self.machine.cluster().job(id).nodes.0;
                match open {
                    Open::Job(_) => point.jobs += nodes,
                    Open::Part(_) => point.parts += nodes,
                }
            }
        }
        point
    }
}
