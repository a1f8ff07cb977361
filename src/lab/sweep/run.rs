//! A sweep from beginning to end: inputs, what is done already, the work, the store, the summary.

mod summary;

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::actors::{Simulate, SweepWork, Tally, work_off};
use super::cost::{CostModel, megabytes, wall_time};
use super::digest::Identity;
use super::interrupt::Interrupt;
use super::progress::{Progress, while_working};
use super::results::{Durability, EarlierWork, OutcomeDetail, RunState, SinkError};
use super::shard::Shard;
use super::sink::ResultStore;
use super::spec::{Point, SimulationSpec, Sweep, Task};
use super::tasks::tasks;
use crate::study::Studies;
use crate::study::inputs::parallel::map_in_parallel;
use crate::study::inputs::{InputError, InputFolders, InputSources, Inputs};

pub use summary::SweepSummary;

/// How a sweep is run; nothing here changes a result.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// The studies of the program.
    pub studies: Studies,
    /// The store's file.
    pub store: PathBuf,
    /// Workers, each with a thread.
    pub workers: usize,
    /// How much of the results is kept.
    pub outcomes: OutcomeDetail,
    /// What a power failure may cost.
    pub durability: Durability,
    /// Whether simulations that failed before are tried again.
    pub retry_failed: bool,
    /// Whether everything is computed anew, whatever the store has; older runs keep their results.
    pub fresh: bool,
    /// Whether it is measured how long decisions take.
    pub time_decisions: bool,
    /// The share of the sweep that is run; `None` for all of it.
    pub shard: Option<Shard>,
    /// No bar, only a log line now and then.
    pub quiet: bool,
    /// Where inputs are looked for.
    pub folders: InputFolders,
    /// Whose wish to stop is heeded.
    pub interrupt: Interrupt,
}

impl SweepOptions {
    /// Options with all cores, everything kept, and the folders that the environment names.
    #[must_use]
    pub fn new(studies: Studies, store: PathBuf) -> Self {
        Self {
            studies,
            store,
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            outcomes: OutcomeDetail::All,
            durability: Durability::default(),
            retry_failed: false,
            fresh: false,
            time_decisions: false,
            shard: None,
            quiet: false,
            folders: InputFolders::from_environment(),
            interrupt: Interrupt::new(),
        }
    }
}

/// Why a sweep could not be run.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A trace or another input is missing or faulty.
    #[error("{0}")]
    Input(Arc<InputError>),
    /// The store cannot be used.
    #[error("{0}")]
    Store(SinkError),
    /// The store broke under way; what it has committed stays.
    #[error("the sweep stopped: {0}")]
    Broken(SinkError),
}

/// What is to be done, said before it begins.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Points of the sweep, or of the share.
    pub points: usize,
    /// Their simulations.
    pub simulations: usize,
    /// Which share of the sweep this is, with the points of all shares.
    pub shard: Option<(Shard, usize)>,
    /// Points that are done already.
    pub done: usize,
    /// Which they are: indices into [`Sweep::points`].
    pub done_points: Vec<usize>,
    /// What is left, dearest first.
    pub tasks: Vec<Task>,
    /// What failed before and is not tried again.
    pub failed: Vec<Task>,
    /// Points of tasks whose simulation is done already, in another sweep or at another price:
    /// nothing is left but to note them.
    pub read_off: usize,
    /// How many of the tasks a live process has under way: they come last.
    pub elsewhere: usize,
    /// What else a person should know: results of other programs, inputs that have changed.
    pub remarks: Vec<String>,
    /// Expected wall time.
    pub wall: Duration,
    /// Expected growth of the store.
    pub megabytes: f64,
    /// Workers that the wall time is for.
    pub workers: usize,
}

