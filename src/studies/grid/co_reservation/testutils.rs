//! Small random grids for tests.

use rand::RngExt;

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::random;
use bookahead_core::random::Stream;
use bookahead_core::scheduling::queue::Backfilling;
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{
    CoRequest, CoRequestId, FurtherCounts, Job, JobId, Preference, WorkflowTask,
};

use crate::co_reservation::{
    Algorithm, ClusterFailureSettings, ClusterWorkload, CoReservationInputs, CoReservationSettings,
    Patience,
};

/// One random grid with its settings.
#[derive(Debug)]
pub struct Situation {
    /// The clusters and who asks them.
    pub inputs: CoReservationInputs,
    /// How they are asked.
    pub settings: CoReservationSettings,
    /// How much later than others a message may come.
    pub jitter: Seconds,
}

fn between(stream: &mut Stream, low: i64, high: i64) -> i64 {
    stream.random_range(low..=high)
}

fn cluster(stream: &mut Stream, jobs: &mut u32) -> ClusterWorkload {
    let nodes = between(stream, 4, 12);
    let mut submits: Vec<i64> = (0..between(stream, 0, 12))
        .map(|_| between(stream, 0, 200))
        .collect();
    submits.sort_unstable();
    let list = submits.into_iter().map(|submit| {
        let estimate = between(stream, 1, 80);
        let id = JobId(*jobs);
        *jobs += 1;
        let runtime = Seconds(between(stream, 0, estimate));
        let width = Nodes(between(stream, 1, nodes) as u32);
        Job::rigid(id, Seconds(submit), width, Seconds(estimate)).running_for(runtime)
    });
    ClusterWorkload {
        nodes: Nodes(nodes as u32),
        jobs: list.collect(),
        window_start: Seconds::ZERO,
        accuracy: 0.5,
    }
}

/// The situation of this number.
#[must_use]
pub fn situation(number: u64) -> Situation {
    let stream = &mut random::stream(number, "interleavings", 0, "situation");
    let mut jobs = 0;
    let clusters: Vec<_> = (0..between(stream, 2, 5))
        .map(|_| cluster(stream, &mut jobs))
        .collect();
    let count = between(stream, 1, 8);
    let mut submits: Vec<i64> = (0..count).map(|_| between(stream, 0, 120)).collect();
    submits.sort_unstable();
    let requests = (0..).zip(submits).map(|(id, submit)| {
        let earliest = submit + between(stream, 0, 60);
        let duration = between(stream, 1, 100);
        let parts = between(stream, 1, 3);
        CoRequest {
            id: CoRequestId(id),
            trace_number: 0,
            user: None,
            submit: Seconds(submit),
            earliest: Seconds(earliest),
            deadline: Seconds(earliest + duration + between(stream, 0, 150)),
            duration: Seconds(duration),
            parts: (0..parts)
                .map(|_| Nodes(between(stream, 1, 9) as u32))
                .collect(),
            further: Vec::new(),
            preference: Preference {
                cost_weight: stream.random(),
                start_weight: stream.random(),
                mix_weight: 0.0,
                degree_weight: 0.0,
            },
            task: None,
        }
    });
    let requests = requests.collect();
    let mut settings = CoReservationSettings::default();
    // Queued parts suffer neither failures nor losses.
    let reserves = |(algorithm, _, _): &&(Algorithm, _, _)| !algorithm.row().queues;
    let algorithms: Vec<_> = Algorithm::ALL.iter().filter(reserves).collect();
    settings.search.algorithm =
        algorithms[between(stream, 0, algorithms.len() as i64 - 1) as usize].0;
    settings.search.minimum_step = Seconds(between(stream, 1, 40));
    settings.search.maximum_starts = between(stream, 1, 6) as u32;
    settings.search.memoise = stream.random();
    settings.renegotiate = stream.random();
    if stream.random() {
        settings.local.backfilling = Backfilling::Conservative;
    }
    settings.local.planned_visible = stream.random();
    settings.messages.latency = Seconds(between(stream, 0, 4));
    settings.messages.timeout = Seconds(between(stream, 5, 40));
    if stream.random() {
        settings.messages.loss = 0.4 * stream.random::<f64>();
    }
    if stream.random() {
        let rare = |stream: &mut Stream, low| {
            let chosen: bool = stream.random();
            chosen.then(|| Seconds(between(stream, low, 2_000)))
        };
        settings.failures = Some(ClusterFailureSettings {
            cluster_mtbf: rare(stream, 100),
            cluster_repair: Seconds(between(stream, 1, 100)),
            node_mtbf: rare(stream, 200),
            node_repair: Seconds(between(stream, 1, 100)),
            node_cpus: between(stream, 1, 4) as u32,
            silent: false,
        });
    }
    let draws_nodes = (settings.failures.as_ref()).is_some_and(|it| it.node_mtbf.is_some());
    let failures = if !draws_nodes && stream.random() {
        node_failures(stream, clusters.iter().map(|it| it.nodes.0).sum())
    } else {
        FailureTrace::default()
    };
    Situation {
        inputs: CoReservationInputs {
            failures: failures.into(),
            clusters,
            requests,
            stop: Seconds(1_000),
            estimates: None,
        },
        settings,
        jitter: Seconds(if stream.random() {
            between(stream, 0, 8)
        } else {
            0
        }),
    }
}

