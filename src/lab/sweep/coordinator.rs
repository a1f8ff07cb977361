//! Shares simulations out over worker threads, dearest first (`order`); a failure costs its own points only.
//!
//! What is *not* here: how a simulation works, and how results are kept. The order in which results arrive differs from
//! run to run; the results do not.

use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::cost::CostModel;
use super::digest::Identity;
use super::interrupt::Interrupt;
use super::order::Order;
use super::sink::{
    FailedSimulation, FinishedSimulation, ResultSink, SimulationProgress, SinkError,
};
pub use super::spec::Task;
use super::spec::{Point, SimulationSpec, Sweep};
use crate::studies::SimulationResult;

/// Runs one simulation of a sweep.
pub trait Simulate: Sync {
    /// The result, or in words why there is none.
    ///
    /// # Errors
    ///
    /// When the simulation cannot be carried out. A panic counts as an error too.
    fn simulate(&self, spec: &SimulationSpec) -> Result<SimulationResult, String>;

    /// The workload's name for people.
    fn workload_label(&self, spec: &SimulationSpec) -> String;
}

/// Is told what happens, from several threads.
pub trait Observer: Sync {
    /// A simulation begins; these are the points that are read off it.
    fn started(&self, _points: &[&Point]) {}
    /// It ended after so long, well or with an error.
    fn ended(&self, _points: &[&Point], _wall: Duration, _error: Option<&str>) {}
}

/// An observer that takes no notice.
impl Observer for () {}

/// The simulations that points not yet done need, dearest first.
#[must_use]
pub fn tasks(sweep: &Sweep, done: &HashSet<Identity>, costs: &CostModel) -> Vec<Task> {
    let canonical = canonical(sweep);
    let mut open: Vec<(u32, u32)> = (0..)
        .zip(&sweep.points)
        .filter(|(_, point)| !done.contains(&point.id))
        .map(|(index, point)| (canonical[point.simulation], index))
        .collect();
    open.sort_unstable();
    let mut tasks: Vec<Task> = open
        .chunk_by(|one, other| one.0 == other.0)
        .map(|points| {
            let simulation = points[0].0 as usize;
            Task {
                simulation,
                points: points.iter().map(|(_, index)| *index as usize).collect(),
                seconds: costs.seconds(sweep.simulations.kind(simulation)),
            }
        })
        .collect();
    tasks.sort_by(|a, b| {
        b.seconds
            .total_cmp(&a.seconds)
            .then(a.simulation.cmp(&b.simulation))
    });
    tasks
}

/// For each simulation the first one of its identity: specifications that differ in what their strategy does not read have one.
fn canonical(sweep: &Sweep) -> Vec<u32> {
    let mut canonical: Vec<u32> = (0..sweep.simulations.len() as u32).collect();
    let ids = &sweep.simulation_ids;
    if ids.len() == canonical.len() {
        let mut by_id = canonical.clone();
        by_id.sort_unstable_by_key(|number| (&ids[*number as usize], *number));
        for equal in by_id.chunk_by(|one, other| ids[*one as usize] == ids[*other as usize]) {
            for number in equal {
                canonical[*number as usize] = equal[0];
            }
        }
    }
    canonical
}

/// What the workers did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Simulations that came to their end.
    pub simulations: usize,
    /// Points read off them.
    pub points: usize,
    /// Simulations that failed.
    pub failed_simulations: usize,
    /// Points missing for them.
    pub failed_points: usize,
    /// Points of simulations that another program did meanwhile.
    pub adopted_points: usize,
    /// Simulations not begun, because of an interruption.
    pub left_out: usize,
}

