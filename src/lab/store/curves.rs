//! One quantity of a run at every combination of its axes: what findings about curves are judged
//! by.

use std::collections::BTreeMap;

use rusqlite::params;

use super::read::seen;
use super::runs::axis_value;
use super::{RunId, Store, StoreError, metrics};
use crate::studies::ClusterMeasureName;
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
    /// metric (one of [`metric_names`](super::metric_names)), else the measure of this name, of a
    /// cluster where it names one ([`ClusterMeasureName`]). Empty where nothing of this name was
    /// measured. A simulation that several points share counts at each of them.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn curve_cells(&self, run: RunId, measure: &str) -> Result<Vec<CurveSamples>, StoreError> {
        let sql = |error| self.error("reading curves", error);
        let metric = metrics::by_name(measure);
        let of_cluster = ClusterMeasureName::parse(measure);
        let (value, table) = match (metric, of_cluster) {
            (Some(expression), _) => (
                expression,
                "JOIN simulation_metrics k ON k.simulation = m.id AND ?2 IS NOT NULL",
            ),
            (None, Some(_)) => (
                "d.value".to_owned(),
                "JOIN cluster_measure d ON d.simulation = m.id AND d.cluster = ?3 AND d.class = ?4
                    AND d.measure = (SELECT code FROM measure WHERE name = ?2)",
            ),
            (None, None) => (
                "d.value".to_owned(),
                "JOIN simulation_measure d ON d.simulation = m.id
                    AND d.measure = (SELECT code FROM measure WHERE name = ?2)",
            ),
        };
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
             LEFT JOIN axis a ON a.run = pa.run AND a.position = pa.axis
             LEFT JOIN axis_value v ON v.run = pa.run AND v.axis = pa.axis AND v.position = pa.value
             WHERE rp.run = ?1 ORDER BY rp.place, pa.axis"
        );
        let mut statement = self.connection.prepare(&query).map_err(sql)?;
        let mut rows = match of_cluster {
            Some(name) => statement.query(params![run.0, name.measure, name.cluster.0, name.class]),
            None => statement.query(params![run.0, measure]),
        }
        .map_err(sql)?;
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

#[cfg(test)]
mod tests {
    use super::super::fixtures::seen as saw;
    use super::super::fixtures::{axis, finished, point, record, result, text, write_run};
    use super::*;
    use crate::store::{METRICS, metric_names};
    use crate::studies::STUDIES;
    use crate::study::SimulationResult;
    use crate::sweep::{Axis, Point};
    use crate::units::NodeSeconds;

    const SHARE: &str = "reservations.share_percent";
    const RULE: &str = "admission.rule";

    fn whole(value: i64) -> AxisValue {
        AxisValue::Integer(value)
    }

    fn axes() -> Vec<Axis> {
        vec![
            axis(RULE, &[text("reject"), text("move")]),
            axis(SHARE, &[whole(0), whole(10)]),
        ]
    }

    fn at(rule: &str, share: i64, replication: u32, id: &str) -> Point {
        let axes = [(RULE, text(rule)), (SHARE, whole(share))];
        point(id, &axes, replication, 1.0)
    }

    fn rejecting(percent: f64, busy: i64) -> SimulationResult {
        let mut result = result(20);
        result.metrics.busy = NodeSeconds(busy);
        result.measured.add("rejected_percent", percent);
        result
    }

    /// Share 0 is the same simulation under both rules, share 10 is one of its own.
    fn store(folder: &tempfile::TempDir) -> (Store, RunId) {
        let path = folder.path().join("store.db");
        let mut simulations = Vec::new();
        for replication in [1, 0] {
            let own = f64::from(replication);
            let busy = i64::from(replication) * 64_000;
            let id = format!("none-{replication}");
            simulations.push(finished(
                &id,
                "replanning",
                replication,
                rejecting(own, busy),
                vec![
                    at("reject", 0, replication, &id),
                    at("move", 0, replication, &id),
                ],
            ));
            for (rule, percent) in [("reject", 50.0), ("move", 20.0)] {
                let id = format!("{rule}-{replication}");
                simulations.push(finished(
                    &id,
                    "replanning",
                    replication,
                    rejecting(percent + own, busy),
                    vec![at(rule, 10, replication, &id)],
                ));
            }
        }
        let run = write_run(&path, &record("curves", axes(), 8), simulations);
        (Store::open_read_only(STUDIES, &path).unwrap(), run)
    }

