mod cancelling;
mod notice;
mod oracle;
mod stopping;
mod twins;

use bookahead_core::scheduling::SimulationMetrics;
use bookahead_core::workload::{Job, SameInstant, WantedStart};

use super::*;
use crate::replanning::{DisplacedJobs, EarlyEnd, JobCosts, ReplanningMachine};

fn job(id: u32, submit: i64, nodes: u32, estimate: i64, runtime: i64) -> Job {
    Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate))
        .running_for(Seconds(runtime))
        .numbered(i64::from(id) + 1)
}

fn request(id: u32, submit: i64, nodes: u32, duration: i64, start: i64) -> ReservationRequest {
    ReservationRequest {
        id: RequestId(id),
        trace_number: 0,
        user: None,
        submit: Seconds(submit),
        nodes: Nodes(nodes),
        duration: Seconds(duration),
        runtime: Seconds(duration),
        wanted: WantedStart::At(Seconds(start)),
    }
}

fn settings(admission: Admission) -> ReplanningSettings {
    ReplanningSettings {
        admission,
        ..ReplanningSettings::default()
    }
}

struct Ran {
    jobs: Vec<JobOutcome>,
    reservations: Vec<ReservationOutcome>,
    metrics: SimulationMetrics,
    totals: ReservationTotals,
}

impl Ran {
    fn of(mut machine: ReplanningMachine) -> Self {
        machine.advance(Seconds::FAR);
        assert!(machine.is_idle());
        let mut jobs = machine.take_outcomes();
        jobs.sort_by_key(|outcome| outcome.job.id);
        let mut reservations = machine.take_reservation_outcomes();
        reservations.sort_by_key(|outcome| outcome.request.id);
        Self {
            jobs,
            reservations,
            metrics: machine.metrics(),
            totals: machine.reservation_totals(),
        }
    }

    fn start(&self, job: u32) -> i64 {
        self.jobs[job as usize].start.unwrap().0
    }

    fn slowdown(&self) -> f64 {
        self.metrics.weighted_response.0 as f64 / self.metrics.weighted_run.0 as f64
    }

    fn utilisation(&self) -> f64 {
        self.metrics.busy.0 as f64 / self.metrics.capacity.0 as f64
    }
}

fn run(
    nodes: u32,
    settings: ReplanningSettings,
    jobs: &[Job],
    requests: &[ReservationRequest],
) -> Ran {
    let mut machine = ReplanningMachine::replanning(Nodes(nodes), settings);
    machine.submit(jobs.iter().cloned());
    machine.request(requests.iter().cloned());
    Ran::of(machine)
}

/// Worked out by hand: four nodes, J1 and J2, R wants second 12.
fn section_7(runtime_of_the_first: i64, admission: Admission) -> Ran {
    run(
        4,
        settings(admission),
        &[job(0, 0, 4, 10, runtime_of_the_first), job(1, 1, 3, 5, 5)],
        &[request(0, 2, 2, 4, 12)],
    )
}

#[test]
fn section_7_case_a_reject_refuses_what_a_planned_job_holds() {
    let ran = section_7(10, Admission::Reject);
    assert_eq!(
        ran.reservations[0].verdict,
        RequestVerdict::ConflictsWithPlanned
    );
    assert_eq!(ran.start(1), 10);
    assert!((ran.slowdown() - 82.0 / 55.0).abs() < 1e-12);
    assert!((ran.utilisation() - 55.0 / 60.0).abs() < 1e-12);
}

#[test]
fn section_7_case_a_move_pushes_the_planned_job_away() {
    let ran = section_7(10, Admission::Move);
    let reservation = &ran.reservations[0];
    assert_eq!(reservation.verdict, RequestVerdict::Granted);
    assert_eq!(
        (reservation.start, reservation.end),
        (Some(Seconds(12)), Some(Seconds(16)))
    );
    assert_eq!(ran.start(1), 16);
    assert_eq!(reservation.displaced_jobs, Some(1));
    assert_eq!(reservation.displaced, Some(Seconds(6)));
    assert!((ran.slowdown() - 100.0 / 55.0).abs() < 1e-12);
    assert!((ran.utilisation() - 63.0 / 84.0).abs() < 1e-12);
}

