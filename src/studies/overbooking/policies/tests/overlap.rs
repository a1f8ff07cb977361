//! Jobs that are planned on top of their predecessors (Birkenheuer 2012, §3.3.1, Figure 3.5).

use std::sync::Arc;

use bookahead_core::estimates::{ClassFamily, EstimateModel, EstimateSettings};
use bookahead_core::failures::{FailureTrace, SurvivalModel};
use bookahead_core::scheduling::{
    Acceptance, ExcludedUsers, JobOutcome, OverlapRule, PolicySpec, Reliability, Verdict,
};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::simulate;

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
    .of_user(1)
}

/// Everybody uses one of these shares of the estimate, in percent.
fn known(ratios: &[i64]) -> Arc<EstimateModel> {
    let jobs: Vec<Job> = (ratios.iter())
        .map(|&ratio| job(0, 1, 100, ratio, 200))
        .collect();
    let settings = EstimateSettings {
        family: ClassFamily::All,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(&jobs, &settings).unwrap())
}

/// 25 % with probability 0.5, 50 % with 0.3 and 100 % with 0.2.
const RATIOS: [i64; 10] = [25, 25, 25, 25, 25, 50, 50, 50, 100, 100];

fn settings(pof_max: f64) -> PolicySpec {
    PolicySpec {
        acceptance: Acceptance::Pof { maximum: pof_max },
        overlap: OverlapRule::Predecessors,
        reliability: Reliability {
            survival: SurvivalModel::Poisson { rate_per_hour: 0.0 },
            failure_rate_per_hour: 0.0,
            ..Reliability::default()
        },
        ..PolicySpec::named("comprehensive-overbooking")
    }
}

fn play(nodes: u32, settings: &PolicySpec, ratios: &[i64], jobs: &[Job]) -> Vec<JobOutcome> {
    let failures = FailureTrace::default();
    let played = simulate(Nodes(nodes), settings, Some(known(ratios)), jobs, &failures);
    played.unwrap().1
}

/// Start and end in hours of a job that ran, and how it ended.
fn fate(outcome: &JobOutcome) -> (Option<(i64, i64)>, Verdict) {
    let span = outcome.start.zip(outcome.end);
    let hours = span.map(|(start, end)| (start.0 / HOUR, end.0 / HOUR));
    (hours, outcome.verdict)
}

/// Node 0 has job 0 in [0, 8) and job 1 in [8, 16); job 2 asks for 4 hours until 8.
fn between(first_runs: i64, runs: i64) -> [Job; 3] {
    [
        job(0, 1, 8, first_runs, 8),
        job(1, 1, 8, 8, 40),
        job(2, 1, 4, runs, 8),
    ]
}

#[test]
fn a_job_between_two_others_succeeds_if_both_it_and_the_first_save_enough() {
    // It ends by 8 if the first ends at 2 (0.5: 2 + 4 ≤ 8) or at 4 (0.3: 4 + 4 ≤ 8), and not at all
    // if that ends at 8 (0.2): P = 0.8 (addendum A, section 4).
    let promise = |pof_max: f64, overlap| {
        let settings = PolicySpec {
            overlap,
            ..settings(pof_max)
        };
        play(1, &settings, &RATIOS, &between(2, 4))[2].promise
    };
    let promised = promise(0.25, OverlapRule::Predecessors).expect("accepted");
    assert_eq!(promised.start, Seconds(8 * HOUR));
    assert_eq!(promised.end, Seconds(8 * HOUR));
    assert!(promised.overbooked);
    assert!((promised.success.unwrap().executable - 0.8).abs() < 1e-12);
    assert!(promise(0.2, OverlapRule::Predecessors).is_none());
    assert!(promise(0.9, OverlapRule::None).is_none());
}

#[test]
fn it_runs_when_its_predecessor_has_ended_and_the_next_job_follows_it() {
    let fates = |first_runs, runs| {
        let outcomes = play(1, &settings(0.25), &RATIOS, &between(first_runs, runs));
        (fate(&outcomes[2]), outcomes[1].start.unwrap().0 / HOUR)
    };
    assert_eq!(
        fates(2, 4),
        ((Some((2, 6)), Verdict::SuccessfulFinished), 6)
    );
    assert_eq!(
        fates(4, 4),
        ((Some((4, 8)), Verdict::SuccessfulFinished), 8)
    );
    // Killed where its time ends: the next job has its promised start.
    assert_eq!(fates(5, 4), ((Some((5, 8)), Verdict::FailedOverbooked), 8));
    // Its predecessor leaves nothing. It waits until its deadline, which is now.
    assert_eq!(fates(8, 1), ((None, Verdict::FailedUnstartable), 8));
}

