//! CSV: unrounded, one column a number, for programs.

use std::io;

use super::TableFormat;
use crate::{Cell, Table};

/// Comma-separated values with a header; an estimate takes five columns, what is missing or
/// undefined is empty.
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
            header.push(inert(&column.key));
            if column.estimates {
                header.extend(column.parts());
            }
        }
        writer.write_record(&header)?;
        for row in &table.rows {
            let mut record = Vec::with_capacity(header.len());
            for (cell, column) in row.iter().zip(&table.columns) {
                match cell {
                    Cell::Missing | Cell::Undefined => {
                        let width = column.width();
                        record.extend(std::iter::repeat_n(String::new(), width));
                    }
                    Cell::Text(text) => record.push(inert(text)),
                    Cell::Integer(value) => record.push(value.to_string()),
                    Cell::Number(value) => record.push(digits(Some(*value))),
                    Cell::Estimate(estimate) => {
                        record.push(digits(Some(estimate.mean)));
                        record.push(digits(estimate.deviation));
                        record.push(digits(estimate.low()));
                        record.push(digits(estimate.high()));
                        record.push(estimate.count.to_string());
                    }
                }
            }
            writer.write_record(&record)?;
        }
        writer.flush()
    }
}

/// A text that no spreadsheet takes for a formula: where it begins like one and is no number, an
/// apostrophe stands before it.
pub(crate) fn inert(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

/// Twelve significant digits: the last bits of a sum of fractions may depend on the processor, the
/// file must not.
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
    fn a_text_that_begins_like_a_formula_is_none() {
        assert_eq!(inert("=HYPERLINK(\"x\")"), "'=HYPERLINK(\"x\")");
        assert_eq!(inert("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(
            (inert("-0.5"), inert("fcfs")),
            ("-0.5".to_owned(), "fcfs".to_owned())
        );
    }

    #[test]
    fn numbers_keep_twelve_significant_digits() {
        assert_eq!(digits(Some(0.1 + 0.2)), "0.3");
        assert_eq!(digits(Some(28_279.612_345_678_912)), "28279.6123457");
        assert_eq!(digits(Some(-0.0)), "0");
        assert_eq!(digits(None), "");
    }
}
