//! What `bookahead export` asks: one question a kind of row, each column with a type that holds in
//! every row.

use std::collections::BTreeSet;
use std::convert::Infallible;

use super::tables::{OncePerList, definitions};
use super::{METRICS, Metric, RunId, Store, StoreError};
use crate::study::Studies;
use crate::sweep::AxisValue;
use crate::tables::ExportSource;
pub use crate::tables::{ExportKind, ExportType};

impl ExportKind {
    /// The points of a run.
    pub const POINTS: Self = super::tables::runs::POINTS;

    /// Every kind of rows for people, in the order of the tables.
    pub fn all(studies: Studies) -> impl Iterator<Item = &'static Self> {
        definitions(studies).flat_map(|tables| tables.exports)
    }

    /// Every table, as it is.
    pub fn tables(studies: Studies) -> &'static [Self] {
        static TABLES: OncePerList<Vec<ExportKind>> = OncePerList::new();
        let made = TABLES.get(studies, || {
            let tables = definitions(studies);
            let names = tables.flat_map(|tables| tables.sql.split("CREATE TABLE ").skip(1));
            let table = |definition: &'static str| ExportKind {
                name: definition.split(' ').next().unwrap_or_default(),
                about: "The table as it is",
                of_outcomes: false,
                source: ExportSource::Table,
                columns: "",
            };
            Ok::<_, Infallible>(names.map(table).collect())
        });
        match made {
            Ok(tables) => tables,
        }
    }

    /// The kind of this name; a view has its kind's name beside its own.
    #[must_use]
    pub fn find(studies: Studies, name: &str) -> Option<&'static Self> {
        Self::all(studies)
            .find(|kind| kind.name == name || kind.view() == Some(name))
            .or_else(|| Self::tables(studies).iter().find(|kind| kind.name == name))
    }

    /// The view whose rows they are, where they are those of one.
    #[must_use]
    pub fn view(&self) -> Option<&'static str> {
        match self.source {
            ExportSource::Points => Some("v_point"),
            ExportSource::Axes => Some("v_point_axis"),
            ExportSource::Run(view, _)
            | ExportSource::SimulationsBy(view, _)
            | ExportSource::RunSimulations(view) => Some(view),
            ExportSource::Simulations(rows) if rows.starts_with("v_") => Some(rows),
            ExportSource::Simulations(_) | ExportSource::Table => None,
        }
    }

    /// Names and types of its columns, with one for each metric where it says METRICS.
    fn columns(&self) -> impl Iterator<Item = (&'static str, ExportType)> {
        self.columns.split(',').flat_map(|column| {
            let mut words = column.split_whitespace();
            let name = words.next().unwrap_or_default();
            let kind = match words.next() {
                None => Integer,
                Some("number") => Number,
                Some("flag") => Flag,
                Some(_) => Text,
            };
            match name {
                "METRICS" => METRICS.iter().map(Metric::column).collect(),
                _ => vec![(name, kind)],
            }
        })
    }
}

/// A question with typed columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// The question.
    pub sql: String,
    /// Names and types of its columns.
    pub columns: Vec<(String, ExportType)>,
    /// Whether its rows belong to points, so that [`ExportRows::places`] is heeded.
    pub of_points: bool,
}

use ExportType::{Flag, Integer, Number, Text};

/// The simulations of a run, once each, in the order of their numbers (which SQLite would drop
/// without a LIMIT). The rows of each come in the order of their keys, as the CROSS JOIN keeps the
/// simulations outside: nothing is sorted in memory.
const SIMULATIONS: &str =
    "(SELECT DISTINCT p.simulation AS id FROM run_point rp JOIN point p ON p.id = rp.point
    WHERE rp.run = RUN AND rp.place PLACES ORDER BY 1 LIMIT -1)";

/// Which rows of a kind are exported; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportRows {
    /// Only those of the points at these places.
    pub places: Option<BTreeSet<u64>>,
    /// Only those for which this condition in SQL holds; it names columns of the export.
    pub condition: Option<String>,
}

