//! HEFT: ranks, the order of tasks by rank, and the classic schedule with insertion (Singh 2008,
//! eq. 7; Topcuoglu, Hariri and Wu 2002).

use thiserror::Error;

use super::network::{Network, NetworkError};
use super::workflow::{TaskId, Workflow};
use crate::units::Nodes;

/// The classic schedule of a workflow of single-processor tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct HeftSchedule {
    /// Upward rank of each task, by id, in seconds (eq. 7).
    pub ranks: Vec<f64>,
    /// Where and when the tasks run, in the order in which they were placed.
    pub placements: Vec<Placement>,
    /// The latest end, in seconds.
    pub makespan_seconds: f64,
}

/// Where and when a task runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The task.
    pub task: TaskId,
    /// The resource, from 0.
    pub resource: usize,
    /// Start in seconds after the submission.
    pub start_seconds: f64,
    /// End in seconds after the submission.
    pub end_seconds: f64,
}

/// Why there are no ranks or no schedule.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum HeftError {
    /// Nothing to run on.
    #[error("workflow `{workflow}`: there is no resource to run on; give at least one")]
    NoResources {
        /// The workflow.
        workflow: String,
    },
    /// Run times are given for another number of resources.
    #[error(
        "workflow `{workflow}` has run times for {known} resources, but there are {given}; give as many resources as run times"
    )]
    ResourceCount {
        /// The workflow.
        workflow: String,
        /// Resources that the run times are for.
        known: usize,
        /// Resources there are.
        given: usize,
    },
    /// The classic schedule knows single processors only.
    #[error(
        "workflow `{workflow}`: task `{task}` needs {nodes}, and the classic schedule has one processor a resource"
    )]
    TooWide {
        /// The workflow.
        workflow: String,
        /// The task.
        task: String,
        /// What it needs.
        nodes: Nodes,
    },
    /// The network cannot be.
    #[error("network: {0}")]
    Network(#[from] NetworkError),
}

/// Upward ranks by task id, in seconds (eq. 7): mean run time of the task, and the longest way of
/// mean transfer and run times to an exit. The artificial exit task has rank 0.
///
/// # Errors
///
/// Without resources, with another number of them than run times are given for, with an impossible
/// network.
pub fn ranks(
    workflow: &Workflow,
    resources: usize,
    network: &Network,
) -> Result<Vec<f64>, HeftError> {
    network.check()?;
    let name = || workflow.name().to_owned();
    if resources == 0 {
        return Err(HeftError::NoResources { workflow: name() });
    }
    if let Some(known) = workflow.resources().filter(|known| *known != resources) {
        return Err(HeftError::ResourceCount {
            workflow: name(),
            known,
            given: resources,
        });
    }
    let mut ranks = vec![0.0; workflow.tasks().len()];
    for &id in workflow.order().iter().rev() {
        let below = workflow
            .children(id)
            .iter()
            .map(|edge| network.mean_seconds(edge.bytes, resources) + ranks[edge.child.index()])
            .fold(0.0, f64::max);
        ranks[id.index()] = workflow.task(id).mean_seconds() + below;
    }
    Ok(ranks)
}

/// Ranks are compared in whole microseconds: mean run times are often thirds, and the order of two
/// ranks that are equal on paper must not hang on the last bit of a sum.
const STEPS_PER_SECOND: f64 = 1e6;

/// The tasks by non-increasing rank; of ranks that are equal to the microsecond, the earlier in
/// [`Workflow::order`]. Always a topological order: no run or transfer time is negative, so a
/// parent's rank is never below its child's, also when rounded.
#[must_use]
pub fn order_by_rank(workflow: &Workflow, ranks: &[f64]) -> Vec<TaskId> {
    let steps = |id: &TaskId| (ranks[id.index()] * STEPS_PER_SECOND).round();
    let mut order = workflow.order().to_vec();
    order.sort_by(|one, other| steps(other).total_cmp(&steps(one)));
    order
}

