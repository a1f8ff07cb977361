//! bookahead: a laboratory for planning-based resource management.

pub mod cli;
pub mod estimates;
pub mod failures;
pub mod plan;
pub mod random;
pub mod report;
pub mod scheduling;
pub mod simulation;
pub mod store;
pub mod sweep;
pub mod units;
pub mod workload;
