//! The lines of a study's figures. Its strategy is the same everywhere, so lines differ in the most
//! useful of the other axes.

use std::collections::{BTreeMap, BTreeSet};

use super::number;
use crate::analysis::{Analysis, Combination, STRATEGY_AXIS};
use crate::table::short;
use crate::table::value_text;
use bookahead_lab::sweep::AxisValue;

/// As many as there are colours.
pub(crate) const MOST_LINES: usize = 7;

type Key = (Vec<Option<u32>>, String);

/// The axes that tell lines apart, and the lines in order.
pub struct Lines {
    /// Indices of the axes.
    pub axes: Vec<usize>,
    /// Label of every line by its places on those axes and its strategy, with its place in the
    /// legend.
    lines: BTreeMap<Key, (usize, String)>,
}

impl Lines {
    /// Takes axes while at most `most` lines come out: those of rules first, then numbers, those
    /// with the fewest values first, then those of the workload, which people compare least.
    pub fn new(analysis: &Analysis, free: &[usize], x: Option<usize>, most: usize) -> Self {
        let mut candidates: Vec<usize> = free
            .iter()
            .copied()
            .filter(|axis| Some(*axis) != x)
            .collect();
        candidates.sort_by_key(|axis| {
            let axis = &analysis.axes[*axis];
            let numbers = axis.values.iter().all(|value| number(value).is_some());
            (
                axis.key.starts_with("workload."),
                numbers,
                if numbers { axis.values.len() } else { 0 },
            )
        });
        let mut axes: Vec<usize> = Vec::new();
        for candidate in candidates {
            axes.push(candidate);
            if keys(analysis, &axes).len() > most {
                axes.pop();
            }
        }
        let keys = keys(analysis, &axes);
        let strategies: BTreeSet<&str> =
            keys.iter().map(|(_, strategy)| strategy.as_str()).collect();
        let several = strategies.len() > 1;
        let lines = keys
            .iter()
            .enumerate()
            .map(|(rank, key)| (key.clone(), (rank, label(analysis, &axes, key, several))))
            .collect();
        Self { axes, lines }
    }

    /// Place in the legend and label of the line that a combination belongs to.
    pub fn of<'l>(&'l self, combination: &'l Combination) -> (usize, &'l str) {
        self.lines
            .get(&key(combination, &self.axes))
            .map_or((0, combination.strategy.as_str()), |(rank, label)| {
                (*rank, label.as_str())
            })
    }
}

/// The axes that differ between combinations; of axes that were swept together only the one with
/// names, or the first.
pub fn free_axes(analysis: &Analysis) -> Vec<usize> {
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    for axis in 0..analysis.axes.len() {
        if analysis.axes[axis].key == STRATEGY_AXIS {
            continue;
        }
        let partition = partition(analysis, axis);
        if partition.iter().all(|class| *class == 0) {
            continue;
        }
        match found.iter_mut().find(|(_, known)| *known == partition) {
            Some((known, _)) => {
                if is_named(analysis, axis) && !is_named(analysis, *known) {
                    *known = axis;
                }
            }
            None => found.push((axis, partition)),
        }
    }
    let mut axes: Vec<usize> = found.into_iter().map(|(axis, _)| axis).collect();
    axes.sort_unstable();
    axes
}

fn is_named(analysis: &Analysis, axis: usize) -> bool {
    let values = &analysis.axes[axis].values;
    values
        .iter()
        .any(|value| matches!(value, AxisValue::Text(_)))
}

/// For every combination the number of its value among those that came before, in order of
/// appearance.
fn partition(analysis: &Analysis, axis: usize) -> Vec<usize> {
    let mut classes = BTreeMap::new();
    analysis
        .combinations
        .iter()
        .map(|combination| {
            let next = classes.len();
            *classes.entry(combination.places[axis]).or_insert(next)
        })
        .collect()
}

fn key(combination: &Combination, axes: &[usize]) -> Key {
    let places = axes.iter().map(|axis| combination.places[*axis]).collect();
    (places, combination.strategy.clone())
}

fn keys(analysis: &Analysis, axes: &[usize]) -> BTreeSet<Key> {
    analysis
        .combinations
        .iter()
        .map(|combination| key(combination, axes))
        .collect()
}

/// `move, start_factor 2`: names stand for themselves, numbers and switches after the name of their
/// axis.
fn label(analysis: &Analysis, axes: &[usize], (places, strategy): &Key, several: bool) -> String {
    let mut words: Vec<String> = Vec::new();
    if several || axes.is_empty() {
        words.push(strategy.clone());
    }
    for (axis, place) in axes.iter().zip(places) {
        let axis = &analysis.axes[*axis];
        let value = place.and_then(|place| axis.values.get(place as usize));
        words.push(match value {
            Some(AxisValue::Text(name)) => name.clone(),
            Some(value) => format!("{} {}", short(&axis.key), value_text(value)),
            None => format!("no {}", short(&axis.key)),
        });
    }
    words.join(", ")
}
