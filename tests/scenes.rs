//! Scenes come to the same by actors and by plain calls, and what actors cost.

// Helpers of tests panic where their premises do not hold, as the tests do.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;

use bookahead::actors::{Player, SimulationError, conduct};
use bookahead::failures::{FailureTrace, NodeEvent, NodeFailures};
use bookahead::kernel::{Machine, Played, Scene, drive};
use bookahead::plan::SlotRules;
use bookahead::random::{self, Stream, StreamSeed};
use bookahead::scheduling::{
    Backfilling, ClusterMachine, PolicySpec, Queue, QueuePass, QueuePolicy, QueueSettings,
};
use bookahead::studies::STUDIES;
use bookahead::study::{Simulation, SimulationSpec};
use bookahead::sweep::{Experiment, InputFolders, InputSources, Inputs};
use bookahead::units::{NodeIndex, Nodes, Seconds};
use bookahead::workload::{Job, JobId, TraceFolder, prepare};
use bookahead_overbooking::{
    ClientSettings, ClientTies, ClosedLoop, ClusterRun, Follows, Work, cluster_scene, registry,
};
use bookahead_reservations::slots::{SlotSource, SlotStudySettings, slot_scene};
use bookahead_reservations::virtual_reservations::{
    Combination, VirtualReplay, VirtualStudy, VirtualStudyRun, VirtualStudySettings,
};

const DAY: Seconds = Seconds(24 * 3_600);

