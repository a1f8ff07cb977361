//! A whole simulation of several clusters as one function call, without any actor.

use super::cluster_setup::clusters;
use super::exchange::Exchange;
use super::{CoOutcome, CoReservationSettings, GridInputs, GridRun, OutageEvents, Site, TimeLine};
use crate::random::StreamSeed;
use crate::scheduling::local::{
    ClusterId, LocalService, LocalTotals, OverbookingError, PartOutcome,
};
use crate::scheduling::{JobOutcome, SimulationMetrics};
use crate::units::{Nodes, Seconds};

/// How far clusters are worked off at once; it has no influence on results.
pub const WINDOW: Seconds = Seconds(24 * 3_600);

/// Windows in which nothing happens to unfinished jobs before a simulation with failures is given up: about ten years.
pub const MAXIMUM_IDLE_WINDOWS: u32 = 3_660;

/// Simulates clusters, jobs and a broker until every request has its verdict and every job and part has ended.
///
/// The result depends on the arguments alone. Should jobs be left that can never start, they have no outcome.
///
/// # Errors
///
/// When the policy of overbooking clusters cannot sell parts.
pub fn simulate_grid(
    inputs: &GridInputs,
    settings: &CoReservationSettings,
    seed: &StreamSeed,
) -> Result<GridRun, OverbookingError> {
    let sizes: Vec<Nodes> = inputs.clusters.iter().map(|it| it.nodes).collect();
    let exchange = Exchange::new(sizes.clone(), settings, seed);
    let outages = OutageEvents::new(settings.failures.as_ref(), &sizes, seed);
    Ok(drive(
        inputs,
        clusters(inputs, settings)?,
        exchange,
        outages,
    ))
}

/// Drives any clusters; tests bring their own.
pub(super) fn drive(
    inputs: &GridInputs,
    services: Vec<Box<dyn LocalService>>,
    mut exchange: Exchange,
    mut outages: OutageEvents,
) -> GridRun {
    let mut sites: Vec<Site> = (0..)
        .map(ClusterId)
        .zip(services)
        .map(|(cluster, service)| Site::new(cluster, service))
        .collect();
    for (site, workload) in sites.iter_mut().zip(&inputs.clusters) {
        site.submit(&workload.jobs);
    }
    exchange.submit(inputs.requests.iter().cloned());
    let mut run = GridRun {
        parts: vec![Vec::new(); sites.len()],
        ..GridRun::default()
    };
    let mut until = Seconds::ZERO;
    let mut idle_windows_left = MAXIMUM_IDLE_WINDOWS;
    loop {
        until += WINDOW;
        exchange.apply_outage(outages.before(until));
        while let Some(task) = exchange.next_task(until) {
            let site = &mut sites[usize::from(task.cluster.0)];
            let report = site.carry_out(task.at, &task.command);
            exchange.report(&task, report);
        }
        let before = run.jobs.len();
        let mut idle = exchange.is_idle();
        for (site, parts) in sites.iter_mut().zip(&mut run.parts) {
            site.advance(until);
            let service = site.service();
            run.jobs.extend(service.take_job_outcomes());
            parts.extend(service.take_part_outcomes());
            idle &= service.is_idle();
        }
        if idle {
            break;
        }
        let mut services = sites.iter_mut().map(Site::service);
        let is_waiting = services.all(|it| it.next_event().is_none());
        if exchange.is_idle() && is_waiting && run.jobs.len() == before {
            idle_windows_left = if outages.is_empty() {
                0
            } else {
                idle_windows_left - 1
            };
        }
        if idle_windows_left == 0 {
            break;
        }
    }
    let requests = exchange.finish();
    let lines = sites.iter_mut().map(Site::take_line).collect();
    let metrics: Vec<_> = sites
        .iter_mut()
        .map(|site| site.service().metrics())
        .collect();
    let totals = sites
        .iter_mut()
        .map(|site| site.service().totals())
        .collect();
    finish(
        inputs, run.jobs, run.parts, requests, lines, &metrics, totals,
    )
}

/// Puts together what a simulation produced; in the same way with and without actors.
#[must_use]
pub fn finish(
    inputs: &GridInputs,
    mut jobs: Vec<JobOutcome>,
    parts: Vec<Vec<PartOutcome>>,
    mut requests: Vec<CoOutcome>,
    mut lines: Vec<TimeLine>,
    metrics: &[SimulationMetrics],
    totals: Vec<LocalTotals>,
) -> GridRun {
    jobs.sort_unstable_by_key(|outcome| outcome.job.id);
    let drained = totals.iter().map(|it| it.drained).max().unwrap_or_default();
    for line in &mut lines {
        // The first look at which nothing runs any more is the last.
        line.samples
            .retain(|sample| sample.time < drained + Seconds::HOUR);
    }
    count_waiting(inputs, &jobs, &mut requests);
    GridRun {
        metrics: sum(inputs, &jobs, metrics),
        jobs,
        requests,
        parts,
        totals,
        time_lines: lines,
    }
}

/// Jobs that waited at the submission of a granted request on the clusters that it got, and those of them that still wait when
/// its parts start (Q23). Of jobs and a request of one instant, the request comes first, so such jobs do not count.
fn count_waiting(inputs: &GridInputs, jobs: &[JobOutcome], requests: &mut [CoOutcome]) {
    let mut by_cluster = Vec::new();
    let mut next = 0;
    for workload in &inputs.clusters {
        // Ids go on from cluster to cluster; a job without an outcome leaves no hole that matters, since ids are looked up.
        let last = workload.jobs.last().map(|job| job.id);
        let end = next + jobs[next..].partition_point(|it| Some(it.job.id) <= last);
        by_cluster.push(&jobs[next..end]);
        next = end;
    }
    for outcome in requests {
        let Some(begin) = outcome.start else { continue };
        let submit = outcome.request.submit;
        for cluster in &outcome.clusters {
            for job in by_cluster[usize::from(cluster.0)] {
                if job.job.submit >= submit {
                    break;
                }
                let Some(start) = job.start else { continue };
                outcome.waiting_before += u32::from(start > submit);
                outcome.waiting_after += u32::from(start > submit && start > begin);
            }
        }
    }
}

/// Totals over the jobs of all clusters.
fn sum(
    inputs: &GridInputs,
    jobs: &[JobOutcome],
    metrics: &[SimulationMetrics],
) -> SimulationMetrics {
    let mut sum = SimulationMetrics::default();
    for outcome in jobs {
        sum.count(outcome);
    }
    for one in metrics {
        sum.busy += one.busy;
        sum.work.pof_evaluations += one.work.pof_evaluations;
        sum.work.convolutions += one.work.convolutions;
        sum.work.replans += one.work.replans;
        sum.work.moves += one.work.moves;
    }
    let first = jobs.iter().map(|it| it.job.submit).min();
    let last = jobs.iter().filter_map(|it| it.end).max();
    if let (Some(first), Some(last)) = (first, last) {
        sum.makespan = last - first;
        for workload in &inputs.clusters {
            sum.capacity += workload.nodes.for_span(sum.makespan);
        }
    }
    sum
}
