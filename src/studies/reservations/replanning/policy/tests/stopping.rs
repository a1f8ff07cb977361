//! Whoever is stopped: by failures of nodes, and for reservations under the rules that truncate and
//! requeue. A twin that looks at every node in every second, and cases that are small enough to be
//! worked out by hand.

mod resuming;
mod twin;

use std::sync::Arc;

use proptest::prelude::*;

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::kernel::drive;

use self::twin::{Asked, JobEnd, Stage, Twin};
use super::oracle::{NEVER, Oracle, jobs, plan_slowly, policies, requests};
use super::*;
use crate::replanning::{
    Admission, EarlyEnd, PREEMPTIBLE_STREAM, ReplanningRun, StoppedFirst, marked_jobs,
    replanning_scene, reservation_measures,
};

fn simulate_replanning_with(
    nodes: Nodes,
    settings: &ReplanningSettings,
    jobs: &[Job],
    requests: &[ReservationRequest],
    marks: &JobMarks,
    failures: &FailureTrace,
) -> ReplanningRun {
    let failures = Arc::new(failures.clone());
    let (jobs, requests) = (jobs.into(), requests.into());
    let scene = replanning_scene(nodes, settings, &jobs, &requests, marks, &failures);
    ReplanningRun::of(drive(scene, true))
}

/// These jobs may be stopped.
fn stoppable(preemptible: impl Into<Arc<[bool]>>) -> JobMarks {
    JobMarks {
        preemptible: preemptible.into(),
        ..JobMarks::default()
    }
}

prop_compose! {
    fn outages()(spans in prop::collection::vec((0_u32..6, 0_i64..90, 1_i64..40), 0..8)) -> FailureTrace {
        FailureTrace::from_outages(spans.into_iter().map(|(node, start, length)| Outage {
            node: NodeIndex(node),
            start: Seconds(start),
            end: Seconds(start + length),
        }))
        .unwrap()
    }
}

