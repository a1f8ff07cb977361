//! What simulations read: jobs, statistics and failures, each prepared once and shared.
//!
//! [`InputSources`] makes them, [`Inputs`] says what a simulation needs and remembers it.

mod cache;
mod canonical;
mod failures;
mod log_sizes;
mod loss;
pub mod parallel;
mod remark;
pub mod seen;
mod simulated_machine;
mod sources;

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub use self::cache::Cache;
pub use self::canonical::{canonical_json, canonical_text, write_sorted};
pub use self::failures::worked_off;
pub(crate) use self::log_sizes::ADD_NODES;
pub use self::log_sizes::LogSizes;
pub use self::loss::RecordLoss;
pub use self::remark::{InputRemark, remarks_on};
use self::seen::SeenCache;
pub use self::seen::{Handed, HashDigits, JobsHash, Seen, latest_work};
pub use self::simulated_machine::SimulatedMachine;
use self::simulated_machine::SimulatedMachines;
pub use self::sources::{FailureRequest, InputSources, PreparedWorkload};
use serde::Serialize;

use crate::estimates::{EstimateModel, EstimateSettings};
use crate::failures::{FailureTrace, FailuresByLoad, LanlTable};
use crate::random::StreamSeed;
use crate::study::{SimulationSpec, Studies};
use crate::workload::workflows::{Negatives, Workflow};
use crate::workload::{
    Job, JobLog, MixedWorkload, ParsedTrace, RequestSettings, UsableJobs, WorkloadSettings,
    generate_requests, job_log, shaken, window,
};
use bookahead_core::memory::MemoryBudget;
use bookahead_core::workload::swf::SwfRecord;

/// Something that simulations read and that may change behind its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunInput {
    /// What it is called, with everything of the configuration that shapes it.
    pub source: String,
    /// The hash of its content.
    pub content: String,
}

/// The content of a simulation's inputs, known once they are loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContentHashes {
    /// The jobs: hash of the trace's content, or of the generated jobs.
    pub workload: String,
    /// The replayed failures; `None` where they follow from settings and seed alone.
    pub failures: Option<String>,
    /// The jobs of the sites behind the first, of a study of provisioning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// The file of the workflow; `None` where it was drawn, and without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The file of the machine with its list of names; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// Folders in which inputs are looked for when they are not found as they stand, and how much
/// memory inputs may take.
#[derive(Clone, Debug, Default)]
pub struct InputFolders {
    /// Traces: the environment variable `BOOKAHEAD_TRACES`.
    pub traces: Option<PathBuf>,
    /// Failure data: the environment variable `BOOKAHEAD_FAILURES`, else a folder `failures` beside
    /// the folder of traces.
    pub failures: Option<PathBuf>,
    /// Workflows: the environment variable `BOOKAHEAD_WORKFLOWS`.
    pub workflows: Option<PathBuf>,
    /// What the records of all inputs may take together, with the jobs made of them.
    pub memory: MemoryBudget,
}

