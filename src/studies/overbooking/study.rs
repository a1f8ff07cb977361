//! A policy on one cluster.

mod keys;
pub mod measures;
mod node_rates;
mod prepared;
mod resolve;
mod settings;
mod tables;
#[cfg(test)]
mod tests;
pub mod view;

use std::sync::Arc;

pub use self::measures::MEASURES;
use self::prepared::{failures, with_inputs};
use self::resolve::{best_effort, client, releases};
pub use self::settings::*;
use self::settings::{per_job, reads_estimates};
pub use self::tables::BestEffortRows as Rows;
use crate::best_effort::{BestEffortMachine, BestEffortSettings};
use crate::{
    ClosedLoop, ClusterRun, Work, best_effort_scene, cluster_scene, registry, replay,
    replay_beside_best_effort, with_learned,
};
use bookahead_core::estimates::EstimateModel;
use bookahead_core::failures::{FailureTrace, NodeFailures};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::scheduling::{
    ClusterMachine, Customers, LongerEstimates, PolicySpec, PromisedStart, fixed_measures,
    measure_intervals, promise_measures,
};
use bookahead_core::units::Nodes;
use bookahead_core::workload::{Job, RequestSettings};
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Handed, InputError, Inputs, latest_work};
use bookahead_lab::study::{
    Asked, CommonSettings, JOB_BYTES, NodeReplay, ReplayFailure, Simulation, SimulationResult,
    Starter, Strategy, Study, StudyRows,
};
use bookahead_lab::tables::Definition;

/// The jobs of a battery and the failures that it meets.
pub type Battery = (Arc<[Job]>, NodeFailures);

/// A policy, its cluster, its jobs and the failures that they meet.
#[derive(Clone, Debug)]
pub struct PolicySimulation {
    /// Size of the cluster.
    pub nodes: Nodes,
    /// The policy; `None` where the program knows none of its name.
    pub strategy: Option<&'static registry::Strategy>,
    /// Its settings.
    pub policy: PolicySpec,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// Batteries that a policy that learns runs first, the earliest first.
    pub before: Vec<Battery>,
    /// Learned statistics, where the policy uses them.
    pub estimates: Option<Arc<EstimateModel>>,
    /// Node failures.
    pub failures: NodeFailures,
    /// The same before the policy gave nodes other numbers; `None` where they follow the load.
    pub recorded: Option<Arc<FailureTrace>>,
    /// Users whose submissions follow from what becomes of them; `None` where the jobs are
    /// submitted as they are listed.
    pub clients: Option<ClosedLoop>,
    /// Users who may refuse a late end; `None` where nobody does.
    pub customers: Option<Customers>,
    /// Users who may ask for more time while their jobs run; `None` where nobody does.
    pub longer_estimates: Option<LongerEstimates>,
    /// How jobs run that are promised nothing, and how many of the jobs, those with the lowest ids,
    /// are promised their slots; `None` where all are.
    pub best_effort: Option<(BestEffortSettings, u32)>,
}

impl PolicySimulation {
    /// The cluster, whose policy has learned what it learns beforehand.
    fn machine(&self, strategy: &registry::Strategy) -> ClusterMachine {
        let make = || (strategy.build)(self.nodes, &self.policy, self.estimates.clone());
        let mut machine = with_learned(make, self.nodes, &self.before);
        if let Some(customers) = &self.customers {
            machine.serve(customers.clone());
        }
        if let Some(users) = &self.longer_estimates {
            machine.let_ask(users.clone());
        }
        machine
    }

