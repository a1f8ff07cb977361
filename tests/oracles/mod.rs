//! Slow and obvious twins of the policies, written from the specification alone, and random workloads through both.
//!
//! A twin shares nothing with the engine but the types of jobs, settings and outcomes: time is an array of seconds, events
//! are a list that is searched for its smallest element, distributions are arrays over the same seconds.

mod counted;
mod found;
mod mapped;
mod queueing;
mod slow_machine;
pub mod workloads;

use bookahead::scheduling::{CrashRule, FailedStartRule, JobOutcome, Retry};
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

/// 256 cases a property, or as many as `PROPTEST_CASES` asks for; nothing is written beside the sources.
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
