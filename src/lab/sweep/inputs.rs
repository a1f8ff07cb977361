//! What simulations read: jobs, statistics and failures, each prepared once and shared.
//!
//! [`InputSources`] makes them, [`Inputs`] says what a simulation needs and remembers it.

mod cache;
mod provisioned;
mod sources;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use self::cache::Cache;
use self::provisioned::SourcedWorkflow;
pub use self::sources::{FailureRequest, InputSources, PreparedWorkload};
use super::coordinator::Simulate;
use super::identity::{ContentHashes, canonical_json};
use super::parallel::map_in_parallel;
use super::spec::{SimulationSpec, Sweep};
use crate::actors::{Battery, SimulationInputs, SimulationResult, StreamSeed};
use crate::brokering::provisioning::{
    Application, Background, BestEffortRun, Genetic, SiteWorkload,
};
use crate::brokering::{ClusterWorkload, GridInputs, StudySettings};
use crate::estimates::{EstimateModel, EstimateSettings};
use crate::failures::{FailureSource, FailureTrace, LanlTable};
use crate::random;
use crate::scheduling::CalibrationMethod;
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::{
    ClusterExcerpt, ClusterExcerpts, ClusterSettings, Excerpts, Job, ParsedTrace,
    ReservationRequest, WorkloadError, WorkloadSettings, battery::battery_before, cut_clusters,
    generate_co_requests, generate_requests,
};

/// Folders in which inputs are looked for when they are not found as they stand.
#[derive(Clone, Debug, Default)]
pub struct InputFolders {
    /// Traces: the environment variable `BOOKAHEAD_TRACES`.
    pub traces: Option<PathBuf>,
    /// Failure data: the environment variable `BOOKAHEAD_FAILURES`, else a folder `failures` beside the folder of traces.
    pub failures: Option<PathBuf>,
    /// Workflows: the environment variable `BOOKAHEAD_WORKFLOWS`.
    pub workflows: Option<PathBuf>,
}

impl InputFolders {
    /// The folders that the environment names.
    #[must_use]
    pub fn from_environment() -> Self {
        let folder = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let traces = folder("BOOKAHEAD_TRACES");
        let beside = || {
            let folder = traces.as_ref()?.parent()?.join("failures");
            folder.is_dir().then_some(folder)
        };
        let failures = folder("BOOKAHEAD_FAILURES").or_else(beside);
        let workflows = folder("BOOKAHEAD_WORKFLOWS");
        Self {
            traces,
            failures,
            workflows,
        }
    }
}

/// Why the inputs of a sweep cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The jobs.
    #[error("the workload cannot be prepared: {0}")]
    Workload(String),
    /// The statistics.
    #[error("the estimates of {workload} cannot be learned: {reason}")]
    Estimates {
        /// The workload.
        workload: String,
        /// Why.
        reason: String,
    },
    /// The application.
    #[error("the workflow cannot be prepared: {0}")]
    Workflow(String),
    /// The failures.
    #[error("the node failures cannot be prepared: {0}")]
    Failures(String),
    /// The trace is too short.
    #[error(
        "{workload} has {have} batteries of {jobs} jobs, and replication {wanted} asks for one more: \
         lower `experiment.replications` or `workload.battery_jobs`"
    )]
    TooFewBatteries {
        /// The workload.
        workload: String,
        /// Its batteries.
        have: usize,
        /// Jobs a battery.
        jobs: u32,
        /// The replication, from 1.
        wanted: u32,
    },
}

/// All inputs of a sweep.
pub struct Inputs {
    sources: InputSources,
    keep_outcomes: bool,
    records: Cache<ParsedTrace>,
    workloads: Cache<PreparedWorkload>,
    models: Cache<EstimateModel>,
    tables: Cache<Option<LanlTable>>,
    failures: Cache<FailureTrace>,
    excerpts: Cache<ClusterExcerpts>,
    loaded_sites: Cache<SiteWorkload>,
    site_sets: Cache<Arc<[SiteWorkload]>>,
    workflows: Cache<SourcedWorkflow>,
    applications: Cache<Application>,
    backgrounds: Cache<Background>,
    best_efforts: Cache<BestEffortRun>,
    searches: Cache<Genetic>,
}

