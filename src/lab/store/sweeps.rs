//! Sweeps into a store: what [`run_planned`] does, with inputs from files and results in SQLite.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use kameo::actor::ActorRef;

use super::metrics::METRICS;
use super::writer_actor::Entered;
use super::{PendingSimulation, RunId, RunRecord, Store, StoreError, Writer, WriterHandle};
use crate::keys::nearest;
use crate::study::Studies;
use crate::sweep::{
    Coordinator, Decision, Durability, EarlierWork, FailedSimulation, FinishedSimulation, Identity,
    InputSources, NoStore, OutcomeDetail, Plan, Point, ResultSink, ResultStore, RunState,
    SimulationProgress, SimulationSpec, SinkError, Sweep, SweepError, SweepOptions, SweepSummary,
    Task, load_inputs, plan, prepare_all, require_results, run_planned,
};

/// Runs a sweep into the store that the options name, or goes on with it: points that are done are
/// not run again. With [`OutcomeDetail::None`] no store is touched.
///
/// Several sweeps may follow each other into one store; each shows its own progress.
///
/// # Errors
///
/// When an input is missing or faulty, or when the store cannot be used.
pub fn run_sweep(mut sweep: Sweep, options: &SweepOptions) -> Result<SweepSummary, SweepError> {
    require_results(&sweep, options)?;
    require_quantities(&sweep, options.studies)?;
    let inputs = load_inputs(&mut sweep, InputSources::new(&options.folders), options)?;
    let mut store: Box<dyn ResultStore> = if options.outcomes == OutcomeDetail::None {
        Box::new(NoStore)
    } else {
        Box::new(
            StoreFile::open(options.studies, &options.store, options.durability)
                .map_err(SweepError::Store)?,
        )
    };
    let inputs = Arc::new(inputs);
    run_planned(
        &Arc::new(sweep),
        Arc::clone(&inputs) as _,
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
    require_quantities(&sweep, options.studies)?;
    load_inputs(&mut sweep, InputSources::new(&options.folders), options)?;
    let plan = plan_in_store(&sweep, options)?;
    Ok((sweep, plan))
}

/// The same, and everything made that the simulations read: what is missing or faulty for one of
/// them is an error already here.
///
/// # Errors
///
/// As [`dry_run`], and when a simulation could not begin.
pub fn check(mut sweep: Sweep, options: &SweepOptions) -> Result<(Sweep, Plan), SweepError> {
    require_quantities(&sweep, options.studies)?;
    let inputs = load_inputs(&mut sweep, InputSources::new(&options.folders), options)?;
    let plan = plan_in_store(&sweep, options)?;
    prepare_all(&sweep, &plan, &|spec| inputs.prepare(spec), options)?;
    Ok((sweep, plan))
}

/// Refuses a rule that reads what is measured by no simulation of the sweep.
fn require_quantities(sweep: &Sweep, studies: Studies) -> Result<(), SweepError> {
    let Some(rule) = &sweep.rule else {
        return Ok(());
    };
    let metrics = METRICS.iter().map(|metric| metric.name);
    for quantity in rule.quantities() {
        let is_measured = |kind: &SimulationSpec| {
            let own = kind.study.measures().iter();
            own.map(|measure| measure.name).any(|name| name == quantity)
                || studies.quantity(quantity).is_some()
        };
        let mut kinds = sweep.simulations.kinds().iter();
        if metrics.clone().any(|name| name == quantity) || kinds.all(is_measured) {
            continue;
        }
        let kinds = sweep.simulations.kinds().iter();
        let own = kinds.flat_map(|kind| kind.study.measures().iter().map(|measure| measure.name));
        let known: BTreeSet<&str> = metrics.clone().chain(own).collect();
        let known: Vec<&str> = known.into_iter().collect();
        let help = match nearest(quantity, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`bookahead list metrics` says what each study measures".to_owned(),
        };
        return Err(SweepError::Rule(format!(
            "{}: `{quantity}` is not measured by every simulation of this experiment; {help}",
            rule.quantity_key()
        )));
    }
    Ok(())
}

/// What is left to do, where there is a store in the light of what it has.
fn plan_in_store(sweep: &Sweep, options: &SweepOptions) -> Result<Plan, SweepError> {
    let nothing_kept = options.outcomes == OutcomeDetail::None || !options.store.exists();
    if nothing_kept {
        return plan(sweep, &NoStore, options);
    }
    let store = Store::open_read_only(options.studies, &options.store)
        .map_err(|error| SweepError::Store(stopped(&error)))?;
    plan(sweep, &StoreFile::Open(store), options)
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
    pub fn open(studies: Studies, path: &Path, durability: Durability) -> Result<Self, SinkError> {
        Store::open(studies, path)
            .and_then(|store| store.with_durability(durability))
            .map(Self::Open)
            .map_err(|error| stopped(&error))
    }

    /// A handle to the writer of the run under way.
    fn handle(&self) -> Result<WriterHandle, SinkError> {
        match self {
            Self::Writing { writer, .. } => Ok(writer.handle()),
            Self::Open(_) | Self::Closed { .. } => {
                Err(SinkError::Stopped("no run has begun".to_owned()))
            }
        }
    }
}

/// Tasks in the order of the sweep, not in that of the work: the numbers of rows then follow from
/// the sweep alone.
fn in_order<'t>(sweep: &Sweep, tasks: &'t [Task]) -> Vec<&'t Task> {
    let mut tasks: Vec<&Task> = tasks.iter().collect();
    tasks.sort_by_key(|task| task.points.first().map(|point| sweep.points[*point].place));
    tasks
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

    fn link(&self, coordinator: &ActorRef<Coordinator>) {
        WriterHandle::link(self, coordinator);
    }
}

