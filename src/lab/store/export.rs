//! What `bookahead export` asks: one question a kind of row, each column with a type that holds in every row.

use super::tables::definitions;
use super::{METRICS, Metric, RunId, Store, StoreError};
use crate::sweep::AxisValue;
use crate::tables::ExportSource;
pub use crate::tables::{ExportKind, ExportType};

impl ExportKind {
    /// The points of a run.
    pub const POINTS: Self = super::tables::runs::POINTS;

    /// Every kind, in the order of the tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        definitions().flat_map(|tables| tables.exports)
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
}

use ExportType::{Flag, Integer, Number, Text};

/// The simulations of a run, once each, in the order of their numbers (which SQLite would drop without a LIMIT). The rows of
/// each come in the order of their keys, as the CROSS JOIN keeps the simulations outside: nothing is sorted in memory.
const SIMULATIONS: &str =
    "(SELECT DISTINCT p.simulation AS id FROM run_point rp JOIN point p ON p.id = rp.point
    WHERE rp.run = RUN ORDER BY 1 LIMIT -1)";

impl Store {
    /// The question whose rows are an export of this kind. Rows come in a fixed order.
    ///
    /// # Errors
    ///
    /// When the axes of the run cannot be read.
    pub fn export(&self, run: RunId, kind: &ExportKind) -> Result<Export, StoreError> {
        let source = match kind.source {
            ExportSource::Points => "v_point t WHERE t.run = RUN ORDER BY t.place".to_owned(),
            ExportSource::Axes => {
                "v_point_axis t WHERE t.run = RUN ORDER BY t.place, t.axis".to_owned()
            }
            ExportSource::Simulations(rows) => {
                format!("{SIMULATIONS} s CROSS JOIN {rows} t WHERE t.simulation = s.id")
            }
        };
        let mut columns: Vec<(String, ExportType)> = Vec::new();
        let mut chosen: Vec<String> = Vec::new();
        for (name, kind) in kind.columns() {
            columns.push((name.to_owned(), kind));
            chosen.push(format!("t.\"{name}\""));
        }
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
                          WHERE x.run = t.run AND x.place = t.place AND x.axis = {position})"
                    ),
                );
            }
        }
        let sql = format!("SELECT {} FROM {source}", chosen.join(", "))
            .replace("RUN", &run.0.to_string());
        Ok(Export { sql, columns })
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
        let store = Store::open(&folder.path().join("a.db")).unwrap();
        for kind in ExportKind::all() {
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
            let ExportSource::Simulations(rows) = kind.source else {
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
