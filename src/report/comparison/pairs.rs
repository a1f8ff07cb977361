//! Points of two runs in pairs, and what differs between the two of a pair.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::quantities::Quantity;
use crate::report::statistics::Estimate;
use crate::report::table::axes_text;
use crate::store::{MeasuredPoint, UnfinishedPoint};
use crate::sweep::{AxisValue, shown};

/// The points of a run, with a result and without.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points<'p> {
    pub(super) done: &'p [MeasuredPoint],
    pub(super) unfinished: &'p [UnfinishedPoint],
    /// Points of its sweep that its store does not know: of shares that were not joined.
    pub(super) unknown: u64,
}

impl<'p> Points<'p> {
    /// The values on the axes and the replication of every point.
    fn all(self) -> impl Iterator<Item = (&'p [(String, AxisValue)], u32)> {
        let done = self.done.iter();
        let done = done.map(|point| (&point.axes[..], point.replication));
        let unfinished = self.unfinished.iter();
        done.chain(unfinished.map(|point| (&point.axes[..], point.replication)))
    }

    /// The axes of any of its points, in the order of the first that has them.
    pub(super) fn axes(self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let keys = self
            .all()
            .flat_map(|(axes, _)| axes.iter().map(|(key, _)| key));
        keys.filter(|key| seen.insert(key.as_str()))
            .cloned()
            .collect()
    }
}

/// A point of each of two runs, with the same values on the axes that both have and the same replication.
#[derive(Clone, Debug)]
pub struct Pair<'p> {
    /// Of the first run.
    pub one: &'p MeasuredPoint,
    /// Of the second run.
    pub two: &'p MeasuredPoint,
    /// The values on all axes of the first run.
    combination: String,
}

/// A point without a result that would have had a partner.
#[derive(Clone, Debug, PartialEq)]
pub struct Lacking<'p> {
    /// Whether it is of the second run.
    pub is_second: bool,
    /// The point.
    pub point: &'p UnfinishedPoint,
}

impl Lacking<'_> {
    /// `the second run lacks pof = 0.5, replication 3 (failed)`.
    #[must_use]
    pub fn text(&self) -> String {
        let which = if self.is_second { "second" } else { "first" };
        format!("the {which} run lacks {}", unfinished_text(self.point))
    }
}

/// `pof = 0.5, replication 3 (failed)`.
#[must_use]
pub fn unfinished_text(point: &UnfinishedPoint) -> String {
    let comma = if point.axes.is_empty() { "" } else { ", " };
    format!(
        "{}{comma}replication {} ({})",
        axes_text(&point.axes),
        point.replication,
        point.state
    )
}

/// The points of two runs, as far as they have partners.
#[derive(Debug)]
pub struct Pairing<'p> {
    /// In the order of the first run's sweep.
    pub pairs: Vec<Pair<'p>>,
    /// Points of the first run without a partner that has a result.
    pub only_first: Vec<&'p MeasuredPoint>,
    /// And of the second.
    pub only_second: Vec<&'p MeasuredPoint>,
    /// Points that stay alone because there is more than one candidate.
    pub ambiguous: usize,
    /// Axes that both runs have.
    pub axes: Vec<String>,
    /// Axes of the first run alone.
    pub axes_only_first: Vec<String>,
    /// Axes of the second run alone.
    pub axes_only_second: Vec<String>,
    /// Points that both sweeps have and that lack a result in one run. What is computed from them is refused: whatever kept them from
    /// their results may have to do with what is compared.
    pub lacking: Vec<Lacking<'p>>,
    /// Points of either sweep that its store does not know. Nobody can tell which statistics lack them, so all are refused.
    pub unknown: u64,
}

impl<'p> Pairing<'p> {
    /// Points with a result that have no partner.
    #[must_use]
    pub fn unpaired(&self) -> usize {
        self.only_first.len() + self.only_second.len()
    }

    /// Whether points are without a result that would have had a partner.
    #[must_use]
    pub fn is_lacking(&self) -> bool {
        !self.lacking.is_empty() || self.unknown > 0
    }

    /// Whether every pair is one stored result, which nothing was computed twice for. Means something inside one store only.
    #[must_use]
    pub fn is_one_result(&self) -> bool {
        !self.pairs.is_empty()
            && self
                .pairs
                .iter()
                .all(|pair| pair.one.simulation == pair.two.simulation)
    }

