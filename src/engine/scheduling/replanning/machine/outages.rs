//! Failures of nodes: which nodes are down, who holds which, and what a failure takes with it.
//!
//! The plan counts nodes; a failure hits one. So each start takes the lowest-numbered nodes that are up and idle. In the plan a node that
//! is down is taken from now on for good, as nobody knows when it is repaired; at its repair it is given back.

use std::collections::BTreeMap;

use super::ReplanningMachine;
use crate::plan::NodeSet;
use crate::scheduling::replanning::outcome::RequestVerdict;
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::{JobId, RequestId};

/// Who may hold nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    Job(JobId),
    Reservation(RequestId),
}

/// The nodes of a machine by number.
#[derive(Clone, Debug)]
pub(super) struct Outages {
    /// Up, and held by nobody.
    idle: NodeSet,
    down: NodeSet,
    held: BTreeMap<Holder, NodeSet>,
}

impl Outages {
    pub(super) fn new(nodes: Nodes) -> Self {
        Self {
            idle: NodeSet::full(nodes),
            down: NodeSet::empty(nodes),
            held: BTreeMap::new(),
        }
    }

    fn holder(&self, node: NodeIndex) -> Option<Holder> {
        let mut held = self.held.iter();
        held.find(|(_, nodes)| nodes.contains(node))
            .map(|(holder, _)| *holder)
    }
}

impl ReplanningMachine {
    /// Takes idle nodes for somebody who starts; whether there were enough.
    pub(super) fn take(&mut self, holder: Holder, nodes: Nodes) -> bool {
        let Some(outages) = &mut self.outages else {
            return true;
        };
        let Some(lowest) = outages.idle.lowest(nodes) else {
            return false;
        };
        outages.idle.subtract(&lowest);
        outages.held.insert(holder, lowest);
        true
    }

    /// Gives back what somebody held.
    pub(super) fn give_back(&mut self, holder: Holder) {
        if let Some(outages) = &mut self.outages
            && let Some(mut nodes) = outages.held.remove(&holder)
        {
            nodes.subtract(&outages.down);
            outages.idle.union_with(&nodes);
        }
    }

    pub(super) fn node_failed(&mut self, node: NodeIndex) {
        let holder = self.outages.as_ref().and_then(|known| known.holder(node));
        match holder {
            Some(Holder::Job(job)) => {
                let lost = self.stop(job);
                self.reservation_totals.lost_to_failures += lost;
                if let Some(open) = self.jobs.get_mut(&job) {
                    open.node_failures += 1;
                }
                self.queue_again(job);
            }
            Some(Holder::Reservation(request)) => self.lose_reservation(request),
            None => {}
        }
        if let Some(outages) = &mut self.outages {
            outages.down.insert(node);
            outages.idle.remove(node);
            self.fixed.reserve(self.now, Seconds::FAR, 1);
            self.forget_plan();
            self.unsettled = true;
        }
    }

    pub(super) fn node_repaired(&mut self, node: NodeIndex) {
        if let Some(outages) = &mut self.outages {
            outages.down.remove(node);
            outages.idle.insert(node);
            self.fixed.release(self.now, Seconds::FAR, 1);
            self.forget_plan();
            self.unsettled = true;
        }
    }

    /// Ends a granted reservation that lost a node, or did not find all of its nodes at its start.
    pub(super) fn lose_reservation(&mut self, id: RequestId) {
        let Some(mut open) = self.reservations.remove(&id) else {
            return;
        };
        let request = &open.outcome.request;
        let (nodes, end) = (request.nodes, open.start + request.duration);
        if open.running {
            self.give_back(Holder::Reservation(id));
            self.in_use -= nodes.0;
            let held = nodes.for_span(self.now - open.start);
            self.totals.busy += held;
            self.reservation_totals.lost_to_failures += held;
            open.outcome.end = Some(self.now);
            self.last_end = self.last_end.max(self.now);
        } else {
            open.outcome.start = None;
        }
        self.fixed.release(self.now, end, nodes.0);
        self.forget_plan();
        self.unsettled = true;
        open.outcome.verdict = RequestVerdict::Lost;
        self.close(open.outcome);
    }
}
