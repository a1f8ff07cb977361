//! Jobs with two runs (Birkenheuer 2012, §2.2.4).

use std::sync::Arc;

use bookahead_core::estimates::{EstimateModel, EstimateSettings};
use bookahead_core::failures::{FailureTrace, NodeEvent, SurvivalModel};
use bookahead_core::scheduling::{
    Acceptance, ClusterMachine, DoubleExecution, PolicySpec, Reliability, Verdict,
};
use bookahead_core::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::{Replay, Work, registry, replay};

const HOUR: i64 = 3_600;

/// A job that is submitted at 0, its times in hours.
fn job(id: u32, nodes: u32, estimate: i64, ran: i64, deadline: i64) -> Job {
    Job::rigid(
        JobId(id),
        Seconds(0),
        Nodes(nodes),
        Seconds(HOUR * estimate),
    )
    .running_for(Seconds(HOUR * ran))
    .due_by(Seconds(HOUR * deadline))
}

/// Nodes go down at these hours, for ever.
fn failing(failures: &[(u32, i64)]) -> FailureTrace {
    let events = failures.iter().map(|&(node, hour)| NodeEvent {
        time: Seconds(HOUR * hour),
        node: NodeIndex(node),
        up: false,
    });
    FailureTrace {
        events: events.collect(),
    }
}

/// Heuristic planning with nodes that are believed to fail once in a hundred hours, and jobs that
/// run twice where that is worth the price at ρ = 1.
fn settings(price: Option<f64>) -> PolicySpec {
    settings_of("heuristic-planning", price)
}

/// The same under another strategy.
fn settings_of(strategy: &str, price: Option<f64>) -> PolicySpec {
    PolicySpec {
        double_execution: price.map(|price| DoubleExecution::at(price, 1.0)),
        reliability: Reliability {
            survival: SurvivalModel::Poisson {
                rate_per_hour: 0.01,
            },
            failure_rate_per_hour: 0.01,
            ..Reliability::default()
        },
        ..PolicySpec::named(strategy)
    }
}

fn play(settings: &PolicySpec, jobs: &[Job], failures: &FailureTrace) -> Replay {
    play_with(None, settings, jobs, failures)
}

fn play_with(
    statistics: Option<Arc<EstimateModel>>,
    settings: &PolicySpec,
    jobs: &[Job],
    failures: &FailureTrace,
) -> Replay {
    let strategy = registry::strategy(&settings.strategy).unwrap();
    let policy = (strategy.build)(Nodes(4), settings, statistics);
    let machine = ClusterMachine::new(Nodes(4), policy);
    replay(machine, Work::Jobs(jobs.into()), &failures.clone().into())
}

/// Each attempt: job, hours of its start and end, whether a node failed under it, its first node.
fn attempts(replay: &Replay) -> Vec<(u32, i64, i64, bool, u32)> {
    let each = replay.allocations.iter().map(|run| {
        let first = run.nodes.iter().next().unwrap();
        let (start, end) = (run.start.0 / HOUR, run.end.0 / HOUR);
        (run.job.0, start, end, run.lost, first.0)
    });
    let mut attempts: Vec<_> = each.collect();
    attempts.sort_unstable();
    attempts
}

/// Planning that counts nodes, and planning that binds jobs to them.
const PLANNING: [&str; 2] = ["heuristic-planning", "conservative-backfilling"];