impl Store {
    /// The question whose rows are an export of this kind. Rows come in a fixed order.
    ///
    /// # Errors
    ///
    /// When the axes of the run cannot be read.
    pub fn export(
        &self,
        run: RunId,
        kind: &ExportKind,
        rows: &ExportRows,
    ) -> Result<Export, StoreError> {
        let mut columns: Vec<(String, ExportType)> = match kind.source {
            ExportSource::Table => self.columns_of(kind.name)?,
            _ => {
                let named = kind.columns().map(|(name, kind)| (name.to_owned(), kind));
                named.collect()
            }
        };
        let source = match kind.source {
            ExportSource::Points => {
                "v_point t WHERE t.run = RUN AND t.place PLACES ORDER BY t.place".to_owned()
            }
            ExportSource::Axes => {
                "v_point_axis t WHERE t.run = RUN AND t.place PLACES ORDER BY t.place, t.axis"
                    .to_owned()
            }
            ExportSource::Run(view, order) if kind.columns().any(|(name, _)| name == "place") => {
                format!("{view} t WHERE t.run = RUN AND t.place PLACES ORDER BY {order}")
            }
            ExportSource::Run(view, order) => {
                format!("{view} t WHERE t.run = RUN ORDER BY {order}")
            }
            ExportSource::Simulations(rows) => {
                format!("{SIMULATIONS} s CROSS JOIN {rows} t WHERE t.simulation = s.id")
            }
            ExportSource::SimulationsBy(view, order) => {
                format!(
                    "{SIMULATIONS} s CROSS JOIN {view} t WHERE t.simulation = s.id ORDER BY {order}"
                )
            }
            ExportSource::RunSimulations(view) => {
                format!(
                    "{SIMULATIONS} s CROSS JOIN {view} t WHERE t.simulation = s.id AND t.run = RUN"
                )
            }
            ExportSource::Table => rows_of_table(kind.name, &columns),
        };
        let quoted = |(name, _): &(String, _)| format!("t.\"{name}\"");
        let mut chosen: Vec<String> = columns.iter().map(quoted).collect();
        if kind.source == ExportSource::Points {
            // After the columns that say which point it is.
            const BEFORE: usize = 3;
            for (position, axis) in self.axes(run)?.into_iter().enumerate() {
                let name = if kind.columns().any(|(fixed, _)| fixed == axis.key) {
                    format!("axis.{}", axis.key)
                } else {
                    axis.key
                };
                columns.insert(BEFORE + position, (name, axis_type(&axis.values)));
                chosen.insert(
                    BEFORE + position,
                    format!(
                        "(SELECT x.value FROM v_point_axis x
                          WHERE x.run = t.run AND x.place = t.place AND x.axis = {position}) AS \"{}\"",
                        columns[BEFORE + position].0.replace('"', "\"\"")
                    ),
                );
            }
        }
        let source = source.replace("RUN", &run.0.to_string());
        let of_points = source.contains("PLACES");
        let source = match &rows.places {
            None => ["t", "rp"].iter().fold(source, |source, table| {
                source.replace(&format!(" AND {table}.place PLACES"), "")
            }),
            Some(places) => {
                let places: Vec<String> = places.iter().map(u64::to_string).collect();
                source.replace("PLACES", &format!("IN ({})", places.join(", ")))
            }
        };
        let mut sql = format!("SELECT {} FROM {source}", chosen.join(", "));
        if let Some(condition) = &rows.condition {
            // On a line of its own: a comment at its end does not swallow the bracket.
            sql = format!("SELECT * FROM ({sql}) WHERE ({condition}\n)");
        }
        Ok(Export {
            sql,
            columns,
            of_points,
        })
    }

    /// Names and types of the columns of a table.
    fn columns_of(&self, table: &str) -> Result<Vec<(String, ExportType)>, StoreError> {
        self.connection
            .prepare("SELECT name, type FROM pragma_table_info(?1)")
            .and_then(|mut columns| {
                let typed = |row: &rusqlite::Row<'_>| {
                    let kind = match row.get::<_, String>(1)?.as_str() {
                        "INTEGER" => Integer,
                        "REAL" => Number,
                        _ => Text,
                    };
                    Ok((row.get(0)?, kind))
                };
                columns.query_map([table], typed)?.collect()
            })
            .map_err(|error| self.error("reading the columns of a table", error))
    }

    /// How many simulations of a run are done, and how many of them have their jobs stored.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn simulations_with_jobs(&self, run: RunId) -> Result<(u64, u64), StoreError> {
        self.connection
            .query_row(
                "SELECT count(*), total(m.detail >= 2) FROM simulation m WHERE m.state = 2 AND m.id IN
                    (SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = ?1)",
                [run.0],
                |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, f64>(1)? as u64)),
            )
            .map_err(|error| self.error("counting simulations", error))
    }
}