impl Plan {
    /// Plans the points that are not among `done`, in the light of earlier work.
    #[must_use]
    pub fn new(
        sweep: &Sweep,
        done: &HashSet<Identity>,
        earlier: &EarlierWork,
        costs: &CostModel,
        options: &SweepOptions,
    ) -> Self {
        let id = |task: &Task| &sweep.simulation_ids[task.simulation];
        let known = !sweep.simulation_ids.is_empty();
        let share = options.shard.map(|shard| shard.points(sweep));
        let is_ours = |point: &usize| share.as_ref().is_none_or(|share| share.contains(point));
        let (failed, mut tasks): (Vec<Task>, Vec<Task>) = tasks(sweep, done, costs)
            .into_iter()
            .filter(|task| task.points.first().is_some_and(is_ours))
            .partition(|task| {
                known
                    && !options.retry_failed
                    && !options.fresh
                    && earlier.failed.contains(id(task))
            });
        if known && !options.fresh && !earlier.elsewhere.is_empty() {
            // Another program works on the same points from the dear end: this one begins at the
            // cheap end, so that they meet once.
            tasks.reverse();
            tasks.sort_by_key(|task| earlier.elsewhere.contains(id(task)));
        }
        let elsewhere = tasks
            .iter()
            .filter(|task| known && earlier.elsewhere.contains(id(task)))
            .count();
        let is_done = |task: &Task| {
            let kept = earlier.done.get(id(task));
            known && !options.fresh && kept.is_some_and(|kept| *kept >= options.outcomes)
        };
        let (read_off, open): (Vec<&Task>, Vec<&Task>) =
            tasks.iter().partition(|task| is_done(task));
        let read_off = read_off.iter().map(|task| task.points.len()).sum();
        let seconds: Vec<f64> = open.iter().map(|task| task.seconds).collect();
        let ours = || (0..sweep.points.len()).filter(is_ours);
        let done_points: Vec<usize> = ours()
            .filter(|point| done.contains(&sweep.points[*point].id))
            .collect();
        let mut is_read = vec![false; sweep.simulations.len()];
        for point in ours() {
            is_read[sweep.points[point].simulation] = true;
        }
        Self {
            points: ours().count(),
            simulations: is_read.iter().filter(|is_read| **is_read).count(),
            shard: options.shard.map(|shard| (shard, sweep.points.len())),
            done: done_points.len(),
            done_points,
            wall: wall_time(&seconds, options.workers),
            megabytes: megabytes(
                open.iter()
                    .map(|task| sweep.simulations.kind(task.simulation)),
                options.outcomes,
            ),
            read_off,
            remarks: remarks(earlier, options),
            failed,
            elsewhere,
            tasks,
            workers: options.workers,
        }
    }
}

fn remarks(earlier: &EarlierWork, options: &SweepOptions) -> Vec<String> {
    let mut remarks = Vec::new();
    if !options.fresh {
        for (program, simulations) in &earlier.other_programs {
            remarks.push(format!(
                "{simulations} simulations that are done already were computed by bookahead {program}, this is {}; \
                 --fresh computes everything anew and leaves those to the older runs",
                program_of(options.studies)
            ));
        }
    }
    for source in &earlier.changed_inputs {
        remarks.push(format!(
            "the content of `{source}` has changed since the last run that read it: its points are new, those of the old \
             content stay with the older runs"
        ));
    }
    remarks
}

fn program_of(studies: Studies) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match studies.commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left: usize = self.tasks.iter().map(|task| task.points.len()).sum();
        if let Some((shard, all)) = self.shard {
            write!(formatter, "share {shard} of {all} points: ")?;
        }
        write!(
            formatter,
            "{} points ({} simulations), {} points done already, {left} points ({} simulations) to do: about {} \
             with {} {}, about {:.1} MB",
            self.points,
            self.simulations,
            self.done,
            self.tasks.len(),
            about(self.wall),
            self.workers,
            if self.workers == 1 {
                "worker"
            } else {
                "workers"
            },
            self.megabytes
        )?;
        let failed: usize = self.failed.iter().map(|task| task.points.len()).sum();
        if failed > 0 {
            write!(
                formatter,
                "; {failed} points failed before and are not tried again without --retry-failed"
            )?;
        }
        if self.elsewhere > 0 {
            write!(
                formatter,
                "; another program has {} of the simulations under way: they come last",
                self.elsewhere
            )?;
        }
        Ok(())
    }
}

