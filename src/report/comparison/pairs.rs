//! Points of two runs in pairs, and what differs between the two of a pair.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::partners::{Beside, take};
use super::quantities::Quantity;
use super::workloads::{Method, nodes, without_pairs};
use crate::report::statistics::{Estimate, Welch};
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

/// A point of each of two runs, with the same values on the axes that both have, whose simulations saw the same jobs and failures.
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
    /// How they are compared.
    pub method: Method,
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
    /// Points of both runs at the settings that both have, where they are compared without pairs.
    beside: Vec<Beside<'p>>,
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

    /// Pairs points that have the same value on every axis that both runs have, and saw the same jobs and failures, whatever the numbers
    /// of their replications. Where that names several points of one run, none of them is paired: any choice would be arbitrary.
    pub(super) fn new(first: Points<'p>, second: Points<'p>, is_one_store: bool) -> Self {
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
        let mut settings: BTreeMap<String, Beside<'p>> = BTreeMap::new();
        for (side, points) in [first, second].into_iter().enumerate() {
            for point in points.done {
                let key = values_key(&point.axes, &common);
                settings.entry(key).or_default()[side].push(point);
            }
        }
        let mut settings: Vec<Beside<'p>> = settings.into_values().collect();
        let (mut found, mut ambiguous) = (Vec::new(), 0);
        for points in &mut settings {
            ambiguous += take(points, is_one_store, &mut found);
        }
        let only_of = |side: usize| {
            let mut only: Vec<&MeasuredPoint> = settings
                .iter()
                .flat_map(|points| &points[side])
                .copied()
                .collect();
            only.sort_by_key(|point| point.place);
            only
        };
        let (only_first, only_second) = (only_of(0), only_of(1));
        let mut pairs: Vec<Pair<'p>> = found
            .into_iter()
            .map(|(one, two)| Pair {
                one,
                two,
                combination: axes_text(&one.axes),
            })
            .collect();
        pairs.sort_by_key(|pair| pair.one.place);
        settings.retain(|[ours, theirs]| !ours.is_empty() && !theirs.is_empty());
        let method = if pairs.is_empty() && ambiguous == 0 && !settings.is_empty() {
            without_pairs(&settings)
        } else {
            Method::Paired
        };
        if method != Method::Welch {
            settings.clear();
        }
        settings.sort_by_key(|[ours, _]| ours.iter().map(|point| point.place).min());
        Self {
            lacking: lacking([first, second], [&only_first, &only_second], &common),
            unknown: first.unknown + second.unknown,
            method,
            pairs,
            only_first,
            only_second,
            ambiguous,
            axes_only_first: only(&ours, &common),
            axes_only_second: only(&theirs, &common),
            axes: common,
            beside: settings,
        }
    }

    /// The sizes of machines on which the same jobs are compared, as `128 and on 256`; empty where both machines are alike.
    #[must_use]
    pub fn machines(&self) -> Vec<String> {
        let mut known: HashMap<i64, [Option<u64>; 2]> = HashMap::new();
        let sizes = self.pairs.iter().map(|pair| {
            // Most pairs have the very same specification.
            if pair.one.spec == pair.two.spec {
                return [None, None];
            }
            *known
                .entry(pair.one.simulation)
                .or_insert_with(|| [nodes(pair.one), nodes(pair.two)])
        });
        let sizes: BTreeSet<(u64, u64)> = sizes
            .filter_map(|[one, two]| Some((one?, two?)))
            .filter(|(one, two)| one != two)
            .collect();
        let text = |(one, two): (u64, u64)| format!("{one} and on {two}");
        sizes.into_iter().map(text).collect()
    }

    /// Whether both of every pair met the same failures; machines of different sizes have failures of their own.
    #[must_use]
    pub fn has_same_failures(&self) -> bool {
        let mut pairs = self.pairs.iter();
        pairs.all(|pair| pair.one.seen.failures == pair.two.seen.failures)
    }

    /// How many replications of each run have no point with a partner.
    #[must_use]
    pub fn replications_alone(&self) -> [usize; 2] {
        let numbers = |points: &[&MeasuredPoint]| -> BTreeSet<u32> {
            points.iter().map(|point| point.replication).collect()
        };
        let paired =
            |of: fn(&Pair<'p>) -> u32| -> BTreeSet<u32> { self.pairs.iter().map(of).collect() };
        let first = paired(|pair| pair.one.replication);
        let second = paired(|pair| pair.two.replication);
        [
            numbers(&self.only_first).difference(&first).count(),
            numbers(&self.only_second).difference(&second).count(),
        ]
    }

    /// Whether the partners of all pairs have the same number of replication.
    pub(super) fn pairs_by_number(&self) -> bool {
        let mut pairs = self.pairs.iter();
        pairs.all(|pair| pair.one.replication == pair.two.replication)
    }

    /// The points that count, of both runs.
    pub fn compared(&self) -> impl Iterator<Item = &'p MeasuredPoint> {
        let paired = self.pairs.iter().flat_map(|pair| [pair.one, pair.two]);
        let beside = self.beside.iter().flatten().flatten().copied();
        paired.chain(beside)
    }

    /// All pairs.
    #[must_use]
    pub fn whole(&self) -> Group<'p> {
        Group {
            values: Vec::new(),
            pairs: self.pairs.clone(),
            lacking: self.lacking.clone(),
            unknown: self.unknown,
            method: self.method.clone(),
            beside: self.beside.clone(),
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
                    method: self.method.clone(),
                    beside: Vec::new(),
                });
                groups.len() - 1
            })
        };
        for pair in &self.pairs {
            let at = group_of(&pair.one.axes, &mut groups);
            groups[at].pairs.push(pair.clone());
        }
        for beside in &self.beside {
            let at = group_of(&beside[0][0].axes, &mut groups);
            groups[at].beside.push(beside.clone());
        }
        for lacking in &self.lacking {
            let at = group_of(&lacking.point.axes, &mut groups);
            groups[at].lacking.push(lacking.clone());
        }
        groups
    }
}

