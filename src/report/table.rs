//! A table before it has a format.

use super::statistics::Estimate;
pub use bookahead_core::printable::grouped;
use bookahead_lab::sweep::AxisValue;

/// A table: headings, rows, what to say about it, and where its numbers come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of its file, without extension.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// As many cells a row as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// What a reader must know; shown below it.
    pub note: String,
    /// The query that gives its numbers.
    pub sql: String,
}

/// The columns that say over how many replications a row is, by their keys.
const COUNTS: [&str; 2] = ["replications", "n"];

impl Table {
    /// The cells of every row as a person reads them. Where the mean of a cell is over another
    /// number of replications than its row says, or in a table that says none than the most of its
    /// cells, the number stands behind it: `12 ± 3 (n 4)`.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let column = (self.columns.iter()).position(|column| COUNTS.contains(&column.key.as_str()));
        let most = (self.rows.iter().flatten()).filter_map(Cell::count).max();
        self.rows.iter().map(move |row| {
            let usual = match column.map(|at| &row[at]) {
                Some(Cell::Integer(count)) => u32::try_from(*count).ok(),
                _ => most,
            };
            let cells = row.iter().zip(&self.columns);
            cells
                .map(|(cell, column)| match cell.count() {
                    Some(count) if Some(count) != usual => {
                        format!("{} (n {count})", column.text(cell))
                    }
                    _ => column.text(cell),
                })
                .collect()
        })
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in CSV files.
    pub key: String,
    /// Its heading for people.
    pub title: String,
    /// Decimals of numbers, for people; CSV files have twelve significant digits.
    pub decimals: usize,
    /// Its cells are estimates: five columns in a CSV file (`key`, `key_sd`, `key_low`, `key_high`,
    /// `key_n`).
    pub estimates: bool,
    /// Its rows have different units: each number has as many decimals as its size asks for.
    pub mixed: bool,
}

impl Column {
    /// A column of names or whole numbers.
    pub fn plain(key: impl Into<String>, title: impl Into<String>) -> Self {
        Self::number(key, title, 0)
    }

    /// A column of numbers.
    pub fn number(key: impl Into<String>, title: impl Into<String>, decimals: usize) -> Self {
        Self {
            key: key.into(),
            title: title.into(),
            decimals,
            estimates: false,
            mixed: false,
        }
    }

    /// A column of estimates.
    pub fn estimate(key: impl Into<String>, title: impl Into<String>, decimals: usize) -> Self {
        Self {
            estimates: true,
            ..Self::number(key, title, decimals)
        }
    }

    /// The same column, whose rows have different units.
    #[must_use]
    pub fn mixed(self) -> Self {
        Self {
            mixed: true,
            ..self
        }
    }

    /// What the columns of files are called that stand behind that of the mean of an estimate:
    /// standard deviation, ends of the interval, number of values.
    pub(super) fn parts(&self) -> [String; 4] {
        ["sd", "low", "high", "n"].map(|part| format!("{}_{part}", self.key))
    }

    /// How many columns it takes in a file.
    pub(super) fn width(&self) -> usize {
        if self.estimates { 5 } else { 1 }
    }

    /// One of its cells as a person reads it.
    #[must_use]
    pub fn text(&self, cell: &Cell) -> String {
        // Three digits of an interval, four of a number without one.
        let (size, digits) = match cell {
            _ if !self.mixed => return cell.text(self.decimals),
            Cell::Estimate(estimate) => match estimate.interval {
                Some(interval) => ((interval.high - interval.low) / 2.0, 2),
                None => (estimate.mean, 3),
            },
            Cell::Number(value) => (*value, 3),
            _ => return cell.text(0),
        };
        let magnitude = if size == 0.0 {
            3
        } else {
            size.abs().log10().floor() as i32
        };
        cell.text(usize::try_from(digits - magnitude).unwrap_or(0).min(12))
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// There is no value.
    Missing,
    /// There could be a value, but it would mean nothing: shown as "undefined", empty in CSV files.
    Undefined,
    /// A name.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A mean with its interval.
    Estimate(Estimate),
}

impl From<Option<Estimate>> for Cell {
    fn from(estimate: Option<Estimate>) -> Self {
        estimate.map_or(Self::Missing, Self::Estimate)
    }
}

impl From<Option<&AxisValue>> for Cell {
    fn from(value: Option<&AxisValue>) -> Self {
        match value {
            None => Self::Missing,
            // As written: an axis value is a name for its column of a plot, not a measurement to be
            // rounded.
            Some(value) => Self::Text(value_text(value)),
        }
    }
}

impl Cell {
    /// The cell as a person reads it.
    #[must_use]
    pub fn text(&self, decimals: usize) -> String {
        match self {
            Self::Missing => "–".to_owned(),
            Self::Undefined => "undefined".to_owned(),
            Self::Text(text) => text.clone(),
            Self::Integer(value) => grouped(*value as f64, 0),
            Self::Number(value) => grouped(*value, decimals),
            Self::Estimate(estimate) => estimate_text(estimate, decimals),
        }
    }

