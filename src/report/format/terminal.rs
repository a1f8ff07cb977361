//! The terminal: aligned, as wide as the screen allows.

use std::io;

use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::TableFormat;
use crate::report::Table;

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
        writeln!(target, "{}", table.title)?;
        if table.rows.is_empty() {
            return writeln!(target, "Nothing to show.");
        }
        let mut drawn = comfy_table::Table::new();
        drawn
            .load_style(presets::UTF8_HORIZONTAL_ONLY)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(table.columns.iter().map(|column| column.title.as_str()));
        if let Some(width) = self.width {
            drawn.set_width(width);
        }
        for row in &table.rows {
            drawn.add_row(row.iter().zip(&table.columns).map(|(cell, column)| {
                let aligned = if cell.is_numeric() {
                    CellAlignment::Right
                } else {
                    CellAlignment::Left
                };
                comfy_table::Cell::new(cell.text(column.decimals)).set_alignment(aligned)
            }));
        }
        writeln!(target, "{drawn}")
    }
}
