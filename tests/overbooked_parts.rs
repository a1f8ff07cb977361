//! Parts over the tails of jobs: what the cluster promises of them, and what comes true.

use bookahead::scheduling::{Acceptance, Policy, simulate_policy};
use bookahead_overbooking::policies::{Heuristic, HeuristicSettings};
use bookahead_reservations::replanning::{Replanning, ReplanningSettings};
use std::sync::Arc;

use bookahead::estimates::{
    Binning, ClassFamily, EstimateModel, EstimateSettings, LearningJobs, Overrun,
};
use bookahead::random::{Stream, stream};
use bookahead::scheduling::JobOutcome;
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::{
    CleaningRules, CoRequestId, FurtherCounts, Job, JobId, ParsedTrace, TraceFolder, clean,
};
use bookahead_grid::co_reservation::local::{
    ClusterId, LocalService, LocalSettings, OutageEvent, PartOrder, PartOutcome, Precedence, Probe,
    ProbeFilters, Refusal, ReservationService, RiskPolicy, RiskPolicyError, Tariff,
};
use proptest::prelude::*;
use rand::RngExt;

use crate::support::perfect_nodes;

/// Users need 25, 50 or 100 % of what they ask for, with these weights.
const RATIOS: [(i64, usize); 3] = [(25, 3), (50, 5), (100, 2)];

const COUNTING: ProbeFilters = ProbeFilters {
    counting: true,
    backlog: false,
    exact_limits: false,
    backfill: false,
};

fn job(id: u32, submit: i64, nodes: u32, estimate: i64, runtime: i64, deadline: Seconds) -> Job {
    Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate))
        .running_for(Seconds(runtime))
        .due_by(deadline)
}

fn model() -> Arc<EstimateModel> {
    let learning: Vec<Job> = RATIOS
        .iter()
        .flat_map(|&(percent, weight)| std::iter::repeat_n(percent, weight))
        .map(|percent| job(0, 0, 1, 1_000, 10 * percent, Seconds::FAR))
        .collect();
    let settings = EstimateSettings {
        family: ClassFamily::All,
        binning: Binning::Round,
        learn_from: LearningJobs::Before,
        overrun: Overrun::Clamp,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(&learning, &settings).expect("ten learning jobs"))
}

fn policy(nodes: u32) -> Box<dyn Policy> {
    overbooking(nodes, 0.3, model())
}

fn overbooking(nodes: u32, pof_max: f64, model: Arc<EstimateModel>) -> Box<dyn Policy> {
    let settings = HeuristicSettings {
        acceptance: Acceptance::Pof { maximum: pof_max },
        reliability: perfect_nodes(),
        ..HeuristicSettings::default()
    };
    Box::new(Heuristic::overbooking(Nodes(nodes), settings, Some(model)))
}

fn machine(nodes: u32, pof_max: f64) -> ReservationService {
    machine_of(policy(nodes), nodes, pof_max).expect("it sells windows")
}

fn machine_of(
    policy: Box<dyn Policy>,
    nodes: u32,
    pof_max: f64,
) -> Result<ReservationService, RiskPolicyError> {
    let local = LocalSettings {
        tariff: Tariff::Flat,
        ..LocalSettings::default()
    };
    let stop = Seconds(1_000_000);
    ReservationService::with_policy(
        ClusterId(0),
        Nodes(nodes),
        0.5,
        stop,
        local,
        RiskPolicy { policy, pof_max },
    )
}

fn order(number: u32, nodes: u32, start: i64, duration: i64, pof_limit: f64) -> PartOrder {
    PartOrder {
        request: CoRequestId(number),
        order: 0,
        part: 0,
        nodes: Nodes(nodes),
        further: FurtherCounts::NONE,
        start: Seconds(start),
        duration: Seconds(duration),
        pof_limit,
        precedence: Precedence::Fixed,
    }
}

fn pof(machine: &mut ReservationService, now: i64, order: &PartOrder) -> Option<f64> {
    let probe = Probe {
        request: order.request,
        duration: order.duration,
        parts: vec![order.nodes],
        further: Vec::new(),
        starts: vec![order.start],
        filters: COUNTING,
        degrees: false,
        job_mix: false,
        free_cpus: false,
        precedence: Precedence::Fixed,
    };
    let answer = machine.probe(Seconds(now), &probe);
    answer.offered.first().map(|offered| offered.pof)
}

