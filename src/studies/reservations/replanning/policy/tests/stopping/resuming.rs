//! Jobs that go on where they were stopped for a reservation, and jobs that none may delay.

use super::*;

const EVERYBODY: [bool; 24] = [true; 24];

fn resuming(overhead: i64) -> ReplanningSettings {
    ReplanningSettings {
        resume_overhead: Some(Seconds(overhead)),
        ..settings(Admission::Requeue)
    }
}

/// As [`six_seconds`]: three of four nodes for 10 s from 0, two of them wanted from 6 to 9.
fn stopped_at_six(settings: &ReplanningSettings) -> ReplanningRun {
    let jobs = [job(0, 0, 3, 10, 10)];
    let requests = [request(0, 2, 2, 3, 6)];
    let stoppable = stoppable([true]);
    let none = FailureTrace::default();
    simulate_replanning_with(Nodes(4), settings, &jobs, &requests, &stoppable, &none)
}

#[test]
fn a_resumed_job_goes_on_where_it_was_after_it_has_read_what_it_had_done() {
    for overhead in [0, 2] {
        let ran = stopped_at_six(&resuming(overhead));
        let job = &ran.jobs[0];
        // Six of ten seconds were done: it reads, and computes the last four from 9 on.
        let end = 9 + overhead + 4;
        assert_eq!((job.start, job.end), (Some(Seconds(9)), Some(Seconds(end))));
        assert_eq!(job.verdict, Verdict::SuccessfulFinished);
        assert_eq!(ran.totals.requeued, 1);
        assert_eq!(ran.totals.lost_to_preemption, NodeSeconds(0));
        assert_eq!(ran.metrics.useful, NodeSeconds(30));
        assert_eq!(ran.metrics.checkpoints.read, NodeSeconds(3 * overhead));
        // It did not compute for three seconds, and while it read.
        let measured = reservation_measures(Nodes(4), &ran.metrics, &ran.totals);
        let waited = (3 + overhead) as f64;
        let wait = measured.get("stopped_wait_hours").unwrap();
        assert!((wait - waited / 3_600.0).abs() < 1e-12);
        assert_eq!(
            measured.get("stopped_bounded_slowdown"),
            Some((waited + 10.0) / 10.0)
        );
        assert_eq!(measured.get("resumed_from_checkpoint"), Some(1.0));
    }
}

#[test]
fn a_job_that_is_stopped_again_while_it_reads_has_lost_only_that() {
    // Stopped at 6, on again at 9 for 5 s of reading, stopped at 11 until 14: 5 and 4 s are left.
    let requests = [request(0, 2, 2, 3, 6), request(1, 10, 4, 3, 11)];
    let ran = simulate_replanning_with(
        Nodes(4),
        &resuming(5),
        &[job(0, 0, 3, 10, 10)],
        &requests,
        &stoppable([true]),
        &FailureTrace::default(),
    );
    assert_eq!(ran.jobs[0].end, Some(Seconds(14 + 5 + 4)));
    assert_eq!(ran.totals.requeued, 2);
    // Three nodes for two seconds of reading.
    assert_eq!(ran.totals.lost_to_preemption, NodeSeconds(6));
    assert_eq!(ran.metrics.checkpoints.read, NodeSeconds(3 * 7));
}

#[test]
fn a_failure_costs_a_resumed_job_what_it_did_since_it_was_stopped() {
    // From 9 on it reads for 1 s and computes for 2 s when a node fails; 4 s are left from 12 on.
    let outage = Outage {
        node: NodeIndex(0),
        start: Seconds(12),
        end: Seconds(13),
    };
    let ran = simulate_replanning_with(
        Nodes(4),
        &resuming(1),
        &[job(0, 0, 3, 10, 10)],
        &[request(0, 2, 2, 3, 6)],
        &stoppable([true]),
        &FailureTrace::from_outages([outage]).unwrap(),
    );
    assert_eq!(ran.jobs[0].end, Some(Seconds(12 + 1 + 4)));
    assert_eq!(ran.totals.lost_to_failures, NodeSeconds(9));
}

#[test]
fn of_jobs_that_keep_their_work_the_one_that_started_last_is_stopped_unless_another_alone_suffices()
{
    // As without resuming: 2 nodes for 24 s, 4 for 8 s, 2 for 4 s; nobody would lose anything.
    let jobs = [
        job(0, 0, 2, 90, 90),
        job(1, 16, 4, 90, 90),
        job(2, 20, 2, 90, 90),
    ];
    let stopped = |wanted| {
        let settings = ReplanningSettings {
            stopped_first: StoppedFirst::LeastLost,
            ..resuming(3)
        };
        let ran = simulate_replanning_with(
            Nodes(8),
            &settings,
            &jobs,
            &[request(0, 21, wanted, 5, 24)],
            &stoppable([true, true, true]),
            &FailureTrace::default(),
        );
        assert_eq!(ran.totals.lost_to_preemption, NodeSeconds(0));
        let restarts = ran.jobs.iter().map(|job| job.restarts);
        restarts.collect::<Vec<_>>()
    };
    assert_eq!(stopped(2), [0, 0, 1]);
    assert_eq!(stopped(4), [0, 1, 0]);
    assert_eq!(stopped(6), [0, 1, 1]);
}

