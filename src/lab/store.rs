//! The store: one SQLite file that keeps every run, point and job outcome, and the only way out of
//! a simulation.
//!
//! By verb: [`Store::open`] and what brings older files forward (`versions`), the tables and views
//! (`tables`), the one writer, an actor on a thread of its own ([`Writer`]), and the readers. Only
//! this module holds a connection. What a simulation produced, the mark that it is done and its
//! points commit together, so a kill at any instant loses at most the simulations under way.
//! `docs/schema.md` explains every table and column.

mod aggregates;
mod archive;
mod backup;
mod columns;
mod curves;
mod durability;
mod error;
mod export;
mod gone;
mod held;
mod history;
mod holdings;
mod journal;
mod labels;
mod measures;
mod merge;
mod metrics;
mod open;
mod overlap;
mod paired;
mod processes;
mod progress;
mod query;
mod read;
mod record;
mod remove;
mod repeats;
mod replays;
mod room;
mod rows;
mod rules;
mod runs;
mod shares;
mod stream;
mod sweeps;
mod tables;
mod verify;
mod versions;
mod write;
mod writer_actor;

pub use crate::sweep::{Durability, EarlierWork, SimulationProgress};
pub use aggregates::{
    Bin, BinCounts, CalibrationRow, MissingPoint, OF_RUN, PofKind, Quantity, SimulatorRow,
};
pub use archive::ArchiveStep;
pub use columns::{Shared, numbers};
pub use curves::CurveSamples;
pub use error::StoreError;
pub use export::{Export, ExportKind, ExportRows, ExportType};
pub use gone::GoneRun;
pub use held::{Held, MachineUse};
pub use history::{DecisionTiming, JobDetail, MeasuredPoint, PlaceDetail, UnfinishedPoint};
pub use labels::{RunLabels, Tag, TagError};
pub use measures::MeasureColumn;
pub use merge::{MergeError, MergeOptions, MergeSummary, MergedRun};
pub use metrics::{METRICS, Metric, Shown, names as metric_names};
pub use open::Store;
pub use overlap::SharedJobs;
pub use paired::{PAIRED_MEASURES, PairedRequests};
pub use progress::{RunProgress, StoreStamp};
pub use query::{Parameter, QueryError, SqlValue};
pub use read::{
    AxisColumn, FailedPoint, Interruption, PointColumns, RunFilter, RunSelector, RunSummary,
};
pub use record::{
    FailedSimulation, FinishedSimulation, InputRemark, OutcomeDetail, RecordLoss, RunId, RunInput,
    RunRecord, RunState, SimulatedMachine, WriteSummary,
};
pub use remove::RunUse;
pub use replays::{ListedPoint, ReplaySource};
pub use rules::{StoredDecision, StoredRule};
pub use runs::PendingSimulation;
pub use shares::ShareProgress;
pub use stream::{OutcomeStream, WorkloadHash};
pub use sweeps::{StoreFile, check, dry_run, run_sweep};
pub use tables::{definitions, views};
pub use verify::{Finding, Verification};
pub use versions::{APPLICATION_ID, SCHEMA_VERSION};
pub use write::{Writer, WriterHandle};
