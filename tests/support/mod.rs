//! Small workloads for the tests of policies.

pub mod browser;
pub mod decisions;
pub mod json_schema;
pub mod pages;
pub mod program;

use bookahead::failures::{FailureTrace, NodeEvent};
use bookahead::scheduling::{Acceptance, JobOutcome, PolicySpec, Reliability, SimulationMetrics};
use bookahead::units::{NodeIndex, Nodes, Seconds};
use bookahead::workload::{Job, JobId};
use bookahead_overbooking::simulate;
use proptest::prelude::*;

/// A job with times in hours and the deadline of the thesis, `d = o + 2x`.
pub fn job(id: u32, submit: i64, nodes: u32, estimate: i64, runtime: i64) -> Job {
    let hours = |hours: i64| Seconds::HOUR * hours;
    Job::rigid(JobId(id), hours(submit), Nodes(nodes), hours(estimate))
        .running_for(hours(runtime))
        .due_by(hours(submit + 2 * estimate))
        .numbered(i64::from(id) + 1)
}

/// What one job of a crowd is drawn as: width, estimate, percentage of it that the job runs for,
/// and gap since the submission before.
pub type Draw = (u32, i64, i64, i64);

/// So many draws of a crowd that asks for about twice a machine of eight nodes.
pub fn draws(count: usize) -> impl Strategy<Value = Vec<Draw>> {
    prop::collection::vec((1_u32..=8, 60_i64..2_000, 1_i64..=120, 0_i64..120), count)
}

/// A crowd of jobs of three users, each with the deadline of the thesis.
pub fn crowd(draws: &[Draw]) -> Vec<Job> {
    let mut submit = 0;
    let jobs = draws
        .iter()
        .zip(0..)
        .map(|(&(nodes, estimate, percent, gap), id)| {
            submit += gap;
            Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate))
                .running_for(Seconds((estimate * percent / 100).max(1)))
                .due_by(Seconds(submit + 2 * estimate))
                .numbered(i64::from(id) + 1)
                .of_user(i64::from(id % 3))
        });
    jobs.collect()
}

/// Outages of nodes, `(node, down, up)` in hours.
pub fn outages(outages: &[(u32, i64, i64)]) -> FailureTrace {
    let mut events: Vec<NodeEvent> = outages
        .iter()
        .flat_map(|&(node, down, up)| {
            [(down, false), (up, true)].map(|(time, up)| NodeEvent {
                time: Seconds::HOUR * time,
                node: NodeIndex(node),
                up,
            })
        })
        .collect();
    events.sort_by_key(|event| (event.time, !event.up, event.node));
    FailureTrace { events }
}

/// Nodes that the planner believes to be perfect.
pub fn perfect_nodes() -> Reliability {
    Reliability {
        survival: bookahead::failures::SurvivalModel::Poisson { rate_per_hour: 0.0 },
        failure_rate_per_hour: 0.0,
        ..Reliability::default()
    }
}

/// A strategy on such nodes.
pub fn perfect(strategy: &str, pof_max: f64) -> PolicySpec {
    PolicySpec {
        acceptance: Acceptance::Pof { maximum: pof_max },
        reliability: perfect_nodes(),
        ..PolicySpec::named(strategy)
    }
}

/// Runs a registered strategy.
pub fn run(
    nodes: u32,
    settings: &PolicySpec,
    learning: &[Job],
    jobs: &[Job],
    failures: &FailureTrace,
) -> (SimulationMetrics, Vec<JobOutcome>) {
    let estimates = (!learning.is_empty()).then(|| {
        let settings = bookahead::estimates::EstimateSettings {
            family: bookahead::estimates::ClassFamily::All,
            binning: bookahead::estimates::Binning::Round,
            learn_from: bookahead::estimates::LearningJobs::Before,
            overrun: bookahead::estimates::Overrun::Clamp,
            minimum_class_size: 1,
            ..bookahead::estimates::EstimateSettings::default()
        };
        let model = bookahead::estimates::EstimateModel::learn(learning, &settings);
        std::sync::Arc::new(model.expect("there are learning jobs"))
    });
    simulate(Nodes(nodes), settings, estimates, jobs, failures).expect("a registered strategy")
}
