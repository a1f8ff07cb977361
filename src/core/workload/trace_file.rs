//! A trace that stays in its file, for what needs one job after the other: read as often as wanted,
//! at constant memory.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::cleaning::CleaningReport;
use super::job_stream::JobStream;
use super::settings::CleaningRules;
use super::swf::{Order, ParsedTrace, SwfError, SwfHeader, SwfReader, SwfRecord, hex, log_name};
use crate::memory::{MemoryBudget, OverBudget};
use crate::units::Nodes;

/// The records of a [`TraceFile`], in order of submission.
pub type TraceRecords<'t> = Box<dyn Iterator<Item = Result<SwfRecord, SwfError>> + 't>;

/// What one reading of a trace found, and where its records are.
///
/// A file whose records stand in order of submission is read again whenever they are wanted. One
/// that has another order, and a pipe, which can be read once, are kept in memory.
#[derive(Debug)]
pub struct TraceFile {
    /// The log's name.
    pub label: String,
    /// The comment lines.
    pub header: SwfHeader,
    /// How many records there are.
    pub records: u64,
    /// Records that stood below one submitted later than they were.
    pub out_of_order: u64,
    /// Fields of whole numbers that held a decimal and were rounded.
    pub rounded_decimals: u64,
    /// SHA-256 over the 18 fields of all records in order of submission, as in [`ParsedTrace`].
    pub content_hash: String,
    /// The most processors that a record says, allocated or requested.
    pub widest: i64,
    path: PathBuf,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    /// In the file, as long as that is the same.
    InFile(fs::Metadata),
    InMemory(Vec<SwfRecord>),
}

impl TraceFile {
    /// Reads a file to its end. `memory` matters only where its records have to be kept.
    ///
    /// # Errors
    /// Any [`SwfError`] of reading, with file and line.
    pub fn read(path: &Path, memory: MemoryBudget) -> Result<Self, SwfError> {
        let keep = || ParsedTrace::read_within(path, memory).map(|trace| Self::of(path, trace));
        let Some(state) = state(path)? else {
            return keep();
        };
        let mut reader = SwfReader::open(path)?;
        let (mut order, mut hash) = (Order::default(), Sha256::new());
        let (mut records, mut widest) = (0, 0);
        for record in reader.by_ref() {
            let record = record?;
            order.pass(&record);
            if order.out_of_order > 0 {
                return keep();
            }
            hash.update(record.canonical_bytes());
            records += 1;
            widest = widest.max(record.width());
        }
        Ok(Self {
            label: log_name(&path.to_string_lossy()).to_owned(),
            records,
            out_of_order: 0,
            rounded_decimals: reader.rounded_decimals(),
            content_hash: hex(&hash.finalize()),
            widest,
            header: reader.into_header(),
            path: path.to_owned(),
            storage: Storage::InFile(state),
        })
    }

    fn of(path: &Path, trace: ParsedTrace) -> Self {
        Self {
            label: trace.label,
            header: trace.header,
            records: trace.records.len() as u64,
            out_of_order: trace.out_of_order,
            rounded_decimals: trace.rounded_decimals,
            content_hash: trace.content_hash,
            widest: trace
                .records
                .iter()
                .map(SwfRecord::width)
                .max()
                .unwrap_or(0),
            path: path.to_owned(),
            storage: Storage::InMemory(trace.records),
        }
    }

