//! Virtual and adaptive reservations on forks of a machine.

mod keys;
pub mod measures;
mod settings;
mod tables;
pub mod view;

use std::sync::Arc;

use self::keys::RawTables;
pub use self::measures::MEASURES;
use self::settings::TRIAL_BYTES;
pub use self::settings::*;
pub use self::tables::TrialRows as Rows;
use crate::replanning::study::{delay_costs, reserved_unit_price};
use crate::replanning::{DelayCostSettings, PricedCosts, ReplanningSettings};
use crate::virtual_reservations::{
    VirtualReplay, VirtualStudy, VirtualStudyRun, VirtualStudySettings, check_span,
};
use bookahead_core::estimates::WaitPredictorSettings;
use bookahead_core::kernel::Scene;
use bookahead_core::random::StreamSeed;
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::declaration::Given;
use bookahead_lab::keys::field::Field;
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Handed, InputError, Inputs};
use bookahead_lab::study::{
    Asked, Simulation, SimulationResult, Starter, Strategy, Study, StudyRows, name_of,
};
use bookahead_lab::tables::Definition;

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
    pub seed: StreamSeed,
}

impl VirtualSimulation {
    fn scene(&self) -> Result<Scene<VirtualReplay>, SimulationError> {
        let mut stream = self.seed.stream(VirtualStudy::STREAM);
        VirtualStudy::new(&self.jobs, self.nodes, &self.settings, &mut stream)
            .and_then(|study| {
                study
                    .with_delay_costs(|name| self.seed.stream(name))
                    .scene()
            })
            .map_err(SimulationError::of_study)
    }
}

impl Simulation for VirtualSimulation {
    fn check(&self) -> Result<(), SimulationError> {
        self.scene().map(drop)
    }

    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let played = player.play(self.scene()?, false, name_of(STRATEGY))?;
        let run = VirtualStudyRun::of(played)
            .map_err(SimulationError::of_study)?
            .ok_or_else(|| SimulationError::Unfinished(name_of(STRATEGY).to_owned()))?;
        let mut measured = Measured::default();
        for (name, value) in run.measures() {
            measured.add(name, value);
        }
        let mut result = SimulationResult {
            measured,
            ..SimulationResult::default()
        };
        if keep_outcomes {
            result.rows = StudyRows::of(Rows::new(run));
        }
        Ok(result)
    }

    /// What is asked for at the instants are settings; when they are follows from the streams.
    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
        handed.drawn_requests(&self.seed.to_string());
    }
}

impl Study for VirtualReservationsStudy {
    type Keys = RawTables;

    const NAME: &'static str = "virtual-reservations";

    const ABOUT: &'static str = "A machine at which virtual and adaptive reservations are tried out side by side (Singh 2008, chapter 6).";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = tables::TABLES;

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.jobs", "3000"),
            ("workload.fresh", "true"),
            ("workload.whole_trace", "true"),
            ("workload.exact_estimates", "true"),
            ("virtual.instants", "5"),
            ("virtual.warm_up_days", "2"),
        ],
        axes: &[("virtual.nodes", "[8, 32]")],
    };

    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        let settings = virtual_study(keys, problems)?;
        let machine = asked.workload.nodes;
        if settings.nodes > machine {
            let field = keys.request.nodes();
            let place = if field.given.is_some() {
                field.place()
            } else {
                asked.place()
            };
            let message = format!("{} of {machine}", settings.nodes);
            field.refuse_at(place, &message, problems);
            return None;
        }
        Some(Self { settings })
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        2e-6
    }

    /// Of its trials; jobs are kept once for many simulations.
    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        f64::from(self.settings.instants) * TRIAL_BYTES
    }

    fn check(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        let jobs = inputs.battery(&workload, spec)?;
        check_span(&jobs, spec.workload.nodes, &self.settings)
            .map_err(|error| Arc::new(InputError::Workload(format!("{}: {error}", workload.label))))
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(VirtualSimulation {
            nodes: spec.workload.nodes,
            settings: self.settings.clone(),
            jobs: inputs.battery(&*inputs.workload(spec)?, spec)?,
            seed: inputs.seed(spec),
        }))
    }
}

fn virtual_study(keys: &RawTables, problems: &mut Problems) -> Option<VirtualStudySettings> {
    let default = VirtualStudySettings::default();
    let given = &keys.request;
    let planning = &keys.planning;
    let hours = |field: Field<'_, Given<f64>>, problems: &mut Problems| {
        let hours = field.limited(|hours| hours < 1e6).or_default(problems)?;
        Some(Seconds::from_hours(hours))
    };
    let limit = given.limit_hours().limited(|hours| hours < 1e6);
    let limit = limit.checked(problems);
    let idle_limit = given.idle_limit_hours().limited(|hours| hours < 1e6);
    let idle_limit = idle_limit.checked(problems);
    let reserved_unit_price = reserved_unit_price(planning, problems);
    let nodes = given.nodes().or_default(problems);
    let duration = hours(given.duration_hours(), problems);
    let lead = hours(given.lead_hours(), problems);
    let penalty_factor = given.penalty_factor().or_default(problems);
    let instants = given.instants().or_default(problems);
    let step = given.step_seconds().or_default(problems);
    let warm_up = given
        .warm_up_days()
        .limited(|days| days < 1e5)
        .or_default(problems);
    let delay_costs = delay_costs(planning, problems);
    let confidence = given.confidence().or_default(problems);
    let history = given.history().or_default(problems);
    let minimum_history = given.minimum_history().or_default(problems);
    let (history, minimum_history) = (history?, minimum_history?);
    if minimum_history > history {
        let (few, all) = (given.minimum_history(), given.history());
        let place = [few, all].into_iter().find(|field| field.given.is_some());
        let place = place.map_or(0..0, Field::place);
        let message = format!("{minimum_history} is more than the {history} that are remembered");
        few.refuse_at(place, &message, problems);
        return None;
    }
    Some(VirtualStudySettings {
        nodes: Nodes(nodes?),
        duration: duration?,
        lead: lead?,
        penalty_factor: penalty_factor?,
        instants: instants?,
        step: Seconds(step?),
        limit: limit?.map(Seconds::from_hours),
        idle_limit: idle_limit?.map(Seconds::from_hours),
        padding: given.padding.unwrap_or_default(),
        predictor: WaitPredictorSettings {
            history: history as usize,
            confidence: confidence?,
            rule: given.rule.unwrap_or_default(),
            minimum_history: minimum_history as usize,
        },
        warm_up: Seconds::from_hours(warm_up? * 24.0),
        combination: given.combination.unwrap_or_default(),
        replanning: ReplanningSettings {
            order: planning.order.unwrap_or_default(),
            backfilling: planning.backfilling.unwrap_or_default(),
            // Nothing but prices reads them here.
            delay_costs: delay_costs?
                .filter(|costs| costs.priced == PricedCosts::Stated)
                .map(|costs| DelayCostSettings {
                    misstated_length_factor: 1.0,
                    ..costs.normalised(true, false)
                }),
            reserved_unit_price: reserved_unit_price?,
            ..default.replanning
        },
    })
}
