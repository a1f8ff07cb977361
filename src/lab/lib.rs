//! The laboratory of bookahead: actors around the domain's state machines, sweeps over all cores,
//! and the store that keeps every outcome.
//!
//! Each module below may call those above it in this list, and no other.

use bookahead_core::{
    estimates, failures, kernel, predictions, random, scheduling, units, workload,
};

// The actors of one simulation.
pub mod actors;

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
