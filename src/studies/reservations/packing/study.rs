//! A list of jobs that is packed onto a machine, all at once.

mod keys;
pub mod measures;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::keys::RawTables;
pub use self::measures::MEASURES;
pub use self::settings::*;
use crate::packing::{PackingSettings, packing_scene};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Handed, InputError, Inputs};
use bookahead_lab::study::{
    Asked, CommonSettings, Simulation, SimulationResult, Starter, Strategy, Study, name_of,
};

/// None of its own: where a job begins is its outcome.
pub type Rows = ();

/// A machine and a list of jobs.
#[derive(Clone, Debug)]
pub struct PackingSimulation {
    /// Size of the machine.
    pub nodes: Nodes,
    /// How they are packed.
    pub settings: PackingSettings,
    /// The jobs in order of submission, with ids 0, 1, 2, …, all of them submitted at 0 and without
    /// a deadline.
    pub jobs: Arc<[Job]>,
}

impl Simulation for PackingSimulation {
    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let scene = packing_scene(&self.jobs, self.nodes, &self.settings);
        let played = player.play(scene, false, name_of(STRATEGY))?;
        let (metrics, measured, outcomes) = played.machine.finish();
        Ok(SimulationResult {
            metrics,
            measured,
            outcomes: if keep_outcomes { outcomes } else { Vec::new() },
            ..SimulationResult::default()
        })
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
    }
}

impl Study for PackingStudy {
    type Keys = RawTables;

    const NAME: &'static str = "packing";

    const ABOUT: &'static str = "A list of jobs without releases and deadlines that is packed onto a machine: how long it takes beside a lower bound.";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const OWNER: Option<&'static str> = Some("this table belongs to the packing of lists of jobs");

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.jobs", "500"),
            ("workload.fresh", "true"),
            ("workload.whole_trace", "true"),
        ],
        axes: &[
            (
                "packing.algorithm",
                r#"["earliest-start", "bottom-left", "first-fit-decreasing-height", "first-fit-shelf"]"#,
            ),
            ("packing.heights", r#"["estimates", "run-times"]"#),
        ],
    };

    fn resolve(keys: &Self::Keys, _asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        let raw = &keys.packing;
        Some(Self {
            settings: PackingSettings {
                algorithm: raw.algorithm.unwrap_or_default(),
                shelf_ratio: raw.shelf_ratio().or_default(problems)?,
                heights: raw.heights.unwrap_or_default(),
            },
        })
    }

    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        common.without_all();
        if !self.settings.algorithm.has_shelves() {
            self.settings.shelf_ratio = PackingSettings::default().shelf_ratio;
        }
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-6
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        let jobs = inputs.battery(&*inputs.workload(spec)?, spec)?;
        let all_at_once = jobs.iter().map(|job| Job {
            submit: Seconds::ZERO,
            release: Seconds::ZERO,
            deadline: Seconds::FAR,
            ..job.clone()
        });
        Ok(Box::new(PackingSimulation {
            nodes: spec.workload.nodes,
            settings: self.settings.clone(),
            jobs: all_at_once.collect(),
        }))
    }
}
