//! What comes out of a sweep's simulations, and what a store says of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use super::digest::Identity;
use super::spec::{Point, SimulationSpec};
use crate::study::SimulationResult;

/// How much of every simulation is kept. Totals ([`crate::scheduling::SimulationMetrics`]) always
/// are: without them a point would be marked done and have nothing to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeDetail {
    /// The totals.
    None,
    /// The totals and the distributions of waits, slowdowns and failures.
    Metrics,
    /// The totals, the node events and every job's outcome.
    #[default]
    All,
}

/// What a power failure may cost. A kill or a crash of the program costs the same under each:
/// results that are not committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// What was committed since the last checkpoint of the journal, however long ago: nothing
    /// waits for the disk in between.
    Fast,
    /// What was committed in the last ten seconds.
    #[default]
    Normal,
    /// Nothing that was committed: every commit waits for the disk.
    Full,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunState {
    /// Every point was tried.
    Done,
    /// It was stopped; the same command goes on.
    Interrupted,
    /// It could not go on.
    Failed,
}

/// A simulation that came to its end, with the points that are read off it.
#[derive(Clone, Debug)]
pub struct FinishedSimulation {
    /// Of the content that determines the result.
    pub id: Identity,
    /// That content.
    pub spec: SimulationSpec,
    /// The workload's name for people.
    pub workload_label: String,
    /// What it produced.
    pub result: SimulationResult,
    /// How long it took.
    pub wall: Duration,
    /// The points that are read off it (their index into the sweep is not looked at).
    pub points: Vec<Point>,
}

/// A simulation that could not be carried out.
#[derive(Clone, Debug)]
pub struct FailedSimulation {
    /// Of the content that determines the result.
    pub id: Identity,
    /// That content.
    pub spec: SimulationSpec,
    /// The workload's name for people.
    pub workload_label: String,
    /// Why, for the report.
    pub error: String,
    /// The points that are missing for it.
    pub points: Vec<Point>,
}

/// How far a simulation is in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationProgress {
    /// Nobody works on it.
    Open,
    /// A live process works on it.
    Elsewhere,
    /// It is done, with enough detail.
    Done,
}

/// What others have done of a sweep, as far as it matters to whoever begins it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierWork {
    /// Simulations that failed.
    pub failed: HashSet<Identity>,
    /// Simulations that a live process has under way.
    pub elsewhere: HashSet<Identity>,
    /// Simulations that are done, each with how much of it was kept.
    pub done: HashMap<Identity, OutcomeDetail>,
    /// How many done simulations were computed by another version of the program, by version.
    pub other_programs: BTreeMap<String, usize>,
    /// Inputs that had other content the last time that a run read them.
    pub changed_inputs: Vec<String>,
}

/// Why a result was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// This result cannot be kept; others can.
    #[error("the result was refused: {0}")]
    Refused(String),
    /// Nothing can be kept any more.
    #[error("{0}")]
    Stopped(String),
}