/// Works off everything; what became of jobs and parts.
fn finish(machine: &mut ReservationService) -> (Vec<JobOutcome>, Vec<PartOutcome>) {
    while !machine.is_idle()
        && let Some(next) = machine.next_event()
    {
        machine.settle(next);
        machine.advance(next + Seconds(1));
        let used = machine.in_use();
        assert!(used.jobs + used.parts <= machine.nodes().0);
    }
    assert!(machine.is_idle());
    let used = machine.in_use();
    assert_eq!((used.jobs, used.parts), (0, 0));
    (machine.take_job_outcomes(), machine.take_part_outcomes())
}

fn started_as_promised(outcome: &JobOutcome) -> bool {
    let promised = outcome.promise.map(|promise| promise.start);
    outcome.start.is_some() && outcome.start <= promised
}

/// Run times of every combination, with their probabilities.
fn combinations(jobs: usize) -> Vec<(Vec<i64>, f64)> {
    let mut all = vec![(Vec::new(), 1.0)];
    for _ in 0..jobs {
        all = all
            .iter()
            .flat_map(|(percents, probability): &(Vec<i64>, f64)| {
                RATIOS.map(|(percent, weight)| {
                    let mut percents = percents.clone();
                    percents.push(percent);
                    (percents, probability * weight as f64 / 10.0)
                })
            })
            .collect();
    }
    all
}

fn with_runtimes(jobs: &[Job], percents: &[i64]) -> Vec<Job> {
    jobs.iter()
        .zip(percents)
        .map(|(job, percent)| {
            let runtime = Seconds(job.estimate.0 * percent / 100);
            job.clone().running_for(runtime)
        })
        .collect()
}

#[test]
fn a_part_over_two_tails_costs_its_price_and_risks_that_both_last() {
    let mut cluster = machine(4, 0.5);
    cluster.submit(&[
        job(0, 0, 2, 1_000, 250, Seconds::FAR),
        job(1, 0, 2, 1_000, 1_000, Seconds::FAR),
    ]);
    cluster.advance(Seconds(1));
    // Each still runs at 600 s with probability 0.2.
    let two = order(0, 2, 600, 3_600, 0.5);
    assert!((pof(&mut cluster, 10, &two).unwrap() - 0.04).abs() < 1e-12);
    let three = order(1, 3, 600, 3_600, 0.5);
    assert!((pof(&mut cluster, 10, &three).unwrap() - 0.36).abs() < 1e-12);
    // At 300 s: with probability 0.7 each, so 0.49 for two and 0.91 for three, which is not
    // offered.
    assert!((pof(&mut cluster, 10, &order(1, 2, 300, 60, 0.5)).unwrap() - 0.49).abs() < 1e-12);
    assert_eq!(pof(&mut cluster, 10, &order(1, 3, 300, 60, 0.5)), None);
    // The first has ended, and the other is known to need more than 25 %: 0.2 / 0.7.
    cluster.settle(Seconds(250));
    let all = order(1, 4, 600, 60, 0.5);
    assert!((pof(&mut cluster, 250, &all).unwrap() - 0.2 / 0.7).abs() < 1e-12);
    assert_eq!(pof(&mut cluster, 250, &two), Some(0.0));
    let probe = Probe {
        request: CoRequestId(0),
        duration: Seconds(3_600),
        parts: vec![Nodes(4), Nodes(2)],
        further: Vec::new(),
        starts: vec![Seconds(600), Seconds(1_000)],
        filters: COUNTING,
        degrees: false,
        job_mix: false,
        free_cpus: false,
        precedence: Precedence::Fixed,
    };
    let costs: Vec<f64> = cluster
        .probe(Seconds(250), &probe)
        .offered
        .iter()
        .map(|offered| offered.cost)
        .collect();
    assert_eq!(costs, [4.0, 2.0, 4.0, 2.0]);
    // Somebody whose limit is lower is refused what the cluster would risk.
    let refused = cluster.reserve(Seconds(250), &order(1, 4, 600, 60, 0.28));
    assert_eq!(refused, Err(Refusal::Occupied));
    assert_eq!(cluster.reserve(Seconds(250), &all), Ok(()));
    assert_eq!(cluster.reserve(Seconds(251), &all), Ok(()));
    cluster.settle(Seconds(600));
    let lost = cluster.take_lost_parts();
    assert_eq!(lost.len(), 1);
    assert_eq!((lost[0].at, lost[0].running), (Seconds(600), false));
    assert_eq!(
        cluster.reserve(Seconds(600), &all),
        Err(Refusal::Occupied),
        "what was lost is not granted again"
    );
    let (jobs, parts) = finish(&mut cluster);
    assert_eq!(jobs[1].end, Some(Seconds(1_000)), "the job goes on");
    assert_eq!((parts.len(), parts[0].lost), (1, true));
    assert_eq!(parts[0].gone, Some(Seconds(600)));
}

