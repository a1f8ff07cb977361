//! The actors of one sweep point: clock, cluster, failure injector and clients, and the messages between them.

use std::sync::Arc;

use crate::estimates::EstimateModel;
use crate::failures::{FailureTrace, NodeEvent};
use crate::scheduling::{JobOutcome, PolicySettings, SimulationMetrics};
use crate::units::Nodes;
use crate::workload::Job;

/// Read-only inputs of one simulation, shared between points.
#[derive(Clone, Debug)]
pub struct SimulationInputs {
    /// Size of the machine.
    pub nodes: Nodes,
    /// The policy.
    pub policy: PolicySettings,
    /// The jobs in order of submission.
    pub jobs: Arc<[Job]>,
    /// Learned statistics, where the policy uses them.
    pub estimates: Option<Arc<EstimateModel>>,
    /// Node failures.
    pub failures: Arc<FailureTrace>,
}

/// What one simulation produced.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationResult {
    /// Totals.
    pub metrics: SimulationMetrics,
    /// One outcome a job in order of job id; empty unless asked for.
    pub outcomes: Vec<JobOutcome>,
    /// The node events that happened before the simulation ended; empty unless outcomes were asked for.
    pub node_events: Vec<NodeEvent>,
}

/// Why a simulation could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// No policy of this name is registered.
    #[error("no scheduling strategy is called `{0}`")]
    UnknownStrategy(String),
    /// An actor stopped: its state machine panicked.
    #[error("the simulation stopped: {0}")]
    Stopped(String),
}

/// Runs one simulation as an actor system on a current-thread runtime of its own.
///
/// # Errors
///
/// When the strategy is not registered, or when an actor panics.
pub fn run(
    inputs: &SimulationInputs,
    _keep_outcomes: bool,
) -> Result<SimulationResult, SimulationError> {
    Err(SimulationError::UnknownStrategy(
        inputs.policy.strategy.clone(),
    ))
}
