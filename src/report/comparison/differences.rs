//! Differences between the points of two runs: over pairs, or between two independent sets of
//! replications.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::pairs::{Group, Pair};
use super::quantities::Quantity;
use super::workloads::Method;
use crate::statistics::{Estimate, Neighbours, Replicated, Welch};
use crate::table::axes_text;
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::MeasuredPoint;

/// One quantity over the pairs of a group, or over the points of both runs where they are compared
/// without pairs.
#[derive(Debug)]
pub struct Difference<'p> {
    /// Pairs of the group.
    pub pairs: usize,
    /// Of those, equal bit by bit.
    pub equal: usize,
    /// Strategies of which every pair is equal while other strategies differ. Means are over the
    /// other strategies alone: pooled, these would only make the difference smaller.
    pub unchanged: BTreeSet<&'p str>,
    /// Mean of the first run over replications, where both runs have a value. `None` where the
    /// group lacks results.
    pub first: Option<f64>,
    /// And of the second.
    pub second: Option<f64>,
    /// Second − first: the unit is the replication, whose points are averaged first. Without an
    /// interval where replications do not have the same points; `None` where the group lacks
    /// results. Of two independent sets it counts the replications of the smaller. Replications
    /// whose results repeat those of another one count once.
    pub difference: Option<Estimate>,
    /// What the differences say of the log whose neighbouring stretches the replications are;
    /// `None` where they are none, and where that cannot be measured.
    pub log: Option<Neighbours>,
    /// Replications of the first and of the second run that count: as many as there are pairs of
    /// them, or those of each set.
    pub replications: [u32; 2],
    /// How the runs are compared.
    pub method: Method,
    /// Whether the group lacks results, so that nothing is computed from the others.
    pub is_refused: bool,
    /// Points that some replications lack and others have, each as
    /// `replication 2 lacks acceptance.pof_max = 0.5`.
    pub gaps: Vec<String>,
    /// The largest difference by size, and the point of the first run where it is; `None` inside
    /// where one of the two has no value and no pair with values differs.
    pub largest: Option<(Option<f64>, &'p MeasuredPoint)>,
    /// The p-value of the difference of two independent sets.
    p_unpaired: Option<f64>,
    /// What was tested: the differences of pairs, or the values of two independent sets minus their
    /// common mean.
    tested: Vec<f64>,
}

impl<'p> Difference<'p> {
    /// Whether the numbers of any pair, or the means of two independent sets, are not the same.
    #[must_use]
    pub fn differs(&self) -> bool {
        let apart = self.difference.is_some_and(|estimate| estimate.mean != 0.0);
        self.equal < self.pairs || (self.method == Method::Welch && apart)
    }

