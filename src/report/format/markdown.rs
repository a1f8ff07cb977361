//! Markdown: rounded for people, with the note and the query below.

use std::io;

use super::TableFormat;
use super::inline::{block, sentence, text};
use crate::{Cell, Table};

/// GitHub-flavoured Markdown.
#[derive(Clone, Copy, Debug)]
pub struct Markdown {
    /// Rows after this many are left out, with a line that says so and where they are.
    pub most_rows: usize,
}

impl Default for Markdown {
    fn default() -> Self {
        Self { most_rows: 500 }
    }
}

impl TableFormat for Markdown {
    fn extension(&self) -> &'static str {
        "md"
    }

    fn write(&self, table: &Table, target: &mut dyn io::Write) -> io::Result<()> {
        writeln!(target, "## {}\n", sentence(&table.title))?;
        if table.rows.is_empty() {
            writeln!(target, "Nothing to show.\n")?;
        } else {
            let titles: Vec<String> = table
                .columns
                .iter()
                .map(|column| text(&column.title))
                .collect();
            writeln!(target, "| {} |", titles.join(" | "))?;
            let rules: Vec<&str> = (0..table.columns.len())
                .map(|column| {
                    if table.rows.iter().any(|row| row[column].is_numeric()) {
                        "---:"
                    } else {
                        "---"
                    }
                })
                .collect();
            writeln!(target, "|{}|", rules.join("|"))?;
            let rows = table.rows.iter().zip(table.texts());
            for (row, shown) in rows.take(self.most_rows) {
                // Numbers are this program's own, and their intervals have brackets.
                let cell = |(cell, shown): (&Cell, String)| match cell.is_numeric() {
                    true => shown,
                    false => text(&shown),
                };
                let cells: Vec<String> = row.iter().zip(shown).map(cell).collect();
                writeln!(target, "| {} |", cells.join(" | "))?;
            }
            writeln!(target)?;
            if let Some(more) = table
                .rows
                .len()
                .checked_sub(self.most_rows)
                .filter(|more| *more > 0)
            {
                writeln!(
                    target,
                    "{more} more rows are in `tables/{}.csv`.\n",
                    table.name
                )?;
            }
        }
        if !table.note.is_empty() {
            writeln!(target, "{}\n", sentence(&table.note))?;
        }
        if !table.sql.is_empty() {
            writeln!(
                target,
                "<details><summary>The query</summary>\n\n{}\n\n</details>\n",
                block("sql", table.sql.trim())
            )?;
        }
        Ok(())
    }
}
