//! What simulations of provisioning read, each prepared once and shared: sites at their load, the
//! application, the sites at the submission instants, best effort and genetic searches from them.

use self::settings::TASK_BYTES;
use crate::provisioning::measures::{SiteSummary, front_hypervolume, provisioning_measures};
use crate::provisioning::{
    Commitment, NetworkSlots, Provider, ProvisioningInputs, ProvisioningOutcome, ProvisioningRun,
    ProvisioningSettings, SearchMethod, alone, provisioning_scene,
};
use bookahead_core::failures::FailureSource;
use bookahead_core::random::StreamSeed;
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::Seconds;
use bookahead_core::workload::workflows::{
    ApplicationSettings, Network, RealRuntimes, RuntimeUncertainty,
};
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{
    ContentHashes, Handed, InputError, Inputs, RunInput, canonical_text,
};
use bookahead_lab::study::{
    Asked, CommonSettings, Simulation, SimulationResult, Starter, Strategy, Study, StudyRows,
    name_of,
};
use bookahead_lab::tables::Definition;
use bookahead_reservations::slots::SlotSource;
use std::sync::Arc;

mod applications;
mod keys;
mod made;
pub mod measures;
mod resolve;
mod resolve_application;
mod resources;
mod run_times;
mod seen;
mod settings;
pub mod stored;
mod tables;

use self::made::{Made, absolute, application_key, background_key};
pub use self::measures::MEASURES;
pub use self::settings::*;
pub use self::tables::ProvisioningRows as Rows;

/// Sites, applications and how they are provisioned.
#[derive(Clone, Debug)]
pub struct ProvisioningSimulation {
    /// Sites at the submission instants, the application, and what was searched beforehand.
    pub inputs: Arc<ProvisioningInputs>,
    /// How it is done, with the wish in numbers.
    pub settings: ProvisioningSettings,
    /// What random streams derive from.
    pub seed: StreamSeed,
}

impl Simulation for ProvisioningSimulation {
    fn check(&self) -> Result<(), SimulationError> {
        provisioning_scene(&self.inputs, &self.settings, &self.seed)
            .map(drop)
            .map_err(SimulationError::of_study)
    }

    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let (inputs, settings) = (&self.inputs, &self.settings);
        let scene =
            provisioning_scene(inputs, settings, &self.seed).map_err(SimulationError::of_study)?;
        let run = ProvisioningRun::of(player.play(scene, false, name_of(STRATEGY))?)
            .map_err(SimulationError::of_study)?;
        Ok(provisioning_result(inputs, settings, run, keep_outcomes))
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        seen::hand(&self.inputs, handed);
    }
}

/// Measures a run, and keeps what became of its applications where that is asked for.
#[must_use]
pub fn provisioning_result(
    inputs: &ProvisioningInputs,
    settings: &ProvisioningSettings,
    run: ProvisioningRun,
    keep_outcomes: bool,
) -> SimulationResult {
    let mut rows = Rows {
        sites: SiteSummary::of(inputs),
        ..Rows::default()
    };
    let mut result = SimulationResult {
        measured: provisioning_measures(inputs, settings, &run),
        ..SimulationResult::default()
    };
    result.metrics.submitted = run.outcomes.len() as u64;
    if keep_outcomes {
        if settings.is_genetic() {
            let volume = |outcome: &ProvisioningOutcome| {
                front_hypervolume(inputs.planned(outcome.submission as usize), outcome)
            };
            rows.hypervolumes = run.outcomes.iter().map(volume).collect();
        }
        rows.site_jobs = run.site_jobs(inputs);
        rows.run = Some(run);
        result.failures = Arc::new(inputs.failures());
    }
    result.rows = StudyRows::of(rows);
    result
}

impl Study for ProvisioningStudy {
    type Keys = keys::RawTables;

    const NAME: &'static str = "provisioning";

    const ABOUT: &'static str =
        "Sites that sell slots, and applications that buy them (Singh 2008, chapters 4 and 7).";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = tables::TABLES;

