//! The terminal: aligned, as wide as the screen allows.

use std::io;

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width,
};

use super::TableFormat;
use crate::report::Table;

/// A line below the headings and none between rows.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// An aligned table without colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Columns of the screen; by default those of the terminal, or as many as it takes where there is none.
    pub width: Option<u16>,
}

impl TableFormat for Terminal {
    fn extension(&self) -> &'static str {
        "txt"
    }

    fn write(&self, table: &Table, target: &mut dyn io::Write) -> io::Result<()> {
        if !table.title.is_empty() {
            writeln!(target, "{}", table.title)?;
        }
        if table.rows.is_empty() {
            return writeln!(target, "Nothing to show.");
        }
        // A column of numbers reads from the right, with its heading and its gaps.
        let right: Vec<bool> = (0..table.columns.len())
            .map(|column| table.rows.iter().any(|row| row[column].is_numeric()))
            .collect();
        let mut drawn = comfy_table::Table::new();
        drawn
            .load_style(STYLE)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(table.columns.iter().zip(&right).map(|(column, right)| {
                comfy_table::Cell::new(&column.title).set_alignment(alignment(*right))
            }));
        if let Some(width) = self.width {
            drawn.set_width(width);
        }
        for row in &table.rows {
            drawn.add_row(row.iter().zip(&table.columns).zip(&right).map(
                |((cell, column), right)| {
                    comfy_table::Cell::new(column.text(cell)).set_alignment(alignment(*right))
                },
            ));
        }
        // On a narrow screen headings and names break into lines; a number in two pieces would be misread.
        for (at, column) in drawn.column_iter_mut().enumerate() {
            if right[at] {
                let widest = table
                    .rows
                    .iter()
                    .map(|row| table.columns[at].text(&row[at]).chars().count())
                    .max()
                    .unwrap_or(0);
                let room = u16::try_from(widest + 2).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(room)));
            }
        }
        for line in drawn.lines() {
            writeln!(target, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn alignment(right: bool) -> CellAlignment {
    if right {
        CellAlignment::Right
    } else {
        CellAlignment::Left
    }
}
