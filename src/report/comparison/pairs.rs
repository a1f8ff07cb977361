//! Points of two runs in pairs.

use std::collections::{BTreeSet, HashMap};

use super::partners::{MatchingPoints, take};
use super::workloads::{Method, nodes, without_pairs};
use crate::frames::{beside, numbers};
use crate::table::axes_text;
use bookahead_lab::store::{MeasuredPoint, UnfinishedPoint};
use bookahead_lab::sweep::{AxisValue, shown};

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

/// A point of each of two runs, with the same values on the axes that both have, whose simulations
/// saw the same jobs and failures.
#[derive(Clone, Debug)]
pub struct Pair<'p> {
    /// Of the first run.
    pub one: &'p MeasuredPoint,
    /// Of the second run.
    pub two: &'p MeasuredPoint,
    /// The same number for the same values on all axes of the first run.
    pub(super) combination: u32,
    /// The same number for the same two results.
    pub(super) result: u32,
}

/// A point without a result that would have had a partner.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingPoint<'p> {
    /// Whether it is of the second run.
    pub is_second: bool,
    /// The point.
    pub point: &'p UnfinishedPoint,
}

impl MissingPoint<'_> {
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
#[derive(Clone, Debug)]
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
    /// Points that both sweeps have and that lack a result in one run. What is computed from them
    /// is refused: whatever kept them from their results may have to do with what is compared.
    pub missing: Vec<MissingPoint<'p>>,
    /// Points of either sweep that its store does not know. It is not known which statistics lack
    /// them, so all are refused.
    pub unknown: u64,
    /// Points of both runs at the settings that both have, where they are compared without pairs.
    matching: Vec<MatchingPoints<'p>>,
    /// Whether replications are neighbouring stretches of one log.
    are_neighbours: bool,
}

impl<'p> Pairing<'p> {
    /// The same where replications are neighbouring stretches of one log, or are not.
    pub(super) fn of_neighbours(self, are_neighbours: bool) -> Self {
        Self {
            are_neighbours,
            ..self
        }
    }

    /// Whether replications are neighbouring stretches of one log.
    #[must_use]
    pub fn are_neighbours(&self) -> bool {
        self.are_neighbours
    }

    /// Points with a result that have no partner.
    #[must_use]
    pub fn unpaired(&self) -> usize {
        self.only_first.len() + self.only_second.len()
    }

    /// Whether points are without a result that would have had a partner.
    #[must_use]
    pub fn has_missing_points(&self) -> bool {
        !self.missing.is_empty() || self.unknown > 0
    }

    /// Whether every pair is one stored result, which nothing was computed twice for. Means
    /// something inside one store only.
    #[must_use]
    pub fn is_one_result(&self) -> bool {
        !self.pairs.is_empty()
            && self
                .pairs
                .iter()
                .all(|pair| pair.one.simulation == pair.two.simulation)
    }

    /// The same without the pairs of some strategies.
    pub(super) fn without_strategies(&self, names: &BTreeSet<&str>) -> Self {
        let mut others = self.clone();
        let is_other = |pair: &Pair<'_>| !names.contains(pair.one.strategy.as_str());
        others.pairs.retain(is_other);
        others
    }

