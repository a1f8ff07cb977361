//! Settings that differ in nothing that their simulations know.

use super::Combination;
use crate::frames::{Groups, numbers};
use bookahead_lab::store::PointColumns;

/// Combinations of the same simulations: what those measured is folded once for all of them.
pub(super) struct Alike {
    /// The points of the first of each.
    pub(super) points: Vec<usize>,
    /// Groups of these, by their indices.
    pub(super) groups: Groups,
    /// For each combination the group with its simulations.
    pub(super) of: Vec<usize>,
}

impl Alike {
    pub(super) fn new(points: &PointColumns, combinations: &[Combination]) -> Self {
        let simulations = |combination: &Combination| -> Vec<(i64, bool)> {
            let members = combination.points.iter();
            members
                .map(|point| (points.simulation[*point], points.is_repetition(*point)))
                .collect()
        };
        let of: Vec<u32> = numbers(combinations.iter().map(simulations)).collect();
        let mut firsts: Vec<&Combination> = Vec::new();
        for (group, combination) in of.iter().zip(combinations) {
            if *group as usize == firsts.len() {
                firsts.push(combination);
            }
        }
        let numbered = (0..).zip(&firsts);
        let numbered = numbered.flat_map(|(group, first)| first.points.iter().map(move |_| group));
        Self {
            groups: Groups::new(numbered.zip(0..)),
            points: (firsts.iter())
                .flat_map(|first| first.points.iter().copied())
                .collect(),
            of: of.into_iter().map(|group| group as usize).collect(),
        }
    }
}