#[test]
fn a_job_that_has_just_read_is_stopped_after_one_that_has_not() {
    // The first is stopped at 6 and reads from 9 to 14; the second starts at 0 and has never read.
    // At 12 one of them has to go: the first would lose 2 nodes × 3 s, the second nothing.
    let jobs = [job(0, 0, 2, 40, 40), job(1, 1, 2, 40, 40)];
    let requests = [request(0, 2, 2, 3, 6), request(1, 10, 2, 3, 12)];
    let of = |stopped_first| {
        let settings = ReplanningSettings {
            stopped_first,
            ..resuming(5)
        };
        let ran = simulate_replanning_with(
            Nodes(4),
            &settings,
            &jobs,
            &requests,
            &stoppable([true, true]),
            &FailureTrace::default(),
        );
        let restarts: Vec<u32> = ran.jobs.iter().map(|job| job.restarts).collect();
        (restarts, ran.totals.lost_to_preemption)
    };
    // At 6 both have lost nothing, so the second, which started last, is stopped; and again at 12.
    assert_eq!(of(StoppedFirst::StartedLast), (vec![0, 2], NodeSeconds(6)));
    assert_eq!(of(StoppedFirst::LeastLost), (vec![1, 1], NodeSeconds(0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn jobs_use_what_they_need_and_read_when_they_go_on_and_nothing_is_lost(
        jobs in jobs(),
        requests in requests(),
        overhead in 0_i64..6,
        least in any::<bool>(),
    ) {
        let stopped_first = if least { StoppedFirst::LeastLost } else { StoppedFirst::StartedLast };
        let settings = ReplanningSettings { stopped_first, ..resuming(overhead) };
        let ran = simulate_replanning_with(
            Nodes(6), &settings, &jobs, &requests, &stoppable(EVERYBODY), &FailureTrace::default(),
        );
        let mut busy = ran.totals.used;
        for outcome in &ran.jobs {
            let (job, runs) = (&outcome.job, outcome.execution.unwrap());
            prop_assert!(outcome.verdict.is_successful());
            prop_assert_eq!(runs.useful, job.runtime.min(job.estimate));
            prop_assert_eq!((runs.lost, runs.written), (Seconds(0), Seconds(0)));
            prop_assert!(runs.read <= Seconds(overhead * i64::from(runs.resumed)));
            busy += job.nodes.for_span(runs.held());
        }
        prop_assert_eq!(ran.metrics.busy, busy);
        prop_assert!(ran.totals.lost_to_preemption.0 <= ran.metrics.checkpoints.read.0);
    }

    #[test]
    fn moving_no_job_is_rejecting(jobs in jobs(), requests in requests(), failures in outages()) {
        let nobody = JobMarks { undelayed: EVERYBODY.into(), ..JobMarks::default() };
        let with = |admission| simulate_replanning_with(
            Nodes(6), &settings(admission), &jobs, &requests, &nobody, &failures,
        );
        let (moving, rejecting) = (with(Admission::Move), with(Admission::Reject));
        prop_assert_eq!(&moving.jobs, &rejecting.jobs);
        let said = |run: &ReplanningRun| -> Vec<_> {
            run.reservations.iter().map(|outcome| (outcome.verdict, outcome.end)).collect()
        };
        prop_assert_eq!(said(&moving), said(&rejecting));
        prop_assert_eq!(moving.totals.displaced, Seconds(0));
    }

    #[test]
    fn a_grant_delays_no_job_that_it_must_not_delay(
        jobs in jobs(),
        wanted in requests(),
        settings in policies(),
        only_overlapping in any::<bool>(),
        flags in prop::collection::vec(any::<bool>(), 24),
    ) {
        let settings = ReplanningSettings {
            admission: Admission::Move,
            displaced: if only_overlapping { DisplacedJobs::OnlyOverlapping } else { DisplacedJobs::ReplanAll },
            ..settings
        };
        let undelayed: Arc<[bool]> = flags.into();
        let marks = JobMarks { undelayed: Arc::clone(&undelayed), ..JobMarks::default() };
        let plan = Replanning::new(Nodes(6), settings).with_marks(marks);
        let mut machine = ReplanningMachine::of(Nodes(6), plan);
        machine.submit(jobs.iter().cloned());
        for request in wanted {
            machine.settle(request.submit);
            let planned = |machine: &mut ReplanningMachine| -> Vec<(JobId, Seconds)> {
                let starts = machine.plan().planned().0.to_vec();
                let jobs = machine.plan().queue().iter().map(|waiting| waiting.job);
                jobs.zip(starts).collect()
            };
            let before = planned(&mut machine);
            let now = request.submit;
            machine.request([request]);
            machine.settle(now);
            // Who has started meanwhile was not delayed.
            let after = planned(&mut machine);
            for (job, start) in after {
                let earlier = before.iter().find(|(other, _)| *other == job).unwrap().1;
                prop_assert!(!undelayed[job.0 as usize] || start <= earlier);
            }
        }
    }
}

#[test]
fn a_request_that_would_delay_a_job_is_refused_where_none_may_delay_it() {
    // Section 7, case A: the second job is planned at 10 on three of four nodes, and two are wanted
    // from 12 to 16.
    let jobs = [job(0, 0, 4, 10, 10), job(1, 1, 3, 5, 5)];
    let verdict = |undelayed: [bool; 2]| {
        let marks = JobMarks {
            undelayed: undelayed.into(),
            ..JobMarks::default()
        };
        let ran = simulate_replanning_with(
            Nodes(4),
            &settings(Admission::Move),
            &jobs,
            &[request(0, 2, 2, 4, 12)],
            &marks,
            &FailureTrace::default(),
        );
        ran.reservations[0].verdict
    };
    assert_eq!(verdict([true, false]), RequestVerdict::Granted);
    assert_eq!(verdict([false, true]), RequestVerdict::ConflictsWithPlanned);
}
