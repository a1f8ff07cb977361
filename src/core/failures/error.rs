//! What can be wrong with failure models, traces and tables.

use std::path::PathBuf;

use crate::units::{NodeIndex, Nodes, Seconds};

/// Why there are no node failures to simulate with.
#[derive(Debug, thiserror::Error)]
pub enum FailureError {
    /// A parameter of a failure model is out of range.
    #[error("`{key}` of the failure model must be {allowed}, but is {found}")]
    Parameter {
        /// The configuration key.
        key: &'static str,
        /// What is allowed.
        allowed: &'static str,
        /// What was found.
        found: String,
    },
    /// A rate that fills the memory with failures.
    #[error(
        "more than two million node failures on {nodes} within {:.0} days: lower the failure rate, raise the mean time to \
         repair, or shorten the workload", horizon.hours() / 24.0
    )]
    TooManyOutages {
        /// Size of the machine.
        nodes: Nodes,
        /// How long it is simulated.
        horizon: Seconds,
    },
    /// Failures are asked for beforehand that follow the load.
    #[error(
        "failures that follow the load (`failures.load_factor`) come while the cluster runs: nothing is learned of single nodes \
         from them before; leave out `reliability.nodes` and `reliability.node_order`, or `failures.load_factor`"
    )]
    FollowLoad,
    /// An outage ends before it begins.
    #[error("node {} is repaired at {end}, before it fails at {start}", node.0)]
    NegativeOutage {
        /// The node.
        node: NodeIndex,
        /// When it fails.
        start: Seconds,
        /// When it is repaired.
        end: Seconds,
    },
    /// The table of failures is in none of the places where it was looked for.
    #[error(
        "the table of node failures `{file}` was not found (looked for {}); set BOOKAHEAD_FAILURES to the folder that holds \
         it, or give its path; LANL offers the table LA-UR-05-7318 at https://www.usenix.org/cfdr-data (USENIX CFDR)",
        list(looked_for)
    )]
    TableMissing {
        /// The name in the configuration.
        file: String,
        /// Every path that was tried.
        looked_for: Vec<PathBuf>,
    },
    /// The table cannot be read.
    #[error("{}: cannot read the table of node failures: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The table has no header line.
    #[error(
        "{}: found no header line with the column `{column}` among the first {lines} lines; this should be the comma \
         separated table LA-UR-05-7318 with its header (`System,machine type,nodes,…`)", file.display()
    )]
    Header {
        /// The file.
        file: PathBuf,
        /// The column that is missing.
        column: &'static str,
        /// How many lines were looked at.
        lines: u64,
    },
    /// A row that makes no sense.
    #[error("{}, line {line}: {problem}; correct the row or remove it", file.display())]
    Row {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What was wrong.
        problem: String,
    },
    /// A system that the table knows nothing about.
    #[error("{}: has no failures of system {system}; it has systems {present:?}", file.display())]
    SystemAbsent {
        /// The file.
        file: PathBuf,
        /// The system asked for.
        system: u32,
        /// The systems in the table.
        present: Vec<u32>,
    },
    /// The settings replay a table, but none was handed over.
    #[error("failures are replayed from `{file}`, but the table was not read before")]
    TableNotRead {
        /// The name in the configuration.
        file: String,
    },
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    shown.join(", ")
}