impl Inputs {
    /// No inputs yet; simulations will keep every job's outcome or totals only.
    #[must_use]
    pub fn new(sources: InputSources, keep_outcomes: bool) -> Self {
        Self {
            sources,
            keep_outcomes,
            records: Cache::new(),
            workloads: Cache::new(),
            models: Cache::new(),
            tables: Cache::new(),
            failures: Cache::new(),
            excerpts: Cache::new(),
            loaded_sites: Cache::new(),
            site_sets: Cache::new(),
            workflows: Cache::new(),
            applications: Cache::new(),
            backgrounds: Cache::new(),
            best_efforts: Cache::new(),
            searches: Cache::new(),
        }
    }

    /// Loads what identities need and gives every point its own.
    ///
    /// # Errors
    ///
    /// When a trace or failure table is missing or faulty, or has too few jobs.
    pub fn identify(&self, sweep: &mut Sweep) -> Result<(), Arc<InputError>> {
        self.identify_with(sweep, 1)
    }

    /// The same on several threads: traces are read and cleaned beside each other.
    ///
    /// # Errors
    ///
    /// As for [`Inputs::identify`].
    pub fn identify_with(&self, sweep: &mut Sweep, threads: usize) -> Result<(), Arc<InputError>> {
        let contents = map_in_parallel(&sweep.simulations, threads, &|spec: &SimulationSpec| {
            let workload = self.workload(spec)?;
            let failures = match spec.failures.source {
                FailureSource::Lanl { .. } => Some(self.failures_hash(spec)?),
                FailureSource::None | FailureSource::Generated { .. } => None,
            };
            let (sites, workflow) = self.provisioned_hashes(spec)?;
            Ok::<_, Arc<InputError>>(ContentHashes {
                workload: workload.content_hash.clone(),
                failures,
                sites,
                workflow,
            })
        })?;
        let mut contents = contents.into_iter();
        let Ok(()) = sweep.identify(|_| {
            let content = contents.next();
            Ok::<_, Infallible>(content.expect("there is one for each simulation, in their order"))
        });
        // Every workload is made: the raw records are not needed any more.
        self.records.clear();
        Ok(())
    }

    /// Makes everything that a simulation reads, so that what is missing is known before the first one runs.
    ///
    /// # Errors
    ///
    /// When something cannot be made.
    pub fn prepare(&self, spec: &SimulationSpec) -> Result<(), Arc<InputError>> {
        let workload = self.workload(spec)?;
        if let Some(settings) = &spec.estimates {
            self.model(spec, &workload, settings)?;
        }
        if let Some(clusters) = &spec.clusters {
            // Drawn excerpts are not kept: one draw shows whether trace and settings go together.
            if clusters.excerpts == Excerpts::Drawn && spec.replication > 0 {
                return Ok(());
            }
            return self.grid(spec, &workload, None).map(drop);
        }
        battery(&workload, spec)?;
        if spec.provisioned().is_some() {
            return self.prepare_provisioned(spec);
        }
        self.failure_trace(spec).map(drop)
    }

    /// The workload's name for people.
    ///
    /// # Errors
    ///
    /// When the workload cannot be prepared.
    pub fn label(&self, spec: &SimulationSpec) -> Result<String, Arc<InputError>> {
        Ok(self.workload(spec)?.label.clone())
    }

