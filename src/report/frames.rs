//! Points of a run as Polars frames: which of them are alike in some respect, and what a quantity
//! comes to in each group of them. Nothing else calls Polars.
//!
//! A frame has a row a point and the columns that are asked for, no others: places on axes as they
//! are, names and hashes as numbers. Groups stand in the order of their first rows, and rows in
//! their own order, so that sums do not depend on the number of threads.

mod groups;

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use polars::prelude::Series;

use bookahead_lab::store::PointColumns;

pub(crate) use groups::Groups;
pub(crate) use polars::prelude::{PolarsError, PolarsResult};

/// What points may have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    /// The value on the axis with this index.
    Axis(usize),
    /// The strategy.
    Strategy,
    /// The replication.
    Replication,
    /// The simulation.
    Simulation,
    /// The jobs that the simulation saw.
    Jobs,
    /// The failures that it met.
    Failures,
}

/// Some points of a run.
pub(crate) struct Frame<'p> {
    points: &'p PointColumns,
    /// Their indices.
    rows: Vec<u32>,
}

impl<'p> Frame<'p> {
    /// All points.
    pub(crate) fn of(points: &'p PointColumns) -> Self {
        Self::only(points, |_| true)
    }

    /// Those of which something holds.
    pub(crate) fn only(points: &'p PointColumns, holds: impl Fn(usize) -> bool) -> Self {
        let rows = (0..)
            .take(points.len())
            .filter(|point| holds(*point as usize));
        Self {
            points,
            rows: rows.collect(),
        }
    }

    /// Its points in groups that have all of this in common, in the order of their first points.
    pub(crate) fn groups(&self, common: &[Common]) -> PolarsResult<Groups> {
        let columns = common.iter().map(|one| self.column(*one));
        Ok(Groups::new(columns)?.among(&self.rows))
    }

    /// The same as frames.
    pub(crate) fn parts(&self, common: &[Common]) -> PolarsResult<Vec<Self>> {
        let parts = self.groups(common)?;
        let part = |rows: &[u32]| Self {
            points: self.points,
            rows: rows.to_vec(),
        };
        Ok(parts.rows().map(part).collect())
    }

    /// How many combinations of these its points have.
    pub(crate) fn count(&self, common: &[Common]) -> PolarsResult<usize> {
        Ok(self.groups(common)?.len())
    }

    /// Whether points that have all of this in common have `what` in common, too.
    pub(crate) fn determines(&self, common: &[Common], what: Common) -> PolarsResult<bool> {
        let both: Vec<Common> = common.iter().copied().chain([what]).collect();
        Ok(self.count(common)? == self.count(&both)?)
    }

    fn column(&self, common: Common) -> Series {
        let rows = self.rows.iter().map(|row| *row as usize);
        let points = self.points;
        match common {
            Common::Axis(axis) => {
                let positions = &points.axes[axis].positions;
                rows.map(|row| positions[row]).collect()
            }
            Common::Strategy => numbers(rows.map(|row| &points.strategy[row])).collect(),
            Common::Replication => rows.map(|row| points.replication[row]).collect(),
            Common::Simulation => rows.map(|row| points.simulation[row]).collect(),
            Common::Jobs => numbers(rows.map(|row| points.seen[row].jobs)).collect(),
            Common::Failures => numbers(rows.map(|row| points.seen[row].failures)).collect(),
        }
    }
}

/// A number for each of these values, the same for equal ones, from 0 in the order of the first.
pub(crate) fn numbers<T: Eq + Hash>(values: impl Iterator<Item = T>) -> impl Iterator<Item = u32> {
    let mut known = HashMap::new();
    values.map(move |value| {
        let next = known.len() as u32;
        *known.entry(value).or_insert(next)
    })
}

/// What two runs have, side by side by what it has in common, in the order of that.
pub(crate) fn beside<K: Ord, T>(
    runs: [Vec<T>; 2],
    common: impl Fn(&T) -> K,
) -> BTreeMap<K, [Vec<T>; 2]> {
    let mut found = BTreeMap::new();
    for (run, own) in runs.into_iter().enumerate() {
        for one in own {
            let both: &mut [Vec<T>; 2] = found.entry(common(&one)).or_insert_with(Default::default);
            both[run].push(one);
        }
    }
    found
}