    /// Plays the simulation with this machine, which has learned what it learns beforehand.
    fn play(
        &self,
        machine: ClusterMachine,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<(ClusterRun, StudyRows), SimulationError> {
        let name = &self.policy.strategy;
        if let Some((settings, promised)) = &self.best_effort {
            let machine = BestEffortMachine::new(machine, *promised, settings);
            let scene = best_effort_scene(machine, Arc::clone(&self.jobs), &self.failures);
            let mut played = player.play(scene, keep_outcomes, name)?;
            let run = ClusterRun::beside_best_effort(&mut played);
            return Ok((run, StudyRows::of(Rows(played.machine.outcomes()))));
        }
        let work = match &self.clients {
            None => Work::Jobs(Arc::clone(&self.jobs)),
            Some(clients) => Work::Clients(Box::new(clients.clone())),
        };
        let scene = cluster_scene(machine, work, &self.failures);
        let played = player.play(scene, keep_outcomes, name)?;
        Ok((ClusterRun::of(played), StudyRows::default()))
    }

    /// The policy's entry in the registry, where there is all that it needs.
    fn usable_strategy(&self) -> Result<&'static registry::Strategy, SimulationError> {
        let name = &self.policy.strategy;
        match self.strategy {
            None => Err(SimulationError::UnknownStrategy(name.clone())),
            Some(strategy)
                if reads_estimates(Some(strategy), &self.policy) && self.estimates.is_none() =>
            {
                Err(SimulationError::NoEstimates(name.clone()))
            }
            Some(strategy) => Ok(strategy),
        }
    }
}

impl Simulation for PolicySimulation {
    fn check(&self) -> Result<(), SimulationError> {
        self.usable_strategy().map(drop)
    }

    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let strategy = self.usable_strategy()?;
        let machine = self.machine(strategy);
        let (run, rows) = self.play(machine, keep_outcomes, player)?;
        let mut measured = fixed_measures(&run.outcomes);
        measure_intervals(&run.outcomes, &mut measured);
        measured.extend(&run.of_others);
        measured.extend(&run.metrics.checkpoints.measures());
        measured.extend(&run.metrics.late.measures());
        measured.extend(&run.metrics.double.measures());
        if self.policy.backfill_risk > 0.0 {
            measured.extend(&run.metrics.work.measures());
        }
        if self.customers.is_some() {
            let (refused, submitted) = (run.metrics.dropped_by_customer, run.metrics.submitted);
            measured.add("late_offers_refused", refused as f64);
            measured.add_ratio(
                "late_offers_refused_percent",
                100.0 * refused as f64,
                submitted as f64,
            );
        }
        if self.longer_estimates.is_some() {
            measured.extend(&run.metrics.longer.measures());
        }
        let accepted = run.metrics.accepted as usize;
        let promised: Vec<PromisedStart> = run
            .outcomes
            .iter()
            .filter_map(PromisedStart::of_plan)
            .collect();
        measured.extend(&promise_measures(accepted, &promised));
        Ok(SimulationResult {
            metrics: run.metrics,
            measured,
            outcomes: run.outcomes,
            failures: self.recorded.clone().unwrap_or(run.failures),
            estimates: self.estimates.clone(),
            rows,
            ..SimulationResult::default()
        })
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
        match (&self.recorded, &self.failures) {
            (_, NodeFailures::ByLoad(failures)) => handed.failures_by_load(failures),
            (Some(known), _) | (None, NodeFailures::Known(known)) => {
                handed.failures(known, latest_work(&self.jobs));
            }
        }
    }
}

impl Study for OverbookingStudy {
    type Keys = keys::RawTables;

    const NAME: &'static str = "overbooking";

