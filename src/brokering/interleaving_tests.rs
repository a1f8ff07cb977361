//! Random small grids, random requests at the same time, late and lost messages, failures: whatever happens, nothing leaks.
//!
//! Everything is judged by what the clusters say became of parts, not by what the broker believes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::RngExt;

use super::direct::drive;
use super::toy_cluster::ToyCluster;
use super::*;
use crate::random::{self, Stream};
use crate::scheduling::local::{ClusterId, LocalService, PartOutcome};
use crate::units::{Nodes, Seconds};
use crate::workload::{CoRequest, CoRequestId, Preference};

/// One drawn situation.
#[derive(Debug)]
struct Situation {
    inputs: GridInputs,
    settings: CoReservationSettings,
    jitter: Seconds,
}

fn between(stream: &mut Stream, low: i64, high: i64) -> i64 {
    stream.random_range(low..=high)
}

fn situation(number: u64) -> Situation {
    let stream = &mut random::stream(number, "interleavings", 0, "situation");
    let clusters = between(stream, 2, 5);
    let workload = |stream: &mut Stream| ClusterWorkload {
        nodes: Nodes(between(stream, 4, 12) as u32),
        jobs: Arc::new([]),
        window_start: Seconds::ZERO,
        accuracy: 1.0,
    };
    let clusters: Vec<_> = (0..clusters).map(|_| workload(stream)).collect();
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
            submit: Seconds(submit),
            earliest: Seconds(earliest),
            deadline: Seconds(earliest + duration + between(stream, 0, 150)),
            duration: Seconds(duration),
            parts: (0..parts).map(|_| Nodes(between(stream, 1, 9) as u32)).collect(),
            preference: Preference {
                cost_weight: stream.random(),
                start_weight: stream.random(),
            },
        }
    });
    let requests = requests.collect();
    let mut settings = CoReservationSettings::default();
    let algorithms = Algorithm::ALL;
    settings.search.algorithm = algorithms[between(stream, 0, algorithms.len() as i64 - 1) as usize].0;
    settings.search.minimum_step = Seconds(between(stream, 1, 40));
    settings.search.maximum_starts = between(stream, 1, 6) as u32;
    settings.search.memoise = stream.random();
    settings.renegotiate = stream.random();
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
        settings.failures = Some(GridFailureSettings {
            cluster_mtbf: rare(stream, 100),
            cluster_repair: Seconds(between(stream, 1, 100)),
            node_mtbf: rare(stream, 200),
            node_repair: Seconds(between(stream, 1, 100)),
            node_cpus: between(stream, 1, 4) as u32,
        });
    }
    Situation {
        inputs: GridInputs {
            clusters,
            requests,
            stop: Seconds(1_000),
        },
        settings,
        jitter: Seconds(if stream.random() { between(stream, 0, 8) } else { 0 }),
    }
}

fn toys(inputs: &GridInputs) -> Vec<Box<dyn LocalService>> {
    (0..)
        .zip(&inputs.clusters)
        .map(|(id, it)| -> Box<dyn LocalService> {
            Box::new(ToyCluster::new(ClusterId(id), it.nodes))
        })
        .collect()
}

fn run(situation: &Situation, services: Vec<Box<dyn LocalService>>) -> GridRun {
    let Situation {
        inputs,
        settings,
        jitter,
    } = situation;
    let seed = GridSeed::default();
    let sizes: Vec<Nodes> = inputs.clusters.iter().map(|it| it.nodes).collect();
    let exchange = Exchange::new(sizes.clone(), settings, &seed).with_jitter(*jitter);
    let blows = Blows::new(settings.failures.as_ref(), &sizes, &seed);
    drive(inputs, services, exchange, blows)
}

/// From when until when a part held its CPUs.
fn held(part: &PartOutcome) -> (Seconds, Seconds) {
    let end = part.order.start + part.order.duration;
    let gone = part.gone.unwrap_or(end).min(end);
    (part.order.start, gone.max(part.order.start))
}

