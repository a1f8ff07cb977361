//! Values of one cluster compared with the others, and CPUs that are held without an owner, which
//! should never happen.

use std::collections::BTreeMap;

use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::CoRequestId;

use super::classes::{DURATION_CLASSES, SIZE_CLASSES, duration_class, size_class};
use super::{expansion_factor, granted, mean, wait};
use crate::co_reservation::local::{ClusterId, PartOutcome};
use crate::co_reservation::measures::ClusterValue;
use crate::co_reservation::{
    CoOutcome, CoReservationInputs, CoReservationRun, CoVerdict, ProbeCounts,
};

/// Collects the values of one cluster.
struct Values {
    cluster: ClusterId,
    rows: Vec<ClusterValue>,
}

impl Values {
    fn add(&mut self, measure: &'static str, value: f64) {
        self.add_class(measure, "", value);
    }

    fn add_class(&mut self, measure: &'static str, class: &'static str, value: f64) {
        if value.is_finite() {
            self.rows.push(ClusterValue {
                cluster: self.cluster,
                measure,
                class,
                value,
            });
        }
    }
}

pub(super) fn values(
    inputs: &CoReservationInputs,
    run: &CoReservationRun,
    promises: bool,
) -> Vec<ClusterValue> {
    let mut rows = Vec::new();
    for index in 0..inputs.clusters.len() {
        let jobs = jobs_of(inputs, run, index);
        let mut values = Values {
            cluster: cluster_id(index),
            rows: Vec::new(),
        };
        cluster(inputs, run, index, jobs, &mut values);
        if promises {
            own_jobs(jobs, &mut values);
        }
        rows.append(&mut values.rows);
    }
    rows
}

pub(super) fn cluster_id(index: usize) -> ClusterId {
    ClusterId(u16::try_from(index).unwrap_or(u16::MAX))
}

/// The outcomes of a cluster's own jobs, in the order of their ids, which go on from the cluster
/// before.
pub(super) fn jobs_of<'r>(
    inputs: &CoReservationInputs,
    run: &'r CoReservationRun,
    index: usize,
) -> &'r [JobOutcome] {
    let jobs = &inputs.clusters[index].jobs;
    let Some((first, last)) = jobs.first().zip(jobs.last()) else {
        return &[];
    };
    let from = run.jobs.partition_point(|it| it.job.id < first.id);
    let until = run.jobs.partition_point(|it| it.job.id <= last.id);
    &run.jobs[from..until]
}

fn cluster(
    inputs: &CoReservationInputs,
    run: &CoReservationRun,
    index: usize,
    jobs: &[JobOutcome],
    values: &mut Values,
) {
    let workload = &inputs.clusters[index];
    let capacity = workload.nodes.for_span(inputs.stop).0 as f64;
    let percent = |work: i64| 100.0 * work as f64 / capacity;
    values.add("cluster_jobs", workload.jobs.len() as f64);
    values.add("cluster_accuracy", workload.accuracy);
    filtering(run, values);
    let totals = run.totals.get(index).copied().unwrap_or_default();
    let (job_work, part_work) = (totals.job_work.0, totals.part_work.0);
    values.add("cluster_utilisation_percent", percent(job_work + part_work));
    values.add("cluster_job_percent", percent(job_work));
    values.add("cluster_part_percent", percent(part_work));
    values.add(
        "cluster_expansion_factor",
        mean(jobs.iter().filter_map(expansion_factor)),
    );
    backlog(run, values);
    let placed = placed(run, values.cluster);
    if !run.requests.is_empty() {
        values.add("cluster_parts", placed.len() as f64);
        let nodes = placed.iter().map(|part| f64::from(part.nodes.0));
        values.add("cluster_part_nodes", mean(nodes));
        let hours = placed.iter().map(|part| part.duration.hours());
        values.add("cluster_part_hours", mean(hours));
    }
    if let Some(longest) = jobs.iter().filter_map(wait).max() {
        values.add("cluster_longest_wait_seconds", longest.0 as f64);
    }
    let drained = (totals.drained - inputs.stop).max(Seconds::ZERO);
    values.add("cluster_drain_hours", drained.hours());
    values.add("cluster_lost_parts", totals.lost_parts as f64);

    // Runs that were hit and began anew count in the share of jobs, not in that of their class.
    let mut work = [0; SIZE_CLASSES.len()];
    let mut factors = [(0_u32, 0.0); SIZE_CLASSES.len()];
    for outcome in jobs {
        let class = size_class(outcome.job.nodes);
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            work[class] += work_until(inputs.stop, outcome.job.nodes, start, end);
        }
        if let Some(factor) = expansion_factor(outcome) {
            factors[class].0 += 1;
            factors[class].1 += factor;
        }
    }
    for ((class, _), work) in SIZE_CLASSES.iter().zip(work) {
        values.add_class("class_job_percent", class, percent(work));
    }
    for ((class, _), (count, sum)) in SIZE_CLASSES.iter().zip(factors) {
        values.add_class("class_expansion_factor", class, sum / f64::from(count));
    }
    if !run.requests.is_empty() {
        let held = run.parts.get(index).map_or(&[][..], Vec::as_slice);
        part_classes(inputs.stop, held, &placed, percent, values);
    }
}