    /// Everything that one simulation reads.
    ///
    /// # Errors
    ///
    /// When something cannot be made.
    pub fn simulation_inputs(
        &self,
        spec: &SimulationSpec,
    ) -> Result<SimulationInputs, Arc<InputError>> {
        let workload = self.workload(spec)?;
        let estimates = match &spec.estimates {
            Some(settings) => Some(self.model(spec, &workload, settings)?),
            None => None,
        };
        if let Some((provisioning, settings)) = self.provisioning(spec)? {
            return Ok(SimulationInputs {
                nodes: spec.workload.nodes,
                policy: spec.scheduling.clone(),
                // Each site has its own jobs and failures.
                jobs: Arc::new([]),
                before: Vec::new(),
                estimates: None,
                failures: Arc::default(),
                requests: Arc::new([]),
                study: Some(StudySettings::Provisioning(Box::new(settings))),
                grid: None,
                provisioning: Some(provisioning),
                seed: self.seed(spec),
            });
        }
        let grid = self.grid(spec, &workload, estimates.clone())?;
        let (jobs, requests): (Arc<[Job]>, _) = match &grid {
            // Each cluster has its own.
            Some(_) => (Arc::new([]), Arc::new([]) as Arc<[ReservationRequest]>),
            None => self.mixed(spec, battery(&workload, spec)?),
        };
        Ok(SimulationInputs {
            nodes: spec.workload.nodes,
            policy: spec.scheduling.clone(),
            before: self.batteries_before(spec, &workload)?,
            jobs,
            estimates,
            failures: self.failure_trace(spec)?,
            requests,
            study: spec.study.clone(),
            grid,
            provisioning: None,
            seed: self.seed(spec),
        })
    }

    /// The batteries that a calibrated policy learns from before its own, the earliest first, each with its failures: those of
    /// the replications before, and before the first one the end of what estimates are learned from.
    fn batteries_before(
        &self,
        spec: &SimulationSpec,
        workload: &PreparedWorkload,
    ) -> Result<Vec<Battery>, Arc<InputError>> {
        let calibration = &spec.scheduling.calibration;
        if calibration.method == CalibrationMethod::None || spec.workload.whole.is_some() {
            return Ok(Vec::new());
        }
        let mut batteries = Vec::new();
        for back in (1..=calibration.batteries_before).rev() {
            let (jobs, replication) = match spec.replication.checked_sub(back) {
                Some(earlier) => (workload.batteries.get(earlier as usize).cloned(), earlier),
                None => {
                    let beyond = back - spec.replication;
                    let jobs = battery_before(
                        &workload.learning,
                        spec.workload.battery_jobs,
                        beyond as usize,
                        workload.first_factor,
                        spec.workload.laxity,
                    );
                    // Drawn failures of their own, too: no replication has so high a number.
                    (jobs, u32::MAX - beyond)
                }
            };
            if let Some(jobs) = jobs {
                let failures = self.failures_with(spec, &jobs, replication)?;
                batteries.push((jobs, failures));
            }
        }
        Ok(batteries)
    }

    fn seed(&self, spec: &SimulationSpec) -> StreamSeed {
        StreamSeed {
            seed: spec.seed,
            workload_key: self.sources.workload_key(&spec.workload),
            replication: spec.replication,
        }
    }

