//! The sweep in the house: its inputs made by the real rooms, its results in the real store.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::coordinator::Task;
use super::inputs::{FailureRequest, InputError, InputFolders, PreparedWorkload, Rooms};
use super::run::{Plan, SweepError, SweepOptions, SweepSummary, load_inputs, plan, run_planned};
use super::sink::{
    EarlierWork, FailedSimulation, FinishedSimulation, NoStore, OutcomeDetail, ResultSink,
    ResultStore, RunState, SimulationProgress, SinkError,
};
use super::spec::{Point, Sweep};
use crate::estimates::{EstimateModel, EstimateSettings, LearningJobs};
use crate::failures::{self, FailureFolder, FailureSettings, FailureTrace, LanlTable};
use crate::store::{PendingSimulation, RunId, RunRecord, Store, StoreError, Writer, WriterHandle};
use crate::workload::workflows::{Negatives, Workflow, WorkflowFolder};
use crate::workload::{self, Job, ParsedTrace, TraceFolder, WorkloadSettings};

/// Runs a sweep into the store that the options name, or goes on with it: points that are done are not run again. With
/// [`OutcomeDetail::None`] no store is touched.
///
/// Several sweeps may follow each other into one store; each shows its own progress.
///
/// # Errors
///
/// When an input is missing or faulty, or when the store cannot be used.
pub fn run_sweep(mut sweep: Sweep, options: &SweepOptions) -> Result<SweepSummary, SweepError> {
    let inputs = load_inputs(&mut sweep, HouseRooms::new(&options.folders), options)?;
    let mut store: Box<dyn ResultStore> = if options.outcomes == OutcomeDetail::None {
        Box::new(NoStore)
    } else {
        Box::new(StoreFile::open(&options.store).map_err(SweepError::Store)?)
    };
    run_planned(
        &sweep,
        &inputs,
        &|spec| inputs.prepare(spec),
        store.as_mut(),
        options,
    )
}

/// The identified sweep and what is left of it to do, without running anything or making a store.
///
/// # Errors
///
/// When an input is missing or faulty, or when there is a store that cannot be read.
pub fn dry_run(mut sweep: Sweep, options: &SweepOptions) -> Result<(Sweep, Plan), SweepError> {
    load_inputs(&mut sweep, HouseRooms::new(&options.folders), options)?;
    let nothing_kept = options.outcomes == OutcomeDetail::None || !options.store.exists();
    let plan = if nothing_kept {
        plan(&sweep, &NoStore, options)?
    } else {
        let store = Store::open_read_only(&options.store)
            .map_err(|error| SweepError::Store(stopped(&error)))?;
        plan(&sweep, &StoreFile::Open(store), options)?
    };
    Ok((sweep, plan))
}

/// The rooms of this crate, behind what a sweep asks of them.
#[derive(Clone, Debug)]
pub struct HouseRooms {
    traces: TraceFolder,
    failures: FailureFolder,
    workflows: WorkflowFolder,
}

impl HouseRooms {
    /// Rooms that look for files in these folders.
    #[must_use]
    pub fn new(folders: &InputFolders) -> Self {
        Self {
            traces: TraceFolder {
                path: folders.traces.clone(),
            },
            failures: FailureFolder {
                path: folders.failures.clone(),
            },
            workflows: WorkflowFolder {
                path: folders.workflows.clone(),
            },
        }
    }
}

impl Rooms for HouseRooms {
    type Records = ParsedTrace;
    type FailureTable = Option<LanlTable>;

    fn source_key(&self, settings: &WorkloadSettings) -> String {
        settings.source_key()
    }

    fn workload_key(&self, settings: &WorkloadSettings) -> String {
        settings.key()
    }

    fn records(&self, settings: &WorkloadSettings, seed: u64) -> Result<ParsedTrace, InputError> {
        workload::load(&settings.source, settings.nodes, &self.traces, seed)
            .map_err(|error| InputError::Workload(error.to_string()))
    }

    fn workload(
        &self,
        records: &ParsedTrace,
        settings: &WorkloadSettings,
        seed: u64,
    ) -> Result<PreparedWorkload, InputError> {
        let workload = workload::prepare_parsed(records, settings, seed)
            .map_err(|error| InputError::Workload(error.to_string()))?;
        Ok(PreparedWorkload {
            label: workload.label,
            learning: workload.learning,
            batteries: workload.batteries,
            first_factor: workload.factors.first().copied().unwrap_or(1.0),
            content_hash: workload.content_hash,
        })
    }

    fn estimates(
        &self,
        workload: &PreparedWorkload,
        settings: &EstimateSettings,
    ) -> Result<EstimateModel, InputError> {
        let evaluated: Vec<Job>;
        let learning = match settings.learn_from {
            LearningJobs::Before => &workload.learning,
            LearningJobs::Evaluated => {
                evaluated = workload
                    .batteries
                    .iter()
                    .flat_map(|battery| battery.iter().cloned())
                    .collect();
                &evaluated
            }
        };
        EstimateModel::learn(learning, settings).map_err(|error| InputError::Estimates {
            workload: workload.label.clone(),
            reason: error.to_string(),
        })
    }

    fn failure_table(&self, settings: &FailureSettings) -> Result<Option<LanlTable>, InputError> {
        failures::read_table(settings, &self.failures)
            .map_err(|error| InputError::Failures(error.to_string()))
    }

    fn failures(
        &self,
        table: &Option<LanlTable>,
        request: &FailureRequest<'_>,
    ) -> Result<FailureTrace, InputError> {
        failures::prepare_with_table(
            request.settings,
            table.as_ref(),
            request.nodes,
            request.horizon,
            request.seed,
            request.workload_key,
            request.replication,
        )
        .map_err(|error| InputError::Failures(error.to_string()))
    }

