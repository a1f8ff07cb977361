//! One quantity of a run at every combination of its axes: what findings about curves are judged
//! by.

use std::collections::BTreeMap;

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::read::seen;
use super::runs::axis_value;
use super::{RunId, Store, StoreError, metrics};
use crate::study::Studies;
use crate::sweep::{AxisValue, Seen};

/// A quantity at one combination of axis values of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSamples {
    /// The value on every axis, by the axis's dotted key.
    pub values: BTreeMap<String, AxisValue>,
    /// Replication and value, in the order of the replications; those without a value (no job
    /// started) are left out.
    pub samples: Vec<(u32, f64)>,
    /// What the simulation of each of them saw.
    pub seen: Vec<Seen>,
}

impl Store {
    /// A quantity of the done points of a run by their axis values, in the order of the axes: a
    /// metric (one of [`metric_names`](super::metric_names)), else what a study keeps by this name
    /// in a table of its own ([`Studies::quantity`](crate::study::Studies::quantity)), else the
    /// measure of this name. Empty where nothing of this name was measured. A simulation that
    /// several points share counts at each of them.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn curve_cells(&self, run: RunId, measure: &str) -> Result<Vec<CurveSamples>, StoreError> {
        let sql = |error| self.error("reading curves", error);
        let (value, table, own) = quantity(self.studies, measure);
        let parameters = [vec![Value::Integer(run.0)], own].concat();
        // A row an axis of each point, those of a point one after the other; one row without an
        // axis where the run has none.
        let query = format!(
            "SELECT rp.place, p.replication, {value} AS value, pa.axis, pa.value, a.key, v.kind, v.value,
                m.jobs_hash, m.failures_hash
             FROM run_point rp
             JOIN point p ON p.id = rp.point
             JOIN simulation m ON m.id = p.simulation AND m.state = 2
             {table}
             LEFT JOIN point_axis pa ON pa.run = rp.run AND pa.place = rp.place
             LEFT JOIN v_axis a ON a.run = pa.run AND a.position = pa.axis
             LEFT JOIN axis_value v ON v.run = pa.run AND v.axis = pa.axis AND v.position = pa.value
             WHERE rp.run = ?1 ORDER BY rp.place, pa.axis"
        );
        let mut statement = self.connection.prepare(&query).map_err(sql)?;
        let mut rows = statement.query(params_from_iter(parameters)).map_err(sql)?;
        let mut cells = Cells::default();
        let mut current: Option<PlacePoint> = None;
        while let Some(row) = rows.next().map_err(sql)? {
            let place: i64 = row.get(0).map_err(sql)?;
            if current.as_ref().is_none_or(|point| point.place != place) {
                let point = PlacePoint {
                    place,
                    replication: row.get(1).map_err(sql)?,
                    value: row.get(2).map_err(sql)?,
                    seen: seen(row, 8).map_err(sql)?,
                    positions: Vec::new(),
                    values: BTreeMap::new(),
                };
                cells.add(current.replace(point));
            }
            let axis: Option<i64> = row.get(3).map_err(sql)?;
            if let (Some(axis), Some(point)) = (axis, current.as_mut()) {
                point.positions.push((axis, row.get(4).map_err(sql)?));
                let kind: String = row.get(6).map_err(sql)?;
                point.values.insert(
                    row.get(5).map_err(sql)?,
                    axis_value(&kind, row.get(7).map_err(sql)?),
                );
            }
        }
        cells.add(current);
        Ok(cells.sorted())
    }
}

/// How a quantity is read: the expression of its value, what is joined to the simulation `m` and
/// the point `p` for it, and the parameters of that, from `?2` on.
pub(super) fn quantity(studies: Studies, name: &str) -> (String, &'static str, Vec<Value>) {
    if let Some(expression) = metrics::by_name(name) {
        let join = "JOIN simulation_metrics k ON k.simulation = m.id";
        return (expression, join, Vec::new());
    }
    let value = "d.value".to_owned();
    match studies.quantity(name) {
        Some(own) => (value, own.join, own.parameters),
        None => (
            value,
            "JOIN simulation_measure d ON d.simulation = m.id
                AND d.measure = (SELECT code FROM measure WHERE name = ?2)",
            vec![Value::Text(name.to_owned())],
        ),
    }
}

/// A done point while its rows are read.
struct PlacePoint {
    place: i64,
    replication: u32,
    value: Option<f64>,
    seen: Seen,
    positions: Vec<(i64, i64)>,
    values: BTreeMap<String, AxisValue>,
}

/// A cell while its points are read.
#[derive(Default)]
struct Cell {
    values: BTreeMap<String, AxisValue>,
    points: Vec<(u32, f64, Seen)>,
}

/// Cells by their places on the axes.
#[derive(Default)]
struct Cells(BTreeMap<Vec<(i64, i64)>, Cell>);

impl Cells {
    fn add(&mut self, point: Option<PlacePoint>) {
        let Some(PlacePoint {
            replication,
            value: Some(value),
            seen,
            positions,
            values,
            ..
        }) = point
        else {
            return;
        };
        let cell = self.0.entry(positions).or_default();
        cell.values = values;
        cell.points.push((replication, value, seen));
    }

    fn sorted(self) -> Vec<CurveSamples> {
        let sorted = |mut cell: Cell| {
            // A sum of fractions depends on its order.
            cell.points.sort_by_key(|(replication, ..)| *replication);
            let points = cell.points.into_iter();
            let (samples, seen) = points
                .map(|(replication, value, seen)| ((replication, value), seen))
                .unzip();
            CurveSamples {
                values: cell.values,
                samples,
                seen,
            }
        };
        self.0.into_values().map(sorted).collect()
    }
}