/// Jobs over some weeks on eight nodes, with stretches without any, in order of submission.
fn jobs(stream: &mut Stream, days: i64) -> Vec<Job> {
    let mut submit = Seconds(stream.random_range(0..100_000));
    let end = submit + DAY * days;
    let mut jobs = Vec::new();
    while submit <= end {
        let runtime = stream.random_range(1..20_000);
        let estimate = Seconds(runtime + stream.random_range(0..20_000));
        // Some are too wide, and not the last one, which says how long the trace is.
        let widest = if submit < end { 9 } else { 1 };
        let nodes = Nodes(stream.random_range(1..=9).min(widest));
        let id = JobId(jobs.len() as u32);
        let job = Job::rigid(id, submit, nodes, estimate)
            .running_for(Seconds(runtime))
            .numbered(jobs.len() as i64);
        jobs.push(job);
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

/// What actors make of a scene, and what plain calls do.
fn both<M: Machine>(scene: impl Fn() -> Scene<M>) -> (Played<M>, Played<M>) {
    let (acted, messages) = conduct(scene(), true).unwrap();
    assert!(messages > 2);
    (acted, drive(scene(), true))
}

#[test]
fn slots_are_advertised_alike_by_actors_and_by_plain_calls() {
    for number in 0..60 {
        let mut stream = seed(number).stream("jobs");
        let jobs: Arc<[Job]> = jobs(&mut stream, 40).into();
        for source in [SlotSource::FreeRectangles, SlotSource::Plan] {
            let settings = SlotStudySettings {
                source,
                rules: SlotRules::default(),
                sample_period: Seconds([0, 1_800, 3_600, 700_000][number as usize % 4]),
            };
            let (acted, called) = both(|| slot_scene(&jobs, Nodes(8), &settings, true));
            let called = called.machine.finish();
            assert_eq!(acted.machine.finish(), called, "{number} {source:?}");
            let samples = called.measured.get("slot_samples").unwrap();
            assert_eq!(samples > 1.0, number % 4 != 0, "{number}: {samples}");
        }
    }
}

#[test]
fn virtual_reservations_come_to_the_same_by_actors_and_by_plain_calls() {
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
        let (acted, called) = both(|| virtual_scene(&jobs, Nodes(8), &settings, number));
        let called = VirtualStudyRun::of(called).unwrap().unwrap();
        let acted = VirtualStudyRun::of(acted).unwrap().unwrap();
        assert_eq!(acted, called, "{number}");
        let of =
            |wanted: fn(&bookahead_reservations::virtual_reservations::VirtualTrial) -> bool| {
                called.trials.iter().filter(|trial| wanted(trial)).count()
            };
        started += of(|trial| trial.virtual_start.is_some());
        combined += of(|trial| trial.price.is_some_and(|price| price.0 > 0));
    }
    assert!(started > 50 && combined > 30, "{started} {combined}");
}

fn virtual_scene(
    jobs: &[Job],
    nodes: Nodes,
    settings: &VirtualStudySettings,
    number: u64,
) -> Scene<VirtualReplay> {
    let mut drawn = seed(number).stream(VirtualStudy::STREAM);
    let study = VirtualStudy::new(jobs, nodes, settings, &mut drawn).unwrap();
    study.scene().unwrap()
}

const NODES: Nodes = Nodes(6);

fn sixty_jobs(number: u64) -> Arc<[Job]> {
    let mut stream = random::stream(number, "clients", 0, "jobs");
    let mut submit = Seconds::ZERO;
    let job = |id| {
        submit += Seconds(stream.random_range(0..1_200));
        let estimate = Seconds(stream.random_range(1..5_000));
        let runtime = Seconds(stream.random_range(1..=estimate.0));
        let deadline = submit + estimate * stream.random_range(1..4);
        let nodes = Nodes(stream.random_range(1..=7));
        Job::rigid(JobId(id), submit, nodes, estimate)
            .running_for(runtime)
            .due_by(deadline)
            .numbered(i64::from(id))
    };
    (0..60).map(job).collect()
}

#[test]
fn closed_loops_come_to_the_same_by_actors_and_by_plain_calls() {
    let mut failed = 0;
    for number in 0..25 {
        let jobs = sixty_jobs(number);
        let mut stream = random::stream(number, "clients", 0, "ties");
        let follows = (0..60)
            .map(|id: u32| {
                (id > 0 && stream.random_range(0..3) == 0).then(|| Follows {
                    job: stream.random_range(0..id),
                    think_time: Seconds(stream.random_range(0..900)),
                })
            })
            .collect();
        let patience = (0..60)
            .map(|_| Seconds(stream.random_range(1..9_000)))
            .collect();
        let mut events: Vec<NodeEvent> = (0..200)
            .map(|event| NodeEvent {
                time: Seconds(event * 700 + stream.random_range(0..700)),
                node: NodeIndex(stream.random_range(0..6)),
                up: stream.random_range(0..2) == 0,
            })
            .collect();
        events.sort_by_key(|event| event.time);
        let failures = FailureTrace { events }.into();
        let settings = ClientSettings {
            resubmit_rejected: 2,
            resubmit_failed: 1,
            resubmit_after: Seconds(stream.random_range(1..4_000)),
            ..ClientSettings::default()
        };
        let ties = Arc::new(ClientTies::of(follows, patience));
        for strategy in registry::STRATEGIES.iter().filter(|it| !it.overbooks) {
            let policy = PolicySpec::named(strategy.name);
            let clients = ClosedLoop::new(settings.clone(), Arc::clone(&jobs), Arc::clone(&ties));
            let (acted, called) = both(|| {
                let machine = ClusterMachine::new(NODES, (strategy.build)(NODES, &policy, None));
                cluster_scene(machine, Work::Clients(Box::new(clients.clone())), &failures)
            });
            let acted = ClusterRun::of(acted);
            failed += acted.metrics.failed;
            let called = ClusterRun::of(called);
            assert_eq!(acted, called, "{number} {}", strategy.name);
        }
    }
    assert!(failed > 50, "{failed}");
}

/// Starts whatever fits, and panics when that is the third job.
struct PanicsOnThird;

impl QueuePolicy for PanicsOnThird {
    fn pass(&mut self, pass: &mut QueuePass<'_>) {
        for job in pass.waiting().to_vec() {
            assert_ne!(job.job, JobId(2), "the third job");
            if pass.fits(&job) {
                pass.start(&job);
            }
        }
    }
}

#[test]
fn a_panic_inside_the_cluster_is_an_error_of_its_simulation_and_the_next_one_runs() {
    let jobs = sixty_jobs(0);
    let play = |policy| {
        let machine = ClusterMachine::new(NODES, policy);
        let scene = cluster_scene(
            machine,
            Work::Jobs(Arc::clone(&jobs)),
            &NodeFailures::default(),
        );
        Player::by_actors().play(scene, true, "a test")
    };
    let error = play(Box::new(Queue::of(PanicsOnThird, QueueSettings::default())))
        .err()
        .unwrap();
    assert!(matches!(error, SimulationError::Stopped { .. }), "{error}");
    let said = error.to_string();
    assert!(said.starts_with("the cluster stopped: "), "{said}");
    assert!(said.contains("the third job"), "{said}");
    let played = play(Box::new(Queue::of(
        Backfilling::None,
        QueueSettings::default(),
    )))
    .unwrap();
    let run = ClusterRun::of(played);
    assert_eq!(run.outcomes.len(), 60);
}

/// Processor time of this thread so far, where the system tells it.
fn processor_time() -> Duration {
    // The figure of the thread is brought up to date when it gives way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Median processor times of plain calls and of actors in alternation, and the median of their
/// ratio.
fn compare<M: Machine>(name: &str, pairs: usize, scene: impl Fn() -> Scene<M>) {
    let called = || drop(drive(scene(), true));
    let acted = || drop(conduct(scene(), true).unwrap());
    compare_runs(name, pairs, &called, &acted);
}

fn compare_runs(name: &str, pairs: usize, called: &dyn Fn(), acted: &dyn Fn()) {
    let time = |run: &dyn Fn()| {
        let begun = processor_time();
        run();
        (processor_time() - begun).as_secs_f64()
    };
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let runs: Vec<(f64, f64)> = (0..pairs).map(|_| (time(called), time(acted))).collect();
    let ratio = median(runs.iter().map(|(one, other)| other / one).collect());
    let (called, acted) = runs.into_iter().unzip();
    let (called, acted) = (1e3 * median(called), 1e3 * median(acted));
    println!("{name}: plain calls {called:.1} ms, actors {acted:.1} ms, ratio {ratio:.3}");
}

/// The first simulation of a shipped experiment.
fn first_of(config: &str) -> SimulationSpec {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let experiment = Experiment::load(STUDIES, &path.join(config), None).unwrap();
    experiment.sweep.simulations.get(0)
}

/// `cargo test --release -p bookahead-lab what_actors_cost -- --ignored --nocapture`, with the
/// traces of the archive.
#[test]
#[ignore = "a measurement"]
fn what_actors_cost_beside_plain_calls() {
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
        let Some(study) = spec
            .study
            .get::<bookahead_reservations::slots::study::SlotsStudy>()
        else {
            panic!("{config} is no study of slots");
        };
        let (jobs, nodes) = (jobs_of(&spec), spec.workload.nodes);
        compare(config, 9, || {
            slot_scene(&jobs, nodes, &study.settings, false)
        });
    }
    let config = "singh2008/ctc-virtual.toml";
    let spec = first_of(config);
    let Some(study) =
        spec.study
            .get::<bookahead_reservations::virtual_reservations::study::VirtualReservationsStudy>()
    else {
        panic!("{config} is no study of virtual reservations");
    };
    let (jobs, nodes, settings) = (jobs_of(&spec), spec.workload.nodes, &study.settings);
    compare(config, 9, || virtual_scene(&jobs, nodes, settings, 1));
    let config = "overbooking/closed-loop.toml";
    let spec = first_of(config);
    let (jobs, nodes) = (jobs_of(&spec), spec.workload.nodes);
    let settings = ClientSettings {
        resubmit_rejected: 3,
        ..ClientSettings::default()
    };
    let policy = PolicySpec::named("heuristic-planning");
    let clients = || ClosedLoop::new(settings.clone(), Arc::clone(&jobs), Arc::default());
    let failures = NodeFailures::default();
    let build = registry::strategy(&policy.strategy).unwrap().build;
    compare(config, 31, || {
        let machine = ClusterMachine::new(nodes, build(nodes, &policy, None));
        cluster_scene(machine, Work::Clients(Box::new(clients())), &failures)
    });
    let config = "market/ctc-clusters.toml";
    let inputs = Inputs::new(
        STUDIES,
        InputSources::new(&InputFolders::from_environment()),
        false,
    );
    let market = inputs.simulation(&first_of(config)).unwrap();
    compare_simulations(config, 9, &[market]);
}

/// `cargo test --release -p bookahead-lab what_actors_cost -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn what_actors_cost_over_the_experiments_of_every_study() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/goldens/experiments");
    let mut paths: Vec<_> = (std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let sweep = Experiment::load(STUDIES, &path, None).unwrap().sweep;
        let inputs = Inputs::new(STUDIES, InputSources::new(&InputFolders::default()), true);
        let simulations: Vec<_> = (sweep.simulations.iter())
            .map(|spec| inputs.simulation(&spec).unwrap())
            .collect();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        compare_simulations(&name, 21, &simulations);
    }
}

/// The same of whole simulations, with what is made of their outcomes.
fn compare_simulations(name: &str, pairs: usize, simulations: &[Box<dyn Simulation>]) {
    let play = |player: Player| {
        for simulation in simulations {
            simulation.run(true, &player).unwrap();
        }
        player.messages()
    };
    print!("{} messages, ", play(Player::by_actors()));
    let called = || _ = play(Player::by_calls());
    let acted = || _ = play(Player::by_actors());
    compare_runs(name, pairs, &called, &acted);
}