#[test]
fn section_7_case_b_an_early_end_softens_move() {
    let rejecting = section_7(6, Admission::Reject);
    assert_eq!(rejecting.totals.rejected(), 1);
    assert_eq!(rejecting.start(1), 6);
    assert!((rejecting.slowdown() - 54.0 / 39.0).abs() < 1e-12);
    let moving = section_7(6, Admission::Move);
    assert_eq!(moving.start(1), 6);
    assert_eq!(moving.reservations[0].start, Some(Seconds(12)));
    assert!((moving.slowdown() - 54.0 / 39.0).abs() < 1e-12);
    assert!((moving.utilisation() - 47.0 / 64.0).abs() < 1e-12);
}

/// Singh 2008, Figure 1: A, B, C and D in hours on five processors.
#[test]
fn section_12_1_conservative_backfilling_starts_four_tasks_at_0_3_0_and_4() {
    let jobs = [
        job(0, 0, 2, 3, 3),
        job(1, 0, 4, 1, 1),
        job(2, 0, 1, 2, 2),
        job(3, 0, 3, 2, 2),
    ];
    let ran = run(5, settings(Admission::Reject), &jobs, &[]);
    let starts: Vec<i64> = (0..4).map(|id| ran.start(id)).collect();
    assert_eq!(starts, [0, 3, 0, 4]);
}

/// A machine worked out by hand (AMB-42): A and B run, R is booked, C and D wait.
fn section_12_4() -> ReplanningMachine {
    let mut machine = ReplanningMachine::replanning(Nodes(5), settings(Admission::MovePrice));
    machine.submit(section_12_4_jobs());
    machine.request([request(0, 0, 3, 1, 3)]);
    machine.advance(Seconds(1));
    machine
}

fn section_12_4_jobs() -> [Job; 4] {
    [
        job(0, 0, 3, 1, 1),
        job(1, 0, 1, 2, 2),
        job(2, 0, 2, 4, 4),
        job(3, 0, 2, 4, 4),
    ]
}

#[test]
fn section_12_4_lists_the_prices_of_every_candidate_start() {
    let mut machine = section_12_4();
    let instants: Vec<i64> = machine
        .plan()
        .candidate_instants()
        .iter()
        .map(|t| t.0)
        .collect();
    assert_eq!(instants, [0, 1, 2, 3, 4, 5, 8]);
    let offers = machine.plan().offers(Seconds(0), Nodes(2), Seconds(3));
    let listed: Vec<(i64, i64)> = offers
        .iter()
        .map(|offer| (offer.start.0, offer.price.0))
        .collect();
    assert_eq!(listed, [(1, 6), (2, 8), (3, 10), (4, 2), (5, 0), (8, 0)]);
    assert_eq!(machine.plan().price(Seconds(0), Nodes(2), Seconds(3)), None);
}

/// The machine of section 12.4, where C and D state these delay costs; and what a request with this
/// α gets of it.
fn stated_delay_costs(of_c: f64, of_d: f64, alpha: f64) -> (Vec<(i64, i64)>, Ran) {
    let (class_c, class_d) = (JobId(2), JobId(3));
    let settings = settings(Admission::MovePrice);
    let plan = Replanning::new(Nodes(5), settings).with_marks(JobMarks {
        costs: Some(JobCosts::stated(&[(class_c, of_c), (class_d, of_d)]).into()),
        ..JobMarks::default()
    });
    let mut machine = ReplanningMachine::of(Nodes(5), plan);
    machine.submit(section_12_4_jobs());
    machine.request([request(0, 0, 3, 1, 3)]);
    machine.advance(Seconds(1));
    let offers = machine.plan().offers(Seconds(0), Nodes(2), Seconds(3));
    let listed = offers.iter().map(|offer| (offer.start.0, offer.price.0));
    let listed = listed.collect();
    machine.request([ReservationRequest {
        wanted: WantedStart::From {
            earliest: Seconds(0),
            alpha,
        },
        ..request(1, 0, 2, 3, 0)
    }]);
    (listed, Ran::of(machine))
}

