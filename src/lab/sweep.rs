//! Experiment files, axes, points, seeds and the actors that share points out over cores.
//!
//! An experiment file is read into a tree (`document`), axis values are put into it, and every
//! combination is resolved into settings (`resolve`) before anything runs; [`Experiment`] is the
//! result. [`run_planned`] loads inputs, asks the store what is done, and works off the rest.
//! Nothing below this module sees a raw value of a file, and this module knows neither how a
//! simulation works nor how results are kept ([`Simulate`], [`ResultStore`]).

mod actors;
mod axes;
mod combination;
mod cost;
mod course;
mod digest;
mod document;
mod experiment;
mod identity;
mod interrupt;
pub mod keys;
mod order;
mod overrides;
mod point_axes;
mod prepare;
mod progress;
pub mod raw;
mod replay;
pub(crate) mod resolve;
mod results;
mod rewrite;
mod run;
mod shard;
mod simulations;
mod sink;
mod spec;
mod starter;
mod tasks;
mod unread;

pub use crate::keys::problem::{ExperimentError, Problem, ProblemKind};
pub use crate::study::inputs::{
    Cache, ContentHashes, FailureRequest, Handed, HashDigits, InputError, InputFolders,
    InputRemark, InputSources, Inputs, JobsHash, PreparedWorkload, RecordLoss, RunInput, Seen,
    SimulatedMachine, canonical_json,
};
pub(crate) use actors::all_end;
pub use actors::{Coordinator, Observer, ResultSink, Simulate, SweepWork, Tally, work_off};
pub use axes::{MAXIMUM_POINTS, MAXIMUM_SIMULATIONS, round12};
pub use cost::{CostModel, megabytes, wall_time};
pub use course::{Course, Decision, Rung, Values, Verdict, replication_order};
pub use digest::{Identity, digest};
pub use experiment::Experiment;
pub use interrupt::{GRACE, INTERRUPTED, Interrupt};
pub use overrides::{OverrideError, with_values};
pub use point_axes::PointAxes;
pub use progress::{Progress, above_bar, describe, shown, while_working};
pub use replay::{ReplayError, ReplaySource, ReplayedPoint, replay_point};
pub use resolve::LANL_FILE;
pub use results::{
    Durability, EarlierWork, FailedSimulation, FinishedSimulation, OutcomeDetail, RunState,
    SimulationProgress, SinkError,
};
pub use rewrite::{Renamed, RewriteError, Rewritten, rewritten};
pub use run::{
    Plan, SweepError, SweepOptions, SweepSummary, about, load_inputs, plan, prepare_all,
    require_results, require_shares, run_planned,
};
pub use shard::{Shard, ShardError};
pub use simulations::Simulations;
pub use sink::{NoStore, ResultStore};
pub use spec::{Axis, AxisValue, Point, RESULT_FORMAT, SimulationSpec, Sweep, Task};
pub use starter::{Beginning, beginnings, starter};
pub use tasks::tasks;
