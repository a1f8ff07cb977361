//! What earlier runs left behind: single points with their jobs, and whole runs as columns to be
//! laid side by side.

mod run_inputs;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params};

use super::read::seen;
use super::repeats::originals;
use super::runs::axis_value;
use super::{METRICS, RunId, SqlValue, Store, StoreError};
use crate::scheduling::measures::Measure;
use crate::sweep::{AxisValue, Seen};

/// One done point of a run with everything that is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredPoint {
    /// Its place in the sweep of the run, from 0.
    pub place: i64,
    /// Its content hash.
    pub identity: String,
    /// Its simulation: a number that means something inside one store only.
    pub simulation: i64,
    /// Strategy.
    pub strategy: String,
    /// Value on every axis of the run, in the order of the file.
    pub axes: Vec<(String, AxisValue)>,
    /// Replication.
    pub replication: u32,
    /// What its simulation saw.
    pub seen: Seen,
    /// The place of the first point of its run with the same strategy and axis values whose
    /// simulation saw the same and has the same results; its own where its replication repeats no
    /// other.
    pub original: i64,
    /// Everything that determines its simulation, as JSON; points of one simulation share it.
    pub spec: Arc<str>,
    /// One value for each of [`METRICS`]; `None` where it means nothing (no job started).
    pub values: Vec<Option<f64>>,
    /// What its study measured, by name, in the order of
    /// [`Studies::measures`](crate::study::Studies::measures).
    pub measured: NamedValues,
}

fn with_originals(mut points: Vec<MeasuredPoint>) -> Vec<MeasuredPoint> {
    let settings = points
        .iter()
        .map(|point| format!("{} {:?}", point.strategy, point.axes));
    let simulation = |point: usize| (points[point].simulation, points[point].seen);
    let originals = originals(settings, simulation, |one, other| {
        let (one, other) = (&points[one], &points[other]);
        one.values == other.values && one.measured == other.measured
    });
    let places: Vec<i64> = originals.iter().map(|at| points[*at].place).collect();
    for (point, place) in points.iter_mut().zip(places) {
        point.original = place;
    }
    points
}

/// A point of a run that has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedPoint {
    /// Its place in the sweep of the run, from 0.
    pub place: i64,
    /// Value on every axis of the run, in the order of the file.
    pub axes: Vec<(String, AxisValue)>,
    /// Replication.
    pub replication: u32,
    /// `pending`, `running` or `failed`.
    pub state: String,
}

/// What a study measured, by name.
type NamedValues = Vec<(&'static str, f64)>;

/// One place of a run, done or not.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceDetail {
    /// The run.
    pub run: RunId,
    /// Its place in the sweep of the run, from 0.
    pub place: i64,
    /// Its content hash.
    pub identity: String,
    /// Its simulation.
    pub simulation: i64,
    /// `pending`, `running`, `done` or `failed`.
    pub state: String,
    /// Why it failed.
    pub error: Option<String>,
    /// How often it was tried.
    pub attempts: u32,
    /// Strategy.
    pub strategy: String,
    /// Name of the workload.
    pub workload: String,
    /// Replication.
    pub replication: u32,
    /// Penalty ÷ fee.
    pub penalty_ratio: f64,
    /// Value on every axis.
    pub axes: Vec<(String, AxisValue)>,
    /// Whether the outcomes of its jobs are stored.
    pub has_jobs: bool,
    /// What the simulation took, seconds; `None` before it is done.
    pub wall_seconds: Option<f64>,
    /// The [`METRICS`], then what its study measured.
    pub values: Vec<(&'static str, SqlValue)>,
}

/// A job behind a point.
#[derive(Clone, Debug, PartialEq)]
pub struct JobDetail {
    /// Position in its workload.
    pub job: i64,
    /// Number in the trace.
    pub trace_number: i64,
    /// Requested nodes.
    pub nodes: i64,
    /// Booked runtime, seconds.
    pub estimate: i64,
    /// Real runtime, seconds.
    pub runtime: i64,
    /// Length of the promised slot, seconds.
    pub slot_length: Option<i64>,
    /// The probability of failure that was promised.
    pub pof: Option<f64>,
    /// How it ended.
    pub reason: String,
    /// Last start − release, seconds.
    pub waiting: Option<i64>,
    /// What it earned, coins; `None` where nothing was promised to anybody.
    pub fee: Option<f64>,
    /// What it cost, coins, at the point's penalty ratio.
    pub penalty: Option<f64>,
}

/// How long decisions of one kind took by the clock.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionTiming {
    /// What was decided: `admission`, `request` or `quote`.
    pub decision: String,
    /// How many.
    pub decisions: u64,
    /// The median, seconds; of several simulations the longest one.
    pub p50_seconds: f64,
    /// The 99th percentile, seconds; of several simulations the longest one.
    pub p99_seconds: f64,
    /// The longest, seconds.
    pub longest_seconds: f64,
    /// How many took longer than one, two and five seconds, to a thirty-second part of these times;
    /// `None` where the program that measured kept no histogram.
    pub over_seconds: [Option<u64>; 3],
}

