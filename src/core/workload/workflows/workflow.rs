//! A workflow: tasks of any width, and the data that pass between them (Singh 2008, §4.1).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::{Deserialize, Serialize};

use super::error::{LONGEST_SECONDS, WorkflowError, WorkflowFault};
use crate::units::{Nodes, Seconds};

/// The position of a task in its workflow, from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct TaskId(pub u32);

impl TaskId {
    /// As an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A task `v_i`: a rigid parallel program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// What files call it; no two tasks of a workflow share a name.
    pub name: String,
    /// The program that it runs; many tasks may run the same.
    pub module: String,
    /// Processors, `v_ip`, at least 1.
    pub nodes: Nodes,
    /// Run time in seconds wherever `seconds_by_resource` says nothing else; a fraction is allowed,
    /// negative is not.
    pub seconds: f64,
    /// Run time on each resource, `d_ir`, in seconds; empty where all resources are alike. All
    /// tasks of a workflow have the same number of them.
    pub seconds_by_resource: Vec<f64>,
}

impl Task {
    /// Run time on a resource, in seconds.
    #[must_use]
    pub fn seconds_on(&self, resource: usize) -> f64 {
        self.seconds_by_resource
            .get(resource)
            .copied()
            .unwrap_or(self.seconds)
    }

    /// Run time on a resource in whole seconds, rounded up, so that a slot of that length always
    /// holds the task. 0 stays 0.
    #[must_use]
    pub fn whole_seconds_on(&self, resource: usize) -> Seconds {
        Seconds(self.seconds_on(resource).ceil() as i64)
    }

    /// `w_i`: mean run time over all resources, in seconds (eq. 7).
    #[must_use]
    pub fn mean_seconds(&self) -> f64 {
        if self.seconds_by_resource.is_empty() {
            self.seconds
        } else {
            self.seconds_by_resource.iter().sum::<f64>() / self.seconds_by_resource.len() as f64
        }
    }
}

/// The child starts after the parent has ended and its data have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// Who ends first.
    pub parent: TaskId,
    /// Who waits.
    pub child: TaskId,
    /// Data that pass, in bytes.
    pub bytes: u64,
}

/// A directed acyclic graph of tasks, checked.
///
/// There may be many entry and exit tasks: the single ones of Singh 2008, §4.1, cost nothing, and
/// algorithms take the maximum over all instead of storing them.
#[derive(Clone, Debug, PartialEq)]
pub struct Workflow {
    name: String,
    tasks: Vec<Task>,
    /// By parent, then child.
    edges: Vec<Edge>,
    /// Where the edges of each parent begin in `edges`; one more at the end.
    children_from: Vec<usize>,
    /// The same edges by child, then parent.
    incoming: Vec<Edge>,
    parents_from: Vec<usize>,
    order: Vec<TaskId>,
    levels: Vec<u32>,
}

impl Workflow {
    /// Checks tasks and edges and puts them together. Edges may come in any order.
    ///
    /// # Errors
    ///
    /// No task, a name that is there twice, 0 processors, a run time that is negative or not a
    /// number, run times for different numbers of resources, an edge that is there twice or leads
    /// nowhere, a cycle (with the names of one).
    pub fn new(
        name: impl Into<String>,
        tasks: Vec<Task>,
        edges: Vec<Edge>,
    ) -> Result<Self, WorkflowError> {
        let name = name.into();
        Self::checked(name.clone(), tasks, edges).map_err(|fault| fault.at(&name, None))
    }

    /// As [`Workflow::new`], for a reader that knows the place of the fault.
    pub(super) fn checked(
        name: String,
        tasks: Vec<Task>,
        mut edges: Vec<Edge>,
    ) -> Result<Self, WorkflowFault> {
        check_tasks(&tasks)?;
        edges.sort_unstable();
        let mut incoming = edges.clone();
        incoming.sort_unstable_by_key(|edge| (edge.child, edge.parent));
        for edge in &edges {
            if edge.parent.max(edge.child).index() >= tasks.len() {
                return Err(WorkflowFault::EdgeOutside {
                    parent: edge.parent.0,
                    child: edge.child.0,
                    last: tasks.len() - 1,
                });
            }
        }
        for pair in edges.windows(2) {
            if (pair[0].parent, pair[0].child) == (pair[1].parent, pair[1].child) {
                return Err(WorkflowFault::DuplicateEdge {
                    parent: tasks[pair[0].parent.index()].name.clone(),
                    child: tasks[pair[0].child.index()].name.clone(),
                });
            }
        }
        let mut workflow = Self {
            children_from: starts(tasks.len(), edges.iter().map(|edge| edge.parent)),
            parents_from: starts(tasks.len(), edges.iter().map(|edge| edge.child)),
            name,
            tasks,
            edges,
            incoming,
            order: Vec::new(),
            levels: Vec::new(),
        };
        workflow.sort()?;
        Ok(workflow)
    }

