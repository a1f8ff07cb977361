//! Who is tried after which event: the tables of docs/counted-plan.md, and of docs/model.md for
//! plans that bind jobs to nodes, each row on the smallest scene that shows it.

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::scheduling::{
    CheckpointInterval, ClusterMachine, CrashRule, DownHorizon, JobOutcome, PolicySpec, Retry,
    Verdict,
};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::{registry, simulate};

mod taken_back;

/// Both rules for when those that wait are tried.
const BOTH: [Retry; 2] = [Retry::Events, Retry::Repairs];

/// A job with its id and submission, its nodes, and its estimate, which it uses.
fn job(id: u32, submit: i64, nodes: u32, estimate: i64) -> Job {
    Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate)).numbered(1)
}

/// A node that is down from one time to another.
fn down(node: u32, start: i64, end: i64) -> Outage {
    Outage {
        node: NodeIndex(node),
        start: Seconds(start),
        end: Seconds(end),
    }
}

fn outcomes(
    nodes: u32,
    settings: &PolicySpec,
    jobs: &[Job],
    outages: &[Outage],
) -> Vec<JobOutcome> {
    let failures = FailureTrace::from_outages(outages.iter().copied()).expect("they end");
    let (_, outcomes) =
        simulate(Nodes(nodes), settings, None, jobs, &failures).expect("a registered strategy");
    outcomes
}

/// The last start of each job, by id; `None` of one that failed or was dropped.
fn starts(nodes: u32, settings: &PolicySpec, jobs: &[Job], outages: &[Outage]) -> Vec<Option<i64>> {
    let outcomes = outcomes(nodes, settings, jobs, outages);
    let kept = outcomes.iter().map(|outcome| {
        let start = outcome.start.filter(|_| outcome.verdict.is_successful());
        start.map(|start| start.0)
    });
    kept.collect()
}

/// A plan that counts nodes, knows that a node is down until its repair, and starts jobs again
/// where their whole estimate fits.
fn counted(retry: Retry) -> PolicySpec {
    PolicySpec {
        crash: CrashRule::RestartFull,
        down_horizon: DownHorizon::Forever,
        retry,
        ..PolicySpec::named("heuristic-planning")
    }
}

/// A plan that binds jobs to nodes, starts early where they are free, and starts jobs again in any
/// time that is left.
fn mapped(retry: Retry) -> PolicySpec {
    PolicySpec {
        crash: CrashRule::RestartShort,
        retry,
        ..PolicySpec::named("comprehensive-overbooking")
    }
}

/// The same with full estimates and without early starts.
fn kept(crash: CrashRule, retry: Retry) -> PolicySpec {
    PolicySpec {
        crash,
        retry,
        ..PolicySpec::named("conservative-backfilling")
    }
}

/// Jobs save nothing but at the end of a window.
fn saving(settings: PolicySpec) -> PolicySpec {
    let interval = CheckpointInterval::Fixed(Seconds(1_000));
    PolicySpec {
        checkpoint: Some(super::settings(interval, 1, 0)),
        ..settings
    }
}

/// On three nodes: job 0 ends at `end`, job 1 loses its node at 10 and has to start again by 45,
/// and job 3 is planned at 100, when the nodes of 0 and 2 are free by estimates.
fn one_place_for_two(end: i64) -> [Job; 4] {
    [
        job(0, 0, 1, 100).running_for(Seconds(end)),
        job(1, 0, 1, 120).due_by(Seconds(165)),
        job(2, 0, 1, 100),
        job(3, 1, 1, 30),
    ]
}

#[test]
fn counted_after_an_end_those_that_wait_come_before_slots_move_forward() {
    let starts = |retry| {
        starts(
            3,
            &counted(retry),
            &one_place_for_two(40),
            &[down(1, 10, 900)],
        )
    };
    assert_eq!(
        starts(Retry::Events),
        [Some(0), Some(40), Some(0), Some(100)]
    );
    // Not tried at this event, job 1 is given up at 46, and the place is that of job 3.
    assert_eq!(starts(Retry::Repairs), [Some(0), None, Some(0), Some(40)]);
}

#[test]
fn counted_after_a_repair_those_that_wait_come_first_whatever_the_rule() {
    for retry in BOTH {
        let starts = starts(
            3,
            &counted(retry),
            &one_place_for_two(100),
            &[down(1, 10, 40)],
        );
        assert_eq!(starts, [Some(0), Some(40), Some(0), Some(100)], "{retry:?}");
    }
}

