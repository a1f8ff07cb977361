//! Reports: what came out of a run, computed from the store alone and written for people.
//!
//! [`write()`] reads the points of a run, folds replications into means with 95 % intervals (`analysis`, on Polars), shapes
//! them into tables (`tables`) and writes each in several formats (`format`), with the SQL that gives its numbers below it.
//! Everything in `report.md`, `tables/` and `plots/` is a function of the run's content; what depends on the machine and
//! the clock is in `run.md` alone.

mod analysis;
pub mod claims;
pub mod figure;
mod format;
mod plot;
pub mod reproduction;
mod sql;
mod statistics;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod write;

pub use analysis::{Additional, Analysis, Combination, METRICS, Metric, STRATEGY_AXIS, TUNED_AXES};
pub use format::{ColumnKind, Csv, Markdown, Parquet, ParquetRows, TableFormat, Terminal};
pub use statistics::{Estimate, student_t_95};
pub use table::{Cell, Column, Table};
pub use tables::{best_table, failed_table, run_table, summary_table};
pub use write::{ReportError, ReportSummary, write};
