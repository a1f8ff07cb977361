//! Reading what studies measured: measures by name as columns.

use std::collections::HashMap;

use super::aggregates::OF_RUN;
use super::columns::{Shared, Simulations, ValueIndex};
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
    pub values: Shared<Option<f64>>,
}

impl Store {
    /// The measures that any of these points has, in the order of
    /// [`Studies::measures`](crate::study::Studies::measures), then those that this program does
    /// not know, by name, of points of which each has the simulation with this index.
    pub(super) fn measure_columns(
        &self,
        run: RunId,
        simulations: &Simulations,
        of_point: &ValueIndex,
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
        let query = format!(
            "SELECT simulation, measure, value FROM simulation_measure WHERE simulation IN {OF_RUN}"
        );
        let mut columns: HashMap<i64, Vec<Option<f64>>> = HashMap::new();
        let mut statement = self.connection.prepare(&query).map_err(sql)?;
        let mut rows = statement.query([run.0]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let of: i64 = row.get(0).map_err(sql)?;
            let Some(at) = simulations.get(&of) else {
                continue;
            };
            let column = columns
                .entry(row.get(1).map_err(sql)?)
                .or_insert_with(|| vec![None; simulations.len()]);
            column[*at as usize] = Some(row.get(2).map_err(sql)?);
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
                    values: Shared::new(of_point, values),
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
}
