//! Formulas against published values, the closed form of the expected makespan, and the runs of one
//! node that fails.

use proptest::prelude::*;

use super::*;
use crate::failures::{FailureTrace, NodeEvent};
use crate::random::stream;
use crate::scheduling::{PolicySettings, simulate};
use crate::units::NodeIndex;
use crate::workload::{JobId, JobKind};

#[test]
fn youngs_interval_is_the_root_of_twice_cost_times_mttf() {
    // C = 5 min, M = 24 h: √(2 · 5 · 1,440) = 120 min.
    assert!((young_interval(300.0, 86_400.0) - 7_200.0).abs() < 1e-9);
}

#[test]
fn dalys_interval_corrects_youngs_and_ends_at_the_mttf() {
    // C / 2M = 300 / 172,800 = 1/576, its root 1/24: 7,200 · (1 + 1/72 + 1/5,184) − 300 =
    // 7,001.389.
    assert!((daly_interval(300.0, 86_400.0) - 7_001.388_888_9).abs() < 1e-6);
    assert_eq!(daly_interval(200.0, 100.0), 100.0);
    assert_eq!(daly_interval(201.0, 100.0), 100.0);
}

fn settings(interval: CheckpointInterval, cost: i64, restart: i64) -> CheckpointSettings {
    CheckpointSettings {
        interval,
        cost: Seconds(cost),
        restart: Seconds(restart),
        payer: CheckpointPayer::Provider,
        gap_end: GapEnd::Checkpoint,
        resume: ResumeRule::Any,
        memory_price: 0.0,
        bandwidth: Bandwidth::Own,
    }
}

#[test]
fn intervals_follow_from_the_nodes_of_a_job_and_a_planner_without_failures_writes_none() {
    let young = settings(CheckpointInterval::Young, 300, 0);
    let one_a_day = Checkpointing::new(young, 1.0 / 24.0);
    assert_eq!(one_a_day.rhythm(Nodes(1)).interval, Seconds(7_200));
    assert_eq!(one_a_day.rhythm(Nodes(4)).interval, Seconds(3_600));
    let never = Checkpointing::new(young, 0.0).rhythm(Nodes(4));
    assert_eq!(never.held_for(Seconds(1 << 30)), Seconds(1 << 30));
    let free = Checkpointing::new(settings(CheckpointInterval::Daly, 0, 0), 0.1);
    assert_eq!(free.rhythm(Nodes(1)).interval, Seconds(1));
}

#[test]
fn a_customer_who_pays_gets_the_work_that_fits_into_the_estimate() {
    let job = job(100, 100, 1_000);
    let mut fixed = settings(CheckpointInterval::Fixed(Seconds(30)), 5, 0);
    let granted = |settings| Checkpointing::new(settings, 0.0).granted(&job);
    assert_eq!(granted(fixed), Seconds(100));
    fixed.payer = CheckpointPayer::Customer;
    // 30 + 5 + 30 + 5 + 30 = 100 seconds.
    assert_eq!(granted(fixed), Seconds(90));
}

proptest! {
    #[test]
    fn a_rhythm_agrees_with_a_run_that_is_watched_every_second(
        interval in 1_i64..40, cost in 0_i64..9, work in 0_i64..200,
    ) {
        let rhythm = Rhythm { interval: Seconds(interval), cost: Seconds(cost) };
        let (mut computed, mut saved, mut writing, mut held) = (0, 0, 0, 0);
        while computed < work {
            prop_assert_eq!(rhythm.work_in(Seconds(held)), Seconds(computed), "after {}", held);
            prop_assert_eq!(rhythm.saved_in(Seconds(held)), Seconds(saved), "after {}", held);
            held += 1;
            if writing > 0 {
                writing -= 1;
                saved = if writing == 0 { computed } else { saved };
            } else {
                computed += 1;
                if computed % interval == 0 {
                    writing = cost;
                    saved = if cost == 0 { computed } else { saved };
                }
            }
        }
        prop_assert_eq!(rhythm.held_for(Seconds(work)), Seconds(held));
    }
}

fn job(estimate: i64, runtime: i64, deadline: i64) -> Job {
    Job {
        id: JobId(0),
        trace_number: 1,
        submit: Seconds(0),
        release: Seconds(0),
        estimate: Seconds(estimate),
        runtime: Seconds(runtime),
        deadline: Seconds(deadline),
        nodes: Nodes(1),
        user: None,
        application: None,
        kind: JobKind::Flexible,
    }
}

const WORK: i64 = 40_000;
const MTTF: f64 = 10_000.0;
const REPAIR: i64 = 500;