/// What became of the promises to the cluster's own jobs: of those that were overbooked with a
/// probability of failure, its mean and the share that failed, whatever the reason.
fn own_jobs(jobs: &[JobOutcome], values: &mut Values) {
    let overbooked: Vec<(f64, bool)> = (jobs.iter())
        .filter_map(|outcome| {
            let promise = outcome.promise.filter(|promise| promise.overbooked)?;
            Some((promise.pof()?, outcome.verdict.is_failed()))
        })
        .collect();
    let failed = overbooked
        .iter()
        .map(|(_, failed)| f64::from(u8::from(*failed)));
    values.add("cluster_overbooked_jobs", overbooked.len() as f64);
    values.add(
        "cluster_overbooked_promised",
        mean(overbooked.iter().map(|(pof, _)| *pof)),
    );
    values.add("cluster_overbooked_failed", mean(failed));
    let restarts = jobs.iter().map(|outcome| f64::from(outcome.restarts));
    values.add("cluster_restarts", restarts.sum());
    let late = jobs.iter().filter(|outcome| outcome.late.is_some());
    values.add("cluster_late_jobs", late.count() as f64);
}

/// Filtering degree, and the share of requests of which nothing was left (Meltzer 2005, §6.1). A
/// request without a part that the cluster could hold has no degree and counts as a request.
fn filtering(run: &CoReservationRun, values: &mut Values) {
    let degrees: Vec<f64> = probes(run, values.cluster)
        .filter(|probe| probe.counts.unfiltered > 0)
        .map(|probe| {
            let counts = probe.counts;
            f64::from(counts.filtered()) / f64::from(counts.unfiltered)
        })
        .collect();
    values.add("filtering_degree", mean(degrees.iter().copied()));
    if !degrees.is_empty() {
        let infeasible = degrees.iter().filter(|degree| **degree >= 1.0).count();
        values.add(
            "infeasibility_rate",
            infeasible as f64 / run.requests.len() as f64,
        );
    }
}

/// Backlog times, at every status query, as of the query and as of the earliest start (Q22).
fn backlog(run: &CoReservationRun, values: &mut Values) {
    let now = probes(run, values.cluster).map(|probe| probe.backlog_now.hours());
    values.add("cluster_backlog_now_hours", mean(now));
    let earliest = probes(run, values.cluster).map(|probe| probe.backlog_earliest.hours());
    values.add("cluster_backlog_earliest_hours", mean(earliest));
}

fn probes(run: &CoReservationRun, cluster: ClusterId) -> impl Iterator<Item = &ProbeCounts> {
    run.requests
        .iter()
        .flat_map(|outcome| &outcome.probes)
        .filter(move |probe| probe.cluster == cluster)
}

/// A part of a granted request on the cluster where it is in the end.
struct Placed {
    nodes: Nodes,
    duration: Seconds,
    at_earliest: bool,
}

fn placed(run: &CoReservationRun, cluster: ClusterId) -> Vec<Placed> {
    granted(run)
        .flat_map(|(outcome, start)| {
            let request = &outcome.request;
            let here = request.parts.iter().zip(&outcome.clusters);
            here.filter(move |(_, of)| **of == cluster)
                .map(move |(nodes, _)| Placed {
                    nodes: *nodes,
                    duration: request.duration,
                    at_earliest: start == request.earliest,
                })
        })
        .collect()
}

