//! When running jobs are planned to end, and the nodes that they hold.

use crate::units::Seconds;

/// Planned ends in order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct PlannedEnds {
    /// Time and nodes, the earliest last: what ends next is at hand.
    ends: Vec<(i64, u32)>,
}

impl PlannedEnds {
    pub(super) fn insert(&mut self, until: Seconds, nodes: u32) {
        let end = (until.0, nodes);
        let place = self.ends.partition_point(|other| *other > end);
        self.ends.insert(place, end);
    }

    /// Takes out one that ends then and holds so many nodes: they are all alike.
    pub(super) fn remove(&mut self, until: Seconds, nodes: u32) {
        let end = (until.0, nodes);
        let place = self.ends.partition_point(|other| *other > end);
        debug_assert_eq!(self.ends.get(place), Some(&end), "it was entered");
        self.ends.remove(place);
    }

    /// Takes out all that end until `now`; returns their nodes.
    pub(super) fn remove_until(&mut self, now: Seconds) -> u32 {
        let mut nodes = 0;
        while let Some(end) = self.ends.pop_if(|end| end.0 <= now.0) {
            nodes += end.1;
        }
        nodes
    }

    /// Nodes of jobs that are planned to have ended by `now`.
    pub(super) fn due(&self, now: Seconds) -> u32 {
        let due = self.ends.iter().rev().take_while(|end| end.0 <= now.0);
        due.map(|end| end.1).sum()
    }

    /// Times and nodes in order of time.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (Seconds, u32)> {
        let ends = self.ends.iter().rev();
        ends.map(|&(time, nodes)| (Seconds(time), nodes))
    }
}
