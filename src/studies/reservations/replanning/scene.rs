//! The scene of a machine that takes reservations, and its result.

use std::collections::BTreeMap;
use std::sync::Arc;

use bookahead_core::failures::{FailureTrace, NodeEvent, SharedEvents};
use bookahead_core::kernel::{Listed, Machine, NoService, Played, Scene, Step, Stopwatch};
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, RequestId, ReservationRequest};

use super::twins::{TwinMachine, TwinTotals};
use super::{
    JobMarks, JobSums, Replanning, ReplanningMachine, ReplanningSettings, ReservationOutcome,
    ReservationTotals,
};

/// What a simulation of a replanning machine gave.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplanningRun {
    /// Totals of the jobs.
    pub metrics: SimulationMetrics,
    /// Totals of the requests.
    pub totals: ReservationTotals,
    /// One outcome a job, in order of job.
    pub jobs: Vec<JobOutcome>,
    /// One outcome a request, in order of request.
    pub reservations: Vec<ReservationOutcome>,
    /// How reservations began beside their twin jobs; `None` where there were none.
    pub twins: Option<TwinTotals>,
}

impl ReplanningRun {
    /// What a [`replanning_scene`] came to.
    #[must_use]
    pub fn of(played: Played<ReplanningMachine>) -> Self {
        Self::read_off(&played.machine, played.outputs)
    }

    /// What a scene [`with_twins`] came to.
    #[must_use]
    pub fn of_twins(played: Played<TwinMachine>) -> Self {
        let twins = Some(played.machine.totals());
        let run = Self::read_off(played.machine.machine(), played.outputs);
        Self { twins, ..run }
    }

    fn read_off(machine: &ReplanningMachine, outputs: Vec<ReplanningOutput>) -> Self {
        let (mut jobs, mut reservations) = (Vec::new(), Vec::new());
        let mut twins: BTreeMap<RequestId, Seconds> = BTreeMap::new();
        for output in outputs {
            jobs.extend(output.jobs);
            reservations.extend(output.reservations);
            twins.extend(output.twins);
        }
        jobs.sort_unstable_by_key(|outcome| outcome.job.id);
        reservations.sort_unstable_by_key(|outcome| outcome.request.id);
        for outcome in &mut reservations {
            outcome.twin_start = twins.get(&outcome.request.id).copied();
        }
        Self {
            metrics: machine.metrics(),
            totals: machine.reservation_totals(),
            jobs,
            reservations,
            twins: None,
        }
    }
}

/// What comes to a machine with reservations from outside.
#[derive(Clone, Debug, Default)]
pub struct ReplanningInput {
    /// Jobs in order of submission.
    pub arrivals: Vec<Job>,
    /// Requests in order of submission.
    pub requests: Vec<ReservationRequest>,
    /// Failures and repairs of nodes.
    pub node_events: Vec<NodeEvent>,
}

/// The results that became final on a machine with reservations.
#[derive(Clone, Debug, Default)]
pub struct ReplanningOutput {
    /// Outcomes of jobs.
    pub jobs: Vec<JobOutcome>,
    /// Outcomes of requests.
    pub reservations: Vec<ReservationOutcome>,
    /// When twin jobs started, where there are any.
    pub twins: Vec<(RequestId, Seconds)>,
}

impl Machine for ReplanningMachine {
    type Input = ReplanningInput;
    type Output = ReplanningOutput;
    type Service = NoService;

    fn take(&mut self, input: ReplanningInput) {
        self.inject(&input.node_events);
        self.submit(input.arrivals);
        self.request(input.requests);
    }

    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        (**self).advance(until);
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        (**self).next_event()
    }

    fn is_idle(&self) -> bool {
        (**self).is_idle()
    }

    fn hand_out(&mut self) -> ReplanningOutput {
        ReplanningOutput {
            jobs: self.take_outcomes(),
            reservations: self.take_reservation_outcomes(),
            twins: Vec::new(),
        }
    }

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        (**self).time_decisions(stopwatch);
    }
}

