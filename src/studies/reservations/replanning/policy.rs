//! The policy *replanning*, which takes advance reservations (Heine 2005, §3; Singh 2008, §5.3).

mod cancelling;
mod events;
mod preemption;
mod questions;
mod settling;

use std::collections::{BTreeMap, BTreeSet};

use bookahead_core::estimates::WaitPredictor;
use bookahead_core::kernel::Agenda;
use bookahead_core::scheduling::queue::Waiting;
use bookahead_core::scheduling::{
    Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, Checkpointing, Cluster,
    GapEnd, JobOutcome, Policy, ResumeRule, Verdict,
};
use bookahead_core::units::{Megabytes, NodeIndex, NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{JobId, RequestId, ReservationRequest};

use super::free::{FreeResources, MachineMemory, Resources};
use super::outcome::{RequestVerdict, ReservationOutcome, ReservationTotals};
use super::settings::{Admission, JobMarks, ReplanningSettings, ShortestNotice, kept_waits};

/// A policy whose waiting jobs are *variable*: planned, and planned anew at every event, until they
/// start. Reservations are fixed: they start exactly when they were granted, or are lost where
/// nodes failed. Nothing that runs is stopped for them, but for preemptible jobs under the rules of
/// admission that truncate or requeue.
///
/// Variable jobs start after all other events of an instant, if their place in the plan is now
/// (A8). The plan counts nodes, but a failure hits one of them. So each start takes the
/// lowest-numbered nodes that are up and idle. In the plan a node that is down is taken for good
/// from now on, as the time of its repair is unknown; at its repair it is given back.
///
/// It sells no windows: one is had by a request, which is admitted by the rule and has an outcome
/// of its own.
#[derive(Clone)]
pub struct Replanning {
    settings: ReplanningSettings,
    nodes: Nodes,
    now: Seconds,
    /// Free beside running jobs until their estimated ends, and reservations.
    fixed: FreeResources,
    /// Memory, where the machine counts it.
    memory: Option<MachineMemory>,
    /// Waiting jobs in the order of planning.
    queue: Vec<Waiting>,
    running: BTreeMap<JobId, Running>,
    /// Those that were handed over and are not closed.
    reservations: BTreeMap<RequestId, OpenReservation>,
    /// Where the waiting jobs are planned, or the first of them, while that is known.
    plan: Option<Plan>,
    /// Something happened at this instant that may let a job start, from this place in the queue
    /// on.
    unsettled: Option<usize>,
    usage: Usage,
    window: Option<SubmissionWindow>,
    reservation_outcomes: Vec<ReservationOutcome>,
    totals: ReservationTotals,
    /// Which jobs may be stopped for a reservation, or not be delayed by one.
    marks: JobMarks,
    /// The waits of jobs that have started, where notices or starts are predicted from them.
    waits: Option<WaitPredictor>,
    /// When granted reservations are cancelled again, as far as their owners do that.
    cancellations: Agenda<RequestId>,
    /// Jobs without an outcome that were ever stopped for a reservation before they had finished.
    preempted: BTreeSet<JobId>,
}

/// A variable job that runs.
#[derive(Clone, Copy)]
struct Running {
    start: Seconds,
    holds: Resources,
    estimate: Seconds,
    /// How long it reads what it had done before it goes on with that; `None` where its work is
    /// lost when it is stopped.
    reads: Option<Seconds>,
    /// When it is stopped for a reservation, before its estimate has elapsed.
    cut: Option<Seconds>,
}

impl Running {
    /// Until when it holds its nodes in the plan.
    fn planned_end(&self) -> Seconds {
        let full = self.start + self.estimate;
        self.cut.map_or(full, |cut| cut.min(full))
    }

    /// What it has used by `at`, which is not before its start.
    fn used(&self, at: Seconds) -> NodeSeconds {
        self.holds.nodes.for_span(at - self.start)
    }

    /// What it would lose if it were stopped at `at`: what it has used and not saved.
    fn lost(&self, at: Seconds) -> NodeSeconds {
        let used = at - self.start;
        let lost = self.reads.map_or(used, |reads| reads.min(used));
        self.holds.nodes.for_span(lost)
    }
}

#[derive(Clone)]
struct OpenReservation {
    outcome: ReservationOutcome,
    start: Seconds,
    running: bool,
}

/// Planned starts of the first jobs in the queue, mostly of all of them, and what these leave free.
#[derive(Clone)]
struct Plan {
    starts: Vec<Seconds>,
    free: FreeResources,
}

impl Plan {
    /// Of no job yet.
    fn beside(fixed: &FreeResources) -> Self {
        Self {
            starts: Vec::new(),
            free: fixed.clone(),
        }
    }
}

/// Node-time used by jobs and reservations.
#[derive(Clone, Copy, Default)]
struct Usage {
    nodes: u32,
    until: Seconds,
    used: NodeSeconds,
}

impl Usage {
    fn until(&mut self, now: Seconds) -> NodeSeconds {
        self.used += Nodes(self.nodes).for_span(now - self.until);
        self.until = now;
        self.used
    }

    fn begins(&mut self, now: Seconds, nodes: Nodes) {
        self.until(now);
        self.nodes += nodes.0;
    }

    fn ends(&mut self, now: Seconds, nodes: Nodes) {
        self.until(now);
        self.nodes -= nodes.0;
    }
}

#[derive(Clone, Copy)]
struct SubmissionWindow {
    first: Seconds,
    used_at_first: NodeSeconds,
    last: Seconds,
    used_at_last: NodeSeconds,
}

impl Replanning {
    /// For an idle cluster at time 0.
    #[must_use]
    pub fn new(nodes: Nodes, settings: ReplanningSettings) -> Self {
        let totals = ReservationTotals {
            asked_for_notice: settings.notice.is_some(),
            ..ReservationTotals::default()
        };
        Self {
            waits: settings.notice.and_then(ShortestNotice::waits),
            settings,
            nodes,
            now: Seconds::ZERO,
            fixed: FreeResources::new(nodes, Seconds::ZERO),
            memory: None,
            queue: Vec::new(),
            running: BTreeMap::new(),
            reservations: BTreeMap::new(),
            plan: None,
            unsettled: None,
            usage: Usage::default(),
            window: None,
            reservation_outcomes: Vec::new(),
            totals,
            marks: JobMarks::default(),
            cancellations: Agenda::default(),
            preempted: BTreeSet::new(),
        }
    }

    /// From now on counts memory: no job and no reservation starts before there is enough of it.
    /// Queues are planned by conservative backfilling then. Nothing has been submitted yet.
    pub(super) fn count_memory(&mut self, memory: MachineMemory) {
        self.fixed = FreeResources::new(self.nodes, self.now).with_memory(memory.size, self.now);
        self.memory = Some(memory);
    }

    /// With this knowledge of single jobs.
    #[must_use]
    pub fn with_marks(mut self, marks: JobMarks) -> Self {
        self.marks = marks;
        self
    }

    /// Waiting and running jobs, and reservations that have not ended.
    #[must_use]
    pub fn tasks_in_system(&self) -> usize {
        self.queue.len() + self.running.len() + self.reservations.len()
    }

    /// Node-time that jobs and reservations have used so far.
    #[must_use]
    pub fn used(&self) -> NodeSeconds {
        let mut usage = self.usage;
        usage.until(self.now)
    }

    /// The waiting jobs in the order of planning.
    #[must_use]
    pub fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    /// How long before its start a reservation of this width must be asked for now. As long as no
    /// job of its width has started, nothing is predicted.
    pub(super) fn notice(&self, nodes: Nodes) -> Seconds {
        match self.settings.notice {
            Some(ShortestNotice::Fixed(notice)) => notice,
            Some(ShortestNotice::Predicted(rule)) => {
                let wait = self.predicted_wait(nodes, rule.quantile);
                Seconds((rule.factor * wait.unwrap_or_default().0 as f64).ceil() as i64)
            }
            None => Seconds::ZERO,
        }
    }

    /// The start of a reservation that has been granted and is not over.
    pub(super) fn granted_start(&self, request: RequestId) -> Option<Seconds> {
        self.reservations.get(&request)?.outcome.start
    }

    /// From now on remembers the waits of jobs that start, the latest `last` of each node bin.
    pub fn remember_waits(&mut self, last: usize) {
        self.waits = kept_waits(last);
    }

    /// The quantile, between 0 and 1, of the remembered waits of jobs of this width
    /// ([`WaitPredictor::quantile`]), and 0 as long as there is none. `None` where waits are not
    /// remembered.
    #[must_use]
    pub fn predicted_wait(&self, nodes: Nodes, quantile: f64) -> Option<Seconds> {
        let waits = self.waits.as_ref()?;
        Some(waits.quantile(nodes, quantile).unwrap_or_default())
    }

    /// What is free beside running jobs and reservations: what a reservation that pushes planned
    /// jobs away may take.
    #[must_use]
    pub fn fixed(&self) -> &FreeResources {
        &self.fixed
    }

    /// How many nodes one reservation can have at most.
    #[must_use]
    pub fn most_reserved(&self) -> Nodes {
        (self.memory).map_or(self.nodes, |memory| memory.most_reserved(self.nodes))
    }

    /// What a reservation of so many nodes takes.
    pub(super) fn of_reservation(&self, nodes: Nodes) -> Resources {
        let each = (self.memory).map_or(Megabytes(0), |memory| memory.per_reserved_node);
        Resources {
            nodes,
            memory: each.of_nodes(nodes),
        }
    }

    /// Totals of the requests so far.
    #[must_use]
    pub fn totals(&self) -> ReservationTotals {
        let mut totals = self.totals;
        if let Some(window) = self.window {
            totals.submitting = window.last - window.first;
            totals.used_while_submitting =
                NodeSeconds(window.used_at_last.0 - window.used_at_first.0);
        }
        totals
    }

    /// The outcomes of requests since the last call, in the order in which they became final.
    pub(super) fn take_outcomes(&mut self) -> Vec<ReservationOutcome> {
        std::mem::take(&mut self.reservation_outcomes)
    }

    pub(super) fn settings(&self) -> &ReplanningSettings {
        &self.settings
    }

    pub(super) fn now(&self) -> Seconds {
        self.now
    }

    /// Time has passed.
    pub(super) fn come_to(&mut self, now: Seconds) {
        if now > self.now {
            self.now = now;
            self.fixed.forget_before(now);
        }
    }

    /// A request was handed over.
    pub(super) fn expect(&mut self, request: ReservationRequest) {
        self.reservations
            .insert(request.id, OpenReservation::asked(request));
    }

    fn close(&mut self, outcome: ReservationOutcome) {
        self.totals.count(&outcome);
        if self.marks.cancels(outcome.request.id).is_none() {
            self.totals.kept.count(&outcome);
        }
        let costs = self.marks.costs.as_deref();
        if let Some(cost) = costs.and_then(|costs| costs.of_request(outcome.request.id)) {
            self.totals.waiting.count_reservation(&outcome, &cost);
        }
        self.reservation_outcomes.push(outcome);
    }
}

impl Policy for Replanning {
    fn arrived(&mut self, cluster: &mut Cluster, job: JobId) {
        self.come_to(cluster.now());
        match job.request() {
            Some(request) => self.answer(cluster, request),
            None => {
                self.submitted();
                cluster.wait(job);
                self.enqueue(Waiting::from(cluster.job(job)));
            }
        }
    }

    fn start_due(&mut self, cluster: &mut Cluster, job: JobId) {
        self.come_to(cluster.now());
        if let Some(request) = job.request() {
            self.start_reservation(cluster, request);
        }
    }

    fn ended(&mut self, cluster: &mut Cluster, job: JobId) {
        self.come_to(cluster.now());
        match job.request() {
            Some(request) => self.end_reservation(cluster, request),
            None => self.end_job(job),
        }
    }

    fn stopped(&mut self, cluster: &mut Cluster, job: JobId) {
        self.come_to(cluster.now());
        self.preempt(cluster, job);
    }

    fn requeues_stopped(&self) -> bool {
        self.settings.admission == Admission::Requeue
    }

    /// Where stopped jobs go on, they save nothing before they are stopped, and all of it then.
    fn checkpointing(&self) -> Option<Checkpointing> {
        let settings = CheckpointSettings {
            interval: CheckpointInterval::Fixed(Seconds::FAR),
            cost: Seconds::ZERO,
            restart: self.settings.resumes_after()?,
            payer: CheckpointPayer::Provider,
            gap_end: GapEnd::Checkpoint,
            resume: ResumeRule::Any,
            memory_price: 0.0,
            bandwidth: Bandwidth::Own,
        };
        Some(Checkpointing::new(settings, 0.0))
    }

    fn woken(&mut self) {
        self.unsettled = Some(0);
    }

    fn node_failed(&mut self, cluster: &mut Cluster, _node: NodeIndex, victim: Option<JobId>) {
        self.come_to(cluster.now());
        match victim.map(|job| (job, job.request())) {
            Some((_, Some(request))) => self.lose_reservation(cluster, request),
            Some((job, None)) => {
                if let Some(run) = self.take_off(job) {
                    self.totals.lost_to_failures += run.used(self.now);
                }
                self.queue_again(cluster, job);
            }
            None => {}
        }
        (self.fixed).reserve(self.now, Seconds::FAR, Resources::of_nodes(Nodes(1)));
        self.forget_plan();
        self.unsettled = Some(0);
    }

    fn node_repaired(&mut self, cluster: &mut Cluster, _node: NodeIndex) {
        self.come_to(cluster.now());
        (self.fixed).release(self.now, Seconds::FAR, Resources::of_nodes(Nodes(1)));
        self.forget_plan();
        self.unsettled = Some(0);
    }

    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        self.come_to(cluster.now());
        self.take_back(cluster, job);
    }

    fn decided(&mut self, outcome: &JobOutcome) {
        match outcome.verdict {
            Verdict::DroppedTooWide => {
                self.come_to(outcome.job.submit);
                self.submitted();
            }
            Verdict::FailedOverbooked => self.truncated(outcome),
            _ => {}
        }
        self.count_who_paid(outcome);
    }

    fn settled(&mut self, cluster: &mut Cluster) {
        self.come_to(cluster.now());
        self.cancel_due(cluster);
        self.settle(cluster);
    }
}

impl OpenReservation {
    fn asked(request: ReservationRequest) -> Self {
        let start = request.wanted.earliest();
        Self {
            outcome: ReservationOutcome {
                request,
                verdict: RequestVerdict::Granted,
                start: None,
                end: None,
                price: None,
                offers: Vec::new(),
                displaced_jobs: None,
                displaced: None,
                twin_start: None,
            },
            start,
            running: false,
        }
    }

    fn is_granted(&self) -> bool {
        self.outcome.start.is_some()
    }
}

#[cfg(test)]
mod tests;