/// Points without a result in one run that the other run has, without a result or with one that found no partner. What points without a
/// result would have seen is not known, so that the number of the replication must do.
fn lacking<'p>(
    runs: [Points<'p>; 2],
    alone: [&[&'p MeasuredPoint]; 2],
    common: &[String],
) -> Vec<Lacking<'p>> {
    let keys = |side: usize| -> BTreeSet<String> {
        let unfinished = runs[side].unfinished.iter();
        let unfinished = unfinished.map(|point| key(&point.axes, point.replication, common));
        let alone = alone[side].iter();
        let alone = alone.map(|point| key(&point.axes, point.replication, common));
        unfinished.chain(alone).collect()
    };
    let mut found = Vec::new();
    for (side, other) in [(0, 1), (1, 0)] {
        if runs[side].unfinished.is_empty() {
            continue;
        }
        let others = keys(other);
        let unfinished = runs[side].unfinished.iter();
        let shared = unfinished
            .filter(|point| others.contains(&key(&point.axes, point.replication, common)));
        found.extend(shared.map(|point| Lacking {
            is_second: side == 1,
            point,
        }));
    }
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

/// Points of two runs that have the same values on some axes.
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
    method: Method,
    /// The points of both runs where they are compared without pairs.
    beside: Vec<Beside<'p>>,
}

impl<'p> Group<'p> {
    /// Whether results are missing, so that nothing may be computed from the others.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.lacking.is_empty() || self.unknown > 0
    }

    /// A point of the first run that counts; `None` where there is none.
    pub(super) fn example(&self) -> Option<&'p MeasuredPoint> {
        let pair = self.pairs.first().map(|pair| pair.one);
        pair.or_else(|| self.beside.first()?[0].first().copied())
    }
}

