//! A machine that advertises slots. It is watched from outside and needs no actors.

use std::sync::Arc;

use super::{LabStudy, Simulation};
use crate::actors::{SimulationError, SimulationResult};
use crate::scheduling::{SlotStudySettings, simulate_slot_study};
use crate::studies::SimulationSpec;
use crate::sweep::{InputError, Inputs};
use crate::units::Nodes;
use crate::workload::Job;
pub use bookahead_engine::studies::slots::*;

/// The machine and its jobs.
#[derive(Clone, Debug)]
pub struct SlotsSimulation {
    /// Size of the machine.
    pub nodes: Nodes,
    /// Where slots come from and how often they are looked at.
    pub settings: SlotStudySettings,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
}

impl Simulation for SlotsSimulation {
    fn run(&self, _keep_outcomes: bool) -> Result<SimulationResult, SimulationError> {
        let mut result = SimulationResult {
            measured: simulate_slot_study(&self.jobs, self.nodes, &self.settings),
            ..SimulationResult::default()
        };
        result.metrics.submitted = self.jobs.len() as u64;
        Ok(result)
    }
}

impl LabStudy for SlotsStudy {
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(SlotsSimulation {
            nodes: spec.workload.nodes,
            settings: self.0.clone(),
            jobs: inputs.battery(&*inputs.workload(spec)?, spec)?,
        }))
    }
}
