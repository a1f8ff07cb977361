//! Reading runs and points, as column vectors.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use rusqlite::{OptionalExtension, Row, params};

use super::measures::MeasureColumn;
use super::processes::Process;
use super::repeats::{Candidate, originals};
use super::runs::axis_value;
use super::{METRICS, RunId, Store, StoreError, metrics};
use crate::study::Studies;
use crate::sweep::{Axis, HashDigits, Seen};

/// Which run a person means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSelector {
    /// The run that began last.
    Latest,
    /// The run with this number.
    Id(i64),
    /// The last run of the experiment of this name.
    Name(String),
}

impl FromStr for RunSelector {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.trim().parse() {
            _ if text.trim() == "latest" => Self::Latest,
            Ok(id) => Self::Id(id),
            Err(_) => Self::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for RunSelector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => formatter.write_str("at all"),
            Self::Id(id) => write!(formatter, "with the number {id}"),
            Self::Name(name) => write!(formatter, "called `{name}`"),
        }
    }
}

/// A run as the store knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Its number.
    pub id: RunId,
    /// The experiment's name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The configuration file, where there was one.
    pub source: Option<String>,
    /// The configuration text.
    pub configuration: String,
    /// SHA-256 of the configuration text, hex.
    pub configuration_hash: String,
    /// The sweep's seed.
    pub seed: u64,
    /// Replications a combination.
    pub replications: u32,
    /// Version of the program that ran it.
    pub program_version: String,
    /// Commit of that program, where known.
    pub program_commit: Option<String>,
    /// Result format of the engine.
    pub result_format: u32,
    /// Cores of the machine.
    pub machine_cores: u32,
    /// Operating system and architecture.
    pub machine_os: String,
    /// `running`, `done`, `interrupted` or `failed`.
    pub state: String,
    /// Points of the sweep.
    pub points: u64,
    /// Of those, done.
    pub points_done: u64,
    /// Of those, failed.
    pub points_failed: u64,
    /// When it began, milliseconds since 1970 (UTC).
    pub started: i64,
    /// When it ended.
    pub ended: Option<i64>,
    /// Sum of the wall times of the simulations of its points, seconds.
    pub simulation_seconds: f64,
    /// Name of the machine, where it is known.
    pub machine_host: Option<String>,
}

/// One axis with every point's place on it.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisColumn {
    /// Key and values in the order of the file.
    pub axis: Axis,
    /// For each point the index into `axis.values`; `None` for a point that has no value there.
    pub positions: Vec<Option<u32>>,
}

/// More points than any sweep can be planned with.
const MOST_POINTS: u64 = 100_000_000;

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

const RUN: &str = "SELECT r.id, r.name, r.description, r.source, r.configuration, r.configuration_hash, r.seed,
    r.replications, r.program_version, r.program_commit, r.result_format, r.machine_cores, r.machine_os, s.name,
    r.points, r.started, r.ended,
    (SELECT count(*) FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
     WHERE rp.run = r.id AND m.state = 2),
    (SELECT count(*) FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
     WHERE rp.run = r.id AND m.state = 3),
    (SELECT total(t.wall_seconds) FROM simulation_timing t WHERE t.simulation IN
     (SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = r.id)),
    r.machine_host, r.last_commit, r.process, r.process_started, r.boot, r.machine_host, r.store_file
    FROM run r JOIN run_state s ON s.code = r.state";

fn run_summary(row: &Row<'_>, store: &Path) -> rusqlite::Result<RunSummary> {
    let mut state: String = row.get(13)?;
    let mut ended: Option<i64> = row.get(16)?;
    let last_commit: Option<i64> = row.get(21)?;
    // A process that died must not look running, although nobody has written down its end.
    if state == "running" && !Process::read(row, 22)?.is_alive(store) {
        "interrupted".clone_into(&mut state);
        ended = last_commit;
    }
    Ok(RunSummary {
        id: RunId(row.get(0)?),
        name: row.get(1)?,
        description: row.get(2)?,
        source: row.get(3)?,
        configuration: row.get(4)?,
        configuration_hash: row.get(5)?,
        seed: row.get::<_, i64>(6)? as u64,
        replications: row.get(7)?,
        program_version: row.get(8)?,
        program_commit: row.get(9)?,
        result_format: row.get(10)?,
        machine_cores: row.get(11)?,
        machine_os: row.get(12)?,
        state,
        points: points_of(row, 14)?,
        started: row.get(15)?,
        ended,
        points_done: row.get::<_, i64>(17)?.unsigned_abs(),
        points_failed: row.get::<_, i64>(18)?.unsigned_abs(),
        simulation_seconds: row.get(19)?,
        machine_host: row.get(20)?,
    })
}

/// A number of points, as far as a sweep can have so many: lists of places follow from it.
fn points_of(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let points: i64 = row.get(column)?;
    u64::try_from(points)
        .ok()
        .filter(|points| *points <= MOST_POINTS)
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(column, points))
}

impl Store {
    /// Every run, in the order in which they began.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        let sql = |error| self.error("listing its runs", error);
        let mut statement = self
            .connection
            .prepare(&format!("{RUN} ORDER BY r.id"))
            .map_err(sql)?;
        statement
            .query_map([], |row| run_summary(row, &self.path))
            .and_then(Iterator::collect)
            .map_err(sql)
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoRun`] names what there is instead.
    pub fn run(&self, selector: &RunSelector) -> Result<RunSummary, StoreError> {
        let sql = |error| self.error("looking for a run", error);
        let (condition, value): (&str, rusqlite::types::Value) = match selector {
            RunSelector::Latest => ("?1 = 0", 0.into()),
            RunSelector::Id(id) => ("r.id = ?1", (*id).into()),
            RunSelector::Name(name) => ("r.name = ?1", name.clone().into()),
        };
        let found = self
            .connection
            .query_row(
                &format!("{RUN} WHERE {condition} ORDER BY r.id DESC LIMIT 1"),
                [value],
                |row| run_summary(row, &self.path),
            )
            .optional()
            .map_err(sql)?;
        match found {
            Some(run) => Ok(run),
            None => Err(StoreError::NoRun {
                path: self.path.clone(),
                wanted: selector.to_string(),
                available: self.available_runs()?,
            }),
        }
    }

    fn available_runs(&self) -> Result<String, StoreError> {
        let runs = self.runs()?;
        if runs.is_empty() {
            return Ok("none: `bookahead run CONFIG` makes one".to_owned());
        }
        let last: Vec<String> = runs
            .iter()
            .rev()
            .take(10)
            .map(|run| format!("{} ({})", run.id.0, run.name))
            .collect();
        Ok(last.join(", "))
    }

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
                "SELECT a.key, v.kind, v.value FROM axis a
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