fn rules() -> impl Strategy<Value = ReplanningSettings> {
    let rules = vec![
        Admission::Reject,
        Admission::Move,
        Admission::Truncate,
        Admission::Requeue,
    ];
    let overhead = prop::option::of((0_i64..6).prop_map(Seconds));
    (policies(), prop::sample::select(rules), overhead).prop_map(
        |(settings, admission, resume_overhead)| ReplanningSettings {
            admission,
            resume_overhead,
            ..settings
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_machine_agrees_with_a_twin_that_looks_at_every_node_in_every_second(
        jobs in jobs(),
        requests in requests(),
        settings in rules(),
        flags in prop::collection::vec((any::<bool>(), any::<bool>()), 24),
        failures in outages(),
    ) {
        let marks = JobMarks {
            preemptible: flags[..jobs.len()].iter().map(|flags| flags.0).collect(),
            undelayed: flags[..jobs.len()].iter().map(|flags| flags.1).collect(),
            ..JobMarks::default()
        };
        let ran = simulate_replanning_with(Nodes(6), &settings, &jobs, &requests, &marks, &failures);
        let mut twin = Twin {
            settings: &settings,
            jobs: &jobs,
            requests: &requests,
            marks: &marks,
            saved: vec![0; jobs.len()],
            holder: vec![None; 6],
            down: vec![false; 6],
            stages: vec![Stage::Waiting; jobs.len()],
            asked: vec![Asked::NotYet; requests.len()],
            granted: Vec::new(),
            ends: vec![(None, None, Verdict::DroppedTooWide, 0, 0); jobs.len()],
            request_ends: vec![None; requests.len()],
            time: 0,
        };
        twin.run(&failures);
        let found: Vec<JobEnd> = ran.jobs.iter().map(|outcome| (
            outcome.start.map(|start| start.0),
            outcome.end.map(|end| end.0),
            outcome.verdict,
            outcome.restarts,
            outcome.node_failures,
        )).collect();
        prop_assert_eq!(found, twin.ends);
        let said: Vec<(bool, bool, Option<i64>)> = ran.reservations.iter().map(|outcome| (
            !outcome.verdict.is_rejected(),
            outcome.verdict == RequestVerdict::Lost,
            outcome.end.map(|end| end.0),
        )).collect();
        let twins: Vec<(bool, bool, Option<i64>)> = twin.asked.iter().zip(&twin.request_ends).map(|(asked, end)| (
            *asked != Asked::Refused,
            *asked == Asked::Lost,
            *end,
        )).collect();
        prop_assert_eq!(said, twins);
        // What was lost is what stopped runs had used.
        let measured = reservation_measures(Nodes(6), &ran.metrics, &ran.totals);
        if ran.totals.truncated + ran.totals.requeued == 0 {
            prop_assert_eq!(ran.totals.lost_to_preemption, NodeSeconds(0));
        }
        let truncated = ran.jobs.iter().filter(|job| job.verdict == Verdict::FailedOverbooked).count();
        prop_assert_eq!(ran.totals.truncated as usize, truncated);
        prop_assert!(measured.iter().all(|(_, value)| value >= 0.0));
    }

    #[test]
    fn where_nobody_is_preemptible_truncating_and_requeueing_are_rejecting(
        jobs in jobs(),
        requests in requests(),
        failures in outages(),
    ) {
        let nobody = stoppable(vec![false; jobs.len()]);
        let with = |admission| simulate_replanning_with(
            Nodes(6), &settings(admission), &jobs, &requests, &nobody, &failures,
        );
        let rejecting = with(Admission::Reject);
        for admission in [Admission::Truncate, Admission::Requeue] {
            let other = with(admission);
            prop_assert_eq!(&other.jobs, &rejecting.jobs);
            let ends = |run: &super::super::super::ReplanningRun| -> Vec<Option<Seconds>> {
                run.reservations.iter().map(|outcome| outcome.end).collect()
            };
            prop_assert_eq!(ends(&other), ends(&rejecting));
        }
    }

    #[test]
    fn a_single_request_that_rejecting_grants_is_granted_by_truncating_and_stops_nobody(
        jobs in jobs(),
        one in requests(),
    ) {
        let Some(first) = one.into_iter().next() else { return Ok(()) };
        let everybody = stoppable(vec![true; jobs.len()]);
        let with = |admission| simulate_replanning_with(
            Nodes(6), &settings(admission), &jobs, std::slice::from_ref(&first), &everybody, &FailureTrace::default(),
        );
        if !with(Admission::Reject).reservations[0].verdict.is_rejected() {
            let truncating = with(Admission::Truncate);
            prop_assert!(!truncating.reservations[0].verdict.is_rejected());
            prop_assert_eq!(truncating.totals.truncated, 0);
        }
    }
}

/// Four nodes, a job of three for 10 s from 0, a request for two of them from 6 to 9. The job may
/// be stopped.
fn six_seconds(admission: Admission, runtime: i64) -> super::super::super::ReplanningRun {
    simulate_replanning_with(
        Nodes(4),
        &settings(admission),
        &[job(0, 0, 3, 10, runtime)],
        &[request(0, 2, 2, 3, 6)],
        &stoppable([true]),
        &FailureTrace::default(),
    )
}

#[test]
fn a_truncated_job_ends_at_the_start_of_the_reservation_and_has_lost_what_it_used() {
    let ran = six_seconds(Admission::Truncate, 10);
    assert_eq!(ran.jobs[0].verdict, Verdict::FailedOverbooked);
    assert_eq!(ran.jobs[0].end, Some(Seconds(6)));
    assert_eq!(ran.reservations[0].start, Some(Seconds(6)));
    assert_eq!(ran.totals.truncated, 1);
    // Three nodes for six seconds.
    assert_eq!(ran.totals.lost_to_preemption, NodeSeconds(18));
    let rejecting = six_seconds(Admission::Reject, 10);
    assert_eq!(
        rejecting.reservations[0].verdict,
        RequestVerdict::ConflictsWithFixed
    );
    assert_eq!(rejecting.jobs[0].end, Some(Seconds(10)));
}

#[test]
fn a_requeued_job_runs_again_from_scratch_behind_the_reservation() {
    let ran = six_seconds(Admission::Requeue, 10);
    let job = &ran.jobs[0];
    assert_eq!(job.verdict, Verdict::SuccessfulFinished);
    assert_eq!((job.start, job.end), (Some(Seconds(9)), Some(Seconds(19))));
    assert_eq!(job.restarts, 1);
    assert_eq!(ran.totals.requeued, 1);
    assert_eq!(ran.totals.lost_to_preemption, NodeSeconds(18));
    let measured = reservation_measures(Nodes(4), &ran.metrics, &ran.totals);
    // It waited nine seconds, and its last run took ten.
    let wait = measured.get("stopped_wait_hours").unwrap();
    assert!((wait - 9.0 / 3_600.0).abs() < 1e-12);
    assert_eq!(measured.get("stopped_bounded_slowdown"), Some(1.9));
    assert_eq!(measured.get("other_wait_hours"), None);
}

#[test]
fn a_job_that_finishes_before_the_reservation_has_lost_nothing() {
    for admission in [Admission::Truncate, Admission::Requeue] {
        let ran = six_seconds(admission, 5);
        assert_eq!(ran.jobs[0].verdict, Verdict::SuccessfulFinished);
        assert_eq!(ran.reservations[0].end, Some(Seconds(9)));
        assert_eq!(ran.totals.lost_to_preemption, NodeSeconds(0));
    }
}

#[test]
fn of_those_in_the_way_who_started_last_is_stopped() {
    let jobs = [job(0, 0, 2, 20, 20), job(1, 1, 2, 20, 20)];
    let ran = simulate_replanning_with(
        Nodes(4),
        &settings(Admission::Truncate),
        &jobs,
        &[request(0, 5, 2, 5, 8)],
        &stoppable([true, true]),
        &FailureTrace::default(),
    );
    assert_eq!(ran.jobs[0].end, Some(Seconds(20)));
    assert_eq!(ran.jobs[1].end, Some(Seconds(8)));
}

#[test]
fn those_are_stopped_with_which_the_least_work_is_lost_where_that_is_asked_for() {
    // At 24 s: 2 nodes for 24 s, 4 for 8 s, 2 for 4 s; four of the eight are wanted. Who started
    // last is the third, then the second; the second alone is enough.
    let jobs = [
        job(0, 0, 2, 90, 90),
        job(1, 16, 4, 90, 90),
        job(2, 20, 2, 90, 90),
    ];
    let stopped = |stopped_first| {
        let settings = ReplanningSettings {
            stopped_first,
            ..settings(Admission::Requeue)
        };
        let ran = simulate_replanning_with(
            Nodes(8),
            &settings,
            &jobs,
            &[request(0, 21, 4, 5, 24)],
            &stoppable([true, true, true]),
            &FailureTrace::default(),
        );
        (ran.totals.requeued, ran.totals.lost_to_preemption)
    };
    // 4 × 8 + 2 × 4 and 4 × 8 node-seconds.
    assert_eq!(stopped(StoppedFirst::StartedLast), (2, NodeSeconds(40)));
    assert_eq!(stopped(StoppedFirst::LeastLost), (1, NodeSeconds(32)));
}

/// Node 0 is down from 4 to 30 s.
fn one_outage() -> FailureTrace {
    FailureTrace::from_outages([Outage {
        node: NodeIndex(0),
        start: Seconds(4),
        end: Seconds(30),
    }])
    .unwrap()
}

#[test]
fn a_failure_costs_a_job_its_run_and_a_wide_one_waits_for_the_repair() {
    let jobs = [job(0, 0, 2, 10, 10), job(1, 0, 4, 5, 5)];
    let ran = simulate_replanning_with(
        Nodes(4),
        &settings(Admission::Reject),
        &jobs,
        &[],
        &JobMarks::default(),
        &one_outage(),
    );
    assert_eq!(ran.jobs[0].start, Some(Seconds(4)));
    assert_eq!((ran.jobs[0].restarts, ran.jobs[0].node_failures), (1, 1));
    assert_eq!(ran.jobs[1].start, Some(Seconds(30)));
    assert_eq!(ran.totals.lost_to_failures, NodeSeconds(8));
}

#[test]
fn a_reservation_is_lost_with_its_node_and_where_too_many_are_down_at_its_start() {
    let requests = [request(0, 0, 3, 10, 1), request(1, 1, 4, 5, 20)];
    let ran = simulate_replanning_with(
        Nodes(4),
        &settings(Admission::Reject),
        &[],
        &requests,
        &JobMarks::default(),
        &one_outage(),
    );
    let [first, second] = &ran.reservations[..] else {
        panic!("there are two");
    };
    assert_eq!(
        (first.verdict, first.end),
        (RequestVerdict::Lost, Some(Seconds(4)))
    );
    assert_eq!((second.verdict, second.start), (RequestVerdict::Lost, None));
    assert_eq!((ran.totals.granted, ran.totals.lost), (2, 2));
    assert_eq!(ran.totals.lost_to_failures, NodeSeconds(9));
}

#[test]
fn a_larger_share_of_preemptible_jobs_contains_the_smaller_one() {
    let draw = |percent| {
        let mut draws = bookahead_core::random::stream(1, "key", 0, PREEMPTIBLE_STREAM);
        marked_jobs(1_000, percent, &mut draws)
    };
    assert!(draw(0.0).is_empty());
    let (some, more) = (draw(20.0), draw(50.0));
    assert!(
        some.iter()
            .zip(more.iter())
            .all(|(some, more)| *more || !*some)
    );
    let count = some.iter().filter(|is| **is).count();
    assert!((150..250).contains(&count), "{count}");
    assert!(draw(100.0).iter().all(|is| *is));
}
