//! Which of the nodes that are open to a job it gets, by their places.

use std::collections::BTreeSet;

use super::Twin;
use crate::machine_queue::*;

/// How many switches these nodes are below.
pub(super) fn switches(machine: &QueueMachine, nodes: &[usize]) -> usize {
    let each = machine.topology.nodes_per_switch.unwrap_or(1_000) as usize;
    let switches: BTreeSet<usize> = nodes.iter().map(|node| node / each).collect();
    switches.len()
}

impl Twin<'_> {
    pub(super) fn runtime(&self, job: &MachineQueueJob, nodes: &[usize]) -> i64 {
        let runtime = job.runtime.min(job.request).0;
        let slowdown = self.machine.topology.crossing_slowdown;
        match switches(self.machine, nodes) {
            1 => runtime,
            _ => runtime + (runtime as f64 * slowdown).round() as i64,
        }
    }

    /// So many of the nodes that are open, which come in the order in which they are taken where
    /// their places do not count.
    pub(super) fn choose(
        &self,
        class: usize,
        mut open: Vec<usize>,
        nodes: usize,
    ) -> Option<Vec<usize>> {
        if open.len() < nodes {
            return None;
        }
        let first = self.nodes.iter().position(|of| *of == class)?;
        let row = |begin: usize| -> Option<Vec<usize>> {
            let row: Vec<usize> = (begin..begin + nodes).collect();
            row.iter().all(|node| open.contains(node)).then_some(row)
        };
        match self.machine.topology.nodes_by {
            NodesBy::Number => {}
            NodesBy::Switch => open = self.by_switch(open, nodes),
            NodesBy::Contiguous => return (first..self.nodes.len()).find_map(row),
            NodesBy::Buddy => {
                let size = (0..).map(|k| 1 << k).find(|size| *size >= nodes)?;
                return (first..self.nodes.len()).step_by(size).find_map(row);
            }
        }
        open.truncate(nodes);
        open.sort_unstable();
        Some(open)
    }

    /// The same nodes, those that are taken where switches count in front.
    fn by_switch(&self, mut open: Vec<usize>, nodes: usize) -> Vec<usize> {
        let each = self.machine.topology.nodes_per_switch.unwrap_or(1_000) as usize;
        let mut taken = Vec::new();
        while taken.len() < nodes {
            let missing = nodes - taken.len();
            let of = |switch: usize| open.iter().filter(move |node| **node / each == switch);
            let switch = (0..=self.nodes.len() / each)
                .filter(|switch| of(*switch).count() > 0)
                .min_by_key(|switch| match of(*switch).count() {
                    enough if enough >= missing => (0, enough),
                    few => (1, self.nodes.len() - few),
                })
                .expect("enough nodes are open");
            taken.extend(of(switch).take(missing).copied().collect::<Vec<_>>());
            open.retain(|node| node / each != switch);
        }
        taken
    }
}
