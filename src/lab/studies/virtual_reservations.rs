//! Virtual and adaptive reservations on forks of a machine, which are no actors of one simulation.

use std::sync::Arc;

use super::{LabStudy, Simulation};
use crate::actors::{SimulationError, SimulationResult};
use crate::brokering::GridSeed;
use crate::random;
use crate::scheduling::measures::Measured;
use crate::scheduling::{VirtualStudySettings, simulate_virtual};
use crate::studies::SimulationSpec;
use crate::sweep::{InputError, Inputs};
use crate::units::Nodes;
use crate::workload::Job;
pub use bookahead_engine::studies::virtual_reservations::*;

/// The machine, its jobs, and what its instants are drawn from.
#[derive(Clone, Debug)]
pub struct VirtualSimulation {
    /// Size of the machine.
    pub nodes: Nodes,
    /// When and how reservations are tried out.
    pub settings: VirtualStudySettings,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// What the instants are drawn from.
    pub seed: GridSeed,
}

impl Simulation for VirtualSimulation {
    fn run(&self, keep_outcomes: bool) -> Result<SimulationResult, SimulationError> {
        let GridSeed {
            seed,
            workload_key,
            replication,
        } = &self.seed;
        let mut stream = random::stream(*seed, workload_key, *replication, "virtual instants");
        let run = simulate_virtual(&self.jobs, self.nodes, &self.settings, &mut stream)?;
        let mut measured = Measured::default();
        for (name, value) in run.measures() {
            measured.add(name, value);
        }
        Ok(SimulationResult {
            measured,
            trials: if keep_outcomes {
                run.trials
            } else {
                Vec::new()
            },
            ..SimulationResult::default()
        })
    }
}

impl LabStudy for VirtualReservationsStudy {
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(VirtualSimulation {
            nodes: spec.workload.nodes,
            settings: self.0.clone(),
            jobs: inputs.battery(&*inputs.workload(spec)?, spec)?,
            seed: inputs.seed(spec),
        }))
    }
}
