//! Failures that follow the load: those of the possible ones that happen (Birkenheuer 2012,
//! §3.3.1).

use std::sync::Arc;

use super::{Cluster, ClusterMachine, Event};
use crate::failures::{FailureTrace, NodeEvent, PossibleFailure};
use crate::scheduling::policy::Policy;
use crate::units::NodeIndex;

/// What a cluster knows of failures that follow its load.
#[derive(Clone, Debug, Default)]
pub(super) struct PossibleFailures {
    /// Those that may happen, in the order in which they were handed over.
    possible: Vec<PossibleFailure>,
    /// Those that happened, each with its repair.
    met: Vec<NodeEvent>,
}

impl<P: Policy + ?Sized> ClusterMachine<P> {
    /// Hands over failures that happen if the load is high enough by then. Those of nodes that the
    /// cluster does not have are ignored.
    pub fn expose(&mut self, failures: &[PossibleFailure]) {
        for failure in failures {
            if failure.node.0 < self.cluster.nodes.0 {
                let possible = &mut self.cluster.by_load.possible;
                // At most two million are drawn.
                let place = possible.len() as u32;
                possible.push(*failure);
                self.cluster.schedule(failure.time, Event::MayFail(place));
            }
        }
    }

    /// The failures that followed the load and happened, with their repairs, which may come later.
    #[must_use]
    pub fn take_failures(&mut self) -> Arc<FailureTrace> {
        let mut events = std::mem::take(&mut self.cluster.by_load.met);
        events.sort_unstable_by_key(NodeEvent::order);
        Arc::new(FailureTrace { events })
    }
}

impl Cluster {
    /// The part of the nodes that run jobs.
    fn load(&self) -> f64 {
        let running = self.up.count().0 - self.idle.count().0;
        f64::from(running) / f64::from(self.nodes.0.max(1))
    }

    /// The node that fails now, if this possible failure happens; its repair is scheduled.
    pub(super) fn fails_at_this_load(&mut self, place: u32) -> Option<NodeIndex> {
        let failure = *self.by_load.possible.get(place as usize)?;
        let PossibleFailure { node, down, .. } = failure;
        if !self.up.contains(node) || self.load() <= failure.above_load {
            return None;
        }
        let (failed, repaired) = (self.now, self.now + down);
        for (time, up) in [(failed, false), (repaired, true)] {
            self.by_load.met.push(NodeEvent { time, node, up });
        }
        self.schedule(repaired, Event::Repair(node));
        Some(node)
    }
}
