//! Which points of a run have no result.

use std::collections::BTreeSet;

use crate::store::RunSummary;

/// Places without a result that did not fail either; where a rule says which are run, of those that
/// it asked for.
pub(super) fn places(run: &RunSummary, states: &[(i64, String)]) -> Vec<i64> {
    let settled: BTreeSet<i64> = states
        .iter()
        .filter(|(_, state)| state == "done" || state == "failed")
        .map(|(place, _)| *place)
        .collect();
    let asked: Vec<i64> = match run.has_rule {
        true => states.iter().map(|(place, _)| *place).collect(),
        false => (0..i64::try_from(run.points).unwrap_or(0)).collect(),
    };
    let missing = asked.into_iter();
    missing.filter(|place| !settled.contains(place)).collect()
}
