//! A sweep after everything has been checked and resolved: nothing optional is left, nothing below
//! this module sees a raw value.

use std::path::PathBuf;

use super::digest::Identity;
use super::point_axes::PointAxes;
pub use super::point_axes::{Axis, AxisValue};
use super::simulations::Simulations;
use crate::adaptive::Rule;
pub use crate::study::SimulationSpec;
use crate::study::inputs::{InputRemark, RecordLoss, RunInput, SimulatedMachine, remarks_on};

/// The version of everything that determines a result but is not configuration. Part of every
/// point's identity: raise it when a change of the engine changes any number. Where it changes
/// those of one study only, raise that study's [`revision`](crate::study::Study::revision)
/// instead: what others computed stays valid.
pub const RESULT_FORMAT: u32 = 2;

/// A validated experiment: what will be simulated, in which order, and what each point reads off
/// the simulations.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The experiment's name, shown in the store and in reports.
    pub name: String,
    /// One paragraph for the report.
    pub description: String,
    /// The file that it came from, where there was one.
    pub source: Option<PathBuf>,
    /// The configuration text as read, kept in the store.
    pub text: String,
    /// The sweep's seed.
    pub seed: u64,
    /// Replications a combination of axis values (for batteries: how many batteries); under a rule
    /// the most that there may be.
    pub replications: u32,
    /// The rule by which it stops; `None` where every point is run.
    pub rule: Option<Rule>,
    /// The axes in the order of the file: name and every value, as shown in tables.
    pub axes: Vec<Axis>,
    /// Distinct schedules to simulate; points that differ only in accounting share one.
    pub simulations: Simulations,
    /// The identity of each of [`Sweep::simulations`]: empty until [`Sweep::identify`].
    pub simulation_ids: Vec<Identity>,
    /// Every point, in the order of the axes, then replications.
    pub points: Vec<Point>,
    /// What the simulations read, each once: empty until [`Sweep::identify`].
    pub inputs: Vec<RunInput>,
    /// What cleaning dropped of their workloads: empty until the inputs are loaded.
    pub losses: Vec<RecordLoss>,
    /// The machines that a reader should know something of: empty until the inputs are loaded.
    pub machines: Vec<SimulatedMachine>,
}

impl Sweep {
    /// What a reader of the results should know of what the simulations read; nothing until the
    /// inputs are loaded.
    #[must_use]
    pub fn input_remarks(&self) -> Vec<InputRemark> {
        remarks_on(&self.losses, &self.machines)
    }

    /// The penalty ratio of a point: what its simulation read, else that of its accounting.
    #[must_use]
    pub fn penalty_ratio(&self, point: &Point) -> f64 {
        let of_study = self
            .simulations
            .kind(point.simulation)
            .study
            .penalty_ratio();
        of_study.unwrap_or(point.penalty_ratio)
    }
}

/// One simulation to be done and the points that need it.
#[derive(Clone, Debug)]
pub struct Task {
    /// Index into [`Sweep::simulations`].
    pub simulation: usize,
    /// Indices into [`Sweep::points`].
    pub points: Vec<usize>,
    /// Expected seconds.
    pub seconds: f64,
}

/// One point of a sweep: a combination of axis values and a replication, read off one simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Of the content that determines the result (simulation identity and accounting); empty until
    /// [`Sweep::identify`].
    pub id: Identity,
    /// Index into [`Sweep::simulations`].
    pub simulation: usize,
    /// The value of every axis of the sweep, by key.
    pub axes: PointAxes,
    /// Penalty ÷ fee, ρ, of the accounting; 1 for studies whose simulations read it.
    pub penalty_ratio: f64,
    /// The replication.
    pub replication: u32,
    /// Its place in this sweep, from 0. Not part of its identity: points that a strategy cannot
    /// tell apart (a baseline at several thresholds) share an identity and have a place each.
    pub place: u32,
}
