//! A small study for the tests of this crate: policies by name, of which those that overbook look
//! at thresholds of risk. Nothing happens in its simulations.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Asked, CommonSettings, Simulation, SimulationResult, SimulationSpec, Strategy, Studies, Study,
    jobs_of, study,
};
use crate::actors::{Player, SimulationError};
use crate::keys::problem::Problems;
use crate::scheduling::measures::Measure;
use crate::scheduling::registry::{self, PlanKind};
use crate::scheduling::{Acceptance, Backfilling, Queue};
use crate::study::inputs::{Handed, InputError, Inputs};

/// A list with this study only.
pub(crate) const STUDIES: Studies = Studies::new(&[study::<ThresholdStudy>()]);

/// Policies with thresholds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThresholdStudy {}

const fn policy(name: &'static str, overbooks: bool) -> registry::Strategy {
    registry::Strategy {
        name,
        summary: "a name",
        overbooks,
        security_factor: 1.0,
        baseline: None,
        backfills: false,
        plan: PlanKind::Queue,
        build: |_, spec, _| Box::new(Queue::of(Backfilling::None, spec.into())),
    }
}

const POLICIES: &[registry::Strategy] = &[
    policy("easy-backfilling", false),
    policy("heuristic-planning", false),
    policy("comprehensive-overbooking", true),
    policy("heuristic-overbooking", true),
];

impl Study for ThresholdStudy {
    type Keys = ();

    const NAME: &'static str = "thresholds";

    const ABOUT: &'static str = "Policies with thresholds of risk.";

    const STRATEGY: Option<Strategy> = None;

    const MEASURES: &'static [Measure] = &[];

    fn policies() -> &'static [registry::Strategy] {
        POLICIES
    }

    fn resolve((): &(), _: &Asked<'_>, _: &mut Problems) -> Option<Self> {
        Some(Self {})
    }

    fn normalise(&mut self, common: CommonSettings<'_>) {
        *common.estimates = None;
        common.scheduling.acceptance = if common.studies.overbooks(&common.scheduling.strategy) {
            common.scheduling.acceptance.normalised()
        } else {
            Acceptance::Pof { maximum: 0.0 }
        };
    }

    /// The higher the threshold, the more jobs a plan holds.
    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload) * (1.0 + simulation.scheduling.acceptance.threshold())
    }

    fn seconds_per_job(&self, strategy: &str) -> f64 {
        match strategy {
            "easy-backfilling" | "heuristic-planning" => 2e-6,
            "heuristic-overbooking" => 2e-5,
            _ => 5e-5,
        }
    }

    fn simulation(
        &self,
        simulation: &SimulationSpec,
        _: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(Nothing {
            threshold: simulation.scheduling.acceptance.threshold(),
        }))
    }
}

struct Nothing {
    threshold: f64,
}

impl Simulation for Nothing {
    fn check(&self) -> Result<(), SimulationError> {
        if self.threshold < 1.0 {
            return Ok(());
        }
        Err(SimulationError::UnknownStrategy(
            "certain-failure".to_owned(),
        ))
    }

    fn run(&self, _: bool, _: &Player) -> Result<SimulationResult, SimulationError> {
        Ok(SimulationResult::default())
    }

    fn handed(&self, _: &mut Handed<'_>) {}
}