    /// Over how many replications the mean of an estimate is; `None` of other cells.
    fn count(&self) -> Option<u32> {
        match self {
            Self::Estimate(estimate) => Some(estimate.count),
            _ => None,
        }
    }

    /// Whether it reads from the right.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Number(_) | Self::Estimate(_))
    }
}

/// `12 ± 3`; `12 [9, 17]` where the mean is not in the middle; `0 (< 0.37)` of what was never seen.
pub(crate) fn estimate_text(estimate: &Estimate, decimals: usize) -> String {
    let mean = grouped(estimate.mean, decimals);
    match (estimate.half_width(), estimate.interval) {
        (Some(half), _) => format!("{mean} ± {}", grouped(half, decimals)),
        (None, Some(interval)) if estimate.is_unseen() => {
            format!("{mean} (< {})", grouped(interval.high, decimals.max(2)))
        }
        (None, Some(interval)) => format!(
            "{mean} [{}, {}]",
            grouped(interval.low, decimals),
            grouped(interval.high, decimals)
        ),
        (None, None) => mean,
    }
}

/// An axis value as a person writes it.
pub fn value_text(value: &AxisValue) -> String {
    match value {
        AxisValue::Integer(value) => value.to_string(),
        AxisValue::Real(value) => value.to_string(),
        AxisValue::Text(value) => value.clone(),
        AxisValue::Flag(value) => value.to_string(),
    }
}

/// Axes in one line: `acceptance.pof_max = 0.2, …`.
pub fn axes_text(axes: &[(String, AxisValue)]) -> String {
    let each: Vec<String> = axes
        .iter()
        .map(|(key, value)| format!("{key} = {}", value_text(value)))
        .collect();
    each.join(", ")
}

/// What people call a dotted key: its last part, or what that stands for.
pub fn short(key: &str) -> &str {
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    match name {
        // Of what?
        "count" => table,
        "value" | "each_battery" => table.rsplit('.').next().unwrap_or(table),
        // The weight of the cost against time, whatever the key is called.
        "alpha" | "cost_weight" => "α",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Interval, Method};
    use bookahead_core::scheduling::measures::QuantityKind;

    #[test]
    fn an_interval_whose_middle_is_not_the_mean_shows_its_ends() {
        let shown = |values: &[f64], kind, decimals| {
            estimate_text(&Estimate::of_kind(values, kind).unwrap(), decimals)
        };
        assert_eq!(
            shown(&[10.0, 12.0, 14.0], QuantityKind::Mean, 1),
            "12.0 ± 5.0"
        );
        assert_eq!(
            shown(&[0.1, 0.2, 0.3], QuantityKind::Fraction, 2),
            "0.20 [0.05, 0.54]"
        );
        // −ln 0.05 ÷ 8 = 0.374.
        assert_eq!(shown(&[0.0; 8], QuantityKind::RareCount, 1), "0.0 (< 0.37)");
        assert_eq!(shown(&[31.13; 5], QuantityKind::Mean, 2), "31.13");
    }

    #[test]
    fn a_mean_over_fewer_replications_than_its_row_says_so() {
        let wait = |values: &[f64]| Cell::from(Estimate::of(values));
        let mut table = Table {
            name: "best".to_owned(),
            title: String::new(),
            columns: vec![
                Column::estimate("gain", "Gain", 0),
                Column::estimate("stopped", "Wait of stopped jobs", 0),
                Column::plain("replications", "n"),
            ],
            rows: vec![vec![wait(&[5.0; 8]), wait(&[3.0; 4]), Cell::Integer(8)]],
            note: String::new(),
            sql: String::new(),
        };
        let texts = |table: &Table| table.texts().next().unwrap();
        assert_eq!(texts(&table), ["5", "3 (n 4)", "8"]);
        // Without such a column the others say what is usual.
        table.columns.pop();
        table.rows[0].pop();
        assert_eq!(texts(&table), ["5", "3 (n 4)"]);
    }

    #[test]
    fn numbers_of_different_units_below_each_other_have_the_decimals_that_their_size_asks_for() {
        let column = Column::estimate("d", "d", 0).mixed();
        let estimate = |mean: f64, half: Option<f64>| {
            Cell::Estimate(Estimate {
                count: 3,
                mean,
                deviation: Some(1.0),
                interval: half.map(|half| Interval {
                    low: mean - half,
                    high: mean + half,
                    method: Method::Student,
                }),
            })
        };
        assert_eq!(column.text(&estimate(17.6, Some(1_233.3))), "18 ± 1,233");
        assert_eq!(
            column.text(&estimate(0.006_17, Some(0.004_01))),
            "0.00617 ± 0.00401"
        );
        assert_eq!(column.text(&estimate(12.5, None)), "12.50");
        assert_eq!(column.text(&Cell::Number(0.0)), "0");
    }
}