/// An idle machine, its clients, the requesters of reservations (both in order of submission with
/// ids from 0), and the failures of its nodes; with what is known of single jobs.
#[must_use]
pub fn replanning_scene(
    nodes: Nodes,
    settings: &ReplanningSettings,
    jobs: &Arc<[Job]>,
    requests: &Arc<[ReservationRequest]>,
    marks: &JobMarks,
    failures: &Arc<FailureTrace>,
) -> Scene<ReplanningMachine> {
    let plan = Replanning::new(nodes, settings.clone());
    let plan = plan.with_marks(marks.clone());
    let machine = ReplanningMachine::of(nodes, plan);
    let submit = |input: &mut ReplanningInput, jobs: &[Job]| input.arrivals.extend_from_slice(jobs);
    let client = Listed::new(Arc::clone(jobs), |job: &Job| job.submit, submit);
    let request = |input: &mut ReplanningInput, requests: &[ReservationRequest]| {
        input.requests.extend_from_slice(requests);
    };
    let asked_at = |request: &ReservationRequest| request.submit;
    let asking = Listed::new(Arc::clone(requests), asked_at, request);
    let inject = |input: &mut ReplanningInput, events: &[NodeEvent]| {
        input.node_events.extend_from_slice(events);
    };
    let events = SharedEvents(Arc::clone(failures));
    let injector = Listed::new(events, |event: &NodeEvent| event.time, inject);
    Scene::new("cluster", machine)
        .with("client", client)
        .with("reservation client", asking)
        .with("failure injector", injector.beside())
}

/// A [`replanning_scene`] with a twin job beside every granted reservation. Jobs and reservations
/// meet what they meet without.
#[must_use]
pub fn with_twins(scene: Scene<ReplanningMachine>) -> Scene<TwinMachine> {
    Scene {
        machine: TwinMachine::around(scene.machine),
        machine_name: scene.machine_name,
        services: scene.services,
        service_name: scene.service_name,
        sources: scene.sources,
        // Jobs that were handed over and have not arrived are copied with every machine.
        window: Seconds::HOUR * 24,
    }
}

/// The measures of a simulation with reservations (Heine 2005, §4; Singh 2008, §5.3).
#[must_use]
pub fn reservation_measures(
    nodes: Nodes,
    metrics: &SimulationMetrics,
    totals: &ReservationTotals,
) -> Measured {
    let mut measured = Measured::default();
    let requests = totals.submitted as f64;
    let granted = totals.granted as f64;
    measured.add("requests", requests);
    measured.add("granted", granted);
    for (name, count) in [
        ("rejected_percent", totals.rejected()),
        ("rejected_fixed_percent", totals.conflicts_with_fixed),
        ("rejected_planned_percent", totals.conflicts_with_planned),
        ("rejected_impossible_percent", totals.impossible),
    ] {
        measured.add_ratio(name, 100.0 * count as f64, requests);
    }
    if totals.asked_for_notice {
        let share = 100.0 * totals.too_short_notice as f64;
        measured.add_ratio("rejected_notice_percent", share, requests);
    }
    measured.add_ratio(
        "reservations_used_percent",
        100.0 * totals.used.0 as f64,
        metrics.capacity.0 as f64,
    );
    measured.add_ratio(
        "held_idle_percent",
        100.0 * (totals.held.0 - totals.used.0) as f64,
        totals.held.0 as f64,
    );
    measured.add_ratio(
        "loaded_utilisation_percent",
        100.0 * totals.used_while_submitting.0 as f64,
        nodes.for_span(totals.submitting).0 as f64,
    );
    let job_wait = metrics.wait_total.hours() / metrics.started as f64;
    let reservation_wait = totals.wait.hours() / (totals.granted - totals.cancelled) as f64;
    measured.add("job_wait_hours", job_wait);
    measured.add("reservation_wait_hours", reservation_wait);
    measured.add_ratio("wait_ratio", reservation_wait, job_wait);
    if totals.asked_for_prices {
        let granted = (totals.granted - totals.cancelled) as f64;
        measured.add_ratio("price_su", totals.price.coins().0, granted);
        let mean = totals.price.coins().0 / granted;
        let variance = totals.squared_price_su / granted - mean * mean;
        measured.add("price_deviation_su", variance.max(0.0).sqrt());
        measured.add_ratio("priced_percent", 100.0 * totals.priced as f64, granted);
    }
    if totals.offers > 0 {
        measured.add_ratio("offers_mean", totals.offers as f64, requests);
    }
    if totals.displacement_known {
        measured.add_ratio("displaced_jobs_mean", totals.displaced_jobs as f64, granted);
        measured.add_ratio("displaced_hours_mean", totals.displaced.hours(), granted);
    }
    if totals.anomalies > 0 {
        measured.add("anomalies", totals.anomalies as f64);
    }
    if totals.lost_to_failures > NodeSeconds(0) || totals.lost > 0 {
        measured.add_ratio(
            "reservations_lost_percent",
            100.0 * totals.lost as f64,
            granted,
        );
        let lost = totals.lost_to_failures.0 as f64;
        measured.add("failures_lost_processor_seconds", lost);
    }
    who_cancelled(&mut measured, totals);
    who_paid(&mut measured, totals);
    who_waited(&mut measured, totals);
    let runs = &metrics.checkpoints;
    if runs.jobs > 0 {
        measured.add("resumed_from_checkpoint", runs.resumed as f64);
        measured.add("restart_node_hours", runs.read.coins().0);
    }
    measured
}

