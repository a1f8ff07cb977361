//! The same co-reservation requests under two settings: which were granted by one alone, and what
//! those were like.

use std::collections::BTreeMap;

use rusqlite::params;

use super::runs::axis_value;
use super::{RunId, Store, StoreError};
use crate::sweep::AxisValue;

/// The values of [`PairedRequests::measures`], by name: requests granted only by the left and only
/// by the right, both also as shares of all requests; and mean, standard deviation (of a sample)
/// and maximum of the CPUs of the first part and of the duration in seconds of those granted only
/// by the right. A value over too few requests is not there.
pub const PAIRED_MEASURES: [&str; 10] = [
    "only_left",
    "only_right",
    "only_left_share",
    "only_right_share",
    "only_right_nodes_mean",
    "only_right_nodes_deviation",
    "only_right_nodes_max",
    "only_right_seconds_mean",
    "only_right_seconds_deviation",
    "only_right_seconds_max",
];

/// Two points of a run with the same replication that differ in the chosen axes alone.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedRequests {
    /// The values on the other axes, which both have.
    pub values: BTreeMap<String, AxisValue>,
    /// The replication.
    pub replication: u32,
    /// Names of [`PAIRED_MEASURES`] with their values.
    pub measures: Vec<(&'static str, f64)>,
}

/// A done point whose requests were kept.
struct Kept {
    replication: u32,
    simulation: i64,
    values: BTreeMap<String, AxisValue>,
}

impl Store {
    /// Pairs the points of a run that have these values on some axes with those that have the
    /// others; requests are paired by their number, template and duration. In the order of the
    /// points on the left. Empty where outcomes were not kept.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn paired_requests(
        &self,
        run: RunId,
        left: &BTreeMap<String, AxisValue>,
        right: &BTreeMap<String, AxisValue>,
    ) -> Result<Vec<PairedRequests>, StoreError> {
        let points = self.points_with_requests(run)?;
        let rest = |point: &Kept| -> BTreeMap<String, AxisValue> {
            let mut values = point.values.clone();
            values.retain(|key, _| !left.contains_key(key) && !right.contains_key(key));
            values
        };
        let mut pairs = Vec::new();
        for point in points.iter().filter(|point| point.has(left)) {
            let values = rest(point);
            let partner = points.iter().find(|other| {
                other.replication == point.replication && other.has(right) && rest(other) == values
            });
            if let Some(partner) = partner {
                let measures = self.only_granted_by(point.simulation, partner.simulation)?;
                pairs.push(PairedRequests {
                    values,
                    replication: point.replication,
                    measures,
                });
            }
        }
        Ok(pairs)
    }

    fn points_with_requests(&self, run: RunId) -> Result<Vec<Kept>, StoreError> {
        let sql = |error| self.error("reading points with requests", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT rp.place, p.replication, p.simulation, a.key, v.kind, v.value
                 FROM run_point rp
                 JOIN point p ON p.id = rp.point
                 JOIN simulation m ON m.id = p.simulation AND m.state = 2
                 LEFT JOIN point_axis pa ON pa.run = rp.run AND pa.place = rp.place
                 LEFT JOIN v_axis a ON a.run = pa.run AND a.position = pa.axis
                 LEFT JOIN axis_value v ON v.run = pa.run AND v.axis = pa.axis AND v.position = pa.value
                 WHERE rp.run = ?1 AND EXISTS (SELECT 1 FROM co_request o WHERE o.simulation = p.simulation)
                 ORDER BY rp.place, pa.axis",
            )
            .map_err(sql)?;
        let mut rows = statement.query(params![run.0]).map_err(sql)?;
        let mut points: Vec<Kept> = Vec::new();
        let mut last = None;
        while let Some(row) = rows.next().map_err(sql)? {
            let place: i64 = row.get(0).map_err(sql)?;
            if last != Some(place) {
                last = Some(place);
                points.push(Kept {
                    replication: row.get(1).map_err(sql)?,
                    simulation: row.get(2).map_err(sql)?,
                    values: BTreeMap::new(),
                });
            }
            let key: Option<String> = row.get(3).map_err(sql)?;
            if let (Some(key), Some(point)) = (key, points.last_mut()) {
                let kind: String = row.get(4).map_err(sql)?;
                let value = axis_value(&kind, row.get(5).map_err(sql)?);
                point.values.insert(key, value);
            }
        }
        Ok(points)
    }

    fn only_granted_by(
        &self,
        left: i64,
        right: i64,
    ) -> Result<Vec<(&'static str, f64)>, StoreError> {
        let sql = |error| self.error("pairing requests", error);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT lv.granted, rv.granted, p.nodes, l.duration
                 FROM co_request l
                 JOIN co_request r ON r.simulation = ?2 AND r.request = l.request
                    AND r.trace_number = l.trace_number AND r.duration = l.duration
                 JOIN co_part p ON p.simulation = l.simulation AND p.request = l.request AND p.part = 0
                 JOIN co_verdict lv ON lv.code = l.verdict
                 JOIN co_verdict rv ON rv.code = r.verdict
                 WHERE l.simulation = ?1 ORDER BY l.request",
            )
            .map_err(sql)?;
        let mut rows = statement.query(params![left, right]).map_err(sql)?;
        let (mut all, mut only_left) = (0_u32, 0_u32);
        let (mut nodes, mut seconds) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next().map_err(sql)? {
            all += 1;
            let granted: (bool, bool) = (row.get(0).map_err(sql)?, row.get(1).map_err(sql)?);
            match granted {
                (true, false) => only_left += 1,
                (false, true) => {
                    nodes.push(f64::from(row.get::<_, u32>(2).map_err(sql)?));
                    seconds.push(row.get::<_, i64>(3).map_err(sql)? as f64);
                }
                _ => {}
            }
        }
        let (all, only_left, only_right) =
            (f64::from(all), f64::from(only_left), nodes.len() as f64);
        let values = [
            only_left,
            only_right,
            only_left / all,
            only_right / all,
            mean(&nodes),
            deviation(&nodes),
            most(&nodes),
            mean(&seconds),
            deviation(&seconds),
            most(&seconds),
        ];
        Ok(PAIRED_MEASURES
            .into_iter()
            .zip(values)
            .filter(|(_, value)| value.is_finite())
            .collect())
    }
}

impl Kept {
    fn has(&self, wanted: &BTreeMap<String, AxisValue>) -> bool {
        wanted
            .iter()
            .all(|(key, value)| self.values.get(key).is_some_and(|own| same(own, value)))
    }
}

/// 10 and 10.0 are the same.
fn same(left: &AxisValue, right: &AxisValue) -> bool {
    match (left, right) {
        (AxisValue::Integer(whole), AxisValue::Real(real))
        | (AxisValue::Real(real), AxisValue::Integer(whole)) => *whole as f64 == *real,
        _ => left == right,
    }
}

/// Not a number where there is nothing.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}
