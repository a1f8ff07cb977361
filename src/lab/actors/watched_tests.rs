//! Machines that are watched from outside do the same behind actors and called directly.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;

use super::{
    simulate_advertising_machine, simulate_cluster_and_clients, simulate_virtual_reservations,
};
use crate::plan::SlotRules;
use crate::random::{Stream, StreamSeed};
use crate::scheduling::{
    ClientSettings, ClosedLoop, ClusterMachine, Combination, PolicySettings, SlotSource,
    SlotStudySettings, VirtualStudy, VirtualStudySettings, registry, simulate_clients,
    simulate_slot_study, simulate_virtual,
};
use crate::studies::{SimulationSpec, StudySpec};
use crate::sweep::Experiment;
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId, JobKind, TraceFolder, prepare};

const DAY: Seconds = Seconds(24 * 3_600);

/// Jobs over some weeks on eight nodes, with stretches without any, in order of submission.
fn jobs(stream: &mut Stream, days: i64) -> Vec<Job> {
    let mut submit = Seconds(stream.random_range(0..100_000));
    let end = submit + DAY * days;
    let mut jobs = Vec::new();
    while submit <= end {
        let runtime = stream.random_range(1..20_000);
        jobs.push(Job {
            id: JobId(jobs.len() as u32),
            trace_number: jobs.len() as i64,
            submit,
            release: submit,
            estimate: Seconds(runtime + stream.random_range(0..20_000)),
            runtime: Seconds(runtime),
            deadline: Seconds::FAR,
            // Some are too wide, and not the last one, which says how long the trace is.
            nodes: Nodes(
                stream
                    .random_range(1..=9)
                    .min(if submit < end { 9 } else { 1 }),
            ),
            user: None,
            application: None,
            kind: JobKind::Flexible,
        });
        let is_quiet = stream.random_range(0..60) == 0;
        let gap = Seconds(stream.random_range(0..if is_quiet { 1_500_000 } else { 12_000 }));
        // The last one comes at the end.
        submit += if submit < end {
            gap.min(end - submit)
        } else {
            Seconds(1)
        };
    }
    jobs
}

fn seed(number: u64) -> StreamSeed {
    StreamSeed {
        seed: number,
        workload_key: "watched".to_owned(),
        replication: 0,
    }
}

#[test]
fn slots_are_advertised_alike_by_actors_and_by_the_direct_call() {
    for number in 0..60 {
        let mut stream = seed(number).stream("jobs");
        let jobs = jobs(&mut stream, 40);
        for source in [SlotSource::FreeRectangles, SlotSource::Plan] {
            let settings = SlotStudySettings {
                source,
                rules: SlotRules::default(),
                sample_period: Seconds([0, 1_800, 3_600, 700_000][number as usize % 4]),
            };
            let direct = simulate_slot_study(&jobs, Nodes(8), &settings, true);
            let shared: Arc<[Job]> = jobs.clone().into();
            let acted = simulate_advertising_machine(&shared, Nodes(8), &settings, true).unwrap();
            assert_eq!(acted, direct, "{number} {source:?}");
            let samples = direct.measured.get("slot_samples").unwrap();
            assert_eq!(samples > 1.0, number % 4 != 0, "{number}: {samples}");
        }
    }
}

#[test]
fn virtual_reservations_come_to_the_same_by_actors_and_by_the_direct_call() {
    let (mut started, mut combined) = (0, 0);
    for number in 0..40 {
        let mut stream = seed(number).stream("jobs");
        let jobs = jobs(&mut stream, 30);
        let settings = VirtualStudySettings {
            nodes: Nodes(3),
            lead: Seconds::HOUR * 4,
            instants: 12,
            warm_up: DAY * 8,
            combination: [Combination::Recorded, Combination::Played][number as usize % 2],
            ..VirtualStudySettings::default()
        };
        let mut drawn = seed(number).stream(VirtualStudy::STREAM);
        let direct = simulate_virtual(&jobs, Nodes(8), &settings, &mut drawn).unwrap();
        let acted =
            simulate_virtual_reservations(&jobs, Nodes(8), &settings, &seed(number)).unwrap();
        assert_eq!(acted, direct, "{number}");
        let of = |wanted: fn(&crate::scheduling::VirtualTrial) -> bool| {
            direct.trials.iter().filter(|trial| wanted(trial)).count()
        };
        started += of(|trial| trial.virtual_start.is_some());
        combined += of(|trial| trial.price.is_some_and(|price| price.0 > 0));
    }
    assert!(started > 50 && combined > 30, "{started} {combined}");
}

