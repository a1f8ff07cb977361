//! Points of a run by what they have in common, and what a quantity comes to in each group of them.
//! Nothing else calls Polars.
//!
//! Of a frame only those columns are read that are asked for. Groups are made here and folded by
//! Polars, which is built without optimisation: its own groups by several columns doubled the time
//! of a report. Groups stand in the order of their first points, and points in their own order, so
//! that sums do not depend on the number of threads.

mod groups;

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

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
    pub(crate) fn groups(&self, common: &[Common]) -> Groups {
        Groups::new(
            self.numbers(common)
                .into_iter()
                .zip(self.rows.iter().copied()),
        )
    }

    /// The same as frames.
    pub(crate) fn parts(&self, common: &[Common]) -> impl Iterator<Item = Self> {
        let points = self.points;
        let parts = self.groups(common).into_rows();
        parts.map(move |rows| Self { points, rows })
    }

    /// How many combinations of these its points have.
    pub(crate) fn count(&self, common: &[Common]) -> u32 {
        let last = self.numbers(common).into_iter().max();
        last.map_or(0, |last| last + 1)
    }

    /// Whether points that have all of this in common have `what` in common, too.
    pub(crate) fn determines(&self, common: &[Common], what: Common) -> bool {
        let both: Vec<Common> = common.iter().copied().chain([what]).collect();
        self.count(common) == self.count(&both)
    }

    /// For each point the number of its combination of these.
    fn numbers(&self, common: &[Common]) -> Vec<u32> {
        common.iter().fold(vec![0; self.rows.len()], |known, one| {
            numbers(known.into_iter().zip(self.column(*one))).collect()
        })
    }

    fn column(&self, common: Common) -> Vec<Option<i64>> {
        let points = self.points;
        let rows = self.rows.iter().map(|row| *row as usize);
        match common {
            Common::Axis(axis) => {
                let positions = &points.axes[axis].positions;
                rows.map(|row| positions[row].map(i64::from)).collect()
            }
            Common::Strategy => numbered(rows.map(|row| &points.strategy[row])),
            Common::Replication => rows
                .map(|row| Some(i64::from(points.replication[row])))
                .collect(),
            Common::Simulation => rows.map(|row| Some(points.simulation[row])).collect(),
            Common::Jobs => numbered(rows.map(|row| points.seen[row].jobs)),
            Common::Failures => numbered(rows.map(|row| points.seen[row].failures)),
        }
    }
}

fn numbered<T: Eq + Hash>(values: impl Iterator<Item = T>) -> Vec<Option<i64>> {
    numbers(values)
        .map(|number| Some(i64::from(number)))
        .collect()
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