impl InputFolders {
    /// The folders that the environment names, without a limit of memory.
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
            memory: MemoryBudget::UNLIMITED,
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
    /// The machine as its operators configure it.
    #[error("the machine cannot be prepared: {0}")]
    Machine(String),
    /// Settings that do not fit what was read.
    #[error("its simulations cannot begin: {0}")]
    Simulation(String),
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
    studies: Studies,
    sources: InputSources,
    /// Whether simulations keep the outcome of every job.
    pub keep_outcomes: bool,
    /// Whether they also keep what a study samples, of which there is much.
    pub keep_samples: bool,
    /// Whether it is measured how long their decisions take.
    pub time_decisions: bool,
    pub(crate) records: Cache<ParsedTrace>,
    /// Of logs whose fresh replications share them.
    usable: Cache<UsableJobs>,
    workloads: Cache<PreparedWorkload>,
    models: Cache<EstimateModel>,
    tables: Cache<Option<LanlTable>>,
    failures: Cache<FailureTrace>,
    possible_failures: Cache<FailuresByLoad>,
    pub(crate) seen: SeenCache,
    /// What studies share among their simulations, by type.
    shared: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Inputs {
    /// No inputs yet; simulations will keep every job's outcome or totals only.
    #[must_use]
    pub fn new(studies: Studies, sources: InputSources, keep_outcomes: bool) -> Self {
        Self {
            studies,
            sources,
            keep_outcomes,
            keep_samples: false,
            time_decisions: false,
            records: Cache::default(),
            usable: Cache::default(),
            workloads: Cache::default(),
            models: Cache::default(),
            tables: Cache::default(),
            failures: Cache::default(),
            possible_failures: Cache::default(),
            seen: SeenCache::default(),
            shared: Mutex::default(),
        }
    }

    /// The studies of the program, with their policies.
    #[must_use]
    pub fn studies(&self) -> Studies {
        self.studies
    }

    /// The same for simulations that also keep what a study samples (slots that are advertised,
    /// starts that are offered).
    #[must_use]
    pub fn keeping_samples(self, keep_samples: bool) -> Self {
        Self {
            keep_samples,
            ..self
        }
    }

    /// The workload's name for people.
    ///
    /// # Errors
    ///
    /// When the workload cannot be prepared.
    pub fn label(&self, spec: &SimulationSpec) -> Result<String, Arc<InputError>> {
        Ok(self.workload(spec)?.label.clone())
    }

    /// What a study shares among its simulations: one value a type, empty at first.
    pub fn shared<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let value = all
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value)
            .downcast()
            .expect("a value is kept under its own type")
    }

    /// What cleaning dropped of the workloads that were made so far, by name; of workloads with one
    /// name but several rules, the greatest loss.
    pub fn losses(&self) -> Vec<RecordLoss> {
        let mut losses: BTreeMap<String, RecordLoss> = BTreeMap::new();
        for workload in self.workloads.made() {
            let Some(loss) = RecordLoss::of(&workload.label, &workload.cleaning) else {
                continue;
            };
            let known = losses.get(&loss.workload);
            if known.is_none_or(|known| known.total() < loss.total()) {
                losses.insert(loss.workload.clone(), loss);
            }
        }
        losses.into_values().collect()
    }

    /// What a reader should know of the machines of these simulations, and of others whose
    /// workloads were made so far: sites have workloads of their own.
    ///
    /// # Errors
    ///
    /// When a workload cannot be prepared.
    pub fn machines(
        &self,
        specs: &[SimulationSpec],
    ) -> Result<Vec<SimulatedMachine>, Arc<InputError>> {
        let mut machines = SimulatedMachines::default();
        for spec in specs {
            machines.add_load(&self.label(spec)?, spec);
        }
        for workload in self.workloads.made() {
            machines.add(&workload);
        }
        Ok(machines.worth_a_word())
    }

    /// Settings with the same text share records.
    pub fn source_key(&self, settings: &WorkloadSettings) -> String {
        self.sources.source_key(settings)
    }

    /// A text that names the workload with everything that shapes its jobs.
    pub fn workload_key(&self, settings: &WorkloadSettings) -> String {
        self.sources.workload_key(settings)
    }

    /// Reads the workflow in a file, with the hash of the file's content.
    pub fn workflow(
        &self,
        file: &str,
        negatives: Negatives,
    ) -> Result<(Workflow, String), InputError> {
        self.sources.workflow(file, negatives)
    }

    /// What the random streams of a simulation derive from, beside their names.
    pub fn seed(&self, spec: &SimulationSpec) -> StreamSeed {
        StreamSeed {
            seed: spec.seed,
            workload_key: self.sources.workload_key(&spec.workload),
            replication: spec.replication,
        }
    }

    /// The jobs that stay jobs and the requests for reservations that are made from the others.
    pub fn jobs_and_requests(
        &self,
        spec: &SimulationSpec,
        requests: &RequestSettings,
        jobs: &[Job],
    ) -> MixedWorkload {
        // The source alone: exact and recorded estimates, and every admission rule, see the same
        // requests.
        let key = self.sources.source_key(&spec.workload);
        generate_requests(jobs, requests, spec.seed, &key, spec.replication)
    }

    /// The jobs of the simulation's replication.
    pub fn battery(
        &self,
        workload: &PreparedWorkload,
        spec: &SimulationSpec,
    ) -> Result<Arc<[Job]>, Arc<InputError>> {
        // A whole trace is the same in every replication, unless it is shaken or cut into windows:
        // what differs is drawn from it.
        let whole = spec.workload.whole.as_ref();
        let shake = whole.map_or(0, |whole| whole.shake_seconds);
        let has_one = whole.is_some() || spec.workload.fresh;
        let battery = if has_one {
            0
        } else {
            spec.replication as usize
        };
        let jobs = workload
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
            })?;
        let jobs = match whole.and_then(|whole| whole.windows.as_ref()) {
            None => jobs,
            Some(windows) => window(&workload.label, &jobs, windows, spec.replication)
                .map_err(|error| InputError::Workload(error.to_string()))?,
        };
        Ok(match shake {
            0 => jobs,
            most => shaken(&jobs, most, &mut self.seed(spec).stream("shake")),
        })
    }

    /// The cleaned and scaled jobs of a simulation.
    pub fn workload(
        &self,
        spec: &SimulationSpec,
    ) -> Result<Arc<PreparedWorkload>, Arc<InputError>> {
        self.workload_of(&spec.workload, spec.seed, spec.replication)
    }

    /// The cleaned and scaled jobs of these settings.
    ///
    /// # Errors
    ///
    /// When they cannot be prepared.
    pub fn workload_of(
        &self,
        settings: &WorkloadSettings,
        seed: u64,
        replication: u32,
    ) -> Result<Arc<PreparedWorkload>, Arc<InputError>> {
        let draw = settings.draw_of(replication);
        // A trace may be refused whose jobs another simulation takes: that is not in the name.
        let drawn = format!(
            "{seed}|{}|{:?}|{draw}",
            self.sources.workload_key(settings),
            settings.cleaning.missing_estimate,
        );
        let key = format!("{drawn}|{}", settings.workload_of(replication));
        let usable = || {
            let source = format!("{seed}|{}|{draw}", self.sources.source_key(settings));
            let records = self.records.get(source, || {
                self.sources.records(settings, seed, draw, self.held())
            })?;
            Ok::<_, Arc<InputError>>((self.sources).usable(&records, settings, seed, draw)?)
        };
        self.workloads.get_shared(key, || {
            let usable = if settings.fresh && settings.is_log() {
                self.usable.get_shared(drawn, usable)?
            } else {
                Arc::new(usable()?)
            };
            Ok((self.sources).workload(&usable, settings, seed, replication)?)
        })
    }

    /// The records of a workload before cleaning. They are not kept for it: they take several times
    /// as much as the jobs.
    pub fn raw_records(&self, spec: &SimulationSpec) -> Result<ParsedTrace, InputError> {
        let draw = spec.workload.draw_of(spec.replication);
        (self.sources).records(&spec.workload, spec.seed, draw, self.held())
    }

    /// Bytes that records and jobs take that are kept already.
    fn held(&self) -> u64 {
        let records = (self.records.made().iter())
            .map(|trace| trace.records.len() * size_of::<SwfRecord>())
            .sum::<usize>();
        // Fresh replications of a log learn from one cleaned log, each up to its own battery.
        let mut learning: BTreeMap<*const Job, usize> = BTreeMap::new();
        let mut jobs = 0;
        for workload in self.workloads.made() {
            jobs += workload
                .batteries
                .iter()
                .map(|jobs| jobs.len())
                .sum::<usize>();
            let longest = learning.entry(workload.learning.as_ptr()).or_default();
            *longest = workload.learning.len().max(*longest);
        }
        jobs += learning.values().sum::<usize>();
        (records + jobs * size_of::<Job>()) as u64
    }

    /// What the log of a workload says of its jobs beyond what they asked for.
    pub fn job_log(&self, spec: &SimulationSpec) -> Result<Arc<JobLog>, Arc<InputError>> {
        let key = self.records_key(spec);
        self.shared::<Cache<JobLog>>()
            .get(key, || Ok(job_log(&self.raw_records(spec)?.records)))
    }

    /// The statistics that a simulation reads, learned from the jobs before its own; `None` where
    /// it reads none.
    ///
    /// # Errors
    ///
    /// When its workload cannot be prepared, or nothing can be learned from it.
    pub fn estimates(
        &self,
        spec: &SimulationSpec,
    ) -> Result<Option<Arc<EstimateModel>>, Arc<InputError>> {
        let Some(settings) = &spec.estimates else {
            return Ok(None);
        };
        let workload = self.workload(spec)?;
        self.model(spec, &workload, settings).map(Some)
    }

    /// The statistics that are learned from the jobs before the evaluated ones.
    pub fn model(
        &self,
        spec: &SimulationSpec,
        workload: &PreparedWorkload,
        settings: &EstimateSettings,
    ) -> Result<Arc<EstimateModel>, Arc<InputError>> {
        self.models.get(self.model_key(spec, settings), || {
            self.sources.estimates(workload, settings)
        })
    }

    /// The statistics that are learned from other jobs; `place` says which.
    pub fn model_from(
        &self,
        spec: &SimulationSpec,
        settings: &EstimateSettings,
        place: &str,
        learning: impl FnOnce() -> PreparedWorkload,
    ) -> Result<Arc<EstimateModel>, Arc<InputError>> {
        let key = format!("{}|{place}", self.model_key(spec, settings));
        self.models
            .get(key, || self.sources.estimates(&learning(), settings))
    }

    fn model_key(&self, spec: &SimulationSpec, settings: &EstimateSettings) -> String {
        let workload = self.sources.workload_key(&spec.workload);
        let own = spec.workload.workload_of(spec.replication);
        format!(
            "{}|{workload}|{own}|{}",
            spec.seed,
            canonical_text(settings)
        )
    }

    /// Simulations with the same text read the same records.
    pub fn records_key(&self, spec: &SimulationSpec) -> String {
        let source = self.sources.source_key(&spec.workload);
        let draw = spec.workload.draw_of(spec.replication);
        format!("{}|{source}|{draw}", spec.seed)
    }
}