    const ABOUT: &'static str =
        "A policy on one cluster (Birkenheuer et al. 2008; Birkenheuer 2012).";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = tables::TABLES;

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.jobs", "2000"),
            ("workload.fresh", "true"),
            ("workload.battery_jobs", "400"),
            ("workload.load.each_battery", "2.0"),
            ("failures.source", r#""generated""#),
            ("scheduling.condition_on_elapsed", "true"),
            ("scheduling.hold_for_overbooked", "true"),
        ],
        axes: &[
            (
                "scheduling.strategy",
                r#"["conservative-backfilling", "heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]"#,
            ),
            ("acceptance.pof_max", "[0.05, 0.2, 0.5]"),
        ],
    };

    fn policies() -> &'static [registry::Strategy] {
        registry::STRATEGIES
    }

    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        let client = client(&keys.client, asked.scheduling, problems)?;
        Some(Self {
            requests: asked.requests.cloned(),
            releases: releases(&keys.releases, problems)?,
            best_effort: best_effort(&keys.best_effort, &client, problems)?,
            client,
        })
    }

    /// For a strategy that overbooks, a risk test becomes the PoF test with the same threshold; a
    /// rule of time does not test slots of full length. A strategy that does not overbook reads no
    /// time step, and no estimates unless it backfills at a risk; acceptance only where full-length
    /// slots are tested too, the planner's reliability only there and where the placing compares
    /// probabilities, and 1/μ where
    /// [`DownHorizon::Mttr`](bookahead_core::scheduling::DownHorizon::Mttr) asks for it.
    fn normalise(&mut self, common: CommonSettings<'_>) {
        self.requests = self
            .requests
            .take()
            .filter(|requests| requests.share_percent != 0.0)
            .map(RequestSettings::normalised);
        self.releases = self.releases.take().filter(|releases| !releases.is_none());
        self.client = std::mem::take(&mut self.client).normalised();
        self.best_effort = self.best_effort.filter(|jobs| jobs.share_percent != 0.0);
        let given = std::mem::take(common.scheduling);
        let strategy = common.studies.policy(&given.strategy);
        // A queue offers no end, and has no plan to lengthen a window in.
        if strategy.is_some_and(|strategy| strategy.plan == registry::PlanKind::Queue) {
            self.client.refuses_late_offers = false;
            self.client.lengthening = None;
        }
        if !reads_estimates(strategy, &given) {
            *common.estimates = None;
        }
        if let Some(estimates) = common.estimates {
            estimates.normalise(computes_probabilities(strategy));
        }
        *common.scheduling = policy_read(strategy, common.failures, given);
    }

    fn takes_reservations(&self) -> bool {
        true
    }

    /// Jobs without promises run on nodes that are idle for the cluster, whose load would be that
    /// of the other jobs alone.
    fn takes_failures_by_load(&self) -> bool {
        self.best_effort.is_none()
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        let policy = &simulation.scheduling;
        // What is learned from is simulated first.
        let batteries = 1.0 + f64::from(Self::batteries_before(simulation));
        // Overbooked plans hold more jobs the higher the threshold is.
        let plans = 0.75 + 0.5 * policy.acceptance.threshold();
        self.jobs(simulation) * batteries * plans * per_job(policy)
    }

    /// Orders of magnitude measured on one core at 200 % load.
    fn seconds_per_job(&self, strategy: &str) -> f64 {
        match strategy {
            "fcfs" => 1e-6,
            "easy-backfilling"
            | "conservative-backfilling"
            | "heuristic-planning"
            | "shelf-backfilling" => 2e-6,
            "heuristic-overbooking" | "overbooking-2008" => 6e-6,
            _ => 1.5e-5,
        }
    }

    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * self.jobs(simulation)
    }

    fn failures_hash(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Option<String>, Arc<InputError>> {
        let met = failures(self, spec, inputs)?.content_hash();
        let seen = node_rates::seen_hash(spec, inputs)?;
        Ok(Some(met + &seen))
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

    fn replay(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Option<NodeReplay>, ReplayFailure> {
        let read = with_inputs(self, spec, inputs).map_err(ReplayFailure::Input)?;
        let strategy = read
            .strategy
            .ok_or_else(|| SimulationError::UnknownStrategy(read.policy.strategy.clone()))?;
        let machine = read.machine(strategy);
        let jobs = Arc::clone(&read.jobs);
        let replay = match (&read.best_effort, read.clients) {
            (Some((settings, promised)), _) => {
                let machine = BestEffortMachine::new(machine, *promised, settings);
                replay_beside_best_effort(machine, jobs, &read.failures)
            }
            (None, Some(clients)) => {
                replay(machine, Work::Clients(Box::new(clients)), &read.failures)
            }
            (None, None) => replay(machine, Work::Jobs(jobs), &read.failures),
        };
        Ok(Some(NodeReplay {
            nodes: read.nodes,
            failures: match read.failures {
                NodeFailures::Known(known) => known,
                NodeFailures::ByLoad(_) => replay.failures,
            },
            metrics: replay.metrics,
            outcomes: replay.outcomes,
            allocations: replay.allocations,
        }))
    }
}
