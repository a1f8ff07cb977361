//! Reading what studies measured: measures by name as columns, and how prices and waits of
//! reservations are distributed.

use std::collections::HashMap;

use rusqlite::params;

use super::aggregates::{Bin, OF_RUN};
use super::tables::distributions;
use super::{RunId, Store, StoreError};

/// A measure of a study for every point of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureColumn {
    /// Its name in the store and in CSV files.
    pub name: String,
    /// Its unit, for people; empty for counts and ratios.
    pub unit: String,
    /// What it is, as a heading, with the unit.
    pub title: String,
    /// One value a point; `None` where the point's simulation did not measure it.
    pub values: Vec<Option<f64>>,
}

/// How many granted reservations of a simulation had a price and a wait in every bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReservationCounts {
    /// By price in SU; empty where nobody asked for prices. The first bin holds what costs less
    /// than 0.1 SU.
    pub prices: Vec<Bin>,
    /// By seconds from the request to the start. The first bin holds what waits less than a second.
    pub waits: Vec<Bin>,
}

/// A tenth of an SU in node-seconds: where the bins of prices begin.
const TENTH: f64 = 360.0;

impl Store {
    /// The measures that any of these points has, in the order of
    /// [`Studies::measures`](crate::study::Studies::measures), then those that this program does
    /// not know, by name. `simulation` is the simulation of every point.
    pub(super) fn measure_columns(
        &self,
        run: RunId,
        simulation: &[i64],
    ) -> Result<Vec<MeasureColumn>, StoreError> {
        let sql = |error| self.error("reading measures", error);
        // Most stores hold no study, and then not even the simulations of the run need to be looked
        // up.
        let any: bool = self
            .connection
            .query_row(
                "SELECT EXISTS (SELECT 1 FROM simulation_measure)",
                [],
                |row| row.get(0),
            )
            .map_err(sql)?;
        if !any {
            return Ok(Vec::new());
        }
        let mut names: HashMap<i64, (String, String, String)> = HashMap::new();
        let mut statement = self
            .connection
            .prepare("SELECT code, name, unit, title FROM measure")
            .map_err(sql)?;
        let mut rows = statement.query([]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let words = (
                row.get(1).map_err(sql)?,
                row.get(2).map_err(sql)?,
                row.get(3).map_err(sql)?,
            );
            names.insert(row.get(0).map_err(sql)?, words);
        }
        let mut points: HashMap<i64, Vec<usize>> = HashMap::new();
        for (point, simulation) in simulation.iter().enumerate() {
            points.entry(*simulation).or_default().push(point);
        }
        let query = format!(
            "SELECT simulation, measure, value FROM simulation_measure WHERE simulation IN {OF_RUN}"
        );
        let mut columns: HashMap<i64, Vec<Option<f64>>> = HashMap::new();
        let mut statement = self.connection.prepare(&query).map_err(sql)?;
        let mut rows = statement.query([run.0]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let of: i64 = row.get(0).map_err(sql)?;
            let Some(places) = points.get(&of) else {
                continue;
            };
            let column = columns
                .entry(row.get(1).map_err(sql)?)
                .or_insert_with(|| vec![None; simulation.len()]);
            let value: f64 = row.get(2).map_err(sql)?;
            for place in places {
                column[*place] = Some(value);
            }
        }
        let mut found: Vec<MeasureColumn> = columns
            .into_iter()
            .filter_map(|(code, values)| {
                let (name, unit, title) = names.get(&code)?.clone();
                let (unit, title) = match self.studies.measure(&name) {
                    Some(known) => (known.unit.to_owned(), known.title.to_owned()),
                    None => (unit, title),
                };
                Some(MeasureColumn {
                    name,
                    unit,
                    title,
                    values,
                })
            })
            .collect();
        found.sort_by_cached_key(|column| {
            let rank = self
                .studies
                .measures()
                .position(|measure| measure.name == column.name);
            (rank.unwrap_or(usize::MAX), column.name.clone())
        });
        Ok(found)
    }

