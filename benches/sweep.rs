//! A whole sweep with its store, as `bookahead run configs/quickstart.toml` does it without the
//! report: `cargo bench --bench sweep`. 112 simulations of 1,000 jobs, 192 points. What the rows
//! mean stands in `benches/README.md`.

use bookahead::store::run_sweep;
use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, OutcomeDetail, Sweep, SweepOptions};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// Simulations a second, by workers.
#[divan::bench(args = [1, 2, 4], sample_count = 5, sample_size = 1)]
fn quick_start(bencher: Bencher, workers: usize) {
    run(bencher, workers, OutcomeDetail::All);
}

/// The same without anything kept, for what the store costs.
#[divan::bench(args = [1], sample_count = 5, sample_size = 1)]
fn quick_start_without_store(bencher: Bencher, workers: usize) {
    run(bencher, workers, OutcomeDetail::None);
}

fn run(bencher: Bencher, workers: usize, outcomes: OutcomeDetail) {
    let sweep = sweep();
    bencher
        .counter(ItemsCount::new(sweep.simulations.len()))
        .with_inputs(|| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let options = SweepOptions {
                workers,
                outcomes,
                quiet: true,
                ..SweepOptions::new(STUDIES, folder.path().join("store.db"))
            };
            (folder, sweep.clone(), options)
        })
        .bench_local_values(|(folder, sweep, options)| {
            let summary = run_sweep(sweep, &options).expect("a model needs no files");
            assert_eq!((summary.points, summary.exit_code()), (192, 0));
            folder
        });
}

fn sweep() -> Sweep {
    let text = include_str!("../configs/quickstart.toml");
    Experiment::parse(STUDIES, "quickstart.toml", text, None)
        .expect("the quick start is a valid experiment")
        .sweep
}
