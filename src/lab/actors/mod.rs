//! The actors of one sweep point: clock, cluster, failure injector and clients, and the messages between them.
//!
//! One simulation is one actor system on one worker thread with a current-thread runtime of its own; nothing mutable is shared
//! between simulations. Actors hold state and speak the protocol of [`messages`]; they compute nothing: each wraps a state
//! machine of the domain. A reservation broker is one more actor between clients and several clusters; it joins the same grants of
//! the clock.

mod client;
mod clock;
mod closed_loop;
#[cfg(test)]
mod closed_loop_tests;
mod cluster;
mod co_reservation;
mod failure_injector;
pub mod messages;
mod provisioning;
mod reserving;
mod slots;
mod virtual_reservations;
#[cfg(test)]
mod watched_tests;

use std::sync::Arc;

use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::error::PanicError;
use tokio::task::JoinHandle;

pub use client::{Client, Submission};
pub use clock::Clock;
pub use closed_loop::{ClosedLoopClient, Decided, HandedOver};
pub use cluster::ClusterActor;
pub use co_reservation::{
    BrokerActor, LocalClusterActor, OutageInjector, messages as co_reservation_messages,
};
pub use failure_injector::FailureInjector;
pub use provisioning::{
    Answered, AskSite, ProviderActor, ProvisionAll, Provisioned, ProvisioningBroker, Silent,
    SitesByMessage,
};
pub use reserving::ReservingClusterActor;
pub use slots::SlotMachineActor;
pub use virtual_reservations::{
    Judge, Judged, ReplayActor, ReplaySeen, ReportReplay, RequesterActor, Snapshots, TakeSnapshots,
    TryOut,
};

use self::messages::{Advance, AskGrant, HandOver, ReportTotals, WhenNext};
use crate::brokering::provisioning::{
    ProvisioningError, ProvisioningInputs, ProvisioningRun, ProvisioningSettings,
};
use crate::brokering::{CoReservationSettings, GridInputs, GridRun};
use crate::failures::{FailureTrace, NodeEvent};
use crate::random::StreamSeed;
use crate::scheduling::local::OverbookingError;
use crate::scheduling::measures::Measured;
use crate::scheduling::predicted_queue::UnknownPredictor;
use crate::scheduling::reserving::{ReservingRun, ReservingSettings};
use crate::scheduling::{
    ClosedLoop, ClusterMachine, JobOutcome, SimulationMetrics, SlotStudyRun, SlotStudySettings,
    VirtualStudy, VirtualStudyError, VirtualStudyRun, VirtualStudySettings,
};
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, ReservationRequest};

/// Length of the windows that the clock grants. It bounds what a client hands over at once and has no influence on results.
const WINDOW: Seconds = Seconds(7 * 24 * 3_600);

/// What one simulation of a policy on its cluster produced.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterRun {
    /// Totals.
    pub metrics: SimulationMetrics,
    /// One outcome a job in order of job id; empty unless asked for.
    pub outcomes: Vec<JobOutcome>,
    /// The node events that happened before the simulation ended; empty unless outcomes were asked for.
    pub node_events: Vec<NodeEvent>,
}