    /// Pairs points that have the same value on every axis that both runs have, and the same replication. Where that names
    /// several points of one run, none of them is paired: any choice would be arbitrary.
    pub(super) fn new(first: Points<'p>, second: Points<'p>) -> Self {
        let (ours, theirs) = (first.axes(), second.axes());
        let only = |these: &[String], others: &[String]| -> Vec<String> {
            let only = these.iter().filter(|key| !others.contains(key));
            only.cloned().collect()
        };
        let common: Vec<String> = ours
            .iter()
            .filter(|key| theirs.contains(key))
            .cloned()
            .collect();
        let mut candidates: BTreeMap<String, [Vec<&'p MeasuredPoint>; 2]> = BTreeMap::new();
        for (side, points) in [first, second].into_iter().enumerate() {
            for point in points.done {
                let key = key(&point.axes, point.replication, &common);
                candidates.entry(key).or_default()[side].push(point);
            }
        }
        let mut pairing = Self {
            lacking: lacking(first, second, &common),
            unknown: first.unknown + second.unknown,
            pairs: Vec::new(),
            only_first: Vec::new(),
            only_second: Vec::new(),
            ambiguous: 0,
            axes_only_first: only(&ours, &common),
            axes_only_second: only(&theirs, &common),
            axes: common,
        };
        for [ours, theirs] in candidates.into_values() {
            if let ([one], [two]) = (&ours[..], &theirs[..]) {
                pairing.pairs.push(Pair {
                    one,
                    two,
                    combination: axes_text(&one.axes),
                });
                continue;
            }
            if !ours.is_empty() && !theirs.is_empty() {
                pairing.ambiguous += ours.len() + theirs.len();
            }
            pairing.only_first.extend(ours);
            pairing.only_second.extend(theirs);
        }
        pairing.pairs.sort_by_key(|pair| pair.one.place);
        pairing.only_first.sort_by_key(|point| point.place);
        pairing.only_second.sort_by_key(|point| point.place);
        pairing
    }

    /// All pairs.
    #[must_use]
    pub fn whole(&self) -> Group<'p> {
        Group {
            values: Vec::new(),
            pairs: self.pairs.clone(),
            lacking: self.lacking.clone(),
            unknown: self.unknown,
        }
    }

    /// The pairs by their values on some axes, groups in the order of the first run's sweep; those of which no point has a result
    /// in both runs come last.
    #[must_use]
    pub fn groups(&self, axes: &[String]) -> Vec<Group<'p>> {
        let mut groups: Vec<Group<'p>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut group_of = |point: &[(String, AxisValue)], groups: &mut Vec<Group<'p>>| -> usize {
            let key = values_key(point, axes);
            *places.entry(key).or_insert_with(|| {
                groups.push(Group {
                    values: axes
                        .iter()
                        .map(|axis| value_of(point, axis).cloned())
                        .collect(),
                    pairs: Vec::new(),
                    lacking: Vec::new(),
                    unknown: self.unknown,
                });
                groups.len() - 1
            })
        };
        for pair in &self.pairs {
            let at = group_of(&pair.one.axes, &mut groups);
            groups[at].pairs.push(pair.clone());
        }
        for lacking in &self.lacking {
            let at = group_of(&lacking.point.axes, &mut groups);
            groups[at].lacking.push(lacking.clone());
        }
        groups
    }
}

/// Points without a result in one run that the other run has, with a result or without.
fn lacking<'p>(first: Points<'p>, second: Points<'p>, common: &[String]) -> Vec<Lacking<'p>> {
    let keys = |points: Points<'p>| -> BTreeSet<String> {
        let all = points.all();
        all.map(|(axes, replication)| key(axes, replication, common))
            .collect()
    };
    if first.unfinished.is_empty() && second.unfinished.is_empty() {
        return Vec::new();
    }
    let of = |points: Points<'p>, others: &BTreeSet<String>, is_second| -> Vec<Lacking<'p>> {
        let unfinished = points.unfinished.iter();
        let shared = unfinished
            .filter(|point| others.contains(&key(&point.axes, point.replication, common)));
        shared.map(|point| Lacking { is_second, point }).collect()
    };
    let mut found = of(first, &keys(second), false);
    found.extend(of(second, &keys(first), true));
    found
}

fn value_of<'v>(axes: &'v [(String, AxisValue)], axis: &str) -> Option<&'v AxisValue> {
    axes.iter()
        .find(|(name, _)| name == axis)
        .map(|(_, value)| value)
}

fn key(point: &[(String, AxisValue)], replication: u32, axes: &[String]) -> String {
    format!("{replication}{}", values_key(point, axes))
}

/// The same for two points with the same values on these axes.
pub(super) fn values_key(point: &[(String, AxisValue)], axes: &[String]) -> String {
    let mut key = String::new();
    for axis in axes {
        key.push('\u{1f}');
        match value_of(point, axis) {
            // 1 and 1.0 are the same value; a text that looks like a number is not.
            Some(AxisValue::Text(text)) => {
                key.push('"');
                key.push_str(text);
            }
            Some(value) => key.push_str(&shown(value)),
            None => {}
        }
    }
    key
}

/// Pairs that have the same values on some axes.
#[derive(Debug)]
pub struct Group<'p> {
    /// Those values.
    pub values: Vec<Option<AxisValue>>,
    /// The pairs.
    pub pairs: Vec<Pair<'p>>,
    /// Points without a result that belong to it.
    pub lacking: Vec<Lacking<'p>>,
    /// Points that may belong to it, and that no store knows.
    unknown: u64,
}

impl Group<'_> {
    /// Whether results are missing, so that nothing may be computed from the others.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.lacking.is_empty() || self.unknown > 0
    }
}