    #[test]
    fn a_measure_of_a_cluster_comes_by_its_name_with_cluster_and_class() {
        use super::super::fixtures::grid::grid;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let rules = ["reject", "move"];
        let simulations = rules.map(|rule| {
            let points = vec![point(rule, &[(RULE, text(rule))], 0, 1.0)];
            // Requests 0 and 1 are granted, then all four.
            let result = grid(3, 4, |request| request < 2 || rule == "move");
            finished(rule, "co-reservation", 0, result, points)
        });
        let axes = vec![axis(RULE, &rules.map(text))];
        let run = write_run(&path, &record("clusters", axes, 2), simulations.into());
        let store = Store::open_read_only(STUDIES, &path).unwrap();
        let values = |measure: &str| -> Vec<f64> {
            let cells = store.curve_cells(run, measure).unwrap();
            cells.iter().map(|cell| cell.samples[0].1).collect()
        };
        // Parts of request n are on the clusters n and n + 1 (of three).
        assert_eq!(values("cluster_parts@1"), [2.0, 3.0]);
        assert_eq!(values("cluster_parts@2"), [1.0, 2.0]);
        assert_eq!(values("class_parts_by_nodes@2/17-32"), [1.0, 1.0]);
        assert_eq!(values("cluster_parts@3"), [0.0; 0]);
        assert_eq!(values("cluster_parts"), [0.0; 0]);
    }

    type Seen = (String, AxisValue, Vec<(u32, f64)>);

    fn seen(cells: &[CurveSamples]) -> Vec<Seen> {
        cells
            .iter()
            .map(|cell| {
                let AxisValue::Text(rule) = &cell.values[RULE] else {
                    panic!("a name")
                };
                let share = cell.values[SHARE].clone();
                (rule.clone(), share, cell.samples.clone())
            })
            .collect()
    }

    #[test]
    fn a_measure_comes_by_axis_values_and_a_shared_simulation_at_each_of_its_points() {
        let folder = tempfile::tempdir().unwrap();
        let (store, run) = store(&folder);
        let cells = store.curve_cells(run, "rejected_percent").unwrap();
        assert_eq!(
            seen(&cells),
            [
                ("reject".to_owned(), whole(0), vec![(0, 0.0), (1, 1.0)]),
                ("reject".to_owned(), whole(10), vec![(0, 50.0), (1, 51.0)]),
                ("move".to_owned(), whole(0), vec![(0, 0.0), (1, 1.0)]),
                ("move".to_owned(), whole(10), vec![(0, 20.0), (1, 21.0)]),
            ]
        );
    }

    #[test]
    fn metrics_have_names_and_agree_with_the_points() {
        let folder = tempfile::tempdir().unwrap();
        let (store, run) = store(&folder);
        let busy = store.curve_cells(run, "utilisation_percent").unwrap();
        assert_eq!(busy[0].samples, [(0, 0.0), (1, 10.0)]);
        let points = store.points(run).unwrap();
        for metric in METRICS {
            let cells: Vec<Option<f64>> = store
                .curve_cells(run, metric.name)
                .unwrap()
                .iter()
                .flat_map(|cell| cell.samples.iter().map(|(_, value)| Some(*value)))
                .collect();
            assert_eq!(cells, points.metrics[metric.name], "{}", metric.name);
        }
        for name in metric_names() {
            assert_eq!(store.curve_cells(run, name).unwrap().len(), 4, "{name}");
            assert!(STUDIES.measures().all(|measure| measure.name != name));
        }
    }

    #[test]
    fn what_was_not_measured_has_no_cells_and_a_run_without_axes_has_one() {
        let folder = tempfile::tempdir().unwrap();
        let (store, run) = store(&folder);
        assert_eq!(store.curve_cells(run, "price_su").unwrap(), []);
        assert_eq!(store.curve_cells(run, "no such measure").unwrap(), []);
        let path = folder.path().join("single.db");
        let run = write_run(
            &path,
            &record("single", Vec::new(), 1),
            vec![finished(
                "s",
                "replanning",
                0,
                rejecting(7.0, 0),
                vec![point("s", &[], 0, 1.0)],
            )],
        );
        let store = Store::open_read_only(STUDIES, &path).unwrap();
        assert_eq!(
            store.curve_cells(run, "rejected_percent").unwrap(),
            [CurveSamples {
                values: BTreeMap::new(),
                samples: vec![(0, 7.0)],
                seen: vec![saw("jobs 0", "none")],
            }]
        );
    }
}