impl ResultStore for StoreFile {
    fn done(&self, sweep: &Sweep, detail: OutcomeDetail) -> Result<HashSet<Identity>, SinkError> {
        match self {
            Self::Open(store) => store
                .done_points(sweep.points.iter().map(|point| point.id), detail)
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
        let mut record = RunRecord::of(sweep, store.studies);
        if sweep.rule.is_some() {
            // So many so far: further rungs add theirs.
            let pending = pending.iter().map(|task| task.points.len());
            record.points = (done.len() + pending.sum::<usize>()) as u64;
        }
        let run = store.begin_run(&record).map_err(|error| stopped(&error))?;
        store
            .begin_rule(run, sweep)
            .map_err(|error| stopped(&error))?;
        store
            .link_done_points(run, done)
            .map_err(|error| stopped(&error))?;
        let pending = in_order(sweep, pending)
            .into_iter()
            .map(|task| PendingSimulation {
                id: sweep.simulation_ids[task.simulation],
                spec: sweep.simulations.get(task.simulation),
                points: task
                    .points
                    .iter()
                    .map(|point| &sweep.points[*point])
                    .collect(),
            });
        store
            .enter_pending(run, pending, fresh)
            .map_err(|error| stopped(&error))?;
        let writer = Writer::start(store, run, detail, queue);
        let handle = writer.handle();
        *self = Self::Writing { run, writer };
        Ok(Arc::new(handle))
    }

    fn enter(
        &mut self,
        sweep: &Sweep,
        done: &[Point],
        pending: &[Task],
        fresh: bool,
    ) -> Result<(), SinkError> {
        let pending = in_order(sweep, pending).into_iter().map(|task| {
            let points = task.points.iter().map(|point| sweep.points[*point].clone());
            (
                sweep.simulation_ids[task.simulation],
                sweep.simulations.get(task.simulation),
                points.collect(),
            )
        });
        let entered = Entered {
            done: done.to_vec(),
            pending: pending.collect(),
            fresh,
        };
        let handle = self.handle()?;
        handle.enter(entered).map_err(|error| stopped(&error))
    }

    fn values(&self, quantity: &str, points: &[Identity]) -> Result<Vec<Option<f64>>, SinkError> {
        let values = self.handle()?.values(quantity, points);
        values.map_err(|error| stopped(&error))
    }

    fn decide(&mut self, decisions: Vec<Decision>) -> Result<(), SinkError> {
        let decided = self.handle()?.decide(decisions);
        decided.map_err(|error| stopped(&error))
    }

    fn earlier_work(&self, sweep: &Sweep) -> Result<EarlierWork, SinkError> {
        let Self::Open(store) = self else {
            return Err(begun());
        };
        store
            .earlier_work(&RunRecord::of(sweep, store.studies), &sweep.simulation_ids)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::testing::STUDIES;
    use crate::sweep::Experiment;

    const TEXT: &str = r#"[experiment]
name = "begins"
replications = 2
[workload]
model = "lublin-feitelson"
jobs = 5000
nodes = 128
battery_jobs = 100
load.value = 2.0
[scheduling]
strategy = "heuristic-overbooking"
[[axis]]
key = "acceptance.pof_max"
values = [0.1, THRESHOLD]
"#;

    fn sweep(threshold: &str) -> Sweep {
        let text = TEXT.replace("THRESHOLD", threshold);
        Experiment::parse(STUDIES, "begins.toml", &text, None)
            .unwrap()
            .sweep
    }

    #[test]
    fn a_setting_that_no_simulation_can_begin_with_is_found_before_the_first_point() {
        let folder = tempfile::tempdir().unwrap();
        let options = SweepOptions {
            quiet: true,
            ..SweepOptions::new(STUDIES, folder.path().join("store.db"))
        };
        check(sweep("0.9"), &options).unwrap();
        let checked = check(sweep("1.0"), &options).unwrap_err().to_string();
        let run = run_sweep(sweep("1.0"), &options).unwrap_err().to_string();
        assert!(
            checked.contains("its simulations cannot begin"),
            "{checked}"
        );
        assert!(checked.contains("certain-failure"), "{checked}");
        assert_eq!(run, checked);
        let store = Store::open_read_only(STUDIES, &options.store).unwrap();
        assert!(store.runs().unwrap().is_empty(), "no run was begun");
    }
}