    /// Clusters and requests of a study of several clusters.
    fn grid(
        &self,
        spec: &SimulationSpec,
        workload: &PreparedWorkload,
        estimates: Option<Arc<EstimateModel>>,
    ) -> Result<Option<Arc<GridInputs>>, Arc<InputError>> {
        let Some(settings) = &spec.clusters else {
            return Ok(None);
        };
        let failed = |error: WorkloadError| InputError::Workload(error.to_string());
        let excerpts = self.excerpts(spec, workload, settings)?;
        let requests = match &spec.co_requests {
            None => Vec::new(),
            Some(requests) => {
                // The source alone: every algorithm, network and number of clusters sees the same requests.
                let key = self.sources.source_key(&spec.workload);
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
        Ok(Some(Arc::new(GridInputs {
            clusters: excerpts.clusters.iter().map(cluster_workload).collect(),
            requests: requests.into(),
            stop: excerpts.stop,
            estimates,
        })))
    }

    fn excerpts(
        &self,
        spec: &SimulationSpec,
        workload: &PreparedWorkload,
        settings: &ClusterSettings,
    ) -> Result<Arc<ClusterExcerpts>, Arc<InputError>> {
        let jobs = battery(workload, spec)?;
        let cut = |replication| {
            let source = self.sources.source_key(&spec.workload);
            let mut stream = random::stream(spec.seed, &source, replication, "cluster excerpts");
            cut_clusters(&jobs, spec.workload.nodes, settings, &mut stream)
                .map_err(|error| InputError::Workload(error.to_string()))
        };
        // Drawn ones are cut when they are needed: each replication has its own, and they would fill the memory.
        if settings.excerpts == Excerpts::Drawn {
            return Ok(Arc::new(cut(spec.replication)?));
        }
        let workload_key = self.sources.workload_key(&spec.workload);
        let key = format!("{}|{workload_key}|{}", spec.seed, json(settings));
        self.excerpts.get(key, || cut(0))
    }

    /// The jobs and, where there are any, the requests that are made from them. Policies on a cluster take requests as jobs
    /// with a fixed window.
    fn mixed(
        &self,
        spec: &SimulationSpec,
        jobs: Arc<[Job]>,
    ) -> (Arc<[Job]>, Arc<[ReservationRequest]>) {
        let Some(settings) = &spec.reservations else {
            return (jobs, Arc::new([]));
        };
        // The source alone: exact and recorded estimates, and every admission rule, see the same requests.
        let key = self.sources.source_key(&spec.workload);
        let mixed = generate_requests(&jobs, settings, spec.seed, &key, spec.replication);
        if spec.study.is_some() {
            (mixed.jobs.into(), mixed.requests.into())
        } else {
            (mixed.into_jobs().into(), Arc::new([]))
        }
    }

    fn workload(&self, spec: &SimulationSpec) -> Result<Arc<PreparedWorkload>, Arc<InputError>> {
        self.workload_of(&spec.workload, spec.seed)
    }

    fn workload_of(
        &self,
        settings: &WorkloadSettings,
        seed: u64,
    ) -> Result<Arc<PreparedWorkload>, Arc<InputError>> {
        let key = format!("{seed}|{}", self.sources.workload_key(settings));
        let source = format!("{seed}|{}", self.sources.source_key(settings));
        self.workloads.get_shared(key, || {
            let records = self
                .records
                .get(source, || self.sources.records(settings, seed))?;
            Ok(self.sources.workload(&records, settings, seed)?)
        })
    }

    /// The hash of what is replayed, of all sites where there are several.
    fn failures_hash(&self, spec: &SimulationSpec) -> Result<String, Arc<InputError>> {
        let Some((_, about)) = spec.provisioned() else {
            return Ok(events_hash(self.failure_trace(spec)?.as_ref()));
        };
        let mut hashes = Vec::new();
        for (place, site) in about.sites.iter().enumerate() {
            hashes.push(events_hash(&*self.site_failures(spec, site, place)?));
        }
        Ok(hashes.join(","))
    }

    fn model(
        &self,
        spec: &SimulationSpec,
        workload: &PreparedWorkload,
        settings: &EstimateSettings,
    ) -> Result<Arc<EstimateModel>, Arc<InputError>> {
        let key = format!(
            "{}|{}|{}",
            spec.seed,
            self.sources.workload_key(&spec.workload),
            json(settings)
        );
        let Some(clusters) = &spec.clusters else {
            return self
                .models
                .get(key, || self.sources.estimates(workload, settings));
        };
        // A whole trace has no jobs set apart for learning: clusters learn from what none of them runs.
        let excerpts = self.excerpts(spec, workload, clusters)?;
        let key = match clusters.excerpts {
            Excerpts::Drawn => format!("{key}|{}|{}", json(clusters), spec.replication),
            Excerpts::Fingerprint | Excerpts::Spaced => format!("{key}|{}", json(clusters)),
        };
        let jobs = battery(workload, spec)?;
        self.models.get(key, || {
            let learning = PreparedWorkload {
                label: workload.label.clone(),
                learning: excerpts.outside(&jobs),
                batteries: Vec::new(),
                first_factor: 1.0,
                content_hash: String::new(),
            };
            self.sources.estimates(&learning, settings)
        })
    }

    fn failure_trace(&self, spec: &SimulationSpec) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        if spec.failures.source == FailureSource::None {
            return self
                .failures
                .get(String::new(), || Ok(FailureTrace::default()));
        }
        let workload = self.workload(spec)?;
        let (jobs, _) = self.mixed(spec, battery(&workload, spec)?);
        self.failures_with(spec, &jobs, spec.replication)
    }

    /// The failures that these jobs meet in a replication.
    fn failures_with(
        &self,
        spec: &SimulationSpec,
        jobs: &[Job],
        replication: u32,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        let nodes = spec.workload.nodes;
        let workload_key = self.sources.workload_key(&spec.workload);
        self.failures_of(&FailureRequest {
            settings: &spec.failures,
            nodes,
            horizon: horizon(jobs, nodes),
            seed: spec.seed,
            workload_key: &workload_key,
            replication,
        })
    }

    /// The failures that are asked for, made once for everybody who asks for the same.
    fn failures_of(
        &self,
        request: &FailureRequest<'_>,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        let settings = json(request.settings);
        let FailureRequest {
            nodes,
            horizon,
            seed,
            workload_key,
            replication,
            ..
        } = request;
        let key = format!("{seed}|{workload_key}|{nodes}|{settings}|{replication}|{horizon}");
        self.failures.get_shared(key, || {
            let table = self
                .tables
                .get(settings, || self.sources.failure_table(request.settings))?;
            Ok(self.sources.failures(&table, request)?)
        })
    }
}

impl Simulate for Inputs {
    fn simulate(&self, spec: &SimulationSpec) -> Result<SimulationResult, String> {
        let inputs = self
            .simulation_inputs(spec)
            .map_err(|error| error.to_string())?;
        crate::actors::run(&inputs, self.keep_outcomes).map_err(|error| error.to_string())
    }

