//! The cluster as a state machine: the jobs on its nodes, the events of jobs and nodes in their
//! order, and the outcomes.
//!
//! It carries out the plans of a [`Policy`](super::policy::Policy) and decides nothing itself.
//! Events at equal times come in this order: checkpoints written, ends, repairs, failures, starts,
//! checkpoints begun, given-up jobs, cancellations, arrivals of jobs and requests. Those of one
//! kind come in the order in which they were scheduled. So a run is the same on every machine.

mod absent;
mod by_load;
mod copies;
mod events;
mod jobs;
mod lengthened;
mod machine;
mod moved;
mod progress;
mod rest;
mod runs;
mod shared_writes;
mod windows;

pub use self::absent::Absence;
use self::absent::AbsentNodes;
use self::by_load::PossibleFailures;
use self::events::Event;
use self::jobs::JobTable;
pub use self::jobs::Phase;
pub use self::machine::{Awaited, ClusterInput, ClusterMachine, ClusterOutput};
pub use self::moved::MovedJob;
use self::progress::RunEnd;
use super::bandwidth::SharedBandwidth;
use super::checkpoint::Checkpointing;
use super::customers::Customers;
use super::longer_estimates::LongerEstimates;
use super::outcome::{JobOutcome, Promise, SimulationMetrics, Verdict};
use super::penalty::PenaltySettings;
use super::work::WorkCounters;
use crate::kernel::Agenda;
use crate::plan::NodeSet;
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::{Job, JobId};

/// What a policy sees of the cluster and what it may do to it.
#[derive(Clone)]
pub struct Cluster {
    nodes: Nodes,
    now: Seconds,
    up: NodeSet,
    /// Up and not running a job.
    idle: NodeSet,
    /// The running jobs, by rising ids.
    running: Vec<JobId>,
    jobs: JobTable,
    events: Agenda<Event>,
    outcomes: Vec<JobOutcome>,
    totals: SimulationMetrics,
    first_submit: Option<Seconds>,
    last_end: Seconds,
    /// Nodes that are lent or borrowed; `None` where none ever are.
    absent: Option<Box<AbsentNodes>>,
    /// Failures that follow the load, if there are any.
    by_load: PossibleFailures,
    /// What users took back, and when.
    cancelled: Vec<(Seconds, JobId)>,
    /// What the policy did; it counts for itself.
    pub work: WorkCounters,
    /// The nodes of jobs over time, if they are recorded.
    allocations: Option<Vec<Allocation>>,
    /// Jobs that save their work and were stopped or lost a node, if they are recorded.
    interrupted: Option<Vec<JobId>>,
    /// How jobs save their work; `None` where they do not.
    checkpointing: Option<Checkpointing>,
    /// The writers, where jobs share the bandwidth.
    bandwidth: Option<SharedBandwidth>,
    /// How the penalty grows with lateness; `None` where a deadline is the end.
    penalty: Option<PenaltySettings>,
    /// Jobs that are stopped at the end of their window before they have finished wait again.
    requeues_stopped: bool,
    /// Who may refuse a late end; `None` where nobody does.
    customers: Option<Customers>,
    /// Who asks for more time while a job runs; `None` where nobody does.
    longer_estimates: Option<LongerEstimates>,
}

/// Nodes that a job held from a start to its end, its kill, or the failure of one of them: one
/// attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// The job.
    pub job: JobId,
    /// Its nodes.
    pub nodes: NodeSet,
    /// When it started.
    pub start: Seconds,
    /// When it left them.
    pub end: Seconds,
    /// A node failed under it.
    pub lost: bool,
}

impl Cluster {
    fn new(nodes: Nodes) -> Self {
        Self {
            nodes,
            now: Seconds::ZERO,
            up: NodeSet::full(nodes),
            idle: NodeSet::full(nodes),
            running: Vec::new(),
            jobs: JobTable::default(),
            events: Agenda::default(),
            outcomes: Vec::new(),
            totals: SimulationMetrics::default(),
            first_submit: None,
            last_end: Seconds::ZERO,
            absent: None,
            by_load: PossibleFailures::default(),
            cancelled: Vec::new(),
            work: WorkCounters::default(),
            allocations: None,
            interrupted: None,
            checkpointing: None,
            bandwidth: None,
            penalty: None,
            requeues_stopped: false,
            customers: None,
            longer_estimates: None,
        }
    }

    /// Virtual time.
    #[must_use]
    pub fn now(&self) -> Seconds {
        self.now
    }