    /// The p-value of the difference, where there is one to be tested: by the interval about the
    /// log where that is wider than the one about these replications.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        let paired = self.paired().filter(|_| self.differs())?;
        match self.method {
            Method::Welch => self.p_unpaired,
            _ => paired.p_value(),
        }
    }

    /// The difference with what it says of the log.
    #[must_use]
    pub fn paired(&self) -> Option<Replicated> {
        let estimate = self.difference?;
        Some(Replicated {
            estimate,
            log: self.log,
        })
    }

    /// Whether its test is that of another difference between the same replications: what was
    /// tested is the same but for a factor.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        let product = |one: &[f64], two: &[f64]| -> f64 {
            one.iter().zip(two).map(|(one, two)| one * two).sum()
        };
        let (own, others) = (
            product(&self.tested, &self.tested),
            product(&other.tested, &other.tested),
        );
        let both = product(&self.tested, &other.tested);
        self.method == other.method
            && self.replications == other.replications
            && self.tested.len() == other.tested.len()
            && own > 0.0
            && others > 0.0
            // Vectors point the same way or the opposite one, but for the rounding of sums.
            && (both / own.sqrt() / others.sqrt()).abs() > 1.0 - 1e-12
    }

    /// Two independent sets of replications.
    fn unpaired(quantity: &Quantity, group: &Group<'p>) -> Self {
        let is_refused = group.is_refused();
        let of = |side: usize, whose: &str| {
            let mut sets = Set::default();
            let mut combinations: BTreeMap<u32, Combinations<'_>> = BTreeMap::new();
            let points = group.matching.iter().flat_map(|matching| &matching[side]);
            for point in points.filter(|_| !is_refused) {
                let value = quantity.of(point);
                if value.is_some() {
                    let own = combinations.entry(point.replication).or_default();
                    own.insert(combination(point), point);
                }
                sets.add(point, value);
            }
            let found = combinations
                .iter()
                .map(|(replication, own)| (*replication, own));
            (sets.means(), gaps(whose, found))
        };
        let (first, mut gaps) = of(0, " of the first run");
        let (second, more) = of(1, " of the second run");
        gaps.extend(more);
        let welch = Welch::of(&first, &second);
        let difference = welch.as_ref().map(|welch| match gaps.is_empty() {
            true => welch.difference,
            false => Estimate::without_interval(welch.difference.count, welch.difference.mean),
        });
        let count = |values: &[f64]| u32::try_from(values.len()).unwrap_or(u32::MAX);
        let mean = |values: &[f64]| Estimate::of(values).map(|estimate| estimate.mean);
        let all: Vec<f64> = first.iter().chain(&second).copied().collect();
        let middle = mean(&all).unwrap_or(0.0);
        Self {
            pairs: 0,
            equal: 0,
            unchanged: BTreeSet::new(),
            first: mean(&first),
            second: mean(&second),
            difference,
            log: None,
            replications: [count(&first), count(&second)],
            method: group.method.clone(),
            is_refused,
            p_unpaired: (welch.filter(|_| gaps.is_empty())).and_then(|welch| welch.p_value),
            gaps,
            largest: None,
            tested: all.into_iter().map(|value| value - middle).collect(),
        }
    }

    /// What a quantity does between the runs of a group.
    #[must_use]
    pub fn of(quantity: &Quantity, group: &Group<'p>) -> Self {
        if group.method == Method::Welch {
            return Self::unpaired(quantity, group);
        }
        let mut equal = 0;
        let unchanged = unchanged(quantity, &group.pairs);
        let mut replications = Replications::default();
        let mut largest: Option<(Option<f64>, &MeasuredPoint)> = None;
        for pair in &group.pairs {
            let (first, second) = (quantity.of(pair.one), quantity.of(pair.two));
            let same = is_same(first, second);
            equal += usize::from(same);
            if unchanged.contains(&*pair.one.strategy) {
                continue;
            }
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
            true => BTreeMap::new(),
            false => replications.means(),
        };
        let mean = |of: fn(&(f64, f64)) -> f64| -> Option<f64> {
            let values: Vec<f64> = means.values().map(of).collect();
            Estimate::of(&values).map(|estimate| estimate.mean)
        };
        let differences: BTreeMap<u32, f64> = means
            .iter()
            .map(|(replication, (first, second))| (*replication, second - first))
            .collect();
        let gaps = replications.gaps();
        let found = Replicated::of(&differences, QuantityKind::Signed, group.are_neighbours);
        let (difference, log) = match found {
            Some(found) if gaps.is_empty() => (Some(found.estimate), found.log),
            Some(Replicated { estimate, .. }) => {
                let bare = Estimate::without_interval(estimate.count, estimate.mean);
                (Some(bare), None)
            }
            None => (None, None),
        };
        Self {
            pairs: group.pairs.len(),
            equal,
            unchanged,
            first: mean(|(first, _)| *first),
            second: mean(|(_, second)| *second),
            replications: [difference.map_or(0, |estimate| estimate.count); 2],
            difference,
            log,
            method: group.method.clone(),
            is_refused,
            gaps,
            largest,
            p_unpaired: None,
            tested: differences.into_values().collect(),
        }
    }
}

/// Whether two values are the same bit by bit, or both undefined.
fn is_same(first: Option<f64>, second: Option<f64>) -> bool {
    first.map(f64::to_bits) == second.map(f64::to_bits)
}

/// The strategies of which every pair has the same values, where another strategy has a pair that
/// differs; none where nothing differs.
fn unchanged<'p>(quantity: &Quantity, pairs: &[Pair<'p>]) -> BTreeSet<&'p str> {
    let (mut all, mut changed) = (BTreeSet::new(), BTreeSet::new());
    for pair in pairs {
        let strategy = &*pair.one.strategy;
        all.insert(strategy);
        if !changed.contains(strategy) && !is_same(quantity.of(pair.one), quantity.of(pair.two)) {
            changed.insert(strategy);
        }
    }
    match changed.is_empty() {
        true => changed,
        false => all.difference(&changed).copied().collect(),
    }
}