    fn workflow(&self, file: &str, negatives: Negatives) -> Result<(Workflow, String), InputError> {
        let read = self.workflows.read(file, negatives);
        let (read, hash) = read.map_err(|error| InputError::Workflow(error.to_string()))?;
        Ok((read.workflow, hash))
    }
}

/// A store's file as a sweep sees it: first open, then with a writer that owns it.
#[derive(Debug)]
pub enum StoreFile {
    /// Before the run begins.
    Open(Store),
    /// While the run goes on.
    Writing {
        /// The run.
        run: RunId,
        /// The one writer.
        writer: Writer,
    },
    /// After the run.
    Closed {
        /// The run, where there was one.
        run: Option<RunId>,
    },
}

impl StoreFile {
    /// Opens a store, or makes one.
    ///
    /// # Errors
    ///
    /// When the file cannot be used.
    pub fn open(path: &Path) -> Result<Self, SinkError> {
        Store::open(path)
            .map(Self::Open)
            .map_err(|error| stopped(&error))
    }
}

fn stopped(error: &StoreError) -> SinkError {
    SinkError::Stopped(error.to_string())
}

impl ResultSink for WriterHandle {
    fn write(&self, finished: FinishedSimulation) -> Result<(), SinkError> {
        WriterHandle::write(self, finished).map_err(|error| match error {
            StoreError::InvalidResult { .. } => SinkError::Refused(error.to_string()),
            other => stopped(&other),
        })
    }

    fn fail(&self, failed: FailedSimulation) -> Result<(), SinkError> {
        WriterHandle::fail(self, failed).map_err(|error| stopped(&error))
    }

    fn started(&self, id: &str) -> Result<(), SinkError> {
        WriterHandle::started(self, id).map_err(|error| stopped(&error))
    }

    fn adopt(&self, id: &str, points: Vec<Point>) -> Result<(), SinkError> {
        WriterHandle::adopt(self, id, points).map_err(|error| stopped(&error))
    }

    fn progress(&self, id: &str) -> SimulationProgress {
        WriterHandle::progress(self, id)
    }
}

impl ResultStore for StoreFile {
    fn done(&self, ids: &[&str], detail: OutcomeDetail) -> Result<HashSet<String>, SinkError> {
        match self {
            Self::Open(store) => store
                .done_points_in_detail(ids, detail)
                .map_err(|error| stopped(&error)),
            Self::Writing { .. } | Self::Closed { .. } => Err(begun()),
        }
    }

    fn begin(
        &mut self,
        sweep: &Sweep,
        done: &[Point],
        pending: &[Task],
        fresh: bool,
        detail: OutcomeDetail,
        queue: usize,
    ) -> Result<Arc<dyn ResultSink>, SinkError> {
        let Self::Open(store) = std::mem::replace(self, Self::Closed { run: None }) else {
            return Err(begun());
        };
        let run = store
            .begin_run(&RunRecord::of(sweep))
            .map_err(|error| stopped(&error))?;
        store
            .link_done_points(run, done)
            .map_err(|error| stopped(&error))?;
        // In the order of the sweep, not in that of the work: the numbers of rows then follow from the sweep alone.
        let mut pending: Vec<&Task> = pending.iter().collect();
        pending.sort_by_key(|task| task.points.first().map(|point| sweep.points[*point].place));
        let pending: Vec<PendingSimulation<'_>> = pending
            .into_iter()
            .map(|task| PendingSimulation {
                id: &sweep.simulation_ids[task.simulation],
                spec: &sweep.simulations[task.simulation],
                points: task
                    .points
                    .iter()
                    .map(|point| &sweep.points[*point])
                    .collect(),
            })
            .collect();
        store
            .enter_pending(run, &pending, fresh)
            .map_err(|error| stopped(&error))?;
        let writer = Writer::start(store, run, detail, queue);
        let handle = writer.handle();
        *self = Self::Writing { run, writer };
        Ok(Arc::new(handle))
    }

    fn earlier_work(&self, sweep: &Sweep) -> Result<EarlierWork, SinkError> {
        let Self::Open(store) = self else {
            return Err(begun());
        };
        let ids: Vec<&str> = sweep.simulation_ids.iter().map(String::as_str).collect();
        store
            .earlier_work(&RunRecord::of(sweep), &ids)
            .map_err(|error| stopped(&error))
    }

    fn seconds_per_job(&self) -> BTreeMap<String, f64> {
        match self {
            // Without them the estimate is rougher, and nothing else.
            Self::Open(store) => store.seconds_per_job().unwrap_or_default(),
            Self::Writing { .. } | Self::Closed { .. } => BTreeMap::new(),
        }
    }

    fn finish(&mut self, state: RunState) -> Result<(), SinkError> {
        match std::mem::replace(
            self,
            Self::Closed {
                run: self.run().map(RunId),
            },
        ) {
            Self::Writing { writer, .. } => writer
                .finish(state)
                .map(drop)
                .map_err(|error| stopped(&error)),
            Self::Open(_) | Self::Closed { .. } => Ok(()),
        }
    }

    fn run(&self) -> Option<i64> {
        match self {
            Self::Open(_) => None,
            Self::Writing { run, .. } => Some(run.0),
            Self::Closed { run } => run.map(|run| run.0),
        }
    }
}

fn begun() -> SinkError {
    SinkError::Stopped("the run has begun already".to_owned())
}
