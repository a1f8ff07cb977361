//! Points of a run by what they have in common, and what a quantity comes to in each group of them.
//! Nothing else calls Polars.
//!
//! Of a frame only those columns are read that are asked for. Groups are made here and folded by
//! Polars, which is built without optimisation: its own groups by several columns doubled the time
//! of a report. Groups stand in the order of their first points, and points in their own order, so
//! that sums do not depend on the number of threads.

mod groups;

use std::collections::BTreeMap;

use bookahead_lab::store::PointColumns;
pub(crate) use bookahead_lab::store::numbers;

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
    pub(crate) fn numbers(&self, common: &[Common]) -> Vec<u32> {
        let none = vec![0; self.rows.len()];
        (common.iter()).fold(none, |known, one| both(&known, &self.column(*one)))
    }

    /// Codes of what points have, the same for equal ones.
    fn column(&self, common: Common) -> Vec<u32> {
        let points = self.points;
        let rows = self.rows.iter().map(|row| *row as usize);
        match common {
            Common::Axis(axis) => {
                let positions = &points.axes[axis].positions;
                let code = |place: Option<u32>| place.map_or(0, |place| place + 1);
                rows.map(|row| code(positions[row])).collect()
            }
            Common::Strategy => numbers(rows.map(|row| &points.strategy[row])).collect(),
            Common::Replication => rows.map(|row| points.replication[row]).collect(),
            Common::Simulation => numbers(rows.map(|row| points.simulation[row])).collect(),
            Common::Jobs => numbers(rows.map(|row| points.seen[row].jobs)).collect(),
            Common::Failures => numbers(rows.map(|row| points.seen[row].failures)).collect(),
        }
    }
}

/// Combinations of so many codes are looked up in a table, not by their hash.
const LARGEST_TABLE: usize = 1 << 22;

/// For each pair of codes the number of it, as [`numbers`] has it.
pub(crate) fn both(ones: &[u32], others: &[u32]) -> Vec<u32> {
    let count = |codes: &[u32]| codes.iter().max().map_or(0, |last| *last as usize + 1);
    let (rows, columns) = (count(ones), count(others));
    let pairs = ones.iter().zip(others);
    if rows.saturating_mul(columns) > LARGEST_TABLE {
        return numbers(pairs).collect();
    }
    let mut known = vec![u32::MAX; rows * columns];
    let mut next = 0;
    let number = |(one, other): (&u32, &u32)| {
        let number = &mut known[*one as usize * columns + *other as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
        *number
    };
    pairs.map(number).collect()
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
