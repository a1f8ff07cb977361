//! A machine that advertises slots.

pub mod keys;
pub mod measures;
mod settings;
mod tables;
pub mod view;

use std::sync::Arc;

use self::keys::RawSlots;
pub use self::measures::MEASURES;
use self::settings::SAMPLE_BYTES;
pub use self::settings::*;
pub use self::tables::SlotRows as Rows;
use crate::slots::{SlotStudySettings, slot_scene};
use bookahead_core::plan::SlotRules;
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Handed, InputError, Inputs};
use bookahead_lab::study::{
    Asked, JOB_BYTES, JOBS_A_DAY, Simulation, SimulationResult, Starter, Strategy, Study,
    StudyRows, jobs_of, name_of,
};
use bookahead_lab::tables::Definition;

/// The machine and its jobs.
#[derive(Clone, Debug)]
pub struct SlotsSimulation {
    /// Size of the machine.
    pub nodes: Nodes,
    /// Where slots come from and how often they are looked at.
    pub settings: SlotStudySettings,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// Whether jobs and samples are kept where outcomes are: there are many samples.
    pub keep_samples: bool,
}

impl Simulation for SlotsSimulation {
    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let keep = keep_outcomes && self.keep_samples;
        let scene = slot_scene(&self.jobs, self.nodes, &self.settings, keep);
        let run = player
            .play(scene, false, name_of(STRATEGY))?
            .machine
            .finish();
        let mut result = SimulationResult {
            measured: run.measured,
            outcomes: run.jobs,
            rows: StudyRows::of(Rows(run.samples)),
            ..SimulationResult::default()
        };
        result.metrics.submitted = self.jobs.len() as u64;
        Ok(result)
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
    }
}

impl Study for SlotsStudy {
    type Keys = keys::RawTables;

    const NAME: &'static str = "slots";

    const ABOUT: &'static str = "A machine that advertises slots (Singh 2008, chapter 3).";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = tables::TABLES;

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.fresh", "true"),
            ("workload.whole_trace", "true"),
            ("workload.load.value", "0.8"),
        ],
        axes: &[("workload.exact_estimates", "[false, true]")],
    };

    fn resolve(keys: &Self::Keys, _asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        slot_study(&keys.slots, problems).map(|settings| Self { settings })
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-6
    }

    /// Of jobs, and of samples with their slots.
    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        let jobs = jobs_of(&simulation.workload);
        let span = jobs / JOBS_A_DAY * 86_400.0;
        let samples = span / self.settings.sample_period.0.max(1) as f64;
        jobs * JOB_BYTES + samples * SAMPLE_BYTES
    }

    fn jobs_are_background(&self) -> bool {
        true
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
            keep_samples: inputs.keep_samples,
        }))
    }
}

/// Checks the table of slots of a file; `None` where something is wrong.
pub fn slot_study(raw: &RawSlots, problems: &mut Problems) -> Option<SlotStudySettings> {
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
