//! A planning-based machine that takes advance reservations, as a state machine (spec `grid-reservations.md` §3,
//! `provisioning.md` §6.7).

mod events;
mod outages;
mod preemption;
mod questions;
mod settling;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::outages::{Holder, Outages};
use super::outcome::{RequestVerdict, ReservationOutcome, ReservationTotals};
use super::settings::{ReplanningSettings, SameInstant};
use crate::failures::NodeEvent;
use crate::kernel::Agenda;
use crate::plan::Profile;
use crate::scheduling::outcome::{JobOutcome, SimulationMetrics, Verdict};
use crate::scheduling::queue::{DueEffort, Waiting};
use crate::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use crate::workload::{Job, JobId, RequestId, ReservationRequest};

/// A machine whose waiting jobs are *variable*: planned, and planned anew at every event, until they start. Reservations are
/// fixed: they start exactly when they were granted, or are lost where nodes failed. Nothing that runs is stopped for them, but
/// for preemptible jobs under the rules of admission that truncate or requeue.
///
/// Events of one instant come in the order: ends of jobs and reservations, repairs and failures of nodes, starts of reservations,
/// submissions of jobs and then of requests (A4), and last the starts of variable jobs whose place in the plan is now (A8). Cloning it forks the simulation.
#[derive(Clone)]
pub struct ReplanningMachine {
    settings: ReplanningSettings,
    nodes: Nodes,
    now: Seconds,
    /// Free beside running jobs until their estimated ends, and reservations.
    fixed: Profile,
    /// Waiting jobs in the order of planning.
    queue: Vec<Waiting>,
    /// Every job that has no outcome yet.
    jobs: BTreeMap<JobId, OpenJob>,
    reservations: BTreeMap<RequestId, OpenReservation>,
    events: Agenda<Event>,
    /// Where the waiting jobs are planned, while that is known.
    plan: Option<Plan>,
    /// Something happened at this instant that may let a job start.
    unsettled: bool,
    in_use: u32,
    used: NodeSeconds,
    used_until: Seconds,
    job_outcomes: Vec<JobOutcome>,
    reservation_outcomes: Vec<ReservationOutcome>,
    totals: SimulationMetrics,
    reservation_totals: ReservationTotals,
    window: Option<SubmissionWindow>,
    last_end: Seconds,
    effort: DueEffort,
    /// Which nodes are down, and who holds which; `None` on a machine without failures, which only counts.
    outages: Option<Outages>,
    /// Which jobs, by id, may be stopped for a reservation; none beyond the list.
    preemptible: Arc<[bool]>,
}

#[derive(Clone)]
struct OpenJob {
    job: Job,
    start: Option<Seconds>,
    /// When it is stopped for a reservation, before its estimate has elapsed.
    cut: Option<Seconds>,
    /// Raised whenever the end of a run is replaced, so that the old one is stale.
    version: u32,
    restarts: u32,
    node_failures: u32,
    /// Whether it was ever stopped for a reservation before it had finished.
    preempted: bool,
}

impl OpenJob {
    fn submitted(job: Job) -> Self {
        Self {
            job,
            start: None,
            cut: None,
            version: 0,
            restarts: 0,
            node_failures: 0,
            preempted: false,
        }
    }

    /// Until when a job that started then holds its nodes in the plan.
    fn planned_end(&self, start: Seconds) -> Seconds {
        let full = start + self.job.estimate;
        self.cut.map_or(full, |cut| cut.min(full))
    }
}

#[derive(Clone)]
struct OpenReservation {
    outcome: ReservationOutcome,
    start: Seconds,
    running: bool,
}

/// Planned starts, one a waiting job, and what the whole plan leaves free.
#[derive(Clone)]
struct Plan {
    starts: Vec<Seconds>,
    profile: Profile,
}

#[derive(Clone, Copy)]
struct SubmissionWindow {
    first: Seconds,
    used_at_first: NodeSeconds,
    last: Seconds,
    used_at_last: NodeSeconds,
}

#[derive(Clone)]
enum Event {
    /// With the version of the job's end.
    JobEnds(JobId, u32),
    ReservationEnds(RequestId),
    NodeIsRepaired(NodeIndex),
    NodeFails(NodeIndex),
    ReservationStarts(RequestId),
    WakeUp,
    JobArrives(JobId),
    RequestArrives(RequestId),
}

