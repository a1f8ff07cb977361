//! Additions to the marks of a line: differences between settings that saw the same jobs,
//! replication by replication, and published numbers.

use std::collections::{BTreeMap, HashSet};

use super::drawn::Drawn;
use crate::analysis::{Analysis, Combination, STRATEGY_AXIS};
use crate::figure::{Mark, Paired, PublishedMark};
use crate::statistics::Replicated;
use crate::{PublishedNumber, PublishedOfRun};
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::PointColumns;
use bookahead_lab::sweep::AxisValue;

/// The points of an analysis, and what a paper says of their run.
pub struct Pairs<'p> {
    points: &'p PointColumns,
    published: &'p PublishedOfRun,
    /// Whether replications are neighbouring stretches of one log.
    are_neighbours: bool,
}

impl<'p> Pairs<'p> {
    /// Of these points, beside what was published of their run.
    pub fn new(points: &'p PointColumns, published: &'p PublishedOfRun) -> Self {
        Self {
            points,
            published,
            are_neighbours: false,
        }
    }

    /// The same where replications are neighbouring stretches of one log, or are not.
    pub(crate) fn of_neighbours(self, are_neighbours: bool) -> Self {
        Self {
            are_neighbours,
            ..self
        }
    }

    /// Whether replications are neighbouring stretches of one log, so that claims rest on the wider
    /// of two intervals.
    pub(crate) fn are_neighbours(&self) -> bool {
        self.are_neighbours
    }

    /// How much more the first combination has of a quantity than the second, over the replications
    /// in which both have it and saw the same jobs and failures, pairs that repeat another one left
    /// out; `None` where there is none.
    pub(crate) fn difference(
        &self,
        quantity: &Drawn,
        one: &Combination,
        other: &Combination,
    ) -> Option<Replicated> {
        let (ones, others) = (self.values(quantity, one), self.values(quantity, other));
        let mut known = HashSet::new();
        let original = |point: usize| self.points.original[point];
        let differences: BTreeMap<u32, f64> = ones
            .iter()
            .filter_map(|own| {
                let at = others.binary_search_by_key(&own.replication, |it| it.replication);
                let other = &others[at.ok()?];
                (self.points.is_pair(own.point, other.point)
                    && known.insert([original(own.point), original(other.point)]))
                .then_some((own.replication, own.value - other.value))
            })
            .collect();
        Replicated::of(&differences, QuantityKind::Signed, self.are_neighbours)
    }

    /// A quantity of these combinations, replication by replication in one order for all; `None`
    /// where they do not all have it in the same replications, or did not see the same jobs and
    /// failures there.
    pub fn together(
        &self,
        quantity: &Drawn,
        combinations: &[&Combination],
    ) -> Option<Vec<Vec<f64>>> {
        let by_replication = combinations.iter();
        let by_replication: Vec<_> = by_replication
            .map(|combination| self.values(quantity, combination))
            .collect();
        let first = by_replication.first()?;
        let is_same = by_replication.iter().all(|values| {
            values.len() == first.len()
                && values.iter().zip(first).all(|(own, first)| {
                    own.replication == first.replication
                        && self.points.is_pair(first.point, own.point)
                })
        });
        if !is_same {
            return None;
        }
        let mut known = HashSet::new();
        let counted: Vec<usize> = (0..first.len())
            .filter(|at| {
                let results = by_replication.iter();
                let originals = results.map(|values| self.points.original[values[*at].point]);
                known.insert(originals.collect::<Vec<usize>>())
            })
            .collect();
        let values = by_replication.iter();
        let values = values.map(|values| counted.iter().map(|at| values[*at].value).collect());
        Some(values.collect())
    }

    /// A quantity of a combination over its replications; `None` where it has no value.
    pub(crate) fn replicated(
        &self,
        quantity: &Drawn,
        analysis: &Analysis,
        combination: &Combination,
    ) -> Option<Replicated> {
        let values = self.values(quantity, combination).into_iter();
        let values = values
            .filter(|own| !self.points.is_repetition(own.point))
            .map(|own| (own.replication, own.value));
        let kind = quantity.kind(analysis);
        Replicated::of(&values.collect(), kind, self.are_neighbours)
    }