#[test]
fn a_job_with_two_runs_outlives_the_failure_of_a_node_under_one_of_them() {
    let jobs = [job(0, 2, 4, 4, 8)];
    let cases = PLANNING.map(|strategy| [(strategy, 1, true), (strategy, 2, false)]);
    for (strategy, node, lost_first) in cases.into_iter().flatten() {
        let failures = failing(&[(node, 1)]);
        let played = play(&settings_of(strategy, Some(0.0)), &jobs, &failures);
        let [outcome] = played.outcomes.as_slice() else {
            panic!("one outcome")
        };
        assert_eq!(outcome.verdict, Verdict::SuccessfulFinished);
        assert_eq!(outcome.end, Some(Seconds(4 * HOUR)));
        assert_eq!(outcome.node_failures, 1);
        let (first, second) = if lost_first { (1, 4) } else { (4, 1) };
        let mut expected = [(0, 0, first, lost_first, 0), (0, 0, second, !lost_first, 2)];
        expected.sort_unstable();
        assert_eq!(attempts(&played), expected);
        // One fee of 2 · 4 coins; 2 · 4 + 2 · 1 node-hours.
        assert_eq!(played.metrics.fees, NodeSeconds(8 * HOUR));
        assert_eq!(played.metrics.busy, NodeSeconds(10 * HOUR));
        let double = played.metrics.double;
        let rescued = u64::from(lost_first);
        assert_eq!((double.jobs, double.rescued), (1, rescued));
        assert_eq!(double.spare, NodeSeconds(0));
    }
    let alone = play(&settings(None), &jobs, &failing(&[(1, 1)]));
    assert_eq!(alone.outcomes[0].verdict, Verdict::FailedNodes);
}

#[test]
fn a_job_whose_two_runs_are_lost_has_failed_once() {
    let failures = [[(0, 1), (2, 2)], [(0, 1), (2, 1)], [(2, 1), (0, 1)]];
    let cases = PLANNING.map(|strategy| failures.map(|failures| (strategy, failures)));
    for (strategy, failures) in cases.into_iter().flatten() {
        let played = play(
            &settings_of(strategy, Some(0.0)),
            &[job(0, 2, 4, 4, 8)],
            &failing(&failures),
        );
        assert_eq!(played.outcomes.len(), 1);
        assert_eq!(played.outcomes[0].verdict, Verdict::FailedNodes);
        assert_eq!(played.outcomes[0].node_failures, 2);
        assert_eq!(played.metrics.forfeited, NodeSeconds(8 * HOUR));
        assert_eq!(played.metrics.double.rescued, 0);
    }
}

#[test]
fn the_second_run_is_dropped_when_the_first_ends_and_its_nodes_go_to_the_next_job() {
    // The first has both its runs in [0, 4) and ends at 1; the second needs all nodes.
    let jobs = [job(0, 2, 4, 1, 4), job(1, 4, 2, 2, 20)];
    let played = play(&settings(Some(0.0)), &jobs, &failing(&[]));
    let expected = [
        (0, 0, 1, false, 0),
        (0, 0, 1, false, 2),
        (1, 1, 3, false, 0),
    ];
    assert_eq!(attempts(&played), expected);
    assert_eq!(played.metrics.double.spare, NodeSeconds(2 * HOUR));
    assert_eq!(played.metrics.double.rescued, 0);
    assert_eq!(played.metrics.work.replans, 2);
}

#[test]
fn a_job_runs_twice_where_that_pays_and_the_plan_has_the_nodes_in_its_window() {
    for strategy in PLANNING {
        runs_twice_where_that_pays(strategy);
    }
}

fn runs_twice_where_that_pays(strategy: &str) {
    let runs = |price, jobs: &[Job]| {
        let settings = settings_of(strategy, Some(price));
        let played = play(&settings, jobs, &failing(&[]));
        played.metrics.double.jobs
    };
    // 2 nodes for 4 h: h = (1 + 0.01/0.4333)^-2 · e^-0.08 = 0.8820, q(1 − q)(1 + ρ) = 0.208.
    let one = [job(0, 2, 4, 4, 4)];
    assert_eq!((runs(0.20, &one), runs(0.22, &one)), (1, 0));
    // Three of four nodes, and two where another job has one of the others.
    assert_eq!(runs(0.0, &[job(0, 3, 4, 4, 4)]), 0);
    assert_eq!(runs(0.0, &[job(0, 1, 4, 4, 4), job(1, 2, 4, 4, 4)]), 1);
    assert_eq!(runs(0.0, &[job(0, 1, 4, 4, 4), job(1, 1, 4, 4, 4)]), 2);
    // No fixed reservation runs twice.
    let fixed = job(0, 2, 4, 4, 4).into_reservation(Seconds(HOUR));
    assert_eq!(runs(0.0, &[fixed]), 0);
}

