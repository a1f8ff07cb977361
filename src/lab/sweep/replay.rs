//! One simulation of a store once more, with everything that can be seen of it.
//!
//! The store keeps what each job experienced, not which nodes it ran on, which would take more room than all the rest.
//! A simulation is determined by its specification and inputs, so it can be carried out again and checked against what
//! was stored.

use std::sync::Arc;

use super::spec::{SimulationSpec, Sweep};
use crate::inputs::InputSources;
use crate::inputs::{InputError, InputFolders, Inputs};
use crate::scheduling::{Replay, replay};
use crate::studies::PolicySimulation;
use crate::studies::{WhyNoPlan, lab_study};

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
    /// Accepted, successful, failed and dropped jobs; fees and forfeited fees, node-seconds; makespan, seconds.
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
        "the simulation comes to other totals than the store has, which bookahead {program} computed: run it again with --fresh, \
         or use --force to draw it as it comes out now"
    )]
    OtherTotals {
        /// The program that computed the stored result.
        program: String,
    },
    /// The machine of a study plans counts of nodes.
    #[error(
        "`{0}` plans how many nodes are held and names none of them, so there is no plan of nodes to draw; its reservations are \
         in the view v_reservation (`bookahead sql`)"
    )]
    Study(String),
    /// A workflow has no plan of one cluster's nodes.
    #[error(
        "`provisioning` books slots for a workflow and names no nodes, so there is no plan of nodes to draw; `bookahead report` draws \
         workflows over their slots, and their slots and tasks are in the store (`bookahead sql`)"
    )]
    Workflow,
    /// The strategy is not registered.
    #[error("no strategy is called `{0}` in this program")]
    Strategy(String),
}

/// A replayed point.
#[derive(Clone, Debug)]
pub struct ReplayedPoint {
    /// What it read.
    pub inputs: PolicySimulation,
    /// What it came to.
    pub replay: Replay,
    /// Whether it agrees with the store: always, unless it was forced.
    pub agrees: bool,
}

/// Carries out a stored simulation once more and checks it against the store.
///
/// # Errors
///
/// When inputs are missing, or when inputs or totals are not those of the store and nobody insists (`force`).
pub fn replay_point(
    source: &ReplaySource,
    folders: &InputFolders,
    force: bool,
) -> Result<ReplayedPoint, ReplayError> {
    let spec: SimulationSpec = serde_json::from_str(&source.spec)?;
    match spec.study.study().why_no_plan() {
        Some(WhyNoPlan::DrawnByWorkflow) => return Err(ReplayError::Workflow),
        Some(WhyNoPlan::NoCluster) => return Err(ReplayError::Study(spec.scheduling.strategy)),
        None => {}
    }
    let inputs = Inputs::new(InputSources::new(folders), true);
    let mut sweep = Sweep {
        name: String::new(),
        description: String::new(),
        source: None,
        text: String::new(),
        seed: spec.seed,
        replications: 1,
        axes: Vec::new(),
        simulations: vec![spec.clone()],
        simulation_ids: Vec::new(),
        points: Vec::new(),
        inputs: Vec::new(),
        losses: Vec::new(),
    };
    inputs.identify(&mut sweep).map_err(ReplayError::Input)?;
    let found = sweep.simulation_ids.first().cloned().unwrap_or_default();
    let same_inputs = found == source.identity;
    if !same_inputs && !force {
        return Err(ReplayError::OtherInputs {
            stored: source.identity.clone(),
            found,
        });
    }
    let read = lab_study(&spec.study)
        .policy_simulation(&spec, &inputs)
        .map_err(ReplayError::Input)?
        .ok_or_else(|| ReplayError::Study(spec.scheduling.strategy.clone()))?;
    let replay = replay(
        read.nodes,
        &read.policy,
        read.estimates.clone(),
        &read.before,
        &read.jobs,
        &read.failures,
    )
    .ok_or_else(|| ReplayError::Strategy(read.policy.strategy.clone()))?;
    let metrics = &replay.metrics;
    let totals = [
        metrics.accepted as i64,
        metrics.successful as i64,
        metrics.failed as i64,
        metrics.dropped as i64,
        metrics.fees.0,
        metrics.forfeited.0,
        metrics.makespan.0,
    ];
    let agrees = same_inputs && totals == source.totals;
    if !agrees && !force {
        return Err(ReplayError::OtherTotals {
            program: source
                .program
                .clone()
                .unwrap_or_else(|| "of an unknown version".to_owned()),
        });
    }
    Ok(ReplayedPoint {
        inputs: read,
        replay,
        agrees,
    })
}