#[test]
fn counted_those_that_wait_are_tried_in_the_order_of_ids_whoever_has_waited_longer() {
    // Job 2 loses its node first; both could start where job 0 ends.
    let jobs = [
        job(0, 0, 1, 200).running_for(Seconds(40)),
        job(1, 0, 1, 100).due_by(Seconds(150)),
        job(2, 0, 1, 100).due_by(Seconds(150)),
    ];
    let outages = [down(2, 5, 900), down(1, 10, 900)];
    assert_eq!(
        starts(3, &counted(Retry::Events), &jobs, &outages),
        [Some(0), Some(40), None]
    );
}

#[test]
fn counted_after_a_failure_under_a_job_those_that_wait_take_what_it_leaves() {
    // Job 0 loses its node at 10 and has to start again by 50. Job 1 loses one of its two at 40.
    let jobs = [job(0, 0, 1, 100).due_by(Seconds(150)), job(1, 0, 2, 200)];
    let outages = [down(0, 10, 300), down(1, 40, 300)];
    let starts = |retry| starts(3, &counted(retry), &jobs, &outages);
    assert_eq!(starts(Retry::Events), [Some(40), Some(300)]);
    assert_eq!(starts(Retry::Repairs), [None, Some(300)]);
}

/// On two nodes: job 0 loses its node at 2 and has to start again by 45; job 2 wants both at 40,
/// when one is down.
fn a_start_fails() -> ([Job; 3], [Outage; 1]) {
    let jobs = [
        job(0, 0, 1, 40).due_by(Seconds(85)),
        job(1, 0, 1, 10),
        job(2, 1, 2, 50).due_by(Seconds(92)),
    ];
    (jobs, [down(0, 2, 900)])
}

#[test]
fn counted_after_a_failed_start_those_that_wait_are_tried_at_once() {
    let (jobs, outages) = a_start_fails();
    let first = |retry| starts(2, &counted(retry), &jobs, &outages)[0];
    assert_eq!(first(Retry::Events), Some(40));
    assert_eq!(first(Retry::Repairs), None);
}

#[test]
fn counted_neither_a_failed_start_that_is_not_seen_in_the_plan_nor_a_giving_up_tries_anybody() {
    // Job 2 is given up at 43, and job 0, for which there would have been room since 40, at 46.
    let (jobs, outages) = a_start_fails();
    let blind = PolicySpec {
        down_horizon: DownHorizon::None,
        ..counted(Retry::Events)
    };
    let outcomes = outcomes(2, &blind, &jobs, &outages);
    let over = |id: usize| (outcomes[id].verdict, outcomes[id].end);
    assert_eq!(over(0), (Verdict::FailedNodes, Some(Seconds(46))));
    assert_eq!(over(2), (Verdict::FailedUnstartable, Some(Seconds(43))));
}

#[test]
fn counted_after_a_failed_start_slots_move_forward_only_where_that_is_asked_for() {
    // Both nodes are planned for job 0 at 10, when one is down, and job 1 behind it.
    let jobs = [job(0, 0, 2, 50).released_at(Seconds(10)), job(1, 1, 1, 30)];
    let second = |replan_failed_start| {
        let settings = PolicySpec {
            replan_failed_start,
            ..counted(Retry::Events)
        };
        starts(2, &settings, &jobs, &[down(0, 5, 300)])[1]
    };
    assert_eq!(second(false), Some(60));
    assert_eq!(second(true), Some(10));
}

#[test]
fn counted_after_a_failure_of_an_idle_node_those_that_wait_are_tried() {
    // Job 0 loses its node at 2 and has to start again by 45. Job 2 moves from 40 to 10, when one
    // of its three nodes is down: its start fails, which tries nobody. Node 2 is idle since 10.
    let jobs = [
        job(0, 0, 1, 40).due_by(Seconds(85)),
        job(1, 0, 2, 10),
        job(2, 1, 3, 50).due_by(Seconds(92)),
    ];
    let first = |retry, outages: &[Outage]| {
        let blind = PolicySpec {
            down_horizon: DownHorizon::None,
            ..counted(retry)
        };
        starts(3, &blind, &jobs, outages)[0]
    };
    let (under_a_job, idle) = (down(0, 2, 900), down(2, 20, 900));
    assert_eq!(first(Retry::Events, &[under_a_job]), None);
    assert_eq!(first(Retry::Events, &[under_a_job, idle]), Some(20));
    assert_eq!(first(Retry::Repairs, &[under_a_job, idle]), None);
}

#[test]
fn counted_after_a_failure_of_an_idle_node_slots_move_forward_whatever_the_rule() {
    // All nodes are planned for job 0 at 10, when one is down, and job 1 behind it at 60.
    let jobs = [job(0, 0, 3, 50).released_at(Seconds(10)), job(1, 1, 1, 30)];
    let second = |retry, outages: &[Outage]| starts(3, &counted(retry), &jobs, outages)[1];
    let (before, idle) = (down(0, 5, 300), down(2, 20, 300));
    for retry in BOTH {
        assert_eq!(second(retry, &[before]), Some(60), "{retry:?}");
        assert_eq!(second(retry, &[before, idle]), Some(20), "{retry:?}");
    }
}

