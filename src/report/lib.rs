//! Reports: the results of a run, computed from the store alone and written for people.
//!
//! [`write()`] reads the points of a run, groups them (`frames`, on Polars), folds replications
//! into means with 95 % intervals (`analysis`), shapes them into tables (`summary_tables`) and
//! writes each in several formats (`format`), with the SQL that gives its numbers below it. A
//! figure is data first (`figure`; `plots` makes them), drawn by `svg`, and laid out with the
//! tables as one page (`html`). What is shown of one study alone is a [`View`], which stands beside
//! the study. Everything is a function of the run's content; what depends on the machine and the
//! clock is in `run.md` alone.
//!
//! A table has several forms, and the SQL that gives its numbers:
//!
//! ```
//! use bookahead_report::{Cell, Column, Csv, Table, TableFormat};
//!
//! let table = Table {
//!     name: "waits".to_owned(),
//!     title: "Mean waits".to_owned(),
//!     columns: vec![Column::plain("strategy", "Strategy"), Column::number("wait", "Wait (h)", 1)],
//!     rows: vec![vec![Cell::Text("fcfs".to_owned()), Cell::Number(12.25)]],
//!     note: String::new(),
//!     sql: "SELECT 'fcfs', 12.25".to_owned(),
//! };
//! let written = |format: &dyn TableFormat| -> std::io::Result<String> {
//!     let mut text = Vec::new();
//!     format.write(&table, &mut text)?;
//!     Ok(String::from_utf8_lossy(&text).into_owned())
//! };
//! assert_eq!(written(&Csv)?, "strategy,wait\nfcfs,12.25\n");
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod analysis;
mod answer;
pub mod calibration;
pub mod comparison;
mod content;
mod dependence;
pub mod estimates;
pub mod figure;
mod folder_fault;
pub mod format;
mod frames;
pub mod gantt;
pub mod glossary;
pub mod html;
mod inline;
mod labels;
pub mod optimism;
pub mod plots;
mod profile;
mod published;
mod rule;
mod schedule_drawing;
pub mod section;
pub mod situation;
pub mod sql;
pub mod statistics;
pub mod summary_tables;
pub mod svg;
pub mod table;
mod trust;
pub mod variance;
pub mod views;
mod workflow_drawing;
pub mod write;

pub use analysis::{Additional, Analysis, Combination, ReportedMeasure, STRATEGY_AXIS, TUNED_AXES};
pub use content::{ReportExtras, moment};
pub use estimates::EstimatesReport;
pub use folder_fault::FolderFault;
pub use format::{ColumnKind, Csv, Latex, Markdown, Parquet, ParquetRows, TableFormat, Terminal};
pub use html::{document, script, style};
pub use inline::Inline;
pub use labels::{LabelError, Labels};
pub use profile::Profile;
pub use published::{AxisFilter, Published, PublishedNumber, PublishedOfRun, real, same};
pub use rule::RuleAnswer;
pub use schedule_drawing::schedule_svg;
pub use section::{ClaimsSection, PlanSection, ReportError, Served};
pub use statistics::{
    Blocks, Choice, Estimate, Interval, Method, Neighbours, Weekly, Welch, is_shown, student_t_95,
};
pub use summary_tables::{best_table, failed_table, run_table, summary_table};
pub use svg::FigureWidth;
pub use table::{Cell, Column, Table};
pub use table::{axes_text, grouped};
pub use views::{NamedView, Reported, View, ViewContent, Views};
pub use workflow_drawing::workflow_svg;
pub use write::{Forms, KeptFiles, ReportSummary, TableFile, page, write};
