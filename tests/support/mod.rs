//! Small workloads for the tests of policies.

pub mod browser;
pub mod json_schema;
pub mod pages;
pub mod program;

use bookahead::failures::{FailureTrace, NodeEvent};
use bookahead::scheduling::{Acceptance, JobOutcome, PolicySpec, Reliability, SimulationMetrics};
use bookahead::units::{NodeIndex, Nodes, Seconds};
use bookahead::workload::{Job, JobId, JobKind};
use bookahead_overbooking::simulate;

/// A job with times in hours and the deadline of the thesis, `d = o + 2x`.
pub fn job(id: u32, submit: i64, nodes: u32, estimate: i64, runtime: i64) -> Job {
    let hours = |hours: i64| Seconds::HOUR * hours;
    Job {
        id: JobId(id),
        trace_number: i64::from(id) + 1,
        submit: hours(submit),
        release: hours(submit),
        estimate: hours(estimate),
        runtime: hours(runtime),
        deadline: hours(submit + 2 * estimate),
        nodes: Nodes(nodes),
        user: None,
        application: None,
        kind: JobKind::Flexible,
    }
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
