//! The needs of a job on the nodes of each class, computed once at its submission.

use std::collections::HashMap;

use super::Refusal;
use super::description::{MachineQueueJob, NodeResources, NodeSharing, QueueMachine};

/// What a job needs if it runs on nodes of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Which class.
    pub(super) class: usize,
    /// How many of its nodes.
    pub(super) nodes: u32,
    /// What it holds on each of them.
    pub(super) each: NodeResources,
}

impl Shape {
    /// Cores that it holds in all.
    pub(super) fn cores(&self) -> u64 {
        u64::from(self.nodes) * u64::from(self.each.cores)
    }
}

/// A kind of jobs: those with the same needs on the same partition.
#[derive(Debug)]
pub(super) struct Kind {
    /// Their needs by class, in the order in which the partition tries classes. Never empty.
    pub(super) shapes: Vec<Shape>,
    /// How many of them wait.
    waiting: usize,
}

/// Jobs are of the same kind if these are equal: partition, cores, cores per node, memory, graphics
/// processors.
type KindKey = (usize, u32, Option<u32>, u64, u32);

/// All kinds of jobs that were submitted.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    known: HashMap<KindKey, Result<usize, Refusal>>,
    all: Vec<Kind>,
    /// Kinds of which some job waits.
    awaited: Vec<usize>,
}

impl Kinds {
    /// The kind of a job, or the reason why it can never run on its partition.
    pub(super) fn of(
        &mut self,
        machine: &QueueMachine,
        job: &MachineQueueJob,
    ) -> Result<usize, Refusal> {
        let asked = (
            job.partition.0,
            job.cores,
            job.cores_per_node,
            job.memory_megabytes_per_core,
            job.gpus_per_node,
        );
        if let Some(known) = self.known.get(&asked) {
            return *known;
        }
        let kind = shapes_of(machine, job).map(|shapes| {
            self.all.push(Kind { shapes, waiting: 0 });
            self.all.len() - 1
        });
        self.known.insert(asked, kind);
        kind
    }

    pub(super) fn get(&self, kind: usize) -> &Kind {
        &self.all[kind]
    }

    /// One more job of this kind waits.
    pub(super) fn waits(&mut self, kind: usize) {
        self.all[kind].waiting += 1;
        if self.all[kind].waiting == 1 {
            self.awaited.push(kind);
        }
    }

    /// One job of this kind does not wait any more.
    pub(super) fn started(&mut self, kind: usize) {
        self.all[kind].waiting -= 1;
        if self.all[kind].waiting == 0 {
            self.awaited.retain(|other| *other != kind);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// What some job waits for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &Shape> {
        self.awaited.iter().flat_map(|kind| &self.all[*kind].shapes)
    }
}

fn shapes_of(machine: &QueueMachine, job: &MachineQueueJob) -> Result<Vec<Shape>, Refusal> {
    let partition = &machine.partitions[job.partition.0];
    let mut refusal = Refusal::NeverFits;
    let mut shapes = Vec::with_capacity(partition.classes.len());
    for class in &partition.classes {
        let nodes = &machine.classes[class.0];
        let Some((count, each)) = on_nodes(nodes.each, partition.sharing, job) else {
            continue;
        };
        if partition.widest.is_some_and(|widest| count > widest.0) {
            refusal = Refusal::TooWide;
        } else if count <= nodes.nodes.0 {
            shapes.push(Shape {
                class: class.0,
                nodes: count,
                each,
            });
        }
    }
    if shapes.is_empty() {
        Err(refusal)
    } else {
        Ok(shapes)
    }
}

/// How many nodes that have `node` a job needs, and what it holds on each; `None` if one of them
/// cannot take a part of it.
fn on_nodes(
    node: NodeResources,
    sharing: NodeSharing,
    job: &MachineQueueJob,
) -> Option<(u32, NodeResources)> {
    if job.gpus_per_node > node.gpus {
        return None;
    }
    let mut most = node
        .cores
        .min(job.cores_per_node.map_or(u32::MAX, |most| most.max(1)));
    let memory = if node.memory_megabytes == 0 {
        0
    } else {
        job.memory_megabytes_per_core
    };
    if let Some(bearable) = node.memory_megabytes.checked_div(memory) {
        most = most.min(u32::try_from(bearable).unwrap_or(u32::MAX));
    }
    let cores = job.cores.max(1);
    let nodes = cores
        .checked_div(most)
        .map(|full| full + u32::from(!cores.is_multiple_of(most)))?;
    let each = match sharing {
        NodeSharing::Exclusive => node,
        NodeSharing::Shared => {
            // Spread evenly: never more than `most`, since that many nodes of `most` hold them all.
            let each = cores.div_ceil(nodes);
            NodeResources {
                cores: each,
                memory_megabytes: memory * u64::from(each),
                gpus: job.gpus_per_node,
            }
        }
    };
    Some((nodes, each))
}
