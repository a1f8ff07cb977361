//! What can be wrong with a trace, said so that its owner can mend it.

use std::path::PathBuf;

use thiserror::Error;

use crate::memory::OverBudget;

/// A fault of a trace file, or of the search for one.
#[derive(Debug, Error)]
pub enum SwfError {
    /// No file of that name where traces are looked for.
    #[error("{}", not_found(.name, .looked, *.folder_is_set, .page))]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// Every path that was tried, in order.
        looked: Vec<PathBuf>,
        /// Whether a folder of traces was named.
        folder_is_set: bool,
        /// The page of the archive that offers the log.
        page: String,
    },
    /// The file cannot be opened or read.
    #[error("cannot read the trace {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The compressed data is damaged or cut short.
    #[error(
        "{}: the {format} data is damaged or cut short after line {line}: {source}; fetch the file again",
        .path.display()
    )]
    Decompression {
        /// The file.
        path: PathBuf,
        /// `gzip` or `xz`.
        format: &'static str,
        /// Complete lines read before the fault.
        line: u64,
        /// What the decoder said.
        source: std::io::Error,
    },
    /// The records do not fit into the budget of memory.
    #[error("{}: {over} (`bookahead simulate --policy easy-backfilling` does not keep them)", .path.display())]
    TooManyRecords {
        /// The file.
        path: PathBuf,
        /// How many there were when reading stopped, and what they take.
        over: OverBudget,
    },
    /// The different values of the records, which are counted, do not fit into the budget of
    /// memory.
    #[error("{}: {over}", .path.display())]
    TooManyValues {
        /// The file.
        path: PathBuf,
        /// How many there were when reading stopped, and what they take.
        over: OverBudget,
    },
    /// The file was written to between two readings of it.
    #[error(
        "{}: the trace changed while it was read; try again when nobody writes to it",
        .path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The first line that is no comment is no record.
    #[error(
        "{}, line {line}: not a trace: the first line that is no comment is no record of 18 numbers (Standard Workload Format); \
         name a log of the Parallel Workloads Archive, or mend this line",
        .path.display()
    )]
    NotATrace {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A line has no end.
    #[error(
        "{}, line {line}: the line has more than {most} bytes, which no record and no comment has; check that this is a trace",
        .path.display()
    )]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// How many bytes a line may have.
        most: usize,
    },
    /// There are too many comment lines to keep.
    #[error(
        "{}, line {line}: the comment lines have more than {most} MB; remove those that say nothing about the log",
        .path.display()
    )]
    HeaderTooLarge {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// How many megabytes they may have.
        most: usize,
    },
    /// A record has fewer than 18 fields.
    #[error(
        "{}, line {line}: the record is cut short: {found} of 18 fields; complete or remove the line",
        .path.display()
    )]
    TooFewFields {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Fields found.
        found: usize,
    },
    /// A record has more than 18 fields.
    #[error(
        "{}, line {line}: the record has more than the 18 fields of the Standard Workload Format; \
         remove what follows the 18th",
        .path.display()
    )]
    TooManyFields {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A field is not a number.
    #[error(
        "{}, line {line}: field {field} ({name}) is {}not a number; missing values are written as -1",
        .path.display(), .text.as_ref().map_or(String::new(), |text| format!("{text:?}, which is "))
    )]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field, from 1.
        field: usize,
        /// What the field holds.
        name: &'static str,
        /// The text found; `None` where no record stood before it, so that the file may be none
        /// that should be shown.
        text: Option<String>,
    },
    /// A number is larger than any log can mean.
    #[error(
        "{}, line {line}: field {field} ({name}) is {text}, larger than any log can mean (times and processors: \
         at most 10^10)",
        .path.display()
    )]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field, from 1.
        field: usize,
        /// What the field holds.
        name: &'static str,
        /// The text found.
        text: String,
    },
    /// The trace holds no record at all.
    #[error("{}: the trace is empty: no record in {lines} lines", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// Lines read.
        lines: u64,
    },
    /// The file cannot be written.
    #[error(
        "cannot write the trace {}: {source}; nothing was written: check the folder and the room on its disk",
        .path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn not_found(name: &str, looked: &[PathBuf], folder_is_set: bool, page: &str) -> String {
    let places: Vec<String> = looked
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let advice = if folder_is_set {
        "put it into the folder that BOOKAHEAD_TRACES names"
    } else {
        "put it into a folder and let the environment variable BOOKAHEAD_TRACES (now unset) name that folder"
    };
    format!(
        "the trace {name} was not found; looked for {}. The Parallel Workloads Archive offers it: {page} - {advice}",
        places.join(", ")
    )
}
