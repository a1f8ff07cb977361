//! A whole simulation as one function call, without actors: what tests and benchmarks compare the actor system with.

use std::sync::Arc;

use super::client::{ClosedLoop, Decision};
use super::cluster::{Allocation, ClusterMachine};
use super::learned::Learned;
use super::measures::Measured;
use super::outcome::{JobOutcome, SimulationMetrics};
use super::policy::Policy;
use super::registry;
use super::settings::PolicySettings;
use crate::estimates::EstimateModel;
use crate::failures::FailureTrace;
use crate::units::{Nodes, Seconds};
use crate::workload::Job;

/// Runs `jobs` through the strategy that `settings` names and returns the totals and the outcomes in order of job id, or
/// `None` when no such strategy is registered.
#[must_use]
pub fn simulate(
    nodes: Nodes,
    settings: &PolicySettings,
    estimates: Option<Arc<EstimateModel>>,
    jobs: &[Job],
    failures: &FailureTrace,
) -> Option<(SimulationMetrics, Vec<JobOutcome>)> {
    let machine = machine_of(nodes, settings, estimates, None)?;
    let machine = run_to_end(machine, jobs, failures);
    Some(result_of(machine))
}

/// As [`simulate`], with a policy that need not be registered.
#[must_use]
pub fn simulate_policy(
    nodes: Nodes,
    policy: Box<dyn Policy>,
    jobs: &[Job],
    failures: &FailureTrace,
) -> (SimulationMetrics, Vec<JobOutcome>) {
    let machine = ClusterMachine::new(nodes, policy);
    result_of(run_to_end(machine, jobs, failures))
}

/// As [`simulate`], with clients whose submissions follow from what becomes of them; and what these did.
#[must_use]
pub fn simulate_clients(
    nodes: Nodes,
    settings: &PolicySettings,
    estimates: Option<Arc<EstimateModel>>,
    mut clients: ClosedLoop,
    failures: &FailureTrace,
) -> Option<(SimulationMetrics, Vec<JobOutcome>, Measured)> {
    let machine = machine_of(nodes, settings, estimates, None)?;
    let (machine, mut outcomes) = run_clients(machine, &mut clients, failures);
    outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    Some((machine.metrics(), outcomes, clients.measures()))
}

/// What a policy knows after it has run these batteries one after the other, each on an idle machine with the failures beside
/// it: what calibration begins with. `None` where no such strategy is registered or it learns nothing.
#[must_use]
pub fn learn_from_batteries(
    nodes: Nodes,
    settings: &PolicySettings,
    estimates: Option<&Arc<EstimateModel>>,
    batteries: &[(Arc<[Job]>, Arc<FailureTrace>)],
) -> Option<Learned> {
    let strategy = registry::strategy(&settings.strategy)?;
    let mut learned: Option<Learned> = None;
    for (jobs, failures) in batteries {
        let mut policy = (strategy.build)(nodes, settings, estimates.cloned());
        if let Some(learned) = learned.take() {
            policy.resume(learned.for_next_battery());
        }
        let machine = run_to_end(ClusterMachine::new(nodes, policy), jobs, failures);
        learned = machine.learned().cloned();
    }
    learned.map(Learned::for_next_battery)
}

/// A simulation with everything that can be seen of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The totals.
    pub metrics: SimulationMetrics,
    /// The outcomes in order of job id.
    pub outcomes: Vec<JobOutcome>,
    /// Every attempt of every job on its nodes, by start, then job.
    pub allocations: Vec<Allocation>,
}

/// As [`simulate`] after [`learn_from_batteries`], or with `clients` in the place of the jobs as [`simulate_clients`]; writes down which
/// nodes jobs held and when.
#[must_use]
pub fn replay(
    nodes: Nodes,
    settings: &PolicySettings,
    estimates: Option<Arc<EstimateModel>>,
    before: &[(Arc<[Job]>, Arc<FailureTrace>)],
    jobs: &[Job],
    failures: &FailureTrace,
    clients: Option<ClosedLoop>,
) -> Option<Replay> {
    let learned = learn_from_batteries(nodes, settings, estimates.as_ref(), before);
    let mut machine = machine_of(nodes, settings, estimates, learned)?;
    machine.record_allocations();
    let (mut machine, mut outcomes) = match clients {
        Some(mut clients) => run_clients(machine, &mut clients, failures),
        None => (run_to_end(machine, jobs, failures), Vec::new()),
    };
    let mut allocations = machine.take_allocations();
    allocations.sort_by_key(|allocation| (allocation.start, allocation.job));
    let (metrics, rest) = result_of(machine);
    outcomes.extend(rest);
    outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    Some(Replay {
        metrics,
        outcomes,
        allocations,
    })
}

fn machine_of(
    nodes: Nodes,
    settings: &PolicySettings,
    estimates: Option<Arc<EstimateModel>>,
    learned: Option<Learned>,
) -> Option<ClusterMachine> {
    let strategy = registry::strategy(&settings.strategy)?;
    let mut policy = (strategy.build)(nodes, settings, estimates);
    if let Some(learned) = learned {
        policy.resume(learned);
    }
    Some(ClusterMachine::new(nodes, policy))
}

/// Totals, and outcomes in order of job id.
fn result_of(mut machine: ClusterMachine) -> (SimulationMetrics, Vec<JobOutcome>) {
    let mut outcomes = machine.take_outcomes();
    outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    (machine.metrics(), outcomes)
}

/// One instant after the other, each followed by what clients make of its outcomes; the outcomes in the order in which they became final.
fn run_clients(
    mut machine: ClusterMachine,
    clients: &mut ClosedLoop,
    failures: &FailureTrace,
) -> (ClusterMachine, Vec<JobOutcome>) {
    machine.inject(&failures.events);
    let mut outcomes = Vec::new();
    loop {
        // Failures alone do not keep the world going.
        let next = machine.next_event().filter(|_| !machine.is_idle());
        let Some(next) = next.into_iter().chain(clients.next_event()).min() else {
            break;
        };
        let until = next + Seconds(1);
        let orders = clients.hand_over(until);
        machine.submit(orders.submissions);
        machine.cancel(orders.cancellations);
        machine.advance(until);
        let decided = machine.take_outcomes();
        clients.decided(decided.iter().map(Decision::of));
        clients.decided(
            machine
                .take_cancelled()
                .into_iter()
                .map(Decision::cancelled),
        );
        outcomes.extend(decided);
    }
    (machine, outcomes)
}

fn run_to_end(
    mut machine: ClusterMachine,
    jobs: &[Job],
    failures: &FailureTrace,
) -> ClusterMachine {
    machine.submit(jobs.iter().cloned());
    machine.inject(&failures.events);
    while !machine.is_idle()
        && let Some(next) = machine.next_event()
    {
        machine.advance(next + Seconds(1));
    }
    machine
}