/// A span in words that do not pretend to be exact.
#[must_use]
pub fn about(span: Duration) -> String {
    match span.as_secs() {
        0 => "a second".to_owned(),
        seconds @ 1..120 => format!("{} s", seconds + 1),
        seconds @ 120..7200 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

/// Loads the inputs of a sweep, gives its points their identities, and makes everything that
/// simulations read.
///
/// # Errors
///
/// When a trace or another input is missing or faulty.
pub fn load_inputs(
    sweep: &mut Sweep,
    sources: InputSources,
    options: &SweepOptions,
) -> Result<Inputs, SweepError> {
    let begun = Instant::now();
    let mut inputs = Inputs::new(
        options.studies,
        sources,
        options.outcomes != OutcomeDetail::None,
    )
    .keeping_samples(options.outcomes == OutcomeDetail::All);
    inputs.time_decisions = options.time_decisions;
    while_working("reading the inputs", options.quiet, || {
        inputs.identify_with(sweep, options.workers)
    })
    .map_err(SweepError::Input)?;
    tracing::debug!(
        seconds = begun.elapsed().as_secs_f64(),
        "inputs are read and points identified"
    );
    Ok(inputs)
}

/// Which points are done in the store, and what is left to do.
///
/// # Errors
///
/// When the store cannot be read.
pub fn plan(
    sweep: &Sweep,
    store: &dyn ResultStore,
    options: &SweepOptions,
) -> Result<Plan, SweepError> {
    let done = if options.fresh {
        HashSet::new()
    } else {
        store
            .done(sweep, options.outcomes)
            .map_err(SweepError::Store)?
    };
    Ok(Plan::new(
        sweep,
        &done,
        &store.earlier_work(sweep).map_err(SweepError::Store)?,
        &CostModel::new(store.seconds_per_job()),
        options,
    ))
}

/// Makes what the simulations of a plan read, so that what is missing is known before the first one
/// runs.
///
/// # Errors
///
/// When something cannot be made.
pub fn prepare_all(
    sweep: &Sweep,
    plan: &Plan,
    prepare: &(dyn Fn(&SimulationSpec) -> Result<(), Arc<InputError>> + Sync),
    options: &SweepOptions,
) -> Result<(), SweepError> {
    let preparing = Instant::now();
    while_working("making what simulations read", options.quiet, || {
        map_in_parallel(&plan.tasks, options.workers, &|task: &Task| {
            if options.interrupt.is_requested() {
                return Ok(());
            }
            prepare(&sweep.simulations.get(task.simulation))
        })
    })
    .map_err(SweepError::Input)?;
    tracing::debug!(
        seconds = preparing.elapsed().as_secs_f64(),
        "inputs of simulations are prepared"
    );
    Ok(())
}

/// Runs an identified sweep into a store. Says on the log what it will do, shows progress, and
/// heeds the wish to stop.
///
/// # Errors
///
/// When the store cannot be used any more. What it has committed stays.
pub fn run_planned(
    sweep: &Arc<Sweep>,
    simulate: Arc<dyn Simulate>,
    prepare: &(dyn Fn(&SimulationSpec) -> Result<(), Arc<InputError>> + Sync),
    store: &mut dyn ResultStore,
    options: &SweepOptions,
) -> Result<SweepSummary, SweepError> {
    let begun = Instant::now();
    let plan = plan(sweep, store, options)?;
    tracing::info!("{}: {plan}", sweep.name);
    for remark in &plan.remarks {
        tracing::warn!("{}: {remark}", sweep.name);
    }
    for remark in sweep.input_remarks() {
        match remark.is_warning {
            true => tracing::warn!("{}", remark.text),
            false => tracing::info!("{}", remark.text),
        }
    }
    prepare_all(sweep, &plan, prepare, options)?;
    let done_points: Vec<Point> = plan
        .done_points
        .iter()
        .map(|point| sweep.points[*point].clone())
        .collect();
    let pending = [plan.tasks.as_slice(), plan.failed.as_slice()].concat();
    let sink = store
        .begin(
            sweep,
            &done_points,
            &pending,
            options.fresh,
            options.outcomes,
            2 * options.workers.max(1),
        )
        .map_err(SweepError::Store)?;
    let progress = Arc::new(Progress::new(sweep, &plan.tasks, options.quiet));
    let worked = work_off(SweepWork {
        sweep: Arc::clone(sweep),
        tasks: plan.tasks.as_slice().into(),
        workers: options.workers,
        simulate,
        sink,
        observer: Arc::clone(&progress) as _,
        interrupt: options.interrupt.clone(),
    });
    progress.finish();
    let (state, tally) = match &worked {
        Ok(tally) if tally.left_out > 0 => (RunState::Interrupted, *tally),
        Ok(tally) => (RunState::Done, *tally),
        Err(_) => (RunState::Failed, Tally::default()),
    };
    let closed = store.finish(state);
    // The writer's own reason is better than that of a worker who found it gone.
    closed.map_err(SweepError::Broken)?;
    worked.map_err(SweepError::Broken)?;
    let summary = SweepSummary {
        run: store.run(),
        state,
        points: plan.points,
        done_before: done_points.len(),
        failed_before: plan.failed.iter().map(|task| task.points.len()).sum(),
        read_off: plan.read_off.min(tally.adopted_points),
        tally,
        wall: begun.elapsed(),
        fresh: options.fresh,
    };
    tracing::info!("{}: {summary}", sweep.name);
    Ok(summary)
}