impl ReplanningMachine {
    /// An idle machine at time 0.
    #[must_use]
    pub fn new(nodes: Nodes, settings: ReplanningSettings) -> Self {
        Self {
            settings,
            nodes,
            now: Seconds::ZERO,
            fixed: Profile::new(nodes.0, Seconds::ZERO),
            queue: Vec::new(),
            jobs: BTreeMap::new(),
            reservations: BTreeMap::new(),
            events: Agenda::default(),
            plan: None,
            unsettled: false,
            in_use: 0,
            used: NodeSeconds(0),
            used_until: Seconds::ZERO,
            job_outcomes: Vec::new(),
            reservation_outcomes: Vec::new(),
            totals: SimulationMetrics::default(),
            reservation_totals: ReservationTotals::default(),
            window: None,
            last_end: Seconds::ZERO,
            effort: DueEffort::default(),
            outages: None,
            preemptible: Arc::default(),
        }
    }

    /// Says which jobs, by id, may be stopped for a reservation where the rule of admission does that.
    pub fn set_preemptible(&mut self, jobs: Arc<[bool]>) {
        self.preemptible = jobs;
    }

    /// Hands over failures and repairs of nodes, none in the past; the first before anything started. Nodes that the machine does not have
    /// are ignored.
    pub fn inject(&mut self, events: &[NodeEvent]) {
        let nodes = self.nodes;
        for event in events.iter().filter(|event| event.node.0 < nodes.0) {
            self.expect_failures();
            let kind = match event.up {
                true => Event::NodeIsRepaired(event.node),
                false => Event::NodeFails(event.node),
            };
            self.push(event.time, kind);
        }
    }

    /// From now on, which node runs what is known, so that failures may be handed over later.
    pub fn expect_failures(&mut self) {
        self.outages.get_or_insert_with(|| Outages::new(self.nodes));
    }

    /// Hands over variable jobs; none may be submitted in the past.
    pub fn submit(&mut self, jobs: impl IntoIterator<Item = Job>) {
        for job in jobs {
            let (time, id) = (job.submit, job.id);
            self.jobs.insert(id, OpenJob::submitted(job));
            self.push(time, Event::JobArrives(id));
        }
    }

    /// Hands over requests; none may be submitted in the past. Each is answered when its time has come, with the start that
    /// it wants or, where it chooses, with the one that α picks from the offers.
    pub fn request(&mut self, requests: impl IntoIterator<Item = ReservationRequest>) {
        for request in requests {
            let (time, id) = (request.submit, request.id);
            self.reservations
                .insert(id, OpenReservation::asked(request));
            self.push(time, Event::RequestArrives(id));
        }
    }

    /// Works off every event before `until`, and lets time pass to the last of them.
    pub fn advance(&mut self, until: Seconds) {
        while let Some(time) = self.next_event().filter(|time| *time < until) {
            self.move_to(time);
            while self.next_event() == Some(time) {
                let Some((_, event)) = self.events.pop() else {
                    break;
                };
                self.handle(event);
            }
            self.settle();
        }
    }

    /// Lets time pass to `time` (after every event before it), so that questions are answered as of then. Events at `time`
    /// itself are still to come.
    pub fn wait_until(&mut self, time: Seconds) {
        self.advance(time);
        if time > self.now {
            self.move_to(time);
        }
    }

    /// Virtual time.
    #[must_use]
    pub fn now(&self) -> Seconds {
        self.now
    }

