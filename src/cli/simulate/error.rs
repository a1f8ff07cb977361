//! Errors of `bookahead simulate`.

use std::path::PathBuf;

use bookahead_core::memory::OverBudget;

use super::{LONGEST_TRACE_SECONDS, MOST_NODES};
use crate::store::StoreError;
use crate::workload::{JobStreamError, SwfError, WorkloadError};
use bookahead_queues::machine_queue::machines::MachineError;
use bookahead_queues::predicted_queue::UnknownPredictor;

/// Why nothing was simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The trace cannot be read, or the schedule not be written.
    #[error(transparent)]
    Swf(#[from] SwfError),
    /// The stream of jobs is faulty.
    #[error(transparent)]
    Stream(#[from] JobStreamError),
    /// The model cannot make such jobs.
    #[error(transparent)]
    Model(#[from] WorkloadError),
    /// More jobs at once than there is memory for.
    #[error("{0}")]
    Memory(#[from] OverBudget),
    /// Nobody said how large the machine is.
    #[error("{trace} names no MaxProcs in its header; say --nodes N")]
    NoMachine {
        /// The trace.
        trace: String,
    },
    /// A machine beyond what is counted.
    #[error(
        "{trace} says in its header that the machine has {nodes} processors; allowed are up to {MOST_NODES}; say --nodes N"
    )]
    MachineTooLarge {
        /// The trace.
        trace: String,
        /// What its header says.
        nodes: u32,
    },
    /// A load so small that the trace would last longer than times are counted.
    #[error(
        "--load {load} would stretch {trace} to {seconds:.0e} s; allowed are up to {LONGEST_TRACE_SECONDS:.0e} s: say a larger load"
    )]
    TooLong {
        /// What was asked for.
        load: f64,
        /// The trace.
        trace: String,
        /// How long it would last.
        seconds: f64,
    },
    /// A load that cannot be.
    #[error("--load is {found}; allowed is a finite number above 0")]
    ImpossibleLoad {
        /// What was asked for.
        found: f64,
    },
    /// Jobs without work or without a span have no load to be scaled.
    #[error(
        "{trace}: its usable jobs offer no load that could be scaled (no work, or all submitted at once); leave --load out"
    )]
    NoLoad {
        /// The trace.
        trace: String,
    },
    /// No job is left.
    #[error(
        "{trace}: none of its {records} records is a usable job for {nodes} nodes: {unusable} lack a size, a run time, an estimate or a submission, {too_wide} are wider than the machine; say a larger --nodes, or use a trace that holds them"
    )]
    NoJobs {
        /// The trace.
        trace: String,
        /// Records read.
        records: u64,
        /// Size of the machine.
        nodes: u32,
        /// Records that cleaning dropped.
        unusable: u64,
        /// Jobs that do not fit the machine.
        too_wide: u64,
    },
    /// Another plan than that of fixed starts.
    #[error("--fixed-starts goes with --policy heuristic-planning, not with {policy}")]
    NoFixedStarts {
        /// The policy.
        policy: &'static str,
    },
    /// A policy that plans with estimates.
    #[error(
        "--policy {policy} plans with what users asked for; --predictor, --corrector, --order and --backfill go with --policy easy-backfilling"
    )]
    NoPredictions {
        /// The policy.
        policy: &'static str,
    },
    /// A policy that overbooks.
    #[error(
        "--policy {policy} overbooks: it needs statistics of earlier jobs, deadlines and a price of failures, which an experiment has; `bookahead init {policy} > mine.toml` writes one"
    )]
    NoStatistics {
        /// The policy.
        policy: &'static str,
    },
    /// A predictor that does not exist.
    #[error(transparent)]
    Predictor(#[from] UnknownPredictor),
    /// The schedule would replace the trace.
    #[error("{} is the trace itself; name another file to write", .path.display())]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    /// The jobs cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The machine file is wrong, or does not go with the trace.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Names without a machine file that has any.
    #[error("--names goes with --machine: nothing else looks up names of the trace; leave it out")]
    NamesAlone,
    /// No job has a place on the machine.
    #[error(
        "{trace}: none of its {records} records has a place on the machine `{machine}`: {unusable} lack a size, a run time or a submission, \
         {without_partition} are of queues that no partition lists, {without_request} ask for no time and their partition has no default; \
         see `queues`, `partitions`, `default` and `default_request_hours` of [[partition]]"
    )]
    NoPlaces {
        /// The trace.
        trace: String,
        /// The machine.
        machine: String,
        /// Records read.
        records: u64,
        /// Records that cleaning dropped.
        unusable: u64,
        /// Jobs of queues that no partition lists.
        without_partition: u64,
        /// Jobs that ask for no time.
        without_request: u64,
    },
    /// The answer cannot be written.
    #[error("cannot write the answer: {0}")]
    Output(#[from] std::io::Error),
}
