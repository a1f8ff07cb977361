//! The done points of a run as columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Row;

use super::super::columns::{Cut, Shared, Simulations, numbers};
use super::super::measures::MeasureColumn;
use super::super::repeats::originals;
use super::super::{METRICS, Metric, RunId, Store, StoreError};
use super::seen;
use crate::study::Studies;
use crate::sweep::{Axis, Seen};

/// One axis with every point's place on it.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisColumn {
    /// Key and values in the order of the file.
    pub axis: Axis,
    /// For each point the index into `axis.values`; `None` for a point that has no value there.
    pub positions: Vec<Option<u32>>,
}

/// The done points of a run as columns of equal length, in the order of the axes, then strategy and
/// replication.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointColumns {
    /// The studies of the program that reads them.
    pub studies: Studies,
    /// The simulation that it is read off: a number that means something inside one store only.
    pub simulation: Shared<i64>,
    /// Strategy.
    pub strategy: Shared<String>,
    /// Replication.
    pub replication: Vec<u32>,
    /// Penalty ÷ fee.
    pub penalty_ratio: Vec<f64>,
    /// What its simulation saw.
    pub seen: Shared<Seen>,
    /// The first point with the same strategy and axis values whose simulation saw the same and has
    /// the same results; the point itself where its replication repeats no other.
    pub original: Vec<usize>,
    /// The axes.
    pub axes: Vec<AxisColumn>,
    /// Every one of [`METRICS`] by name; `None` where it is not defined.
    pub metrics: BTreeMap<&'static str, Shared<Option<f64>>>,
    /// What studies measured beside them: the measures that any point has, in the order of
    /// [`Studies::measures`], then unknown ones by name.
    pub measures: Vec<MeasureColumn>,
}

impl PointColumns {
    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.replication.len()
    }

    /// Whether there is no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.replication.is_empty()
    }

    /// Whether two points may be paired: they are of one simulation, or their simulations saw the
    /// same jobs and failures.
    #[must_use]
    pub fn is_pair(&self, one: usize, other: usize) -> bool {
        self.simulation[one] == self.simulation[other] || self.seen[one].is_same(&self.seen[other])
    }

    /// Whether the replication of a point repeats another one of the same setting, so that both are
    /// one result.
    #[must_use]
    pub fn is_repetition(&self, point: usize) -> bool {
        self.original[point] != point
    }

    /// The points at these values, each given as the indices of an axis and of its value, without
    /// those axes. A point that has no value on an axis is at each of them.
    #[must_use]
    pub fn only(&self, held: &[(usize, u32)]) -> Self {
        let is_there = |point: &usize| {
            held.iter().all(|(axis, place)| {
                self.axes[*axis].positions[*point].is_none_or(|known| known == *place)
            })
        };
        let kept: Vec<usize> = (0..self.len()).filter(is_there).collect();
        self.kept(&kept, |axis| held.iter().all(|(known, _)| *known != axis))
    }

    /// The points of these replications.
    #[must_use]
    pub fn at_replications(&self, replications: &[u32]) -> Self {
        let is_there = |point: &usize| replications.contains(&self.replication[*point]);
        let kept: Vec<usize> = (0..self.len()).filter(is_there).collect();
        self.kept(&kept, |_| true)
    }

    /// These points, with the axes that this says of their indices.
    fn kept(&self, kept: &[usize], has_axis: impl Fn(usize) -> bool) -> Self {
        let mut cut = Cut::new(kept);
        let axes = self.axes.iter().enumerate();
        let axes = axes.filter(|(at, _)| has_axis(*at));
        let mut points = Self {
            studies: self.studies,
            simulation: cut.shared(&self.simulation),
            strategy: cut.shared(&self.strategy),
            replication: cut.of(&self.replication),
            penalty_ratio: cut.of(&self.penalty_ratio),
            seen: cut.shared(&self.seen),
            original: Vec::new(),
            axes: axes
                .map(|(_, column)| AxisColumn {
                    axis: column.axis.clone(),
                    positions: cut.of(&column.positions),
                })
                .collect(),
            metrics: (self.metrics.iter())
                .map(|(name, values)| (*name, cut.shared(values)))
                .collect(),
            measures: (self.measures.iter())
                .map(|measure| MeasureColumn {
                    values: cut.shared(&measure.values),
                    ..measure.clone()
                })
                .collect(),
        };
        points.original = points.originals();
        points
    }

    fn originals(&self) -> Vec<usize> {
        let settings = self.axes.iter().fold(
            numbers(self.strategy.iter()).collect::<Vec<u32>>(),
            |known, axis| numbers(known.into_iter().zip(&axis.positions)).collect(),
        );
        let simulation = |point: usize| (self.simulation[point], self.seen[point]);
        originals(settings.into_iter(), simulation, |one, other| {
            let measured = self.measures.iter().map(|measure| &measure.values);
            let mut columns = self.metrics.values().chain(measured);
            columns.all(|values| values[one] == values[other])
        })
    }
}

