//! The reservation service of a cluster: jobs that a policy plans, and parts of co-reservations
//! that it promises to a broker (Meltzer 2005, §4.1).

mod answers;
mod displacing;
mod queued;
mod records;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bookahead_core::scheduling::queue::PlannedQueue;
use bookahead_core::scheduling::{ClusterMachine, JobOutcome, Policy, SimulationMetrics};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{CoRequestId, Job, JobId};
use bookahead_overbooking::registry;

use super::accuracy::LimitAccuracy;
use super::job_mix::JobMix;
use super::{
    BegunPart, ClusterId, LocalService, LocalSettings, LocalTotals, LostPart, OutageEvent,
    PartOrder, PartOutcome, Probe, ProbeAnswer, QueuedPart, Refusal, TimeLinePoint,
};

/// A cluster behind its reservation service.
///
/// # Jobs
///
/// The cluster of the thesis has one queue, first come, first served with backfilling
/// ([`PlannedQueue`]). Where the study weighs risk, another policy plans the jobs ([`RiskPolicy`]).
/// They are accepted or rejected at their submission, and may be overbooked, as the policy does it.
/// A job whose deadline is [`Seconds::FAR`], as in a whole trace, always finds a slot of full
/// length, so that it is neither rejected nor overbooked; only parts are then placed at a risk.
/// Jobs with a deadline of some laxity × estimate may be both.
///
/// # Parts
///
/// A part is a fixed window ([`ClusterMachine::quote_window`]). It is offered if its PoF is at most
/// the cluster's maximum, and reserved if it is at most that of the order, too; a window in which
/// the plan has all CPUs free needs no test. If at its start the jobs in front have not made room,
/// it is lost and the jobs go on: nothing that was promised to a job is broken for it. With a
/// maximum of 0 it is the policy's fixed reservation ([`bookahead_core::scheduling::Policy`]).
///
/// A part that displaces others is also offered and reserved where it would have its CPUs without
/// parts that yield and have not begun (Meltzer 2005, §7.3). Whoever it takes them from is lost.
///
/// # The order of an instant (Q49)
///
/// Ends of jobs and parts, starts of parts, starts of waiting jobs; then messages; then
/// submissions, and starts again.
pub struct ReservationService<P: Policy + ?Sized = dyn Policy> {
    cluster: ClusterId,
    machine: ClusterMachine<P>,
    stop: Seconds,
    settings: LocalSettings,
    /// The highest PoF of a part that it offers; `None` where no part is put at risk, and none is
    /// told.
    pof_max: Option<f64>,
    /// Jobs that have not been handed to the machine.
    arriving: VecDeque<Job>,
    next_id: u32,
    /// Jobs and parts without an outcome, by the machine's numbers.
    open: BTreeMap<JobId, Open>,
    /// Promised and queued parts that have not ended.
    parts: BTreeMap<OrderKey, OpenPart>,
    /// Those that wait in the queue.
    waiting: BTreeSet<OrderKey>,
    /// Those that have begun, until it is asked for.
    begun: Vec<BegunPart>,
    /// What is answered to an order that comes after it was cancelled, or after its part was lost
    /// or over.
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
    job_mix: JobMix,
    /// Σ limit · CPUs of open jobs.
    booked: i64,
}

/// An order: its request and its number within it.
type OrderKey = (CoRequestId, u32);

/// How a cluster plans its jobs where parts may be placed at a risk.
pub struct RiskPolicy {
    /// By which policy, which must sell windows.
    pub policy: Box<dyn Policy>,
    /// The highest PoF of a part that it offers.
    pub pof_max: f64,
}

/// What the machine knows by a number.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// A job, with its own number.
    Job(JobId),
    Part(OrderKey),
}

#[derive(Clone, Copy, Debug)]
struct OpenPart {
    /// The machine's number.
    id: JobId,
    /// Of a queued part that has not begun, the start is [`Seconds::FAR`].
    order: PartOrder,
}

/// Why there can be no such cluster.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RiskPolicyError {
    /// The policy is not registered.
    #[error(
        "there is no strategy {name:?}; a cluster plans with one of {}",
        registered()
    )]
    UnknownStrategy {
        /// Its name.
        name: String,
    },
    /// The policy sells no windows.
    #[error("parts of co-reservations are windows, and the policy of this cluster sells none")]
    SellsNoWindows,
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