#[test]
fn the_next_job_does_not_slide_in_front_of_it() {
    // Job 2 needs both nodes. Node 0 is free from 2 on, node 1 from 6 on, and job 3 is next on
    // node 0. P = P(both have ended by 4) = 0.8 · 0.8, whatever job 2 takes.
    let jobs = [
        job(0, 1, 8, 2, 8),
        job(1, 1, 8, 6, 8),
        job(2, 1, 8, 8, 40),
        job(3, 2, 4, 1, 8),
    ];
    let outcomes = play(2, &settings(0.4), &RATIOS, &jobs);
    let executable = outcomes[3].promise.unwrap().success.unwrap().executable;
    assert!((executable - 0.64).abs() < 1e-12);
    assert_eq!(
        fate(&outcomes[3]),
        (Some((6, 7)), Verdict::SuccessfulFinished)
    );
    assert_eq!(outcomes[2].start, Some(Seconds(7 * HOUR)));
    // Without it job 2 would have started at 2.
    let alone = play(2, &settings(0.4), &RATIOS, &jobs[..3]);
    assert_eq!(alone[2].start, Some(Seconds(2 * HOUR)));
}

#[test]
fn one_job_at_most_is_planned_between_two_reservations_of_a_node() {
    let [first, next, job_between] = between(2, 4);
    let another = job(3, 1, 4, 4, 8);
    let outcomes = play(
        1,
        &settings(0.9),
        &RATIOS,
        &[first, next, job_between, another],
    );
    assert!(outcomes[2].promise.is_some());
    assert_eq!(outcomes[3].verdict, Verdict::DroppedNoSlot);
}

#[test]
fn a_reservation_end_that_is_the_deadline_will_do() {
    for (first_runs, expected) in [
        (2, (Some((2, 6)), Verdict::SuccessfulFinished)),
        (8, (None, Verdict::FailedUnstartable)),
    ] {
        let behind = |deadline| {
            let jobs = [job(0, 1, 8, first_runs, 8), job(1, 1, 4, 4, deadline)];
            fate(&play(1, &settings(0.25), &RATIOS, &jobs)[1])
        };
        assert_eq!(behind(8), expected);
        // Not one that comes after it.
        assert_eq!(behind(7), (None, Verdict::DroppedNoSlot));
    }
}

#[test]
fn a_job_of_no_length_needs_time_too() {
    // Everybody is expected to end at once, but in front is a fixed reservation, on whose early end
    // nobody counts.
    let window = job(0, 1, 8, 8, 8).into_reservation(Seconds(0));
    let jobs = [window, job(1, 1, 8, 0, 40), job(2, 1, 4, 0, 8)];
    let outcomes = play(1, &settings(0.99), &[0], &jobs);
    assert_eq!(outcomes[2].verdict, Verdict::DroppedNoSlot);
}

#[test]
fn it_is_exposed_to_failures_for_as_long_as_it_may_run() {
    let reliability = Reliability {
        repair_rate_per_hour: 1e6,
        survival: SurvivalModel::Poisson {
            rate_per_hour: 0.01,
        },
        failure_rate_per_hour: 0.01,
        ..Reliability::default()
    };
    let settings = PolicySpec {
        reliability,
        ..settings(0.5)
    };
    // Between 0 and 8 it runs for 4 hours at most: exp(−0.01 · 4).
    let outcomes = play(1, &settings, &RATIOS, &between(2, 4));
    let survives = outcomes[2].promise.unwrap().success.unwrap().survives;
    assert!((survives - libm::exp(-0.04)).abs() < 1e-12);
}

#[test]
fn nobody_is_planned_so_who_may_not_be_overbooked_or_who_is_released_later() {
    let is_accepted = |settings: &PolicySpec, third: Job| {
        let [first, next, _] = between(2, 4);
        play(1, settings, &RATIOS, &[first, next, third])[2]
            .promise
            .is_some()
    };
    let [.., third] = between(2, 4);
    assert!(is_accepted(&settings(0.25), third.clone()));
    let excluding = PolicySpec {
        excluded: ExcludedUsers {
            accurate: None,
            numbers: vec![1],
        },
        ..settings(0.25)
    };
    assert!(!is_accepted(&excluding, third.clone()));
    assert!(!is_accepted(&settings(0.25), third.released_at(Seconds(1))));
    // Nor in front of an overbooked job that holds its nodes.
    let held = PolicySpec {
        hold_for_overbooked: true,
        ..settings(0.5)
    };
    let jobs = |second_deadline| {
        let [first, _, third] = between(2, 4);
        [first, job(1, 1, 8, 8, second_deadline), third]
    };
    assert!(play(1, &held, &RATIOS, &jobs(40))[2].promise.is_some());
    assert!(
        play(1, &held, &RATIOS, &jobs(14))[1]
            .promise
            .unwrap()
            .overbooked
    );
    assert!(play(1, &held, &RATIOS, &jobs(14))[2].promise.is_none());
    assert!(
        play(1, &settings(0.5), &RATIOS, &jobs(14))[2]
            .promise
            .is_some()
    );
}
