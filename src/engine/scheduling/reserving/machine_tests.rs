use proptest::prelude::*;

use super::*;
use crate::scheduling::reserving::queue_plan::plan_queue;
use crate::scheduling::reserving::{
    Admission, Backfilling, DisplacedJobs, Displacement, EarlyEnd, QueueOrder,
};
use crate::workload::WantedStart;

fn job(id: u32, submit: i64, nodes: u32, estimate: i64, runtime: i64) -> Job {
    Job {
        id: JobId(id),
        trace_number: i64::from(id) + 1,
        submit: Seconds(submit),
        release: Seconds(submit),
        estimate: Seconds(estimate),
        runtime: Seconds(runtime),
        deadline: Seconds::FAR,
        nodes: Nodes(nodes),
        user: None,
        application: None,
        kind: crate::workload::JobKind::Flexible,
    }
}

fn request(id: u32, submit: i64, nodes: u32, duration: i64, start: i64) -> ReservationRequest {
    ReservationRequest {
        id: RequestId(id),
        trace_number: 0,
        submit: Seconds(submit),
        nodes: Nodes(nodes),
        duration: Seconds(duration),
        runtime: Seconds(duration),
        wanted: WantedStart::At(Seconds(start)),
    }
}

fn settings(admission: Admission) -> ReservingSettings {
    ReservingSettings {
        admission,
        ..ReservingSettings::default()
    }
}

struct Ran {
    jobs: Vec<JobOutcome>,
    reservations: Vec<ReservationOutcome>,
    metrics: SimulationMetrics,
    totals: ReservationTotals,
}

impl Ran {
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
    settings: ReservingSettings,
    jobs: &[Job],
    requests: &[ReservationRequest],
) -> Ran {
    let mut machine = ReservingMachine::new(Nodes(nodes), settings);
    machine.submit(jobs.iter().cloned());
    machine.request(requests.iter().cloned());
    machine.advance(Seconds::FAR);
    assert!(machine.is_idle());
    let mut jobs = machine.take_job_outcomes();
    jobs.sort_by_key(|outcome| outcome.job.id);
    let mut reservations = machine.take_reservation_outcomes();
    reservations.sort_by_key(|outcome| outcome.request.id);
    Ran {
        jobs,
        reservations,
        metrics: machine.metrics(),
        totals: machine.reservation_totals(),
    }
}

/// Spec `grid-reservations.md` §7: four nodes, J1 and J2, R wants second 12.
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

/// Spec `provisioning.md` §12.1: A, B, C and D in hours on five processors.
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

/// The machine of spec `provisioning.md` §12.4: A and B run, R is booked, C and D wait.
fn section_12_4() -> ReservingMachine {
    let mut machine = ReservingMachine::new(Nodes(5), settings(Admission::MovePrice));
    machine.submit([
        job(0, 0, 3, 1, 1),
        job(1, 0, 1, 2, 2),
        job(2, 0, 2, 4, 4),
        job(3, 0, 2, 4, 4),
    ]);
    machine.request([request(0, 0, 3, 1, 3)]);
    machine.advance(Seconds(1));
    machine
}

#[test]
fn section_12_4_lists_the_prices_of_every_candidate_start() {
    let mut machine = section_12_4();
    let instants: Vec<i64> = machine.candidate_instants().iter().map(|t| t.0).collect();
    assert_eq!(instants, [0, 1, 2, 3, 4, 5, 8]);
    let offers = machine.offers(Seconds(0), Nodes(2), Seconds(3));
    let listed: Vec<(i64, i64)> = offers
        .iter()
        .map(|offer| (offer.start.0, offer.price.0))
        .collect();
    assert_eq!(listed, [(1, 6), (2, 8), (3, 10), (4, 2), (5, 0), (8, 0)]);
    assert_eq!(machine.price(Seconds(0), Nodes(2), Seconds(3)), None);
}

