//! A whole simulation as one function call, without actors; tests and benchmarks compare the actor
//! system with it.

use std::sync::Arc;

use bookahead_core::estimates::EstimateModel;
use bookahead_core::failures::{FailureTrace, NodeFailures};
use bookahead_core::kernel::{Played, Scene, drive};
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{
    Allocation, ClusterMachine, JobOutcome, Learned, Policy, PolicySpec, SimulationMetrics,
    outcomes_by_job, simulate_policy, with_failures, with_jobs,
};
use bookahead_core::units::Nodes;
use bookahead_core::workload::Job;

use crate::best_effort::BestEffortMachine;
use crate::client::ClosedLoop;
use crate::registry;

/// What a cluster is to do.
pub enum Work {
    /// Jobs in order of submission, with ids from 0, whatever becomes of them.
    Jobs(Arc<[Job]>),
    /// What clients submit that wait for answers.
    Clients(Box<ClosedLoop>),
}

/// A cluster with its clients and the failures of its nodes.
#[must_use]
pub fn cluster_scene(
    machine: ClusterMachine,
    work: Work,
    failures: &NodeFailures,
) -> Scene<ClusterMachine> {
    let scene = Scene::new("cluster", machine);
    let scene = match work {
        Work::Jobs(jobs) => with_jobs(scene, jobs),
        Work::Clients(clients) => scene.with("client", *clients),
    };
    with_failures(scene, failures)
}

/// A cluster whose idle nodes go to jobs without promises, with the failures of its nodes.
#[must_use]
pub fn best_effort_scene(
    machine: BestEffortMachine,
    jobs: Arc<[Job]>,
    failures: &NodeFailures,
) -> Scene<BestEffortMachine> {
    let scene = Scene::new("cluster", machine);
    with_failures(with_jobs(scene, jobs), failures)
}

/// What one simulation of a policy on its cluster produced.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterRun {
    /// Totals.
    pub metrics: SimulationMetrics,
    /// One outcome a job in order of job id; empty unless they were kept.
    pub outcomes: Vec<JobOutcome>,
    /// What clients did that wait for answers, or jobs without promises.
    pub of_others: Measured,
    /// The failures that followed the load and happened; none where all are known beforehand.
    pub failures: Arc<FailureTrace>,
}

impl ClusterRun {
    /// What a [`cluster_scene`] came to.
    #[must_use]
    pub fn of(mut played: Played<ClusterMachine>) -> Self {
        let metrics = played.machine.metrics();
        let outcomes = outcomes_by_job(&mut played);
        let clients = played.take_source::<ClosedLoop>();
        Self {
            metrics,
            outcomes,
            failures: played.machine.take_failures(),
            of_others: clients.map(|it| it.measures()).unwrap_or_default(),
        }
    }

    /// What a [`best_effort_scene`] came to; outcomes are those of jobs that were promised their
    /// slots.
    #[must_use]
    pub fn beside_best_effort(played: &mut Played<BestEffortMachine>) -> Self {
        Self {
            metrics: played.machine.metrics(),
            outcomes: outcomes_by_job(played),
            of_others: played.machine.measures(),
            failures: Arc::default(),
        }
    }
}

/// Runs `jobs` through the strategy that `spec` names and returns the totals and the outcomes in
/// order of job id, or `None` when no such strategy is registered. With a policy at hand it is
/// [`simulate_policy`].
#[must_use]
pub fn simulate(
    nodes: Nodes,
    spec: &PolicySpec,
    estimates: Option<Arc<EstimateModel>>,
    jobs: &[Job],
    failures: &FailureTrace,
) -> Option<(SimulationMetrics, Vec<JobOutcome>)> {
    let strategy = registry::strategy(&spec.strategy)?;
    let policy = (strategy.build)(nodes, spec, estimates);
    Some(simulate_policy(nodes, policy, jobs, failures))
}

/// What a policy knows after it has run these batteries one after the other, each on an idle
/// machine with the failures beside it: what calibration begins with. `None` where the policy that
/// `make` makes learns nothing.
#[must_use]
pub fn learn_from_batteries(
    make: impl Fn() -> Box<dyn Policy>,
    nodes: Nodes,
    batteries: &[(Arc<[Job]>, NodeFailures)],
) -> Option<Learned> {
    let mut learned: Option<Learned> = None;
    for (jobs, failures) in batteries {
        let mut policy = make();
        if let (Some(known), Some(learned)) = (policy.learned(), learned.take()) {
            *known = learned.for_next_battery();
        }
        let machine = ClusterMachine::new(nodes, policy);
        let mut played = play(machine, Work::Jobs(Arc::clone(jobs)), failures);
        learned = played.machine.learned().cloned();
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
    /// The failures that followed the load and happened; none where all are known beforehand.
    pub failures: Arc<FailureTrace>,
}

/// A machine of this policy that has run these batteries before ([`learn_from_batteries`]).
#[must_use]
pub fn with_learned(
    make: impl Fn() -> Box<dyn Policy>,
    nodes: Nodes,
    before: &[(Arc<[Job]>, NodeFailures)],
) -> ClusterMachine {
    let learned = learn_from_batteries(&make, nodes, before);
    let mut policy = make();
    if let (Some(known), Some(learned)) = (policy.learned(), learned) {
        *known = learned;
    }
    ClusterMachine::new(nodes, policy)
}

/// Plays this machine ([`with_learned`]) with jobs or with clients that wait for answers, and
/// writes down which nodes jobs held and when.
#[must_use]
pub fn replay(mut machine: ClusterMachine, work: Work, failures: &NodeFailures) -> Replay {
    machine.record_allocations();
    let mut played = play(machine, work, failures);
    let allocations = played.machine.take_allocations();
    Replay::of(ClusterRun::of(played), allocations)
}

/// The same of a machine whose idle nodes go to jobs without promises; they are among the
/// allocations.
#[must_use]
pub fn replay_beside_best_effort(
    mut machine: BestEffortMachine,
    jobs: Arc<[Job]>,
    failures: &NodeFailures,
) -> Replay {
    machine.record_allocations();
    let mut played = drive(best_effort_scene(machine, jobs, failures), true);
    let allocations = played.machine.take_allocations();
    Replay::of(ClusterRun::beside_best_effort(&mut played), allocations)
}

impl Replay {
    fn of(run: ClusterRun, mut allocations: Vec<Allocation>) -> Self {
        allocations.sort_by_key(|allocation| (allocation.start, allocation.job));
        Self {
            metrics: run.metrics,
            outcomes: run.outcomes,
            allocations,
            failures: run.failures,
        }
    }
}

fn play(machine: ClusterMachine, work: Work, failures: &NodeFailures) -> Played<ClusterMachine> {
    drive(cluster_scene(machine, work, failures), true)
}