/// Works off all tasks on so many threads; stops early when `interrupt` asks for it.
///
/// # Errors
///
/// When the sink is broken; simulations under way end first.
pub fn work_off(
    sweep: &Sweep,
    tasks: &[Task],
    workers: usize,
    simulate: &dyn Simulate,
    sink: &dyn ResultSink,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> Result<Tally, SinkError> {
    let order = Order::new(sweep, tasks);
    let sweep_begun = Instant::now();
    let broken = AtomicBool::new(false);
    let first_error: Mutex<Option<SinkError>> = Mutex::new(None);
    let tally = Mutex::new(Tally::default());
    // Simulations that another program has under way: looked at again when nothing else is left.
    let waiting: Mutex<Vec<&Task>> = Mutex::new(Vec::new());
    let adopted = AtomicUsize::new(0);
    let said = AtomicBool::new(false);
    let stop = |error| {
        broken.store(true, Ordering::SeqCst);
        first_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
    };
    let simulate_one = |task: &Task| match one(sweep, task, simulate, sink, observer) {
        Ok(finished) => {
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            if finished {
                tally.simulations += 1;
                tally.points += task.points.len();
            } else {
                tally.failed_simulations += 1;
                tally.failed_points += task.points.len();
            }
        }
        Err(error) => stop(error),
    };
    let adopt = |task: &Task| {
        let points = task.points.iter().map(|point| sweep.points[*point].clone());
        if let Err(error) = sink.adopt(identity(sweep, task), points.collect()) {
            stop(error);
        }
        adopted.fetch_add(1, Ordering::SeqCst);
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.adopted_points += task.points.len();
        drop(tally);
        let points: Vec<&Point> = task
            .points
            .iter()
            .map(|point| &sweep.points[*point])
            .collect();
        observer.ended(&points, Duration::ZERO, None);
    };
    let going_on = || !broken.load(Ordering::SeqCst) && !interrupt.is_requested();
    let worker = || {
        let begun = Instant::now();
        let mut begun_last = begun;
        let mut begun_here = 0_usize;
        while going_on() {
            let Some((place, task)) = order.next(sweep_begun.elapsed()) else {
                break;
            };
            begun_last = Instant::now();
            begun_here += 1;
            match sink.progress(identity(sweep, task)) {
                SimulationProgress::Open => {
                    simulate_one(task);
                    order.took(place, begun_last.elapsed());
                }
                SimulationProgress::Done => {
                    order.left_to_others(place);
                    adopt(task);
                }
                SimulationProgress::Elsewhere => {
                    order.left_to_others(place);
                    waiting
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(task);
                }
            }
        }
        tracing::debug!(
            worker = std::thread::current().name(),
            simulations = begun_here,
            last_begun_after_seconds = (begun_last - begun).as_secs_f64(),
            seconds = begun.elapsed().as_secs_f64(),
            "a worker finds nothing more to begin"
        );
        while going_on() {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(task) = next else { break };
            match sink.progress(identity(sweep, task)) {
                SimulationProgress::Open => simulate_one(task),
                SimulationProgress::Done => adopt(task),
                SimulationProgress::Elsewhere => {
                    if !said.swap(true, Ordering::SeqCst) {
                        tracing::info!(
                            "waiting for simulations that another program has under way in this store \
                             (`bookahead runs` shows it); Ctrl-C stops waiting, and what is done is kept"
                        );
                    }
                    waiting
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(0, task);
                    std::thread::sleep(LOOK_AGAIN);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for number in 1..workers.min(tasks.len()) {
            let spawned = std::thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn_scoped(scope, worker);
            if let Err(error) = spawned {
                tracing::warn!(%error, "the system gives no more threads: going on with {number}");
                break;
            }
        }
        worker();
    });
    if let Some(error) = first_error
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        return Err(error);
    }
    let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.left_out =
        tasks.len() - tally.simulations - tally.failed_simulations - adopted.load(Ordering::SeqCst);
    Ok(tally)
}

/// Until a simulation that another program has under way is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The identity of a task's simulation; empty before the sweep has any.
fn identity<'s>(sweep: &'s Sweep, task: &Task) -> &'s str {
    sweep
        .simulation_ids
        .get(task.simulation)
        .map_or("", Identity::as_str)
}

/// Whether the simulation of a task finished and its result was kept.
fn one(
    sweep: &Sweep,
    task: &Task,
    simulate: &dyn Simulate,
    sink: &dyn ResultSink,
    observer: &dyn Observer,
) -> Result<bool, SinkError> {
    let spec = &sweep.simulations.get(task.simulation);
    let id = sweep
        .simulation_ids
        .get(task.simulation)
        .copied()
        .unwrap_or_default();
    let points: Vec<&Point> = task
        .points
        .iter()
        .map(|index| &sweep.points[*index])
        .collect();
    let owned = || {
        points
            .iter()
            .map(|point| (*point).clone())
            .collect::<Vec<Point>>()
    };
    observer.started(&points);
    sink.started(&id)?;
    let begun = Instant::now();
    let result =
        catch_unwind(AssertUnwindSafe(|| simulate.simulate(spec))).unwrap_or_else(|panic| {
            Err(format!(
                "the simulation panicked: {}",
                panic_text(panic.as_ref())
            ))
        });
    let wall = begun.elapsed();
    let workload_label = simulate.workload_label(spec);
    let result = match result {
        Ok(result) => {
            let finished = FinishedSimulation {
                id,
                spec: spec.clone(),
                workload_label: workload_label.clone(),
                result,
                wall,
                points: owned(),
            };
            match sink.write(finished) {
                Err(SinkError::Refused(reason)) => Err(reason),
                Err(stopped @ SinkError::Stopped(_)) => return Err(stopped),
                Ok(()) => Ok(()),
            }
        }
        Err(error) => Err(error),
    };
    if let Err(error) = &result {
        tracing::error!(
            simulation = %id,
            strategy = %spec.scheduling.strategy,
            replication = spec.replication,
            %error,
            "a simulation failed"
        );
        let error = error.clone();
        sink.fail(FailedSimulation {
            id,
            spec: spec.clone(),
            workload_label,
            error,
            points: owned(),
        })?;
    } else {
        tracing::debug!(
            simulation = %id,
            strategy = %spec.scheduling.strategy,
            replication = spec.replication,
            milliseconds = wall.as_millis() as u64,
            points = points.len(),
            "a simulation is done"
        );
    }
    observer.ended(&points, wall, result.as_ref().err().map(String::as_str));
    Ok(result.is_ok())
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
#[path = "coordinator_tests.rs"]
mod tests;
