//! Experiment files, axes, points, seeds and the coordinator that shards points over cores.

mod spec;

pub use spec::{Axis, AxisValue, Point, RESULT_FORMAT, SimulationSpec, Sweep};
