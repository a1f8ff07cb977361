//! A whole simulation as one function call, without actors: what tests and benchmarks compare the actor system with.

use std::sync::Arc;

use super::cluster::{Allocation, ClusterMachine};
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
    let (machine, outcomes) = work_off(nodes, settings, estimates, jobs, failures, false)?;
    Some((machine.metrics(), outcomes))
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

/// As [`simulate`], and writes down which nodes jobs held and when.
#[must_use]
pub fn replay(
    nodes: Nodes,
    settings: &PolicySettings,
    estimates: Option<Arc<EstimateModel>>,
    jobs: &[Job],
    failures: &FailureTrace,
) -> Option<Replay> {
    let (mut machine, outcomes) = work_off(nodes, settings, estimates, jobs, failures, true)?;
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
    jobs: &[Job],
    failures: &FailureTrace,
    record: bool,
) -> Option<(ClusterMachine, Vec<JobOutcome>)> {
    let strategy = registry::strategy(&settings.strategy)?;
    let policy = (strategy.build)(nodes, settings, estimates);
    let mut machine = ClusterMachine::new(nodes, policy);
    if record {
        machine.record_allocations();
    }
    machine.submit(jobs.iter().cloned());
    machine.inject(&failures.events);
    while !machine.is_idle()
        && let Some(next) = machine.next_event()
    {
        machine.advance(next + Seconds(1));
    }
    let mut outcomes = machine.take_outcomes();
    outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    Some((machine, outcomes))
}
