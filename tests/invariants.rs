//! What must hold for every strategy on every workload, and the edges of workloads.

use bookahead::estimates::{Binning, Overrun, RatioDistribution};
use bookahead::failures::{FailureTrace, SurvivalModel};
use bookahead::plan::NodeSet;
use bookahead::scheduling::registry;
use bookahead::scheduling::{
    Acceptance, Allocation, Exposure, Hardware, JobOutcome, Reliability, SimulationMetrics,
    SuccessFactors, Verdict,
};
use bookahead::units::{Nodes, Seconds};
use bookahead_overbooking::registry::STRATEGIES;
use proptest::prelude::*;

use crate::oracles::config;
use crate::oracles::workloads::{Case, Kind, case, job, mixed};

const BASELINES: [&str; 4] = [
    "fcfs",
    "easy-backfilling",
    "conservative-backfilling",
    "heuristic-planning",
];

fn run(case: &Case, strategy: &str) -> (SimulationMetrics, Vec<JobOutcome>) {
    case.simulate(&case.settings(strategy))
}

fn either() -> impl Strategy<Value = Case> {
    prop_oneof![
        case(Kind::NoFailures),
        case(Kind::Failures),
        mixed(Kind::Failures)
    ]
}

/// How many nodes of the machine are held in each second, if no node is held twice.
fn held(nodes: u32, allocations: &[Allocation]) -> Option<Vec<u32>> {
    let end = allocations.iter().map(|held| held.end.0).max().unwrap_or(0);
    let mut occupied = vec![vec![false; nodes as usize]; end as usize];
    for allocation in allocations {
        for second in allocation.start.0..allocation.end.0 {
            for node in allocation.nodes.iter() {
                let held = &mut occupied[second as usize][node.0 as usize];
                if std::mem::replace(held, true) {
                    return None;
                }
            }
        }
    }
    let count = |second: &Vec<bool>| second.iter().filter(|&&held| held).count() as u32;
    Some(occupied.iter().map(count).collect())
}

/// The last run of a job that ended in a run; earlier runs, which crashed, are not in its outcome.
fn last_run(outcome: &JobOutcome) -> Option<(i64, i64)> {
    let ran = outcome.verdict.is_successful() || outcome.verdict == Verdict::FailedOverbooked;
    ran.then_some((outcome.start?.0, outcome.end?.0))
}

/// Nodes that are down in each second up to `end`.
fn down(failures: &FailureTrace, end: i64) -> Vec<i64> {
    let mut down = vec![0; end as usize];
    for event in &failures.events {
        for second in event.time.0..end {
            down[second as usize] += if event.up { -1 } else { 1 };
        }
    }
    down
}

fn bits(result: &(SimulationMetrics, Vec<JobOutcome>)) -> String {
    // `Debug` prints the shortest text that gives the same `f64` back, so equal texts are equal
    // bits.
    format!("{result:?}")
}

fn bits_of(outcomes: &[JobOutcome]) -> String {
    format!("{outcomes:?}")
}

fn hardware(failure_rate: f64) -> Hardware {
    Hardware::new(Reliability {
        survival: SurvivalModel::Poisson {
            rate_per_hour: failure_rate,
        },
        failure_rate_per_hour: failure_rate,
        ..Reliability::default()
    })
}

fn ratios(history: &[i64]) -> RatioDistribution {
    let pairs = history
        .iter()
        .map(|&percent| (Seconds(percent), Seconds(100)));
    RatioDistribution::from_ratios(pairs, Binning::Round, Overrun::Clamp)
        .expect("there is a history")
}