    const OWNER: Option<&'static str> =
        Some("this table belongs to the study of workflows that buy their resources");

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.whole_trace", "true"),
            ("workload.exact_estimates", "true"),
            ("workflow.tasks", "20"),
            ("workflow.mean_nodes", "6"),
        ],
        axes: &[
            ("provisioning.search", r#"["greedy", "moga"]"#),
            ("requests.alpha", "[0.0, 0.5, 1.0]"),
        ],
    };

    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        resolve::resolve(keys, asked, problems)
    }

    /// What the search, the kind of site and a single site do not read. Failures are read.
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        *common.estimates = None;
        common.without_policy();
        let Self { settings, about } = self;
        let default = ProvisioningSettings::default();
        let best_effort = settings.search == SearchMethod::BestEffort;
        if best_effort || about.application.number() == 1 {
            settings.joint = default.joint;
        }
        let evolves = settings.is_genetic() || settings.search == SearchMethod::QueriedMoga;
        if !evolves || !settings.joint || about.application.number() == 1 {
            settings.schedule_cost = default.schedule_cost;
        }
        if best_effort {
            settings.wish = default.wish;
            about.relative_wish = None;
            settings.refund = default.refund;
            // Queues book nothing.
            about.uncertainty.booking_factor = RuntimeUncertainty::default().booking_factor;
        }
        if about.uncertainty.real == RealRuntimes::Exact || about.uncertainty.variation == 0.0 {
            about.uncertainty = RuntimeUncertainty {
                booking_factor: about.uncertainty.booking_factor,
                ..RuntimeUncertainty::default()
            };
        }
        if settings.tariff.day_factor == 1.0 {
            (settings.tariff.day_begins, settings.tariff.day_ends) =
                (default.tariff.day_begins, default.tariff.day_ends);
        }
        if !settings.is_genetic() {
            settings.tariff = default.tariff;
            settings.brokers = default.brokers;
            settings.site_choice = default.site_choice;
            settings.genetic.all_slots_member = default.genetic.all_slots_member;
        }
        let over_offers = settings.search == SearchMethod::QueriedMoga;
        if !settings.is_genetic() && !over_offers {
            settings.genetic = default.genetic.clone();
        }
        if settings.search != SearchMethod::Moga && !over_offers {
            settings.genetic.sharing_radius = default.genetic.sharing_radius;
        }
        if settings.search != SearchMethod::WeightedSum {
            settings.scale = default.scale;
        }
        let source = match settings.provider {
            Provider::Advertised { source, .. } => Some(source),
            Provider::Queried => None,
        };
        if best_effort && source == Some(SlotSource::Plan) {
            // Nobody asks for slots, and the queue is the same.
            settings.provider = Provider::Queried;
        }
        if settings.provider == Provider::Queried {
            // No list says which slots there are.
            settings.follow_slots = default.follow_slots;
        }
        if source == Some(SlotSource::FreeRectangles) {
            // The rectangles are the queue's plan.
            settings.replanning.order = default.replanning.order;
            settings.replanning.backfilling = default.replanning.backfilling;
        }
        if about.users_percent.is_some() {
            // Nobody's best effort is known.
            settings.queue_choice = default.queue_choice;
            // A job has one task, and its volume is not known.
            about.application = ApplicationSettings::default();
            about.shares.of_task = about.shares.of_processor;
            about.make = None;
            about.network = NetworkSlots::default();
            about.uncertainty = RuntimeUncertainty::default();
        }
        if about.sites.len() == 1 {
            settings.site_choice = default.site_choice;
            settings.queue_choice = default.queue_choice;
            settings.asked_sites = default.asked_sites;
            about.application.network = Network::default();
            about.network = NetworkSlots::default();
        }
        if best_effort || (settings.latency == Seconds::ZERO && settings.brokers == 1) {
            // What is offered is never gone.
            settings.latency = Seconds::ZERO;
            settings.replans = default.replans;
        }
        if best_effort || common.failures.source == FailureSource::None {
            settings.after_failure = default.after_failure;
        }
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        // Applications of a hundred tasks; what all submissions share is made by the first.
        let replay = if simulation.replication == 0 {
            0.3
        } else {
            0.0
        };
        // Answers and snapshots hold the more, the longer the queues of the sites are.
        let sites: f64 = (self.about.sites.iter())
            .map(|site| 0.4 / (1.0 - site.utilisation_percent.unwrap_or(60.0).min(99.0) / 100.0))
            .sum();
        f64::from(self.settings.applications()) * sites * self.about.weight() / 100.0 + replay
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1.2e-2
    }

    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        f64::from(self.settings.applications()) * self.about.tasks() * TASK_BYTES
    }

    /// 1: tasks that are ready together do not all go to the site that had the fewest before them
    /// (AMB-24d).
    fn revision(&self) -> Option<u32> {
        (self.about.sites.len() > 1).then_some(1)
    }

    /// Of what is replayed at all sites.
    fn failures_hash(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Option<String>, Arc<InputError>> {
        let made = Made::new(spec, inputs);
        let mut hashes = Vec::new();
        for (place, site) in self.about.sites.iter().enumerate() {
            hashes.push(made.site_failures(site, place)?.content_hash());
        }
        Ok(Some(hashes.join(",")))
    }

    fn more_hashes(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
        content: &mut ContentHashes,
    ) -> Result<(), Arc<InputError>> {
        let made = Made::new(spec, inputs);
        let more = self.about.sites.iter().skip(1);
        content.sites = more
            .map(|site| Ok(made.site_trace(site)?.content_hash.clone()))
            .collect::<Result<_, Arc<InputError>>>()?;
        content
            .workflow
            .clone_from(&made.workflow(&self.about)?.hash);
        Ok(())
    }

    fn more_sources(&self, spec: &SimulationSpec, content: &ContentHashes) -> Vec<RunInput> {
        let more = self.about.sites.get(1..).unwrap_or_default();
        let sites = more
            .iter()
            .zip(&content.sites)
            .map(|(site, hash)| RunInput {
                source: format!("workload {} seed={}", site.workload.key(), spec.seed),
                content: hash.clone(),
            });
        let workflow = content.workflow.iter().map(|hash| RunInput {
            source: format!(
                "workflow {}",
                canonical_text(&self.about.application.source)
            ),
            content: hash.clone(),
        });
        sites.chain(workflow).collect()
    }

    /// Sites at their load, application, failures; neither replays nor searches.
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec)?;
        let made = Made::new(spec, inputs);
        made.application(&self.about)?;
        made.sites(&self.about).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(with_inputs(self, spec, inputs)?))
    }
}