/// The last row of docs/counted-plan.md, "Who is tried after which event".
#[test]
fn slots_move_forward_when_a_window_over_tails_finds_no_room() {
    let mut cluster = machine(4, 0.5);
    cluster.submit(&[
        job(0, 0, 2, 1_000, 250, Seconds::FAR),
        job(1, 0, 2, 1_000, 1_000, Seconds::FAR),
        job(2, 300, 2, 400, 400, Seconds::FAR),
    ]);
    cluster.settle(Seconds(250));
    let all = order(0, 4, 600, 60, 0.5);
    assert_eq!(cluster.reserve(Seconds(250), &all), Ok(()));
    let (jobs, parts) = finish(&mut cluster);
    // Between the tail that lasts and the window there are 300 s for the third job, which asks for
    // 400: it is planned behind the window.
    let promised = jobs[2].promise.map(|promise| promise.start);
    assert_eq!(promised, Some(Seconds(660)));
    assert_eq!((parts.len(), parts[0].lost), (1, true));
    assert_eq!(jobs[2].start, Some(Seconds(600)));
}

#[test]
fn a_job_that_is_planned_in_the_window_keeps_its_place() {
    let mut cluster = machine(4, 1.0);
    // All CPUs until 1,000 s, then two of them are planned for the second job.
    cluster.submit(&[
        job(0, 0, 4, 1_000, 500, Seconds::FAR),
        job(1, 0, 2, 400, 400, Seconds::FAR),
    ]);
    cluster.advance(Seconds(1));
    assert_eq!(pof(&mut cluster, 10, &order(0, 3, 900, 200, 1.0)), None);
    let fits = order(0, 2, 900, 200, 1.0);
    assert!((pof(&mut cluster, 10, &fits).unwrap() - 0.2).abs() < 1e-12);
    assert_eq!(cluster.reserve(Seconds(10), &fits), Ok(()));
    let (jobs, parts) = finish(&mut cluster);
    assert!(!parts[0].lost);
    assert_eq!(jobs[1].start, Some(Seconds(500)));
}

#[test]
fn cancelled_orders_free_their_cpus_and_are_never_granted_again() {
    let mut cluster = machine(4, 0.5);
    let part = order(0, 4, 100, 100, 0.0);
    assert!(!cluster.cancel(Seconds(0), part.request, 0));
    assert_eq!(
        cluster.reserve(Seconds(0), &part),
        Err(Refusal::Cancelled),
        "the cancellation came first"
    );
    let part = order(1, 4, 100, 100, 0.0);
    assert_eq!(cluster.reserve(Seconds(0), &part), Ok(()));
    let rival = order(2, 1, 150, 100, 0.0);
    assert_eq!(cluster.reserve(Seconds(0), &rival), Err(Refusal::Occupied));
    cluster.settle(Seconds(120));
    assert_eq!(cluster.in_use().parts, 4);
    assert!(cluster.cancel(Seconds(120), part.request, 0));
    assert!(!cluster.cancel(Seconds(120), part.request, 0));
    assert_eq!(cluster.in_use().parts, 0);
    assert_eq!(cluster.reserve(Seconds(121), &rival), Ok(()));
    assert_eq!(
        cluster.reserve(Seconds(121), &order(3, 1, 120, 5, 0.0)),
        Err(Refusal::Past)
    );
    let (_, parts) = finish(&mut cluster);
    let gone: Vec<_> = parts.iter().map(|part| (part.gone, part.lost)).collect();
    assert_eq!(gone, [(Some(Seconds(120)), false), (None, false)]);
    assert_eq!(cluster.totals().part_work.0, 80 + 100);
}