impl ReservationService<PlannedQueue> {
    /// An idle cluster of `nodes` CPUs at time 0 with the queue of the thesis. `accuracy` is the
    /// mean of run time ÷ limit over the jobs of its workload (Q10), `stop` the end of submissions,
    /// until which work counts in [`LocalTotals`].
    #[must_use]
    pub fn new(
        cluster: ClusterId,
        nodes: Nodes,
        accuracy: f64,
        stop: Seconds,
        settings: LocalSettings,
    ) -> Self {
        let queue = PlannedQueue::new(nodes, settings.backfilling, settings.planned_visible);
        let machine = ClusterMachine::new(nodes, Box::new(queue));
        Self::around(machine, cluster, accuracy, stop, settings, None)
    }
}

impl ReservationService {
    /// The same with another policy.
    ///
    /// # Errors
    ///
    /// When the policy sells no windows, or `pof_max` is no probability.
    pub fn with_policy(
        cluster: ClusterId,
        nodes: Nodes,
        accuracy: f64,
        stop: Seconds,
        settings: LocalSettings,
        under_risk: RiskPolicy,
    ) -> Result<Self, RiskPolicyError> {
        let RiskPolicy {
            mut policy,
            pof_max,
        } = under_risk;
        if policy.window_seller().is_none() {
            return Err(RiskPolicyError::SellsNoWindows);
        }
        if !(0.0..=1.0).contains(&pof_max) {
            return Err(RiskPolicyError::Probability { found: pof_max });
        }
        let machine = ClusterMachine::new(nodes, policy);
        let pof_max = Some(pof_max);
        Ok(Self::around(
            machine, cluster, accuracy, stop, settings, pof_max,
        ))
    }
}

impl<P: Policy + ?Sized> ReservationService<P> {
    fn around(
        mut machine: ClusterMachine<P>,
        cluster: ClusterId,
        accuracy: f64,
        stop: Seconds,
        settings: LocalSettings,
        pof_max: Option<f64>,
    ) -> Self {
        machine.record_allocations();
        Self {
            cluster,
            machine,
            stop,
            accuracy: LimitAccuracy::new(accuracy, &settings),
            job_mix: JobMix::default(),
            settings,
            pof_max,
            arriving: VecDeque::new(),
            next_id: 0,
            open: BTreeMap::new(),
            parts: BTreeMap::new(),
            waiting: BTreeSet::new(),
            begun: Vec::new(),
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
            booked: 0,
        }
    }

    fn now(&self) -> Seconds {
        self.machine.cluster().now()
    }

    fn number(&mut self, what: Open) -> JobId {
        let id = JobId(self.next_id);
        self.next_id += 1;
        self.open.insert(id, what);
        id
    }

    /// Hands over the jobs that are submitted before `until`, each instant after everything else of
    /// it (Q49).
    fn hand_over(&mut self, until: Seconds) {
        while let Some(submit) = self.arriving.front().map(|job| job.submit)
            && submit < until
        {
            let at = submit.max(self.now());
            self.machine.settle(at);
            while self.arriving.front().is_some_and(|job| job.submit <= at)
                && let Some(job) = self.arriving.pop_front()
            {
                self.booked += booked(&job);
                let id = self.number(Open::Job(job.id));
                self.machine.submit([Job { id, ..job }]);
            }
        }
    }

    /// Everything that is due at `now` after something happened from outside.
    fn catch_up(&mut self, now: Seconds) {
        self.machine.settle(now);
        self.collect();
    }

    /// Jobs and parts that run, in the order in which they came, and since when.
    fn running(&self) -> impl Iterator<Item = (&Job, Seconds)> {
        let cluster = self.machine.cluster();
        (cluster.running()).filter_map(|id| Some((cluster.job(id), cluster.running_since(id)?)))
    }

    fn orders(&self) -> impl Iterator<Item = &PartOrder> + Clone {
        self.parts.values().map(|part| &part.order)
    }

    fn range(&self, first: u32, count: u32) -> Vec<NodeIndex> {
        let end = first.saturating_add(count).min(self.nodes().0);
        (first..end).map(NodeIndex).collect()
    }
}

/// The time that a job is planned to hold its CPUs: at least a second.
fn limit(job: &Job) -> Seconds {
    job.estimate.max(Seconds(1))
}

/// What a job has booked, in CPU-seconds.
fn booked(job: &Job) -> i64 {
    job.nodes.for_span(limit(job)).0
}

impl<P: Policy + ?Sized> LocalService for ReservationService<P> {
    fn nodes(&self) -> Nodes {
        self.machine.cluster().nodes()
    }

    fn submit(&mut self, jobs: &[Job]) {
        self.arriving.extend(jobs.iter().cloned());
    }

    fn advance(&mut self, until: Seconds) {
        self.hand_over(until);
        self.machine.advance(until);
        self.collect();
    }