/// One quantity over the pairs of a group, or over the points of both runs where they are compared without pairs.
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
    /// have the same points; `None` where the group lacks results. Of two independent sets it counts the replications of the smaller.
    pub difference: Option<Estimate>,
    /// Replications of the first and of the second run that count: as many as there are pairs of them, or those of each set.
    pub replications: [u32; 2],
    /// How the runs are compared.
    pub method: Method,
    /// Whether the group lacks results, so that nothing is computed from the others.
    pub is_refused: bool,
    /// Points that some replications lack and others have, each as `replication 2 lacks acceptance.pof_max = 0.5`.
    pub gaps: Vec<String>,
    /// The largest difference by size, and the point of the first run where it is; `None` inside where one of the two
    /// has no value and no pair with values differs.
    pub largest: Option<(Option<f64>, &'p MeasuredPoint)>,
    /// The p-value of the difference of two independent sets.
    p_unpaired: Option<f64>,
}

impl<'p> Difference<'p> {
    /// Whether the numbers of any pair, or the means of two independent sets, are not the same.
    #[must_use]
    pub fn differs(&self) -> bool {
        let apart = self.difference.is_some_and(|estimate| estimate.mean != 0.0);
        self.equal < self.pairs || (self.method == Method::Welch && apart)
    }

    /// The p-value of the difference, where there is one to be tested.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        let difference = self.difference.filter(|_| self.differs())?;
        match self.method {
            Method::Welch => self.p_unpaired,
            _ => difference.p_value(),
        }
    }

    /// Two independent sets of replications.
    fn unpaired(quantity: &Quantity, group: &Group<'p>) -> Self {
        let is_refused = group.is_refused();
        let of = |side: usize| {
            let mut sets = Set::default();
            let points = group.beside.iter().flat_map(|beside| &beside[side]);
            points
                .filter(|_| !is_refused)
                .for_each(|point| sets.add(point, quantity.of(point)));
            sets.means()
        };
        let (first, second) = (of(0), of(1));
        let welch = Welch::of(&first, &second);
        let count = |values: &[f64]| u32::try_from(values.len()).unwrap_or(u32::MAX);
        let mean = |values: &[f64]| Estimate::of(values).map(|estimate| estimate.mean);
        Self {
            pairs: 0,
            equal: 0,
            first: mean(&first),
            second: mean(&second),
            difference: welch.map(|welch| welch.difference),
            replications: [count(&first), count(&second)],
            method: group.method.clone(),
            is_refused,
            gaps: Vec::new(),
            largest: None,
            p_unpaired: welch.and_then(|welch| welch.p_value),
        }
    }

    /// What a quantity does between the runs of a group.
    #[must_use]
    pub fn of(quantity: &Quantity, group: &Group<'p>) -> Self {
        if group.method == Method::Welch {
            return Self::unpaired(quantity, group);
        }
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
                Estimate {
                    deviation: None,
                    half_width: None,
                    ..estimate
                }
            }
        });
        Self {
            pairs: group.pairs.len(),
            equal,
            first: estimate(|(first, _)| *first).map(|estimate| estimate.mean),
            second: estimate(|(_, second)| *second).map(|estimate| estimate.mean),
            replications: [difference.map_or(0, |estimate| estimate.count); 2],
            difference,
            method: group.method.clone(),
            is_refused,
            gaps,
            largest,
            p_unpaired: None,
        }
    }
}

/// Values of one run by replication, those of one result once.
#[derive(Default)]
struct Set<'p>(BTreeMap<u32, BTreeMap<&'p str, f64>>);

impl<'p> Set<'p> {
    fn add(&mut self, point: &'p MeasuredPoint, value: Option<f64>) {
        if let Some(value) = value {
            let results = self.0.entry(point.replication).or_default();
            results.insert(&point.identity, value);
        }
    }

    fn means(self) -> Vec<f64> {
        let mean =
            |results: BTreeMap<&str, f64>| results.values().sum::<f64>() / results.len() as f64;
        self.0.into_values().map(mean).collect()
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