    fn workload_label(&self, spec: &SimulationSpec) -> String {
        self.label(spec).unwrap_or_default()
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

fn battery(
    workload: &PreparedWorkload,
    spec: &SimulationSpec,
) -> Result<Arc<[Job]>, Arc<InputError>> {
    // A whole trace is the same in every replication: what differs is drawn from it.
    let battery = match spec.workload.whole {
        Some(_) => 0,
        None => spec.replication as usize,
    };
    workload
        .batteries
        .get(battery)
        .map(Arc::clone)
        .ok_or_else(|| {
            Arc::new(InputError::TooFewBatteries {
                workload: workload.label.clone(),
                have: workload.batteries.len(),
                jobs: spec.workload.battery_jobs,
                wanted: spec.replication + 1,
            })
        })
}

/// When no job of a battery can be on the machine any more. Planned jobs end by their deadlines; a queue that promises
/// nothing works off what was submitted, for which twice the time of a packed machine and the longest job are added.
fn horizon(jobs: &[Job], nodes: Nodes) -> Seconds {
    let last = jobs
        .iter()
        .map(|job| job.deadline)
        .max()
        .unwrap_or(Seconds::ZERO);
    let longest = jobs
        .iter()
        .map(|job| job.estimate)
        .max()
        .unwrap_or(Seconds::ZERO);
    let area = jobs.iter().fold(NodeSeconds(0), |sum, job| sum + job.fee());
    let packed = Seconds(area.0 / i64::from(nodes.0.max(1)));
    last + packed * 2 + longest + Seconds::HOUR
}

fn events_hash(trace: &FailureTrace) -> String {
    let mut hash = Sha256::new();
    for event in &trace.events {
        hash.update(event.time.0.to_le_bytes());
        hash.update(event.node.0.to_le_bytes());
        hash.update([u8::from(event.up)]);
    }
    hash.finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn json<T: serde::Serialize>(settings: &T) -> String {
    canonical_json(settings).unwrap_or_default()
}
