//! A whole simulation as one function call, without actors: what tests and benchmarks compare the actor system with.

use std::sync::Arc;

use super::cluster::ClusterMachine;
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
    let strategy = registry::strategy(&settings.strategy)?;
    let policy = (strategy.build)(nodes, settings, estimates);
    let mut machine = ClusterMachine::new(nodes, policy);
    machine.submit(jobs.iter().cloned());
    machine.inject(&failures.events);
    while !machine.is_idle()
        && let Some(next) = machine.next_event()
    {
        machine.advance(next + Seconds(1));
    }
    let mut outcomes = machine.take_outcomes();
    outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    Some((machine.metrics(), outcomes))
}
