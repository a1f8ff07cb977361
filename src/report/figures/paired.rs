//! Differences between settings that saw the same jobs, replication by replication.

use std::collections::{BTreeMap, HashMap};

use super::drawn::Drawn;
use crate::report::analysis::Combination;
use crate::report::figure::{Mark, Paired};
use crate::report::statistics::Estimate;
use crate::store::PointColumns;

/// The points of a run by combination.
pub(in crate::report) struct Pairs<'p> {
    points: &'p PointColumns,
    of: HashMap<(Vec<Option<u32>>, &'p str), Vec<usize>>,
}

impl<'p> Pairs<'p> {
    pub(in crate::report) fn new(points: &'p PointColumns) -> Self {
        let mut of: HashMap<_, Vec<usize>> = HashMap::new();
        for point in 0..points.len() {
            let places = (points.axes.iter())
                .map(|column| column.positions[point])
                .collect();
            of.entry((places, points.strategy[point].as_str()))
                .or_default()
                .push(point);
        }
        Self { points, of }
    }

    /// How much more the first combination has of a quantity than the second, over the replications in which both have it;
    /// `None` where there is none.
    pub(in crate::report) fn difference(
        &self,
        quantity: &Drawn,
        one: &Combination,
        other: &Combination,
    ) -> Option<Estimate> {
        let (ones, others) = (self.values(quantity, one), self.values(quantity, other));
        let differences: Vec<f64> = ones
            .iter()
            .filter_map(|(replication, value)| Some(value - others.get(replication)?))
            .collect();
        if differences.is_empty() {
            return None;
        }
        Estimate::of(&differences)
    }

    /// A quantity of a combination by replication.
    fn values(&self, quantity: &Drawn, combination: &Combination) -> BTreeMap<u32, f64> {
        let key = (combination.places.clone(), combination.strategy.as_str());
        let points = self.of.get(&key).map_or(&[][..], Vec::as_slice);
        points
            .iter()
            .filter_map(|point| {
                Some((
                    self.points.replication[*point],
                    quantity.value(self.points, *point)?,
                ))
            })
            .collect()
    }
}

impl From<Estimate> for Paired {
    fn from(difference: Estimate) -> Self {
        Self {
            mean: difference.mean,
            interval: difference.low().zip(difference.high()),
        }
    }
}

/// The marks of a line, in order of x, each with the combination that it is made of.
pub(super) type Line<'a> = Vec<(Mark, &'a Combination)>;

impl Pairs<'_> {
    /// The marks of a line, each with its difference from the mark of the reference line at the same place.
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
