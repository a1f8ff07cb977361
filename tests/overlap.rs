//! Jobs on top of their predecessors (`scheduling.overlap`): what others may rely on, how often it
//! comes to that, and the key.

use bookahead::scheduling::{JobOutcome, OverlapRule, PolicySpec, Verdict};
use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, canonical_json};
use bookahead_overbooking::registry::STRATEGIES;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::oracles::config;
use crate::oracles::workloads::{Case, Kind, case, mixed};

const HEAD: &str = r#"[experiment]
name = "overlap"
[workload]
trace = "CTC-SP2-1996-3.1-cln.swf"
nodes = 430
compression = 0.15
"#;

fn settings(case: &Case) -> PolicySpec {
    PolicySpec {
        overlap: OverlapRule::Predecessors,
        ..case.settings("comprehensive-overbooking")
    }
}

/// The jobs that were planned without a time of their own.
fn on_top(outcomes: &[JobOutcome]) -> impl Iterator<Item = &JobOutcome> {
    let is_on_top = |outcome: &&JobOutcome| {
        (outcome.promise).is_some_and(|promise| promise.start == promise.end)
    };
    outcomes.iter().filter(is_on_top)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn jobs_with_their_whole_time_and_reservations_keep_it_whoever_runs_in_front_of_them(
        case in mixed(Kind::NoFailures),
    ) {
        let replay = case.replay(&settings(&case));
        for outcome in &replay.outcomes {
            let Some(promise) = outcome.promise else { continue };
            if promise.overbooked {
                prop_assert!(promise.start <= promise.end && promise.end <= outcome.job.deadline);
                continue;
            }
            prop_assert!(outcome.verdict.is_successful(), "{outcome:?}");
            prop_assert!(outcome.start.is_some_and(|start| start <= promise.start), "{outcome:?}");
        }
        for (index, one) in replay.allocations.iter().enumerate() {
            for other in &replay.allocations[..index] {
                let apart = one.end <= other.start || other.end <= one.start;
                prop_assert!(apart || !one.nodes.intersects(&other.nodes));
            }
        }
    }
}

#[test]
fn random_workloads_have_many_jobs_on_top_of_others_of_which_some_succeed_and_some_fail() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut verdicts = Vec::new();
    for _ in 0..256 {
        let drawn = case(Kind::NoFailures).new_tree(&mut runner);
        let case = drawn.expect("nothing is filtered").current();
        let (_, outcomes) = case.simulate(&settings(&case));
        verdicts.extend(on_top(&outcomes).map(|outcome| outcome.verdict));
        let (_, without) = case.simulate(&case.settings("comprehensive-overbooking"));
        assert_eq!(on_top(&without).count(), 0);
    }
    for verdict in [
        Verdict::SuccessfulFinished,
        Verdict::FailedOverbooked,
        Verdict::FailedUnstartable,
    ] {
        let count = verdicts.iter().filter(|&&other| other == verdict).count();
        assert!(count >= 20, "{count} {}", verdict.name());
    }
}

#[test]
fn only_comprehensive_overbooking_reads_the_key_and_without_it_no_specification_has_changed() {
    let simulations = |text: &str| {
        let axis = |name: &str| format!("[scheduling]\nstrategy = \"{name}\"\n{text}");
        let each = STRATEGIES.iter().map(|strategy| strategy.name);
        each.map(|name| {
            let text = format!("{HEAD}{}", axis(name));
            let sweep = Experiment::parse(STUDIES, "it.toml", &text, None);
            let sweep = sweep.expect("valid").sweep;
            let spec = sweep.simulations.iter().next().expect("a simulation");
            (name.to_string(), canonical_json(&spec).expect("JSON"))
        })
        .collect::<Vec<_>>()
    };
    let plain = simulations("");
    assert!(plain.iter().all(|(_, text)| !text.contains("overlap")));
    assert_eq!(simulations("overlap = \"none\"\n"), plain);
    let with = simulations("overlap = \"predecessors\"\n");
    let differing = plain.iter().zip(&with).filter(|(one, other)| one != other);
    let names: Vec<&str> = differing.map(|(one, _)| one.0.as_str()).collect();
    assert_eq!(names, ["comprehensive-overbooking"]);
    let late = simulations("early_start = \"no\"\n");
    assert_eq!(
        simulations("early_start = \"no\"\noverlap = \"predecessors\"\n"),
        late
    );
}

#[test]
fn jobs_that_save_their_work_are_not_planned_on_top_of_others() {
    let parse = |overlap: &str, interval: &str| {
        let text = format!(
            "{HEAD}[scheduling]\nstrategy = \"comprehensive-overbooking\"\noverlap = \"{overlap}\"\n\
             [checkpoint]\ninterval = \"{interval}\"\n"
        );
        Experiment::parse(STUDIES, "it.toml", &text, None)
    };
    assert!(parse("none", "daly").is_ok() && parse("predecessors", "none").is_ok());
    for (overlap, interval, key) in [
        ("predecessors", "daly", "checkpoint.interval"),
        ("successors", "none", "scheduling.overlap"),
    ] {
        let error = parse(overlap, interval).expect_err("refused");
        let keys: Vec<&str> = (error.problems().iter())
            .map(|problem| problem.key.as_str())
            .collect();
        assert_eq!(keys, [key]);
    }
}