/// The rows of a table that belong to a run, which its columns tell.
fn rows_of_table(table: &str, columns: &[(String, ExportType)]) -> String {
    const WORKLOADS: &str = "(SELECT DISTINCT m.workload AS id FROM simulation m WHERE m.id IN
        (SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = RUN AND rp.place PLACES)
        ORDER BY 1 LIMIT -1)";
    let has = |name: &str| columns.iter().any(|(column, _)| column == name);
    let of =
        |ids: &str, column: &str| format!("{ids} s CROSS JOIN {table} t WHERE t.{column} = s.id");
    match table {
        "run" => "run t WHERE t.id = RUN".to_owned(),
        "simulation" => of(SIMULATIONS, "id"),
        "workload" => of(WORKLOADS, "id"),
        _ if has("run") => format!("{table} t WHERE t.run = RUN"),
        _ if has("simulation") => of(SIMULATIONS, "simulation"),
        _ if has("workload") => of(WORKLOADS, "workload"),
        _ => format!("{table} t"),
    }
}

/// The narrowest type that holds every value of an axis.
fn axis_type(values: &[AxisValue]) -> ExportType {
    let one = |value: &AxisValue| match value {
        AxisValue::Integer(_) => Integer,
        AxisValue::Real(_) => Number,
        AxisValue::Text(_) => Text,
        AxisValue::Flag(_) => Flag,
    };
    values
        .iter()
        .map(one)
        .reduce(|one, other| match (one, other) {
            (one, other) if one == other => one,
            (Integer, Number) | (Number, Integer) => Number,
            _ => Text,
        })
        .unwrap_or(Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_the_narrowest_type_that_holds_all_its_values() {
        let (one, half) = (AxisValue::Integer(1), AxisValue::Real(0.5));
        assert_eq!(axis_type(std::slice::from_ref(&one)), Integer);
        assert_eq!(axis_type(&[one.clone(), half]), Number);
        assert_eq!(axis_type(&[one, AxisValue::Text("x".to_owned())]), Text);
        assert_eq!(axis_type(&[AxisValue::Flag(true)]), Flag);
    }

    #[test]
    fn an_export_has_every_column_of_its_view_and_its_types_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Studies::default(), &folder.path().join("a.db")).unwrap();
        for kind in ExportKind::all(Studies::default()) {
            for word in kind
                .columns
                .split(',')
                .flat_map(|column| column.split_whitespace().skip(1))
            {
                assert!(
                    ["number", "text", "flag"].contains(&word),
                    "{}: {word}",
                    kind.name
                );
            }
            let (ExportSource::Simulations(rows)
            | ExportSource::Run(rows, _)
            | ExportSource::RunSimulations(rows)) = kind.source
            else {
                continue;
            };
            let statement = store
                .connection
                .prepare(&format!("SELECT * FROM {rows}"))
                .unwrap();
            let mut of_view: Vec<&str> = statement.column_names().collect();
            let mut exported: Vec<&str> = kind.columns().map(|(name, _)| name).collect();
            of_view.sort_unstable();
            exported.sort_unstable();
            assert_eq!(exported, of_view, "{}", kind.name);
        }
    }
}