impl DecisionTiming {
    /// What share took longer than one, two and five seconds, in percent.
    #[must_use]
    pub fn over_percent(&self) -> [Option<f64>; 3] {
        let all = self.decisions as f64;
        self.over_seconds
            .map(|over| Some(100.0 * over? as f64 / all))
    }
}

/// The metrics as columns of `v_point v`.
fn metric_columns() -> String {
    METRICS
        .iter()
        .map(|metric| format!("v.{}", metric.name))
        .collect::<Vec<_>>()
        .join(", ")
}

impl Store {
    /// The done points of a run with all measures, in the order of the sweep.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn measured_points(&self, run: RunId) -> Result<Vec<MeasuredPoint>, StoreError> {
        let sql = |error| self.error("reading points", error);
        let mut axes = self.axis_values(run, None)?;
        let mut measured = self.measured_simulations(run)?;
        let mut specs: HashMap<i64, Arc<str>> = HashMap::new();
        let metrics = metric_columns();
        let mut statement = self
            .connection
            .prepare(&format!(
                "SELECT v.place, v.identity, v.simulation, v.replication, m.spec, v.strategy, m.jobs_hash, m.failures_hash,
                    {metrics}
                 FROM v_point v JOIN simulation m ON m.id = v.simulation
                 WHERE v.run = ?1 AND v.state = 'done' ORDER BY v.place"
            ))
            .map_err(sql)?;
        let points: Vec<MeasuredPoint> = statement
            .query_map([run.0], |row| {
                let place = row.get(0)?;
                let simulation = row.get(2)?;
                Ok(MeasuredPoint {
                    place,
                    original: place,
                    identity: row.get(1)?,
                    simulation,
                    measured: measured.entry(simulation).or_default().clone(),
                    axes: axes.remove(&place).unwrap_or_default(),
                    replication: row.get(3)?,
                    spec: match specs.entry(simulation) {
                        Entry::Occupied(known) => Arc::clone(known.get()),
                        Entry::Vacant(new) => {
                            Arc::clone(new.insert(row.get_ref(4)?.as_str()?.into()))
                        }
                    },
                    strategy: row.get(5)?,
                    seen: seen(row, 6)?,
                    values: (0..METRICS.len())
                        .map(|at| row.get(8 + at))
                        .collect::<Result<_, _>>()?,
                })
            })
            .and_then(Iterator::collect)
            .map_err(sql)?;
        Ok(with_originals(points))
    }

    /// The points of a run that failed, were not run yet or are under way, in the order of the
    /// sweep.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn unfinished_points(&self, run: RunId) -> Result<Vec<UnfinishedPoint>, StoreError> {
        let sql = |error| self.error("reading points without a result", error);
        let mut axes = self.axis_values(run, None)?;
        self.connection
            .prepare(
                "SELECT place, replication, state FROM v_point WHERE run = ?1 AND state <> 'done' ORDER BY place",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([run.0], |row| {
                        let place = row.get(0)?;
                        Ok(UnfinishedPoint {
                            place,
                            axes: axes.remove(&place).unwrap_or_default(),
                            replication: row.get(1)?,
                            state: row.get(2)?,
                        })
                    })
                    .and_then(Iterator::collect)
            })
            .map_err(sql)
    }

    /// What the studies of a run measured, by simulation; names that this program does not know are
    /// left out.
    fn measured_simulations(&self, run: RunId) -> Result<BTreeMap<i64, NamedValues>, StoreError> {
        let sql = |error| self.error("reading measures", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT d.simulation, q.name, d.value FROM simulation_measure d JOIN measure q ON q.code = d.measure
                 WHERE d.simulation IN
                    (SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = ?1)",
            )
            .map_err(sql)?;
        let mut rows = statement.query([run.0]).map_err(sql)?;
        let measures: Vec<&Measure> = self.studies.measures().collect();
        let mut found = BTreeMap::<i64, Vec<(usize, f64)>>::new();
        while let Some(row) = rows.next().map_err(sql)? {
            let name: String = row.get(1).map_err(sql)?;
            let place = measures.iter().position(|measure| measure.name == name);
            if let Some(place) = place {
                found
                    .entry(row.get(0).map_err(sql)?)
                    .or_default()
                    .push((place, row.get(2).map_err(sql)?));
            }
        }
        let named = |(simulation, mut values): (i64, Vec<(usize, f64)>)| {
            values.sort_unstable_by_key(|(place, _)| *place);
            let values = values.into_iter();
            let named = values.map(|(place, value)| (measures[place].name, value));
            (simulation, named.collect())
        };
        Ok(found.into_iter().map(named).collect())
    }

    /// Every value on every axis by place, for a run or one place of it.
    fn axis_values(
        &self,
        run: RunId,
        place: Option<i64>,
    ) -> Result<BTreeMap<i64, Vec<(String, AxisValue)>>, StoreError> {
        let sql = |error| self.error("reading the axes of points", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT place, key, kind, value FROM v_point_axis
                 WHERE run = ?1 AND place BETWEEN ?2 AND ?3 ORDER BY place, axis",
            )
            .map_err(sql)?;
        let (first, last) = place.map_or((0, i64::MAX), |place| (place, place));
        let mut rows = statement.query(params![run.0, first, last]).map_err(sql)?;
        let mut axes = BTreeMap::<i64, Vec<_>>::new();
        while let Some(row) = rows.next().map_err(sql)? {
            let kind: String = row.get(2).map_err(sql)?;
            let value: Value = row.get(3).map_err(sql)?;
            axes.entry(row.get(0).map_err(sql)?)
                .or_default()
                .push((row.get(1).map_err(sql)?, axis_value(&kind, value)));
        }
        Ok(axes)
    }

    /// The state of every place that the run came to, in the order of places.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn place_states(&self, run: RunId) -> Result<Vec<(i64, String)>, StoreError> {
        let sql = |error| self.error("reading the states of points", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT rp.place, st.name FROM run_point rp JOIN point p ON p.id = rp.point
                 JOIN simulation m ON m.id = p.simulation JOIN simulation_state st ON st.code = m.state
                 WHERE rp.run = ?1 ORDER BY rp.place",
            )
            .map_err(sql)?;
        statement
            .query_map([run.0], |row| Ok((row.get(0)?, row.get(1)?)))
            .and_then(Iterator::collect)
            .map_err(sql)
    }

    /// One place of a run; `None` where the run has no such place, or never came to it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn place(&self, run: RunId, place: i64) -> Result<Option<PlaceDetail>, StoreError> {
        let sql = |error| self.error("reading a point", error);
        let mut axes = self.axis_values(run, Some(place))?;
        let measured = self.measured_simulations(run)?;
        let metrics = metric_columns();
        self.connection
            .query_row(
                &format!(
                    "SELECT v.place, v.identity, v.simulation, v.state, v.error, m.attempts, v.strategy,
                        v.workload_label, v.replication, v.penalty_ratio,
                        EXISTS (SELECT 1 FROM v_all_jobs o WHERE o.run = ?1 AND o.simulation = v.simulation),
                        (SELECT wall_seconds FROM simulation_timing t WHERE t.simulation = v.simulation), {metrics}
                     FROM v_point v JOIN simulation m ON m.id = v.simulation WHERE v.run = ?1 AND v.place = ?2"
                ),
                params![run.0, place],
                |row| {
                    Ok(PlaceDetail {
                        run,
                        place: row.get(0)?,
                        identity: row.get(1)?,
                        simulation: row.get(2)?,
                        state: row.get(3)?,
                        error: row.get(4)?,
                        attempts: row.get(5)?,
                        strategy: row.get(6)?,
                        workload: row.get(7)?,
                        replication: row.get(8)?,
                        penalty_ratio: row.get(9)?,
                        has_jobs: row.get(10)?,
                        wall_seconds: row.get(11)?,
                        axes: axes.remove(&place).unwrap_or_default(),
                        values: METRICS
                            .iter()
                            .enumerate()
                            .map(|(at, metric)| Ok((metric.name, SqlValue::from_ref(row.get_ref(12 + at)?))))
                            .chain(
                                measured
                                    .get(&row.get(2)?)
                                    .into_iter()
                                    .flatten()
                                    .map(|(name, value)| Ok((*name, SqlValue::Real(*value)))),
                            )
                            .collect::<rusqlite::Result<_>>()?,
                    })
                },
            )
            .optional()
            .map_err(sql)
    }

    /// How long decisions took in the simulation of one place of a run, or in all of them; none
    /// where that was not measured.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn decision_timing(
        &self,
        run: RunId,
        place: Option<i64>,
    ) -> Result<Vec<DecisionTiming>, StoreError> {
        let over = |row: &rusqlite::Row<'_>, column| {
            let decisions: Option<i64> = row.get(column)?;
            Ok::<_, rusqlite::Error>(decisions.map(i64::unsigned_abs))
        };
        let timing = |row: &rusqlite::Row<'_>| {
            Ok(DecisionTiming {
                decision: row.get(0)?,
                decisions: row.get::<_, i64>(1)?.unsigned_abs(),
                p50_seconds: row.get(2)?,
                p99_seconds: row.get(3)?,
                longest_seconds: row.get(4)?,
                over_seconds: [over(row, 5)?, over(row, 6)?, over(row, 7)?],
            })
        };
        self.connection
            .prepare(
                "WITH asked AS (
                    SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point
                    WHERE rp.run = ?1 AND (?2 IS NULL OR rp.place = ?2)
                 ),
                 over AS (
                    SELECT simulation, decision, sum(decisions * (up_to_seconds > 1)) AS one,
                        sum(decisions * (up_to_seconds > 2)) AS two,
                        sum(decisions * (up_to_seconds > 5)) AS five
                    FROM decision_histogram WHERE simulation IN asked GROUP BY simulation, decision
                 )
                 SELECT decision, sum(decisions), max(p50_seconds), max(p99_seconds), max(longest_seconds),
                    iif(count(one) = count(*), sum(one), NULL), iif(count(two) = count(*), sum(two), NULL),
                    iif(count(five) = count(*), sum(five), NULL)
                 FROM decision_timing LEFT JOIN over USING (simulation, decision)
                 WHERE simulation IN asked GROUP BY decision ORDER BY decision",
            )
            .and_then(|mut rows| rows.query_map(params![run.0, place], timing)?.collect())
            .map_err(|error| self.error("reading how long decisions took", error))
    }

    /// The jobs behind a point, the dearest penalties first, then the dearest fees.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn jobs_behind(
        &self,
        point: &PlaceDetail,
        most: u32,
    ) -> Result<Vec<JobDetail>, StoreError> {
        let sql = |error| self.error("reading the jobs of a point", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT job, trace_number, nodes, estimate, runtime, planned_end - planned_start, pof, reason, waiting,
                    fee, penalty * ?2
                 FROM v_all_jobs WHERE run = ?4 AND simulation = ?1
                 ORDER BY penalty DESC, fee DESC, cluster, job LIMIT ?3",
            )
            .map_err(sql)?;
        statement
            .query_map(
                params![point.simulation, point.penalty_ratio, most, point.run.0],
                |row| {
                    Ok(JobDetail {
                        job: row.get(0)?,
                        trace_number: row.get(1)?,
                        nodes: row.get(2)?,
                        estimate: row.get(3)?,
                        runtime: row.get(4)?,
                        slot_length: row.get(5)?,
                        pof: row.get(6)?,
                        reason: row.get(7)?,
                        waiting: row.get(8)?,
                        fee: row.get(9)?,
                        penalty: row.get(10)?,
                    })
                },
            )
            .and_then(Iterator::collect)
            .map_err(sql)
    }
}
