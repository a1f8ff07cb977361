//! A whole simulation of a reserving machine as one function call.

use super::{ReservationOutcome, ReservationTotals, ReservingMachine, ReservingSettings};
use crate::scheduling::measures::Measured;
use crate::scheduling::outcome::{JobOutcome, SimulationMetrics};
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, ReservationRequest};

/// What a simulation of a reserving machine gave.
#[derive(Clone, Debug, PartialEq)]
pub struct ReservingRun {
    /// Totals of the jobs.
    pub metrics: SimulationMetrics,
    /// Totals of the requests.
    pub totals: ReservationTotals,
    /// One outcome a job, in order of job.
    pub jobs: Vec<JobOutcome>,
    /// One outcome a request, in order of request.
    pub reservations: Vec<ReservationOutcome>,
}

/// Simulates jobs and requests, both in order of submission with ids from 0, on an idle machine.
#[must_use]
pub fn simulate_reserving(
    nodes: Nodes,
    settings: &ReservingSettings,
    jobs: &[Job],
    requests: &[ReservationRequest],
) -> ReservingRun {
    let mut machine = ReservingMachine::new(nodes, settings.clone());
    machine.submit(jobs.iter().cloned());
    machine.request(requests.iter().cloned());
    machine.advance(Seconds::FAR);
    let mut jobs = machine.take_job_outcomes();
    jobs.sort_unstable_by_key(|outcome| outcome.job.id);
    let mut reservations = machine.take_reservation_outcomes();
    reservations.sort_unstable_by_key(|outcome| outcome.request.id);
    ReservingRun {
        metrics: machine.metrics(),
        totals: machine.reservation_totals(),
        jobs,
        reservations,
    }
}

/// The measures of a simulation with reservations (spec `grid-reservations.md` §5, `provisioning.md` §10).
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
    let reservation_wait = totals.wait.hours() / granted;
    measured.add("job_wait_hours", job_wait);
    measured.add("reservation_wait_hours", reservation_wait);
    measured.add_ratio("wait_ratio", reservation_wait, job_wait);
    if totals.asked_for_prices {
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
    measured
}
