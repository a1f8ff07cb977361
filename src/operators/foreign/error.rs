//! What can be wrong with a foreign log, said so that its owner can mend it.

use std::path::PathBuf;

use thiserror::Error;

use bookahead_core::memory::OverBudget;

/// A fault of a log of another program, or of what was said about it.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system or a decoder said.
        source: std::io::Error,
    },
    /// A line has no end.
    #[error("{}, line {line}: the line has more than {most} bytes; check that this is a {what}", .path.display())]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// How many bytes a line may have.
        most: usize,
        /// What the file should be.
        what: &'static str,
    },
    /// The first line is no heading of `sacct`.
    #[error(
        "{}: the first line is no heading of sacct: none of its columns is known (is it `sacct --parsable2`, with its heading, \
         and is the separator {separator:?}?). Ask for:\n{command}",
        .path.display()
    )]
    NoHeading {
        /// The file.
        path: PathBuf,
        /// What separates columns.
        separator: char,
        /// What to ask `sacct` for.
        command: &'static str,
    },
    /// Columns are missing.
    #[error("{}: missing: {}. Ask for:\n{command}", .path.display(), .missing.join("; "))]
    MissingColumns {
        /// The file.
        path: PathBuf,
        /// The columns and what they are needed for.
        missing: Vec<String>,
        /// What to ask `sacct` for.
        command: &'static str,
    },
    /// A mapping names columns that a table has not.
    #[error(
        "{}: the mapping names columns that the table has not: {}; it has {}",
        .path.display(), .missing.join(", "),
        .found.as_ref().map_or_else(|| "none of the mapping's".to_owned(), |found| found.join(", "))
    )]
    UnknownColumns {
        /// The file.
        path: PathBuf,
        /// The columns of the mapping.
        missing: Vec<String>,
        /// The columns of the table; `None` where it has none that the mapping names.
        found: Option<Vec<String>>,
    },
    /// A mapping contradicts itself or says too little.
    #[error("the mapping: {what}")]
    Mapping {
        /// What is wrong.
        what: String,
    },
    /// One trace is one machine.
    #[error(
        "{}: the log has jobs of {} clusters, and a trace is of one machine; name one with --cluster: {}",
        .path.display(), .clusters.len(),
        .clusters.iter().take(20).map(|(name, jobs)| format!("{name} ({jobs} jobs)")).collect::<Vec<_>>().join(", ")
    )]
    SeveralClusters {
        /// The file.
        path: PathBuf,
        /// The clusters and how many jobs each has.
        clusters: Vec<(String, u64)>,
    },
    /// More jobs than the budget of memory has room for.
    #[error("{}: {over}, for instance by importing the log in parts", .path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
        /// How many there were when reading stopped, and what they take.
        over: OverBudget,
    },
    /// Nothing is left.
    #[error("{}: no job in {rows} rows{}", .path.display(), reasons(.dropped))]
    NoJobs {
        /// The file.
        path: PathBuf,
        /// Rows read.
        rows: u64,
        /// Why rows were dropped, and how many.
        dropped: Vec<(&'static str, u64)>,
    },
    /// A table or a workload is not in its format.
    #[error("{}: {what}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A zone that is not known.
    #[error(
        "the time zone {name:?} is not known; name one of the IANA database, such as Europe/Berlin or UTC"
    )]
    UnknownZone {
        /// The name.
        name: String,
    },
}

fn reasons(dropped: &[(&'static str, u64)]) -> String {
    if dropped.is_empty() {
        return String::new();
    }
    let reasons: Vec<String> = dropped
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    format!(" ({})", reasons.join("; "))
}