/// PoF of a counted placement (Birkenheuer 2012, §3.3.2).
fn pof(
    hardware: &Hardware,
    ratios: &RatioDistribution,
    nodes: u32,
    length: i64,
    estimate: i64,
) -> f64 {
    let factors = SuccessFactors {
        available: hardware.available(Nodes(nodes)),
        executable: ratios.cdf_at(Seconds(length), Seconds(estimate)),
        survives: hardware.survives(
            Nodes(nodes),
            &Exposure::within(Seconds::ZERO, Seconds(length)),
        ),
    };
    factors.pof()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_more_nodes_run_jobs_than_are_up(case in either()) {
        for strategy in STRATEGIES {
            let (_, outcomes) = run(&case, strategy.name);
            let end = outcomes.iter().filter_map(|outcome| outcome.end).max().unwrap_or_default();
            let mut used = down(&case.failures, end.0);
            for outcome in &outcomes {
                let Some((start, end)) = last_run(outcome) else { continue };
                for second in start..end {
                    used[second as usize] += i64::from(outcome.job.nodes.0);
                }
            }
            for (second, used) in used.into_iter().enumerate() {
                prop_assert!(used <= i64::from(case.nodes), "{} at {second}", strategy.name);
            }
        }
    }

    #[test]
    fn no_job_starts_before_its_release_or_gets_more_than_its_estimate(case in either()) {
        for strategy in STRATEGIES {
            for outcome in run(&case, strategy.name).1 {
                if let Some(start) = outcome.start {
                    prop_assert!(start >= outcome.job.release, "{}", strategy.name);
                }
                if let Some((start, end)) = last_run(&outcome) {
                    let granted = outcome.job.runtime.min(outcome.job.estimate).0;
                    if outcome.verdict.is_successful() {
                        prop_assert_eq!(end - start, granted, "{}", strategy.name);
                    } else {
                        prop_assert!(end - start < granted, "{}", strategy.name);
                    }
                    prop_assert!(end <= outcome.job.deadline.0, "{}", strategy.name);
                }
            }
        }
    }

    #[test]
    fn without_failures_every_promise_is_kept_and_only_overbooked_jobs_fail(case in case(Kind::NoFailures)) {
        for strategy in STRATEGIES {
            for outcome in run(&case, strategy.name).1 {
                let Some(promise) = outcome.promise else { continue };
                // On top of its predecessors a job of the 2008 algorithm starts when they have
                // ended, at its nominal start or later (Birkenheuer 2008, §3.1.2): only its
                // deadline is certain then, and the nominal slot may be as long as the estimate.
                let on_top = strategy.name == "overbooking-2008" && promise.overbooked;
                let latest = if on_top {
                    outcome.job.deadline
                } else {
                    promise.start
                };
                prop_assert!(outcome.start.is_some_and(|start| start <= latest), "{}: {outcome:?}", strategy.name);
                prop_assert_eq!(outcome.restarts, 0);
                prop_assert!(outcome.verdict.is_successful() || promise.overbooked, "{}", strategy.name);
                prop_assert!(strategy.overbooks || !promise.overbooked, "{}", strategy.name);
                let length = promise.end - promise.start;
                let short = length < outcome.job.estimate;
                prop_assert!(short == promise.overbooked || on_top, "{}", strategy.name);
                prop_assert!(length > Seconds::ZERO && promise.end <= outcome.job.deadline);
            }
        }
    }

    #[test]
    fn an_accepted_reservation_starts_exactly_at_its_release_and_nobody_shares_its_nodes(case in mixed(Kind::NoFailures)) {
        for strategy in STRATEGIES {
            let replay = case.replay(&case.settings(strategy.name));
            for outcome in replay.outcomes.iter().filter(|outcome| outcome.job.is_reservation()) {
                if outcome.verdict.is_dropped() {
                    prop_assert!(outcome.start.is_none() && outcome.promise.is_none());
                    continue;
                }
                let job = &outcome.job;
                let end = job.release + job.runtime.min(job.estimate);
                prop_assert!(outcome.verdict.is_successful(), "{}: {outcome:?}", strategy.name);
                prop_assert_eq!(outcome.start, Some(job.release), "{}", strategy.name);
                prop_assert_eq!(outcome.end, Some(end), "{}", strategy.name);
                let promise = outcome.promise.expect("reservations are promised their window");
                prop_assert_eq!((promise.start, promise.end), (job.release, job.release + job.estimate));
                prop_assert!(!promise.overbooked);
            }
            let used = held(case.nodes, &replay.allocations);
            prop_assert!(used.is_some(), "{}: a node is held twice", strategy.name);
            prop_assert!(used.unwrap_or_default().into_iter().all(|used| used <= case.nodes));
            let accepted = replay.outcomes.iter().filter(|outcome| outcome.start.is_some()).count();
            prop_assert_eq!(replay.allocations.len(), accepted);
        }
    }

    #[test]
    fn a_reservation_is_rejected_only_where_the_plan_of_its_submission_lacks_nodes(case in mixed(Kind::NoFailures)) {
        for strategy in ["fcfs", "easy-backfilling", "conservative-backfilling"] {
            let replay = case.replay(&case.settings(strategy));
            for asked in replay.outcomes.iter().map(|outcome| &outcome.job) {
                if !asked.is_reservation() || asked.nodes.0 > case.nodes {
                    continue;
                }
                let mut free = NodeSet::full(Nodes(case.nodes));
                let mut used = vec![0; asked.estimate.0 as usize];
                for allocation in &replay.allocations {
                    let other = &replay.outcomes[allocation.job.0 as usize].job;
                    // A queue knows its running jobs and all reservations, and forgets who has
                    // ended; nobody from its line starts before the arrivals of an instant.
                    // Conservative backfilling knows everybody and forgets nobody.
                    let is_known = if other.is_reservation() || strategy == "conservative-backfilling" {
                        other.id < asked.id
                    } else {
                        allocation.start < asked.submit
                    };
                    let is_over = strategy != "conservative-backfilling" && allocation.end <= asked.submit;
                    let (from, to) = (allocation.start, allocation.start + other.estimate);
                    if is_known && !is_over && from < asked.deadline && to > asked.release {
                        free.subtract(&allocation.nodes);
                        for second in from.max(asked.release).0..to.min(asked.deadline).0 {
                            used[(second - asked.release.0) as usize] += other.nodes.0;
                        }
                    }
                }
                let is_free = if strategy == "conservative-backfilling" {
                    free.count() >= asked.nodes
                } else {
                    used.into_iter().all(|used| used + asked.nodes.0 <= case.nodes)
                };
                let accepted = replay.outcomes[asked.id.0 as usize].promise.is_some();
                prop_assert_eq!(accepted, is_free, "{}: {:?}", strategy, asked);
            }
        }
    }

    #[test]
    fn when_nodes_fail_a_reservation_starts_exactly_at_its_release_or_never_and_once(case in mixed(Kind::Failures)) {
        for strategy in STRATEGIES {
            for outcome in case.simulate(&case.settings(strategy.name)).1 {
                let job = &outcome.job;
                if !job.is_reservation() || outcome.verdict.is_dropped() {
                    continue;
                }
                prop_assert_eq!(outcome.restarts, 0);
                prop_assert!(outcome.start.is_none_or(|start| start == job.release), "{}", strategy.name);
                let end = outcome.end.expect("it is over");
                match outcome.verdict {
                    Verdict::FailedUnstartable => prop_assert_eq!((outcome.start, end), (None, job.release)),
                    Verdict::FailedNodes => prop_assert!(outcome.start.is_some() && end < job.deadline),
                    verdict => {
                        prop_assert!(verdict.is_successful(), "{}: {outcome:?}", strategy.name);
                        prop_assert_eq!(end, job.release + job.runtime.min(job.estimate));
                    }
                }
            }
        }
    }

    #[test]
    fn a_reservation_of_the_whole_machine_behind_everybody_changes_nothing_for_them(case in either()) {
        let last = case.jobs.iter().map(|job| job.deadline.0).max().unwrap_or(0);
        let repaired = case.failures.events.iter().map(|event| event.time.0).max().unwrap_or(0);
        let id = case.jobs.len() as u32;
        let first = case.jobs.first().map_or(0, |job| job.submit.0);
        let mut with = case.clone();
        let whole = job(id, [first, first, 60, 60, 0, i64::from(case.nodes)]);
        with.jobs.push(whole.into_reservation(Seconds(10_000 + last.max(repaired))));
        for strategy in STRATEGIES {
            // It arrives behind the first job, which must find its nodes before it.
            let (_, expected) = run(&case, strategy.name);
            let (_, mut outcomes) = run(&with, strategy.name);
            prop_assert!(outcomes.pop().is_some_and(|outcome| outcome.verdict.is_successful()), "{}", strategy.name);
            prop_assert_eq!(bits_of(&outcomes), bits_of(&expected), "{}", strategy.name);
        }
    }

    #[test]
    fn totals_add_up_to_the_outcomes(case in either()) {
        for strategy in STRATEGIES {
            let (metrics, outcomes) = run(&case, strategy.name);
            prop_assert_eq!(metrics.submitted, case.jobs.len() as u64);
            prop_assert_eq!(metrics.accepted, metrics.successful + metrics.failed);
            prop_assert_eq!(metrics.accepted + metrics.dropped, metrics.submitted);
            let reasons = metrics.failed_overbooked + metrics.failed_nodes + metrics.failed_unstartable;
            prop_assert_eq!(metrics.failed, reasons);
            let fees = |which: fn(Verdict) -> bool| -> i64 {
                let jobs = outcomes.iter().filter(|outcome| which(outcome.verdict));
                jobs.map(|outcome| outcome.job.fee().0).sum()
            };
            prop_assert_eq!(metrics.fees.0, fees(Verdict::is_successful));
            prop_assert_eq!(metrics.forfeited.0, fees(Verdict::is_failed));
            prop_assert!(metrics.useful <= metrics.busy && metrics.busy <= metrics.capacity);
        }
    }

    #[test]
    fn baselines_do_not_depend_on_acceptance_nor_on_statistics(
        case in either(), threshold in 0.0_f64..1.0, ratio in 0.0_f64..5.0, security_factor in 0.0_f64..5.0,
    ) {
        for strategy in BASELINES {
            let one = run(&case, strategy);
            let other = Case { threshold, history: vec![50], failure_rate: 0.3, ..case.clone() };
            let mut settings = other.settings(strategy);
            prop_assert_eq!(&one, &other.simulate(&settings), "{}", strategy);
            settings.acceptance = Acceptance::Risk { penalty_ratio: ratio, security_factor };
            prop_assert_eq!(&one, &other.simulate(&settings), "{}", strategy);
        }
    }

    #[test]
    fn without_node_failures_a_percentile_gives_the_schedule_of_the_pof_test_at_what_is_left(
        case in case(Kind::NoFailures), percentile in 0.1_f64..99.9,
    ) {
        for strategy in ["comprehensive-overbooking", "heuristic-overbooking"] {
            let mut settings = Case { failure_rate: 0.0, ..case.clone() }.settings(strategy);
            settings.acceptance = Acceptance::Percentile { percentile };
            let by_percentile = case.simulate(&settings);
            settings.acceptance = Acceptance::Pof { maximum: 1.0 - percentile / 100.0 };
            prop_assert_eq!(&by_percentile, &case.simulate(&settings), "{}", strategy);
        }
    }

    #[test]
    fn a_rule_that_keeps_the_whole_estimate_never_overbooks(
        case in case(Kind::NoFailures), sigmas in 0.0_f64..3.0,
    ) {
        // Where one of a class's jobs took all of its estimate, the 100th percentile is the
        // estimate.
        let case = Case { history: vec![5, 100], ..case };
        for strategy in STRATEGIES.iter().filter(|strategy| strategy.overbooks) {
            let mut settings = case.settings(strategy.name);
            for rule in [
                Acceptance::Percentile { percentile: 100.0 },
                Acceptance::Maximum { sigmas, percentile: 100.0 },
            ] {
                settings.acceptance = rule;
                let overbooked = |outcome: &JobOutcome| outcome.promise.is_some_and(|promise| promise.overbooked);
                let (_, outcomes) = case.simulate(&settings);
                prop_assert!(!outcomes.iter().any(overbooked), "{}: {:?}", strategy.name, rule);
            }
        }
    }

    #[test]
    fn gain_is_linear_in_the_penalty_ratio(case in either(), ratio in 0.0_f64..10.0) {
        for strategy in STRATEGIES {
            let (metrics, _) = run(&case, strategy.name);
            let gain = |ratio| metrics.gain(ratio).0;
            let expected = gain(0.0) + ratio * (gain(1.0) - gain(0.0));
            prop_assert!((gain(ratio) - expected).abs() < 1e-6, "{}", strategy.name);
            prop_assert!((gain(0.0) * 3_600.0 - metrics.fees.0 as f64).abs() < 1e-6);
        }
    }

    #[test]
    fn a_risk_test_gives_the_schedule_of_the_pof_test_at_its_threshold(
        case in either(), penalty_ratio in 0.0_f64..6.0, security_factor in 0.5_f64..5.0,
    ) {
        for strategy in STRATEGIES {
            let mut settings = case.settings(strategy.name);
            settings.acceptance = Acceptance::Risk { penalty_ratio, security_factor };
            let by_risk = case.simulate(&settings);
            let maximum = 1.0 / (1.0 + penalty_ratio * security_factor);
            settings.acceptance = Acceptance::Pof { maximum };
            prop_assert_eq!(&by_risk, &case.simulate(&settings), "{}", strategy.name);
            for outcome in &by_risk.1 {
                let Some(factors) = outcome.promise.and_then(|promise| promise.success) else { continue };
                // Birkenheuer 2012, §5.1.4, as printed, divided by the fee.
                let risk = factors.pof() * penalty_ratio * security_factor;
                prop_assert!(factors.pos() > risk, "{}", strategy.name);
            }
        }
    }

    #[test]
    fn the_same_input_gives_the_same_bits(case in either()) {
        for strategy in STRATEGIES {
            prop_assert_eq!(bits(&run(&case, strategy.name)), bits(&run(&case, strategy.name)));
        }
    }

    #[test]
    fn accepted_overbooked_slots_pass_the_test(case in either()) {
        // The 2008 algorithm computes no probability of success: it cuts by a fixed share.
        let tested = |strategy: &&registry::Strategy| strategy.overbooks && strategy.name != "overbooking-2008";
        for strategy in STRATEGIES.iter().filter(tested) {
            for outcome in run(&case, strategy.name).1 {
                let Some(promise) = outcome.promise else { continue };
                prop_assert_eq!(promise.success.is_some(), promise.overbooked, "{}", strategy.name);
                if let Some(factors) = promise.success {
                    prop_assert!(factors.pof() < case.threshold, "{}", strategy.name);
                }
            }
        }
    }

    #[test]
    fn comprehensive_pof_is_not_above_heuristic_pof_of_the_same_slot(case in either()) {
        let ratios = ratios(&case.history);
        let hardware = Hardware::new(case.settings("comprehensive-overbooking").reliability);
        for outcome in run(&case, "comprehensive-overbooking").1 {
            let Some(promise) = outcome.promise else { continue };
            let Some(factors) = promise.success else { continue };
            let length = promise.end - promise.start;
            let heuristic = pof(&hardware, &ratios, outcome.job.nodes.0, length.0, outcome.job.estimate.0);
            prop_assert!(factors.pof() <= heuristic + 1e-9);
        }
    }

    #[test]
    fn pof_does_not_fall_with_nodes_nor_rise_with_length_on_perfect_nodes(
        history in prop::collection::vec(0_i64..=100, 1..30),
        failure_rate in 0.0_f64..0.5, nodes in 1_u32..200, estimate in 2_i64..100_000, cut in 0.0_f64..1.0,
    ) {
        // Longer slots help the job but expose it to more failures: PoF falls with length for
        // certain only if λ = 0.
        let ratios = ratios(&history);
        let length = ((estimate as f64 * cut) as i64).clamp(1, estimate - 1);
        let (perfect, faulty, worse) = (hardware(0.0), hardware(failure_rate), hardware(failure_rate + 0.1));
        let of = |hardware, nodes, length| pof(hardware, &ratios, nodes, length, estimate);
        prop_assert!(of(&faulty, nodes + 1, length) >= of(&faulty, nodes, length));
        prop_assert!(of(&perfect, nodes, length + 1) <= of(&perfect, nodes, length));
        let survives = |length| faulty.survives(Nodes(nodes), &Exposure::within(Seconds::ZERO, Seconds(length)));
        prop_assert!(survives(length + 1) <= survives(length));
        prop_assert!(of(&worse, nodes, length) >= of(&faulty, nodes, length));
    }

    #[test]
    fn nothing_runs_while_all_nodes_are_down(case in case(Kind::NoFailures)) {
        let mut failures = crate::oracles::workloads::outages((0..case.nodes).map(|node| (node, 0, 1)));
        failures.events.retain(|event| !event.up);
        let case = Case { failures, ..case };
        for strategy in STRATEGIES {
            let (metrics, outcomes) = run(&case, strategy.name);
            prop_assert_eq!(metrics.started, 0, "{}", strategy.name);
            prop_assert_eq!(metrics.successful, 0, "{}", strategy.name);
            for outcome in outcomes {
                prop_assert!(outcome.verdict.is_dropped() || outcome.verdict == Verdict::FailedUnstartable);
            }
        }
    }
}

