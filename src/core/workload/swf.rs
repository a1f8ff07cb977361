//! The Standard Workload Format of the Parallel Workloads Archive: reading, finding and writing
//! traces.
//!
//! Responsible for the 18 fields of a record, the comment lines that say where the data comes from
//! and whom to acknowledge, and for every fault that a file can have. Not responsible for which
//! records are usable jobs: that is [`clean`](super::clean).
//!
//! Rules of reading, each counted where it changes anything:
//! * blank lines are skipped; lines starting with `;` are header lines wherever they stand, and are
//!   kept;
//! * `rounded decimals`: a decimal in a field of whole numbers is rounded half away from zero;
//!   fields 6 (average CPU time), 7 and 10 (memory) stay decimal;
//! * `out of order`: a record that was submitted before one above it; the records are then sorted
//!   by submit time, equal times in the order of the file;
//! * anything else that is not 18 numbers is an error with file and line.

mod error;
mod folder;
mod header;
mod parse;
mod read;
mod record;
mod trace;
mod write;

pub use error::SwfError;
pub use folder::TraceFolder;
pub(crate) use folder::log_name;
pub use header::SwfHeader;
pub use read::SwfReader;
pub use record::SwfRecord;
pub(crate) use trace::{Order, hex};
pub use trace::{ParsedTrace, Provenance};
pub use write::{SwfWriter, write_trace};
