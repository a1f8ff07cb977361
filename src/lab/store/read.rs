//! Reading the points of runs, as column vectors.

mod filter;
mod interruption;
mod run_summary;

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Row, params};

use super::measures::MeasureColumn;
use super::repeats::{Candidate, originals};
use super::runs::axis_value;
use super::{METRICS, RunId, Store, StoreError, metrics};
use crate::study::Studies;
use crate::sweep::{Axis, HashDigits, Seen};

pub use filter::RunFilter;
pub use interruption::Interruption;
pub use run_summary::{RunSelector, RunSummary};

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
    /// Identity of the point.
    pub identity: Vec<String>,
    /// The simulation that it is read off: a number that means something inside one store only.
    pub simulation: Vec<i64>,
    /// Strategy.
    pub strategy: Vec<String>,
    /// Replication.
    pub replication: Vec<u32>,
    /// Penalty ÷ fee.
    pub penalty_ratio: Vec<f64>,
    /// What its simulation saw.
    pub seen: Vec<Seen>,
    /// The first point with the same strategy and axis values whose simulation saw the same and has
    /// the same results; the point itself where its replication repeats no other.
    pub original: Vec<usize>,
    /// The axes.
    pub axes: Vec<AxisColumn>,
    /// Every one of [`METRICS`] by name; `None` where it is not defined.
    pub metrics: BTreeMap<&'static str, Vec<Option<f64>>>,
    /// What studies measured beside them: the measures that any point has, in the order of
    /// [`Studies::measures`], then unknown ones by name.
    pub measures: Vec<MeasureColumn>,
}

impl PointColumns {
    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.identity.len()
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
        fn of<T: Clone>(values: &[T], kept: &[usize]) -> Vec<T> {
            kept.iter().map(|point| values[*point].clone()).collect()
        }
        let axes = self.axes.iter().enumerate();
        let axes = axes.filter(|(at, _)| has_axis(*at));
        let mut points = Self {
            studies: self.studies,
            identity: of(&self.identity, kept),
            simulation: of(&self.simulation, kept),
            strategy: of(&self.strategy, kept),
            replication: of(&self.replication, kept),
            penalty_ratio: of(&self.penalty_ratio, kept),
            seen: of(&self.seen, kept),
            original: Vec::new(),
            axes: axes
                .map(|(_, column)| AxisColumn {
                    axis: column.axis.clone(),
                    positions: of(&column.positions, kept),
                })
                .collect(),
            metrics: (self.metrics.iter())
                .map(|(name, values)| (*name, of(values, kept)))
                .collect(),
            measures: (self.measures.iter())
                .map(|measure| MeasureColumn {
                    values: of(&measure.values, kept),
                    ..measure.clone()
                })
                .collect(),
        };
        points.original = points.originals();
        points
    }

    fn originals(&self) -> Vec<usize> {
        let candidate = |point: usize| {
            let axes = self.axes.iter();
            let places: Vec<Option<u32>> = axes.map(|column| column.positions[point]).collect();
            Candidate {
                setting: (places, self.strategy[point].as_str()),
                simulation: self.simulation[point],
                seen: self.seen[point],
            }
        };
        originals((0..self.len()).map(candidate), |one, other| {
            let measured = self.measures.iter().map(|measure| &measure.values);
            let mut columns = self.metrics.values().chain(measured);
            columns.all(|values| values[one] == values[other])
        })
    }

    /// Whether there is no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.identity.is_empty()
    }
}

/// A point of a run that has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedPoint {
    /// Identity of the point.
    pub identity: String,
    /// Strategy.
    pub strategy: String,
    /// Replication.
    pub replication: u32,
    /// Its axes as JSON.
    pub axes: String,
    /// How often it was tried.
    pub attempts: u32,
    /// What went wrong the last time.
    pub error: String,
}

