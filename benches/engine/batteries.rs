//! Whole batteries of 1,000 jobs on 430 nodes through every strategy, called directly and through
//! the actors.
//!
//! With `BOOKAHEAD_TRACES` set it is the first battery of CTC as in the cross-checks (f = 0.15);
//! else 1,000 jobs of the Lublin–Feitelson model at 200 % offered load.

use std::sync::{Arc, LazyLock};

use bookahead::actors::Player;
use bookahead::estimates::{
    Binning, ClassFamily, EstimateModel, EstimateSettings, LearningJobs, Overrun,
};
use bookahead::failures::{FailureTrace, NodeFailures};
use bookahead::scheduling::PolicySpec;
use bookahead::study::Simulation as _;
use bookahead::units::Nodes;
use bookahead::workload::{
    Compression, Job, TraceFolder, WorkloadSettings, WorkloadSource, prepare,
};
use bookahead_overbooking::registry;
use bookahead_overbooking::simulate;
use bookahead_overbooking::study::PolicySimulation;
use divan::Bencher;
use divan::counter::ItemsCount;

const NODES: Nodes = Nodes(430);
const STRATEGIES: [&str; 7] = [
    "fcfs",
    "easy-backfilling",
    "conservative-backfilling",
    "heuristic-planning",
    "comprehensive-overbooking",
    "heuristic-overbooking",
    "overbooking-2008",
];

struct Battery {
    jobs: Arc<[Job]>,
    estimates: Arc<EstimateModel>,
}

static BATTERY: LazyLock<Battery> = LazyLock::new(|| {
    let folder = std::env::var_os(TraceFolder::VARIABLE).map(TraceFolder::new);
    let settings = WorkloadSettings {
        evaluation_jobs: 1_000,
        battery_jobs: 1_000,
        compression: Compression::battery_load(2.0),
        ..WorkloadSettings::of(WorkloadSource::LublinFeitelson { jobs: 6_000 }, NODES)
    };
    let settings = match folder {
        Some(_) => WorkloadSettings {
            source: WorkloadSource::Trace {
                file: "CTC-SP2-1996-3.1-cln.swf".to_owned(),
            },
            evaluation_jobs: 20_000,
            compression: Compression::Factor { factor: 0.15 },
            ..settings
        },
        None => settings,
    };
    let workload = prepare(&settings, &folder.unwrap_or_default(), 1)
        .expect("the model is whole, and the folder named by BOOKAHEAD_TRACES holds CTC");
    let settings = EstimateSettings {
        family: ClassFamily::archive_runtime(),
        binning: Binning::Round,
        learn_from: LearningJobs::Before,
        overrun: Overrun::Clamp,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    let estimates = EstimateModel::learn(&workload.learning, &settings).expect("learning jobs");
    eprintln!("battery: {}", workload.label);
    Battery {
        jobs: Arc::clone(&workload.batteries[0]),
        estimates: Arc::new(estimates),
    }
});

fn inputs(strategy: &str) -> PolicySimulation {
    PolicySimulation {
        best_effort: None,
        clients: None,
        customers: None,
        longer_estimates: None,
        before: Vec::new(),
        nodes: NODES,
        strategy: registry::strategy(strategy),
        policy: PolicySpec::named(strategy),
        jobs: Arc::clone(&BATTERY.jobs),
        estimates: Some(Arc::clone(&BATTERY.estimates)),
        failures: NodeFailures::default(),
        recorded: None,
    }
}

/// Job decisions through the state machines, called directly.
#[divan::bench(args = STRATEGIES)]
fn direct(bencher: Bencher, strategy: &str) {
    let inputs = inputs(strategy);
    bencher
        .counter(ItemsCount::new(inputs.jobs.len()))
        .bench_local(|| {
            let estimates = inputs.estimates.clone();
            simulate(
                inputs.nodes,
                &inputs.policy,
                estimates,
                &inputs.jobs,
                &FailureTrace::default(),
            )
        });
}

/// The same through the actor system.
#[divan::bench(args = STRATEGIES)]
fn actors(bencher: Bencher, strategy: &str) {
    let inputs = inputs(strategy);
    bencher
        .counter(ItemsCount::new(inputs.jobs.len()))
        .bench_local(|| {
            inputs
                .run(true, &Player::by_actors())
                .expect("every strategy finishes its battery")
        });
}
