//! The actors of a policy on its cluster whose clients wait for answers. Called directly they are
//! [`simulate_clients`](crate::scheduling::simulate_clients).

use std::sync::Arc;

use kameo::message::{Context, Message};
use kameo::{Actor, Reply};

use super::messages::{
    Advance, AskGrant, HandOver, Measures, NextEvent, ReportMeasures, ReportTotals, WhenNext,
};
use super::{ClusterActor, ClusterRun, FailureInjector, Member, SimulationError, ask};
use crate::actors::Clock;
use crate::failures::FailureTrace;
use crate::scheduling::measures::Measured;
use crate::scheduling::{ClosedLoop, ClusterMachine, Decision, Orders, REACTION};
use crate::units::Nodes;

/// Reply of a client in a closed loop to [`HandOver`].
#[derive(Clone, Debug, Reply)]
pub struct HandedOver(pub Orders);

/// To a client in a closed loop: this was decided.
#[derive(Clone, Debug)]
pub struct Decided(pub Vec<Decision>);

/// The actor around one [`ClosedLoop`].
#[derive(Debug, Actor)]
pub struct ClosedLoopClient {
    clients: ClosedLoop,
}

impl ClosedLoopClient {
    /// The actor of users who have submitted nothing yet.
    #[must_use]
    pub fn new(clients: ClosedLoop) -> Self {
        Self { clients }
    }
}

impl Message<WhenNext> for ClosedLoopClient {
    type Reply = NextEvent;

    async fn handle(&mut self, _: WhenNext, _: &mut Context<Self, NextEvent>) -> NextEvent {
        NextEvent(self.clients.next_event())
    }
}

impl Message<HandOver> for ClosedLoopClient {
    type Reply = HandedOver;

    async fn handle(&mut self, ask: HandOver, _: &mut Context<Self, HandedOver>) -> HandedOver {
        HandedOver(self.clients.hand_over(ask.until))
    }
}

impl Message<Decided> for ClosedLoopClient {
    type Reply = ();

    async fn handle(&mut self, decided: Decided, _: &mut Context<Self, ()>) {
        self.clients.decided(decided.0);
    }
}

impl Message<ReportMeasures> for ClosedLoopClient {
    type Reply = Measures;

    async fn handle(&mut self, _: ReportMeasures, _: &mut Context<Self, Measures>) -> Measures {
        Measures(self.clients.measures())
    }
}

/// Brings the actors up and passes the clock's grants around until nobody submits anything more and every job has its outcome.
///
/// What clients submit follows from what happened a second before at the earliest, so a window is as short as that; and as a failure
/// may be what they react to, it begins with the next one, too.
pub(super) async fn conduct(
    machine: ClusterMachine,
    nodes: Nodes,
    clients: ClosedLoop,
    failures: &Arc<FailureTrace>,
    keep_outcomes: bool,
) -> Result<Option<(ClusterRun, Measured)>, SimulationError> {
    let mut clock = Member::spawn("clock", Clock::new(REACTION));
    let mut client = Member::spawn("client", ClosedLoopClient::new(clients));
    let mut injector = Member::spawn(
        "failure injector",
        FailureInjector::new(Arc::clone(failures)),
    );
    let mut cluster = Member::spawn("cluster", ClusterActor::new(machine));
    let mut outcomes = Vec::new();
    let mut node_events = Vec::new();
    let mut cluster_next = None;
    let mut idle = true;
    loop {
        let mut next_events = vec![ask!(client, WhenNext).0, cluster_next];
        if !idle {
            next_events.push(ask!(injector, WhenNext).0);
        }
        let Some(until) = ask!(clock, AskGrant { next_events }).until else {
            break;
        };
        let HandedOver(orders) = ask!(client, HandOver { until });
        let advance = Advance {
            arrivals: orders.submissions,
            cancellations: orders.cancellations,
            node_events: ask!(injector, HandOver { until }),
            until,
        };
        if keep_outcomes {
            node_events.extend_from_slice(&advance.node_events);
        }
        let progress = ask!(cluster, advance);
        let decided = progress.outcomes.iter().map(Decision::of);
        let cancelled = progress.cancelled.into_iter().map(Decision::cancelled);
        let decided: Vec<Decision> = decided.chain(cancelled).collect();
        if !decided.is_empty() {
            ask!(client, Decided(decided));
        }
        if keep_outcomes {
            outcomes.extend(progress.outcomes);
        }
        idle = progress.idle;
        cluster_next = progress.next_event.filter(|_| !idle);
    }
    if !idle {
        return Ok(None);
    }
    let totals = ask!(cluster, ReportTotals);
    let run = ClusterRun::of(totals.0, nodes, outcomes, node_events);
    Ok(Some((run, ask!(client, ReportMeasures).0)))
}