/// Why a simulation could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// No policy of this name is registered.
    #[error(
        "no scheduling strategy is called `{0}`; registered are those of `scheduling::registry`"
    )]
    UnknownStrategy(String),
    /// The strategy overbooks and there is nothing to estimate with.
    #[error("the strategy `{0}` overbooks and needs runtime statistics, but none were learned")]
    NoEstimates(String),
    /// The policy of clusters that overbook cannot sell parts to a broker.
    #[error(transparent)]
    Overbooking(#[from] OverbookingError),
    /// A study of provisioning whose inputs do not fit together.
    #[error(transparent)]
    Provisioning(#[from] ProvisioningError),
    /// A queue with a predictor that does not exist.
    #[error(transparent)]
    UnknownPredictor(#[from] UnknownPredictor),
    /// The runtime of this thread could not be made.
    #[error("no runtime for the actors of a simulation: {0}")]
    Runtime(#[from] std::io::Error),
    /// A study of virtual reservations that its trace or its machine does not allow.
    #[error(transparent)]
    Virtual(#[from] VirtualStudyError),
    /// Jobs are left without an outcome although nothing is going to happen any more: a policy lost them.
    #[error("the strategy `{0}` left jobs without an outcome; this is a defect of the strategy")]
    Unfinished(String),
    /// An actor stopped: its state machine panicked.
    #[error("the {actor} stopped: {reason}")]
    Stopped {
        /// Which actor.
        actor: &'static str,
        /// What it panicked with.
        reason: String,
    },
}

/// Runs a policy on its cluster as an actor system. `None` where the policy leaves jobs without an outcome.
///
/// # Errors
///
/// When an actor panics.
pub fn simulate_cluster(
    machine: ClusterMachine,
    nodes: Nodes,
    jobs: &Arc<[Job]>,
    failures: &Arc<FailureTrace>,
    keep_outcomes: bool,
) -> Result<Option<ClusterRun>, SimulationError> {
    on_this_thread(conduct(machine, nodes, jobs, failures, keep_outcomes))
}

/// As [`simulate_cluster`], with clients whose submissions follow from what becomes of them; and what these did.
///
/// # Errors
///
/// When an actor panics.
pub fn simulate_cluster_and_clients(
    machine: ClusterMachine,
    nodes: Nodes,
    clients: ClosedLoop,
    failures: &Arc<FailureTrace>,
    keep_outcomes: bool,
) -> Result<Option<(ClusterRun, Measured)>, SimulationError> {
    on_this_thread(closed_loop::conduct(
        machine,
        nodes,
        clients,
        failures,
        keep_outcomes,
    ))
}

/// Runs a machine that takes reservations, its client and who asks for reservations as actors.
///
/// # Errors
///
/// When an actor panics.
pub fn simulate_reserving_cluster(
    nodes: Nodes,
    settings: &ReservingSettings,
    jobs: &Arc<[Job]>,
    requests: &Arc<[ReservationRequest]>,
    preemptible: &Arc<[bool]>,
    failures: &Arc<FailureTrace>,
    keep_outcomes: bool,
) -> Result<ReservingRun, SimulationError> {
    on_this_thread(reserving::conduct(
        nodes,
        settings,
        jobs,
        requests,
        preemptible,
        failures,
        keep_outcomes,
    ))
}

/// Runs a machine that advertises slots and its client as actors; `jobs` are in order of submission. Keeps jobs and samples where outcomes
/// are asked for.
///
/// # Errors
///
/// When an actor panics.
pub fn simulate_advertising_machine(
    jobs: &Arc<[Job]>,
    nodes: Nodes,
    settings: &SlotStudySettings,
    keep_outcomes: bool,
) -> Result<SlotStudyRun, SimulationError> {
    on_this_thread(slots::conduct(jobs, nodes, settings, keep_outcomes))
}

/// Runs a machine that replays a trace, its client, and who tries out reservations in forks of it, as actors.
///
/// # Errors
///
/// When the settings do not fit the jobs, or when an actor panics.
pub fn simulate_virtual_reservations(
    jobs: &[Job],
    nodes: Nodes,
    settings: &VirtualStudySettings,
    seed: &StreamSeed,
) -> Result<VirtualStudyRun, SimulationError> {
    let mut stream = seed.stream(VirtualStudy::STREAM);
    let study = VirtualStudy::new(jobs, nodes, settings, &mut stream)?;
    on_this_thread(virtual_reservations::conduct(study))
}

/// Runs a broker and its clusters as actors.
///
/// # Errors
///
/// When the policy of clusters cannot sell parts, or when an actor panics.
pub fn simulate_clusters(
    inputs: &Arc<GridInputs>,
    settings: &CoReservationSettings,
    seed: &StreamSeed,
) -> Result<GridRun, SimulationError> {
    on_this_thread(co_reservation::conduct(inputs, settings, seed))
}

/// Runs a broker of workflows and its sites as actors.
///
/// # Errors
///
/// When inputs do not fit together, or when an actor panics.
pub fn simulate_provisioning_sites(
    inputs: &Arc<ProvisioningInputs>,
    settings: &ProvisioningSettings,
    seed: StreamSeed,
) -> Result<ProvisioningRun, SimulationError> {
    on_this_thread(provisioning::conduct(inputs, settings, seed))
}

fn on_this_thread<T>(
    simulation: impl Future<Output = Result<T, SimulationError>>,
) -> Result<T, SimulationError> {
    tokio::runtime::Builder::new_current_thread()
        .build()?
        .block_on(simulation)
}

/// Brings the actors up, passes the clock's grants around until every job has its outcome, and collects the result.
async fn conduct(
    machine: ClusterMachine,
    nodes: Nodes,
    jobs: &Arc<[Job]>,
    failures: &Arc<FailureTrace>,
    keep_outcomes: bool,
) -> Result<Option<ClusterRun>, SimulationError> {
    let mut clock = Member::spawn("clock", Clock::new(WINDOW));
    let mut client = Member::spawn("client", Client::new(Arc::clone(jobs)));
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
        // Failures alone do not keep the world going: it ends with its last job.
        let next_events = vec![ask!(client, WhenNext).0, cluster_next];
        let Some(until) = ask!(clock, AskGrant { next_events }).until else {
            break;
        };
        let advance = Advance {
            arrivals: ask!(client, HandOver { until }),
            node_events: ask!(injector, HandOver { until }),
            cancellations: Vec::new(),
            until,
        };
        if keep_outcomes {
            node_events.extend_from_slice(&advance.node_events);
        }
        let progress = ask!(cluster, advance);
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
    Ok(Some(ClusterRun::of(totals.0, nodes, outcomes, node_events)))
}

impl ClusterRun {
    fn of(
        metrics: SimulationMetrics,
        nodes: Nodes,
        outcomes: Vec<JobOutcome>,
        mut node_events: Vec<NodeEvent>,
    ) -> Self {
        let outcomes = by_job(outcomes);
        let last_end = outcomes.iter().filter_map(|outcome| outcome.end).max();
        let ended = |time: Seconds| last_end.is_some_and(|end| time <= end);
        node_events.retain(|event| event.node.0 < nodes.0 && ended(event.time));
        Self {
            metrics,
            outcomes,
            node_events,
        }
    }
}

/// Outcomes in order of job id. Each is moved to its place at once, which is cheaper than sorting such large records.
fn by_job(mut outcomes: Vec<JobOutcome>) -> Vec<JobOutcome> {
    let count = outcomes.len();
    let mut slots: Vec<Option<JobOutcome>> = Vec::new();
    slots.resize_with(count, || None);
    if outcomes
        .iter()
        .any(|outcome| outcome.job.id.0 as usize >= count)
    {
        // Ids of a part of a workload do not begin at 0.
        outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
        return outcomes;
    }
    for outcome in outcomes {
        let place = outcome.job.id.0 as usize;
        slots[place] = Some(outcome);
    }
    slots.into_iter().flatten().collect()
}

/// Asks an actor, or gives up with why it stopped.
macro_rules! ask {
    ($member:expr, $message:expr) => {
        match $member.actor.ask($message).await {
            Ok(reply) => reply,
            Err(_) => return Err($member.why_stopped().await),
        }
    };
}

use ask;

/// An actor of this simulation and the task that it runs on.
struct Member<A: Actor> {
    name: &'static str,
    actor: ActorRef<A>,
    task: JoinHandle<Result<(A, kameo::error::ActorStopReason), PanicError>>,
}

impl<A: Actor<Args = A>> Member<A> {
    fn spawn(name: &'static str, actor: A) -> Self {
        let prepared = A::prepare();
        let reference = prepared.actor_ref().clone();
        Self {
            name,
            actor: reference,
            task: prepared.spawn(actor),
        }
    }

    /// Called when an ask was not answered: the actor is gone, and its task knows why.
    async fn why_stopped(&mut self) -> SimulationError {
        let reason = match (&mut self.task).await {
            Ok(Ok((_, reason))) => format!("{reason:?}"),
            Ok(Err(panic)) => panic.to_string(),
            Err(error) => error.to_string(),
        };
        SimulationError::Stopped {
            actor: self.name,
            reason,
        }
    }
}
