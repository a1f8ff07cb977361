//! Which nodes are near each other, and what becomes of jobs whose nodes are not (Birkenheuer 2012,
//! §2.3.2, on scheduling that knows the topology).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bookahead_core::units::Seconds;
use serde::{Deserialize, Serialize};

/// Which of the nodes that are open to a job it gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodesBy {
    /// Those that are needed soonest, of these the fullest, of these the first, wherever they are.
    #[default]
    Number,
    /// Those below the fewest switches. No job waits for it.
    Switch,
    /// Nodes in a row, the first ones; a job waits until there are so many.
    Contiguous,
    /// The same, where a row of n nodes begins at a multiple of the smallest power of two that is
    /// at least n, counted in its class.
    Buddy,
}

/// What a machine says of its network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// Which nodes a job gets.
    #[serde(default)]
    pub nodes_by: NodesBy,
    /// How many nodes are below one switch, in the order of the classes; `None` where all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes_per_switch: Option<u32>,
    /// How much longer a job runs whose nodes are below several switches, as a part of its run
    /// time. Nobody plans with it.
    #[serde(default)]
    pub crossing_slowdown: f64,
}

impl Topology {
    /// Whether all nodes are near each other and a job gets any.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        *self == Self::default()
    }

    /// Whether these nodes are below more than one switch.
    pub(super) fn crosses(&self, nodes: &[usize]) -> bool {
        let mut switches = nodes.iter().map(|&node| self.switch_of(node));
        let first = switches.next();
        switches.any(|switch| Some(switch) != first)
    }

    /// How long a job runs that would run for `runtime` below one switch.
    pub(super) fn runtime(&self, runtime: Seconds, crosses: bool) -> Seconds {
        let more = runtime.0 as f64 * self.crossing_slowdown;
        runtime + Seconds(if crosses { more.round() as i64 } else { 0 })
    }

    fn switch_of(&self, node: usize) -> usize {
        self.nodes_per_switch
            .map_or(0, |nodes| node / nodes.max(1) as usize)
    }

    /// Where a row of so many nodes may begin: at multiples of this. `None` where jobs need none.
    pub(super) fn row_alignment(&self, wanted: usize) -> Option<usize> {
        match self.nodes_by {
            NodesBy::Number | NodesBy::Switch => None,
            NodesBy::Contiguous => Some(1),
            NodesBy::Buddy => Some(wanted.next_power_of_two()),
        }
    }

    /// `wanted` of these nodes below few switches: as long as no switch has all that are missing,
    /// those with most open nodes are taken whole; the rest comes from the switch with the fewest
    /// that has enough. Of equal switches the first; below one in the order of `open`, which has at
    /// least so many.
    pub(super) fn below_few_switches(&self, open: &[usize], wanted: usize) -> Vec<usize> {
        let mut switches = BTreeMap::<usize, Vec<usize>>::new();
        for &node in open {
            switches.entry(self.switch_of(node)).or_default().push(node);
        }
        let mut chosen = Vec::with_capacity(wanted);
        while chosen.len() < wanted {
            let missing = wanted - chosen.len();
            let sizes = switches
                .iter()
                .map(|(switch, nodes)| (nodes.len(), *switch));
            let smallest = sizes.clone().filter(|(size, _)| *size >= missing).min();
            let largest = sizes.max_by_key(|(size, switch)| (*size, Reverse(*switch)));
            let Some((_, switch)) = smallest.or(largest) else {
                break;
            };
            let nodes = switches.remove(&switch).unwrap_or_default();
            chosen.extend(nodes.into_iter().take(missing));
        }
        chosen
    }
}

/// The first of the first `wanted` consecutive nodes that are all `open` (in order) and begin at a
/// multiple of `alignment`, counted from `first`.
pub(super) fn first_row(
    open: impl Iterator<Item = usize>,
    first: usize,
    wanted: usize,
    alignment: usize,
) -> Option<usize> {
    let (mut next, mut begin) = (None, first);
    for node in open {
        if next != Some(node) {
            begin = first + (node - first).next_multiple_of(alignment);
        }
        next = Some(node + 1);
        if begin <= node && node + 1 - begin == wanted {
            return Some(begin);
        }
    }
    None
}
