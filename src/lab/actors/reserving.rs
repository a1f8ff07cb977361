//! The actors of a simulation with advance reservations: a machine that takes them, and how it and its clients go on.

use std::sync::Arc;

use kameo::Actor;
use kameo::message::{Context, Message};

use super::messages::{
    AdvanceReserving, AskGrant, HandOver, NextEvent, ReportReserving, ReservingProgress,
    ReservingTotals, WhenNext,
};
use super::{Client, Clock, FailureInjector, Member, SimulationError, WINDOW, ask};
use crate::failures::FailureTrace;
use crate::scheduling::reserving::{ReservingMachine, ReservingRun, ReservingSettings};
use crate::units::Nodes;
use crate::workload::{Job, ReservationRequest};

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
        self.machine.inject(&advance.node_events);
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
    preemptible: &Arc<[bool]>,
    failures: &Arc<FailureTrace>,
    keep_outcomes: bool,
) -> Result<ReservingRun, SimulationError> {
    let mut clock = Member::spawn("clock", Clock::new(WINDOW));
    let mut client = Member::spawn("client", Client::new(Arc::clone(jobs)));
    let mut asking = Member::spawn("reservation client", Client::new(Arc::clone(requests)));
    let mut injector = Member::spawn(
        "failure injector",
        FailureInjector::new(Arc::clone(failures)),
    );
    let mut machine = ReservingMachine::new(nodes, settings.clone());
    machine.set_preemptible(Arc::clone(preemptible));
    if !failures.events.is_empty() {
        machine.expect_failures();
    }
    let mut cluster = Member::spawn("cluster", ReservingClusterActor::new(machine));
    let mut job_outcomes = Vec::new();
    let mut reservation_outcomes = Vec::new();
    let mut node_events = Vec::new();
    let mut cluster_next = None;
    let mut idle = true;
    loop {
        let next_events = vec![
            ask!(client, WhenNext).0,
            ask!(asking, WhenNext).0,
            cluster_next,
        ];
        let Some(until) = ask!(clock, AskGrant { next_events }).until else {
            break;
        };
        let advance = AdvanceReserving {
            node_events: ask!(injector, HandOver { until }),
            arrivals: ask!(client, HandOver { until }),
            requests: ask!(asking, HandOver { until }),
            until,
        };
        if keep_outcomes {
            node_events.extend_from_slice(&advance.node_events);
        }
        let progress = ask!(cluster, advance);
        if keep_outcomes {
            job_outcomes.extend(progress.jobs);
            reservation_outcomes.extend(progress.reservations);
        }
        idle = progress.idle;
        // Failures alone do not keep the world going.
        cluster_next = progress.next_event.filter(|_| !idle);
    }
    if !idle {
        return Err(SimulationError::Unfinished("replanning".to_owned()));
    }
    let totals: ReservingTotals = ask!(cluster, ReportReserving);
    Ok(ReservingRun::new(
        nodes,
        totals.jobs,
        totals.reservations,
        job_outcomes,
        reservation_outcomes,
        node_events,
    ))
}
