//! What a simulation is asked to do, and what it leaves.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use crate::actors::{Player, SimulationError};
use crate::estimates::EstimateModel;
use crate::failures::FailureTrace;
use crate::kernel::{Decision, DecisionTimes};
use crate::scheduling::measures::Measured;
use crate::scheduling::{Allocation, JobOutcome, SimulationMetrics};
use crate::study::inputs::{Handed, InputError, Seen};
use crate::tables::Rows;
use crate::units::Nodes;

/// A simulation that has everything it reads.
pub trait Simulation: Send + Sync {
    /// Whether it can begin: makes what it runs and drops it. It is asked before the first point of
    /// a sweep runs, once for each setting, so that a setting which fits no input is not found at
    /// night, point by point. By default nothing is known to be in the way.
    ///
    /// # Errors
    ///
    /// When the settings do not fit the inputs.
    fn check(&self) -> Result<(), SimulationError> {
        Ok(())
    }

    /// Runs it, in production by actors on a current-thread runtime of their own. The result does
    /// not depend on anything but the inputs.
    ///
    /// # Errors
    ///
    /// When the settings do not fit the inputs, or when an actor panics.
    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError>;

    /// Shows the jobs, requests and failures that it was handed, always in the same order. What a
    /// policy knows beforehand (statistics, batteries to learn from) is no part of them.
    fn handed(&self, handed: &mut Handed<'_>);
}

/// What one simulation produced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimulationResult {
    /// Totals.
    pub metrics: SimulationMetrics,
    /// What a study measures beside the totals of its jobs.
    pub measured: Measured,
    /// One outcome a job in order of job id; empty unless asked for.
    pub outcomes: Vec<JobOutcome>,
    /// The failures of nodes that it was handed, with the numbers that nodes have before a policy
    /// orders them; of several machines together, numbered one machine after the other. They are
    /// stored as they are: when a simulation ends depends on its strategy, and what is stored of
    /// the failures of a battery must not.
    pub failures: Arc<FailureTrace>,
    /// The statistics whose classes the outcomes name, where the simulation had any.
    pub estimates: Option<Arc<EstimateModel>>,
    /// What only its study knows.
    pub rows: StudyRows,
    /// What it saw, where that was asked for.
    pub seen: Seen,
    /// How long its decisions took by the real clock, by kind, where that was measured: no part of
    /// what is reproducible.
    pub decision_times: Vec<(Decision, DecisionTimes)>,
}

/// A simulation carried out once more on one cluster whose nodes have numbers, with everything that
/// can be seen of it.
#[derive(Clone, Debug)]
pub struct NodeReplay {
    /// Size of the cluster.
    pub nodes: Nodes,
    /// The node failures that it met.
    pub failures: Arc<FailureTrace>,
    /// The totals.
    pub metrics: SimulationMetrics,
    /// The outcomes in order of job id.
    pub outcomes: Vec<JobOutcome>,
    /// Every attempt of every job on its nodes, by start, then job.
    pub allocations: Vec<Allocation>,
}

/// Why a simulation cannot be carried out once more.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFailure {
    /// Something that it reads cannot be made.
    #[error("{0}")]
    Input(Arc<InputError>),
    /// It fails.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// What a simulation leaves in the tables of its study; nothing by default.
#[derive(Debug, Default)]
pub struct StudyRows(Option<Box<dyn AnyRows>>);

impl StudyRows {
    /// These rows.
    pub fn of<R: Rows + Clone + PartialEq + Debug + Send + Sync + 'static>(rows: R) -> Self {
        Self(Some(Box::new(rows)))
    }

    /// The rows, if they are of this type.
    #[must_use]
    pub fn get<R: 'static>(&self) -> Option<&R> {
        self.0.as_ref()?.any().downcast_ref()
    }

    /// The same, to change them.
    #[must_use]
    pub fn get_mut<R: 'static>(&mut self) -> Option<&mut R> {
        self.0.as_mut()?.any_mut().downcast_mut()
    }

    /// The rows, for the store.
    pub(crate) fn rows(&self) -> &dyn Rows {
        match &self.0 {
            None => &(),
            Some(rows) => rows.rows(),
        }
    }

    /// The same, to take some of them away.
    pub(crate) fn rows_mut(&mut self) -> Option<&mut dyn Rows> {
        Some(self.0.as_mut()?.rows_mut())
    }
}

impl Clone for StudyRows {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|rows| rows.boxed()))
    }
}

impl PartialEq for StudyRows {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(rows), Some(others)) => rows.equals(others.any()),
            _ => false,
        }
    }
}

/// Rows of whichever type.
trait AnyRows: Debug + Send + Sync {
    fn any(&self) -> &dyn Any;
    fn any_mut(&mut self) -> &mut dyn Any;
    fn rows(&self) -> &dyn Rows;
    fn rows_mut(&mut self) -> &mut dyn Rows;
    fn boxed(&self) -> Box<dyn AnyRows>;
    fn equals(&self, other: &dyn Any) -> bool;
}

impl<R: Rows + Clone + PartialEq + Debug + Send + Sync + 'static> AnyRows for R {
    fn any(&self) -> &dyn Any {
        self
    }

    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn rows(&self) -> &dyn Rows {
        self
    }

    fn rows_mut(&mut self) -> &mut dyn Rows {
        self
    }

    fn boxed(&self) -> Box<dyn AnyRows> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}
