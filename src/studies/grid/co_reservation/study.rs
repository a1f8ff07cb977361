//! Several clusters and a broker: excerpts of a trace, requests made from them, what clusters that
//! overbook learn.

use std::sync::Arc;

use crate::co_reservation::evaluation::co_reservation_measures;
use crate::co_reservation::measures::ClusterSummary;
use crate::co_reservation::{
    ClusterWorkload, CoReservationInputs, CoReservationRun, CoReservationSettings, Order, Repair,
    SortBy, co_reservation_scene,
};
use bookahead_core::estimates::{EstimateModel, EstimateSettings, LearningSettings};
use bookahead_core::failures::{FailureSource, FailureTrace};
use bookahead_core::random;
use bookahead_core::random::StreamSeed;
use bookahead_core::scheduling::Reliability;
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{
    ClusterExcerpt, ClusterExcerpts, CoRequest, Excerpts, FurtherParts, Preference, WorkloadError,
    cut_clusters, generate_co_requests,
};
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{
    Cache, Handed, InputError, Inputs, PreparedWorkload, canonical_text, latest_work, worked_off,
};
use bookahead_lab::study::{
    Asked, CommonSettings, Held, JOB_BYTES, MachineUse, Simulation, SimulationResult, Starter,
    Strategy, Study, StudyRows, name_of,
};
use bookahead_lab::tables::Definition;
use bookahead_overbooking::registry;
use bookahead_overbooking::study::believed;
mod keys;
pub mod measures;
mod resolve;
mod resolve_requests;
mod settings;
pub mod stored;
mod tables;
pub mod view;

pub use self::measures::MEASURES;
pub use self::settings::*;
pub use self::tables::CoReservationRows as Rows;

/// The clusters with their jobs, the requests, and the broker.
#[derive(Clone, Debug)]
pub struct CoReservationSimulation {
    /// Clusters and requests.
    pub inputs: Arc<CoReservationInputs>,
    /// How the broker searches, what its messages suffer, what fails.
    pub settings: CoReservationSettings,
    /// What its random streams derive from.
    pub seed: StreamSeed,
}

impl Simulation for CoReservationSimulation {
    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let scene = co_reservation_scene(&self.inputs, &self.settings, &self.seed)
            .map_err(SimulationError::of_study)?;
        // Measures need every outcome.
        let played = player.play(scene, true, name_of(STRATEGY))?;
        if played.machine.is_stuck() {
            return Err(SimulationError::Unfinished(name_of(STRATEGY).to_owned()));
        }
        let run = CoReservationRun::of(played, &self.inputs);
        Ok(grid_result(
            &self.inputs,
            &self.settings,
            run,
            keep_outcomes,
        ))
    }

    /// How far a start may be moved and how cost weighs are settings.
    fn handed(&self, handed: &mut Handed<'_>) {
        for cluster in &self.inputs.clusters {
            handed.jobs(&cluster.jobs);
        }
        for request in self.inputs.requests.iter() {
            let mut numbers = vec![
                Some(request.submit.0),
                Some(request.earliest.0),
                Some(request.duration.0),
                request.user,
            ];
            numbers.extend(request.parts.iter().map(|part| Some(part.0.into())));
            handed.request(&numbers);
        }
        if let Some(failures) = &self.settings.failures {
            let sizes = self.inputs.clusters.iter().map(|cluster| cluster.nodes.0);
            let sizes: Vec<u32> = sizes.collect();
            let settings = canonical_text(failures);
            handed.drawn_failures(&format!("{}|{sizes:?}|{settings}", self.seed));
        }
        if !self.inputs.failures.events.is_empty() {
            let ends = self.inputs.clusters.iter().map(|it| latest_work(&it.jobs));
            let latest = ends.max().unwrap_or(Seconds::ZERO);
            handed.failures(&self.inputs.failures, latest);
        }
    }
}

