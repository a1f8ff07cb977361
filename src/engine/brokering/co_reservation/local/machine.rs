//! The cluster of the thesis as a state machine: a queue with backfilling, parts that start when they were promised, and a
//! reservation service that answers a broker (§4.2, Q49).

mod failures;
mod jobs;
mod parts;
mod probe;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::backlog::LimitAccuracy;
use super::{
    ClusterId, LocalService, LocalSettings, LocalTotals, LostPart, OutageEvent, PartOrder,
    PartOutcome, Probe, ProbeAnswer, Refusal, TimeLinePoint,
};
use crate::plan::{NodeSet, Profile};
use crate::scheduling::queue::{DueEffort, Waiting};
use crate::scheduling::{JobOutcome, SimulationMetrics};
use crate::units::{Nodes, Seconds};
use crate::workload::{CoRequestId, Job, JobId};

/// A cluster with one queue, first come, first served with backfilling, and firm parts of co-reservations.
///
/// What is *fixed* is one profile: running jobs until start + limit, firm parts, CPUs that are down. Who starts now follows from
/// it anew after every event; waiting jobs hold nothing, but the reservation that the scheduler made for the first of them (for
/// all of them under conservative backfilling) may block parts. Cloning it forks the simulation.
#[derive(Clone, Debug)]
pub struct LocalMachine {
    cluster: ClusterId,
    nodes: Nodes,
    settings: LocalSettings,
    stop: Seconds,
    now: Seconds,
    /// Free beside running jobs until start + limit, firm parts, and CPUs that are down.
    fixed: Profile,
    /// The same without what the scheduler reserved for waiting jobs, while that is known.
    visible: Option<Profile>,
    /// Jobs that are still to be submitted.
    arrivals: VecDeque<Job>,
    queue: Vec<Waiting>,
    /// Waiting and running jobs.
    jobs: BTreeMap<JobId, OpenJob>,
    running: BTreeMap<JobId, RunningJob>,
    /// Promised parts that have not ended.
    parts: BTreeMap<PartKey, OpenPart>,
    /// The same by start.
    parts_by_start: BTreeSet<(Seconds, PartKey)>,
    /// What is answered to an order that comes after it was cancelled or lost.
    gone: BTreeMap<PartKey, Refusal>,
    events: BTreeSet<(Seconds, Event)>,
    /// Something happened at this instant that may let a job start.
    unsettled: bool,
    up: bool,
    /// CPUs that nobody holds and that are not down.
    free: NodeSet,
    /// CPUs that are down by themselves, not with the whole cluster.
    down: NodeSet,
    job_nodes: u32,
    part_nodes: u32,
    backlog: JobBacklog,
    job_outcomes: Vec<JobOutcome>,
    part_outcomes: Vec<PartOutcome>,
    lost_parts: Vec<LostPart>,
    metrics: SimulationMetrics,
    totals: LocalTotals,
    first_submission: Option<Seconds>,
    last_job_end: Seconds,
    effort: DueEffort,
}

/// A part is known by its request and its order.
type PartKey = (CoRequestId, u32);

#[derive(Clone, Debug)]
struct OpenJob {
    job: Job,
    restarts: u32,
    node_failures: u32,
}

#[derive(Clone, Debug)]
struct RunningJob {
    start: Seconds,
    /// Start + limit: until then it holds its place in the profile.
    limit: Seconds,
    end: Seconds,
    nodes: Nodes,
    held: NodeSet,
}

#[derive(Clone, Debug)]
struct OpenPart {
    order: PartOrder,
    /// What it holds once it has started.
    held: Option<NodeSet>,
}

impl OpenPart {
    fn end(&self) -> Seconds {
        self.order.start + self.order.duration
    }
}

/// Sums that the backlog is computed from.
#[derive(Clone, Copy, Debug)]
struct JobBacklog {
    /// Σ limit · CPUs of waiting jobs.
    waiting: i64,
    /// Σ limit · CPUs of running jobs.
    running: i64,
    /// What limits are worth.
    accuracy: LimitAccuracy,
}

/// In the order in which events of one instant are worked off (Q49); equals by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    JobEnds(JobId),
    PartEnds(PartKey),
    PartStarts(PartKey),
}

impl LocalMachine {
    /// An idle cluster at time 0. `accuracy` is the mean of run time ÷ limit over its jobs (Q10), `stop` the end of submissions,
    /// until which work counts in [`LocalTotals`].
    #[must_use]
    pub fn new(
        cluster: ClusterId,
        nodes: Nodes,
        accuracy: f64,
        stop: Seconds,
        settings: LocalSettings,
    ) -> Self {
        Self {
            cluster,
            nodes,
            settings,
            stop,
            now: Seconds::ZERO,
            fixed: Profile::new(nodes.0, Seconds::ZERO),
            visible: None,
            arrivals: VecDeque::new(),
            queue: Vec::new(),
            jobs: BTreeMap::new(),
            running: BTreeMap::new(),
            parts: BTreeMap::new(),
            parts_by_start: BTreeSet::new(),
            gone: BTreeMap::new(),
            events: BTreeSet::new(),
            unsettled: false,
            up: true,
            free: NodeSet::full(nodes),
            down: NodeSet::empty(nodes),
            job_nodes: 0,
            part_nodes: 0,
            backlog: JobBacklog {
                waiting: 0,
                running: 0,
                accuracy: LimitAccuracy::new(accuracy),
            },
            job_outcomes: Vec::new(),
            part_outcomes: Vec::new(),
            lost_parts: Vec::new(),
            metrics: SimulationMetrics::default(),
            totals: LocalTotals::default(),
            first_submission: None,
            last_job_end: Seconds::ZERO,
            effort: DueEffort::default(),
        }
    }

