//! A market over clusters.

mod keys;
pub mod measures;
mod resolve;
mod settings;
mod tables;
pub mod view;

use std::sync::Arc;

use self::keys::RawTables;
pub use self::measures::MEASURES;
pub use self::settings::*;
use crate::co_reservation::drawn_reliability;
use crate::market::{
    DelegationRule, HomeRule, MarketInputs, MarketRun, MarketSettings, PricedSupply, market_scene,
    with_cluster_outages,
};
use crate::study::cluster_policy;
use bookahead_core::failures::{FailureSource, FailureTrace};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::scheduling::{Acceptance, PolicySpec, Reliability};
use bookahead_core::units::Nodes;
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Handed, InputError, Inputs, latest_work, worked_off};
use bookahead_lab::study::{
    Asked, CommonSettings, JOB_BYTES, Simulation, SimulationResult, Starter, Strategy, Study,
    StudyRows, jobs_of,
};
use bookahead_lab::tables::Definition;
use bookahead_overbooking::registry;
use bookahead_overbooking::study::believed;

pub use self::tables::MarketRows as Rows;

/// Names the stream that decides between equal quotes.
const TIES: &str = "market/ties";

/// Names the stream that draws what customers name in a tender or a double auction.
const BIDS: &str = "market/bids";

/// Names the stream that draws the homes of jobs.
const HOMES: &str = "market/homes";

/// A market with everything that it reads.
struct MarketSimulation {
    settings: MarketSettings,
    inputs: MarketInputs,
    /// The failures of all clusters.
    failures: Arc<FailureTrace>,
}

impl MarketSimulation {
    fn play(&self, keep_outcomes: bool, player: &Player) -> Result<MarketRun, SimulationError> {
        let strategy = &self.settings.policy.strategy;
        let scene = market_scene(&self.settings, &self.inputs, keep_outcomes)
            .map_err(SimulationError::of_study)?;
        Ok(MarketRun::of(player.play(scene, false, strategy)?))
    }
}

impl Simulation for MarketSimulation {
    fn check(&self) -> Result<(), SimulationError> {
        market_scene(&self.settings, &self.inputs, false)
            .map(drop)
            .map_err(SimulationError::of_study)
    }

    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let mut run = self.play(keep_outcomes, player)?;
        let outcomes = if keep_outcomes {
            run.job_outcomes(&self.inputs.jobs)
        } else {
            Vec::new()
        };
        Ok(SimulationResult {
            metrics: std::mem::take(&mut run.metrics),
            measured: std::mem::take(&mut run.measured),
            failures: Arc::clone(&self.failures),
            outcomes,
            estimates: self.inputs.estimates.clone(),
            rows: StudyRows::of(Rows::of(run, keep_outcomes)),
            ..SimulationResult::default()
        })
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.inputs.jobs);
        handed.failures(&self.failures, latest_work(&self.inputs.jobs));
    }
}

impl Study for MarketStudy {
    type Keys = RawTables;

    const NAME: &'static str = "market";

    const ABOUT: &'static str =
        "Clusters that quote price and risk of single jobs, and a broker that delegates them.";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = tables::TABLES;