/// How reservations began beside their twin jobs (Heine 2005, §2).
pub fn twin_measures(measured: &mut Measured, twins: &TwinTotals) {
    let started = twins.started as f64;
    measured.add_ratio("before_twin_percent", 100.0 * twins.later as f64, started);
    measured.add_ratio("before_twin_hours", twins.advantage.hours(), started);
}

/// What became of the others where reservations are cancelled (Singh 2008, §6.4).
fn who_cancelled(measured: &mut Measured, totals: &ReservationTotals) {
    if totals.kept.submitted == totals.submitted {
        return;
    }
    let cancelled = totals.cancelled as f64;
    measured.add_ratio(
        "cancelled_percent",
        100.0 * cancelled,
        totals.granted as f64,
    );
    let kept = &totals.kept;
    let share = 100.0 * kept.rejected as f64;
    measured.add_ratio("kept_rejected_percent", share, kept.submitted as f64);
    if totals.asked_for_prices {
        let penalties = totals.cancellation_penalties.coins().0;
        measured.add_ratio("cancellation_penalty_su", penalties, cancelled);
    }
}

/// What waiting cost whom, where jobs have delay costs.
fn who_waited(measured: &mut Measured, totals: &ReservationTotals) {
    let waiting = &totals.waiting;
    if waiting.truthful.count + waiting.misstating.count == 0 {
        return;
    }
    measured.add("waiting_cost_su", waiting.total_su());
    if totals.asked_for_prices {
        measured.add("prices_paid_su", totals.price.coins().0);
        for (name, sums) in [
            ("truthful_request_cost_su", &waiting.truthful_requests),
            ("misstating_request_cost_su", &waiting.misstating_requests),
        ] {
            measured.add_ratio(name, sums.cost_su, sums.count as f64);
        }
    }
    for (name, class) in [
        ("first_class_wait_hours", 0),
        ("second_class_wait_hours", 1),
        ("third_class_wait_hours", 2),
    ] {
        let sums: &JobSums = &waiting.classes[class];
        measured.add_ratio(name, sums.wait.hours(), sums.jobs as f64);
    }
    for (name, sums) in [
        ("truthful_cost_su", &waiting.truthful),
        ("misstating_cost_su", &waiting.misstating),
    ] {
        measured.add_ratio(name, sums.cost_su, sums.count as f64);
    }
}

/// What stopping preemptible jobs cost them and the others, where there are any.
fn who_paid(measured: &mut Measured, totals: &ReservationTotals) {
    if totals.preemptible.jobs == 0 {
        return;
    }
    measured.add("truncated_jobs", totals.truncated as f64);
    measured.add("requeued_jobs", totals.requeued as f64);
    measured.add(
        "stopped_lost_processor_seconds",
        totals.lost_to_preemption.0 as f64,
    );
    let mean = |measured: &mut Measured, wait, slowdown, sums: &JobSums| {
        let jobs = sums.jobs as f64;
        measured.add_ratio(wait, sums.wait.hours(), jobs);
        measured.add_ratio(slowdown, sums.bounded_slowdown, jobs);
    };
    mean(
        measured,
        "stopped_wait_hours",
        "stopped_bounded_slowdown",
        &totals.stopped,
    );
    mean(
        measured,
        "preemptible_wait_hours",
        "preemptible_bounded_slowdown",
        &totals.preemptible,
    );
    mean(
        measured,
        "other_wait_hours",
        "other_bounded_slowdown",
        &totals.others,
    );
}