    /// Prices and waits of the granted reservations of a run, by simulation; empty where their
    /// outcomes were not kept.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn reservation_counts(
        &self,
        run: RunId,
    ) -> Result<HashMap<i64, ReservationCounts>, StoreError> {
        let sql = |error| self.error("reading reservations", error);
        let query = format!(
            "SELECT o.simulation, o.price, o.start FROM reservation_outcome o
             JOIN request_verdict v ON v.code = o.verdict AND v.granted
             WHERE o.start IS NOT NULL AND o.simulation IN {OF_RUN}"
        );
        let mut counts: HashMap<i64, [Vec<u64>; 2]> = HashMap::new();
        let mut statement = self.connection.prepare(&query).map_err(sql)?;
        let mut rows = statement.query(params![run.0]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let [prices, waits] = counts.entry(row.get(0).map_err(sql)?).or_default();
            if let Some(price) = row.get::<_, Option<i64>>(1).map_err(sql)? {
                count(prices, price as f64 / TENTH);
            }
            count(waits, row.get::<_, i64>(2).map_err(sql)? as f64);
        }
        Ok(counts
            .into_iter()
            .map(|(simulation, [prices, waits])| {
                let counts = ReservationCounts {
                    prices: bins(&prices, TENTH / 3_600.0),
                    waits: bins(&waits, 1.0),
                };
                (simulation, counts)
            })
            .collect())
    }
}

fn count(counts: &mut Vec<u64>, value: f64) {
    let bin = distributions::bin(value);
    if counts.len() <= bin {
        counts.resize(bin + 1, 0);
    }
    counts[bin] += 1;
}

fn bins(counts: &[u64], unit: f64) -> Vec<Bin> {
    distributions::bins()
        .zip(counts)
        .map(|((low, high), count)| Bin {
            low: low * unit,
            high: high * unit,
            count: *count,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::studies::STUDIES;
    use rusqlite::Connection;

    use super::*;
    use crate::scheduling::measures::Measured;
    use crate::store::RunSelector;
    use crate::store::fixtures::{finished, point, record, result, write_run};
    use crate::study::SimulationResult;

    #[test]
    fn measures_are_columns_in_the_order_of_the_registry_and_unknown_ones_come_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut measured = Measured::default();
        measured.add("price_su", 2.5);
        measured.add("requests", 40.0);
        let with = SimulationResult {
            measured,
            ..result(0)
        };
        write_run(
            &path,
            &record("measured", vec![], 3),
            vec![
                // Two points of one simulation, which differ in what a penalty costs.
                finished(
                    "a",
                    "replanning",
                    0,
                    with,
                    vec![point("a1", &[], 0, 1.0), point("a2", &[], 0, 2.0)],
                ),
                finished(
                    "b",
                    "replanning",
                    1,
                    result(0),
                    vec![point("b", &[], 1, 1.0)],
                ),
            ],
        );
        let connection = Connection::open(&path).unwrap();
        for name in ["zeal", "ardour"] {
            connection
                .execute(
                    "INSERT INTO measure (name, unit, title) VALUES (?1, 'z', 'Words')",
                    [name],
                )
                .unwrap();
            connection
                .execute(
                    "INSERT INTO simulation_measure
                     SELECT m.id, q.code, 1.0 FROM simulation m, measure q WHERE m.identity = 'b' AND q.name = ?1",
                    [name],
                )
                .unwrap();
        }
        drop(connection);
        let store = Store::open_read_only(STUDIES, &path).unwrap();
        let run = store.run(&RunSelector::Latest).unwrap();
        let points = store.points(run.id).unwrap();
        let names: Vec<&str> = points
            .measures
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        assert_eq!(names, ["requests", "price_su", "ardour", "zeal"]);
        let prices = &points.measures[1];
        assert_eq!(prices.values, [Some(2.5), Some(2.5), None]);
        assert_eq!(
            (prices.unit.as_str(), prices.title.as_str()),
            ("SU", "Mean additive price (SU)")
        );
        assert_eq!(points.measures[3].title, "Words");
        assert_eq!(points.measures[3].values, [None, None, Some(1.0)]);
    }

    #[test]
    fn runs_without_measures_have_no_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let simulation = finished("a", "fcfs", 0, result(3), vec![point("a", &[], 0, 1.0)]);
        write_run(&path, &record("plain", vec![], 1), vec![simulation]);
        let store = Store::open_read_only(STUDIES, &path).unwrap();
        let run = store.run(&RunSelector::Latest).unwrap();
        assert_eq!(store.points(run.id).unwrap().measures, []);
        assert!(store.reservation_counts(run.id).unwrap().is_empty());
    }
}