/// Points in the order of their places in the run, before they are sorted.
#[derive(Default)]
struct Rows {
    place: Vec<i64>,
    /// Index into the simulations of the run.
    simulation: Vec<u32>,
    /// Index into the names of strategies, which are in their order.
    strategy: Vec<u32>,
    replication: Vec<u32>,
    penalty_ratio: Vec<f64>,
    /// The first digits of their identities, which order points that have all else in common.
    identity: Vec<[u8; 8]>,
    /// The metrics that depend on the point.
    metrics: Vec<Vec<Option<f64>>>,
}

impl Rows {
    /// The points by their places on the axes, strategy and replication.
    fn order(&self, positions: &[Vec<Option<u32>>]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.place.len()).collect();
        order.sort_by(|one, other| {
            let places = positions.iter().map(|axis| axis[*one].cmp(&axis[*other]));
            let places = places.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
            let key = |row: usize| {
                (
                    self.strategy[row],
                    self.replication[row],
                    self.identity[row],
                )
            };
            places.then_with(|| key(*one).cmp(&key(*other)))
        });
        order
    }
}

/// The metrics whose formula reads the point, and the others.
fn metrics_of(point: bool) -> impl Iterator<Item = &'static Metric> {
    METRICS
        .iter()
        .filter(move |metric| metric.is_of_point() == point)
}

/// Formulas as further columns of a query.
fn columns_of(metrics: impl Iterator<Item = &'static Metric>) -> String {
    metrics
        .map(|metric| format!(", {}", metric.sql()))
        .collect()
}

