//! A workflow in numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::network::Network;
use super::workflow::{Task, Workflow};

/// What a workflow holds. Run times that differ between resources count with their mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkflowSummary {
    /// What it is called.
    pub name: String,
    /// Tasks.
    pub tasks: usize,
    /// Dependencies between them.
    pub edges: usize,
    /// Tasks without a parent.
    pub entries: usize,
    /// Tasks without a child.
    pub exits: usize,
    /// Levels: tasks on the longest way, by number.
    pub depth: usize,
    /// Tasks of the largest level.
    pub width: usize,
    /// Processors that the level with the most of them wants at once: the maximum parallelism
    /// (Singh 2008, §4.7).
    pub width_processors: u64,
    /// Processors of the widest task: a machine with fewer cannot run the workflow.
    pub widest_task_processors: u32,
    /// Work in processor-seconds: the sum of run time × processors.
    pub work_processor_seconds: f64,
    /// The same in processor-hours: what best effort pays, in service units (eq. 16).
    pub work_service_units: f64,
    /// The longest way through the run times alone, in seconds: all tasks on one site.
    pub critical_path_seconds: f64,
    /// The longest way where every edge crosses the network, in seconds.
    pub critical_path_with_transfers_seconds: f64,
    /// The network that the transfers cross.
    pub network: Network,
    /// Data on all edges, in bytes.
    pub bytes: u64,
    /// Run times are given for so many resources; nothing where all are alike.
    pub resources: Option<usize>,
    /// From the entry down.
    pub levels: Vec<LevelSummary>,
    /// By name.
    pub modules: Vec<ModuleSummary>,
}

/// One level.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LevelSummary {
    /// Tasks in it.
    pub tasks: usize,
    /// Their processors.
    pub processors: u64,
    /// The longest run time among them, in seconds.
    pub longest_seconds: f64,
}

/// The tasks that run one program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleSummary {
    /// The program.
    pub module: String,
    /// Tasks.
    pub tasks: usize,
    /// Mean run time in seconds.
    pub mean_seconds: f64,
    /// Mean number of processors.
    pub mean_processors: f64,
    /// Work in processor-seconds.
    pub work_processor_seconds: f64,
}

/// Summarises a workflow; the network is for the transfers on its critical path.
#[must_use]
pub fn summarise_workflow(workflow: &Workflow, network: &Network) -> WorkflowSummary {
    let levels = levels(workflow);
    let work = workflow.tasks().iter().map(work).sum::<f64>();
    let without = |degree: fn(&Workflow, super::workflow::TaskId) -> usize| {
        workflow
            .order()
            .iter()
            .filter(|id| degree(workflow, **id) == 0)
            .count()
    };
    WorkflowSummary {
        name: workflow.name().to_owned(),
        tasks: workflow.tasks().len(),
        edges: workflow.edges().len(),
        entries: without(|workflow, id| workflow.parents(id).len()),
        exits: without(|workflow, id| workflow.children(id).len()),
        depth: workflow.depth(),
        width: levels.iter().map(|level| level.tasks).max().unwrap_or(0),
        width_processors: levels
            .iter()
            .map(|level| level.processors)
            .max()
            .unwrap_or(0),
        widest_task_processors: workflow
            .tasks()
            .iter()
            .map(|task| task.nodes.0)
            .max()
            .unwrap_or(0),
        work_processor_seconds: work,
        work_service_units: work / 3_600.0,
        critical_path_seconds: critical_path_seconds(workflow, None),
        critical_path_with_transfers_seconds: critical_path_seconds(workflow, Some(network)),
        network: *network,
        bytes: workflow
            .edges()
            .iter()
            .fold(0, |sum: u64, edge| sum.saturating_add(edge.bytes)),
        resources: workflow.resources(),
        levels,
        modules: modules(workflow),
    }
}

/// The longest way through a workflow in seconds: mean run times, and the transfer time of every
/// edge where a network is given.
#[must_use]
pub fn critical_path_seconds(workflow: &Workflow, network: Option<&Network>) -> f64 {
    let mut ends = vec![0.0; workflow.tasks().len()];
    for &id in workflow.order() {
        let ready = workflow
            .parents(id)
            .iter()
            .map(|edge| {
                ends[edge.parent.index()]
                    + network.map_or(0.0, |network| network.seconds(edge.bytes))
            })
            .fold(0.0, f64::max);
        ends[id.index()] = ready + workflow.task(id).mean_seconds();
    }
    ends.into_iter().fold(0.0, f64::max)
}

fn work(task: &Task) -> f64 {
    task.mean_seconds() * f64::from(task.nodes.0)
}

fn levels(workflow: &Workflow) -> Vec<LevelSummary> {
    let mut levels = vec![LevelSummary::default(); workflow.depth()];
    for (task, level) in workflow.tasks().iter().zip(workflow.levels()) {
        let level = &mut levels[*level as usize];
        level.tasks += 1;
        level.processors += u64::from(task.nodes.0);
        level.longest_seconds = level.longest_seconds.max(task.mean_seconds());
    }
    levels
}

fn modules(workflow: &Workflow) -> Vec<ModuleSummary> {
    let mut of: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for task in workflow.tasks() {
        of.entry(&task.module).or_default().push(task);
    }
    of.into_iter()
        .map(|(module, tasks)| {
            let count = tasks.len() as f64;
            ModuleSummary {
                module: module.to_owned(),
                tasks: tasks.len(),
                mean_seconds: tasks.iter().map(|task| task.mean_seconds()).sum::<f64>() / count,
                mean_processors: tasks
                    .iter()
                    .map(|task| f64::from(task.nodes.0))
                    .sum::<f64>()
                    / count,
                work_processor_seconds: tasks.iter().map(|task| work(task)).sum(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::workflow::{Edge, TaskId};
    use super::*;
    use crate::units::Nodes;

    #[test]
    fn a_diamond_has_two_ways_and_the_longer_one_is_critical() {
        let task = |name: &str, nodes, seconds| Task {
            name: name.to_owned(),
            module: name[..1].to_owned(),
            nodes: Nodes(nodes),
            seconds,
            seconds_by_resource: Vec::new(),
        };
        let edge = |parent, child, bytes| Edge {
            parent: TaskId(parent),
            child: TaskId(child),
            bytes,
        };
        let workflow = Workflow::new(
            "diamond",
            vec![
                task("a", 1, 10.0),
                task("b1", 4, 20.0),
                task("b2", 3, 30.0),
                task("c", 2, 5.0),
            ],
            vec![
                edge(0, 1, 1_000),
                edge(0, 2, 0),
                edge(1, 3, 1_000),
                edge(2, 3, 0),
            ],
        )
        .unwrap();
        let network = Network {
            bandwidth_bits_per_second: 800.0,
            latency_seconds: 1.0,
            ..Network::default()
        };
        let summary = summarise_workflow(&workflow, &network);
        assert_eq!((summary.entries, summary.exits, summary.depth), (1, 1, 3));
        assert_eq!((summary.width, summary.width_processors), (2, 7));
        assert_eq!(summary.widest_task_processors, 4);
        assert_eq!(summary.work_processor_seconds, 10.0 + 80.0 + 90.0 + 10.0);
        assert_eq!(summary.critical_path_seconds, 45.0);
        // 10 + 11 + 20 + 11 + 5, against 10 + 1 + 30 + 1 + 5.
        assert_eq!(summary.critical_path_with_transfers_seconds, 57.0);
        assert_eq!(summary.bytes, 2_000);
        assert_eq!(summary.modules[1].mean_seconds, 25.0);
    }
}
