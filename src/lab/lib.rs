//! The laboratory of bookahead: actors around the domain's state machines, sweeps over all cores,
//! and the store that keeps every outcome.
//!
//! A program hands over the list of its studies ([`study::Studies`]); this one is handed that of
//! bookahead. A sweep continues where its store left off:
//!
//! ```
//! use bookahead_lab::store::{RunSelector, Store, run_sweep};
//! use bookahead_lab::sweep::{Experiment, SweepOptions};
//! use bookahead_studies::STUDIES;
//!
//! let text = r#"
//! [experiment]
//! name = "two-queues"
//! replications = 2
//! [workload]
//! model = "lublin-feitelson"
//! jobs = 600
//! nodes = 32
//! fresh = true
//! battery_jobs = 50
//! load.each_battery = 1.0
//! [[axis]]
//! key = "scheduling.strategy"
//! values = ["fcfs", "easy-backfilling"]
//! "#;
//! let sweep = || Experiment::parse(STUDIES, "two-queues.toml", text, None).map(|it| it.sweep);
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("runs.db");
//! let mut options = SweepOptions::new(STUDIES, path.clone());
//! options.quiet = true;
//! run_sweep(sweep()?, &options)?;
//! let again = run_sweep(sweep()?, &options)?;
//!
//! let store = Store::open_read_only(STUDIES, &path)?;
//! let run = store.run(&RunSelector::Latest)?;
//! assert_eq!((run.points_done, again.done_before), (4, 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each module below may call those above it in this list, and no other.

use bookahead_core::{
    estimates, failures, kernel, predictions, random, scheduling, units, workload,
};

// The actors of one simulation.
pub mod actors;

// Sweeps that stop by a rule: the statistics of when, pure.
pub mod adaptive;

// Keys of experiment files: declarations, reading, problems.
pub mod keys;

// What a table of the store is.
pub mod tables;

// What a study is, what its simulations read, and the list of studies that a program hands over.
pub mod study;

// Experiment files, axes, points, and the actors that share them out over cores.
pub mod sweep;

// SQLite: schema, migrations, the writer, the readers.
pub mod store;
