//! Jobs with two runs (`scheduling.double_execution`): what others may rely on, how often it comes
//! to that, and the keys.

use bookahead::failures::SurvivalModel;
use bookahead::scheduling::{DoubleExecution, PolicySpec, Reliability};
use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, canonical_json};
use bookahead::units::NodeSeconds;
use bookahead_overbooking::registry::STRATEGIES;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::oracles::config;
use crate::oracles::workloads::{Case, Kind, case, mixed};

const HEAD: &str = r#"[experiment]
name = "double"
[workload]
trace = "CTC-SP2-1996-3.1-cln.swf"
nodes = 430
compression = 0.15
"#;

/// Whoever may run a job twice.
const DOUBLING: [&str; 4] = [
    "conservative-backfilling",
    "heuristic-planning",
    "comprehensive-overbooking",
    "heuristic-overbooking",
];

/// Nodes are believed to fail, and second runs cost so much.
fn settings(case: &Case, strategy: &str, price: Option<f64>) -> PolicySpec {
    let given = case.settings(strategy);
    PolicySpec {
        double_execution: price.map(|price| DoubleExecution::at(price, 1.0)),
        reliability: Reliability {
            survival: SurvivalModel::Poisson { rate_per_hour: 1.0 },
            failure_rate_per_hour: 0.01,
            ..given.reliability
        },
        ..given
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whoever_runs_twice_has_one_outcome_and_no_node_is_used_by_two(
        case in mixed(Kind::Failures), strategy in prop::sample::select(&DOUBLING[..]),
    ) {
        let replay = case.replay(&settings(&case, strategy, Some(0.0)));
        prop_assert_eq!(replay.outcomes.len(), case.jobs.len());
        let mut busy = NodeSeconds(0);
        for (index, one) in replay.allocations.iter().enumerate() {
            busy += one.nodes.count().for_span(one.end - one.start);
            prop_assert!((one.job.0 as usize) < case.jobs.len());
            for other in &replay.allocations[..index] {
                let apart = one.end <= other.start || other.end <= one.start;
                prop_assert!(apart || !one.nodes.intersects(&other.nodes));
            }
        }
        prop_assert_eq!(replay.metrics.busy, busy);
        for outcome in &replay.outcomes {
            let runs = replay.allocations.iter().filter(|run| run.job == outcome.job.id);
            let last = runs.map(|run| run.end).max();
            prop_assert!(outcome.verdict.is_failed() || outcome.end == last, "{outcome:?}");
        }
    }

    #[test]
    fn jobs_with_their_whole_time_and_reservations_keep_it_beside_second_runs(
        case in mixed(Kind::NoFailures), strategy in prop::sample::select(&DOUBLING[..]),
    ) {
        let replay = case.replay(&settings(&case, strategy, Some(0.0)));
        for outcome in &replay.outcomes {
            let Some(promise) = outcome.promise.filter(|promise| !promise.overbooked) else {
                continue;
            };
            prop_assert!(outcome.verdict.is_successful(), "{outcome:?}");
            prop_assert!(outcome.start.is_some_and(|start| start <= promise.start), "{outcome:?}");
        }
        // A run may be killed at the end of a window that was too short, and the other one goes on.
        let mut promises = replay.outcomes.iter().filter_map(|outcome| outcome.promise);
        let overbooks = promises.any(|promise| promise.overbooked);
        prop_assert!(overbooks || replay.metrics.double.rescued == 0);
    }

    #[test]
    fn second_runs_that_are_dearer_than_all_they_can_save_change_nothing(
        case in mixed(Kind::Failures), strategy in prop::sample::select(&DOUBLING[..]),
    ) {
        let never = case.replay(&settings(&case, strategy, None));
        prop_assert_eq!(case.replay(&settings(&case, strategy, Some(1e6))), never);
    }
}

#[test]
fn random_workloads_have_many_jobs_with_two_runs_of_which_some_are_rescued() {
    for strategy in DOUBLING {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let (mut jobs, mut rescued) = (0, 0);
        for _ in 0..256 {
            let drawn = case(Kind::Failures).new_tree(&mut runner);
            let case = drawn.expect("nothing is filtered").current();
            let (metrics, _) = case.simulate(&settings(&case, strategy, Some(0.0)));
            jobs += metrics.double.jobs;
            rescued += metrics.double.rescued;
        }
        assert!(jobs >= 200 && rescued >= 20, "{strategy} {jobs} {rescued}");
    }
}

/// The specification under each strategy with these lines of its table.
fn simulations(scheduling: &str, rest: &str) -> Vec<(&'static str, String)> {
    let each = STRATEGIES.iter().map(|strategy| strategy.name);
    each.map(|name| {
        let text = format!("{HEAD}[scheduling]\nstrategy = \"{name}\"\n{scheduling}{rest}");
        let sweep = Experiment::parse(STUDIES, "it.toml", &text, None);
        let sweep = sweep.expect("valid").sweep;
        let spec = sweep.simulations.iter().next().expect("a simulation");
        (name, canonical_json(&spec).expect("JSON"))
    })
    .collect()
}

#[test]
fn only_plans_with_whole_estimates_or_a_risk_read_the_keys_and_without_them_no_specification_has_changed()
 {
    let plain = simulations("", "");
    assert!(plain.iter().all(|(_, text)| !text.contains("double")));
    assert_eq!(
        simulations("double_execution = false\nnode_hour_price = 0.1\n", ""),
        plain
    );
    let with = simulations("double_execution = true\n", "");
    let differing = plain.iter().zip(&with).filter(|(one, other)| one != other);
    let names: Vec<&str> = differing.map(|(one, _)| one.0).collect();
    assert_eq!(names, DOUBLING);
}

#[test]
fn prices_and_penalties_that_give_the_same_rule_share_a_simulation() {
    let at = |price: f64, ratio: f64| {
        let price = format!("double_execution = true\nnode_hour_price = {price:?}\n");
        simulations(
            &price,
            &format!("[acceptance]\npenalty_ratio = {ratio:?}\n"),
        )
    };
    assert_eq!(at(0.5, 1.0), at(1.25, 4.0));
    assert_ne!(at(0.5, 1.0), at(0.5, 4.0));
}

#[test]
fn jobs_that_save_their_work_do_not_run_twice() {
    let parse = |double: bool, price: &str, interval: &str| {
        let text = format!(
            "{HEAD}[scheduling]\nstrategy = \"heuristic-planning\"\ndouble_execution = {double}\n\
             node_hour_price = {price}\n[checkpoint]\ninterval = \"{interval}\"\n"
        );
        Experiment::parse(STUDIES, "it.toml", &text, None)
    };
    assert!(parse(false, "0.5", "daly").is_ok() && parse(true, "0.5", "none").is_ok());
    for (price, interval, key) in [
        ("0.5", "daly", "checkpoint.interval"),
        ("-0.5", "none", "scheduling.node_hour_price"),
    ] {
        let error = parse(true, price, interval).expect_err("refused");
        let keys: Vec<&str> = (error.problems().iter())
            .map(|problem| problem.key.as_str())
            .collect();
        assert_eq!(keys, [key]);
    }
}
