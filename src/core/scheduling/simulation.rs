//! A policy on its cluster from the first event to the last, as one function call: who submits the
//! jobs, which nodes fail when, and what became of every job.

use std::sync::Arc;

use super::cluster::{ClusterInput, ClusterMachine, ClusterOutput};
use super::outcome::{JobOutcome, SimulationMetrics};
use super::policy::Policy;
use crate::failures::{FailureTrace, NodeEvent, NodeFailures, PossibleFailure, SharedEvents};
use crate::kernel::{Listed, Machine, Played, Scene, drive};
use crate::units::Nodes;
use crate::workload::Job;

/// The scene with a client that submits these jobs, whatever becomes of them; they are in order of
/// submission, with ids from 0.
#[must_use]
pub fn with_jobs<M>(scene: Scene<M>, jobs: Arc<[Job]>) -> Scene<M>
where
    M: Machine<Input = ClusterInput>,
{
    let hand = |input: &mut ClusterInput, jobs: &[Job]| input.arrivals.extend_from_slice(jobs);
    scene.with("client", Listed::new(jobs, |job: &Job| job.submit, hand))
}

/// The scene with an injector of these failures. It comes last: who submits is asked first.
#[must_use]
pub fn with_failures<M>(scene: Scene<M>, failures: &NodeFailures) -> Scene<M>
where
    M: Machine<Input = ClusterInput>,
{
    const INJECTOR: &str = "failure injector";
    match failures {
        NodeFailures::Known(trace) => {
            let hand = |input: &mut ClusterInput, events: &[NodeEvent]| {
                input.node_events.extend_from_slice(events);
            };
            let events = SharedEvents(Arc::clone(trace));
            let injector = Listed::new(events, |event: &NodeEvent| event.time, hand);
            scene.with(INJECTOR, injector.beside())
        }
        NodeFailures::ByLoad(failures) => {
            let hand = |input: &mut ClusterInput, possible: &[PossibleFailure]| {
                input.possible_failures.extend_from_slice(possible);
            };
            let at = |failure: &PossibleFailure| failure.time;
            let injector = Listed::new(Arc::clone(&failures.possible), at, hand);
            scene.with(INJECTOR, injector.beside())
        }
    }
}

/// Takes the outcomes out of what was played, in order of job id.
#[must_use]
pub fn outcomes_by_job<M>(played: &mut Played<M>) -> Vec<JobOutcome>
where
    M: Machine<Output = ClusterOutput>,
{
    let outputs = std::mem::take(&mut played.outputs).into_iter();
    by_job(outputs.flat_map(|output| output.outcomes).collect())
}

/// Outcomes in order of job id. Each is moved to its place at once, which is cheaper than sorting
/// such large records.
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

/// Runs `jobs` through a policy and returns the totals and the outcomes in order of job id.
#[must_use]
pub fn simulate_policy(
    nodes: Nodes,
    policy: Box<dyn Policy>,
    jobs: &[Job],
    failures: &FailureTrace,
) -> (SimulationMetrics, Vec<JobOutcome>) {
    let scene = Scene::new("cluster", ClusterMachine::new(nodes, policy));
    let scene = with_jobs(scene, jobs.into());
    let scene = with_failures(scene, &failures.clone().into());
    let mut played = drive(scene, true);
    let outcomes = outcomes_by_job(&mut played);
    (played.machine.metrics(), outcomes)
}
