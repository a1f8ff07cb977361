//! Reservations that are cancelled before they start (Singh 2008, §6.4).

use proptest::prelude::*;

use super::oracle::{jobs, policies, requests};
use super::*;
use bookahead_core::random;

fn run_with(
    settings: ReplanningSettings,
    jobs: &[Job],
    requests: &[ReservationRequest],
    cancelled: &[Option<f64>],
) -> Ran {
    let marks = JobMarks {
        cancelled: cancelled.into(),
        ..JobMarks::default()
    };
    let nodes = Nodes(if jobs.len() + requests.len() > 4 {
        6
    } else {
        4
    });
    let plan = Replanning::new(nodes, settings).with_marks(marks);
    let mut machine = ReplanningMachine::of(nodes, plan);
    machine.submit(jobs.iter().cloned());
    machine.request(requests.iter().cloned());
    Ran::of(machine)
}

/// Four nodes are full until 50. A request of second 10 takes all of them on 110–210, which moves
/// the job of second 5 from 50–150 to 210; another one wants 120–130.
fn whole_machine(penalty_factor: f64, cancelled: Option<f64>) -> Ran {
    let settings = ReplanningSettings {
        penalty_factor,
        ..settings(Admission::MovePrice)
    };
    run_with(
        settings,
        &[job(0, 0, 4, 50, 50), job(1, 5, 4, 100, 100)],
        &[request(0, 10, 4, 100, 110), request(1, 30, 1, 10, 120)],
        &[cancelled, None],
    )
}

#[test]
fn a_cancelled_reservation_gives_its_nodes_back_at_once_and_pays_a_part_of_its_price() {
    // Half of the lead of 100 s is over at 60.
    let ran = whole_machine(0.1, Some(0.5));
    let reservation = &ran.reservations[0];
    assert_eq!(reservation.verdict, RequestVerdict::Cancelled);
    assert_eq!((reservation.start, reservation.end), (None, None));
    assert_eq!(ran.start(1), 60);
    // The delay of 160 s times four nodes would have been 640.
    assert_eq!(reservation.price, Some(NodeSeconds(64)));
    assert_eq!(ran.totals.cancellation_penalties, NodeSeconds(64));
    assert_eq!(ran.totals.price, NodeSeconds(0));
    assert_eq!((ran.totals.granted, ran.totals.cancelled), (1, 1));
}

#[test]
fn what_it_held_is_refused_to_others_until_then() {
    let ran = whole_machine(0.0, Some(0.5));
    let refused = RequestVerdict::ConflictsWithFixed;
    assert_eq!(ran.reservations[1].verdict, refused);
    assert_eq!(
        (ran.totals.kept.submitted, ran.totals.kept.rejected),
        (1, 1)
    );
    // A fifth of the lead is over at 30, after the other request has been answered.
    let ran = whole_machine(0.0, Some(0.2));
    assert_eq!(ran.reservations[1].verdict, refused);
    // At 29 it is not: 19 of 100 s.
    let ran = whole_machine(0.0, Some(0.19));
    assert_eq!(ran.reservations[1].verdict, RequestVerdict::Granted);
    assert_eq!(ran.reservations[1].start, Some(Seconds(120)));
}

#[test]
fn who_starts_at_once_or_keeps_it_cancels_nothing() {
    let requests = [request(0, 10, 4, 100, 10), request(1, 20, 4, 50, 300)];
    let cancelled = [Some(0.0), None];
    let ran = run_with(settings(Admission::Reject), &[], &requests, &cancelled);
    let granted = |it: &ReservationOutcome| it.verdict == RequestVerdict::Granted;
    assert!(ran.reservations.iter().all(granted));
    assert_eq!(ran.totals.cancelled, 0);
}

#[test]
fn a_larger_share_of_cancelled_requests_contains_the_smaller_one() {
    let requests: Vec<_> = (0..200).map(|id| request(id, 10, 1, 10, 20)).collect();
    let marks = |cancelling_percent| {
        let settings = ReplanningSettings {
            cancelling_percent,
            ..settings(Admission::Move)
        };
        let stream = |name: &str| random::stream(1, "w", 0, name);
        JobMarks::drawn(&[], &requests, &settings, stream).cancelled
    };
    let (some, half) = (marks(20.0), marks(50.0));
    let counts = [&some, &half].map(|marks| marks.iter().flatten().count());
    assert!((25..=55).contains(&counts[0]) && (80..=120).contains(&counts[1]));
    let same = |(one, other): (&Option<f64>, &Option<f64>)| one.is_none() || one == other;
    assert!(some.iter().zip(&*half).all(same));
    assert!(marks(0.0).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nobody_uses_what_is_not_there_and_what_is_cancelled_never_runs(
        jobs in jobs(),
        requests in requests(),
        settings in policies(),
        cancelled in prop::collection::vec(prop::option::of(0.0..1.0_f64), 14),
    ) {
        let count = jobs.len() + requests.len();
        prop_assume!(count > 4);
        let ran = run_with(settings, &jobs, &requests, &cancelled);
        let mut uses = Vec::new();
        for outcome in &ran.reservations {
            let (request, cancels) = (&outcome.request, cancelled[outcome.request.id.0 as usize]);
            let lead = request.wanted.earliest() - request.submit;
            let expected = cancels.is_some() && lead > Seconds::ZERO;
            if !outcome.verdict.is_rejected() {
                prop_assert_eq!(outcome.verdict == RequestVerdict::Cancelled, expected);
                prop_assert_eq!(outcome.start.is_none(), expected);
            }
            uses.extend(outcome.start.zip(outcome.end).map(|span| (span, request.nodes.0)));
        }
        for outcome in &ran.jobs {
            let span = outcome.start.zip(outcome.end);
            uses.extend(span.map(|span| (span, outcome.job.nodes.0)));
        }
        for second in 0..500 {
            let runs = |((start, end), _): &&((Seconds, Seconds), u32)| start.0 <= second && second < end.0;
            let used: u32 = uses.iter().filter(runs).map(|(_, nodes)| nodes).sum();
            prop_assert!(used <= 6);
        }
    }

    /// With run times that are known, a plan that is made anew is the plan.
    #[test]
    fn who_cancels_in_the_second_of_the_request_harms_nobody(
        jobs in jobs(),
        requests in requests(),
        settings in policies(),
    ) {
        prop_assume!(jobs.len() > 4);
        let jobs: Vec<Job> = jobs
            .into_iter()
            .map(|job| { let estimate = job.estimate; job.running_for(estimate) })
            .collect();
        let later: Vec<ReservationRequest> = (requests.into_iter())
            .filter(|request| request.wanted.earliest() > request.submit)
            .zip(0..)
            .map(|(request, id)| ReservationRequest { id: RequestId(id), ..request })
            .collect();
        let cancelled = vec![Some(0.0); later.len()];
        let ran = run_with(settings.clone(), &jobs, &later, &cancelled);
        let alone = run_with(settings, &jobs, &[], &[]);
        prop_assert_eq!(ran.jobs, alone.jobs);
    }
}
