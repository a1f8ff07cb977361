//! One simulation of a store once more, with everything that can be seen of it.
//!
//! The store keeps what each job experienced, not which nodes it ran on, which would take more room
//! than all the rest. A simulation is determined by its specification and inputs, so it can be
//! carried out again and checked against what was stored.

use std::sync::Arc;

use super::spec::{SimulationSpec, Sweep};
use crate::actors::{Player, SimulationError};
use crate::scheduling::SimulationMetrics;
use crate::study::inputs::InputSources;
use crate::study::inputs::{InputError, InputFolders, Inputs};
use crate::study::{MachineUse, NodeReplay, ReplayFailure, Studies};

/// A done point of a run, with what determines it and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplaySource {
    /// Place in the sweep.
    pub place: u32,
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
    /// No machine held anything.
    #[error(
        "nothing held a node of a machine of `{0}`, so there is no plan to draw; its results are in the view v_measure \
         (`bookahead sql`)"
    )]
    Nothing(String),
    /// `bookahead simulate` counts nodes and names none.
    #[error(
        "this simulation was stored by `bookahead simulate`, which counts nodes and names none of them, so there is no plan of nodes \
         to draw; its jobs are in the view v_job (`bookahead sql`)"
    )]
    Streamed,
    /// The simulation fails.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// A replayed point.
#[derive(Clone, Debug)]
pub struct ReplayedPoint {
    /// What was held when.
    pub plan: ReplayedPlan,
    /// Whether it agrees with the store: always, unless it was forced.
    pub agrees: bool,
}

/// What was held when.
#[derive(Clone, Debug)]
pub enum ReplayedPlan {
    /// One cluster whose nodes are known.
    Nodes(Box<NodeReplay>),
    /// Machines that count their nodes, one at least of which held something.
    Counts(Vec<MachineUse>),
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
    // No experiment file can ask for this: its laxity is at least 1.
    if spec.workload.whole.is_some() && spec.workload.laxity < 1.0 {
        return Err(ReplayError::Streamed);
    }
    let inputs = Inputs::new(studies, InputSources::new(folders), true).keeping_samples(true);
    let mut sweep = Sweep {
        name: String::new(),
        description: String::new(),
        source: None,
        text: String::new(),
        seed: spec.seed,
        replications: 1,
        axes: Vec::new(),
        simulations: [spec.clone()].into_iter().collect(),
        simulation_ids: Vec::new(),
        points: Vec::new(),
        inputs: Vec::new(),
        losses: Vec::new(),
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
    let study = &spec.study;
    let replay = study
        .replay(&spec, &inputs)
        .map_err(|failure| match failure {
            ReplayFailure::Input(error) => ReplayError::Input(error),
            ReplayFailure::Simulation(error) => ReplayError::Simulation(error),
        })?;
    let (plan, totals) = match replay {
        Some(replay) => {
            let totals = totals(&replay.metrics);
            (ReplayedPlan::Nodes(Box::new(replay)), totals)
        }
        None => {
            let simulation = study
                .simulation(&spec, &inputs)
                .map_err(ReplayError::Input)?;
            let result = simulation.run(true, &Player::by_calls())?;
            let machines = study
                .machines(&spec, &inputs, &result)
                .map_err(ReplayError::Input)?;
            if machines.iter().all(|machine| machine.held.is_empty()) {
                return Err(ReplayError::Nothing(spec.scheduling.strategy));
            }
            (ReplayedPlan::Counts(machines), totals(&result.metrics))
        }
    };
    let agrees = same_inputs && totals == source.totals;
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