#[test]
fn a_run_that_cannot_start_is_given_up_while_the_other_one_is_there() {
    // Both runs of job 1 are planned for [2, 6). A node fails at 1 and ends job 0, but is taken to
    // be back after 2.3 hours, so that nothing moves. At 2 the second run finds a single node.
    let jobs = [job(0, 4, 2, 2, 2), job(1, 2, 4, 4, 6)];
    let played = play(&settings(Some(0.0)), &jobs, &failing(&[(3, 1)]));
    assert_eq!(attempts(&played), [(0, 0, 1, true, 0), (1, 2, 6, false, 0)]);
    assert_eq!(played.outcomes[1].verdict, Verdict::SuccessfulFinished);
    assert_eq!(played.metrics.double.jobs, 1);
    // The node is down before: there is no room for two runs.
    let played = play(&settings(Some(0.0)), &jobs[1..], &failing(&[(3, 0)]));
    assert_eq!(played.metrics.double.jobs, 0);
    assert_eq!(attempts(&played), [(1, 0, 4, false, 0)]);
}

/// Half of the jobs take half of their estimate, and half of them all of it.
fn half_or_all() -> Arc<EstimateModel> {
    let job = |id: u32| {
        let ran = if id.is_multiple_of(2) { 300 } else { 600 };
        Job::rigid(JobId(id), Seconds(0), Nodes(1), Seconds(600)).running_for(Seconds(ran))
    };
    let learned: Vec<Job> = (0..10).map(job).collect();
    Arc::new(EstimateModel::learn(&learned, &EstimateSettings::default()).unwrap())
}

#[test]
fn an_overbooked_job_with_nodes_of_its_own_is_promised_what_both_runs_are_worth() {
    // All nodes are taken from 5 h on. A job of one node and 6 h that is due then has 5 of them on
    // each node: F = 1/2, and h = e^-0.05 ÷ (1 + 0.01/0.4333) for each of its runs.
    let settings = PolicySpec {
        acceptance: Acceptance::Pof { maximum: 0.52 },
        ..settings_of("comprehensive-overbooking", Some(0.0))
    };
    let fixed = job(0, 4, 5, 5, 10).into_reservation(Seconds(5 * HOUR));
    let jobs = [fixed, job(1, 1, 6, 3, 5)];
    let played = play_with(Some(half_or_all()), &settings, &jobs, &failing(&[(0, 1)]));
    let outcome = &played.outcomes[1];
    let success = outcome.promise.and_then(|promise| promise.success).unwrap();
    let up = libm::exp(-0.05) / (1.0 + 0.01 / 0.4333);
    let single = 0.5 * up;
    let double = 0.5 * (1.0 - (1.0 - up) * (1.0 - up));
    assert!(
        (success.pos() - double).abs() < 1e-4,
        "{} {single} {double}",
        success.pos()
    );
    // One run would have been too risky: 1 − 0.465 > 0.52.
    assert!(1.0 - single > 0.52 && 1.0 - double < 0.52);
    assert_eq!(outcome.verdict, Verdict::SuccessfulFinished);
    assert_eq!(attempts(&played), [(1, 0, 1, true, 0), (1, 0, 3, false, 1)]);
    assert_eq!(played.metrics.double.rescued, 1);
    let alone = PolicySpec {
        double_execution: None,
        ..settings
    };
    let alone = play_with(Some(half_or_all()), &alone, &jobs, &failing(&[]));
    assert_eq!(alone.outcomes[1].verdict, Verdict::DroppedNoSlot);
}
