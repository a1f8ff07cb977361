//! Which replications repeat another one: the same jobs, the same failures, the same results.
//!
//! A deterministic simulation of one whole log gives the same numbers in each replication. That is
//! one result, however often it was computed, so whoever counts replications counts it once.

use std::collections::HashMap;
use std::hash::Hash;

use crate::study::inputs::Seen;

/// For each point the first one with the same setting that is of the same simulation, or whose
/// simulation saw the same and has the same results; its own number where there is none before it.
/// What is not known to be the same counts for itself.
///
/// `settings` has the setting of each point, without the replication, and `simulation` the
/// simulation of a point with what that saw.
pub(super) fn originals<S: Eq + Hash>(
    settings: impl Iterator<Item = S>,
    simulation: impl Fn(usize) -> (i64, Seen),
    has_same_results: impl Fn(usize, usize) -> bool,
) -> Vec<usize> {
    let mut of_setting: HashMap<S, Vec<usize>> = HashMap::new();
    for (point, setting) in settings.enumerate() {
        of_setting.entry(setting).or_default().push(point);
    }
    let mut originals = vec![0; of_setting.values().map(Vec::len).sum()];
    for points in of_setting.into_values() {
        let mut of_simulation: HashMap<i64, usize> = HashMap::new();
        let mut of_seen: HashMap<Seen, Vec<usize>> = HashMap::new();
        for point in points {
            let (number, seen) = simulation(point);
            let alike = of_seen.get(&seen).filter(|_| seen.is_known());
            let mut alike = alike.into_iter().flatten().copied();
            let earlier = (alike
                .find(|earlier| has_same_results(*earlier, point))
                .into_iter())
            .chain(of_simulation.get(&number).copied())
            .min();
            if earlier.is_none() {
                of_simulation.insert(number, point);
                of_seen.entry(seen).or_default().push(point);
            }
            originals[point] = earlier.unwrap_or(point);
        }
    }
    originals
}