    /// A quantity of a combination in the order of replications, of which each has one point.
    fn values(&self, quantity: &Drawn, combination: &Combination) -> Vec<OfReplication> {
        let points = combination.points.iter();
        let mut values: Vec<OfReplication> = points
            .filter_map(|point| {
                Some(OfReplication {
                    replication: self.points.replication[*point],
                    point: *point,
                    value: quantity.value(self.points, *point)?,
                })
            })
            .collect();
        // Of several points the last one.
        values.reverse();
        values.sort_by_key(|own| own.replication);
        values.dedup_by_key(|own| own.replication);
        values
    }
}

/// A quantity in a replication.
struct OfReplication {
    replication: u32,
    /// The point that has it.
    point: usize,
    value: f64,
}

/// About these replications, as the marks beside it are.
impl From<Replicated> for Paired {
    fn from(difference: Replicated) -> Self {
        let estimate = difference.estimate;
        Self {
            mean: estimate.mean,
            interval: estimate.low().zip(estimate.high()),
        }
    }
}

/// The marks of a line, in order of x, each with the combination that it is made of.
pub(super) type Line<'a> = Vec<(Mark, &'a Combination)>;

impl Pairs<'_> {
    /// The marks of a line, each with its difference from the mark of the reference line at the
    /// same place.
    pub(super) fn marks(
        &self,
        quantity: &Drawn,
        line: &[(Mark, &Combination)],
        reference: &[(Mark, &Combination)],
    ) -> Vec<Mark> {
        line.iter()
            .map(|(mark, combination)| {
                let beside = reference.iter().find(|(other, _)| other.x == mark.x);
                let difference =
                    beside.and_then(|(_, other)| self.difference(quantity, combination, other));
                Mark {
                    paired: difference.map(Paired::from),
                    ..*mark
                }
            })
            .collect()
    }
}

impl Pairs<'_> {
    /// What was published of the marks of a line: of single ones where they are, of all of them at
    /// the first one.
    pub(super) fn published(
        &self,
        quantity: &Drawn,
        analysis: &Analysis,
        line: &[(Mark, &Combination)],
    ) -> Vec<PublishedMark> {
        let mut found: Vec<PublishedMark> = Vec::new();
        for published in &self.published.numbers {
            let Some(factor) = quantity.factor_of(&published.measure) else {
                continue;
            };
            let holds = |combination: &Combination| {
                let strategy = AxisValue::Text(combination.strategy.clone());
                published.holds_at(|key| {
                    let axis = analysis.axes.iter().position(|axis| axis.key == key);
                    match axis {
                        Some(axis) => analysis.value(combination, axis),
                        None if key == STRATEGY_AXIS => Some(&strategy),
                        None => None,
                    }
                })
            };
            let places: Vec<f64> = (line.iter())
                .filter(|(_, combination)| holds(combination))
                .map(|(mark, _)| mark.x)
                .collect();
            let is_everywhere = places.len() > 1 && places.len() == line.len();
            let shown = if is_everywhere { 1 } else { places.len() };
            found.extend(places.iter().take(shown).map(|x| PublishedMark {
                x: *x,
                until: places.last().copied().filter(|_| is_everywhere),
                number: published.number.scaled(factor),
                id: published.id.clone(),
            }));
        }
        found
    }

    /// Puts the quantity first that a paper is about: of which it publishes most values, then of
    /// which it says most.
    pub(crate) fn in_order(&self, mut quantities: Vec<Drawn>) -> Vec<Drawn> {
        let values = |quantity: &Drawn| {
            let numbers = self.published.numbers.iter().filter(|published| {
                matches!(published.number, PublishedNumber::Value { .. })
                    && quantity.factor_of(&published.measure).is_some()
            });
            numbers.count()
        };
        let statements = |quantity: &Drawn| {
            let names = self.published.measures.iter();
            names
                .filter(|name| quantity.factor_of(name).is_some())
                .count()
        };
        let rank = |quantity: &Drawn| (values(quantity), statements(quantity));
        // Of equal ones the first.
        let first = (0..quantities.len())
            .rev()
            .max_by_key(|index| rank(&quantities[*index]));
        if let Some(first) = first.filter(|index| rank(&quantities[*index]) > (0, 0)) {
            quantities[..=first].rotate_right(1);
        }
        quantities
    }
}