#[test]
fn a_cluster_that_goes_down_loses_running_parts_and_restarts_jobs() {
    let mut cluster = machine(4, 0.5);
    cluster.submit(&[job(0, 0, 2, 1_000, 500, Seconds::FAR)]);
    cluster.advance(Seconds(1));
    let (running, later) = (order(0, 2, 50, 500, 0.0), order(1, 2, 9_900, 100, 0.0));
    assert_eq!(cluster.reserve(Seconds(1), &running), Ok(()));
    assert_eq!(cluster.reserve(Seconds(1), &later), Ok(()));
    cluster.settle(Seconds(100));
    cluster.apply_outage(Seconds(100), OutageEvent::ClusterDown);
    assert!(!cluster.is_up());
    assert_eq!(cluster.in_use().jobs + cluster.in_use().parts, 0);
    assert!(cluster.take_lost_parts()[0].running);
    cluster.settle(Seconds(200));
    cluster.apply_outage(Seconds(200), OutageEvent::ClusterUp);
    assert!(cluster.is_up());
    let (jobs, parts) = finish(&mut cluster);
    assert_eq!((jobs[0].restarts, jobs[0].start), (1, Some(Seconds(200))));
    assert!(parts[0].lost && !parts[1].lost);
    assert_eq!(cluster.totals().restarts, 1);
    assert_eq!(cluster.totals().lost_parts, 1);
}

#[test]
fn what_is_repaired_at_an_instant_is_there_for_a_part_that_starts_then() {
    let mut cluster = machine(4, 0.5);
    assert_eq!(
        cluster.reserve(Seconds(0), &order(0, 4, 100, 50, 0.0)),
        Ok(())
    );
    cluster.settle(Seconds(50));
    cluster.apply_outage(Seconds(50), OutageEvent::NodesDown { first: 3, count: 1 });
    cluster.advance(Seconds(100));
    cluster.apply_outage(Seconds(100), OutageEvent::NodesUp { first: 3, count: 1 });
    assert_eq!(cluster.in_use().parts, 4);
    assert!(!finish(&mut cluster).1[0].lost);
}

#[test]
fn a_cluster_needs_a_policy_that_sells_windows_and_a_probability() {
    let replanning = Replanning::new(Nodes(4), ReplanningSettings::default());
    assert!(matches!(
        machine_of(Box::new(replanning), 4, 0.2).err(),
        Some(RiskPolicyError::SellsNoWindows)
    ));
    assert!(matches!(
        machine_of(policy(4), 4, 1.5).err(),
        Some(RiskPolicyError::Probability { .. })
    ));
}

/// Jobs as `(nodes, estimate in hundreds)` that are all submitted at 0.
fn at_once(shapes: &[(u32, i64)]) -> Vec<Job> {
    (0..)
        .zip(shapes)
        .map(|(id, &(nodes, hundreds))| job(id, 0, nodes, 100 * hundreds, 0, Seconds::FAR))
        .collect()
}

