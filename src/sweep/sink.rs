//! Where results go: what the coordinator needs of a store, and nothing more, so that it can be tested without one.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::simulation::SimulationResult;

use super::spec::{Point, SimulationSpec, Sweep};

/// How much of a result is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeDetail {
    /// Nothing: the sweep runs and leaves no trace (to measure speed).
    None,
    /// The totals of every simulation.
    Metrics,
    /// The outcome of every job too.
    #[default]
    All,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunState {
    /// Every point was tried.
    Done,
    /// It was stopped by the user; the same command goes on.
    Interrupted,
    /// It could not go on.
    Failed,
}

/// A simulation that came to its end, with the points that are read off it.
#[derive(Clone, Debug)]
pub struct FinishedSimulation {
    /// The simulation's identity.
    pub id: String,
    /// What was simulated.
    pub spec: SimulationSpec,
    /// The workload's name for people.
    pub workload_label: String,
    /// What it produced.
    pub result: SimulationResult,
    /// How long it took.
    pub wall: Duration,
    /// The points that are read off it.
    pub points: Vec<Point>,
}

/// A simulation that could not be carried out.
#[derive(Clone, Debug)]
pub struct FailedSimulation {
    /// The simulation's identity.
    pub id: String,
    /// What should have been simulated.
    pub spec: SimulationSpec,
    /// The workload's name for people.
    pub workload_label: String,
    /// Why it failed.
    pub error: String,
    /// The points that are missing for it.
    pub points: Vec<Point>,
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
}

/// A store as a sweep sees it.
pub trait ResultStore {
    /// Which of these points (by identity) are done with at least this much kept.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn done(&self, ids: &[&str], detail: OutcomeDetail) -> Result<HashSet<String>, SinkError>;

    /// Begins a run: enters it, makes the points that are done already part of it, and opens a sink that lets `queue`
    /// simulations wait.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn begin(
        &mut self,
        sweep: &Sweep,
        done: &[Point],
        detail: OutcomeDetail,
        queue: usize,
    ) -> Result<Arc<dyn ResultSink>, SinkError>;

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
    fn done(&self, _: &[&str], _: OutcomeDetail) -> Result<HashSet<String>, SinkError> {
        Ok(HashSet::new())
    }

    fn begin(
        &mut self,
        _: &Sweep,
        _: &[Point],
        _: OutcomeDetail,
        _: usize,
    ) -> Result<Arc<dyn ResultSink>, SinkError> {
        Ok(Arc::new(Self))
    }

    fn finish(&mut self, _: RunState) -> Result<(), SinkError> {
        Ok(())
    }
}