#[test]
fn a_delay_costs_what_the_owner_states() {
    // S3 of the addendum: C's hour costs 1, D's 3.
    let (listed, _) = stated_delay_costs(1.0, 3.0, 0.0);
    let expected = [(1, 6), (2, 12), (3, 18), (4, 6), (5, 0), (8, 0)];
    assert_eq!(listed, expected);
    let (same, _) = stated_delay_costs(1.0, 1.0, 0.0);
    assert_eq!(same, [(1, 6), (2, 8), (3, 10), (4, 2), (5, 0), (8, 0)]);
}

#[test]
fn whoever_states_a_threefold_delay_cost_is_not_delayed_and_pays_nothing() {
    // S5 of the addendum, α = 0.4. Truth: .4·6/10 at 1 is the least; C is delayed from 1 to 4.
    let (_, truthful) = stated_delay_costs(1.0, 1.0, 0.4);
    assert_eq!(truthful.reservations[1].start, Some(Seconds(1)));
    assert_eq!(truthful.start(2), 4);
    // C states 3: .4·18/22 at 1, .4·2/22 + .6·3/7 at 4.
    let (listed, lying) = stated_delay_costs(3.0, 1.0, 0.4);
    let expected = [(1, 18), (2, 20), (3, 22), (4, 2), (5, 0), (8, 0)];
    assert_eq!(listed, expected);
    assert_eq!(lying.reservations[1].start, Some(Seconds(4)));
    assert_eq!(lying.start(2), 1);
}

#[test]
fn a_start_that_is_not_on_the_list_may_be_asked_for_and_heads_the_list_from_there() {
    let mut machine = section_12_4();
    let offers = machine.plan().offers(Seconds(6), Nodes(2), Seconds(3));
    let starts: Vec<i64> = offers.iter().map(|offer| offer.start.0).collect();
    assert_eq!(starts, [6, 8]);
}

/// Four ways to be impossible, each counted with its reason and none a panic.
#[test]
fn impossible_requests_are_refused_with_their_reason() {
    let requests = [
        request(0, 5, 9, 3, 10),
        request(1, 5, 2, 0, 10),
        request(2, 5, 2, 3, 4),
        request(3, 5, 2, 3, 5),
    ];
    let ran = run(4, settings(Admission::Move), &[], &requests);
    let verdicts: Vec<RequestVerdict> = ran.reservations.iter().map(|r| r.verdict).collect();
    assert_eq!(
        verdicts,
        [
            RequestVerdict::TooWide,
            RequestVerdict::NoDuration,
            RequestVerdict::StartInThePast,
            RequestVerdict::Granted
        ]
    );
    assert_eq!((ran.totals.impossible, ran.totals.granted), (3, 1));
}

#[test]
fn a_job_wider_than_the_machine_is_dropped_and_counted() {
    let ran = run(4, settings(Admission::Move), &[job(0, 0, 5, 10, 10)], &[]);
    assert_eq!(ran.jobs[0].verdict, Verdict::DroppedTooWide);
}

/// A4, A8: the twin of a job wants the same nodes at the same instant.
#[test]
fn at_one_instant_the_job_comes_first_unless_the_request_shall() {
    let jobs = [job(0, 0, 3, 5, 5)];
    let requests = [request(0, 0, 3, 5, 0)];
    let with = |admission, same_instant| {
        run(
            4,
            ReplanningSettings {
                admission,
                same_instant,
                ..ReplanningSettings::default()
            },
            &jobs,
            &requests,
        )
    };
    let verdict = |ran: &Ran| ran.reservations[0].verdict;
    let job_first = with(Admission::Reject, SameInstant::JobFirst);
    assert_eq!(verdict(&job_first), RequestVerdict::ConflictsWithPlanned);
    let request_first = with(Admission::Reject, SameInstant::RequestFirst);
    assert_eq!(verdict(&request_first), RequestVerdict::Granted);
    assert_eq!(request_first.start(0), 5);
    let moving = with(Admission::Move, SameInstant::JobFirst);
    assert_eq!(verdict(&moving), RequestVerdict::Granted);
    assert_eq!(moving.start(0), 5);
}

