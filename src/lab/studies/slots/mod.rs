//! A machine that advertises slots.

pub(crate) mod keys;

use std::sync::Arc;

use self::keys::RawSlots;
use super::{Asked, FileStudy, LabStudy, Simulation, SimulationResult};
use crate::actors::{SimulationError, simulate_advertising_machine};
use crate::inputs::{InputError, Inputs};
use crate::keys::problem::Problems;
use crate::plan::SlotRules;
use crate::scheduling::SlotStudySettings;
use crate::studies::SimulationSpec;
use crate::units::{Nodes, Seconds};
use crate::workload::Job;
pub use bookahead_engine::studies::slots::*;

/// None of its own.
pub type Rows = ();

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
            measured: simulate_advertising_machine(&self.jobs, self.nodes, &self.settings)?,
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
            settings: self.settings.clone(),
            jobs: inputs.battery(&*inputs.workload(spec)?, spec)?,
        }))
    }
}

impl FileStudy for SlotsStudy {
    type Tables = keys::RawTables;

    fn resolve(asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        slot_study(&asked.tables.slots.slots, problems).map(|settings| Self { settings })
    }
}

pub(crate) fn slot_study(raw: &RawSlots, problems: &mut Problems) -> Option<SlotStudySettings> {
    let sample = raw
        .sample_minutes()
        .limited(|minutes| minutes * 60.0 >= 1.0 && minutes < 1e6)
        .or_default(problems);
    let minimum = raw
        .minimum_minutes()
        .limited(|minutes| minutes < 1e6)
        .or_default(problems);
    let seconds = |minutes: f64| Seconds((minutes * 60.0).round() as i64);
    Some(SlotStudySettings {
        source: raw.source.unwrap_or_default(),
        rules: SlotRules {
            equal_starts: raw.equal_starts.unwrap_or_default(),
            surplus: raw.surplus.unwrap_or_default(),
            merge_identical: raw.merge_identical().is_on(),
            minimum_duration: seconds(minimum?),
        },
        sample_period: seconds(sample?),
    })
}