impl Store {
    /// The done points of a run with their totals, as columns.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn points(&self, run: RunId) -> Result<PointColumns, StoreError> {
        let axes = self.axes(run)?;
        let (codes, names): (Vec<i64>, Vec<String>) = self.strategies()?.into_iter().unzip();
        let mut simulations = Simulations::new();
        let rows = self.point_rows(run, &codes, &mut simulations)?;
        let positions = self.positions(run, axes.len(), &rows.place)?;
        let order = rows.order(&positions);
        let cut = Cut::new(&order);
        let of_point = Arc::new((0..).take(order.len()).collect());
        let of_simulation = Arc::new(cut.of(&rows.simulation));
        let mut numbers = vec![0; simulations.len()];
        for (number, at) in &simulations {
            numbers[*at as usize] = *number;
        }
        let totals = self.totals(&numbers)?;
        let own = metrics_of(true).zip(&rows.metrics);
        let own = own.map(|(metric, values)| (metric.name, Shared::new(&of_point, cut.of(values))));
        let others = metrics_of(false).zip(totals.metrics);
        let others =
            others.map(|(metric, values)| (metric.name, Shared::new(&of_simulation, values)));
        let mut points = PointColumns {
            studies: self.studies,
            simulation: Shared::new(&of_simulation, numbers),
            strategy: Shared::new(&Arc::new(cut.of(&rows.strategy)), names),
            replication: cut.of(&rows.replication),
            penalty_ratio: cut.of(&rows.penalty_ratio),
            seen: Shared::new(&of_simulation, totals.seen),
            original: Vec::new(),
            axes: (axes.into_iter().zip(&positions))
                .map(|(axis, positions)| AxisColumn {
                    axis,
                    positions: cut.of(positions),
                })
                .collect(),
            metrics: own.chain(others).collect(),
            measures: Vec::new(),
        };
        drop((rows, positions, order));
        points.measures = self.measure_columns(run, &simulations, &of_simulation)?;
        points.original = points.originals();
        Ok(points)
    }

    /// Codes and names of strategies, in the order of the names.
    fn strategies(&self) -> Result<Vec<(i64, String)>, StoreError> {
        self.rows(
            "reading strategies",
            "SELECT code, name FROM strategy ORDER BY name",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// The points of a run, whose simulations are given an index in the order of their first
    /// points. `strategies` has the codes of strategies.
    fn point_rows(
        &self,
        run: RunId,
        strategies: &[i64],
        simulations: &mut Simulations,
    ) -> Result<Rows, StoreError> {
        let sql = |error| self.error("reading points", error);
        let mut statement = self
            .connection
            .prepare(&format!(
                "SELECT rp.place, p.simulation, m.strategy, p.replication, p.penalty_ratio, p.identity{}
                 FROM run_point rp
                 JOIN point p ON p.id = rp.point
                 JOIN simulation m ON m.id = p.simulation AND m.state = 2
                 JOIN simulation_metrics k ON k.simulation = m.id
                 WHERE rp.run = ?1 ORDER BY rp.place",
                columns_of(metrics_of(true))
            ))
            .map_err(sql)?;
        let mut rows = Rows {
            metrics: metrics_of(true).map(|_| Vec::new()).collect(),
            ..Rows::default()
        };
        let mut found = statement.query([run.0]).map_err(sql)?;
        while let Some(row) = found.next().map_err(sql)? {
            let code: i64 = row.get(2).map_err(sql)?;
            let Some(strategy) = strategies.iter().position(|known| *known == code) else {
                continue;
            };
            let next = simulations.len() as u32;
            let simulation = simulations.entry(row.get(1).map_err(sql)?).or_insert(next);
            let identity = row.get_ref(5).map_err(sql)?.as_bytes();
            let identity = identity.ok().and_then(<[u8]>::first_chunk);
            rows.place.push(row.get(0).map_err(sql)?);
            rows.simulation.push(*simulation);
            rows.strategy.push(strategy as u32);
            rows.replication.push(row.get(3).map_err(sql)?);
            rows.penalty_ratio.push(row.get(4).map_err(sql)?);
            rows.identity.push(identity.copied().unwrap_or_default());
            for (at, values) in rows.metrics.iter_mut().enumerate() {
                values.push(row.get(6 + at).map_err(sql)?);
            }
        }
        Ok(rows)
    }

    /// The position on every axis of the points at these places of the run, which rise.
    fn positions(
        &self,
        run: RunId,
        axes: usize,
        places: &[i64],
    ) -> Result<Vec<Vec<Option<u32>>>, StoreError> {
        let sql = |error| self.error("reading points", error);
        let query = "SELECT place, axis, value FROM point_axis WHERE run = ?1 ORDER BY place";
        let mut statement = self.connection.prepare(query).map_err(sql)?;
        let mut positions = vec![vec![None; places.len()]; axes];
        let mut at = 0;
        let mut found = statement.query([run.0]).map_err(sql)?;
        while let Some(row) = found.next().map_err(sql)? {
            let place: i64 = row.get(0).map_err(sql)?;
            while places.get(at).is_some_and(|known| *known < place) {
                at += 1;
            }
            let axis: i64 = row.get(1).map_err(sql)?;
            if let Some(axis) = positions.get_mut(axis.unsigned_abs() as usize)
                && places.get(at) == Some(&place)
            {
                axis[at] = Some(row.get(2).map_err(sql)?);
            }
        }
        Ok(positions)
    }

    /// What these simulations saw and measured.
    fn totals(&self, simulations: &[i64]) -> Result<Totals, StoreError> {
        let sql = |error| self.error("reading points", error);
        let mut statement = self
            .connection
            .prepare(&format!(
                "SELECT m.jobs_hash, m.failures_hash{} FROM simulation m
                 JOIN simulation_metrics k ON k.simulation = m.id WHERE m.id = ?1",
                columns_of(metrics_of(false))
            ))
            .map_err(sql)?;
        let column = || Vec::with_capacity(simulations.len());
        let mut totals = Totals {
            seen: Vec::with_capacity(simulations.len()),
            metrics: metrics_of(false).map(|_| column()).collect(),
        };
        for simulation in simulations {
            let read = |row: &Row<'_>| {
                totals.seen.push(seen(row, 0)?);
                for (at, values) in totals.metrics.iter_mut().enumerate() {
                    values.push(row.get(2 + at)?);
                }
                Ok(())
            };
            statement.query_row([simulation], read).map_err(sql)?;
        }
        Ok(totals)
    }
}

/// What simulations saw, and the metrics that all their points share.
struct Totals {
    seen: Vec<Seen>,
    metrics: Vec<Vec<Option<f64>>>,
}