/// Expected time from the start to the end of the work on a node with exponential up-times of mean
/// M = 1/λ and repairs of D seconds. A stretch of length L that begins without reading takes
/// `(M + D) · (e^{λL} − 1)` if it begins anew at each failure, and
/// `(M + D) · e^{λR} · (e^{λL} − 1)` if it then reads for R first.
fn expected_makespan(interval: i64, cost: i64, restart: i64) -> f64 {
    let grows = |length: i64| libm::exp(length as f64 / MTTF);
    let stretches = (WORK + interval - 1) / interval;
    let last = WORK - (stretches - 1) * interval;
    let one = |number: i64| {
        let length = if number == stretches {
            last
        } else {
            interval + cost
        };
        let reads = if number == 1 { 0 } else { restart };
        (MTTF + REPAIR as f64) * grows(reads) * (grows(length) - 1.0)
    };
    (1..=stretches).map(one).sum()
}

/// Failures of one node with exponential up-times, as whole seconds.
fn failures(seed: u64) -> FailureTrace {
    use rand::RngExt;
    let mut draws = stream(seed, "checkpoints", 0, "failures");
    let mut clock = 0.0;
    let mut events = Vec::new();
    while clock < 60.0 * WORK as f64 {
        let draw: f64 = draws.random();
        clock += -MTTF * libm::log(1.0 - draw);
        let fails = Seconds(libm::round(clock) as i64);
        clock = (fails.0 + REPAIR) as f64;
        for (time, up) in [(fails, false), (fails + Seconds(REPAIR), true)] {
            events.push(NodeEvent {
                time,
                node: NodeIndex(0),
                up,
            });
        }
    }
    FailureTrace { events }
}

/// How long the one job takes with such failures under a planning strategy.
fn makespan(strategy: &str, checkpoint: CheckpointSettings, failures: &FailureTrace) -> f64 {
    let settings = PolicySettings {
        strategy: strategy.to_owned(),
        checkpoint: Some(checkpoint),
        ..PolicySettings::default()
    };
    let jobs = [job(WORK, WORK, 59 * WORK)];
    let (_, outcomes) =
        simulate(Nodes(1), &settings, None, &jobs, failures).expect("a registered strategy");
    let outcome = &outcomes[0];
    assert!(outcome.verdict.is_successful(), "{outcome:?}");
    let runs = outcome.execution.expect("the job ran");
    assert_eq!(runs.useful, Seconds(WORK));
    outcome.end.expect("it ended").0 as f64
}

/// Mean and the half width of its 99 % interval.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    (mean, 2.576 * (variance / count).sqrt())
}

#[test]
fn the_mean_makespan_on_a_failing_node_is_the_closed_form() {
    for strategy in ["conservative-backfilling", "heuristic-planning"] {
        for (interval, cost, restart) in [(2_000, 200, 400), (7_000, 200, 0)] {
            let fixed = settings(CheckpointInterval::Fixed(Seconds(interval)), cost, restart);
            let ends: Vec<f64> = (0..8_000)
                .map(|seed| makespan(strategy, fixed, &failures(seed)))
                .collect();
            let (mean, half_width) = mean(&ends);
            let expected = expected_makespan(interval, cost, restart);
            assert!(
                (mean - expected).abs() < half_width,
                "{strategy}, {interval}: {mean} ± {half_width}, expected {expected}"
            );
            assert!(half_width < 0.02 * expected);
        }
    }
}

#[test]
fn dalys_interval_is_as_good_as_the_best_of_a_scan() {
    let (cost, restart) = (200, 400);
    let daly = libm::round(daly_interval(cost as f64, MTTF)) as i64;
    let scan = (1..400).map(|step| 25 * step);
    let best = scan
        .clone()
        .min_by(|&one, &other| {
            expected_makespan(one, cost, restart)
                .total_cmp(&expected_makespan(other, cost, restart))
        })
        .expect("there are intervals");
    let least = expected_makespan(best, cost, restart);
    let at_daly = expected_makespan(daly, cost, restart);
    assert!(
        at_daly < 1.005 * least,
        "{daly}: {at_daly}, {best}: {least}"
    );
    assert!(
        (daly as f64 / best as f64 - 1.0).abs() < 0.1,
        "{daly} {best}"
    );
    // The simulated node finds the same: Daly's is within the interval of the best of some, far
    // ones are not.
    let means: Vec<(i64, Vec<f64>)> = [daly / 4, daly / 2, daly, 2 * daly, 4 * daly]
        .into_iter()
        .map(|interval| {
            let fixed = settings(CheckpointInterval::Fixed(Seconds(interval)), cost, restart);
            let ends = (0..600).map(|seed| makespan("heuristic-planning", fixed, &failures(seed)));
            (interval, ends.collect())
        })
        .collect();
    let of_daly = &means[2].1;
    for (interval, ends) in means.iter().filter(|(interval, _)| *interval != daly) {
        let differences: Vec<f64> = ends
            .iter()
            .zip(of_daly)
            .map(|(other, daly)| other - daly)
            .collect();
        let (more, half_width) = mean(&differences);
        let is_far = *interval <= daly / 4 || *interval >= 4 * daly;
        assert!(
            more > -half_width,
            "{interval} beats Daly's: {more} ± {half_width}"
        );
        assert!(
            !is_far || more > half_width,
            "{interval}: {more} ± {half_width}"
        );
    }
}
