//! The actors of a simulation with advance reservations: a machine that takes them, and a client that asks for them.

use std::sync::Arc;

use kameo::Actor;
use kameo::message::{Context, Message};

use super::messages::{
    AdvanceReserving, AskGrant, HandOverArrivals, HandOverRequests, NextEvent, ReportReserving,
    Requests, ReservingProgress, ReservingTotals, WhenNext,
};
use super::{Clock, Member, SimulationError, TraceClient, WINDOW};
use crate::scheduling::reserving::{ReservingMachine, ReservingRun, ReservingSettings};
use crate::units::Nodes;
use crate::workload::{Job, ReservationRequest};

/// A client that asks for reservations. A request carries what its owner will choose by (a fixed start, or α), so the client
/// waits for no answer (an open loop).
#[derive(Debug, Actor)]
pub struct RequestClient {
    requests: Arc<[ReservationRequest]>,
    next: usize,
}

impl RequestClient {
    /// A client for requests in order of (submission, id).
    #[must_use]
    pub fn new(requests: Arc<[ReservationRequest]>) -> Self {
        Self { requests, next: 0 }
    }
}

impl Message<WhenNext> for RequestClient {
    type Reply = NextEvent;

    async fn handle(&mut self, _: WhenNext, _: &mut Context<Self, NextEvent>) -> NextEvent {
        NextEvent(self.requests.get(self.next).map(|request| request.submit))
    }
}

impl Message<HandOverRequests> for RequestClient {
    type Reply = Requests;

    async fn handle(&mut self, ask: HandOverRequests, _: &mut Context<Self, Requests>) -> Requests {
        let rest = &self.requests[self.next..];
        let count = rest.partition_point(|request| request.submit < ask.until);
        self.next += count;
        Requests(rest[..count].to_vec())
    }
}

/// The actor around one [`ReservingMachine`].
#[derive(Actor)]
pub struct ReservingClusterActor {
    machine: ReservingMachine,
}

impl ReservingClusterActor {
    /// The actor of an idle machine.
    #[must_use]
    pub fn new(machine: ReservingMachine) -> Self {
        Self { machine }
    }
}

impl Message<WhenNext> for ReservingClusterActor {
    type Reply = NextEvent;

    async fn handle(&mut self, _: WhenNext, _: &mut Context<Self, NextEvent>) -> NextEvent {
        NextEvent(self.machine.next_event())
    }
}

impl Message<AdvanceReserving> for ReservingClusterActor {
    type Reply = ReservingProgress;

    async fn handle(
        &mut self,
        advance: AdvanceReserving,
        _: &mut Context<Self, ReservingProgress>,
    ) -> ReservingProgress {
        self.machine.submit(advance.arrivals);
        self.machine.request(advance.requests);
        self.machine.advance(advance.until);
        ReservingProgress {
            jobs: self.machine.take_job_outcomes(),
            reservations: self.machine.take_reservation_outcomes(),
            next_event: self.machine.next_event(),
            idle: self.machine.is_idle(),
        }
    }
}

impl Message<ReportReserving> for ReservingClusterActor {
    type Reply = ReservingTotals;

    async fn handle(
        &mut self,
        _: ReportReserving,
        _: &mut Context<Self, ReservingTotals>,
    ) -> ReservingTotals {
        ReservingTotals {
            jobs: self.machine.metrics(),
            reservations: self.machine.reservation_totals(),
        }
    }
}

/// Brings the actors up and passes grants around until every job and every request has its outcome.
pub(super) async fn conduct(
    nodes: Nodes,
    settings: &ReservingSettings,
    jobs: &Arc<[Job]>,
    requests: &Arc<[ReservationRequest]>,
    keep_outcomes: bool,
) -> Result<ReservingRun, SimulationError> {
    let clock = Member::spawn("clock", Clock::new(WINDOW));
    let client = Member::spawn("client", TraceClient::new(Arc::clone(jobs)));
    let asking = Member::spawn(
        "reservation client",
        RequestClient::new(Arc::clone(requests)),
    );
    let machine = ReservingMachine::new(nodes, settings.clone());
    let cluster = Member::spawn("cluster", ReservingClusterActor::new(machine));
    let mut job_outcomes = Vec::new();
    let mut reservation_outcomes = Vec::new();
    let mut cluster_next = None;
    let mut idle = true;
    loop {
        let Ok(client_next) = client.actor.ask(WhenNext).await else {
            return Err(client.why_stopped().await);
        };
        let Ok(asking_next) = asking.actor.ask(WhenNext).await else {
            return Err(asking.why_stopped().await);
        };
        let next_events = vec![client_next.0, asking_next.0, cluster_next];
        let Ok(grant) = clock.actor.ask(AskGrant { next_events }).await else {
            return Err(clock.why_stopped().await);
        };
        let Some(until) = grant.until else { break };
        let Ok(arrivals) = client.actor.ask(HandOverArrivals { until }).await else {
            return Err(client.why_stopped().await);
        };
        let Ok(requests) = asking.actor.ask(HandOverRequests { until }).await else {
            return Err(asking.why_stopped().await);
        };
        let advance = AdvanceReserving {
            arrivals: arrivals.0,
            requests: requests.0,
            until,
        };
        let Ok(progress) = cluster.actor.ask(advance).await else {
            return Err(cluster.why_stopped().await);
        };
        if keep_outcomes {
            job_outcomes.extend(progress.jobs);
            reservation_outcomes.extend(progress.reservations);
        }
        idle = progress.idle;
        cluster_next = progress.next_event;
    }
    if !idle {
        return Err(SimulationError::Unfinished("replanning".to_owned()));
    }
    let Ok(totals) = cluster.actor.ask(ReportReserving).await else {
        return Err(cluster.why_stopped().await);
    };
    job_outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    reservation_outcomes.sort_unstable_by_key(|outcome| outcome.request.id);
    Ok(ReservingRun {
        metrics: totals.jobs,
        totals: totals.reservations,
        jobs: job_outcomes,
        reservations: reservation_outcomes,
    })
}