    /// Size of the machine.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        self.nodes
    }

    /// The time of the next event, if there is one.
    #[must_use]
    pub fn next_event(&self) -> Option<Seconds> {
        self.events.next_time()
    }

    /// Whether every job and every request has its outcome.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty() && self.reservations.is_empty()
    }

    /// Waiting and running jobs, and reservations that were granted and have not ended.
    #[must_use]
    pub fn tasks_in_system(&self) -> usize {
        let running = self
            .jobs
            .values()
            .filter(|open| open.start.is_some())
            .count();
        self.queue.len() + running + self.reservations.len()
    }

    /// The waiting jobs in the order of planning.
    #[must_use]
    pub fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    /// When a job that has no outcome yet started, if it has.
    #[must_use]
    pub fn started(&self, job: JobId) -> Option<Seconds> {
        self.jobs.get(&job)?.start
    }

    /// Free nodes beside running jobs and reservations: what a reservation that pushes planned jobs away may take.
    #[must_use]
    pub fn fixed(&self) -> &Profile {
        &self.fixed
    }

    /// Cancels a reservation that has not started: its nodes are free again. Returns whether there was one.
    pub fn cancel(&mut self, request: RequestId) -> bool {
        let Some(open) = self.reservations.get(&request) else {
            return false;
        };
        if !open.is_granted() || open.running {
            return false;
        }
        let Some(mut open) = self.reservations.remove(&request) else {
            return false;
        };
        let asked = &open.outcome.request;
        self.fixed
            .release(open.start, open.start + asked.duration, asked.nodes.0);
        self.plan = None;
        self.unsettled = true;
        self.push(self.now, Event::WakeUp);
        open.outcome.verdict = RequestVerdict::Cancelled;
        open.outcome.start = None;
        self.close(open.outcome);
        true
    }

    /// Takes a waiting job out of the queue: free of charge, without an outcome. Returns whether it was waiting.
    pub fn withdraw(&mut self, job: JobId) -> bool {
        let Some(place) = self.queue.iter().position(|waiting| waiting.job == job) else {
            return false;
        };
        self.queue.remove(place);
        self.jobs.remove(&job);
        self.plan = None;
        self.unsettled = true;
        self.push(self.now, Event::WakeUp);
        true
    }

    /// The outcomes of jobs since the last call, in the order in which they became final.
    pub fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        std::mem::take(&mut self.job_outcomes)
    }

    /// The outcomes of requests since the last call, in the order in which they became final.
    pub fn take_reservation_outcomes(&mut self) -> Vec<ReservationOutcome> {
        std::mem::take(&mut self.reservation_outcomes)
    }

    /// Totals of the variable jobs so far; node-time in use is that of jobs and reservations.
    #[must_use]
    pub fn metrics(&self) -> SimulationMetrics {
        let mut metrics = self.totals;
        let first = self.window.map_or(self.last_end, |window| window.first);
        metrics.makespan = (self.last_end - first).max(Seconds::ZERO);
        metrics.capacity = self.nodes.for_span(metrics.makespan);
        metrics
    }

    /// How much planning was needed to know who starts when.
    #[must_use]
    pub fn effort(&self) -> DueEffort {
        self.effort
    }

    /// Totals of the requests so far.
    #[must_use]
    pub fn reservation_totals(&self) -> ReservationTotals {
        let mut totals = self.reservation_totals;
        if let Some(window) = self.window {
            totals.submitting = window.last - window.first;
            totals.used_while_submitting =
                NodeSeconds(window.used_at_last.0 - window.used_at_first.0);
        }
        totals
    }

    fn push(&mut self, time: Seconds, event: Event) {
        let class = match (&event, self.settings.same_instant) {
            (Event::JobEnds(..) | Event::ReservationEnds(_), _) => 0,
            (Event::NodeIsRepaired(_), _) => 1,
            (Event::NodeFails(_), _) => 2,
            (Event::ReservationStarts(_) | Event::WakeUp, _) => 3,
            (Event::JobArrives(_), SameInstant::JobFirst)
            | (Event::RequestArrives(_), SameInstant::RequestFirst) => 4,
            (Event::JobArrives(_), SameInstant::RequestFirst)
            | (Event::RequestArrives(_), SameInstant::JobFirst) => 5,
        };
        self.events.push(time.max(self.now), class, event);
    }

    fn move_to(&mut self, time: Seconds) {
        self.used += Nodes(self.in_use).for_span(time - self.used_until);
        self.used_until = time;
        self.now = time;
        self.fixed.forget_before(time);
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::JobEnds(job, version) => self.end_job(job, version),
            Event::ReservationEnds(request) => self.end_reservation(request),
            Event::NodeIsRepaired(node) => self.node_repaired(node),
            Event::NodeFails(node) => self.node_failed(node),
            Event::ReservationStarts(request) => self.start_reservation(request),
            Event::WakeUp => self.unsettled = true,
            Event::JobArrives(job) => self.job_arrives(job),
            Event::RequestArrives(request) => self.request_arrives(request),
        }
    }

    fn finish(&mut self, id: JobId, verdict: Verdict) {
        let Some(open) = self.jobs.remove(&id) else {
            return;
        };
        self.count_who_paid(&open);
        let OpenJob {
            job,
            start,
            restarts,
            node_failures,
            ..
        } = open;
        let end = start.map(|_| self.now);
        if let Some(end) = end {
            self.last_end = self.last_end.max(end);
        }
        let outcome = JobOutcome {
            job,
            verdict,
            class: None,
            promise: None,
            start,
            end,
            restarts,
            node_failures,
            execution: None,
            late: None,
        };
        self.totals.count(&outcome);
        self.job_outcomes.push(outcome);
    }

    fn close(&mut self, outcome: ReservationOutcome) {
        self.reservation_totals.count(&outcome);
        self.reservation_outcomes.push(outcome);
    }

    /// A request that is answered at once, as of now.
    #[cfg(test)]
    fn request_arrives_now(&mut self, request: ReservationRequest) {
        let id = request.id;
        self.reservations
            .insert(id, OpenReservation::asked(request));
        self.request_arrives(id);
    }

    pub(super) fn settings(&self) -> &ReplanningSettings {
        &self.settings
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
#[path = "machine_tests.rs"]
mod tests;