    /// The records from the first.
    ///
    /// # Errors
    /// [`SwfError::Read`] where the file cannot be opened again. The iterator ends with
    /// [`SwfError::Changed`] where it is no longer the one that was read first.
    pub fn records(&self) -> Result<TraceRecords<'_>, SwfError> {
        let found = match &self.storage {
            Storage::InMemory(records) => return Ok(Box::new(records.iter().copied().map(Ok))),
            Storage::InFile(found) => found,
        };
        let reader = SwfReader::open(&self.path)?;
        let is_same = move || match state(&self.path) {
            Ok(Some(now)) if is_same_state(&now, found) => None,
            Ok(_) => Some(Err(SwfError::Changed {
                path: self.path.clone(),
            })),
            Err(error) => Some(Err(error)),
        };
        Ok(Box::new(
            reader.chain(std::iter::once_with(is_same).flatten()),
        ))
    }

    /// What is said where the different values of its jobs do not fit into the budget.
    pub(crate) fn too_many_values(&self, over: OverBudget) -> SwfError {
        SwfError::TooManyValues {
            path: self.path.clone(),
            over,
        }
    }

    /// The usable jobs from the first; `machine` only decides which are counted as wider than it.
    ///
    /// # Errors
    /// As [`records`](Self::records).
    pub fn jobs(
        &self,
        rules: CleaningRules,
        machine: Nodes,
    ) -> Result<JobStream<TraceRecords<'_>>, SwfError> {
        let mut jobs = JobStream::new(self.records()?, rules).for_machine(machine);
        jobs.report = CleaningReport {
            out_of_order: self.out_of_order,
            rounded_decimals: self.rounded_decimals,
            ..CleaningReport::default()
        };
        Ok(jobs)
    }
}

/// `None` of what is no regular file and gives its content once.
fn state(path: &Path) -> Result<Option<fs::Metadata>, SwfError> {
    let found = fs::metadata(path).map_err(|source| SwfError::Read {
        path: path.to_owned(),
        source,
    })?;
    Ok(found.is_file().then_some(found))
}

/// Whether nobody has written to a file: its length and time are those that they were.
fn is_same_state(now: &fs::Metadata, before: &fs::Metadata) -> bool {
    now.len() == before.len() && now.modified().ok() == before.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Job, clean};

    const LOG: [&str; 4] = [
        "; MaxProcs: 8",
        "1 0 5 50 4 1.5 -1 4 100 -1 1 1 1 1 1 -1 -1 -1",
        "2 100 5 10 9.2 -1 -1 2 300 -1 5 2 1 1 1 -1 -1 -1",
        "3 150 5 0 4 -1 -1 12 100 -1 1 1 1 1 1 -1 -1 -1",
    ];

    fn written(lines: &[&str]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), lines.join("\n")).unwrap();
        file
    }

    #[test]
    fn a_file_is_what_it_is_in_memory_whatever_its_order() {
        for order in [[0, 1, 2, 3], [0, 3, 1, 2]] {
            let file = written(&order.map(|line| LOG[line]));
            let parsed = ParsedTrace::read(file.path()).unwrap();
            let trace = TraceFile::read(file.path(), MemoryBudget::UNLIMITED).unwrap();
            assert_eq!(trace.content_hash, parsed.content_hash);
            assert_eq!(
                (&trace.label, &trace.header),
                (&parsed.label, &parsed.header)
            );
            assert_eq!((trace.records, trace.widest), (3, 12));
            let records: Vec<_> = trace.records().unwrap().map(Result::unwrap).collect();
            assert_eq!(records, parsed.records);
            let rules = CleaningRules::default();
            let cleaned = clean(&parsed, &rules, Nodes(8));
            let mut jobs = trace.jobs(rules, Nodes(8)).unwrap();
            let streamed: Vec<Job> = jobs.by_ref().map(Result::unwrap).collect();
            assert_eq!((streamed, &jobs.report), (cleaned.jobs, &cleaned.report));
        }
    }

    #[test]
    fn records_are_kept_within_the_budget_only_where_they_must_be_sorted() {
        let none = MemoryBudget::of_bytes(0);
        let sorted = written(&LOG);
        assert!(TraceFile::read(sorted.path(), none).is_ok());
        let unsorted = written(&[LOG[0], LOG[2], LOG[1]]);
        let error = TraceFile::read(unsorted.path(), none).unwrap_err();
        assert!(matches!(error, SwfError::TooManyRecords { .. }), "{error}");
    }

    #[test]
    fn a_file_that_is_written_between_two_readings_is_an_error() {
        let file = written(&LOG);
        let trace = TraceFile::read(file.path(), MemoryBudget::UNLIMITED).unwrap();
        fs::write(file.path(), LOG[..3].join("\n")).unwrap();
        let last = trace.records().unwrap().last().unwrap();
        assert!(matches!(last, Err(SwfError::Changed { .. })), "{last:?}");
    }
}
