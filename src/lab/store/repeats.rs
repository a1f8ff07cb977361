//! Which replications repeat another one: the same jobs, the same failures, the same results.
//!
//! A deterministic simulation of one whole log gives the same numbers in each replication. That is
//! one result, however often it was computed, so whoever counts replications counts it once.

use std::collections::HashMap;
use std::hash::Hash;

use crate::study::inputs::Seen;

/// What is needed of a point to find those that repeat it.
pub(super) struct Candidate<S> {
    /// Its setting, without the replication.
    pub(super) setting: S,
    /// Its simulation.
    pub(super) simulation: i64,
    /// What that saw.
    pub(super) seen: Seen,
}

/// For each point the first one with the same setting that is of the same simulation, or whose
/// simulation saw the same and has the same results; its own number where there is none before it.
/// What is not known to be the same counts for itself.
pub(super) fn originals<S: Eq + Hash>(
    points: impl Iterator<Item = Candidate<S>>,
    has_same_results: impl Fn(usize, usize) -> bool,
) -> Vec<usize> {
    let mut of_setting: HashMap<S, Vec<(usize, i64, Seen)>> = HashMap::new();
    let find = |(at, point): (usize, Candidate<S>)| {
        let known = of_setting.entry(point.setting).or_default();
        let earlier = known.iter().find(|(earlier, simulation, seen)| {
            *simulation == point.simulation
                || (seen.is_same(&point.seen) && has_same_results(*earlier, at))
        });
        let original = earlier.map(|(earlier, ..)| *earlier);
        if original.is_none() {
            known.push((at, point.simulation, point.seen));
        }
        original.unwrap_or(at)
    };
    points.enumerate().map(find).collect()
}