    fn settle(&mut self, now: Seconds) {
        self.hand_over(now);
        self.catch_up(now);
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
        if self.parts.contains_key(&key) {
            return Ok(());
        }
        if order.start < now {
            return Err(Refusal::Past);
        }
        let limit = order.pof_limit.min(self.pof_max.unwrap_or(0.0));
        self.make_room(order, limit)?;
        let id = JobId(self.next_id);
        let part = Job::rigid(id, now, order.nodes, order.duration)
            .numbered(order.request.0.into())
            .into_reservation(order.start);
        if !self.machine.reserve_window(part, limit) {
            return Err(Refusal::Occupied);
        }
        self.number(Open::Part(key));
        self.parts.insert(key, OpenPart { id, order: *order });
        self.catch_up(now);
        Ok(())
    }

    fn queue(&mut self, now: Seconds, part: &QueuedPart) {
        self.queue_part(now, part);
    }

    fn proceed(&mut self, now: Seconds, request: CoRequestId, order: u32, end: Seconds) {
        self.settle(now);
        self.end_part_at((request, order), end);
    }

    fn cancel(&mut self, now: Seconds, request: CoRequestId, order: u32) -> bool {
        self.settle(now);
        let key = (request, order);
        self.void.insert(key, Refusal::Cancelled);
        let Some(mut part) = self.parts.remove(&key) else {
            return false;
        };
        if self.waiting.remove(&key) {
            part.order.start = now;
        }
        self.machine.withdraw_window(part.id);
        self.collect();
        self.open.remove(&part.id);
        self.part_outcomes.push(PartOutcome {
            order: part.order,
            gone: Some(now),
            lost: false,
        });
        self.catch_up(now);
        true
    }

    fn apply_outage(&mut self, now: Seconds, outage: OutageEvent) {
        match outage {
            // What is repaired at an instant is there for whatever starts then.
            OutageEvent::ClusterUp | OutageEvent::NodesUp { .. } => {
                self.advance(now);
                self.machine.wait_until(now);
            }
            OutageEvent::ClusterDown | OutageEvent::NodesDown { .. } => self.settle(now),
        }
        match outage {
            OutageEvent::ClusterDown => {
                self.is_up = false;
                self.machine.nodes_down(self.range(0, self.nodes().0));
            }
            OutageEvent::ClusterUp => {
                self.is_up = true;
                let mut sound = self.range(0, self.nodes().0);
                sound.retain(|node| !self.broken.contains(node));
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
        self.catch_up(now);
    }

    fn is_up(&self) -> bool {
        self.is_up
    }

    fn next_event(&self) -> Option<Seconds> {
        let arrival = self.arriving.front().map(|job| job.submit.max(self.now()));
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

    fn take_begun_parts(&mut self) -> Vec<BegunPart> {
        std::mem::take(&mut self.begun)
    }

    fn next_look(&self) -> Option<Seconds> {
        let next = self.next_event().filter(|_| !self.waiting.is_empty());
        next.map(|at| at.max(self.now() + Seconds(1)))
    }

    fn metrics(&self) -> SimulationMetrics {
        let mut metrics = self.metrics;
        let first = self.first_submit.unwrap_or(self.last_job_end);
        metrics.makespan = (self.last_job_end - first).max(Seconds::ZERO);
        metrics.capacity = self.nodes().for_span(metrics.makespan);
        metrics.work = self.machine.metrics().work;
        metrics
    }

    fn totals(&self) -> LocalTotals {
        let mut totals = self.totals;
        let cluster = self.machine.cluster();
        let counted = self.now().min(self.stop);
        for (&id, open) in &self.open {
            let Some(since) = cluster.running_since(id) else {
                continue;
            };
            let held = (cluster.job(id).nodes).for_span((counted - since).max(Seconds::ZERO));
            match open {
                Open::Job(_) => totals.job_work += held,
                Open::Part(_) => totals.part_work += held,
            }
        }
        totals
    }

    fn in_use(&self) -> TimeLinePoint {
        let cluster = self.machine.cluster();
        let running = |part: &&OpenPart| cluster.running_since(part.id).is_some();
        let parts = self.parts.values().filter(running);
        let parts = parts.map(|part| part.order.nodes.0).sum();
        let busy = cluster.up().count().0 - cluster.idle().count().0;
        TimeLinePoint {
            time: self.now(),
            jobs: busy - parts,
            parts,
        }
    }

    fn free(&self) -> Nodes {
        self.machine.cluster().idle().count()
    }
}

#[cfg(test)]
mod tests;
