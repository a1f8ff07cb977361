//! The actors of a simulation of several clusters: a broker, clusters behind their reservation services, clients, and what hits
//! the clusters. The state machines are those of [`brokering`](crate::brokering); called directly they are
//! [`simulate_grid`](crate::brokering::simulate_grid).

pub mod messages;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use kameo::Actor;
use kameo::actor::ActorRef;
use kameo::message::{Context, Message};

use self::messages::{
    BeginWindow, CarryOut, Done, EndWindow, LocalProgress, LocalReport, ReportLocal,
    ReportRequests, RequestReport, TakeJobs, WorkOff, WorkedOff,
};
use super::old_clock::Clock;
use super::old_messages::{AskGrant, HandOver, NextEvent, WhenNext};
use super::{Client, Member, Silent, SimulationError, ask};
use crate::brokering::{
    CoReservationSettings, Exchange, GridInputs, GridRun, MAXIMUM_IDLE_WINDOWS, OutageEvents, Site,
    WINDOW, clusters, finish,
};
use crate::random::StreamSeed;
use crate::scheduling::local::{ClusterId, OutageEvent};
use crate::units::{Nodes, Seconds};

/// What hits the clusters: the failure injector of a grid.
#[derive(Debug, Actor)]
pub struct OutageInjector {
    outages: OutageEvents,
}

impl OutageInjector {
    /// An injector of these outages.
    #[must_use]
    pub fn new(outages: OutageEvents) -> Self {
        Self { outages }
    }
}

impl Message<HandOver> for OutageInjector {
    type Reply = Vec<(Seconds, ClusterId, OutageEvent)>;

    async fn handle(
        &mut self,
        ask: HandOver,
        _: &mut Context<Self, Self::Reply>,
    ) -> Vec<(Seconds, ClusterId, OutageEvent)> {
        self.outages.before(ask.until)
    }
}

/// The actor around the broker and its network: it asks clusters to do what is to be done next.
#[derive(Debug, Actor)]
pub struct BrokerActor {
    exchange: Option<Exchange>,
    clusters: Vec<ActorRef<LocalClusterActor>>,
}

impl BrokerActor {
    /// The actor of an exchange at which nothing is under way, and who its clusters are.
    #[must_use]
    pub fn new(exchange: Exchange, clusters: Vec<ActorRef<LocalClusterActor>>) -> Self {
        Self {
            exchange: Some(exchange),
            clusters,
        }
    }
}

impl Message<WhenNext> for BrokerActor {
    type Reply = NextEvent;

    async fn handle(&mut self, _: WhenNext, _: &mut Context<Self, NextEvent>) -> NextEvent {
        NextEvent(self.exchange.as_ref().and_then(Exchange::next_event))
    }
}

impl Message<BeginWindow> for BrokerActor {
    type Reply = ();

    async fn handle(&mut self, window: BeginWindow, _: &mut Context<Self, ()>) {
        if let Some(exchange) = &mut self.exchange {
            exchange.submit(window.requests);
            exchange.apply_outage(window.outages);
        }
    }
}

impl Message<WorkOff> for BrokerActor {
    type Reply = WorkedOff;

    async fn handle(&mut self, window: WorkOff, _: &mut Context<Self, WorkedOff>) -> WorkedOff {
        let Some(exchange) = &mut self.exchange else {
            return WorkedOff(Ok(true));
        };
        while let Some(task) = exchange.next_task(window.until) {
            let site = usize::from(task.cluster.0);
            let Ok(Done { task, report }) = self.clusters[site].ask(CarryOut(task)).await else {
                return WorkedOff(Err(Silent { site }));
            };
            exchange.report(&task, report);
        }
        WorkedOff(Ok(exchange.is_idle()))
    }
}

impl Message<ReportRequests> for BrokerActor {
    type Reply = RequestReport;

    async fn handle(
        &mut self,
        _: ReportRequests,
        _: &mut Context<Self, RequestReport>,
    ) -> RequestReport {
        let requests = self.exchange.take().map(Exchange::finish);
        RequestReport {
            requests: requests.unwrap_or_default(),
        }
    }
}

/// The actor around one cluster and its reservation service.
#[derive(Actor)]
pub struct LocalClusterActor {
    site: Site,
}

impl LocalClusterActor {
    /// The actor of an idle cluster.
    #[must_use]
    pub fn new(site: Site) -> Self {
        Self { site }
    }
}

impl Message<TakeJobs> for LocalClusterActor {
    type Reply = ();

    async fn handle(&mut self, jobs: TakeJobs, _: &mut Context<Self, ()>) {
        self.site.submit(&jobs.0);
    }
}

impl Message<CarryOut> for LocalClusterActor {
    type Reply = Done;

    async fn handle(&mut self, ask: CarryOut, _: &mut Context<Self, Done>) -> Done {
        let task = ask.0;
        let report = self.site.carry_out(task.at, &task.command);
        Done { task, report }
    }
}

