//! The closed form of the expected makespan against the runs of one node that fails; rules of
//! events and starts on small scenes.

mod backfilling_at_risk;
mod double_execution;
mod events;
mod excluded;
mod failures_by_load;
mod in_shelves;
mod late_offers;
mod lengthened;
mod more_time;
mod overlap;
mod starts;

use bookahead_core::failures::{FailureTrace, NodeEvent};
use bookahead_core::plan::ShelfRule;
use bookahead_core::random::stream;
use bookahead_core::scheduling::{
    Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, GapEnd, PolicySpec,
    ResumeRule, daly_interval,
};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::simulate;

/// A policy whose shelves, if it has any, are of this height, so that jobs of it are where others
/// put them.
fn named(strategy: &str, height: Seconds) -> PolicySpec {
    PolicySpec {
        shelves: ShelfRule {
            height,
            ..ShelfRule::default()
        },
        ..PolicySpec::named(strategy)
    }
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
    let settings = PolicySpec {
        checkpoint: Some(checkpoint),
        ..PolicySpec::named(strategy)
    };
    let job = Job::rigid(JobId(0), Seconds(0), Nodes(1), Seconds(WORK));
    let jobs = [job.due_by(Seconds(59 * WORK)).numbered(1)];
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
