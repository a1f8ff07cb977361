//! Several workflows as one (Singh 2008, §4.9).

use std::ops::Range;

use super::{Edge, Task, TaskId, Workflow, WorkflowError};

impl Workflow {
    /// Several workflows as one, which is what an artificial entry before all their entries and an
    /// exit behind all their exits make of them (Singh 2008, §4.9): both cost nothing and are not
    /// stored. Tasks are numbered workflow after workflow and named after its number, from 1. One
    /// workflow is left as it is.
    ///
    /// # Errors
    ///
    /// No workflow, or run times for different numbers of resources.
    pub fn merged(workflows: &[Self]) -> Result<Self, WorkflowError> {
        if let [only] = workflows {
            return Ok(only.clone());
        }
        let names: Vec<&str> = workflows.iter().map(Self::name).collect();
        let mut tasks = Vec::new();
        let mut edges = Vec::new();
        for (number, workflow) in workflows.iter().enumerate() {
            let before = tasks.len() as u32;
            tasks.extend(workflow.tasks().iter().map(|task| Task {
                name: format!("{}/{}", number + 1, task.name),
                ..task.clone()
            }));
            edges.extend(workflow.edges().iter().map(|edge| Edge {
                parent: TaskId(edge.parent.0 + before),
                child: TaskId(edge.child.0 + before),
                ..*edge
            }));
        }
        Self::new(names.join(" + "), tasks, edges)
    }

    /// The tasks of each of these workflows in the [`Workflow::merged`] one.
    #[must_use]
    pub fn parts(workflows: &[Self]) -> Vec<Range<usize>> {
        let ends = workflows.iter().scan(0, |end, workflow| {
            *end += workflow.tasks().len();
            Some(*end)
        });
        let sizes = workflows.iter().map(|workflow| workflow.tasks().len());
        ends.zip(sizes).map(|(end, size)| end - size..end).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nodes;
    use crate::workload::workflows::Network;
    use crate::workload::workflows::heft::{order_by_rank, ranks};

    fn workflow(name: &str, tasks: &[&str], resources: usize) -> Workflow {
        let tasks: Vec<Task> = (tasks.iter())
            .map(|task| Task {
                name: (*task).to_owned(),
                module: "m".to_owned(),
                nodes: Nodes(4),
                seconds: 3_600.0,
                seconds_by_resource: vec![3_600.0; resources],
            })
            .collect();
        let edges = (1..tasks.len() as u32).map(|child| Edge {
            parent: TaskId(child - 1),
            child: TaskId(child),
            bytes: 5,
        });
        let edges = edges.collect();
        Workflow::new(name, tasks, edges).unwrap()
    }

    /// Singh 2008, §4.9: X is a task, Y a chain of two, all of 1 h. Ranks: Y1 2 h, X 1 h, Y2 1 h;
    /// of equals the one with the lower number comes first.
    #[test]
    fn merged_workflows_keep_their_tasks_and_edges_and_are_ranked_together() {
        let parts = [workflow("X", &["x"], 0), workflow("Y", &["1", "2"], 0)];
        let merged = Workflow::merged(&parts).unwrap();
        assert_eq!(merged.name(), "X + Y");
        let names: Vec<&str> = merged.tasks().iter().map(|task| &*task.name).collect();
        assert_eq!(names, ["1/x", "2/1", "2/2"]);
        let edge = Edge {
            parent: TaskId(1),
            child: TaskId(2),
            bytes: 5,
        };
        assert_eq!(merged.edges(), [edge]);
        assert_eq!(Workflow::parts(&parts), [0..1, 1..3]);
        let ranks = ranks(&merged, 1, &Network::default()).unwrap();
        assert_eq!(ranks, [3_600.0, 7_200.0, 3_600.0]);
        assert_eq!(order_by_rank(&merged, &ranks), [1, 0, 2].map(TaskId));
    }

    #[test]
    fn one_workflow_is_left_as_it_is_and_what_does_not_fit_together_is_refused() {
        let alone = workflow("X", &["x"], 0);
        assert_eq!(
            Workflow::merged(std::slice::from_ref(&alone)).unwrap(),
            alone
        );
        assert!(Workflow::merged(&[]).is_err());
        assert!(Workflow::merged(&[alone, workflow("Y", &["y"], 2)]).is_err());
    }
}
