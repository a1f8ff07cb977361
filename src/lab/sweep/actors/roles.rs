//! Who does what in a sweep: somebody simulates, somebody keeps results, somebody watches. The
//! actors know no more of them.

use std::sync::Arc;
use std::time::Duration;

use kameo::actor::ActorRef;

use super::coordinator::Coordinator;
use crate::study::SimulationResult;
use crate::sweep::interrupt::Interrupt;
use crate::sweep::results::{FailedSimulation, FinishedSimulation, SimulationProgress, SinkError};
use crate::sweep::spec::{Point, SimulationSpec, Sweep, Task};

/// Everything that the actors of a sweep share.
pub struct SweepWork {
    /// The sweep.
    pub sweep: Arc<Sweep>,
    /// Its simulations that are to be done, dearest first.
    pub tasks: Arc<[Task]>,
    /// How many workers there are; at least one.
    pub workers: usize,
    /// Who simulates.
    pub simulate: Arc<dyn Simulate>,
    /// Who keeps results.
    pub sink: Arc<dyn ResultSink>,
    /// Who watches.
    pub observer: Arc<dyn Observer>,
    /// Whose wish to stop is heeded.
    pub interrupt: Interrupt,
}

impl SweepWork {
    /// The points that are read off the task at this place.
    pub(super) fn points(&self, place: usize) -> impl Iterator<Item = &Point> {
        let points = self.tasks[place].points.iter();
        points.map(|point| &self.sweep.points[*point])
    }
}

/// Runs one simulation of a sweep.
pub trait Simulate: Send + Sync {
    /// The result, or in words why there is none.
    ///
    /// # Errors
    ///
    /// When the simulation cannot be carried out. A panic counts as an error too.
    fn simulate(&self, spec: &SimulationSpec) -> Result<SimulationResult, String>;

    /// The workload's name for people.
    fn workload_label(&self, spec: &SimulationSpec) -> String;
}

/// Is told what happens.
pub trait Observer: Send + Sync {
    /// A simulation begins; these are the points that are read off it.
    fn started(&self, _points: &[&Point]) {}
    /// It ended after so long, well or with an error.
    fn ended(&self, _points: &[&Point], _wall: Duration, _error: Option<&str>) {}
}

/// An observer that takes no notice.
impl Observer for () {}

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

    /// Links the actor behind the sink to the coordinator, which then learns of its death at once.
    /// A sink without an actor of its own says that it is broken when it is next handed something.
    fn link(&self, _coordinator: &ActorRef<Coordinator>) {}
}