/// For each of the parts, which are sold at `now` one after the other by a cluster of 8: the PoF
/// that was promised, and the share of all combinations of run times that look the same until then
/// in which it is lost. A part that cannot be had is left out.
fn promised_and_true(
    jobs: &[Job],
    reference: &[i64],
    now: i64,
    asked: &[PartOrder],
) -> Vec<(f64, f64)> {
    let seen = |percents: &[i64]| -> Vec<Option<Seconds>> {
        with_runtimes(jobs, percents)
            .iter()
            .map(|job| Some(job.runtime).filter(|runtime| runtime.0 <= now))
            .collect()
    };
    let mut promised = Vec::new();
    let mut lost = vec![0.0; asked.len()];
    let mut all = 0.0;
    for (percents, probability) in combinations(jobs.len()) {
        if seen(&percents) != seen(reference) {
            continue;
        }
        let mut cluster = machine(8, 1.0);
        cluster.submit(&with_runtimes(jobs, &percents));
        cluster.settle(Seconds(now));
        promised.clear();
        for part in asked {
            let offered = pof(&mut cluster, now, part);
            let granted = cluster.reserve(Seconds(now), part);
            assert_eq!(granted.is_ok(), offered.is_some());
            promised.push(offered);
        }
        let (outcomes, parts) = finish(&mut cluster);
        for outcome in outcomes {
            assert!(started_as_promised(&outcome));
            assert!(outcome.verdict.is_successful());
        }
        all += probability;
        for part in parts {
            if part.lost {
                lost[part.order.request.0 as usize] += probability;
            }
        }
    }
    promised
        .iter()
        .zip(lost)
        .filter_map(|(&promised, lost)| Some((promised?, lost / all)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_promised_risk_is_the_share_of_run_times_that_lose_the_part_and_parts_sold_later_do_not_raise_it(
        shapes in prop::collection::vec((1_u32..4, 1_i64..12), 1..5),
        ratios in prop::collection::vec(prop::sample::select(vec![25_i64, 50, 100]), 5),
        now in 1_i64..300, lead in 0_i64..1_000, nodes in 1_u32..9, duration in 1_i64..900,
        others in (1_u32..9, 0_i64..1_000, 1_i64..900),
    ) {
        // They all run from the first second on.
        let total: u32 = shapes.iter().map(|shape| shape.0).sum();
        prop_assume!(total <= 8);
        let jobs = at_once(&shapes);
        let part = order(0, nodes, now + lead, duration, 1.0);
        let rival = order(1, others.0, now + others.1, others.2, 1.0);
        let found = promised_and_true(&jobs, &ratios[..jobs.len()], now, &[part, rival]);
        for (rank, (promised, realised)) in found.into_iter().enumerate() {
            let exact = rank == 0;
            let off = if exact { (promised - realised).abs() } else { realised - promised };
            prop_assert!(off < 1e-12, "{promised} promised, {realised} lost");
        }
    }

    #[test]
    fn with_jobs_that_wait_the_promised_risk_is_an_upper_bound(
        shapes in prop::collection::vec((1_u32..8, 1_i64..12), 2..5),
        lead in 0_i64..1_500, nodes in 1_u32..9, duration in 1_i64..900,
    ) {
        let jobs = at_once(&shapes);
        let part = order(0, nodes, 1 + lead, duration, 1.0);
        for (promised, realised) in promised_and_true(&jobs, &vec![100; jobs.len()], 1, &[part]) {
            prop_assert!(realised <= promised + 1e-12, "{promised} promised, {realised} lost");
        }
    }

    #[test]
    fn what_was_cancelled_leaves_the_cluster_as_if_it_had_never_been_sold(
        shapes in prop::collection::vec((1_u32..4, 1_i64..12), 1..5),
        ratios in prop::collection::vec(prop::sample::select(vec![25_i64, 50, 100]), 5),
        now in 1_i64..300, parts in prop::collection::vec((1_u32..9, 0_i64..1_000, 1_i64..900), 1..6),
        pause in 0_i64..600, backwards in prop::bool::ANY,
    ) {
        let total: u32 = shapes.iter().map(|shape| shape.0).sum();
        prop_assume!(total <= 8);
        let jobs = with_runtimes(&at_once(&shapes), &ratios);
        let [mut sold, mut twin] = [(), ()].map(|()| {
            let mut cluster = machine(8, 1.0);
            cluster.submit(&jobs);
            cluster.settle(Seconds(now));
            cluster
        });
        for (number, &(nodes, lead, duration)) in (0..).zip(&parts) {
            let _ = sold.reserve(Seconds(now), &order(number, nodes, now + lead, duration, 1.0));
        }
        let later = now + pause;
        for cluster in [&mut sold, &mut twin] {
            cluster.settle(Seconds(later));
        }
        let mut numbers: Vec<u32> = (0..parts.len() as u32).collect();
        if backwards {
            numbers.reverse();
        }
        for number in numbers {
            sold.cancel(Seconds(later), CoRequestId(number), 0);
        }
        for nodes in 1..=8 {
            for lead in (0..1_500).step_by(97) {
                let window = order(99, nodes, later + lead, 60, 1.0);
                prop_assert_eq!(pof(&mut sold, later, &window), pof(&mut twin, later, &window));
            }
        }
        prop_assert_eq!(finish(&mut sold).0, finish(&mut twin).0);
    }

    #[test]
    fn without_risk_parts_are_the_fixed_reservations_of_the_policy(
        shapes in prop::collection::vec((0_i64..2_000, 1_u32..9, 1_i64..8, prop::bool::ANY), 1..40),
        parts in prop::collection::vec((0_i64..2_000, 1_u32..9, 0_i64..1_500, 1_i64..900), 1..15),
        seed in 0_u64..1_000_000,
    ) {
        let mut random = stream(seed, "parts", 0, "run times");
        let mut shapes = shapes;
        shapes.sort_by_key(|shape| shape.0);
        let jobs: Vec<Job> = (0..).zip(&shapes).map(|(id, &(submit, nodes, hundreds, patient))| {
            let estimate = 100 * hundreds;
            let deadline = if patient { Seconds::FAR } else { Seconds(submit + 2 * estimate) };
            job(id, submit, nodes, estimate, estimate * draw(&mut random) / 100, deadline)
        }).collect();
        let mut parts = parts;
        parts.sort_by_key(|part| part.0);

        let mut cluster = machine(8, 0.0);
        cluster.submit(&jobs);
        let mut granted = Vec::new();
        for (number, &(now, nodes, lead, duration)) in (0..).zip(&parts) {
            cluster.settle(Seconds(now));
            let part = order(number, nodes, now + lead, duration, 1.0);
            let offered = pof(&mut cluster, now, &part);
            prop_assert!(offered.is_none_or(|pof| pof == 0.0));
            granted.push(cluster.reserve(Seconds(now), &part).is_ok());
            prop_assert_eq!(granted.last(), Some(&offered.is_some()));
        }
        let (mut outcomes, kept) = finish(&mut cluster);
        prop_assert!(kept.iter().all(|part| part.gone.is_none()));

        // Messages of an instant come before its submissions.
        let mut merged: Vec<(i64, bool, Job)> = jobs.iter().map(|job| (job.submit.0, true, job.clone())).collect();
        merged.extend(parts.iter().map(|&(now, nodes, lead, duration)| {
            (now, false, job(0, now, nodes, duration, duration, Seconds::FAR).into_reservation(Seconds(now + lead)))
        }));
        merged.sort_by_key(|(time, is_job, _)| (*time, *is_job));
        let ordered: Vec<Job> = (0..).zip(&merged).map(|(id, (_, _, job))| Job { id: JobId(id), ..job.clone() }).collect();
        let (_, expected) = simulate_policy(Nodes(8), policy(8), &ordered, &Default::default());
        let (reservations, mut flexible): (Vec<_>, Vec<_>) = expected.into_iter().partition(|outcome| outcome.job.is_reservation());
        let accepted: Vec<bool> = reservations.iter().map(|outcome| !outcome.verdict.is_dropped()).collect();
        prop_assert_eq!(granted, accepted);
        outcomes.sort_by_key(|outcome| outcome.job.id);
        for (id, outcome) in (0..).zip(&mut flexible) {
            outcome.job.id = JobId(id);
        }
        prop_assert_eq!(outcomes, flexible);
    }

    #[test]
    fn nothing_leaks_and_nobody_panics_whatever_is_called_when(
        shapes in prop::collection::vec((0_i64..3_000, 1_u32..9, 1_i64..8, prop::bool::ANY), 0..40),
        calls in prop::collection::vec((0_u8..10, 0_i64..200, 1_u32..9, 0_i64..900, 1_i64..900, 0_u32..12), 1..60),
        pof_max in prop::sample::select(vec![0.0, 0.2, 0.6, 1.0]),
        seed in 0_u64..1_000_000,
    ) {
        let mut random = stream(seed, "parts", 0, "run times");
        let mut shapes = shapes;
        shapes.sort_by_key(|shape| shape.0);
        let jobs: Vec<Job> = (0..).zip(&shapes).map(|(id, &(submit, nodes, hundreds, patient))| {
            let estimate = 100 * hundreds;
            let deadline = if patient { Seconds::FAR } else { Seconds(submit + 2 * estimate) };
            job(id, submit, nodes, estimate, estimate * draw(&mut random) / 100, deadline)
        }).collect();
        let mut cluster = machine(8, pof_max);
        cluster.submit(&jobs);
        let mut now = 0;
        let mut granted = std::collections::BTreeSet::new();
        for &(call, pause, nodes, lead, duration, number) in &calls {
            now += pause;
            let time = Seconds(now);
            cluster.settle(time);
            let part = order(number, nodes, now + lead, duration, f64::from(number) / 8.0);
            match call {
                0..=3 => if cluster.reserve(time, &part).is_ok() {
                    granted.insert(number);
                },
                4 => { cluster.cancel(time, part.request, 0); }
                5 => { cluster.apply_outage(time, OutageEvent::NodesDown { first: number, count: nodes }); }
                6 => { cluster.apply_outage(time, OutageEvent::NodesUp { first: number, count: nodes }); }
                7 => { cluster.apply_outage(time, if number < 6 { OutageEvent::ClusterDown } else { OutageEvent::ClusterUp }); }
                8 => { pof(&mut cluster, now, &part); }
                _ => cluster.advance(time + Seconds(pause)),
            }
            if call == 9 {
                now += pause;
            }
            let used = cluster.in_use();
            prop_assert!(used.jobs + used.parts <= 8);
        }
        cluster.apply_outage(Seconds(now), OutageEvent::ClusterUp);
        cluster.apply_outage(Seconds(now), OutageEvent::NodesUp { first: 0, count: 8 });
        let (outcomes, parts) = finish(&mut cluster);
        prop_assert_eq!(outcomes.len(), jobs.len());
        let ended: Vec<u32> = parts.iter().map(|part| part.order.request.0).collect();
        let distinct: std::collections::BTreeSet<u32> = ended.iter().copied().collect();
        prop_assert_eq!(ended.len(), distinct.len(), "one outcome a part");
        prop_assert_eq!(distinct, granted);
        // Every CPU can be had again.
        let later = cluster.totals().drained.0.max(now) + 100_000;
        let all = order(99, 8, later, 10, 0.0);
        prop_assert_eq!(cluster.reserve(Seconds(now.max(cluster.totals().drained.0)), &all), Ok(()));
        prop_assert!(!finish(&mut cluster).1[0].lost);
    }
}

/// A ratio in percent as the model has it.
fn draw(random: &mut Stream) -> i64 {
    match random.random_range(0..10) {
        0..3 => 25,
        3..8 => 50,
        _ => 100,
    }
}

#[test]
fn as_many_parts_are_lost_as_was_promised() {
    let mut random = stream(5, "calibration", 0, "parts");
    let (mut sold, mut lost, mut expected, mut variance) = (0, 0.0, 0.0, 0.0);
    for _ in 0..3_000 {
        let mut cluster = machine(16, 0.7);
        let jobs: Vec<Job> = (0..6)
            .map(|id| {
                let estimate = 100 * random.random_range(2..12);
                let runtime = estimate * draw(&mut random) / 100;
                let nodes = random.random_range(1..5);
                job(id, 0, nodes, estimate, runtime, Seconds::FAR)
            })
            .scan(16, |left, job| {
                *left -= i64::from(job.nodes.0);
                (*left >= 0).then_some(job)
            })
            .collect();
        cluster.submit(&jobs);
        let now = random.random_range(1..300);
        cluster.settle(Seconds(now));
        let start = now + random.random_range(0..500);
        let part = order(0, random.random_range(4..17), start, 300, 1.0);
        let Some(promised) = pof(&mut cluster, now, &part).filter(|pof| *pof > 0.0) else {
            continue;
        };
        assert_eq!(cluster.reserve(Seconds(now), &part), Ok(()));
        sold += 1;
        expected += promised;
        variance += promised * (1.0 - promised);
        lost += f64::from(u8::from(finish(&mut cluster).1[0].lost));
    }
    assert!(sold > 500, "{sold} parts at a risk");
    let distance = (lost - expected) / f64::sqrt(variance);
    assert!(
        distance.abs() < 3.0,
        "{lost} of {sold} lost, {expected:.1} expected: {distance:.2} standard deviations"
    );
}

/// Parts sold at a risk on two weeks of SDSC Blue, what was promised of them, and how many were
/// lost.
fn on_an_excerpt(jobs: &[Job], excerpt: usize, pof_max: f64) -> (u32, f64, u32) {
    let first = 40_000 + excerpt * 20_000;
    let settings = EstimateSettings {
        family: ClassFamily::archive_runtime(),
        binning: Binning::Round,
        learn_from: LearningJobs::Before,
        overrun: Overrun::Clamp,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    let model = EstimateModel::learn(&jobs[first - 20_000..first], &settings)
        .expect("20,000 learning jobs");
    let origin = jobs[first].submit;
    let stop = Seconds(14 * 86_400);
    let two_weeks: Vec<Job> = (0..)
        .zip(&jobs[first..])
        .take_while(|(_, job)| job.submit < origin + stop)
        .map(|(id, job)| Job {
            id: JobId(id),
            submit: job.submit - origin,
            release: job.submit - origin,
            deadline: Seconds::FAR,
            ..job.clone()
        })
        .collect();
    let mut cluster = ReservationService::with_policy(
        ClusterId(0),
        Nodes(1_152),
        0.4,
        stop,
        LocalSettings::default(),
        RiskPolicy {
            policy: overbooking(1_152, 0.2, Arc::new(model)),
            pof_max,
        },
    )
    .expect("it sells windows");
    cluster.submit(&two_weeks);
    let mut random = stream(1, "adhoc", excerpt as u32, "requests");
    let mut promised = Vec::new();
    for number in 0..300 {
        let now = 4_000 * i64::from(number) + 1_000;
        cluster.advance(Seconds(now));
        cluster.settle(Seconds(now));
        let nodes = 8 * random.random_range(1..40);
        let duration = 600 * random.random_range(1..60);
        let probe = Probe {
            request: CoRequestId(number),
            duration: Seconds(duration),
            parts: vec![Nodes(nodes)],
            further: Vec::new(),
            starts: (0..20).map(|step| Seconds(now + 600 * step)).collect(),
            filters: COUNTING,
            degrees: false,
            job_mix: false,
            free_cpus: false,
            precedence: Precedence::Fixed,
        };
        let offer = cluster.probe(Seconds(now), &probe).offered.first().copied();
        promised.push(offer.map_or(0.0, |offer| offer.pof));
        if let Some(offer) = offer {
            let part = order(number, nodes, offer.start.0, duration, 1.0);
            assert_eq!(cluster.reserve(Seconds(now), &part), Ok(()));
        }
    }
    let (outcomes, parts) = finish(&mut cluster);
    for outcome in outcomes {
        assert!(started_as_promised(&outcome));
    }
    let risky = promised.iter().filter(|pof| **pof > 0.0).count();
    let lost = parts.iter().filter(|part| part.lost).count();
    (risky as u32, promised.iter().sum(), lost as u32)
}

/// The numbers that `docs/calibration.md` gives.
#[test]
fn users_of_a_real_log_break_low_promises_more_often_than_independent_ones() {
    let Some(path) = std::env::var_os(TraceFolder::VARIABLE) else {
        println!("skipped: needs the folder of traces that BOOKAHEAD_TRACES names");
        return;
    };
    let log = TraceFolder::new(path)
        .find("SDSC-BLUE-2000-4.2-cln.swf")
        .unwrap();
    let trace = ParsedTrace::read(&log).unwrap();
    let jobs = clean(&trace, &CleaningRules::default(), Nodes(1_152)).jobs;
    for (pof_max, expected) in [
        (0.0, (0, 0.0, 0)),
        (0.1, (315, 21.0, 50)),
        (0.3, (525, 121.0, 151)),
        (0.7, (1_008, 614.0, 561)),
    ] {
        let mut sums = (0, 0.0, 0);
        for excerpt in 0..8 {
            let (risky, promised, lost) = on_an_excerpt(&jobs, excerpt, pof_max);
            sums = (sums.0 + risky, sums.1 + promised, sums.2 + lost);
        }
        assert_eq!((sums.0, sums.1.round(), sums.2), expected, "{pof_max}");
    }
}
