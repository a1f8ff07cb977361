//! When and where jobs start and are given up: rules of docs/model.md and docs/counted-plan.md that
//! show on two or three jobs.

use std::sync::Arc;

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::scheduling::{
    Bandwidth, CheckpointInterval, CheckpointSettings, ClusterMachine, DownHorizon, PolicySpec,
    Reliability, Verdict,
};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::{Replay, Work, registry, replay};

/// A job with its id and submission, its nodes, and its estimate, which it uses.
fn job(id: u32, submit: i64, nodes: u32, estimate: i64) -> Job {
    Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate)).numbered(1)
}

/// The jobs on a cluster whose node 0 is down for a time.
fn played(nodes: u32, settings: &PolicySpec, jobs: &[Job], down: Option<(i64, i64)>) -> Replay {
    let outage = down.map(|(start, end)| Outage {
        node: NodeIndex(0),
        start: Seconds(start),
        end: Seconds(end),
    });
    let failures = FailureTrace::from_outages(outage).expect("it ends");
    let strategy = registry::strategy(&settings.strategy).expect("a registered strategy");
    let policy = (strategy.build)(Nodes(nodes), settings, None);
    let machine = ClusterMachine::new(Nodes(nodes), policy);
    replay(machine, Work::Jobs(Arc::from(jobs)), &failures.into())
}

/// The nodes of each job, by id; each job starts once.
fn nodes_of(replay: &Replay) -> Vec<Vec<u32>> {
    let mut held: Vec<Vec<u32>> = vec![Vec::new(); replay.outcomes.len()];
    for allocation in &replay.allocations {
        held[allocation.job.0 as usize] = allocation.nodes.iter().map(|node| node.0).collect();
    }
    held
}

#[test]
fn a_queue_gives_the_lowest_numbered_idle_nodes() {
    let jobs = [job(0, 0, 1, 10), job(1, 0, 1, 100), job(2, 5, 2, 20)];
    for queue in ["fcfs", "easy-backfilling"] {
        let replay = played(4, &PolicySpec::named(queue), &jobs, None);
        assert_eq!(nodes_of(&replay), [vec![0], vec![1], vec![2, 3]], "{queue}");
        let later = [jobs[0].clone(), jobs[1].clone(), job(2, 10, 2, 20)];
        let replay = played(4, &PolicySpec::named(queue), &later, None);
        assert_eq!(nodes_of(&replay), [vec![0], vec![1], vec![0, 2]], "{queue}");
    }
}

#[test]
fn a_queued_job_is_given_up_in_the_first_second_from_which_on_its_estimate_does_not_fit() {
    let over = |until| {
        let jobs = [job(0, 0, 1, until), job(1, 0, 1, 50).due_by(Seconds(120))];
        let replay = played(1, &PolicySpec::named("fcfs"), &jobs, None);
        let second = &replay.outcomes[1];
        (second.verdict, second.start, second.end)
    };
    // 120 − 50 is in time, and 120 − 50 + 1 is not, even if the node becomes free in that second.
    let in_time = Some(Seconds(70));
    assert_eq!(
        over(70),
        (Verdict::SuccessfulFinished, in_time, Some(Seconds(120)))
    );
    assert_eq!(
        over(71),
        (Verdict::FailedUnstartable, None, Some(Seconds(71)))
    );
    assert_eq!(
        over(100),
        (Verdict::FailedUnstartable, None, Some(Seconds(71)))
    );
}

#[test]
fn of_starts_of_one_second_a_job_that_stayed_comes_before_one_that_was_moved_there() {
    // Job 2 is planned at 150 behind the first two, job 3 at 100. When job 1 ends at 60, job 2
    // moves to 100 as well: it takes its nodes behind job 3, although its id is lower.
    let jobs = [
        job(0, 0, 2, 100),
        job(1, 0, 2, 150).running_for(Seconds(60)),
        job(2, 1, 3, 50),
        job(3, 2, 1, 50).released_at(Seconds(100)),
    ];
    let replay = played(4, &PolicySpec::named("heuristic-planning"), &jobs, None);
    let starts: Vec<_> = replay
        .outcomes
        .iter()
        .map(|outcome| outcome.start)
        .collect();
    assert_eq!(starts[2..], [Some(Seconds(100)); 2]);
    assert_eq!(nodes_of(&replay)[2..], [vec![1, 2, 3], vec![0]]);
}

#[test]
fn nodes_that_are_down_count_as_missing_for_a_repair_time_for_ever_or_not_at_all() {
    // 36 repairs an hour: 100 s each.
    let promised = |down_horizon| {
        let settings = PolicySpec {
            down_horizon,
            reliability: Reliability {
                repair_rate_per_hour: 36.0,
                ..Reliability::default()
            },
            ..PolicySpec::named("heuristic-planning")
        };
        let replay = played(2, &settings, &[job(0, 20, 2, 50)], Some((10, 500)));
        replay.outcomes[0].promise.map(|promise| promise.start.0)
    };
    assert_eq!(promised(DownHorizon::Mttr), Some(120));
    assert_eq!(promised(DownHorizon::Forever), None);
    assert_eq!(promised(DownHorizon::None), Some(20));
}

#[test]
fn a_slot_may_reach_across_the_time_when_nodes_count_as_repaired() {
    // One of two nodes is down at 10. Job 0 has the other one before 110, when both are there, and
    // job 1 begins then beside it.
    let settings = PolicySpec {
        reliability: Reliability {
            repair_rate_per_hour: 36.0,
            ..Reliability::default()
        },
        ..PolicySpec::named("heuristic-planning")
    };
    let jobs = [job(0, 10, 1, 150), job(1, 10, 1, 30)];
    let replay = played(2, &settings, &jobs, Some((10, 60)));
    let promised = replay.outcomes.iter().map(|outcome| outcome.promise);
    let promised: Vec<_> = promised.map(|promise| promise.map(|it| it.start)).collect();
    assert_eq!(promised, [Some(Seconds(10)), Some(Seconds(110))]);
}

#[test]
fn a_checkpoint_that_is_through_in_the_second_of_a_failure_is_kept() {
    // 30 s of work, of which each ten are written in one second. The first write ends at 11: then
    // 20 s are left, else all of them.
    let end = |failure, bandwidth| {
        let settings = PolicySpec {
            checkpoint: Some(CheckpointSettings {
                bandwidth,
                ..super::settings(CheckpointInterval::Fixed(Seconds(10)), 1, 0)
            }),
            ..PolicySpec::named("heuristic-planning")
        };
        let replay = played(2, &settings, &[job(0, 0, 1, 30)], Some((failure, 900)));
        replay.outcomes[0].end
    };
    for bandwidth in [Bandwidth::Own, Bandwidth::SharedByJobs] {
        assert_eq!(end(11, bandwidth), Some(Seconds(11 + 21)), "{bandwidth:?}");
        assert_eq!(end(10, bandwidth), Some(Seconds(10 + 32)), "{bandwidth:?}");
    }
}