    /// The same workflow with run times for each resource: one row a task, one column a resource,
    /// in seconds.
    ///
    /// # Errors
    ///
    /// Rows that do not fit the tasks, or run times that cannot be.
    pub fn with_seconds_by_resource(self, rows: &[Vec<f64>]) -> Result<Self, WorkflowError> {
        let Self {
            name,
            mut tasks,
            edges,
            ..
        } = self;
        if rows.len() != tasks.len() {
            let fault = WorkflowFault::Impossible {
                element: "the run times by resource".to_owned(),
                key: "rows",
                found: rows.len().to_string(),
                allowed: "one for each task",
            };
            return Err(fault.at(&name, None));
        }
        for (task, row) in tasks.iter_mut().zip(rows) {
            task.seconds_by_resource.clone_from(row);
        }
        Self::new(name, tasks, edges)
    }

    /// The same workflow whose tasks need so many shares of each of their processors (Singh 2008,
    /// §3): they are so many times as wide.
    #[must_use]
    pub fn in_shares(mut self, shares: u32) -> Self {
        for task in &mut self.tasks {
            task.nodes.0 = task.nodes.0.saturating_mul(shares);
        }
        self
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All tasks; a [`TaskId`] is an index into them.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// One task.
    #[must_use]
    pub fn task(&self, id: TaskId) -> &Task {
        &self.tasks[id.index()]
    }

    /// All edges, by parent, then by child.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges from a task to its children, in the order of the children.
    #[must_use]
    pub fn children(&self, id: TaskId) -> &[Edge] {
        &self.edges[self.children_from[id.index()]..self.children_from[id.index() + 1]]
    }

    /// The edges from a task's parents to it, in the order of the parents.
    #[must_use]
    pub fn parents(&self, id: TaskId) -> &[Edge] {
        &self.incoming[self.parents_from[id.index()]..self.parents_from[id.index() + 1]]
    }

    /// A topological order: parents before children, and of those that could come next the one with
    /// the lowest id.
    #[must_use]
    pub fn order(&self) -> &[TaskId] {
        &self.order
    }

    /// The level of each task, from 0: how many edges the longest way from an entry task has.
    #[must_use]
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// How many levels there are: the number of tasks on the longest way.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels
            .iter()
            .max()
            .map_or(0, |last| *last as usize + 1)
    }

    /// For how many resources run times are given; `None` where all resources are alike.
    #[must_use]
    pub fn resources(&self) -> Option<usize> {
        self.tasks
            .first()
            .map(|task| task.seconds_by_resource.len())
            .filter(|count| *count > 0)
    }

    /// Finds the topological order and the levels, or a cycle.
    fn sort(&mut self) -> Result<(), WorkflowFault> {
        let mut waiting: Vec<usize> = (0..self.tasks.len())
            .map(|index| self.parents_from[index + 1] - self.parents_from[index])
            .collect();
        let mut ready: BinaryHeap<Reverse<TaskId>> = (0..)
            .map(TaskId)
            .zip(&waiting)
            .filter(|(_, parents)| **parents == 0)
            .map(|(id, _)| Reverse(id))
            .collect();
        let mut order = Vec::with_capacity(self.tasks.len());
        let mut levels = vec![0; self.tasks.len()];
        while let Some(Reverse(id)) = ready.pop() {
            order.push(id);
            for edge in self.children(id) {
                let child = edge.child.index();
                levels[child] = levels[child].max(levels[id.index()] + 1);
                waiting[child] -= 1;
                if waiting[child] == 0 {
                    ready.push(Reverse(edge.child));
                }
            }
        }
        if order.len() < self.tasks.len() {
            return Err(WorkflowFault::Cycle {
                tasks: self.cycle(&waiting),
            });
        }
        self.order = order;
        self.levels = levels;
        Ok(())
    }

    /// The names of one cycle among the tasks that still wait: each of them waits for one that
    /// waits.
    fn cycle(&self, waiting: &[usize]) -> Vec<String> {
        let mut way: Vec<TaskId> = Vec::new();
        let mut seen_at: BTreeMap<TaskId, usize> = BTreeMap::new();
        let mut next = waiting
            .iter()
            .position(|parents| *parents > 0)
            .map(|index| TaskId(index as u32));
        while let Some(id) = next {
            if let Some(&from) = seen_at.get(&id) {
                way.drain(..from);
                break;
            }
            seen_at.insert(id, way.len());
            way.push(id);
            next = self
                .parents(id)
                .iter()
                .map(|edge| edge.parent)
                .find(|parent| waiting[parent.index()] > 0);
        }
        // Walked from child to parent; told from parent to child, beginning with the lowest id.
        way.reverse();
        let lowest = (0..way.len()).min_by_key(|&place| way[place]).unwrap_or(0);
        way.rotate_left(lowest);
        way.into_iter()
            .map(|id| self.task(id).name.clone())
            .collect()
    }
}