fn nobody(jobs: Vec<bookahead::workload::Job>) -> Case {
    Case {
        nodes: 4,
        jobs,
        failures: FailureTrace::default(),
        history: vec![100],
        habits: Vec::new(),
        asks: None,
        threshold: 0.2,
        failure_rate: 0.0,
        mean_time_to_repair: 60,
    }
}

#[test]
fn a_job_wider_than_the_machine_is_dropped_as_too_wide() {
    let case = nobody(vec![
        job(0, [0, 0, 10, 5, 20, 5]),
        job(1, [0, 0, 10, 5, 20, 4]),
    ]);
    for strategy in STRATEGIES {
        let (metrics, outcomes) = run(&case, strategy.name);
        assert_eq!(
            outcomes[0].verdict,
            Verdict::DroppedTooWide,
            "{}",
            strategy.name
        );
        assert_eq!(
            outcomes[1].verdict,
            Verdict::SuccessfulFinished,
            "{}",
            strategy.name
        );
        assert_eq!((metrics.dropped, metrics.dropped_too_wide), (1, 1));
    }
}

#[test]
fn without_jobs_all_totals_are_zero() {
    for strategy in STRATEGIES {
        let (metrics, outcomes) = run(&nobody(Vec::new()), strategy.name);
        assert!(outcomes.is_empty());
        assert_eq!(metrics, SimulationMetrics::default(), "{}", strategy.name);
    }
}

#[test]
fn when_every_job_is_rejected_nothing_is_earned_and_nothing_is_owed() {
    // Everybody needs the whole estimate, and every deadline comes a second too early.
    let jobs = (0..20).map(|id| {
        let submit = i64::from(id);
        job(id, [submit, submit, 10, 10, submit + 9, 2])
    });
    let case = nobody(jobs.collect());
    for strategy in STRATEGIES {
        let (metrics, outcomes) = run(&case, strategy.name);
        assert_eq!(metrics.successful, 0, "{}", strategy.name);
        assert_eq!(metrics.started, 0, "{}", strategy.name);
        // Queues promise nothing: they take every job, and fail those that cannot be done in time.
        let queues = ["fcfs", "easy-backfilling"].contains(&strategy.name);
        let expected = if queues {
            Verdict::FailedUnstartable
        } else {
            Verdict::DroppedNoSlot
        };
        assert!(outcomes.iter().all(|outcome| outcome.verdict == expected));
        if !queues {
            assert_eq!(metrics.gain(1.0).0, 0.0, "{}", strategy.name);
        }
    }
}