/// What must hold whatever happened.
fn check(situation: &Situation, run: &GridRun) {
    let Situation {
        inputs, settings, ..
    } = situation;
    assert_eq!(run.requests.len(), inputs.requests.len(), "one verdict each");
    let mut kept: BTreeMap<CoRequestId, Vec<(ClusterId, PartOutcome)>> = BTreeMap::new();
    for (id, (parts, workload)) in (0..).zip(run.parts.iter().zip(&inputs.clusters)) {
        // Capacity (§10.3, 1).
        for part in parts {
            let (at, end) = held(part);
            if at == end {
                continue;
            }
            let others = parts.iter().map(|other| (held(other), other.order.nodes.0));
            let busy: u32 = others
                .filter(|((begin, end), _)| *begin <= at && at < *end)
                .map(|(_, nodes)| nodes)
                .sum();
            assert!(busy <= workload.nodes.0, "cluster {id} at {at}: {busy}");
        }
        for part in parts.iter().filter(|it| it.gone.is_none()) {
            let of_request = kept.entry(part.order.request).or_default();
            of_request.push((ClusterId(id), *part));
        }
    }
    for outcome in &run.requests {
        let request = &outcome.request;
        let parts = kept.remove(&request.id).unwrap_or_default();
        let places: BTreeSet<u16> = parts.iter().map(|(_, part)| part.order.part).collect();
        let where_: BTreeSet<ClusterId> = parts.iter().map(|(cluster, _)| *cluster).collect();
        assert_eq!(places.len(), parts.len(), "{request:?}: a part twice");
        assert_eq!(where_.len(), parts.len(), "{request:?}: a cluster twice");
        let is_granted = outcome.verdict == CoVerdict::Granted;
        if !is_granted {
            // §10.3, 2.
            assert!(parts.is_empty(), "{request:?}: {outcome:?} holds {parts:?}");
            assert_eq!(outcome.start, None);
        }
        let messages = outcome.messages;
        let calm = settings.messages.loss == 0.0
            && settings.failures.is_none()
            && messages.timed_out == 0;
        if calm {
            // §10.3, 1 to 4.
            let r = request.parts.len() as u32;
            let expected = if is_granted { r } else { 0 };
            assert_eq!(messages.granted - messages.cancelled, expected);
            assert_eq!(parts.len() as u32, expected);
            assert!(f64::from(messages.reservation_step()) <= outcome.worst_case);
            assert_eq!(messages.repeated, 0);
            assert_eq!((outcome.lost_parts, outcome.replaced_parts), (0, 0));
            if outcome.verdict == CoVerdict::NoCandidate {
                assert_eq!(messages.reservation_step(), 0);
            }
        }
        if is_granted && outcome.lost_parts == outcome.replaced_parts && settings.failures.is_none() {
            assert_eq!(parts.len(), request.parts.len(), "{outcome:?}");
        }
        if is_granted && !settings.renegotiate {
            let lost = run.parts.iter().flatten().filter(|part| {
                part.order.request == request.id && part.lost
            });
            assert!(lost.count() as u32 >= outcome.lost_parts);
            assert_eq!(parts.len() as u32 + outcome.lost_parts, request.parts.len() as u32);
        }
        let asked = request.largest_first();
        for (cluster, part) in &parts {
            let place = asked[usize::from(part.order.part)];
            assert_eq!(outcome.clusters[place], *cluster, "{outcome:?} {parts:?}");
            assert_eq!(part.order.nodes, request.parts[place]);
            assert!(request.earliest <= part.order.start);
            assert!(part.order.start + part.order.duration <= request.deadline);
            if !settings.renegotiate {
                assert_eq!(Some(part.order.start), outcome.start);
                assert_eq!(part.order.duration, request.duration);
            }
        }
    }
    assert!(kept.is_empty(), "parts of nobody: {kept:?}");
}

fn try_out(numbers: std::ops::Range<u64>) {
    let mut granted = 0;
    let mut stormy = 0;
    let mut replaced = 0;
    for number in numbers.clone() {
        let situation = situation(number);
        let run = run(&situation, toys(&situation.inputs));
        let checked = std::panic::catch_unwind(|| check(&situation, &run));
        assert!(checked.is_ok(), "situation {number}: {situation:#?}\n{run:#?}");
        for outcome in &run.requests {
            granted += u64::from(outcome.verdict == CoVerdict::Granted);
            stormy += u64::from(outcome.messages.timed_out > 0);
            replaced += u64::from(outcome.replaced_parts);
        }
    }
    // The situations are not so harmless that nothing could have leaked.
    let tried = numbers.end - numbers.start;
    assert!(granted > tried && stormy > tried / 4 && replaced > tried / 200, "{granted} {stormy} {replaced}");
}

#[test]
fn nothing_leaks_in_1000_random_interleavings_with_failures_and_lost_messages() {
    try_out(0..1_000);
}

#[test]
#[ignore = "nightly: minutes"]
fn nothing_leaks_in_100000_random_interleavings_with_failures_and_lost_messages() {
    try_out(1_000..101_000);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for number in 0..20 {
        let situation = situation(number);
        assert_eq!(
            run(&situation, toys(&situation.inputs)),
            run(&situation, toys(&situation.inputs))
        );
    }
}