#[test]
fn a_start_that_is_not_on_the_list_may_be_asked_for_and_heads_the_list_from_there() {
    let mut machine = section_12_4();
    let offers = machine.offers(Seconds(6), Nodes(2), Seconds(3));
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
            ReservingSettings {
                admission,
                same_instant,
                ..ReservingSettings::default()
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
            ReservingSettings {
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
    let with = |early_end| {
        run(
            4,
            ReservingSettings {
                early_end,
                ..settings(Admission::Reject)
            },
            &jobs,
            std::slice::from_ref(&early),
        )
        .start(0)
    };
    assert_eq!(with(EarlyEnd::Release), 3);
    assert_eq!(with(EarlyEnd::Keep), 10);
}

#[test]
fn a_cancelled_reservation_and_a_withdrawn_job_leave_their_places_to_others() {
    let mut machine = ReservingMachine::new(Nodes(4), settings(Admission::Reject));
    machine.request([request(0, 0, 4, 50, 10)]);
    machine.submit([job(0, 1, 4, 20, 20), job(1, 1, 4, 20, 20)]);
    machine.wait_until(Seconds(5));
    assert_eq!(machine.planned().0, [Seconds(60), Seconds(80)]);
    assert!(machine.cancel(RequestId(0)));
    assert!(!machine.cancel(RequestId(0)));
    assert!(machine.withdraw(JobId(0)));
    machine.advance(Seconds(6));
    assert_eq!(machine.started(JobId(1)), Some(Seconds(5)));
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
            ReservingSettings {
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

/// The obvious twin: free nodes for every second, the whole queue planned anew at every second.
struct Oracle {
    free: Vec<i32>,
}

impl Oracle {
    fn fits(&self, from: i64, length: i64, nodes: u32) -> bool {
        (from..from + length).all(|time| self.free[time as usize] >= nodes as i32)
    }

    fn take(&mut self, from: i64, length: i64, nodes: u32) {
        for time in from..from + length {
            self.free[time as usize] -= nodes as i32;
        }
    }

    fn earliest(&self, from: i64, length: i64, nodes: u32) -> i64 {
        (from..)
            .find(|&start| self.fits(start, length, nodes))
            .unwrap()
    }
}

const END: usize = 6_000;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fixed {
    start: i64,
    until: i64,
    nodes: u32,
}

/// Starts of jobs and granted starts of requests, second by second.
fn simulate_slowly(
    nodes: u32,
    settings: &ReservingSettings,
    jobs: &[Job],
    requests: &[ReservationRequest],
) -> (Vec<i64>, Vec<bool>) {
    let mut started: Vec<Option<i64>> = vec![None; jobs.len()];
    let mut granted = vec![false; requests.len()];
    let fixed_at = |time: i64, started: &[Option<i64>], granted: &[bool]| {
        let mut blocks = Vec::new();
        for (job, start) in jobs.iter().zip(started) {
            if let Some(start) = *start {
                let end = start + job.runtime.0.min(job.estimate.0);
                let until = if end <= time {
                    end
                } else {
                    start + job.estimate.0
                };
                blocks.push(Fixed {
                    start,
                    until,
                    nodes: job.nodes.0,
                });
            }
        }
        for (request, granted) in requests.iter().zip(granted) {
            if *granted {
                let start = request.wanted.earliest().0;
                let end = start + request.runtime.0.min(request.duration.0);
                let keeps = settings.early_end == EarlyEnd::Keep;
                let until = if end <= time && !keeps {
                    end
                } else {
                    start + request.duration.0
                };
                blocks.push(Fixed {
                    start,
                    until,
                    nodes: request.nodes.0,
                });
            }
        }
        let mut oracle = Oracle {
            free: vec![nodes as i32; END],
        };
        for block in blocks {
            oracle.take(block.start, block.until - block.start, block.nodes);
        }
        oracle
    };
    let plan = |time: i64, mut oracle: Oracle, waiting: &[usize]| {
        let mut waiting = waiting.to_vec();
        waiting.sort_by_key(|&index| settings.order.key(&Waiting::from(&jobs[index])));
        let mut starts = vec![i64::MAX; jobs.len()];
        match settings.backfilling {
            Backfilling::Conservative | Backfilling::None => {
                let mut from = time;
                for index in waiting {
                    let job = &jobs[index];
                    let start = oracle.earliest(from, job.estimate.0, job.nodes.0);
                    oracle.take(start, job.estimate.0, job.nodes.0);
                    starts[index] = start;
                    if settings.backfilling == Backfilling::None {
                        from = start;
                    }
                }
            }
            Backfilling::Aggressive => {
                let mut clock = time;
                while !waiting.is_empty() {
                    while let Some(&head) = waiting.first() {
                        let job = &jobs[head];
                        if !oracle.fits(clock, job.estimate.0, job.nodes.0) {
                            break;
                        }
                        oracle.take(clock, job.estimate.0, job.nodes.0);
                        starts[head] = clock;
                        waiting.remove(0);
                    }
                    if let Some(&head) = waiting.first() {
                        let job = &jobs[head];
                        let shadow = oracle.earliest(clock, job.estimate.0, job.nodes.0);
                        oracle.take(shadow, job.estimate.0, job.nodes.0);
                        waiting.retain(|&index| {
                            let other = &jobs[index];
                            if index == head || !oracle.fits(clock, other.estimate.0, other.nodes.0)
                            {
                                return true;
                            }
                            oracle.take(clock, other.estimate.0, other.nodes.0);
                            starts[index] = clock;
                            false
                        });
                        for moment in shadow..shadow + job.estimate.0 {
                            oracle.free[moment as usize] += job.nodes.0 as i32;
                        }
                    }
                    clock += 1;
                }
            }
        }
        (oracle, starts)
    };
    for time in 0..END as i64 / 2 {
        let waiting = |started: &[Option<i64>]| -> Vec<usize> {
            (0..jobs.len())
                .filter(|&index| jobs[index].submit.0 <= time && started[index].is_none())
                .collect()
        };
        if started.iter().all(Option::is_some) && requests.iter().all(|r| r.submit.0 < time) {
            break;
        }
        for (index, request) in requests.iter().enumerate() {
            if request.submit.0 == time {
                let start = request.wanted.earliest().0;
                let hard = fixed_at(time, &started, &granted);
                let free = if settings.admission.moves() {
                    hard
                } else {
                    plan(time, hard, &waiting(&started)).0
                };
                granted[index] =
                    start >= time && free.fits(start, request.duration.0, request.nodes.0);
            }
        }
        let hard = fixed_at(time, &started, &granted);
        let (_, starts) = plan(time, hard, &waiting(&started));
        for (index, start) in starts.into_iter().enumerate() {
            if start == time {
                started[index] = Some(time);
            }
        }
    }
    (
        started.into_iter().map(|start| start.unwrap()).collect(),
        granted,
    )
}

prop_compose! {
    fn jobs()(shapes in prop::collection::vec((0_i64..40, 1_u32..=6, 1_i64..20, 1_i64..25), 1..24)) -> Vec<Job> {
        let mut shapes = shapes;
        shapes.sort();
        (0..).zip(shapes)
            .map(|(id, (submit, nodes, estimate, runtime))| job(id, submit, nodes, estimate, runtime))
            .collect()
    }
}

prop_compose! {
    fn requests()(shapes in prop::collection::vec((0_i64..40, 1_u32..=6, 1_i64..15, 1_i64..15, 0_i64..40), 0..14))
        -> Vec<ReservationRequest> {
        let mut shapes = shapes;
        shapes.sort();
        (0..).zip(shapes)
            .map(|(id, (submit, nodes, duration, runtime, lead))| ReservationRequest {
                runtime: Seconds(runtime),
                ..request(id, submit, nodes, duration, submit + lead)
            })
            .collect()
    }
}

fn policies() -> impl Strategy<Value = ReservingSettings> {
    (
        prop::sample::select(vec![QueueOrder::Fcfs, QueueOrder::Sjf, QueueOrder::Ljf]),
        prop::sample::select(vec![
            Backfilling::Conservative,
            Backfilling::Aggressive,
            Backfilling::None,
        ]),
        prop::sample::select(vec![Admission::Holes, Admission::Reject, Admission::Move]),
        prop::sample::select(vec![Displacement::Record, Displacement::Skip]),
        prop::sample::select(vec![EarlyEnd::Release, EarlyEnd::Keep]),
    )
        .prop_map(|(order, backfilling, admission, displacement, early_end)| {
            ReservingSettings {
                order,
                backfilling,
                admission,
                displacement,
                early_end,
                ..ReservingSettings::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_machine_agrees_with_a_plan_of_every_second(
        jobs in jobs(),
        requests in requests(),
        settings in policies(),
    ) {
        let ran = run(6, settings.clone(), &jobs, &requests);
        let (starts, granted) = simulate_slowly(6, &settings, &jobs, &requests);
        let found: Vec<i64> = ran.jobs.iter().map(|outcome| outcome.start.unwrap().0).collect();
        let found_granted: Vec<bool> =
            ran.reservations.iter().map(|outcome| !outcome.verdict.is_rejected()).collect();
        prop_assert_eq!(found_granted, granted);
        prop_assert_eq!(found, starts);
    }

    #[test]
    fn reservations_start_on_time_and_nobody_uses_more_than_there_is(
        jobs in jobs(),
        requests in requests(),
        settings in policies(),
        only_overlapping in any::<bool>(),
        guard in prop::option::of(0_i64..30),
    ) {
        let settings = ReservingSettings {
            displaced: if only_overlapping { DisplacedJobs::OnlyOverlapping } else { DisplacedJobs::ReplanAll },
            starvation_guard: guard.map(Seconds),
            ..settings
        };
        let ran = run(6, settings, &jobs, &requests);
        let mut used = vec![0_u32; END];
        for outcome in &ran.jobs {
            let (start, end) = (outcome.start.unwrap().0, outcome.end.unwrap().0);
            prop_assert!(start >= outcome.job.submit.0);
            prop_assert_eq!(end - start, outcome.job.runtime.min(outcome.job.estimate).0);
            for moment in start..end {
                used[moment as usize] += outcome.job.nodes.0;
            }
        }
        for outcome in ran.reservations.iter().filter(|outcome| !outcome.verdict.is_rejected()) {
            let start = outcome.start.unwrap();
            prop_assert_eq!(start, outcome.request.wanted.earliest());
            for moment in start.0..outcome.end.unwrap().0 {
                used[moment as usize] += outcome.request.nodes.0;
            }
        }
        prop_assert!(used.iter().all(|used| *used <= 6));
        prop_assert_eq!(ran.totals.submitted as usize, requests.len());
    }

    /// Spec `grid-reservations.md` §7: from one state, move accepts whatever reject accepts.
    #[test]
    fn move_grants_a_single_request_whenever_reject_does(
        jobs in jobs(),
        one in requests(),
    ) {
        let Some(first) = one.into_iter().next() else { return Ok(()) };
        let granted = |admission| {
            !run(6, settings(admission), &jobs, std::slice::from_ref(&first)).reservations[0].verdict.is_rejected()
        };
        prop_assert!(!granted(Admission::Reject) || granted(Admission::Move));
    }

    /// Spec `grid-reservations.md` §7: reject moves nobody at the instant of acceptance.
    #[test]
    fn rejecting_leaves_every_planned_start_where_it_was(
        jobs in jobs(),
        shape in (1_u32..=6, 1_i64..15, 0_i64..40),
    ) {
        let mut machine = ReservingMachine::new(Nodes(6), settings(Admission::Reject));
        machine.submit(jobs);
        machine.wait_until(Seconds(30));
        let before = machine.planned().0.to_vec();
        let asked = request(0, 30, shape.0, shape.1, 30 + shape.2);
        machine.request_arrives_now(asked);
        let kept = machine.plan.is_some();
        machine.plan = None;
        prop_assert!(kept);
        prop_assert_eq!(machine.planned().0, &before[..]);
    }

    /// Spec `provisioning.md` §3: with exact estimates a hole delays nobody, not even later arrivals' elders.
    #[test]
    fn a_single_hole_delays_no_job_that_was_there(
        jobs in jobs(),
        shape in (1_u32..=6, 1_i64..15),
    ) {
        let exact: Vec<Job> = jobs
            .into_iter()
            .map(|job| Job { submit: Seconds(0), release: Seconds(0), estimate: job.runtime, ..job })
            .collect();
        let hole = ReservationRequest {
            wanted: WantedStart::From { earliest: Seconds(0), alpha: 0.0 },
            ..request(0, 0, shape.0, shape.1, 0)
        };
        let without = run(6, settings(Admission::Holes), &exact, &[]);
        let with = run(6, settings(Admission::Holes), &exact, &[hole]);
        prop_assert!(!with.reservations[0].verdict.is_rejected());
        for (with, without) in with.jobs.iter().zip(&without.jobs) {
            prop_assert_eq!(with.start, without.start);
        }
    }

    /// Whoever was booked in between: a plan that was kept is the one that would be made anew, and a list of offers has every
    /// candidate instant with the price of ALG-4.
    #[test]
    fn kept_plans_and_offers_are_those_of_plans_made_anew(
        jobs in jobs(),
        questions in prop::collection::vec((0_i64..30, 1_u32..=6, 1_i64..15, any::<u16>()), 1..16),
        backfilling in prop::sample::select(vec![Backfilling::Conservative, Backfilling::None]),
    ) {
        let mut machine = ReservingMachine::new(
            Nodes(6),
            ReservingSettings { backfilling, ..settings(Admission::MovePrice) },
        );
        machine.submit(jobs);
        for (id, (lead, nodes, duration, pick)) in (0_u32..).zip(questions) {
            machine.wait_until(Seconds(8 + i64::from(id) / 4 * 5));
            let now = machine.now();
            let earliest = now + Seconds(lead);
            let (nodes, duration) = (Nodes(nodes), Seconds(duration));
            let offers = machine.offers(earliest, nodes, duration);
            let starts = plan_queue(&mut machine.fixed.clone(), now, &machine.queue, backfilling);
            prop_assert_eq!(machine.planned().0, &starts[..]);
            let ends = starts.iter().zip(&machine.queue).map(|(start, waiting)| *start + waiting.estimate);
            let mut instants: std::collections::BTreeSet<Seconds> = starts.iter().copied().chain(ends).collect();
            for open in machine.jobs.values() {
                instants.extend(open.start.map(|start| start + open.job.estimate));
            }
            for open in machine.reservations.values() {
                instants.extend([open.start, open.start + open.outcome.request.duration]);
            }
            instants.extend([now, earliest]);
            let mut slow = Vec::new();
            for start in instants.into_iter().filter(|instant| *instant >= earliest) {
                let price = machine.price(start, nodes, duration);
                slow.extend(price.map(|price| crate::scheduling::reserving::Offer { start, price }));
            }
            prop_assert_eq!(&offers, &slow);
            if let Some(offer) = offers.get(usize::from(pick) % offers.len().max(1)) {
                machine.request([request(id, now.0, nodes.0, duration.0, offer.start.0)]);
                machine.advance(now + Seconds(1));
            }
        }
    }
}