/// The values of one replication by result, each with the place of the first point that has it.
type Results<'p> = BTreeMap<&'p str, (i64, f64)>;

/// Values of one run by replication, those of one result once.
#[derive(Default)]
pub(super) struct Set<'p>(BTreeMap<u32, Results<'p>>);

impl<'p> Set<'p> {
    /// Adds the value of a point, where it has one.
    pub(super) fn add(&mut self, point: &'p MeasuredPoint, value: Option<f64>) {
        if let Some(value) = value {
            let results = self.0.entry(point.replication).or_default();
            results.insert(&point.identity, (point.original, value));
        }
    }

    /// The mean of each replication that repeats no earlier one.
    pub(super) fn means(self) -> Vec<f64> {
        let mut known = HashSet::new();
        let mean = |results: Results<'_>| {
            let originals: BTreeSet<i64> =
                results.values().map(|(original, _)| *original).collect();
            let sum: f64 = results.values().map(|(_, value)| value).sum();
            known.insert(originals).then(|| sum / results.len() as f64)
        };
        self.0.into_values().filter_map(mean).collect()
    }
}

/// What tells a point's combination of axis values from others of its run: their places follow one
/// another, by replication.
fn combination(point: &MeasuredPoint) -> i64 {
    point.place - i64::from(point.replication)
}

/// What one replication has.
#[derive(Default)]
struct Replication<'p> {
    /// Its points of the first run by their combination of axis values.
    points: Combinations<'p>,
    /// The values of both runs, one pair a result.
    values: Vec<(f64, f64)>,
    /// Where each of these results was first: the same in a replication that repeats another one.
    originals: BTreeSet<(i64, i64)>,
}

/// Values of both runs by replication. Points of one replication share its jobs and failures, so
/// they are no independent units; and points that share their simulation and their prices (a
/// baseline at every threshold) are one result, which counts once.
#[derive(Default)]
struct Replications<'p> {
    found: BTreeMap<u32, Replication<'p>>,
    results: HashSet<u32>,
}

impl<'p> Replications<'p> {
    fn add(&mut self, pair: &Pair<'p>, values: (f64, f64)) {
        let replication = self.found.entry(pair.one.replication).or_default();
        let combination = i64::from(pair.combination);
        replication.points.insert(combination, pair.one);
        if self.results.insert(pair.result) {
            replication.values.push(values);
            let originals = (pair.one.original, pair.two.original);
            replication.originals.insert(originals);
        }
    }

    /// The means of both runs by replication, without replications that repeat an earlier one.
    fn means(&self) -> BTreeMap<u32, (f64, f64)> {
        let mean = |values: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
            values.iter().map(of).sum::<f64>() / values.len() as f64
        };
        let mut known = HashSet::new();
        self.found
            .iter()
            .filter(|(_, own)| !own.values.is_empty() && known.insert(&own.originals))
            .map(|(replication, own)| {
                let first = mean(&own.values, |(first, _)| *first);
                let second = mean(&own.values, |(_, second)| *second);
                (*replication, (first, second))
            })
            .collect()
    }

    fn gaps(&self) -> Vec<String> {
        let found = self.found.iter();
        gaps(
            "",
            found.map(|(replication, own)| (*replication, &own.points)),
        )
    }
}

/// Points of one combination of axis values each, by what tells the combination from others.
type Combinations<'p> = BTreeMap<i64, &'p MeasuredPoint>;

/// Points that some replications lack and others have; `whose` follows the replication.
fn gaps<'a, 'p: 'a>(
    whose: &str,
    found: impl Iterator<Item = (u32, &'a Combinations<'p>)> + Clone,
) -> Vec<String> {
    let of_all = found.clone().flat_map(|(_, points)| points);
    let all: Combinations<'_> = of_all.map(|(key, point)| (*key, *point)).collect();
    let mut gaps = Vec::new();
    for (replication, points) in found {
        let others = all.iter();
        let mut lacking: Vec<&MeasuredPoint> = others
            .filter(|(combination, _)| !points.contains_key(combination))
            .map(|(_, point)| *point)
            .collect();
        lacking.sort_unstable_by_key(|point| point.place);
        gaps.extend(lacking.iter().map(|point| {
            let axes = axes_text(&point.axes);
            format!("replication {replication}{whose} lacks {axes}")
        }));
    }
    gaps
}