/// The situation of this number with parts that are queued, where nothing fails and nothing is
/// lost.
#[must_use]
pub fn queueing_situation(number: u64) -> Situation {
    let mut situation = situation(number);
    situation.inputs.failures = FailureTrace::default().into();
    let settings = &mut situation.settings;
    settings.search.algorithm = Algorithm::Barrier;
    settings.search.unsplit = number.is_multiple_of(4);
    settings.search.patience = Patience::Fixed(Seconds(1 + number as i64 % 60));
    settings.failures = None;
    settings.messages.loss = 0.0;
    situation
}

/// The situation of this number with its requests as tasks of one workflow or two, each behind some
/// of the tasks before it.
#[must_use]
pub fn workflow_situation(number: u64) -> Situation {
    let mut situation = situation(number);
    let stream = &mut random::stream(number, "interleavings", 0, "workflows");
    let mut requests = situation.inputs.requests.to_vec();
    let second = between(stream, 1, 8) as u32;
    for id in 0..requests.len() as u32 {
        let first = if id < second { 0 } else { second };
        let before = (first..id).filter(|_| stream.random_bool(0.6));
        let after: Vec<_> = before.map(CoRequestId).collect();
        let request = &mut requests[id as usize];
        request.task = Some(WorkflowTask {
            workflow: CoRequestId(first),
            after,
        });
        request.deadline += Seconds(between(stream, 0, 300));
    }
    situation.inputs.requests = requests.into();
    situation
}

/// The situation of this number where some parts need up to two licences, of which each cluster has
/// two or three, and some up to 21 GB of storage, of which each has 21 to 28.
#[must_use]
pub fn further_situation(number: u64) -> Situation {
    let mut situation = situation(number);
    let stream = |name| random::stream(number, "interleavings", 0, name);
    let (licences, storage) = (&mut stream("licences"), &mut stream("storage"));
    situation.settings.local.further = FurtherCounts {
        licences: between(licences, 2, 3) as u32,
        storage_gb: between(storage, 21, 28) as u32,
    };
    let mut requests = situation.inputs.requests.to_vec();
    for request in &mut requests {
        let parts = request.parts.iter();
        let needs = parts.map(|_| FurtherCounts {
            licences: between(licences, 0, 2) as u32,
            storage_gb: 7 * between(storage, 0, 3) as u32,
        });
        request.further = needs.collect();
    }
    situation.inputs.requests = requests.into();
    situation
}

/// Some outages of so many nodes in the first 2,000 s.
fn node_failures(stream: &mut Stream, nodes: u32) -> FailureTrace {
    let outages = (0..between(stream, 1, 12)).map(|_| {
        let start = Seconds(between(stream, 0, 2_000));
        Outage {
            node: NodeIndex(between(stream, 0, i64::from(nodes) - 1) as u32),
            start,
            end: start + Seconds(between(stream, 1, 200)),
        }
    });
    FailureTrace::from_outages(outages).expect("outages that begin before they end")
}