/// Measures a run, and keeps its outcomes where they are asked for; those of jobs become the
/// outcomes of the simulation.
#[must_use]
pub fn grid_result(
    inputs: &CoReservationInputs,
    settings: &CoReservationSettings,
    mut run: CoReservationRun,
    keep_outcomes: bool,
) -> SimulationResult {
    let (measured, values) = co_reservation_measures(inputs, settings, &run);
    SimulationResult {
        metrics: run.metrics,
        measured,
        outcomes: if keep_outcomes {
            std::mem::take(&mut run.jobs)
        } else {
            Vec::new()
        },
        estimates: inputs.estimates.clone(),
        rows: StudyRows::of(Rows {
            clusters: ClusterSummary::of(inputs),
            values,
            run: keep_outcomes.then_some(run),
        }),
        ..SimulationResult::default()
    }
}

/// Excerpts that simulations share.
#[derive(Default)]
struct Shared {
    excerpts: Cache<ClusterExcerpts>,
}

impl Study for CoReservationStudy {
    type Keys = keys::RawTables;

    const NAME: &'static str = "co-reservation";

    const ABOUT: &'static str =
        "Several clusters and a broker that co-reserves parts at them (Meltzer 2005).";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = tables::TABLES;

    const OWNER: Option<&'static str> = Some("this table belongs to the study of several clusters");

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.jobs", "12000"),
            ("workload.nodes", "128"),
            ("workload.fresh", "true"),
            ("workload.whole_trace", "true"),
            ("workload.target_load", "0.8"),
            ("clusters.count", "3"),
            ("clusters.days", "4"),
            ("requests.count", "40"),
        ],
        axes: &[("broker.algorithm", r#"["a2", "a3", "a4", "a5"]"#)],
    };

    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        resolve::resolve(keys, asked, problems)
    }

    /// What the algorithm, the network and the requests do not read. What is measured under every
    /// algorithm (backlog times, costs) is read under every algorithm.
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        let nodes_fail = common.failures.source != FailureSource::None;
        if let Some(risk) = &mut self.settings.risk {
            let believed = believed(&common, &risk.strategy);
            risk.reliability = match (believed, risk.reliability.take()) {
                // The policy of a specification that was normalised before is the default one.
                (Some(believed), Some(before)) if believed == Reliability::default() => {
                    Some(before)
                }
                (believed, _) => believed,
            };
        }
        common.without_policy();
        // Clusters that overbook learn from jobs; the others promise parts without risk only.
        match &mut self.settings.risk {
            Some(risk)
                if registry::strategy(&risk.strategy).is_none_or(|known| known.overbooks) => {}
            risk => {
                *common.estimates = None;
                if let Some(risk) = risk {
                    risk.pof_max = 0.0;
                }
            }
        }
        if let Some(estimates) = common.estimates {
            estimates.normalise(true);
            // No battery is run before.
            estimates.learning.batteries_before = LearningSettings::default().batteries_before;
        }
        let settings = &mut self.settings;
        let default = CoReservationSettings::default();
        let something_fails = nodes_fail || settings.failures.is_some();
        if !something_fails && settings.risk.is_none() {
            // Nothing is ever lost that could be asked for anew.
            settings.renegotiate = false;
        }
        if let Some(failures) = &mut settings.failures {
            // What never fails is never repaired.
            if failures.cluster_mtbf.is_none() {
                failures.cluster_repair = Seconds::ZERO;
            }
            if failures.node_mtbf.is_none() {
                failures.node_repair = Seconds::ZERO;
                failures.node_cpus = 1;
            }
        }
        let messages = &mut settings.messages;
        if messages.latency == Seconds::ZERO && messages.loss == 0.0 && !something_fails {
            // Every answer comes at once.
            messages.timeout = default.messages.timeout;
        }
        match &mut self.requests {
            None => {
                settings.search = default.search;
                settings.messages = default.messages;
                settings.renegotiate = false;
                settings.second_thoughts = None;
            }
            Some(requests) => {
                let row = settings.search.algorithm.row();
                if !row.probes {
                    settings.search.sort_by = default.search.sort_by;
                }
                let by_degree = settings.search.sort_by == SortBy::ReservationDegree;
                if row.order != Order::Value || by_degree {
                    requests.preference = Preference::default();
                }
                if row.repair != Repair::BestFirst {
                    settings.search.start_tolerance = default.search.start_tolerance;
                    settings.search.cost_tolerance = default.search.cost_tolerance;
                }
                if row.repair == Repair::None {
                    settings.search.memoise = default.search.memoise;
                }
                if requests.parts <= 2 {
                    requests.further_parts = FurtherParts::default();
                }
            }
        }
    }

    fn work(&self, _simulation: &SimulationSpec) -> f64 {
        self.jobs_and_requests()
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-5
    }

    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * self.jobs_and_requests()
    }

    fn failures_hash(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Option<String>, Arc<InputError>> {
        // Clusters whose nodes do not fail keep the identity that they had before they could.
        if spec.failures.source == FailureSource::None {
            return Ok(None);
        }
        let workload = inputs.workload(spec)?;
        let grid = grid(self, spec, inputs, &workload, None)?;
        Ok(Some(grid.failures.content_hash()))
    }

    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        estimates(self, spec, inputs, &workload)?;
        // Drawn excerpts are not kept: one draw shows whether trace and settings go together.
        if self.clusters.excerpts == Excerpts::Drawn && spec.replication > 0 {
            return Ok(());
        }
        grid(self, spec, inputs, &workload, None).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(with_inputs(self, spec, inputs)?))
    }

    fn machines(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
        result: &SimulationResult,
    ) -> Result<Vec<MachineUse>, Arc<InputError>> {
        let Some(rows) = result.rows.get::<Rows>() else {
            return Ok(Vec::new());
        };
        let parts = |cluster: usize| {
            let run = rows
                .run
                .iter()
                .filter_map(move |run| run.parts.get(cluster));
            run.flatten().map(|part| Held {
                kind: if part.lost {
                    "parts of co-reservations that were lost"
                } else {
                    "parts of co-reservations"
                },
                start: part.order.start,
                end: (part.order.start + part.order.duration)
                    .min(part.gone.unwrap_or(Seconds::FAR)),
                nodes: part.order.nodes,
            })
        };
        let machines = rows.clusters.iter().enumerate().map(|(number, cluster)| {
            let first = cluster.first_job as usize;
            let jobs = result.outcomes.get(first..first + cluster.jobs as usize);
            // A part that was given back before its start held nothing.
            let parts = parts(number).filter(|part| part.start < part.end);
            MachineUse {
                name: format!("cluster {number}"),
                nodes: cluster.nodes,
                held: Held::by_jobs(jobs.unwrap_or_default())
                    .chain(parts)
                    .collect(),
            }
        });
        Ok(machines.collect())
    }
}