fn part_classes(
    stop: Seconds,
    held: &[PartOutcome],
    placed: &[Placed],
    percent: impl Fn(i64) -> f64,
    values: &mut Values,
) {
    let mut by_nodes = [0; SIZE_CLASSES.len()];
    let mut by_duration = [0; DURATION_CLASSES.len()];
    for part in held {
        let (start, end) = held_from_to(part);
        let work = work_until(stop, part.order.nodes, start, end);
        by_nodes[size_class(part.order.nodes)] += work;
        by_duration[duration_class(part.order.duration)] += work;
    }
    for ((class, _), work) in SIZE_CLASSES.iter().zip(by_nodes) {
        values.add_class("class_part_percent_by_nodes", class, percent(work));
    }
    for ((class, _), work) in DURATION_CLASSES.iter().zip(by_duration) {
        values.add_class("class_part_percent_by_duration", class, percent(work));
    }
    let count = |wanted: &dyn Fn(&&Placed) -> bool| placed.iter().filter(wanted).count() as f64;
    for (measure, earliest) in [
        ("class_parts_by_nodes", false),
        ("class_earliest_parts_by_nodes", true),
    ] {
        for (place, (class, _)) in SIZE_CLASSES.iter().enumerate() {
            let here =
                count(&|part| size_class(part.nodes) == place && (part.at_earliest || !earliest));
            values.add_class(measure, class, here);
        }
    }
    for (measure, earliest) in [
        ("class_parts_by_duration", false),
        ("class_earliest_parts_by_duration", true),
    ] {
        for (place, (class, _)) in DURATION_CLASSES.iter().enumerate() {
            let here = count(&|part| {
                duration_class(part.duration) == place && (part.at_earliest || !earliest)
            });
            values.add_class(measure, class, here);
        }
    }
}

/// From when to when a part held its CPUs; empty where it was given back before its start.
pub(super) fn held_from_to(part: &PartOutcome) -> (Seconds, Seconds) {
    let start = part.order.start;
    let end = start + part.order.duration;
    (start, part.gone.map_or(end, |gone| gone.clamp(start, end)))
}

/// CPU-seconds before the end of submissions (Meltzer 2005, §6.1).
fn work_until(stop: Seconds, nodes: Nodes, start: Seconds, end: Seconds) -> i64 {
    nodes.for_span((end.min(stop) - start).max(Seconds::ZERO)).0
}

/// CPU-seconds that parts held beyond the runs of granted requests: while they waited for others,
/// and those that were given back after they had begun.
pub(super) fn idle_work(run: &CoReservationRun) -> i64 {
    let held = run.parts.iter().flatten().map(|part| {
        let (start, end) = held_from_to(part);
        part.order.nodes.for_span(end - start).0
    });
    let useful = granted(run).flat_map(|(outcome, _)| {
        let request = &outcome.request;
        let work = |part: &Nodes| part.for_span(request.duration).0;
        request.parts.iter().map(work)
    });
    held.sum::<i64>() - useful.sum::<i64>()
}

/// CPU-seconds of parts without an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnownedParts {
    /// Of parts that were never given back and went on after the verdict. Any is a defect.
    pub(super) leaked: i64,
    /// By parts that began before their request had its verdict, or before their cancellation
    /// arrived, and were given back or over by then. None without latency.
    pub(super) undecided: i64,
}

/// A part has no owner if its request failed, if the request has no such part on this cluster, or
/// if it has the part a second time (then one that was kept is owned, of several the longest).
/// Parts that a cluster lost are not counted.
pub(super) fn unowned_parts(run: &CoReservationRun) -> UnownedParts {
    let mut held_for = UnownedParts::default();
    let mut owned: BTreeMap<(CoRequestId, u16), (i64, bool)> = BTreeMap::new();
    for (index, parts) in run.parts.iter().enumerate() {
        let cluster = cluster_id(index);
        for part in parts.iter().filter(|part| !part.lost) {
            let (start, end) = held_from_to(part);
            let order = &part.order;
            let owner = run.requests.get(order.request.0 as usize);
            let is_over = part.gone.is_some() || owner.is_some_and(|owner| end <= owner.answered);
            let mut held = (order.nodes.for_span(end - start).0, is_over);
            if owner.is_some_and(|owner| is_wanted(owner, part, cluster)) {
                let nothing = (0, true);
                let known = owned.entry((order.request, order.part)).or_insert(nothing);
                if (!held.1, held.0) > (!known.1, known.0) {
                    std::mem::swap(known, &mut held);
                }
            }
            match held {
                (held, true) => held_for.undecided += held,
                (held, false) => held_for.leaked += held,
            }
        }
    }
    held_for
}

/// Whether a request has this part on this cluster.
fn is_wanted(owner: &CoOutcome, part: &PartOutcome, cluster: ClusterId) -> bool {
    let largest_first = owner.request.largest_first();
    let place = largest_first.get(usize::from(part.order.part));
    owner.verdict == CoVerdict::Granted
        && place.and_then(|place| owner.clusters.get(*place)) == Some(&cluster)
}