#[test]
fn a_job_that_saves_its_work_goes_on_at_once_but_in_a_counted_plan_only_as_the_rule_says() {
    let jobs = [job(0, 0, 1, 100)];
    let restart = |settings| starts(2, &saving(settings), &jobs, &[down(0, 45, 80)]);
    assert_eq!(restart(counted(Retry::Events)), [Some(45)]);
    assert_eq!(restart(counted(Retry::Repairs)), [Some(80)]);
    for retry in BOTH {
        assert_eq!(restart(mapped(retry)), [Some(45)], "{retry:?}");
    }
}

#[test]
fn mapped_after_a_failure_under_a_job_that_saves_its_work_its_own_rest_is_tried_alone() {
    // Job 1 loses its node at 10 and has to go on by 50, on any node. At 40 the job on the two
    // others loses one of them: the other one is free.
    let jobs = [job(0, 0, 2, 200), job(1, 0, 1, 100).due_by(Seconds(150))];
    let outages = [down(2, 10, 300), down(0, 40, 300)];
    let second = |settings| starts(3, &saving(settings), &jobs, &outages)[1];
    let full = kept(CrashRule::RestartFull, Retry::Events);
    assert_eq!(second(full), None);
    assert_eq!(second(counted(Retry::Events)), Some(40));
}

#[test]
fn a_job_that_is_stopped_is_tried_at_once_whatever_the_rule() {
    // The node is back at 20. Until 60, when job 1 has it for 50 s and four checkpoints, 36 of 60 s
    // are computed and saved; the rest follows job 1, with two more checkpoints.
    let jobs = [
        job(0, 0, 1, 100)
            .running_for(Seconds(60))
            .due_by(Seconds(150)),
        job(1, 15, 1, 50)
            .released_at(Seconds(60))
            .due_by(Seconds(120)),
    ];
    let interval = CheckpointInterval::Fixed(Seconds(10));
    for retry in BOTH {
        for strategy in ["heuristic-overbooking", "comprehensive-overbooking"] {
            let settings = PolicySpec {
                checkpoint: Some(super::settings(interval, 1, 0)),
                down_horizon: DownHorizon::None,
                retry,
                ..PolicySpec::named(strategy)
            };
            let outcomes = outcomes(1, &settings, &jobs, &[down(0, 10, 20)]);
            let runs = [0, 1].map(|id: usize| (outcomes[id].start, outcomes[id].end));
            let expected = [(114, 140), (60, 114)];
            let expected = expected.map(|(start, end)| (Some(Seconds(start)), Some(Seconds(end))));
            assert_eq!(runs, expected, "{strategy}, {retry:?}");
        }
    }
}

/// On two nodes: the start of job 0 fails at 50, as node 1 is down; job 1 has node 0 from 130 to
/// 150, and by its estimate to 230, when job 2 is planned on both.
fn both_nodes_for_two() -> [Job; 3] {
    let due = Seconds(1_000);
    [
        job(0, 0, 2, 80)
            .running_for(Seconds(60))
            .released_at(Seconds(50))
            .due_by(due),
        job(1, 1, 1, 100).running_for(Seconds(20)).due_by(due),
        job(2, 2, 2, 60).due_by(due),
    ]
}

#[test]
fn mapped_after_an_end_those_that_wait_come_before_early_starts() {
    let starts = |retry| {
        starts(
            2,
            &mapped(retry),
            &both_nodes_for_two(),
            &[down(1, 40, 140)],
        )
    };
    assert_eq!(starts(Retry::Events), [Some(150), Some(130), Some(210)]);
    // Not tried at this event, job 0 leaves the place to job 2.
    assert_eq!(starts(Retry::Repairs)[1..], [Some(130), Some(150)]);
}

#[test]
fn mapped_after_a_repair_those_that_wait_come_before_early_starts_whatever_the_rule() {
    for retry in BOTH {
        let starts = starts(
            2,
            &mapped(retry),
            &both_nodes_for_two(),
            &[down(1, 40, 160)],
        );
        assert_eq!(starts, [Some(160), Some(130), Some(220)], "{retry:?}");
    }
}

/// On two nodes: the start of job 0 fails at 50, and when its node is back at 125 it is about to be
/// held by job 1, which has both from 130 on and loses the other one at 200.
fn the_holder_loses_its_other_node() -> ([Job; 2], [Outage; 2]) {
    let jobs = [
        job(0, 0, 1, 80)
            .released_at(Seconds(50))
            .due_by(Seconds(400)),
        job(1, 0, 2, 200)
            .released_at(Seconds(130))
            .due_by(Seconds(410)),
    ];
    (jobs, [down(0, 40, 125), down(1, 200, 900)])
}