impl Message<EndWindow> for LocalClusterActor {
    type Reply = LocalProgress;

    async fn handle(
        &mut self,
        window: EndWindow,
        _: &mut Context<Self, LocalProgress>,
    ) -> LocalProgress {
        self.site.advance(window.until);
        let service = self.site.service();
        LocalProgress {
            jobs: service.take_job_outcomes(),
            parts: service.take_part_outcomes(),
            has_events: service.next_event().is_some(),
            idle: service.is_idle(),
        }
    }
}

impl Message<ReportLocal> for LocalClusterActor {
    type Reply = LocalReport;

    async fn handle(&mut self, _: ReportLocal, _: &mut Context<Self, LocalReport>) -> LocalReport {
        LocalReport {
            metrics: self.site.service().metrics(),
            totals: self.site.service().totals(),
            line: self.site.take_line(),
        }
    }
}

/// Brings the actors up and passes grants around until every request has its verdict and every job and part has ended.
pub(super) async fn conduct(
    inputs: &GridInputs,
    settings: &CoReservationSettings,
    seed: &StreamSeed,
) -> Result<GridRun, SimulationError> {
    let sizes: Vec<Nodes> = inputs.clusters.iter().map(|it| it.nodes).collect();
    let outages = OutageEvents::new(settings.failures.as_ref(), &sizes, seed);
    let never_fails = outages.is_empty();
    let mut clock = Member::spawn("clock", Clock::new(WINDOW));
    let mut asking = Member::spawn(
        "co-reservation client",
        Client::new(Arc::clone(&inputs.requests)),
    );
    let mut injector = Member::spawn("failure injector", OutageInjector::new(outages));
    let exchange = Exchange::new(sizes, settings, seed);
    let mut sites: Vec<_> = clusters(inputs, settings)?
        .into_iter()
        .zip(&inputs.clusters)
        .zip((0..).map(ClusterId))
        .map(|((service, workload), cluster)| {
            let client = Client::new(Arc::clone(&workload.jobs));
            let cluster = LocalClusterActor::new(Site::new(cluster, service));
            (
                Member::spawn("client", client),
                Member::spawn("cluster", cluster),
            )
        })
        .collect();
    let members = sites.iter().map(|(_, cluster)| cluster.actor.clone());
    let mut broker = Member::spawn("broker", BrokerActor::new(exchange, members.collect()));
    let mut jobs = Vec::new();
    let mut parts = vec![Vec::new(); sites.len()];
    let mut idle_windows_left = MAXIMUM_IDLE_WINDOWS;
    let mut worked_off = Seconds::ZERO;
    loop {
        let mut arriving = ask!(asking, WhenNext).0;
        for (client, _) in &mut sites {
            arriving = arriving.into_iter().chain(ask!(client, WhenNext).0).min();
        }
        // Time goes on in any case: somebody may wait for a repair.
        let next_events = vec![arriving, ask!(broker, WhenNext).0, Some(worked_off)];
        let Some(until) = ask!(clock, AskGrant { next_events }).until else {
            break;
        };
        for (client, cluster) in &mut sites {
            let arrivals = ask!(client, HandOver { until });
            if !arrivals.is_empty() {
                ask!(cluster, TakeJobs(arrivals));
            }
        }
        let requests = ask!(asking, HandOver { until });
        let outages = ask!(injector, HandOver { until });
        ask!(broker, BeginWindow { requests, outages });
        let mut idle = match ask!(broker, WorkOff { until }).0 {
            Ok(idle) => idle,
            Err(Silent { site }) => return Err(sites[site].1.why_stopped().await),
        };
        for (client, _) in &mut sites {
            idle &= ask!(client, WhenNext).0.is_none();
        }
        idle &= ask!(asking, WhenNext).0.is_none();
        let is_all_submitted = idle;
        let before = jobs.len();
        let mut has_events = false;
        for ((_, cluster), parts) in sites.iter_mut().zip(&mut parts) {
            let progress = ask!(cluster, EndWindow { until });
            jobs.extend(progress.jobs);
            parts.extend(progress.parts);
            has_events |= progress.has_events;
            idle &= progress.idle;
        }
        if idle {
            break;
        }
        worked_off = until;
        if is_all_submitted && !has_events && jobs.len() == before {
            idle_windows_left = if never_fails {
                0
            } else {
                idle_windows_left - 1
            };
        }
        if idle_windows_left == 0 {
            return Err(SimulationError::Unfinished("co-reservation".to_owned()));
        }
    }
    let mut metrics = Vec::new();
    let mut totals = Vec::new();
    let mut lines = Vec::new();
    for (_, cluster) in &mut sites {
        let report: LocalReport = ask!(cluster, ReportLocal);
        metrics.push(report.metrics);
        totals.push(report.totals);
        lines.push(report.line);
    }
    let RequestReport { requests } = ask!(broker, ReportRequests);
    Ok(finish(
        inputs, jobs, parts, requests, lines, &metrics, totals,
    ))
}
