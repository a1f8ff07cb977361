//! The machine held against a plan of every second, and what holds of all its schedules.

use proptest::prelude::*;

use bookahead_core::scheduling::queue::{Backfilling, QueueOrder};

use super::*;
use crate::replanning::{DisplacedJobs, Displacement, EarlyEnd};

/// The obvious twin: free nodes for every second, the whole queue planned anew at every second.
pub(super) struct Oracle {
    pub(super) free: Vec<i32>,
}

/// Where a job is planned that no second has room for.
pub(super) const NEVER: i64 = i64::MAX;

impl Oracle {
    pub(super) fn fits(&self, from: i64, length: i64, nodes: u32) -> bool {
        (from..from + length).all(|time| self.free[time as usize] >= nodes as i32)
    }

    pub(super) fn take(&mut self, from: i64, length: i64, nodes: u32) {
        self.change(from, length, -(nodes as i32));
    }

    pub(super) fn give(&mut self, from: i64, length: i64, nodes: u32) {
        self.change(from, length, nodes as i32);
    }

    fn change(&mut self, from: i64, length: i64, nodes: i32) {
        if from < NEVER {
            for time in from..from + length {
                self.free[time as usize] += nodes;
            }
        }
    }

    fn earliest(&self, from: i64, length: i64, nodes: u32) -> i64 {
        let last = self.free.len() as i64 - length;
        (from..last)
            .find(|&start| self.fits(start, length, nodes))
            .unwrap_or(NEVER)
    }
}

const END: usize = 6_000;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fixed {
    start: i64,
    until: i64,
    nodes: u32,
}

/// The whole queue planned at `time`, second by second: what is left free, and planned starts
/// ([`NEVER`] where nothing will ever do).
pub(super) fn plan_slowly(
    settings: &ReplanningSettings,
    jobs: &[Job],
    time: i64,
    mut oracle: Oracle,
    waiting: &[usize],
) -> (Oracle, Vec<i64>) {
    let mut waiting = waiting.to_vec();
    waiting.sort_by_key(|&index| {
        let job = &jobs[index];
        (settings.order.rank(job.estimate), job.submit, job.id)
    });
    let mut starts = vec![NEVER; jobs.len()];
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
            while !waiting.is_empty() && clock < oracle.free.len() as i64 / 2 {
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
                        if index == head || !oracle.fits(clock, other.estimate.0, other.nodes.0) {
                            return true;
                        }
                        oracle.take(clock, other.estimate.0, other.nodes.0);
                        starts[index] = clock;
                        false
                    });
                    oracle.give(shadow, job.estimate.0, job.nodes.0);
                }
                clock += 1;
            }
        }
    }
    (oracle, starts)
}

/// Starts of jobs and granted starts of requests, second by second.
fn simulate_slowly(
    nodes: u32,
    settings: &ReplanningSettings,
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
    let plan = |time: i64, oracle: Oracle, waiting: &[usize]| {
        plan_slowly(settings, jobs, time, oracle, waiting)
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
    pub(super) fn jobs()(shapes in prop::collection::vec((0_i64..40, 1_u32..=6, 1_i64..20, 1_i64..25), 1..24)) -> Vec<Job> {
        let mut shapes = shapes;
        shapes.sort();
        (0..).zip(shapes)
            .map(|(id, (submit, nodes, estimate, runtime))| job(id, submit, nodes, estimate, runtime))
            .collect()
    }
}

prop_compose! {
    pub(super) fn requests()(shapes in prop::collection::vec((0_i64..40, 1_u32..=6, 1_i64..15, 1_i64..15, 0_i64..40), 0..14))
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

pub(super) fn policies() -> impl Strategy<Value = ReplanningSettings> {
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
            ReplanningSettings {
                order,
                backfilling,
                admission,
                displacement,
                early_end,
                ..ReplanningSettings::default()
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
        let settings = ReplanningSettings {
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

    /// From one state, move accepts whatever reject accepts.
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

    /// *Reject* moves nobody at the instant of acceptance.
    #[test]
    fn rejecting_leaves_every_planned_start_where_it_was(
        jobs in jobs(),
        shape in (1_u32..=6, 1_i64..15, 0_i64..40),
    ) {
        let mut machine = ReplanningMachine::replanning(Nodes(6), settings(Admission::Reject));
        machine.submit(jobs);
        machine.wait_until(Seconds(30));
        let before = machine.plan().planned().0.to_vec();
        machine.request([request(0, 30, shape.0, shape.1, 30 + shape.2)]);
        let (cluster, plan) = machine.parts();
        plan.answer(cluster, RequestId(0));
        let kept = plan.plan.is_some();
        plan.plan = None;
        prop_assert!(kept);
        prop_assert_eq!(machine.plan().planned().0, &before[..]);
    }

    /// Singh 2008, chapter 3: with exact estimates a hole delays nobody, not even later arrivals'
    /// elders.
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

    /// Whoever was booked in between: a plan that was kept is the one that would be made anew, and
    /// a list of offers has every candidate instant with the price of ALG-4.
    #[test]
    fn kept_plans_and_offers_are_those_of_plans_made_anew(
        jobs in jobs(),
        questions in prop::collection::vec((0_i64..30, 1_u32..=6, 1_i64..15, any::<u16>()), 1..16),
        backfilling in prop::sample::select(vec![Backfilling::Conservative, Backfilling::None]),
    ) {
        let mut machine = ReplanningMachine::replanning(
            Nodes(6),
            ReplanningSettings { backfilling, ..settings(Admission::MovePrice) },
        );
        machine.submit(jobs);
        for (id, (lead, nodes, duration, pick)) in (0_u32..).zip(questions) {
            machine.wait_until(Seconds(8 + i64::from(id) / 4 * 5));
            let now = machine.cluster().now();
            let earliest = now + Seconds(lead);
            let (nodes, duration) = (Nodes(nodes), Seconds(duration));
            let offers = machine.plan().offers(earliest, nodes, duration);
            let plan = machine.plan();
            let starts = plan.fixed.clone().plan_queue(now, &plan.queue, backfilling);
            prop_assert_eq!(plan.planned().0, &starts[..]);
            let ends = starts.iter().zip(&plan.queue).map(|(start, waiting)| *start + waiting.estimate);
            let mut instants: std::collections::BTreeSet<Seconds> = starts.iter().copied().chain(ends).collect();
            instants.extend(plan.running.values().map(|run| run.start + run.estimate));
            for open in plan.reservations.values() {
                instants.extend([open.start, open.start + open.outcome.request.duration]);
            }
            instants.extend([now, earliest]);
            let mut slow = Vec::new();
            for start in instants.into_iter().filter(|instant| *instant >= earliest) {
                let price = machine.plan().price(start, nodes, duration);
                slow.extend(price.map(|price| crate::replanning::Offer { start, price }));
            }
            prop_assert_eq!(&offers, &slow);
            if let Some(offer) = offers.get(usize::from(pick) % offers.len().max(1)) {
                machine.request([request(id, now.0, nodes.0, duration.0, offer.start.0)]);
                machine.advance(now + Seconds(1));
            }
        }
    }
}
