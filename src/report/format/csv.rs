//! CSV: unrounded, one column a number, for programs.

use std::io;

use super::TableFormat;
use crate::report::{Cell, Table};

/// Comma-separated values with a header; an estimate takes four columns, what is missing or undefined is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv;

impl TableFormat for Csv {
    fn extension(&self) -> &'static str {
        "csv"
    }

    fn write(&self, table: &Table, target: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(target);
        let mut header = Vec::new();
        for column in &table.columns {
            header.push(column.key.clone());
            if column.estimates {
                header.extend(["sd", "low", "high"].map(|part| format!("{}_{part}", column.key)));
            }
        }
        writer.write_record(&header)?;
        for row in &table.rows {
            let mut record = Vec::with_capacity(header.len());
            for (cell, column) in row.iter().zip(&table.columns) {
                match cell {
                    Cell::Missing | Cell::Undefined => {
                        let width = if column.estimates { 4 } else { 1 };
                        record.extend(std::iter::repeat_n(String::new(), width));
                    }
                    Cell::Text(text) => record.push(text.clone()),
                    Cell::Integer(value) => record.push(value.to_string()),
                    Cell::Number(value) => record.push(digits(Some(*value))),
                    Cell::Estimate(estimate) => {
                        record.push(digits(Some(estimate.mean)));
                        record.push(digits(estimate.deviation));
                        record.push(digits(estimate.low()));
                        record.push(digits(estimate.high()));
                    }
                }
            }
            writer.write_record(&record)?;
        }
        writer.flush()
    }
}

/// Twelve significant digits: the last bits of a sum of fractions may depend on the processor, the file must not.
fn digits(value: Option<f64>) -> String {
    match value.map(|value| format!("{value:.11e}").parse::<f64>()) {
        // Adding zero turns −0 into 0.
        Some(Ok(rounded)) => (rounded + 0.0).to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_twelve_significant_digits() {
        assert_eq!(digits(Some(0.1 + 0.2)), "0.3");
        assert_eq!(digits(Some(28_279.612_345_678_912)), "28279.6123457");
        assert_eq!(digits(Some(-0.0)), "0");
        assert_eq!(digits(None), "");
    }
}
