//! A whole simulation as one function call, without actors: what tests and benchmarks compare the actor system with.

use std::sync::Arc;

use super::cluster::{Allocation, ClusterMachine};
use super::learned::Learned;
use super::outcome::{JobOutcome, SimulationMetrics};
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
    let (machine, outcomes) = work_off(nodes, settings, estimates, None, jobs, failures, false)?;
    Some((machine.metrics(), outcomes))
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
            policy.resume(learned);
        }
        let machine = run_to_end(ClusterMachine::new(nodes, policy), jobs, failures);
        learned = machine.learned().cloned();
    }
    learned
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

/// As [`simulate`] after [`learn_from_batteries`], and writes down which nodes jobs held and when.
#[must_use]
pub fn replay(
    nodes: Nodes,
    settings: &PolicySettings,
    estimates: Option<Arc<EstimateModel>>,
    before: &[(Arc<[Job]>, Arc<FailureTrace>)],
    jobs: &[Job],
    failures: &FailureTrace,
) -> Option<Replay> {
    let learned = learn_from_batteries(nodes, settings, estimates.as_ref(), before);
    let (mut machine, outcomes) =
        work_off(nodes, settings, estimates, learned, jobs, failures, true)?;
    let mut allocations = machine.take_allocations();
    allocations.sort_by_key(|allocation| (allocation.start, allocation.job));
    Some(Replay {
        metrics: machine.metrics(),
        outcomes,
        allocations,
    })
}

fn work_off(
    nodes: Nodes,
    settings: &PolicySettings,
    estimates: Option<Arc<EstimateModel>>,
    learned: Option<Learned>,
    jobs: &[Job],
    failures: &FailureTrace,
    record: bool,
) -> Option<(ClusterMachine, Vec<JobOutcome>)> {
    let strategy = registry::strategy(&settings.strategy)?;
    let mut policy = (strategy.build)(nodes, settings, estimates);
    if let Some(learned) = learned {
        policy.resume(learned);
    }
    let mut machine = ClusterMachine::new(nodes, policy);
    if record {
        machine.record_allocations();
    }
    let mut machine = run_to_end(machine, jobs, failures);
    let mut outcomes = machine.take_outcomes();
    outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    Some((machine, outcomes))
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