/// The simulation with everything that it reads.
///
/// # Errors
///
/// When something cannot be made.
pub fn with_inputs(
    study: &ProvisioningStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<ProvisioningSimulation, Arc<InputError>> {
    let ProvisioningStudy { settings, about } = study;
    let made = Made::new(spec, inputs);
    let sourced = made.workflow(about)?;
    let application = made.application(about)?;
    let sites = made.sites(about)?;
    let background_key = background_key(spec, settings, about);
    let background = made.background(&background_key, (settings, about), &sites)?;
    let mut instants: Vec<usize> = match settings.commitment {
        Commitment::Discarded => vec![spec.replication as usize],
        Commitment::Committed { .. } => {
            let submissions = about.instants_each(settings) as usize;
            let first = spec.replication as usize * submissions;
            (first..first + submissions).collect()
        }
    };
    instants.sort_by_key(|&instant| (background.instants[instant], instant));
    // All brokers submit at each.
    let brokers = settings.submitters() as usize;
    let instants: Vec<usize> = (instants.into_iter())
        .flat_map(|instant| std::iter::repeat_n(instant, brokers))
        .collect();
    let key = format!("{background_key}|{}", application_key(spec, about));
    let real = made.real(about, instants.len())?;
    let begin = instants.first().map(|&at| background.instants[at]);
    let begin = begin.unwrap_or(Seconds::ZERO);
    let users = made.users(about, &sites, begin, settings.submissions());
    // Nothing is the same application at the same instant.
    let best_effort = match users.is_empty() {
        true => made.best_efforts(
            (settings, about),
            &key,
            &sites,
            &background,
            &instants,
            &real,
        )?,
        false => Vec::new(),
    };
    let booked = made.booked(about)?;
    // What was found holds where slots are as they were at the instant: not after a latency, nor
    // beside committed plans. By what else a plan is judged is not known yet.
    let shared = settings.is_genetic()
        && settings.joint
        && settings.schedule_cost.is_default()
        && settings.latency == Seconds::ZERO
        && settings.commitment == Commitment::Discarded;
    let searched = match instants.first() {
        Some(&instant) if shared => {
            let key = format!("{key}|{}", about.uncertainty.booking_factor);
            Some(made.searched(&key, settings, &background, &booked, instant)?)
        }
        _ => None,
    };
    let settings = ProvisioningSettings {
        wish: absolute(settings.wish, about.relative_wish, &application),
        ..settings.clone()
    };
    let slots_left = match settings.follow_slots {
        true => made.slots_left(&background_key, &sites, &background, &instants)?,
        false => Vec::new(),
    };
    let mut prepared = ProvisioningInputs {
        sites: Arc::clone(&sites),
        workflow: Arc::clone(&sourced.workflow),
        application: booked,
        real,
        users,
        background,
        instants,
        best_effort,
        searched,
        slots_left,
        parts: sourced.parts.clone(),
        alone: Vec::new(),
        judged: Vec::new(),
        keep_prices: inputs.keep_samples,
    };
    let seed = inputs.seed(spec);
    prepared.alone = alone(&prepared, &settings, &seed)
        .map_err(|error| Arc::new(InputError::Workflow(error.to_string())))?;
    prepared.judge_by(settings.schedule_cost);
    Ok(ProvisioningSimulation {
        inputs: Arc::new(prepared),
        settings,
        seed,
    })
}

#[cfg(test)]
mod tests;
pub mod view;