    /// How many results the settings have: a baseline that reads no threshold has one at all of
    /// them.
    #[must_use]
    pub fn distinct_settings(&self) -> usize {
        let results = |group: &Group<'p>| -> BTreeSet<[&'p str; 2]> {
            let pairs = group.pairs.iter();
            let pairs = pairs.map(|pair| [&*pair.one.identity, &*pair.two.identity]);
            let matching = group.matching.iter().flatten().flatten();
            pairs
                .chain(matching.map(|point| [&*point.identity, ""]))
                .collect()
        };
        let groups = self.groups(&self.axes);
        groups.iter().map(results).collect::<BTreeSet<_>>().len()
    }

    /// Pairs points that have the same value on every axis that both runs have, and saw the same
    /// jobs and failures, whatever the numbers of their replications. Where that names several
    /// points of one run, none of them is paired: any choice would be arbitrary.
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
        let done = [first, second].map(|points| points.done.iter().collect());
        let settings = beside(done, |point: &&MeasuredPoint| {
            values_key(&point.axes, &common)
        });
        let mut settings: Vec<MatchingPoints<'p>> = settings.into_values().collect();
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
        found.sort_by_key(|(one, _)| one.place);
        let combinations = numbers(found.iter().map(|(one, _)| values_key(&one.axes, &ours)));
        let results = numbers(
            found
                .iter()
                .map(|(one, two)| [&one.identity, &two.identity]),
        );
        let pairs: Vec<Pair<'p>> = (found.iter().zip(combinations).zip(results))
            .map(|(((one, two), combination), result)| Pair {
                one,
                two,
                combination,
                result,
            })
            .collect();
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
            missing: missing_points([first, second], [&only_first, &only_second], &common),
            unknown: first.unknown + second.unknown,
            method,
            pairs,
            only_first,
            only_second,
            ambiguous,
            axes_only_first: only(&ours, &common),
            axes_only_second: only(&theirs, &common),
            axes: common,
            matching: settings,
            are_neighbours: false,
        }
    }

    /// The sizes of machines on which the same jobs are compared, as `128 and on 256`; empty where
    /// both machines are alike.
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

    /// Whether both of every pair met the same failures; machines of different sizes have failures
    /// of their own.
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
        let matching = self.matching.iter().flatten().flatten().copied();
        paired.chain(matching)
    }

    /// All pairs.
    #[must_use]
    pub fn whole(&self) -> Group<'p> {
        Group {
            values: Vec::new(),
            pairs: self.pairs.clone(),
            missing: self.missing.clone(),
            unknown: self.unknown,
            method: self.method.clone(),
            matching: self.matching.clone(),
            are_neighbours: self.are_neighbours,
        }
    }

    /// The pairs by their values on some axes, groups in the order of the first run's sweep; those
    /// of which no point has a result in both runs come last.
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
                    missing: Vec::new(),
                    unknown: self.unknown,
                    method: self.method.clone(),
                    matching: Vec::new(),
                    are_neighbours: self.are_neighbours,
                });
                groups.len() - 1
            })
        };
        let mut of_combination: HashMap<u32, usize> = HashMap::new();
        for pair in &self.pairs {
            let at = *(of_combination.entry(pair.combination))
                .or_insert_with(|| group_of(&pair.one.axes, &mut groups));
            groups[at].pairs.push(pair.clone());
        }
        for matching in &self.matching {
            let at = group_of(&matching[0][0].axes, &mut groups);
            groups[at].matching.push(matching.clone());
        }
        for lack in &self.missing {
            let at = group_of(&lack.point.axes, &mut groups);
            groups[at].missing.push(lack.clone());
        }
        groups
    }
}

/// Points without a result in one run that the other run has, without a result or with one that
/// found no partner. What points without a result would have seen is not known, so that the number
/// of the replication must do.
fn missing_points<'p>(
    runs: [Points<'p>; 2],
    alone: [&[&'p MeasuredPoint]; 2],
    common: &[String],
) -> Vec<MissingPoint<'p>> {
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
        found.extend(shared.map(|point| MissingPoint {
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
    pub missing: Vec<MissingPoint<'p>>,
    /// Points that may belong to it, and that no store knows.
    unknown: u64,
    pub(super) method: Method,
    /// The points of both runs where they are compared without pairs.
    pub(super) matching: Vec<MatchingPoints<'p>>,
    /// Whether replications are neighbouring stretches of one log.
    pub(super) are_neighbours: bool,
}

impl<'p> Group<'p> {
    /// Whether results are missing, so that nothing may be computed from the others.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.missing.is_empty() || self.unknown > 0
    }

    /// A point of the first run that counts; `None` where there is none.
    pub(super) fn example(&self) -> Option<&'p MeasuredPoint> {
        let pair = self.pairs.first().map(|pair| pair.one);
        pair.or_else(|| self.matching.first()?[0].first().copied())
    }
}

#[cfg(test)]
mod tests;