    const OWNER: Option<&'static str> = Some("this table belongs to the market over clusters");

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.jobs", "1200"),
            ("workload.fresh", "true"),
            ("workload.nodes", "32"),
            ("workload.battery_jobs", "400"),
            ("workload.load.each_battery", "8.0"),
            ("failures.source", r#""generated""#),
            ("clusters.count", "4"),
            ("market.optimists", "0.5"),
        ],
        axes: &[
            (
                "market.rule",
                r#"["reputation", "promised", "cheapest", "random"]"#,
            ),
            ("acceptance.pof_max", "[0.2, 0.4]"),
        ],
    };

    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        let raw = &keys.market;
        let clusters = keys.clusters.count().or_default(problems);
        let policy = keys.clusters.policy().name(problems);
        let strategy = policy.and_then(registry::strategy);
        let pof_max = keys.acceptance.pof_max().or_default(problems);
        let value = raw.value().or_default(problems);
        let damage = raw.damage().or_default(problems);
        let penalty_ratio = keys.acceptance.penalty_ratio().or_default(problems);
        let discount = raw.discount().or_default(problems);
        let optimists = raw.optimists().or_default(problems);
        let optimism = raw.optimism().or_default(problems);
        let prior_failures = raw.prior_failures().or_default(problems);
        let half_life_jobs = raw.half_life_jobs().or_default(problems);
        let migration = resolve::migration(raw, problems);
        let home = resolve::home(raw, problems);
        let load_pricing = resolve::load_pricing(raw, problems);
        let others = (
            matches!(migration, Some(Some(_))),
            matches!(home, Some(Some(_))),
            matches!(load_pricing, Some(Some(_))),
        );
        let at_home = home.flatten();
        let fits_overflow = resolve::fits_overflow(
            raw,
            at_home.as_ref(),
            (others.0, others.2),
            policy?,
            problems,
        );
        let auction = resolve::auction(raw, others, problems);
        let is_auction = matches!(auction, Some(Some(_)));
        let with = (others.0, others.1, is_auction);
        let unlike = resolve::unlike_clusters(raw, with, problems);
        let budget = raw.budget().checked(problems);
        let cluster_failures = resolve::cluster_failures(&keys.grid_failures, asked, problems);
        let (speeds, prices) = unlike?;
        if !fits_overflow {
            return None;
        }
        Some(Self {
            settings: MarketSettings {
                clusters: u32::try_from(clusters?).ok()?,
                policy: PolicySpec {
                    strategy: strategy?.name.to_owned(),
                    acceptance: Acceptance::Pof { maximum: pof_max? },
                    reliability: Reliability::default(),
                    ..PolicySpec::default()
                },
                rule: raw.rule.unwrap_or_default(),
                value: value?,
                damage: damage?,
                penalty: penalty_ratio?,
                discount: discount?,
                optimists: optimists?,
                optimism: optimism?,
                prior_failures: prior_failures?,
                half_life_jobs: half_life_jobs?,
                migration: migration?,
                home: home?,
                load_pricing: load_pricing?,
                auction: auction?,
                cluster_failures: cluster_failures?,
                speeds,
                prices,
                budget: budget?,
            },
        })
    }

    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        if let Some(checkpoint) = common.scheduling.checkpoint.take() {
            self.settings.policy.checkpoint = Some(checkpoint.normalised());
        }
        if let Some(believed) = believed(&common, &self.settings.policy.strategy)
            && believed != Reliability::default()
        {
            self.settings.policy.reliability = believed;
        }
        if let Some(read) = cluster_policy(&common, &self.settings.policy.strategy) {
            let own = std::mem::take(&mut self.settings.policy);
            self.settings.policy = PolicySpec {
                strategy: own.strategy,
                acceptance: own.acceptance,
                reliability: own.reliability,
                checkpoint: own.checkpoint,
                ..read
            };
        }
        common.without_policy();
        if self.settings.policy.checkpoint.is_none() {
            self.settings.migration = None;
        }
        if !self.overbooks() {
            *common.estimates = None;
            if let Some(pricing) = &mut self.settings.load_pricing {
                // Nothing is sold beyond the nodes.
                pricing.supply = PricedSupply::Nodes;
            }
        }
        let settings = &mut self.settings;
        if let Some(failures) = &mut settings.cluster_failures {
            failures.normalise();
        }
        if settings.auction.is_some() {
            // Prices and planned ends decide, and no price is discounted.
            (settings.rule, settings.discount) = (DelegationRule::Cheapest, 0.0);
        }
        if settings.rule != DelegationRule::DeadlineBudget {
            settings.budget = None;
        }
        if !settings.rule.learns() {
            (settings.prior_failures, settings.half_life_jobs) = (1.0, 0.0);
        }
        if settings.clusters == 1 {
            // Nobody else can be asked, and all jobs are at home at one cluster.
            if let Some(home) = &mut settings.home {
                home.of = HomeRule::User;
            }
        }
        if settings.optimism == 1.0 || settings.optimists == 0.0 {
            (settings.optimism, settings.optimists) = (1.0, 0.0);
        }
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload) * f64::from(self.settings.clusters)
    }

    fn machines(&self) -> u32 {
        self.settings.clusters
    }

    fn penalty_ratio(&self) -> Option<f64> {
        Some(self.settings.penalty)
    }

    /// For a quote.
    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        2e-6
    }

    /// 1: outcomes are kept, which simulations that were stored before do not have.
    fn revision(&self) -> Option<u32> {
        Some(1)
    }

    /// A job, its quotes, and what was delegated.
    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        let of_job = JOB_BYTES + DELEGATION_BYTES + QUOTE_BYTES * f64::from(self.settings.clusters);
        of_job * jobs_of(&simulation.workload)
    }

    fn failures_hash(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Option<String>, Arc<InputError>> {
        Ok(Some(failures(self, spec, inputs)?.content_hash()))
    }

    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        inputs.estimates(spec)?;
        failures(self, spec, inputs).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(with_inputs(self, spec, inputs)?))
    }
}

