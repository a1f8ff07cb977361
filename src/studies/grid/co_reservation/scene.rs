//! The scene of several clusters and a broker, and its result.

use std::sync::Arc;

use bookahead_core::failures::NodeEvent;
use bookahead_core::kernel::{Listed, Played, Scene};
use bookahead_core::random::StreamSeed;
use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CoRequest, Job};

use super::cluster_setup::clusters;
use super::exchange::Exchange;
use super::failures::ClusterOutage;
use super::machine::{CoReservationInput, CoReservations, WINDOW};
use super::waiting::count_waiting;
use super::{CoReservationInputs, CoReservationRun, CoReservationSettings, OutageEvents, Site};
use crate::co_reservation::local::{ClusterId, LocalService, OutageEvent, RiskPolicyError};

/// A broker, the clusters that it asks, a client of each, the one that asks for co-reservations,
/// and what fails when.
///
/// # Errors
///
/// When the policy of the clusters is unknown.
pub fn co_reservation_scene(
    inputs: &CoReservationInputs,
    settings: &CoReservationSettings,
    seed: &StreamSeed,
) -> Result<Scene<CoReservations>, RiskPolicyError> {
    let sizes: Vec<Nodes> = inputs.clusters.iter().map(|it| it.nodes).collect();
    // A broker knows what is offered for co-reservations (Meltzer 2005, Table 2).
    let offered = sizes.iter().map(|&nodes| settings.local.offered(nodes));
    let exchange = Exchange::new(offered.collect(), settings, seed);
    let outages = OutageEvents::new(settings.failures.as_ref(), &sizes, seed);
    let services = clusters(inputs, settings)?;
    let mut scene = scene_of(inputs, services, exchange, outages);
    if settings.failures.as_ref().is_some_and(|it| it.silent) {
        for site in &mut scene.services {
            site.keep_silent_while_down();
        }
    }
    Ok(scene)
}

/// The same with any clusters and any exchange; tests bring their own.
pub(super) fn scene_of(
    inputs: &CoReservationInputs,
    services: Vec<Box<dyn LocalService>>,
    exchange: Exchange,
    outages: OutageEvents,
) -> Scene<CoReservations> {
    let node_outages = node_outages(inputs);
    let fails = !outages.is_empty() || !node_outages.is_empty();
    let mut scene = Scene::new("broker", CoReservations::new(exchange, inputs, fails));
    scene.window = WINDOW;
    scene.service_name = "cluster";
    scene.services = (0..)
        .map(ClusterId)
        .zip(services)
        .map(|(cluster, service)| Site::new(cluster, service))
        .collect();
    for (cluster, workload) in inputs.clusters.iter().enumerate() {
        let submit = move |input: &mut CoReservationInput, jobs: &[Job]| {
            input.jobs.push((cluster, jobs.to_vec()));
        };
        let client = Listed::new(Arc::clone(&workload.jobs), |job: &Job| job.submit, submit);
        scene = scene.with("client", client);
    }
    let ask = |input: &mut CoReservationInput, requests: &[CoRequest]| {
        input.requests.extend_from_slice(requests);
    };
    let asked_at = |request: &CoRequest| request.submit;
    let fail = |input: &mut CoReservationInput, outages: &[ClusterOutage]| {
        input.outages.extend_from_slice(outages);
    };
    scene
        .with(
            "co-reservation client",
            Listed::new(Arc::clone(&inputs.requests), asked_at, ask),
        )
        .with("failure injector", outages)
        .with(
            "node failure injector",
            Listed::new(node_outages, |outage: &ClusterOutage| outage.0, fail).beside(),
        )
}

/// The failures of nodes as outages of clusters, in order of time and of cluster.
fn node_outages(inputs: &CoReservationInputs) -> Vec<ClusterOutage> {
    let each = inputs
        .failures
        .by_machine(inputs.clusters.iter().map(|it| it.nodes));
    let mut outages = Vec::new();
    for (cluster, trace) in (0..).map(ClusterId).zip(each) {
        outages.extend(
            trace
                .events
                .into_iter()
                .map(|NodeEvent { time, node, up }| {
                    let (first, count) = (node.0, 1);
                    let outage = if up {
                        OutageEvent::NodesUp { first, count }
                    } else {
                        OutageEvent::NodesDown { first, count }
                    };
                    (time, cluster, outage)
                }),
        );
    }
    outages.sort_by_key(|(time, _, _)| *time);
    outages
}

impl CoReservationRun {
    /// What a [`co_reservation_scene`] with these inputs came to; what it handed out must have been
    /// kept. Jobs that could never start ([`CoReservations::is_stuck`]) have no outcome.
    #[must_use]
    pub fn of(played: Played<CoReservations>, inputs: &CoReservationInputs) -> Self {
        let mut jobs = Vec::new();
        let mut parts = vec![Vec::new(); inputs.clusters.len()];
        for output in played.outputs {
            jobs.extend(output.jobs);
            for (cluster, ended) in output.parts {
                parts[cluster].extend(ended);
            }
        }
        jobs.sort_unstable_by_key(|outcome: &JobOutcome| outcome.job.id);
        let (mut metrics, mut totals, mut time_lines) = (Vec::new(), Vec::new(), Vec::new());
        for mut site in played.services {
            metrics.push(site.service().metrics());
            totals.push(site.service().totals());
            time_lines.push(site.take_line());
        }
        let drained = totals.iter().map(|it| it.drained).max().unwrap_or_default();
        for line in &mut time_lines {
            // The first look at which nothing runs any more is the last.
            line.samples
                .retain(|sample| sample.time < drained + Seconds::HOUR);
        }
        let mut requests = played.machine.finish();
        count_waiting(inputs, &jobs, &mut requests);
        Self {
            metrics: sum(inputs, &jobs, &metrics),
            jobs,
            requests,
            parts,
            totals,
            time_lines,
        }
    }
}

/// Totals over the jobs of all clusters.
fn sum(
    inputs: &CoReservationInputs,
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
