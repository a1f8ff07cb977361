//! The store's writer and the writing of reports: `cargo bench --bench store`. What the rows mean
//! stands in `benches/README.md`.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use bookahead::report::ReportExtras;
use bookahead::store::{RunRecord, RunSelector, RunState, Store, Writer};
use bookahead::studies::{STUDIES, VIEWS};
use bookahead::study::SimulationResult;
use bookahead::sweep::{
    CostModel, Experiment, FinishedSimulation, InputFolders, InputSources, OutcomeDetail, Simulate,
    Sweep, SweepOptions, load_inputs, tasks,
};
use divan::Bencher;
use divan::counter::ItemsCount;

const QUICK_START: &str = include_str!("../configs/quickstart.toml");

/// What the workers of a sweep hand to the writer.
struct Finished {
    sweep: Sweep,
    simulations: Vec<FinishedSimulation>,
}

impl Finished {
    /// The simulations of a sweep. Only one of each strategy and battery is carried out, and of all
    /// batteries only the first ones: what the others would have written is as long.
    fn of(text: &str, batteries: u32) -> Self {
        let mut sweep = Experiment::parse(STUDIES, "quickstart.toml", text, None)
            .expect("the quick start is a valid experiment")
            .sweep;
        let options = SweepOptions::new(STUDIES, "unused.db".into());
        let sources = InputSources::new(&InputFolders::default());
        let inputs = load_inputs(&mut sweep, sources, &options).expect("a model needs no files");
        let mut results: BTreeMap<(String, u32), SimulationResult> = BTreeMap::new();
        let all: Vec<usize> = (0..sweep.points.len()).collect();
        let tasks = tasks(&sweep, &all, &HashSet::new(), &CostModel::default());
        let simulations = tasks.iter().map(|task| {
            let spec = sweep.simulations.get(task.simulation);
            let key = (
                spec.scheduling.strategy.clone(),
                spec.replication % batteries,
            );
            let result = results.entry(key).or_insert_with(|| {
                inputs
                    .simulate(&spec)
                    .expect("the quick start can be simulated")
            });
            FinishedSimulation {
                id: sweep.simulation_ids[task.simulation],
                workload_label: inputs.workload_label(&spec),
                spec,
                result: result.clone(),
                wall: Duration::from_millis(5),
                points: task
                    .points
                    .iter()
                    .map(|point| sweep.points[*point].clone())
                    .collect(),
            }
        });
        let simulations = simulations.collect();
        Self { sweep, simulations }
    }

    fn write(&self, path: &Path, detail: OutcomeDetail, simulations: Vec<FinishedSimulation>) {
        let store = Store::open(STUDIES, path).expect("a writable temporary folder");
        let run = store
            .begin_run(&RunRecord::of(&self.sweep, STUDIES))
            .expect("a new store");
        let writer = Writer::start(store, run, detail, 8);
        let handle = writer.handle();
        for simulation in simulations {
            handle.write(simulation).expect("the writer is there");
        }
        writer.finish(RunState::Done).expect("room on the disk");
    }
}

/// The quick start: 112 simulations of 1,000 jobs, 192 points.
static QUICK: LazyLock<Finished> = LazyLock::new(|| Finished::of(QUICK_START, 8));

/// The quick start with 25 thresholds, 10 penalty ratios and 50 batteries of 100 jobs: 50,000
/// points.
static WIDE: LazyLock<(tempfile::TempDir, std::path::PathBuf)> = LazyLock::new(|| {
    let text = QUICK_START
        .replace("replications = 8", "replications = 50")
        .replace("battery_jobs = 1000", "battery_jobs = 100")
        .replace("penalty_ratio = 1.0", "")
        .replace(
            "[0.02, 0.05, 0.1, 0.2, 0.3, 0.5]",
            "{ from = 0.04, to = 1.0, step = 0.04 }",
        )
        .replace("values = { from", "range = { from")
        + "\n[[axis]]\nkey = \"acceptance.penalty_ratio\"\nrange = { from = 0.5, to = 5.0, step = 0.5 }\n";
    let finished = Finished::of(&text, 1);
    assert_eq!(finished.sweep.points.len(), 50_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("wide.db");
    let simulations = finished.simulations.clone();
    finished.write(&path, OutcomeDetail::Metrics, simulations);
    (folder, path)
});

fn main() {
    divan::main();
}

/// Outcomes a second of one writer into a new file: every job's outcome, or the totals and
/// distributions of each simulation.
#[divan::bench(args = ["all", "metrics"], sample_count = 10, sample_size = 1)]
fn write_the_quick_start(bencher: Bencher, detail: &str) {
    let detail = match detail {
        "all" => OutcomeDetail::All,
        _ => OutcomeDetail::Metrics,
    };
    let finished = &*QUICK;
    let outcomes: usize = finished
        .simulations
        .iter()
        .map(|simulation| simulation.result.outcomes.len())
        .sum();
    bencher
        .counter(ItemsCount::new(outcomes))
        .with_inputs(|| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            (folder, finished.simulations.clone())
        })
        .bench_local_values(|(folder, simulations)| {
            finished.write(&folder.path().join("store.db"), detail, simulations);
            folder
        });
}

/// A whole report: tables, figures, page.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn report_of_fifty_thousand_points(bencher: Bencher) {
    let (folder, path) = &*WIDE;
    let out = folder.path().join("report");
    bencher
        .counter(ItemsCount::new(50_000_usize))
        .bench_local(|| {
            bookahead::report::write(
                STUDIES,
                path,
                &RunSelector::Latest,
                &out,
                &ReportExtras::of(VIEWS),
            )
            .expect("a whole store")
        });
}

/// The same for the 192 points of the quick start.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn report_of_the_quick_start(bencher: Bencher) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store.db");
    QUICK.write(&path, OutcomeDetail::All, QUICK.simulations.clone());
    let out = folder.path().join("report");
    bencher
        .counter(ItemsCount::new(QUICK.sweep.points.len()))
        .bench_local(|| {
            bookahead::report::write(
                STUDIES,
                &path,
                &RunSelector::Latest,
                &out,
                &ReportExtras::of(VIEWS),
            )
            .expect("a whole store")
        });
}
