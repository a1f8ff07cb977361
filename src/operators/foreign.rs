//! Logs of other programs: accounting of Slurm, tables of data sets, workloads of Batsim, read into
//! records of the Standard Workload Format, and records written for Batsim.
//!
//! One file a format. Each reads its input row by row and hands jobs to a [`Collector`], which
//! counts what is dropped, guessed or lost with the first line as an example, replaces names by
//! numbers, puts together what belongs to one job, and sorts. A job takes about a hundred bytes
//! until it is written; the text that it stood in is not kept.
//!
//! Not responsible for which of the records can be simulated: that is
//! [`clean`](bookahead_core::workload::clean), as for every trace.

mod batsim;
mod collector;
mod delimited;
mod error;
mod findings;
mod local_time;
mod mapping;
mod numbering;
mod sacct;

pub use batsim::{BatsimVersion, BatsimWritten, read_batsim, write_batsim};
pub use collector::{Attempts, Collector, ForeignJob, ImportSettings, ImportedTrace};
pub use delimited::read_delimited;
pub use error::ImportError;
pub use findings::{Finding, FindingKind, Findings};
pub use local_time::{LocalTimes, zone_by_name};
pub use mapping::{Cell, Mapping, MappingReader};
pub use numbering::Names;
pub use sacct::{Arrival, SACCT_COMMAND, SacctSettings, Unit, read_sacct};