    /// Size of the cluster.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        self.nodes
    }

    /// The nodes that are up.
    #[must_use]
    pub fn up(&self) -> &NodeSet {
        &self.up
    }

    /// The nodes that are up and run nothing.
    #[must_use]
    pub fn idle(&self) -> &NodeSet {
        &self.idle
    }

    /// The job as submitted. A policy must not read its `runtime`.
    #[must_use]
    pub fn job(&self, job: JobId) -> &Job {
        &self.jobs.get(job).job
    }

    /// Whether the job is a fixed reservation, which starts exactly at its release or never.
    #[must_use]
    pub fn is_reservation(&self, job: JobId) -> bool {
        self.job(job).is_reservation()
    }

    /// Where the job stands.
    #[must_use]
    pub fn phase(&self, job: JobId) -> Phase {
        self.jobs
            .find(job)
            .map_or(Phase::Done, |record| record.phase)
    }

    /// The nodes that the job runs on, or is bound to.
    #[must_use]
    pub fn nodes_of(&self, job: JobId) -> Option<&NodeSet> {
        self.jobs.get(job).nodes.as_ref()
    }

    /// The jobs that run, by rising ids.
    pub fn running(&self) -> impl Iterator<Item = JobId> + '_ {
        self.running.iter().copied()
    }

    /// Since when the job runs, if it does.
    #[must_use]
    pub fn running_since(&self, job: JobId) -> Option<Seconds> {
        let record = self.jobs.find(job)?;
        record.start.filter(|_| record.phase == Phase::Running)
    }

    /// The longest time that the job may hold its nodes: its estimate, or its promised time if that
    /// is longer, or what it was granted since it runs; for a job that saves its work, the time for
    /// the rest with its checkpoints.
    #[must_use]
    pub fn longest_run(&self, job: JobId) -> Seconds {
        let record = self.jobs.get(job);
        match self.checkpoints_of(job) {
            Some(checkpointing) => record.progress.need(checkpointing, &record.job),
            None => record.longest_run(),
        }
    }

    /// Offers the customer of a flexible job a slot that ends at `end`: whether it is taken. If
    /// not, the job is over, and nothing may be promised.
    pub fn offer(&mut self, job: JobId, end: Seconds) -> bool {
        let customers = self.customers.as_ref();
        let refused = customers.is_some_and(|customers| customers.refuse(self.job(job), end));
        if refused {
            self.drop(job, Verdict::DroppedByCustomer);
        }
        !refused
    }

    /// Records the promise given to a job, and the estimate class that was used for it.
    pub fn promise(&mut self, job: JobId, promise: Promise, class: Option<u16>) {
        let record = self.jobs.get_mut(job);
        record.promise = Some(promise);
        record.class = class;
    }

    /// Accepts a fixed reservation: promises its whole window and plans its start. Nothing happens
    /// to a flexible job.
    pub fn promise_reservation(&mut self, job: JobId) {
        if let Some((start, end)) = self.job(job).fixed_window() {
            self.promise(job, Promise::certain(start, end), None);
            self.plan(job, start);
        }
    }

    /// Rejects a job at its submission.
    pub fn drop(&mut self, job: JobId, verdict: Verdict) {
        self.finish(job, verdict, None);
    }

    /// Plans the job's start, or moves it: a start event will come then.
    pub fn plan(&mut self, job: JobId, start: Seconds) {
        let record = self.jobs.get_mut(job);
        record.phase = Phase::Planned;
        record.version += 1;
        let version = record.version;
        self.schedule(start, Event::Start(job, version));
    }

    /// The job waits; no event is due for it.
    pub fn wait(&mut self, job: JobId) {
        let record = self.jobs.get_mut(job);
        record.phase = Phase::Planned;
        record.version += 1;
    }

    /// Asks the policy again at `time`, even if nothing else happens then
    /// ([`woken`](super::policy::Policy::woken)).
    pub fn wake_at(&mut self, time: Seconds) {
        self.schedule(time.max(self.now), Event::WakeUp);
    }

    /// Starts the job now, on idle nodes; it ends when its runtime or its estimate (or a longer
    /// promise) has elapsed or at `window_end`.
    pub fn start(&mut self, job: JobId, nodes: NodeSet, window_end: Seconds) {
        debug_assert!(
            self.job(job)
                .fixed_window()
                .is_none_or(|window| window == (self.now, window_end)),
            "a reservation gets its window"
        );
        self.occupy(job, nodes);
        self.schedule_end(job, window_end);
    }

    /// Puts the job on idle nodes; the end of a granted window is known since it was granted.
    pub fn occupy(&mut self, job: JobId, nodes: NodeSet) {
        debug_assert!(nodes.is_subset_of(&self.idle), "a job starts on idle nodes");
        debug_assert_eq!(nodes.count(), self.job(job).nodes);
        self.idle.subtract(&nodes);
        if let Err(place) = self.running.binary_search(&job) {
            self.running.insert(place, job);
        }
        let now = self.now;
        let record = self.jobs.get_mut(job);
        if record.start.is_some() {
            record.restarts += 1;
        }
        record.phase = Phase::Running;
        record.start = Some(now);
        record.nodes = Some(nodes);
        if let Some(checkpointing) = self.checkpointing.filter(|_| !record.job.is_reservation()) {
            record.progress.begin(&checkpointing, now);
        }
        self.schedule_wish(job);
    }

    /// Moves the end of a running job's window.
    pub fn set_window_end(&mut self, job: JobId, window_end: Seconds) {
        self.schedule_end(job, window_end);
    }

    /// Puts an accepted job that cannot run now aside until its policy finds a place for it; at
    /// `give_up` the policy is asked to let it fail, unless it has no deadline.
    pub fn disable(&mut self, job: JobId, give_up: Seconds) {
        let record = self.jobs.get_mut(job);
        record.phase = Phase::Disabled;
        record.is_copy = false;
        record.version += 1;
        let version = record.version;
        if record.job.deadline < Seconds::FAR {
            self.schedule(give_up.max(self.now), Event::GiveUp(job, version));
        }
    }

    /// Lets an accepted job fail, which no longer runs: by the end of its window if it was stopped
    /// there last, else by its nodes if one ever crashed under it, else because it could not start.
    pub fn fail(&mut self, job: JobId) {
        let verdict = if self.jobs.get(job).progress.was_stopped {
            Verdict::FailedOverbooked
        } else if self.jobs.get(job).node_failures > 0 {
            Verdict::FailedNodes
        } else {
            Verdict::FailedUnstartable
        };
        self.finish(job, verdict, Some(self.now));
    }

    /// Takes a planned or running job off the cluster as if it had never been there.
    pub fn withdraw(&mut self, job: JobId) {
        if self.phase(job) == Phase::Running {
            self.vacate(job, false);
        }
        let saves = self.checkpointing.is_some();
        self.jobs.close(job, Verdict::DroppedNoSlot, None, saves);
    }

    /// Whether the job waits for its first start.
    fn may_be_cancelled(&self, job: JobId) -> bool {
        let copy_waits = || {
            let copy = job.copy().and_then(|copy| self.jobs.find(copy));
            copy.is_none_or(|copy| copy.start.is_none())
        };
        self.jobs.find(job).is_some_and(|record| {
            record.start.is_none()
                && copy_waits()
                && !record.job.is_reservation()
                && matches!(record.phase, Phase::Planned | Phase::Disabled)
        })
    }

    fn move_to(&mut self, time: Seconds) {
        debug_assert!(time >= self.now, "virtual time moves forward");
        self.now = time;
    }

    fn schedule(&mut self, time: Seconds, event: Event) {
        self.events.push(time, event.class(), event);
    }

    /// The job that runs on a node.
    fn occupant(&self, node: NodeIndex) -> Option<JobId> {
        let holds = |&job: &JobId| self.nodes_of(job).is_some_and(|nodes| nodes.contains(node));
        self.running().find(holds)
    }

    fn node_down(&mut self, node: NodeIndex) -> Option<JobId> {
        self.up.remove(node);
        self.idle.remove(node);
        let victim = self.occupant(node);
        if let Some(job) = victim {
            self.vacate(job, true);
            let checkpointing = self.checkpoints_of(job).copied();
            let now = self.now;
            let record = self.jobs.get_mut(job);
            if let Some(checkpointing) = checkpointing {
                let nodes = record.job.nodes;
                record
                    .progress
                    .leave(&checkpointing, nodes, now, RunEnd::Crashed);
            }
            record.node_failures += 1;
            record.lengthened = Seconds::ZERO;
            record.phase = Phase::Disabled;
            record.version += 1;
            if checkpointing.is_some() {
                self.interrupted_now(job);
            }
        }
        victim
    }

    fn node_up(&mut self, node: NodeIndex) {
        self.up.insert(node);
        if self.occupant(node).is_none() {
            self.idle.insert(node);
        }
    }

    fn finish(&mut self, job: JobId, verdict: Verdict, end: Option<Seconds>) {
        let checkpointing = self.checkpoints_of(job).copied();
        if let Some(checkpointing) = &checkpointing {
            let now = self.now;
            self.jobs.get_mut(job).close_memory(checkpointing, now);
        }
        if verdict.is_successful() {
            self.totals.fees += self.paid_for_more(job);
        }
        let saves = checkpointing.is_some();
        let is_rescued = self.jobs.get(job).is_copy && verdict.is_successful();
        self.totals.double.rescued += u64::from(is_rescued);
        let mut outcome = self.jobs.close(job, verdict, end, saves);
        if let Some(end) = end {
            self.last_end = self.last_end.max(end);
        }
        if job.request().is_some() {
            return;
        }
        if let (Some(penalty), Some(end), true) = (&self.penalty, end, verdict.is_successful()) {
            outcome.late = penalty.late(end - outcome.job.deadline);
        }
        let first = self.first_submit.get_or_insert(outcome.job.submit);
        *first = (*first).min(outcome.job.submit);
        self.totals.count(&outcome);
        self.outcomes.push(outcome);
    }

    fn metrics(&self) -> SimulationMetrics {
        let mut metrics = self.totals;
        let makespan =
            (self.last_end - self.first_submit.unwrap_or(self.last_end)).max(Seconds::ZERO);
        metrics.makespan = makespan;
        metrics.capacity = self.own_nodes().for_span(makespan);
        metrics.work = self.work;
        if let Some(bandwidth) = &self.bandwidth {
            let shared = metrics.checkpoints.shared.get_or_insert_default();
            shared.most_writers = bandwidth.most_writers();
        }
        metrics
    }
}