/// The classic schedule: tasks in the order of their ranks, each on the resource on which it ends
/// first, in the first gap that holds it; of equal ends, the resource with the lowest number.
///
/// # Errors
///
/// As [`ranks`], and for a task with more than one processor.
pub fn heft(
    workflow: &Workflow,
    resources: usize,
    network: &Network,
) -> Result<HeftSchedule, HeftError> {
    let ranks = ranks(workflow, resources, network)?;
    if let Some(task) = workflow.tasks().iter().find(|task| task.nodes.0 > 1) {
        return Err(HeftError::TooWide {
            workflow: workflow.name().to_owned(),
            task: task.name.clone(),
            nodes: task.nodes,
        });
    }
    let mut busy = vec![Timeline::default(); resources];
    let mut placed: Vec<Option<Placement>> = vec![None; workflow.tasks().len()];
    let mut placements = Vec::with_capacity(placed.len());
    for task in order_by_rank(workflow, &ranks) {
        let ready = |resource| {
            workflow
                .parents(task)
                .iter()
                .filter_map(|edge| {
                    let parent = placed[edge.parent.index()]?;
                    let transfer = network.seconds_between(parent.resource, resource, edge.bytes);
                    Some(parent.end_seconds + transfer)
                })
                .fold(0.0, f64::max)
        };
        let best = busy
            .iter()
            .enumerate()
            .map(|(resource, timeline)| {
                let length = workflow.task(task).seconds_on(resource);
                let start = timeline.earliest(ready(resource), length);
                Placement {
                    task,
                    resource,
                    start_seconds: start,
                    end_seconds: start + length,
                }
            })
            .min_by(|one, other| one.end_seconds.total_cmp(&other.end_seconds));
        if let Some(placement) = best {
            busy[placement.resource].add(placement);
            placed[task.index()] = Some(placement);
            placements.push(placement);
        }
    }
    let makespan_seconds = placements
        .iter()
        .map(|placement| placement.end_seconds)
        .fold(0.0, f64::max);
    Ok(HeftSchedule {
        ranks,
        placements,
        makespan_seconds,
    })
}

/// When one processor is busy.
#[derive(Clone, Debug, Default)]
struct Timeline {
    /// Every task, by start: what takes no time fits between two that follow each other.
    spans: Vec<(f64, f64)>,
    /// The same with tasks that follow each other without a gap as one, so that a packed processor
    /// is one span to pass.
    joined: Vec<(f64, f64)>,
}

impl Timeline {
    /// The earliest start from `ready` on of a gap of `length` seconds.
    fn earliest(&self, ready: f64, length: f64) -> f64 {
        let spans = if length > 0.0 {
            &self.joined
        } else {
            &self.spans
        };
        // Spans do not overlap, so their ends are in order, too, and what has ended before is in
        // nobody's way.
        let first = spans.partition_point(|&(_, to)| to <= ready);
        let mut start = ready;
        for &(from, to) in &spans[first..] {
            if start + length <= from {
                break;
            }
            start = start.max(to);
        }
        start
    }

    fn add(&mut self, placement: Placement) {
        let span = (placement.start_seconds, placement.end_seconds);
        let place = self.spans.partition_point(|other| *other <= span);
        self.spans.insert(place, span);
        let place = self.joined.partition_point(|other| *other <= span);
        let before = place.checked_sub(1).map(|place| self.joined[place].1);
        // What takes no time may lie between two that are one here.
        if before.is_some_and(|end| end >= span.1) {
            return;
        }
        let after = self.joined.get(place).map(|other| other.0);
        match (before == Some(span.0), after == Some(span.1)) {
            (true, true) => {
                self.joined[place - 1].1 = self.joined[place].1;
                self.joined.remove(place);
            }
            (true, false) => self.joined[place - 1].1 = span.1,
            (false, true) => self.joined[place].0 = span.0,
            (false, false) => self.joined.insert(place, span),
        }
    }
}

#[cfg(test)]
mod tests;
