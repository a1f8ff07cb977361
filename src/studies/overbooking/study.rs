//! A policy on one cluster.

mod keys;
pub mod measures;
mod node_rates;
mod resolve;
mod settings;
mod tables;
#[cfg(test)]
mod tests;
pub mod view;

use std::sync::Arc;

pub use self::measures::MEASURES;
use self::resolve::{best_effort, client, releases};
use self::settings::per_job;
pub use self::settings::*;
pub use self::tables::BestEffortRows as Rows;
use crate::best_effort::{BestEffortMachine, BestEffortSettings};
use crate::{
    ClientTies, ClosedLoop, ClusterRun, Dependencies, Work, best_effort_scene, cluster_scene,
    registry, replay, replay_beside_best_effort, with_learned,
};
use bookahead_core::estimates::EstimateModel;
use bookahead_core::failures::FailureTrace;
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::scheduling::{
    ClusterMachine, PolicySpec, PromisedStart, fixed_measures, measure_intervals, promise_measures,
};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::battery::battery_before;
use bookahead_core::workload::{Job, ReleaseSettings};
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Handed, InputError, Inputs, PreparedWorkload, latest_work};
use bookahead_lab::study::{
    Asked, CommonSettings, JOB_BYTES, NodeReplay, ReplayFailure, Simulation, SimulationResult,
    Starter, Strategy, Study, StudyRows,
};
use bookahead_lab::tables::Definition;

/// The jobs of a battery and the failures that it meets.
pub type Battery = (Arc<[Job]>, Arc<FailureTrace>);

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
    pub failures: Arc<FailureTrace>,
    /// The same before the policy gave nodes other numbers.
    pub recorded: Arc<FailureTrace>,
    /// Users whose submissions follow from what becomes of them; `None` where the jobs are
    /// submitted as they are listed.
    pub clients: Option<ClosedLoop>,
    /// How jobs run that are promised nothing, and how many of the jobs, those with the lowest ids,
    /// are promised their slots; `None` where all are.
    pub best_effort: Option<(BestEffortSettings, u32)>,
}

impl PolicySimulation {
    /// The cluster, whose policy has learned what it learns beforehand.
    fn machine(&self, strategy: &registry::Strategy) -> ClusterMachine {
        let make = || (strategy.build)(self.nodes, &self.policy, self.estimates.clone());
        with_learned(make, self.nodes, &self.before)
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
            Some(strategy) if strategy.overbooks && self.estimates.is_none() => {
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
            failures: Arc::clone(&self.recorded),
            estimates: self.estimates.clone(),
            rows,
            ..SimulationResult::default()
        })
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
        handed.failures(&self.recorded, latest_work(&self.jobs));
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
        let client = client(&keys.client, problems)?;
        Some(Self {
            requests: asked.requests.cloned(),
            releases: releases(&keys.releases, problems)?,
            best_effort: best_effort(&keys.best_effort, &client, problems)?,
            client,
        })
    }

    /// For a strategy that overbooks, a risk test becomes the PoF test with the same threshold; a
    /// rule of time does not test slots of full length. A strategy that does not overbook reads no
    /// estimates and no time step; acceptance only where full-length slots are tested too, the
    /// planner's reliability only there and where the placing compares probabilities, and 1/μ where
    /// [`DownHorizon::Mttr`](bookahead_core::scheduling::DownHorizon::Mttr) asks for it.
    fn normalise(&mut self, common: CommonSettings<'_>) {
        self.requests = self
            .requests
            .take()
            .filter(|requests| requests.share_percent != 0.0);
        self.releases = self.releases.take().filter(|releases| !releases.is_none());
        self.client = std::mem::take(&mut self.client).normalised();
        self.best_effort = self.best_effort.filter(|jobs| jobs.share_percent != 0.0);
        let given = std::mem::take(common.scheduling);
        let strategy = common.studies.policy(&given.strategy);
        if !strategy.is_none_or(|strategy| strategy.overbooks) {
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
            "easy-backfilling" | "conservative-backfilling" | "heuristic-planning" => 2e-6,
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
            failures: read.failures,
            metrics: replay.metrics,
            outcomes: replay.outcomes,
            allocations: replay.allocations,
        }))
    }
}

/// The most batteries that are run before the simulated one: what `learning_batteries` and
/// `calibration_batteries` allow.
const MOST_BATTERIES_BEFORE: u32 = 20;

