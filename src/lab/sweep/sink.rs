//! Where results go: what the coordinator needs of a store, and nothing more, so that it can be tested without one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::digest::Identity;
use super::spec::{Point, SimulationSpec, Sweep, Task};
use crate::studies::SimulationResult;

/// How much of every simulation is kept. Totals ([`crate::scheduling::SimulationMetrics`]) always are: without them a
/// point would be marked done and have nothing to show.
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

/// Takes results from several workers at once, and lets them wait while it is behind.
pub trait ResultSink: Send + Sync {
    /// Takes a finished simulation.
    ///
    /// # Errors
    ///
    /// [`SinkError::Refused`] for this one alone, [`SinkError::Stopped`] when the sink is broken.
    fn write(&self, finished: FinishedSimulation) -> Result<(), SinkError>;

    /// Takes note of a simulation that failed.
    ///
    /// # Errors
    ///
    /// [`SinkError::Stopped`] when the sink is broken.
    fn fail(&self, failed: FailedSimulation) -> Result<(), SinkError>;

    /// Takes note that a simulation (by identity) begins.
    ///
    /// # Errors
    ///
    /// [`SinkError::Stopped`] when the sink is broken.
    fn started(&self, _id: &str) -> Result<(), SinkError> {
        Ok(())
    }

    /// Makes points of a simulation that another program has done part of this run.
    ///
    /// # Errors
    ///
    /// [`SinkError::Stopped`] when the sink is broken.
    fn adopt(&self, _id: &str, _points: Vec<Point>) -> Result<(), SinkError> {
        Ok(())
    }

    /// What other programs have done of a simulation since this run began.
    fn progress(&self, _id: &str) -> SimulationProgress {
        SimulationProgress::Open
    }
}

/// A store as a sweep sees it.
pub trait ResultStore {
    /// Which points of a sweep are done with at least this much kept.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn done(&self, sweep: &Sweep, detail: OutcomeDetail) -> Result<HashSet<Identity>, SinkError>;

    /// Begins a run: enters it, makes the points that are done already part of it, enters what is to be done as pending (with
    /// `fresh` as a new generation), and opens a sink that lets `queue` simulations wait.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn begin(
        &mut self,
        sweep: &Sweep,
        done: &[Point],
        pending: &[Task],
        fresh: bool,
        detail: OutcomeDetail,
        queue: usize,
    ) -> Result<Arc<dyn ResultSink>, SinkError>;

    /// What is known of earlier work on a sweep.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn earlier_work(&self, _sweep: &Sweep) -> Result<EarlierWork, SinkError> {
        Ok(EarlierWork::default())
    }

    /// Writes everything that waits and closes the run.
    ///
    /// # Errors
    ///
    /// When something could not be written, now or earlier.
    fn finish(&mut self, state: RunState) -> Result<(), SinkError>;

    /// The number of the run that was begun.
    fn run(&self) -> Option<i64> {
        None
    }

    /// Seconds a job of earlier simulations, by strategy, where they are recorded.
    fn seconds_per_job(&self) -> BTreeMap<String, f64> {
        BTreeMap::new()
    }
}

/// The store of a sweep that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl ResultSink for NoStore {
    fn write(&self, _: FinishedSimulation) -> Result<(), SinkError> {
        Ok(())
    }

    fn fail(&self, _: FailedSimulation) -> Result<(), SinkError> {
        Ok(())
    }
}

impl ResultStore for NoStore {
    fn done(&self, _: &Sweep, _: OutcomeDetail) -> Result<HashSet<Identity>, SinkError> {
        Ok(HashSet::new())
    }

    fn begin(
        &mut self,
        _: &Sweep,
        _: &[Point],
        _: &[Task],
        _: bool,
        _: OutcomeDetail,
        _: usize,
    ) -> Result<Arc<dyn ResultSink>, SinkError> {
        Ok(Arc::new(Self))
    }

    fn finish(&mut self, _: RunState) -> Result<(), SinkError> {
        Ok(())
    }
}
