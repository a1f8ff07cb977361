//! Slow and obvious twins of the policies, written from a description of them alone, and random
//! workloads through both.
//!
//! A twin shares nothing with the engine but the types of jobs, settings and outcomes: time is an
//! array of seconds, events are a list that is searched for its smallest element, distributions are
//! arrays over the same seconds.

mod counted;
mod found;
mod mapped;
mod queueing;
mod slow_machine;
pub mod workloads;

use bookahead::scheduling::{
    Acceptance, CrashRule, FailedStartRule, JobOutcome, Retry, UnderestimatorRule,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestCaseResult};

use slow_machine::Fate;

/// Every job must have met the same fate in the engine and in its twin.
fn agree(engine: &[JobOutcome], twin: &[Fate]) -> TestCaseResult {
    if engine.len() != twin.len() {
        return Err(TestCaseError::fail("a job is missing"));
    }
    let mut differences = Vec::new();
    for (outcome, fate) in engine.iter().zip(twin) {
        let ours = Fate::of(outcome);
        let same_pof = match (ours.pof, fate.pof) {
            (None, None) => true,
            (Some(one), Some(other)) => (one - other).abs() < 1e-9,
            _ => false,
        };
        let rest = Fate {
            pof: fate.pof,
            ..ours.clone()
        };
        if !same_pof || rest != *fate {
            differences.push(format!(
                "job {}:\n  engine {ours:?}\n  oracle {fate:?}",
                outcome.job.id.0
            ));
        }
    }
    if differences.is_empty() {
        Ok(())
    } else {
        Err(TestCaseError::fail(differences.join("\n")))
    }
}

/// Whether a slot is accepted whose job takes one of these times (value, probability; in ascending
/// order) and has this room.
fn accepts(rule: Acceptance, pof: f64, times: &[(f64, f64)], room: f64) -> bool {
    let within = |time: f64| time <= room + 1e-9;
    let mean_sigma = |sigmas: f64| {
        let mean: f64 = times.iter().map(|(time, share)| time * share).sum();
        // Around the mean: the difference of two squares would leave a deviation of 1e-8 to times
        // that are all alike.
        let variance: f64 = times
            .iter()
            .map(|(time, share)| (time - mean).powi(2) * share)
            .sum();
        within(mean + sigmas * variance.sqrt())
    };
    let percentile = |percent: f64| {
        let mut sum = 0.0;
        let reached = times.iter().find(|&&(_, share)| {
            sum += share;
            sum >= percent / 100.0 - 1e-9
        });
        reached.is_some_and(|&(time, _)| within(time))
    };
    match rule {
        Acceptance::Pof { .. } | Acceptance::Risk { .. } => rule.accepts(pof),
        Acceptance::MeanSigma { sigmas } => mean_sigma(sigmas),
        Acceptance::Percentile {
            percentile: percent,
        } => percentile(percent),
        Acceptance::Maximum {
            sigmas,
            percentile: percent,
        } => mean_sigma(sigmas) && percentile(percent),
    }
}

fn rule_of_time() -> impl Strategy<Value = Acceptance> {
    let (sigmas, percentile) = (0.0_f64..2.5, 1.0_f64..100.0);
    prop_oneof![
        sigmas
            .clone()
            .prop_map(|sigmas| Acceptance::MeanSigma { sigmas }),
        percentile
            .clone()
            .prop_map(|percentile| Acceptance::Percentile { percentile }),
        (sigmas, percentile)
            .prop_map(|(sigmas, percentile)| Acceptance::Maximum { sigmas, percentile }),
    ]
}

/// 256 cases a property, or as many as `PROPTEST_CASES` asks for; nothing is written beside the
/// sources.
pub fn config() -> Config {
    Config {
        failure_persistence: None,
        ..Config::default()
    }
}

fn crash_rule() -> impl Strategy<Value = CrashRule> {
    prop_oneof![
        2 => Just(CrashRule::Strategy),
        1 => Just(CrashRule::Final),
        1 => Just(CrashRule::Restart),
        1 => Just(CrashRule::RestartFull),
        1 => Just(CrashRule::RestartShort),
    ]
}

fn failed_start_rule() -> impl Strategy<Value = FailedStartRule> {
    prop_oneof![
        2 => Just(FailedStartRule::Strategy),
        1 => Just(FailedStartRule::Lost),
        1 => Just(FailedStartRule::WaitFull),
        1 => Just(FailedStartRule::WaitShort),
    ]
}

fn retry() -> impl Strategy<Value = Retry> {
    prop_oneof![Just(Retry::Events), Just(Retry::Repairs)]
}

fn underestimators() -> impl Strategy<Value = UnderestimatorRule> {
    prop_oneof![
        Just(UnderestimatorRule::AsEstimated),
        Just(UnderestimatorRule::MoreTime)
    ]
}
