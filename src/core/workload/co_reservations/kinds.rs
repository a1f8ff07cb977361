//! Kinds of requests: single jobs, co-reservations, and workflows, whose tasks are requests that
//! follow each other.

use serde::{Deserialize, Serialize};

use super::{CoRequest, CoRequestId, FurtherCounts};
use crate::units::{Nodes, Seconds};
use crate::workload::workflows::{TaskId, Workflow, critical_path_seconds};

/// The most stages of a workflow.
pub const MOST_STAGES: u32 = 20;

/// What a client asks a broker for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// CPUs of one cluster.
    Single,
    /// CPUs of several clusters at once.
    CoReservation,
    /// Either, as a task of a workflow.
    Workflow,
}

impl RequestKind {
    /// Every kind, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Single, Self::CoReservation, Self::Workflow];
}

/// The place of a request in a workflow. A task begins when those before it have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowTask {
    /// The workflow, by the request of its first task.
    pub workflow: CoRequestId,
    /// The tasks that it waits for, all of the same workflow and with smaller numbers.
    pub after: Vec<CoRequestId>,
}

/// How many of the requests are of which kind; the others are co-reservations. Each is drawn on its
/// own, by a draw that a template keeps whatever the shares are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestKinds {
    /// Requests that are single jobs, in percent: the first part alone.
    pub single_percent: f64,
    /// Requests that are workflows, in percent.
    pub workflow_percent: f64,
    /// The tasks of a workflow.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tasks: WorkflowShape,
}

/// The tasks of the workflows that brokers are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkflowShape {
    /// So many stages, 2 to [`MOST_STAGES`], one after another: of one part and of all parts in
    /// turn. They share the duration of the request, rounded up.
    Stages(u32),
    /// Those of a file, with their processors. Run times are scaled so that the longest path has
    /// the duration of the request, and rounded up, to a second at least.
    File(String),
}

impl Default for WorkflowShape {
    fn default() -> Self {
        Self::Stages(3)
    }
}

fn is_default(shape: &WorkflowShape) -> bool {
    *shape == WorkflowShape::default()
}

/// A task before its place in time is known.
struct Shaped {
    parts: Vec<Nodes>,
    further: Vec<FurtherCounts>,
    duration: Seconds,
    /// Places of the tasks that it waits for, all of them smaller than its own.
    after: Vec<usize>,
}

impl RequestKinds {
    /// The kind of a request for which this was drawn, in `[0, 1)`.
    pub(super) fn of(&self, drawn: f64) -> RequestKind {
        let percent = 100.0 * drawn;
        if percent < self.single_percent {
            RequestKind::Single
        } else if percent < self.single_percent + self.workflow_percent {
            RequestKind::Workflow
        } else {
            RequestKind::CoReservation
        }
    }

    /// What is asked for instead of a co-reservation: the tasks of a workflow in their order, or
    /// one request. `first` is the number of the first of them, `workflow` the content of the file
    /// where there is one.
    pub(super) fn requests(
        &self,
        kind: RequestKind,
        mut asked: CoRequest,
        first: CoRequestId,
        workflow: Option<&Workflow>,
    ) -> Vec<CoRequest> {
        asked.id = first;
        match (kind, &self.tasks) {
            (RequestKind::CoReservation, _) => vec![asked],
            (RequestKind::Single, _) => {
                asked.parts.truncate(1);
                asked.further.truncate(1);
                vec![asked]
            }
            (RequestKind::Workflow, WorkflowShape::Stages(stages)) => {
                place(&asked, staged(&asked, *stages))
            }
            (RequestKind::Workflow, WorkflowShape::File(_)) => place(
                &asked,
                workflow.map_or_else(Vec::new, |it| scaled(&asked, it)),
            ),
        }
    }
}

fn staged(asked: &CoRequest, stages: u32) -> Vec<Shaped> {
    let count = i64::from(stages.max(1));
    let duration = Seconds((asked.duration.0 + count - 1) / count);
    let stage = |stage: usize| {
        let parts = if stage.is_multiple_of(2) {
            1
        } else {
            asked.parts.len()
        };
        Shaped {
            parts: asked.parts.iter().copied().take(parts).collect(),
            further: asked.further.iter().copied().take(parts).collect(),
            duration,
            after: stage.checked_sub(1).into_iter().collect(),
        }
    };
    (0..stages as usize).map(stage).collect()
}

fn scaled(asked: &CoRequest, workflow: &Workflow) -> Vec<Shaped> {
    let longest = critical_path_seconds(workflow, None);
    let factor = asked.duration.0 as f64 / longest;
    let mut places = vec![0; workflow.tasks().len()];
    for (place, id) in workflow.order().iter().enumerate() {
        places[id.index()] = place;
    }
    let shaped = |id: &TaskId| {
        let task = workflow.task(*id);
        let seconds = if longest > 0.0 {
            task.seconds * factor
        } else {
            0.0
        };
        let before = workflow.parents(*id).iter();
        Shaped {
            parts: vec![task.nodes],
            // A file says of CPUs alone what a task needs.
            further: Vec::new(),
            duration: Seconds(libm::ceil(seconds) as i64).max(Seconds(1)),
            after: before.map(|edge| places[edge.parent.index()]).collect(),
        }
    };
    workflow.order().iter().map(shaped).collect()
}

/// The tasks as requests of the same submission. Each may begin when the longest path before it
/// would have ended, and must leave the time of the longest path behind it: together they have the
/// slack that was asked for.
fn place(asked: &CoRequest, tasks: Vec<Shaped>) -> Vec<CoRequest> {
    let mut begins: Vec<Seconds> = Vec::with_capacity(tasks.len());
    for task in &tasks {
        let ends = task.after.iter().map(|&it| begins[it] + tasks[it].duration);
        begins.push(ends.max().unwrap_or(Seconds::ZERO));
    }
    let mut left = vec![Seconds::ZERO; tasks.len()];
    for (place, task) in tasks.iter().enumerate().rev() {
        for &before in &task.after {
            left[before] = left[before].max(left[place] + task.duration);
        }
    }
    let ends = begins
        .iter()
        .zip(&tasks)
        .map(|(begin, task)| *begin + task.duration);
    let longest = ends.max().unwrap_or(Seconds::ZERO);
    let deadline = asked.earliest + longest + asked.slack();
    let number = |place: usize| CoRequestId(asked.id.0 + place as u32);
    let requests = tasks
        .into_iter()
        .enumerate()
        .map(|(place, task)| CoRequest {
            id: number(place),
            earliest: asked.earliest + begins[place],
            deadline: deadline - left[place],
            duration: task.duration,
            parts: task.parts,
            further: task.further,
            task: Some(WorkflowTask {
                workflow: asked.id,
                after: task.after.into_iter().map(number).collect(),
            }),
            ..asked.clone()
        });
    requests.collect()
}