impl Store {
    /// The axes of a run with their values, in the order of the file.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn axes(&self, run: RunId) -> Result<Vec<Axis>, StoreError> {
        let sql = |error| self.error("reading the axes of a run", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT a.key, v.kind, v.value FROM v_axis a
                 LEFT JOIN axis_value v ON v.run = a.run AND v.axis = a.position
                 WHERE a.run = ?1 ORDER BY a.position, v.position",
            )
            .map_err(sql)?;
        let mut axes: Vec<Axis> = Vec::new();
        let mut rows = statement.query([run.0]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let key: String = row.get(0).map_err(sql)?;
            if axes.last().is_none_or(|axis| axis.key != key) {
                axes.push(Axis {
                    key,
                    values: Vec::new(),
                });
            }
            let kind: Option<String> = row.get(1).map_err(sql)?;
            if let (Some(kind), Some(axis)) = (kind, axes.last_mut()) {
                axis.values
                    .push(axis_value(&kind, row.get(2).map_err(sql)?));
            }
        }
        Ok(axes)
    }

    /// The done points of a run with their totals, as columns.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn points(&self, run: RunId) -> Result<PointColumns, StoreError> {
        let sql = |error| self.error("reading points", error);
        let axes = self.axes(run)?;
        let places = self.places(run, axes.len())?;
        let mut statement = self
            .connection
            .prepare(&format!(
                "SELECT rp.place, p.identity, p.simulation, s.name, p.replication, p.penalty_ratio,
                    m.jobs_hash, m.failures_hash, {}
                 FROM run_point rp
                 JOIN point p ON p.id = rp.point
                 JOIN simulation m ON m.id = p.simulation AND m.state = 2
                 JOIN strategy s ON s.code = m.strategy
                 JOIN simulation_metrics k ON k.simulation = m.id
                 WHERE rp.run = ?1",
                metrics::columns()
            ))
            .map_err(sql)?;
        let nowhere = vec![None; axes.len()];
        let mut rows: Vec<(Vec<Option<u32>>, PointRow)> = statement
            .query_map([run.0], |row| {
                let id: i64 = row.get(0)?;
                let place = places.get(&id).unwrap_or(&nowhere).clone();
                Ok((place, PointRow::read(row)?))
            })
            .and_then(Iterator::collect)
            .map_err(sql)?;
        rows.sort_by(|(place, row), (other_place, other)| {
            place
                .cmp(other_place)
                .then_with(|| row.strategy.cmp(&other.strategy))
                .then_with(|| row.replication.cmp(&other.replication))
                .then_with(|| row.identity.cmp(&other.identity))
        });
        let mut columns = PointColumns {
            studies: self.studies,
            axes: axes
                .into_iter()
                .map(|axis| AxisColumn {
                    axis,
                    positions: Vec::with_capacity(rows.len()),
                })
                .collect(),
            metrics: METRICS
                .iter()
                .map(|metric| (metric.name, Vec::with_capacity(rows.len())))
                .collect(),
            ..PointColumns::default()
        };
        for (place, row) in rows {
            for (column, position) in columns.axes.iter_mut().zip(place) {
                column.positions.push(position);
            }
            row.push(&mut columns);
        }
        columns.measures = self.measure_columns(run, &columns.simulation)?;
        columns.original = columns.originals();
        Ok(columns)
    }

    /// Every point's place on every axis, by the point's place in the run.
    fn places(
        &self,
        run: RunId,
        axes: usize,
    ) -> Result<HashMap<i64, Vec<Option<u32>>>, StoreError> {
        let sql = |error| self.error("reading points", error);
        let mut statement = self
            .connection
            .prepare("SELECT place, axis, value FROM point_axis WHERE run = ?1")
            .map_err(sql)?;
        let mut places: HashMap<i64, Vec<Option<u32>>> = HashMap::new();
        let mut rows = statement.query([run.0]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let axis: usize = row.get::<_, i64>(1).map_err(sql)?.unsigned_abs() as usize;
            let place = places
                .entry(row.get(0).map_err(sql)?)
                .or_insert_with(|| vec![None; axes]);
            if let Some(place) = place.get_mut(axis) {
                *place = Some(row.get(2).map_err(sql)?);
            }
        }
        Ok(places)
    }

    /// The points of a run that failed, in order of strategy, axes and replication.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn failed_points(&self, run: RunId) -> Result<Vec<FailedPoint>, StoreError> {
        let sql = |error| self.error("reading failed points", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT v.identity, v.strategy, v.replication, v.axes, m.attempts, coalesce(v.error, '')
                 FROM v_point v JOIN simulation m ON m.id = v.simulation
                 WHERE v.run = ?1 AND v.state = 'failed'
                 ORDER BY v.strategy, v.axes, v.replication, v.identity",
            )
            .map_err(sql)?;
        statement
            .query_map(params![run.0], |row| {
                Ok(FailedPoint {
                    identity: row.get(0)?,
                    strategy: row.get(1)?,
                    replication: row.get(2)?,
                    axes: row.get(3)?,
                    attempts: row.get(4)?,
                    error: row.get(5)?,
                })
            })
            .and_then(Iterator::collect)
            .map_err(sql)
    }
}

/// What a simulation saw, from its hashes of jobs in this column and of failures in the next one.
pub(super) fn seen(row: &Row<'_>, column: usize) -> rusqlite::Result<Seen> {
    let digits = |column| -> rusqlite::Result<Option<HashDigits>> {
        let text = row.get_ref(column)?.as_str_or_null()?;
        Ok(text.and_then(|text| HashDigits::from(text).ok()))
    };
    Ok(Seen {
        jobs: digits(column)?,
        failures: digits(column + 1)?,
    })
}

struct PointRow {
    identity: String,
    simulation: i64,
    strategy: String,
    replication: u32,
    penalty_ratio: f64,
    seen: Seen,
    metrics: Vec<Option<f64>>,
}

impl PointRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            identity: row.get(1)?,
            simulation: row.get(2)?,
            strategy: row.get(3)?,
            replication: row.get(4)?,
            penalty_ratio: row.get(5)?,
            seen: seen(row, 6)?,
            metrics: (0..METRICS.len())
                .map(|at| row.get(8 + at))
                .collect::<Result<_, _>>()?,
        })
    }

    fn push(self, columns: &mut PointColumns) {
        columns.identity.push(self.identity);
        columns.simulation.push(self.simulation);
        columns.strategy.push(self.strategy);
        columns.replication.push(self.replication);
        columns.penalty_ratio.push(self.penalty_ratio);
        columns.seen.push(self.seen);
        for (metric, value) in METRICS.iter().zip(self.metrics) {
            columns.metrics.entry(metric.name).or_default().push(value);
        }
    }
}
