//! The laboratory of bookahead: actors around the domain's state machines, sweeps over all cores,
//! and the store that keeps every outcome.
//!
//! Each module below may call those above it in this list, and no other.

use bookahead_engine::{
    brokering, estimates, failures, kernel, plan, predictions, random, scheduling, units, workload,
};

// The actors of one simulation.
pub mod actors;

// Keys of experiment files: declarations, reading, problems.
mod keys;
pub use keys::ours;

// What simulations read, prepared once and shared.
mod inputs;

// Machine files, `slurm.conf`, and where the jobs of a trace run on such a machine.
pub mod machines;

// What a table of the store is.
mod tables;

// What simulations can be about: inputs, runs, keys and tables of each study.
pub mod studies;

// Experiment files, axes, points, and the actors that share them out over cores.
pub mod sweep;

// SQLite: schema, migrations, the writer, the readers.
pub mod store;

// What the tests of the engine draw is drawn here, too: the same files, as a crate's tests are not
// seen by another.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../engine/brokering/co_reservation/drawn.rs"]
mod drawn;
#[cfg(test)]
#[allow(dead_code)]
#[path = "../engine/brokering/provisioning/test_support.rs"]
mod drawn_sites;
