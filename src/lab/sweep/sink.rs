//! Where results go: what a sweep needs of a store, and nothing more, so that it can be tested
//! without one.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::actors::ResultSink;
use super::course::Decision;
use super::digest::Identity;
use super::results::{
    EarlierWork, FailedSimulation, FinishedSimulation, OutcomeDetail, RunState, SinkError,
};
use super::spec::{Point, Sweep, Task};

/// A store as a sweep sees it.
pub trait ResultStore {
    /// Which points of a sweep are done with at least this much kept.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn done(&self, sweep: &Sweep, detail: OutcomeDetail) -> Result<HashSet<Identity>, SinkError>;

    /// Begins a run: enters it, makes the points that are done already part of it, enters what is
    /// to be done as pending (with `fresh` as a new generation), and opens a sink that lets `queue`
    /// simulations wait.
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

    /// Makes more points part of the run that was begun, as [`begin`](Self::begin) does.
    ///
    /// # Errors
    ///
    /// When no run was begun, or it cannot be written.
    fn enter(
        &mut self,
        sweep: &Sweep,
        done: &[Point],
        pending: &[Task],
        fresh: bool,
    ) -> Result<(), SinkError>;

    /// The values of a quantity at points of the run that was begun, in their order, with
    /// everything that was handed to the sink before; `None` where a point failed or has none.
    ///
    /// # Errors
    ///
    /// When no run was begun, nothing is kept, or it cannot be read.
    fn values(&self, quantity: &str, points: &[Identity]) -> Result<Vec<Option<f64>>, SinkError>;

    /// Keeps what a rule decided.
    ///
    /// # Errors
    ///
    /// When no run was begun, or it cannot be written.
    fn decide(&mut self, decisions: Vec<Decision>) -> Result<(), SinkError>;

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

    fn enter(&mut self, _: &Sweep, _: &[Point], _: &[Task], _: bool) -> Result<(), SinkError> {
        Ok(())
    }

    fn values(&self, _: &str, _: &[Identity]) -> Result<Vec<Option<f64>>, SinkError> {
        Err(SinkError::Stopped("nothing is kept".to_owned()))
    }

    fn decide(&mut self, _: Vec<Decision>) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(&mut self, _: RunState) -> Result<(), SinkError> {
        Ok(())
    }
}
