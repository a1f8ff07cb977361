//! Outages: of the whole cluster, of some of its CPUs.

use super::jobs::waiting;
use super::{LocalMachine, PartKey};
use crate::brokering::co_reservation::local::OutageEvent;
use crate::plan::NodeSet;
use crate::units::{NodeIndex, Seconds};
use crate::workload::JobId;

impl LocalMachine {
    pub(super) fn take_blow(&mut self, outage: OutageEvent) {
        match outage {
            OutageEvent::ClusterDown if self.up => {
                self.up = false;
                let everything = NodeSet::full(self.nodes);
                self.hit(&everything);
            }
            OutageEvent::ClusterUp if !self.up => {
                self.up = true;
                self.unsettled = true;
            }
            OutageEvent::ClusterDown | OutageEvent::ClusterUp => {}
            OutageEvent::NodesDown { first, count } => {
                let mut affected = self.range(first, count);
                affected.subtract(&self.down);
                self.hit(&affected);
                self.free.subtract(&affected);
                self.down.union_with(&affected);
                // Nobody knows when they are repaired.
                self.fixed
                    .reserve(self.now, Seconds::FAR, affected.count().0);
                self.changed();
            }
            OutageEvent::NodesUp { first, count } => {
                let mut repaired = self.range(first, count);
                repaired.intersect_with(&self.down);
                self.down.subtract(&repaired);
                self.free.union_with(&repaired);
                self.fixed
                    .release(self.now, Seconds::FAR, repaired.count().0);
                self.changed();
            }
        }
    }

    /// Whatever holds one of these CPUs is stopped: jobs wait again, parts are lost.
    fn hit(&mut self, affected: &NodeSet) {
        let jobs: Vec<JobId> = self
            .running
            .iter()
            .filter(|(_, running)| running.held.intersects(affected))
            .map(|(id, _)| *id)
            .collect();
        let parts: Vec<PartKey> = self
            .parts
            .iter()
            .filter(|(_, part)| {
                let held = part.held.as_ref();
                held.is_some_and(|held| held.intersects(affected))
            })
            .map(|(key, _)| *key)
            .collect();
        for id in jobs {
            self.stop_job(id);
            if let Some(open) = self.jobs.get_mut(&id) {
                open.restarts += 1;
                open.node_failures += 1;
                self.totals.restarts += 1;
                let again = waiting(&open.job);
                self.enqueue(again);
            }
        }
        for key in parts {
            self.lose(key);
        }
    }

    fn range(&self, first: u32, count: u32) -> NodeSet {
        let mut set = NodeSet::empty(self.nodes);
        let past = first.saturating_add(count).min(self.nodes.0);
        for node in first..past {
            set.insert(NodeIndex(node));
        }
        set
    }
}