#[test]
fn a_stream_of_reservations_starves_a_job_until_the_guard_protects_it() {
    let jobs = [job(0, 0, 2, 10, 10)];
    let requests: Vec<_> = (0..20)
        .map(|n| request(n, i64::from(n) * 5, 3, 5, i64::from(n) * 5 + 5))
        .collect();
    let with = |starvation_guard| {
        run(
            4,
            ReplanningSettings {
                starvation_guard,
                ..settings(Admission::Move)
            },
            &[&[job(1, 0, 4, 1, 1)][..], &jobs].concat(),
            &requests,
        )
    };
    assert!(with(None).start(0) >= 100);
    let guarded = with(Some(Seconds(20)));
    assert!(guarded.start(0) <= 40, "{}", guarded.start(0));
    assert!(guarded.totals.conflicts_with_planned > 0);
}

#[test]
fn a_reservation_that_ends_early_gives_the_rest_back_or_keeps_it_as_told() {
    let jobs = [job(0, 1, 4, 5, 5)];
    let early = ReservationRequest {
        runtime: Seconds(3),
        ..request(0, 0, 4, 10, 0)
    };
    let with = |early_end, asked: &ReservationRequest| {
        run(
            4,
            ReplanningSettings {
                early_end,
                ..settings(Admission::Reject)
            },
            &jobs,
            std::slice::from_ref(asked),
        )
        .start(0)
    };
    assert_eq!(with(EarlyEnd::Release, &early), 3);
    assert_eq!(with(EarlyEnd::Keep, &early), 10);
    // One that uses all of its slot leaves nothing to give back or to keep.
    let whole = request(0, 0, 4, 10, 0);
    assert_eq!(with(EarlyEnd::Release, &whole), 10);
    assert_eq!(with(EarlyEnd::Keep, &whole), 10);
}

#[test]
fn a_cancelled_reservation_and_a_withdrawn_job_leave_their_places_to_others() {
    let mut machine = ReplanningMachine::replanning(Nodes(4), settings(Admission::Reject));
    machine.request([request(0, 0, 4, 50, 10)]);
    machine.submit([job(0, 1, 4, 20, 20), job(1, 1, 4, 20, 20)]);
    machine.wait_until(Seconds(5));
    assert_eq!(machine.plan().planned().0, [Seconds(60), Seconds(80)]);
    assert!(machine.cancel_reservation(RequestId(0)));
    assert!(!machine.cancel_reservation(RequestId(0)));
    machine.cancel([(Seconds(5), JobId(0))]);
    machine.advance(Seconds(6));
    assert_eq!(machine.cluster().running_since(JobId(1)), Some(Seconds(5)));
    let outcomes = machine.take_reservation_outcomes();
    assert_eq!(outcomes[0].verdict, RequestVerdict::Cancelled);
}

#[test]
fn moving_only_overlapping_jobs_lets_the_others_keep_their_places() {
    // Three jobs of the whole machine, one behind the other; the reservation hits the second.
    let jobs = [
        job(0, 0, 4, 10, 10),
        job(1, 0, 4, 10, 10),
        job(2, 0, 4, 10, 10),
    ];
    let with = |displaced| {
        let ran = run(
            4,
            ReplanningSettings {
                displaced,
                ..settings(Admission::Move)
            },
            &jobs,
            &[request(0, 1, 4, 5, 12)],
        );
        [ran.start(0), ran.start(1), ran.start(2)]
    };
    assert_eq!(with(DisplacedJobs::ReplanAll), [0, 17, 27]);
    assert_eq!(with(DisplacedJobs::OnlyOverlapping), [0, 30, 20]);
}
