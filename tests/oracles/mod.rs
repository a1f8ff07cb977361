//! Slow and obvious twins of the policies, written from the specification alone, and random workloads through both.
//!
//! A twin shares nothing with the engine but the types of jobs, settings and outcomes: time is an array of seconds, events
//! are a list that is searched for its smallest element, distributions are arrays over the same seconds.

mod counted;
mod found;
mod mapped;
mod queueing;
pub mod workloads;
mod world;

use bookahead::scheduling::JobOutcome;
use proptest::test_runner::{Config, TestCaseError, TestCaseResult};

use world::Fate;

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