    /// Virtual time: of the last event, or of the last call that named a time.
    #[must_use]
    pub fn now(&self) -> Seconds {
        self.now
    }

    /// The waiting jobs in the order of the queue.
    #[must_use]
    pub fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    /// What running jobs (until their limits), firm parts and CPUs that are down leave free.
    #[must_use]
    pub fn fixed(&self) -> &Profile {
        &self.fixed
    }

    fn move_to(&mut self, time: Seconds) {
        if time <= self.now {
            return;
        }
        let counted = time.min(self.stop) - self.now.min(self.stop);
        self.totals.job_work += Nodes(self.job_nodes).for_span(counted);
        self.totals.part_work += Nodes(self.part_nodes).for_span(counted);
        self.now = time;
        self.fixed.forget_before(time);
        self.visible = None;
    }

    /// The profile of what is fixed changed, or the queue.
    fn changed(&mut self) {
        self.visible = None;
        self.unsettled = true;
    }

    /// Ends and starts of parts at this instant, and starts of waiting jobs, until nothing more happens by itself.
    fn work_off_instant(&mut self) {
        loop {
            while let Some(&(time, event)) = self.events.first() {
                if time > self.now {
                    break;
                }
                self.events.pop_first();
                match event {
                    Event::JobEnds(job) => self.end_job(job),
                    Event::PartEnds(key) => self.end_part(key),
                    Event::PartStarts(key) => self.start_part(key),
                }
            }
            if !std::mem::take(&mut self.unsettled) {
                return;
            }
            self.start_due_jobs();
        }
    }

    fn work_off_submissions(&mut self) {
        while self
            .arrivals
            .front()
            .is_some_and(|job| job.submit <= self.now)
        {
            if let Some(job) = self.arrivals.pop_front() {
                self.job_arrives(job);
            }
        }
        self.work_off_instant();
    }
}

impl LocalService for LocalMachine {
    fn nodes(&self) -> Nodes {
        self.nodes
    }

    fn submit(&mut self, jobs: &[Job]) {
        self.arrivals.extend(jobs.iter().cloned());
    }

    fn advance(&mut self, until: Seconds) {
        while let Some(time) = self.next_event().filter(|time| *time < until) {
            self.move_to(time);
            self.work_off_instant();
            self.work_off_submissions();
        }
    }

    fn settle(&mut self, now: Seconds) {
        self.advance(now);
        self.move_to(now);
        self.work_off_instant();
    }

    fn probe(&mut self, now: Seconds, probe: &Probe) -> ProbeAnswer {
        self.settle(now);
        self.answer(probe)
    }

    fn reserve(&mut self, now: Seconds, order: &PartOrder) -> Result<(), Refusal> {
        self.settle(now);
        self.take_order(order)?;
        self.work_off_instant();
        Ok(())
    }

    fn cancel(&mut self, now: Seconds, request: CoRequestId, order: u32) -> bool {
        self.settle(now);
        let given_back = self.take_back((request, order));
        self.work_off_instant();
        given_back
    }

    fn apply_outage(&mut self, now: Seconds, outage: OutageEvent) {
        match outage {
            // What is repaired at an instant is there for whatever starts then.
            OutageEvent::ClusterUp | OutageEvent::NodesUp { .. } => {
                self.advance(now);
                self.move_to(now);
            }
            OutageEvent::ClusterDown | OutageEvent::NodesDown { .. } => self.settle(now),
        }
        self.take_blow(outage);
        self.work_off_instant();
    }

    fn is_up(&self) -> bool {
        self.up
    }

    fn next_event(&self) -> Option<Seconds> {
        let event = self.events.first().map(|(time, _)| *time);
        let arrival = self.arrivals.front().map(|job| job.submit.max(self.now));
        event.into_iter().chain(arrival).min()
    }

    fn is_idle(&self) -> bool {
        self.arrivals.is_empty() && self.jobs.is_empty() && self.parts.is_empty()
    }

    fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        std::mem::take(&mut self.job_outcomes)
    }

    fn take_part_outcomes(&mut self) -> Vec<PartOutcome> {
        std::mem::take(&mut self.part_outcomes)
    }

    fn take_lost_parts(&mut self) -> Vec<LostPart> {
        std::mem::take(&mut self.lost_parts)
    }

    fn metrics(&self) -> SimulationMetrics {
        let mut metrics = self.metrics;
        let first = self.first_submission.unwrap_or(self.last_job_end);
        metrics.makespan = (self.last_job_end - first).max(Seconds::ZERO);
        metrics.capacity = self.nodes.for_span(metrics.makespan);
        metrics
    }

    fn totals(&self) -> LocalTotals {
        self.totals
    }

    fn in_use(&self) -> TimeLinePoint {
        TimeLinePoint {
            time: self.now,
            jobs: self.job_nodes,
            parts: self.part_nodes,
        }
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
