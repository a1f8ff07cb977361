//! The toy study in the laboratory.

mod keys;
mod tables;

use std::sync::Arc;

pub use self::tables::ToyRows as Rows;
use super::{Asked, FileStudy, LabStudy, Simulation, SimulationResult, StudyRows};
use crate::actors::{Player, SimulationError};
use crate::inputs::{Handed, InputError, Inputs};
use crate::keys::problem::Problems;
use crate::study::SimulationSpec;
use crate::tables::Definition;
use crate::workload::Job;
pub use bookahead_engine::studies::toy::*;

struct ToySimulation {
    settings: ToySettings,
    jobs: Arc<[Job]>,
}

impl Simulation for ToySimulation {
    /// Nothing happens in its simulations, so it plays none.
    fn run(
        &self,
        _keep_outcomes: bool,
        _player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let jobs = self.jobs.len() as u64;
        let weight = jobs as f64 * self.settings.weight;
        let mut result = SimulationResult {
            rows: StudyRows::of(Rows { jobs, weight }),
            ..SimulationResult::default()
        };
        result.metrics.submitted = jobs;
        result.measured.add("toy_weight", weight);
        Ok(result)
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
    }
}

impl LabStudy for ToyStudy {
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(ToySimulation {
            settings: self.settings.clone(),
            jobs: inputs.battery(&*inputs.workload(spec)?, spec)?,
        }))
    }
}

impl FileStudy for ToyStudy {
    type Tables = keys::RawTables;

    const STORED: Definition = tables::TABLES;

    const OWNER: Option<&str> = Some("this table belongs to the toy study");

    fn resolve(asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        let weight = asked.tables.toy.toy.weight().or_default(problems)?;
        Some(Self {
            settings: ToySettings { weight },
        })
    }
}