fn check_tasks(tasks: &[Task]) -> Result<(), WorkflowFault> {
    let Some(first) = tasks.first() else {
        return Err(WorkflowFault::NoTasks);
    };
    if u32::try_from(tasks.len()).is_err() {
        return Err(WorkflowFault::Impossible {
            element: "the workflow".to_owned(),
            key: "tasks",
            found: tasks.len().to_string(),
            allowed: "at most 4,294,967,295",
        });
    }
    let mut names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(WorkflowFault::DuplicateTask {
            task: pair[0].to_owned(),
            first_line: None,
        });
    }
    for task in tasks {
        if task.nodes == Nodes(0) {
            return Err(WorkflowFault::ZeroNodes {
                task: task.name.clone(),
            });
        }
        for seconds in [&task.seconds].into_iter().chain(&task.seconds_by_resource) {
            // A NaN is in no range.
            if !(0.0..=LONGEST_SECONDS).contains(seconds) {
                return Err(WorkflowFault::Impossible {
                    element: format!("task `{}`", task.name),
                    key: "run time",
                    found: seconds.to_string(),
                    allowed: "0 to 1e12 seconds",
                });
            }
        }
        if task.seconds_by_resource.len() != first.seconds_by_resource.len() {
            return Err(WorkflowFault::ResourceCount {
                task: task.name.clone(),
                found: task.seconds_by_resource.len(),
                other: first.name.clone(),
                wanted: first.seconds_by_resource.len(),
            });
        }
    }
    Ok(())
}

/// Where the entries of each task begin in a list that is sorted by task.
fn starts(tasks: usize, entries: impl Iterator<Item = TaskId>) -> Vec<usize> {
    let mut starts = vec![0; tasks + 1];
    for id in entries {
        starts[id.index() + 1] += 1;
    }
    for index in 0..tasks {
        starts[index + 1] += starts[index];
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, seconds: f64) -> Task {
        Task {
            name: name.to_owned(),
            module: "m".to_owned(),
            nodes: Nodes(1),
            seconds,
            seconds_by_resource: Vec::new(),
        }
    }

    fn edge(parent: u32, child: u32) -> Edge {
        Edge {
            parent: TaskId(parent),
            child: TaskId(child),
            bytes: 1,
        }
    }

    fn names(count: usize) -> Vec<Task> {
        (0..count)
            .map(|index| task(&format!("t{index}"), 1.0))
            .collect()
    }

    fn fault(tasks: Vec<Task>, edges: Vec<Edge>) -> String {
        Workflow::new("w", tasks, edges)
            .expect_err("a broken workflow")
            .to_string()
    }

    #[test]
    fn edges_come_sorted_and_are_found_from_both_sides() {
        let workflow = Workflow::new(
            "diamond",
            names(4),
            vec![edge(2, 3), edge(0, 2), edge(1, 3), edge(0, 1)],
        )
        .unwrap();
        assert_eq!(workflow.children(TaskId(0)), [edge(0, 1), edge(0, 2)]);
        assert_eq!(workflow.parents(TaskId(3)), [edge(1, 3), edge(2, 3)]);
        assert_eq!(workflow.order(), [0, 1, 2, 3].map(TaskId));
        assert_eq!(workflow.levels(), [0, 1, 1, 2]);
        assert_eq!(workflow.depth(), 3);
    }

    #[test]
    fn a_cycle_names_its_tasks_and_no_other() {
        // 0 → 1 → 2 → 3 → 1, and 4 behind it.
        let text = fault(
            names(5),
            vec![edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 1), edge(3, 4)],
        );
        assert!(
            text.ends_with("in a cycle: `t1` → `t2` → `t3` → `t1`"),
            "{text}"
        );
        let text = fault(names(1), vec![edge(0, 0)]);
        assert!(text.ends_with("in a cycle: `t0` → `t0`"), "{text}");
    }

    #[test]
    fn every_other_fault_names_the_workflow_and_the_task() {
        assert!(fault(Vec::new(), Vec::new()).contains("w: the workflow has no task"));
        assert!(
            fault(vec![task("a", 1.0), task("a", 1.0)], Vec::new()).contains("`a` is there twice")
        );
        let wide = Task {
            nodes: Nodes(0),
            ..task("a", 1.0)
        };
        assert!(fault(vec![wide], Vec::new()).contains("`a` asks for 0 processors"));
        for seconds in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(
                fault(vec![task("a", seconds)], Vec::new()).contains("task `a`: `run time` is")
            );
        }
        assert!(
            fault(names(2), vec![edge(0, 2)]).contains("edge 0 → 2: the workflow has tasks 0 to 1")
        );
        assert!(
            fault(names(2), vec![edge(0, 1), edge(0, 1)])
                .contains("from `t0` to `t1` is there twice")
        );
        let uneven = Task {
            seconds_by_resource: vec![1.0],
            ..task("b", 1.0)
        };
        assert!(
            fault(vec![task("a", 1.0), uneven], Vec::new())
                .contains("`b` has run times for 1 resources")
        );
    }

    #[test]
    fn run_times_are_rounded_up_to_whole_seconds_and_averaged_over_resources() {
        let mut task = task("a", 0.2);
        assert_eq!(task.whole_seconds_on(0), Seconds(1));
        assert_eq!(task.mean_seconds(), 0.2);
        task.seconds_by_resource = vec![14.0, 16.0, 9.0];
        assert_eq!(task.seconds_on(1), 16.0);
        assert_eq!(task.mean_seconds(), 13.0);
    }
}
