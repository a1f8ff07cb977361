//! Experiment files, axes, points, seeds and the coordinator that shards points over cores.

mod axes;
mod document;
mod experiment;
mod identity;
pub mod keys;
mod normalise;
mod problem;
mod raw;
mod resolve;
mod spec;

pub use axes::{MAXIMUM_POINTS, round12};
pub use experiment::Experiment;
pub use identity::{ContentHashes, canonical_json, digest};
pub use normalise::normalise;
pub use problem::{ExperimentError, Problem, ProblemKind};
pub use resolve::LANL_FILE;
pub use spec::{Axis, AxisValue, Point, RESULT_FORMAT, SimulationSpec, Sweep};
