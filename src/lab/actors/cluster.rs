//! A cluster as an actor: it holds a [`ClusterMachine`] and speaks for it.

use kameo::Actor;
use kameo::message::{Context, Message};

use super::messages::{Advance, NextEvent, Progress, ReportTotals, Totals, WhenNext};
use crate::scheduling::ClusterMachine;

/// The actor around one cluster and its policy.
#[derive(Actor)]
pub struct ClusterActor {
    machine: ClusterMachine,
}

impl ClusterActor {
    /// The actor of an idle cluster.
    #[must_use]
    pub fn new(machine: ClusterMachine) -> Self {
        Self { machine }
    }
}

impl Message<WhenNext> for ClusterActor {
    type Reply = NextEvent;

    async fn handle(&mut self, _: WhenNext, _: &mut Context<Self, NextEvent>) -> NextEvent {
        NextEvent(self.machine.next_event())
    }
}

impl Message<Advance> for ClusterActor {
    type Reply = Progress;

    async fn handle(&mut self, advance: Advance, _: &mut Context<Self, Progress>) -> Progress {
        self.machine.submit(advance.arrivals);
        self.machine.cancel(advance.cancellations);
        self.machine.inject(&advance.node_events);
        self.machine.advance(advance.until);
        Progress {
            outcomes: self.machine.take_outcomes(),
            cancelled: self.machine.take_cancelled(),
            next_event: self.machine.next_event(),
            idle: self.machine.is_idle(),
        }
    }
}

impl Message<ReportTotals> for ClusterActor {
    type Reply = Totals;

    async fn handle(&mut self, _: ReportTotals, _: &mut Context<Self, Totals>) -> Totals {
        Totals(self.machine.metrics())
    }
}
