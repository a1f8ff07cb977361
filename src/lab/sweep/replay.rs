//! One simulation of a store once more, to see which nodes its jobs ran on.
//!
//! The store keeps what each job experienced, not its nodes, which would take more room than all
//! the rest. A simulation is determined by its specification and inputs, so it can be carried out
//! again and checked against what was stored. What machines held that only count their nodes is
//! read off the store.

use std::sync::Arc;

use super::spec::{SimulationSpec, Sweep};
use crate::actors::SimulationError;
use crate::scheduling::SimulationMetrics;
use crate::study::inputs::InputSources;
use crate::study::inputs::{InputError, InputFolders, Inputs};
use crate::study::{NodeReplay, ReplayFailure, Studies};

/// A done point of a run, with what determines it and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplaySource {
    /// Place in the sweep.
    pub place: u32,
    /// Its simulation: a number that means something inside one store only.
    pub simulation: i64,
    /// Whether the store keeps what became of every job.
    pub has_outcomes: bool,
    /// The simulation's content hash.
    pub identity: String,
    /// What determines it, as JSON.
    pub spec: String,
    /// Strategy.
    pub strategy: String,
    /// Values of the axes as JSON.
    pub axes: String,
    /// Replication.
    pub replication: u32,
    /// The program that computed it.
    pub program: Option<String>,
    /// Accepted, successful, failed and dropped jobs; fees and forfeited fees, node-seconds;
    /// makespan, seconds.
    pub totals: [i64; 7],
}

/// Why a point cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The stored specification cannot be read by this program.
    #[error(
        "the stored specification cannot be read: {0}; it was written by another version of the program"
    )]
    Specification(#[from] serde_json::Error),
    /// A trace or another input is missing or faulty.
    #[error("{0}")]
    Input(Arc<InputError>),
    /// The inputs are not those of the stored result.
    #[error(
        "the inputs are not those that the stored result was computed from (their content hashes to {found}, the store has \
         {stored}): the trace or the program has changed since; run the experiment again, or use --force to draw it as it comes out now"
    )]
    OtherInputs {
        /// Identity in the store.
        stored: String,
        /// Identity now.
        found: String,
    },
    /// The simulation comes to something else.
    #[error(
        "the simulation gives other totals than the store has, which bookahead {program} computed: run it again with --fresh, \
         or use --force to draw it as it comes out now"
    )]
    OtherTotals {
        /// The program that computed the stored result.
        program: String,
    },
    /// Its machines count their nodes.
    #[error("machines of `{0}` count their nodes and name none, so there is no plan of nodes")]
    Counted(String),
    /// The simulation fails.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// A replayed point.
#[derive(Clone, Debug)]
pub struct ReplayedPoint {
    /// Which nodes were held when.
    pub plan: NodeReplay,
    /// Whether it agrees with the store: always, unless it was forced.
    pub agrees: bool,
}

impl ReplaySource {
    /// Whether its machines name their nodes, so that a plan of nodes can be drawn: those of
    /// policies do. Studies with machines of their own count nodes, and so does
    /// `bookahead simulate`.
    ///
    /// # Errors
    ///
    /// When the specification cannot be read.
    pub fn names_nodes(&self, studies: Studies) -> Result<bool, ReplayError> {
        let spec = SimulationSpec::read(&self.spec, studies)?;
        // No experiment file can ask for this: its laxity is at least 1.
        let is_streamed = spec.workload.whole.is_some() && spec.workload.laxity < 1.0;
        Ok(!is_streamed && !studies.is_strategy(&spec.scheduling.strategy))
    }
}

/// Carries out a stored simulation once more and checks it against the store.
///
/// # Errors
///
/// When inputs are missing, or when inputs or totals are not those of the store and nobody insists
/// (`force`).
pub fn replay_point(
    studies: Studies,
    source: &ReplaySource,
    folders: &InputFolders,
    force: bool,
) -> Result<ReplayedPoint, ReplayError> {
    let spec = SimulationSpec::read(&source.spec, studies)?;
    let inputs = Inputs::new(studies, InputSources::new(folders), true);
    let mut sweep = Sweep {
        name: String::new(),
        description: String::new(),
        source: None,
        text: String::new(),
        seed: spec.seed,
        replications: 1,
        rule: None,
        axes: Vec::new(),
        simulations: [spec.clone()].into_iter().collect(),
        simulation_ids: Vec::new(),
        points: Vec::new(),
        inputs: Vec::new(),
        losses: Vec::new(),
        machines: Vec::new(),
    };
    inputs.identify(&mut sweep).map_err(ReplayError::Input)?;
    let found = sweep.simulation_ids.first().copied().unwrap_or_default();
    let same_inputs = found.as_str() == source.identity;
    if !same_inputs && !force {
        return Err(ReplayError::OtherInputs {
            stored: source.identity.clone(),
            found: found.to_string(),
        });
    }
    let replay = (spec.study)
        .replay(&spec, &inputs)
        .map_err(|failure| match failure {
            ReplayFailure::Input(error) => ReplayError::Input(error),
            ReplayFailure::Simulation(error) => ReplayError::Simulation(error),
        })?;
    let Some(plan) = replay else {
        return Err(ReplayError::Counted(spec.scheduling.strategy));
    };
    let agrees = same_inputs && totals(&plan.metrics) == source.totals;
    if !agrees && !force {
        return Err(ReplayError::OtherTotals {
            program: source
                .program
                .clone()
                .unwrap_or_else(|| "of an unknown version".to_owned()),
        });
    }
    Ok(ReplayedPoint { plan, agrees })
}

/// In the order of [`ReplaySource::totals`].
fn totals(metrics: &SimulationMetrics) -> [i64; 7] {
    [
        metrics.accepted as i64,
        metrics.successful as i64,
        metrics.failed as i64,
        metrics.dropped as i64,
        metrics.fees.0,
        metrics.forfeited.0,
        metrics.makespan.0,
    ]
}