fn cluster_workload(excerpt: &ClusterExcerpt) -> ClusterWorkload {
    ClusterWorkload {
        nodes: excerpt.nodes,
        jobs: Arc::clone(&excerpt.jobs),
        window_start: excerpt.window_start,
        accuracy: excerpt.accuracy,
    }
}

/// The simulation with everything that it reads.
///
/// # Errors
///
/// When something cannot be made.
pub fn with_inputs(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<CoReservationSimulation, Arc<InputError>> {
    let workload = inputs.workload(spec)?;
    let estimates = estimates(study, spec, inputs, &workload)?;
    Ok(CoReservationSimulation {
        inputs: grid(study, spec, inputs, &workload, estimates)?,
        settings: study.settings.clone(),
        seed: inputs.seed(spec),
    })
}

fn grid(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
    estimates: Option<Arc<EstimateModel>>,
) -> Result<Arc<CoReservationInputs>, Arc<InputError>> {
    let failed = |error: WorkloadError| InputError::Workload(error.to_string());
    let excerpts = excerpts(study, spec, inputs, workload)?;
    let requests = match &study.requests {
        None => Vec::new(),
        Some(requests) => {
            // The source alone: every algorithm, network and number of clusters sees the same
            // requests.
            let key = inputs.source_key(&spec.workload);
            let nodes = spec.workload.nodes;
            generate_co_requests(
                &excerpts,
                nodes,
                requests,
                spec.seed,
                &key,
                spec.replication,
            )
            .map_err(failed)?
        }
    };
    let failures = failures(spec, inputs, &excerpts, &requests)?;
    Ok(Arc::new(CoReservationInputs {
        failures,
        clusters: excerpts.clusters.iter().map(cluster_workload).collect(),
        requests: requests.into(),
        stop: excerpts.stop,
        estimates,
    }))
}

/// The failures of the nodes of all clusters, until each would have worked off its jobs and all
/// requests.
fn failures(
    spec: &SimulationSpec,
    inputs: &Inputs,
    excerpts: &ClusterExcerpts,
    requests: &[CoRequest],
) -> Result<Arc<FailureTrace>, Arc<InputError>> {
    let until = excerpts.clusters.iter().map(|cluster| {
        let jobs = cluster
            .jobs
            .iter()
            .map(|job| (job.submit, job.estimate, job.nodes));
        let parts = requests.iter().flat_map(|request| {
            let part = |width: &Nodes| (request.earliest, request.duration, *width);
            request.parts.iter().map(part)
        });
        worked_off(jobs.chain(parts), cluster.nodes)
    });
    let until = until.max().unwrap_or(Seconds::ZERO);
    let nodes = excerpts
        .clusters
        .iter()
        .map(|cluster| cluster.nodes.0)
        .sum();
    inputs.failures_until(spec, Nodes(nodes), spec.replication, until)
}

fn excerpts(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
) -> Result<Arc<ClusterExcerpts>, Arc<InputError>> {
    let jobs = inputs.battery(workload, spec)?;
    let settings = &study.clusters;
    let cut = |replication| {
        let source = inputs.source_key(&spec.workload);
        let mut stream = random::stream(spec.seed, &source, replication, "cluster excerpts");
        cut_clusters(&jobs, spec.workload.nodes, settings, &mut stream)
            .map_err(|error| InputError::Workload(error.to_string()))
    };
    // Drawn ones are cut when they are needed: each replication has its own, and they would fill
    // the memory.
    if settings.excerpts == Excerpts::Drawn {
        return Ok(Arc::new(cut(spec.replication)?));
    }
    let workload_key = inputs.workload_key(&spec.workload);
    let own = spec.workload.workload_of(spec.replication);
    let key = format!(
        "{}|{workload_key}|{own}|{}",
        spec.seed,
        canonical_text(settings)
    );
    inputs.shared::<Shared>().excerpts.get(key, || cut(own))
}

/// A whole trace has no jobs set apart for learning: clusters learn from what none of them runs.
fn model(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
    settings: &EstimateSettings,
) -> Result<Arc<EstimateModel>, Arc<InputError>> {
    let excerpts = excerpts(study, spec, inputs, workload)?;
    let clusters = canonical_text(&study.clusters);
    let place = match study.clusters.excerpts {
        Excerpts::Drawn => format!("{clusters}|{}", spec.replication),
        Excerpts::Fingerprint | Excerpts::Spaced => clusters,
    };
    let jobs = inputs.battery(workload, spec)?;
    inputs.model_from(spec, settings, &place, || PreparedWorkload {
        label: workload.label.clone(),
        learning: excerpts.outside(&jobs).into(),
        batteries: Vec::new(),
        first_factor: 1.0,
        cleaning: workload.cleaning.clone(),
        content_hash: String::new(),
    })
}

fn estimates(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
) -> Result<Option<Arc<EstimateModel>>, Arc<InputError>> {
    let settings = spec.estimates.as_ref();
    settings
        .map(|settings| model(study, spec, inputs, workload, settings))
        .transpose()
}
