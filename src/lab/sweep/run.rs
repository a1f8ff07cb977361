//! A sweep from beginning to end: inputs, what is done already, the work, the store, the summary.

mod plan;
mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::actors::{ResultSink, Simulate, SweepWork, Tally, work_off};
use super::course::{Course, Rung};
use super::digest::Identity;
use super::interrupt::Interrupt;
use super::progress::{Progress, while_working};
use super::results::{Durability, OutcomeDetail, RunState, SinkError};
use super::shard::Shard;
use super::sink::ResultStore;
use super::spec::{Point, SimulationSpec, Sweep, Task};
use crate::study::Studies;
use crate::study::inputs::parallel::map_in_parallel;
use crate::study::inputs::{InputError, InputFolders, InputSources, Inputs};

pub use plan::{Known, Plan, about, plan, require_results, require_shares};
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
    /// The rule by which the sweep stops cannot be followed.
    #[error("{0}")]
    Rule(String),
    /// The store broke under way; what it has committed stays.
    #[error("the sweep stopped: {0}")]
    Broken(SinkError),
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
    let known = Known::of(sweep, store, options)?;
    let mut summary = SweepSummary::nothing(options.fresh);
    let ended = follow(
        sweep,
        &known,
        &simulate,
        prepare,
        store,
        options,
        &mut summary,
    );
    let state = *ended.as_ref().unwrap_or(&RunState::Failed);
    let closed = store.finish(state);
    // The writer's own reason is better than that of a worker who found it gone.
    closed.map_err(SweepError::Broken)?;
    ended?;
    let summary = SweepSummary {
        run: store.run(),
        state,
        wall: begun.elapsed(),
        ..summary
    };
    tracing::info!("{}: {summary}", sweep.name);
    Ok(summary)
}

/// Follows the course of a sweep to its end, or until somebody wishes it to stop.
fn follow(
    sweep: &Arc<Sweep>,
    known: &Known,
    simulate: &Arc<dyn Simulate>,
    prepare: &(dyn Fn(&SimulationSpec) -> Result<(), Arc<InputError>> + Sync),
    store: &mut dyn ResultStore,
    options: &SweepOptions,
    summary: &mut SweepSummary,
) -> Result<RunState, SweepError> {
    let mut course = Course::new(sweep);
    let mut sink = None;
    while let Some(rung) = course.rung() {
        let plan = Plan::new(sweep, &rung.points, known, options);
        say(sweep, &rung, &plan);
        prepare_all(sweep, &plan, prepare, options)?;
        let entered = enter(sweep, &plan, store, &mut sink, options)?;
        let tally = work_off_plan(sweep, &plan, simulate, entered, options);
        let tally = tally.map_err(SweepError::Broken)?;
        summary.add(&plan, tally);
        if tally.left_out > 0 {
            return Ok(RunState::Interrupted);
        }
        decide(sweep, &mut course, store).map_err(SweepError::Broken)?;
    }
    Ok(RunState::Done)
}

/// Says what a rung will do; what is to be known of the whole sweep, before its first one.
fn say(sweep: &Sweep, rung: &Rung, plan: &Plan) {
    if sweep.rule.is_none() {
        tracing::info!("{}: {plan}", sweep.name);
    } else if !rung.points.is_empty() {
        let what = if rung.confirms {
            " confirms the selection"
        } else {
            ""
        };
        tracing::info!("{}: rung {}{what}: {plan}", sweep.name, rung.number);
    }
    if rung.number > 1 {
        return;
    }
    for remark in &plan.remarks {
        tracing::warn!("{}: {remark}", sweep.name);
    }
    for remark in sweep.input_remarks() {
        match remark.is_warning {
            true => tracing::warn!("{}", remark.text),
            false => tracing::info!("{}", remark.text),
        }
    }
}

/// Makes the points of a plan part of the run, which begins with the first plan.
fn enter(
    sweep: &Arc<Sweep>,
    plan: &Plan,
    store: &mut dyn ResultStore,
    sink: &mut Option<Arc<dyn ResultSink>>,
    options: &SweepOptions,
) -> Result<Arc<dyn ResultSink>, SweepError> {
    let done: Vec<Point> = plan
        .done_points
        .iter()
        .map(|point| sweep.points[*point].clone())
        .collect();
    let pending = [plan.tasks.as_slice(), plan.failed.as_slice()].concat();
    if let Some(sink) = sink {
        let entered = store.enter(sweep, &done, &pending, options.fresh);
        entered.map_err(SweepError::Broken)?;
        return Ok(Arc::clone(sink));
    }
    let begun = store
        .begin(
            sweep,
            &done,
            &pending,
            options.fresh,
            options.outcomes,
            2 * options.workers.max(1),
        )
        .map_err(SweepError::Store)?;
    Ok(Arc::clone(sink.insert(begun)))
}

fn work_off_plan(
    sweep: &Arc<Sweep>,
    plan: &Plan,
    simulate: &Arc<dyn Simulate>,
    sink: Arc<dyn ResultSink>,
    options: &SweepOptions,
) -> Result<Tally, SinkError> {
    if plan.tasks.is_empty() {
        return Ok(Tally::default());
    }
    let progress = Arc::new(Progress::new(sweep, &plan.tasks, options.quiet));
    let worked = work_off(SweepWork {
        sweep: Arc::clone(sweep),
        tasks: plan.tasks.as_slice().into(),
        workers: options.workers,
        simulate: Arc::clone(simulate),
        sink,
        observer: Arc::clone(&progress) as _,
        interrupt: options.interrupt.clone(),
    });
    progress.finish();
    worked
}

/// Reads what the rung gave, decides what follows, and keeps that.
fn decide(
    sweep: &Sweep,
    course: &mut Course,
    store: &mut dyn ResultStore,
) -> Result<(), SinkError> {
    let decisions = course.decide(&|quantity, points| {
        let ids: Vec<Identity> = points.iter().map(|point| sweep.points[*point].id).collect();
        store.values(quantity, &ids)
    })?;
    if decisions.is_empty() {
        return Ok(());
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for decision in &decisions {
        *counts.entry(decision.verdict.name()).or_default() += 1;
    }
    let counts = counts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"));
    tracing::info!(
        "{}: rung {}: {}",
        sweep.name,
        decisions[0].rung,
        counts.collect::<Vec<_>>().join(", ")
    );
    store.decide(decisions)
}