/// One quantity over the pairs of a group.
#[derive(Debug)]
pub struct Difference<'p> {
    /// Pairs of the group.
    pub pairs: usize,
    /// Of those, equal bit by bit.
    pub equal: usize,
    /// Mean of the first run over replications, where both runs have a value. `None` where the group lacks results.
    pub first: Option<f64>,
    /// And of the second.
    pub second: Option<f64>,
    /// Second − first: the unit is the replication, whose points are averaged first. Without an interval where replications do not
    /// have the same points; `None` where the group lacks results.
    pub difference: Option<Estimate>,
    /// Whether the group lacks results, so that nothing is computed from the others.
    pub is_refused: bool,
    /// Points that some replications lack and others have, each as `replication 2 lacks acceptance.pof_max = 0.5`.
    pub gaps: Vec<String>,
    /// The largest difference by size, and the point of the first run where it is; `None` inside where one of the two
    /// has no value and no pair with values differs.
    pub largest: Option<(Option<f64>, &'p MeasuredPoint)>,
}

impl<'p> Difference<'p> {
    /// Whether the numbers of any pair are not the same.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.equal < self.pairs
    }

    /// The p-value of the difference, where there is one to be tested.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        self.difference.filter(|_| self.differs())?.p_value()
    }

    /// What a quantity does between the runs of a group.
    #[must_use]
    pub fn of(quantity: &Quantity, group: &Group<'p>) -> Self {
        let mut equal = 0;
        let mut replications = Replications::default();
        let mut largest: Option<(Option<f64>, &MeasuredPoint)> = None;
        for pair in &group.pairs {
            let (first, second) = (quantity.of(pair.one), quantity.of(pair.two));
            let same = first.map(f64::to_bits) == second.map(f64::to_bits);
            equal += usize::from(same);
            if let Some(values) = first.zip(second) {
                replications.add(pair, values);
            }
            if !same {
                let value = first.zip(second).map(|(first, second)| second - first);
                let size = |value: Option<f64>| value.map_or(-1.0, f64::abs);
                if largest.is_none_or(|(largest, _)| size(value) > size(largest)) {
                    largest = Some((value, pair.one));
                }
            }
        }
        let is_refused = group.is_refused();
        let means = match is_refused {
            true => Vec::new(),
            false => replications.means(),
        };
        let estimate =
            |of: fn(&(f64, f64)) -> f64| Estimate::of(&means.iter().map(of).collect::<Vec<f64>>());
        let gaps = replications.gaps();
        let difference = estimate(|(first, second)| second - first).map(|estimate| {
            if gaps.is_empty() {
                estimate
            } else {
                Estimate::without_interval(estimate.count, estimate.mean)
            }
        });
        Self {
            pairs: group.pairs.len(),
            equal,
            first: estimate(|(first, _)| *first).map(|estimate| estimate.mean),
            second: estimate(|(_, second)| *second).map(|estimate| estimate.mean),
            difference,
            is_refused,
            gaps,
            largest,
        }
    }
}

/// What one replication has.
#[derive(Default)]
struct Replication<'p> {
    /// The places of its points by their combination of axis values.
    points: BTreeMap<&'p str, i64>,
    /// The values of both runs, one pair a result.
    values: Vec<(f64, f64)>,
}

/// Values of both runs by replication. Points of one replication share its jobs and failures, so they are no independent units; and
/// points that share their simulation and their prices (a baseline at every threshold) are one result, which counts once.
#[derive(Default)]
struct Replications<'p> {
    found: BTreeMap<u32, Replication<'p>>,
    results: BTreeSet<(&'p str, &'p str)>,
}

impl<'p> Replications<'p> {
    fn add(&mut self, pair: &'p Pair<'_>, values: (f64, f64)) {
        let replication = self.found.entry(pair.one.replication).or_default();
        replication.points.insert(&pair.combination, pair.one.place);
        if self
            .results
            .insert((&pair.one.identity, &pair.two.identity))
        {
            replication.values.push(values);
        }
    }

    fn means(&self) -> Vec<(f64, f64)> {
        let mean = |values: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
            values.iter().map(of).sum::<f64>() / values.len() as f64
        };
        let values = self.found.values().map(|replication| &replication.values);
        values
            .filter(|values| !values.is_empty())
            .map(|values| {
                (
                    mean(values, |(first, _)| *first),
                    mean(values, |(_, second)| *second),
                )
            })
            .collect()
    }

    fn gaps(&self) -> Vec<String> {
        let all: BTreeMap<&str, i64> = self
            .found
            .values()
            .flat_map(|replication| &replication.points)
            .map(|(combination, place)| (*combination, *place))
            .collect();
        let mut gaps = Vec::new();
        for (replication, found) in &self.found {
            let mut lacking: Vec<(i64, &str)> = all
                .iter()
                .filter(|(combination, _)| !found.points.contains_key(**combination))
                .map(|(combination, place)| (*place, *combination))
                .collect();
            lacking.sort_unstable();
            gaps.extend(
                lacking.iter().map(|(_, combination)| {
                    format!("replication {replication} lacks {combination}")
                }),
            );
        }
        gaps
    }
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
