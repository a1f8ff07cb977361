//! What a file says before it is checked: tasks and dependencies by name, with their lines.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{WorkflowError, WorkflowFault};
use super::read::{ReadWorkflow, ReadingNotes};
use super::workflow::{Edge, Task, TaskId, Workflow};

/// A workflow under way.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) tasks: Vec<DraftTask>,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) notes: ReadingNotes,
}

/// A task and the files that it uses.
#[derive(Debug)]
pub(super) struct DraftTask {
    pub(super) task: Task,
    pub(super) line: usize,
    pub(super) inputs: BTreeSet<String>,
    /// Sizes in bytes.
    pub(super) outputs: BTreeMap<String, u64>,
}

/// The child waits for the parent, says the file at `line`.
#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) parent: String,
    pub(super) child: String,
    pub(super) line: usize,
    /// At which of the two tasks the file says so: the other one is what may lead nowhere.
    pub(super) declared_at: DeclaredAt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeclaredAt {
    Parent,
    Child,
}

impl Draft {
    /// Finds the tasks behind the names, the volumes of the edges, and checks the whole.
    ///
    /// A dependency that is said twice (WfCommons says each at both ends) is one edge. Its volume
    /// is the sum of the sizes, as the parent has them, of the files that are output of the parent
    /// and input of the child.
    pub(super) fn finish(mut self, origin: &str) -> Result<ReadWorkflow, WorkflowError> {
        let ids = self.ids(origin)?;
        let mut volumes = self.edges(origin, &ids)?;
        let mut producers: BTreeMap<&str, Vec<(TaskId, u64)>> = BTreeMap::new();
        for (id, task) in (0..).map(TaskId).zip(&self.tasks) {
            for (file, bytes) in &task.outputs {
                producers.entry(file).or_default().push((id, *bytes));
            }
        }
        let mut undeclared = BTreeSet::new();
        for (child, task) in (0..).map(TaskId).zip(&self.tasks) {
            for file in &task.inputs {
                for &(parent, bytes) in producers.get(file.as_str()).into_iter().flatten() {
                    match volumes.get_mut(&(parent, child)) {
                        Some(volume) => *volume = u64::saturating_add(*volume, bytes),
                        None if parent != child => {
                            undeclared.insert((parent, child));
                        }
                        None => {}
                    }
                }
            }
        }
        self.notes.undeclared_transfers = undeclared.len();
        let lines: BTreeMap<String, usize> = self
            .tasks
            .iter()
            .map(|task| (task.task.name.clone(), task.line))
            .collect();
        let edges = volumes
            .into_iter()
            .map(|((parent, child), bytes)| Edge {
                parent,
                child,
                bytes,
            })
            .collect();
        let tasks = self.tasks.into_iter().map(|task| task.task).collect();
        let workflow = Workflow::checked(self.name, tasks, edges).map_err(|fault| {
            let line = fault.task().and_then(|task| lines.get(task)).copied();
            fault.at(origin, line)
        })?;
        Ok(ReadWorkflow {
            workflow,
            notes: self.notes,
        })
    }

    fn ids(&self, origin: &str) -> Result<BTreeMap<&str, TaskId>, WorkflowError> {
        let mut ids: BTreeMap<&str, TaskId> = BTreeMap::new();
        for (id, task) in (0..).map(TaskId).zip(&self.tasks) {
            if let Some(first) = ids.insert(&task.task.name, id) {
                let fault = WorkflowFault::DuplicateTask {
                    task: task.task.name.clone(),
                    first_line: Some(self.tasks[first.index()].line),
                };
                return Err(fault.at(origin, Some(task.line)));
            }
        }
        Ok(ids)
    }

    /// The edges, without volumes so far.
    fn edges(
        &self,
        origin: &str,
        ids: &BTreeMap<&str, TaskId>,
    ) -> Result<BTreeMap<(TaskId, TaskId), u64>, WorkflowError> {
        let mut volumes = BTreeMap::new();
        for dependency in &self.dependencies {
            let Dependency {
                parent,
                child,
                line,
                declared_at,
            } = dependency;
            let (about, other, relation) = match declared_at {
                DeclaredAt::Child => (child, parent, "parent"),
                DeclaredAt::Parent => (parent, child, "child"),
            };
            if !ids.contains_key(about.as_str()) {
                let fault = WorkflowFault::UnknownTask {
                    element: "a dependency",
                    task: about.clone(),
                };
                return Err(fault.at(origin, Some(*line)));
            }
            match (ids.get(parent.as_str()), ids.get(child.as_str())) {
                (Some(&parent), Some(&child)) => {
                    volumes.insert((parent, child), 0);
                }
                _ => {
                    let fault = WorkflowFault::Dangling {
                        task: about.clone(),
                        relation,
                        name: other.clone(),
                    };
                    return Err(fault.at(origin, Some(*line)));
                }
            }
        }
        Ok(volumes)
    }
}
