//! A whole trace in memory, read once and shared between all settings that use it.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::SwfError;
use super::folder::log_name;
use super::header::SwfHeader;
use super::read::SwfReader;
use super::record::SwfRecord;
use crate::memory::{MemoryBudget, OverBudget};
use crate::workload::Job;

/// Where records came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// A file of recorded jobs.
    Trace {
        /// The file as it was found.
        path: PathBuf,
    },
    /// A model generated them.
    Model,
}

/// All records of a trace in order of submission, with its header and what reading changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedTrace {
    /// What a report calls it: the log's name, or what the model is and is not.
    pub label: String,
    /// Recorded or generated.
    pub provenance: Provenance,
    /// The comment lines.
    pub header: SwfHeader,
    /// The records, sorted by submit time; equal times in the order of the file.
    pub records: Vec<SwfRecord>,
    /// Records that stood below one submitted later than they were, before sorting.
    pub out_of_order: u64,
    /// Fields of whole numbers that held a decimal and were rounded.
    pub rounded_decimals: u64,
    /// SHA-256 over the 18 fields of all records in order, in hex: independent of compression,
    /// spacing and header.
    pub content_hash: String,
}

impl ParsedTrace {
    /// Bytes that a record costs until its jobs are simulated: itself, its job after cleaning, that
    /// job in a battery, and once more while batteries are made.
    pub const BYTES_A_RECORD: usize = size_of::<SwfRecord>() + 3 * size_of::<Job>();

    /// Reads a file of any size to its end: [`ParsedTrace::read_within`] is for files of others.
    ///
    /// # Errors
    /// Any [`SwfError`] of reading, with file and line.
    pub fn read(path: &Path) -> Result<Self, SwfError> {
        Self::read_within(path, MemoryBudget::UNLIMITED)
    }

    /// Reads a file to its end, as long as its records and the jobs that are made of them fit into
    /// the budget.
    ///
    /// # Errors
    /// Any [`SwfError`] of reading, with file and line.
    pub fn read_within(path: &Path, memory: MemoryBudget) -> Result<Self, SwfError> {
        let mut reader = SwfReader::open(path)?;
        let mut records = Vec::new();
        for record in reader.by_ref() {
            records.push(record?);
            Self::has_room(memory, records.len() as u64, "records").map_err(|over| {
                SwfError::TooManyRecords {
                    path: path.to_owned(),
                    over,
                }
            })?;
        }
        let rounded_decimals = reader.rounded_decimals();
        let name = path.to_string_lossy();
        let mut trace = Self::from_records(
            log_name(&name).to_owned(),
            Provenance::Trace {
                path: path.to_owned(),
            },
            reader.into_header(),
            records,
        );
        trace.rounded_decimals = rounded_decimals;
        Ok(trace)
    }

    /// Whether so many records have room with the jobs that are made of them; `what` names them in
    /// the error.
    ///
    /// # Errors
    /// [`OverBudget`].
    pub fn has_room(
        memory: MemoryBudget,
        records: u64,
        what: &'static str,
    ) -> Result<(), OverBudget> {
        memory.check(records, Self::BYTES_A_RECORD, what)
    }

    /// Takes records that are already in memory, sorts them by submit time and hashes them.
    #[must_use]
    pub fn from_records(
        label: String,
        provenance: Provenance,
        header: SwfHeader,
        mut records: Vec<SwfRecord>,
    ) -> Self {
        let mut order = Order::default();
        records.iter().for_each(|record| order.pass(record));
        let out_of_order = order.out_of_order;
        if out_of_order > 0 {
            records.sort_by_key(|record| record.submit);
        }
        let mut hash = Sha256::new();
        for record in &records {
            hash.update(record.canonical_bytes());
        }
        Self {
            label,
            provenance,
            header,
            records,
            out_of_order,
            rounded_decimals: 0,
            content_hash: hex(&hash.finalize()),
        }
    }
}

/// Whether records come in order of submission.
#[derive(Debug, Default)]
pub(crate) struct Order {
    latest: i64,
    /// Records that stood below one submitted later than they were.
    pub(crate) out_of_order: u64,
}

impl Order {
    pub(crate) fn pass(&mut self, record: &SwfRecord) {
        // A record without submit time is not out of order: cleaning drops it.
        if record.submit >= 0 {
            self.out_of_order += u64::from(record.submit < self.latest);
            self.latest = self.latest.max(record.submit);
        }
    }
}

/// Lower-case hexadecimal digits of some bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