#[test]
fn mapped_those_that_wait_are_tried_when_a_job_is_lost_with_its_node() {
    let (jobs, outages) = the_holder_loses_its_other_node();
    let first = |retry| starts(2, &kept(CrashRule::Final, retry), &jobs, &outages)[0];
    assert_eq!(first(Retry::Events), Some(200));
    assert_eq!(first(Retry::Repairs), None);
}

#[test]
fn mapped_those_that_wait_are_tried_when_a_job_is_given_up_and_not_when_it_is_disabled() {
    // Disabled at 200, job 1 keeps its reservation until 211, the first second from which on its
    // estimate does not fit before its deadline.
    let (jobs, outages) = the_holder_loses_its_other_node();
    let settings = |retry| kept(CrashRule::RestartFull, retry);
    assert_eq!(
        starts(2, &settings(Retry::Events), &jobs, &outages),
        [Some(211), None]
    );
    assert_eq!(
        starts(2, &settings(Retry::Repairs), &jobs, &outages),
        [None, None]
    );
}

/// On two nodes: the start of job 1 fails at 50, and its node is back at 65, when job 2 is planned
/// on it at 70. Job 2 ends at 80 and keeps its reservation until 170: from then on job 1 could
/// start, but nothing happens then.
fn its_node_is_free_without_an_event() -> ([Job; 3], Outage) {
    let due = Seconds(1_000);
    let jobs = [
        job(0, 0, 1, 100).due_by(due),
        job(1, 0, 1, 20).released_at(Seconds(50)).due_by(due),
        job(2, 1, 1, 100)
            .running_for(Seconds(10))
            .released_at(Seconds(70))
            .due_by(due),
    ];
    (jobs, down(1, 40, 65))
}

#[test]
fn mapped_after_a_failure_of_an_idle_node_nobody_is_tried() {
    // Node 0 is idle since 100; its repair at 300 is an event at which all are tried.
    let (jobs, before) = its_node_is_free_without_an_event();
    for retry in BOTH {
        let settings = kept(CrashRule::RestartFull, retry);
        let starts = starts(2, &settings, &jobs, &[before, down(0, 180, 300)]);
        assert_eq!(starts, [Some(0), Some(300), Some(70)], "{retry:?}");
    }
}

#[test]
fn mapped_after_a_failed_start_nobody_is_tried() {
    // Job 3 is planned on node 0 at 180, which is down then.
    let (jobs, before) = its_node_is_free_without_an_event();
    let fourth = job(3, 2, 1, 30)
        .released_at(Seconds(180))
        .due_by(Seconds(1_000));
    let jobs = [jobs.as_slice(), &[fourth]].concat();
    for retry in BOTH {
        let settings = kept(CrashRule::RestartFull, retry);
        let starts = starts(2, &settings, &jobs, &[before, down(0, 175, 300)]);
        let expected = [Some(0), Some(300), Some(70), Some(300)];
        assert_eq!(starts, expected, "{retry:?}");
    }
}

#[test]
fn mapped_a_disabled_job_waits_for_a_reservation_that_comes_too_soon_and_is_not_passed_by_it() {
    // Both nodes are idle from 20 on, and job 1 is planned on one of them at 50: job 0 would have
    // 30 of its 50 s. Job 1 does not start early either, as it is behind job 0.
    let jobs = [
        job(0, 0, 2, 50).due_by(Seconds(500)),
        job(1, 12, 1, 30).due_by(Seconds(500)),
    ];
    let settings = PolicySpec {
        crash: CrashRule::RestartFull,
        ..PolicySpec::named("comprehensive-overbooking")
    };
    assert_eq!(
        starts(2, &settings, &jobs, &[down(0, 10, 20)]),
        [Some(80), Some(50)]
    );
}

#[test]
fn mapped_after_a_reservation_starts_elsewhere_its_planned_nodes_are_free_for_early_starts() {
    // The reservation is planned on nodes 2 and 3, of which the last is down then; nodes 0 and 1
    // are idle since 20. Job 2 is planned on node 2 behind it, at 80.
    let jobs = [
        job(0, 0, 2, 100).running_for(Seconds(20)),
        job(1, 1, 2, 30).into_reservation(Seconds(50)),
        job(2, 2, 1, 60),
    ];
    assert_eq!(
        starts(4, &mapped(Retry::Events), &jobs, &[down(3, 30, 900)]),
        [Some(0), Some(50), Some(50)]
    );
}