/// Bytes of a stored quote, about.
const QUOTE_BYTES: f64 = 50.0;

/// Bytes of what is stored of a delegated job, about.
const DELEGATION_BYTES: f64 = 70.0;

/// The market with everything that it reads.
fn with_inputs(
    study: &MarketStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<MarketSimulation, Arc<InputError>> {
    let workload = inputs.workload(spec)?;
    let nodes = spec.workload.nodes;
    let mut settings = study.settings.clone();
    if spec.failures.source == FailureSource::None {
        // Providers know what is drawn for nodes, and that nothing else of them fails.
        let drawn = drawn_reliability(settings.cluster_failures.as_ref());
        let reliability = &mut settings.policy.reliability;
        reliability.survival = drawn.survival;
        reliability.failure_rate_per_hour = drawn.failure_rate_per_hour;
        if drawn.failure_rate_per_hour > 0.0 {
            reliability.repair_rate_per_hour = drawn.repair_rate_per_hour;
        }
    }
    let all = failures(study, spec, inputs)?;
    Ok(MarketSimulation {
        inputs: MarketInputs {
            nodes,
            jobs: inputs.battery(&workload, spec)?,
            estimates: inputs.estimates(spec)?,
            failures: all.by_machine((0..settings.clusters).map(|_| nodes)),
            ties: inputs.seed(spec).stream(TIES),
            homes: inputs.seed(spec).stream(HOMES),
            bids: inputs.seed(spec).stream(BIDS),
        },
        settings,
        failures: all,
    })
}

/// The failures of all clusters, whose nodes are numbered one cluster after the other.
fn failures(
    study: &MarketStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<Arc<FailureTrace>, Arc<InputError>> {
    let workload = inputs.workload(spec)?;
    let jobs = inputs.battery(&workload, spec)?;
    let nodes = spec
        .workload
        .nodes
        .0
        .saturating_mul(study.settings.clusters);
    let of_nodes = inputs.failures_on(spec, &jobs, Nodes(nodes))?;
    let Some(settings) = &study.settings.cluster_failures else {
        return Ok(of_nodes);
    };
    let work = jobs
        .iter()
        .map(|job| (job.deadline, job.estimate, job.nodes));
    let until = worked_off(work, spec.workload.nodes);
    let clusters = (study.settings.clusters, spec.workload.nodes);
    let all = with_cluster_outages(&of_nodes, settings, clusters, until, &inputs.seed(spec));
    all.map(Arc::new)
        .map_err(|error| Arc::new(InputError::Failures(error.to_string())))
}