/// The batteries that a policy learns from before its own, the earliest first, each with its
/// failures: those of the replications before, and, for what promises are worth, before the first
/// one the end of what estimates are learned from. No replication is before a fresh one.
fn batteries_before(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
) -> Result<Vec<Battery>, Arc<InputError>> {
    let mut batteries = Vec::new();
    let replications = OverbookingStudy::replications_before(spec);
    for back in (1..=OverbookingStudy::batteries_before(spec)).rev() {
        let (jobs, replication) = match replications.checked_sub(back) {
            Some(earlier) => (workload.batteries.get(earlier as usize).cloned(), earlier),
            None => {
                let beyond = back - replications;
                let jobs = battery_before(
                    &workload.learning,
                    spec.workload.battery_jobs,
                    beyond as usize,
                    workload.first_factor,
                );
                // Drawn failures of their own, too: no replication has so high a number.
                let own = spec.workload.workload_of(spec.replication);
                let place = own.wrapping_mul(MOST_BATTERIES_BEFORE + 1) + beyond;
                (jobs, u32::MAX - place)
            }
        };
        if let Some(jobs) = jobs {
            let failures = inputs.failures_with(spec, &jobs, replication)?;
            let jobs = match &study.best_effort {
                None => jobs,
                Some(settings) => promised_only(settings, spec, inputs, &jobs),
            };
            let failures = node_rates::renumbered(spec, inputs, failures)?;
            batteries.push((jobs, failures));
        }
    }
    Ok(batteries)
}

/// Policies take reservations as jobs with a fixed window.
fn jobs(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
) -> Result<Arc<[Job]>, Arc<InputError>> {
    let jobs = inputs.battery(workload, spec)?;
    let jobs: Arc<[Job]> = match &study.requests {
        None => jobs,
        Some(requests) => inputs
            .jobs_and_requests(spec, requests, &jobs)
            .into_jobs()
            .into(),
    };
    Ok(match &study.releases {
        None => jobs,
        Some(releases) => {
            let mut draws = inputs.seed(spec).stream(ReleaseSettings::STREAM);
            releases.applied(&jobs, &mut draws)
        }
    })
}

fn failures(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<Arc<FailureTrace>, Arc<InputError>> {
    let workload = inputs.workload(spec)?;
    let jobs = jobs(study, spec, inputs, &workload)?;
    let ties = ties(study, spec, inputs, &jobs)?;
    failures_of(study, spec, inputs, &jobs, ties.as_deref())
}

/// The failures that a battery meets, which may last longer where jobs are submitted later than
/// they are listed.
fn failures_of(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
    ties: Option<&ClientTies>,
) -> Result<Arc<FailureTrace>, Arc<InputError>> {
    let Some(ties) = ties else {
        return inputs.failures_with(spec, jobs, spec.replication);
    };
    let listed = jobs.iter().map(|job| job.deadline).max();
    let later = ties.latest_end(&study.client, jobs) - listed.unwrap_or(Seconds::ZERO);
    inputs.failures_for(spec, jobs, spec.replication, later.max(Seconds::ZERO))
}

/// What ties the jobs of a closed loop together; `None` where the loop is open.
fn ties(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
) -> Result<Option<Arc<ClientTies>>, Arc<InputError>> {
    let client = &study.client;
    if client.is_open_loop() {
        return Ok(None);
    }
    let log = match client.dependencies {
        Dependencies::None => Arc::default(),
        Dependencies::Trace | Dependencies::Sessions => inputs.job_log(spec)?,
    };
    let mut stream = inputs.seed(spec).stream(ClientTies::STREAM);
    let ties = ClientTies::new(client, jobs, &log, &mut stream);
    Ok(Some(Arc::new(ties)))
}

fn with_inputs(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<PolicySimulation, Arc<InputError>> {
    let workload = inputs.workload(spec)?;
    let jobs = jobs(study, spec, inputs, &workload)?;
    let ties = ties(study, spec, inputs, &jobs)?;
    let recorded = failures_of(study, spec, inputs, &jobs, ties.as_deref())?;
    let (jobs, best_effort) = match study.best_effort {
        None => (jobs, None),
        Some(settings) => {
            let (jobs, promised) = split(&settings, spec, inputs, &jobs);
            (jobs.into(), Some((settings, promised)))
        }
    };
    Ok(PolicySimulation {
        nodes: spec.workload.nodes,
        strategy: inputs.studies().policy(&spec.scheduling.strategy),
        policy: node_rates::knowing_nodes(spec, inputs)?,
        before: batteries_before(study, spec, inputs, &workload)?,
        failures: node_rates::renumbered(spec, inputs, Arc::clone(&recorded))?,
        recorded,
        clients: ties.map(|ties| ClosedLoop::new(study.client.clone(), jobs.clone(), ties)),
        jobs,
        best_effort,
        estimates: inputs.estimates(spec)?,
    })
}

/// The jobs, those that ask for promises with the lowest ids, and how many these are.
fn split(
    settings: &BestEffortSettings,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
) -> (Vec<Job>, u32) {
    let mut draws = inputs.seed(spec).stream(BestEffortSettings::STREAM);
    settings.split(jobs, &mut draws)
}

/// The jobs of a battery that ask for promises: nothing is learned from others.
fn promised_only(
    settings: &BestEffortSettings,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
) -> Arc<[Job]> {
    let (jobs, promised) = split(settings, spec, inputs, jobs);
    jobs.into_iter().filter(|job| job.id.0 < promised).collect()
}