/// Processor time of this thread so far, where the system tells it.
fn processor_time() -> Duration {
    // The figure of the thread is brought up to date when it gives way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Median processor times of both in alternation, and the median of their ratio.
fn compare(name: &str, pairs: usize, mut direct: impl FnMut(), mut acted: impl FnMut()) {
    let time = |run: &mut dyn FnMut()| {
        let begun = processor_time();
        run();
        (processor_time() - begun).as_secs_f64()
    };
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let runs: Vec<(f64, f64)> = (0..pairs)
        .map(|_| (time(&mut direct), time(&mut acted)))
        .collect();
    let ratio = median(runs.iter().map(|(one, other)| other / one).collect());
    let (direct, acted) = runs.into_iter().unzip();
    let (direct, acted) = (1e3 * median(direct), 1e3 * median(acted));
    println!("{name}: direct {direct:.1} ms, actors {acted:.1} ms, ratio {ratio:.3}");
}

/// The first simulation of a shipped experiment.
fn first_of(config: &str) -> SimulationSpec {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let experiment = Experiment::load(&path.join(config), None).unwrap();
    experiment.sweep.simulations.get(0)
}

/// `cargo test --release -p bookahead-lab what_actors_cost -- --ignored --nocapture`, with the traces of the archive.
#[test]
#[ignore = "a measurement"]
fn what_actors_cost_beside_direct_calls() {
    let folder = TraceFolder::new(std::env::var_os(TraceFolder::VARIABLE).unwrap());
    let jobs_of = |spec: &SimulationSpec| {
        let prepared = prepare(&spec.workload, &folder, spec.seed).unwrap();
        Arc::clone(&prepared.batteries[0])
    };
    for config in [
        "singh2008/ctc-slots-exact.toml",
        "singh2008/ctc-slots-recorded.toml",
    ] {
        let spec = first_of(config);
        let StudySpec::Slots(study) = &spec.study else {
            panic!("{config} is no study of slots");
        };
        let (jobs, nodes) = (jobs_of(&spec), spec.workload.nodes);
        compare(
            config,
            9,
            || drop(simulate_slot_study(&jobs, nodes, &study.settings, false)),
            || drop(simulate_advertising_machine(&jobs, nodes, &study.settings, false).unwrap()),
        );
    }
    let config = "singh2008/ctc-virtual.toml";
    let spec = first_of(config);
    let StudySpec::VirtualReservations(study) = &spec.study else {
        panic!("{config} is no study of virtual reservations");
    };
    let (jobs, nodes, settings) = (jobs_of(&spec), spec.workload.nodes, &study.settings);
    let direct = || {
        let mut drawn = seed(1).stream(VirtualStudy::STREAM);
        drop(simulate_virtual(&jobs, nodes, settings, &mut drawn).unwrap());
    };
    let acted = || drop(simulate_virtual_reservations(&jobs, nodes, settings, &seed(1)).unwrap());
    compare(config, 9, direct, acted);
    let config = "overbooking/closed-loop.toml";
    let spec = first_of(config);
    let (jobs, nodes) = (jobs_of(&spec), spec.workload.nodes);
    let settings = ClientSettings {
        resubmit_rejected: 3,
        ..ClientSettings::default()
    };
    let policy = PolicySettings {
        strategy: "heuristic-planning".to_owned(),
        ..PolicySettings::default()
    };
    let clients = || ClosedLoop::new(settings.clone(), Arc::clone(&jobs), Arc::default());
    let failures = Arc::default();
    let build = registry::strategy(&policy.strategy).unwrap().build;
    compare(
        config,
        31,
        || drop(simulate_clients(nodes, &policy, None, clients(), &failures)),
        || {
            let machine = ClusterMachine::new(nodes, build(nodes, &policy, None));
            drop(simulate_cluster_and_clients(machine, nodes, clients(), &failures, true).unwrap());
        },
    );
}
