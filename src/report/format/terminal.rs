//! The terminal: aligned, as wide as the screen allows.

use std::io;

use textwrap::{Options, WordSplitter, wrap};

use super::TableFormat;
use crate::Table;

/// Between two columns.
const GAP: &str = "  ";

/// An aligned table without colours.
///
/// Where it does not fit, headings and texts break between words; where that is not enough, columns
/// of numbers go into several tables below each other, each with the names of its rows. No word and
/// no number is ever in two pieces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Columns of the screen; by default those of the terminal, or as many as it takes where there
    /// is none.
    pub width: Option<u16>,
}

impl Terminal {
    fn screen(&self) -> usize {
        let screen = self.width.or_else(|| comfy_table::Table::new().width());
        screen.map_or(usize::MAX, usize::from)
    }

    /// Writes a sentence, in lines that fit.
    ///
    /// # Errors
    ///
    /// When the target cannot be written.
    pub fn write_sentence(&self, sentence: &str, target: &mut dyn io::Write) -> io::Result<()> {
        let mut lines = broken(sentence, self.screen()).into_iter();
        lines.try_for_each(|line| writeln!(target, "{line}"))
    }
}

impl TableFormat for Terminal {
    fn extension(&self) -> &'static str {
        "txt"
    }

    fn write(&self, table: &Table, target: &mut dyn io::Write) -> io::Result<()> {
        let screen = self.screen();
        if !table.title.is_empty() {
            for line in broken(&table.title, screen) {
                writeln!(target, "{line}")?;
            }
        }
        if table.rows.is_empty() {
            return writeln!(target, "Nothing to show.");
        }
        let mut cells: Vec<Vec<String>> = vec![Vec::new(); table.columns.len()];
        for row in table.texts() {
            for (column, cell) in cells.iter_mut().zip(row) {
                column.push(cell);
            }
        }
        let columns: Vec<Column> = (cells.into_iter().enumerate())
            .map(|(at, cells)| Column::of(table, at, cells))
            .collect();
        for (number, band) in bands(&columns, screen).iter().enumerate() {
            if number > 0 {
                writeln!(target)?;
            }
            band.write(table.rows.len(), target)?;
        }
        Ok(())
    }
}

/// A column as it is drawn.
#[derive(Debug)]
struct Column {
    title: String,
    cells: Vec<String>,
    /// A column of numbers reads from the right, with its heading and its gaps.
    right: bool,
    /// With everything on one line.
    natural: usize,
    /// With every break that there may be.
    least: usize,
}

impl Column {
    fn of(table: &Table, at: usize, cells: Vec<String>) -> Self {
        let column = &table.columns[at];
        let right = table.rows.iter().any(|row| row[at].is_numeric());
        let of_word = |text: &str| text.split(' ').map(length).max().unwrap_or(0);
        let (mut natural, mut least) = (length(&column.title), of_word(&column.title));
        for cell in &cells {
            natural = natural.max(length(cell));
            // A number with its interval stays together.
            least = least.max(if right { length(cell) } else { of_word(cell) });
        }
        Self {
            title: column.title.clone(),
            cells,
            right,
            natural,
            least,
        }
    }
}

/// Columns that are drawn side by side, each with its width.
struct Band<'c>(Vec<(&'c Column, usize)>);

/// All columns side by side where they fit, else the columns of numbers in several bands, each
/// behind the columns that name rows.
fn bands(columns: &[Column], screen: usize) -> Vec<Band<'_>> {
    let all: Vec<&Column> = columns.iter().collect();
    if total(&all, |column| column.least) <= screen {
        return vec![Band::within(all, screen)];
    }
    let names = columns.iter().take_while(|column| !column.right).count();
    let (names, others) = all.split_at(names.max(1).min(all.len()));
    let mut bands = Vec::new();
    let mut band = names.to_vec();
    for &column in others {
        let mut longer = band.clone();
        longer.push(column);
        if band.len() > names.len() && total(&longer, |column| column.least) > screen {
            bands.push(Band::within(band, screen));
            longer = names.to_vec();
            longer.push(column);
        }
        band = longer;
    }
    bands.push(Band::within(band, screen));
    bands
}

fn total(columns: &[&Column], width: impl Fn(&Column) -> usize) -> usize {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    columns.iter().map(|column| width(column)).sum::<usize>() + gaps
}

impl<'c> Band<'c> {
    /// Gives columns the width that they need, and the remaining width to those that wrap most.
    fn within(columns: Vec<&'c Column>, screen: usize) -> Self {
        if total(&columns, |column| column.natural) <= screen {
            return Self(
                columns
                    .into_iter()
                    .map(|column| (column, column.natural))
                    .collect(),
            );
        }
        let mut left = screen.saturating_sub(total(&columns, |column| column.least));
        let mut widths: Vec<(&Column, usize)> = columns
            .into_iter()
            .map(|column| (column, column.least))
            .collect();
        while left > 0 {
            let narrowest = widths
                .iter_mut()
                .max_by_key(|(column, width)| column.natural - *width);
            match narrowest {
                Some((column, width)) if column.natural > *width => *width += 1,
                _ => break,
            }
            left -= 1;
        }
        Self(widths)
    }

    fn write(&self, rows: usize, target: &mut dyn io::Write) -> io::Result<()> {
        self.row(|column| &column.title, true, target)?;
        let rules: Vec<String> = self.0.iter().map(|(_, width)| "─".repeat(*width)).collect();
        writeln!(target, "{}", rules.join(GAP))?;
        (0..rows).try_for_each(|row| self.row(|column| &column.cells[row], false, target))
    }

    /// Writes a row in as many lines as its cells need; headings stand at the bottom of theirs.
    fn row<'s>(
        &'s self,
        text: impl Fn(&'s Column) -> &'s str,
        at_bottom: bool,
        target: &mut dyn io::Write,
    ) -> io::Result<()> {
        let cells: Vec<Vec<String>> = self
            .0
            .iter()
            .map(|(column, width)| broken(text(column), *width))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let pieces: Vec<String> = cells
                .iter()
                .zip(&self.0)
                .map(|(lines, (column, width))| {
                    let skipped = if at_bottom { height - lines.len() } else { 0 };
                    let piece = line.checked_sub(skipped).and_then(|line| lines.get(line));
                    let piece = piece.map_or("", String::as_str);
                    let room = " ".repeat(width.saturating_sub(length(piece)));
                    match column.right {
                        true => room + piece,
                        false => piece.to_owned() + &room,
                    }
                })
                .collect();
            writeln!(target, "{}", pieces.join(GAP).trim_end())?;
        }
        Ok(())
    }
}

/// Lines of this length, broken between words only.
fn broken(text: &str, width: usize) -> Vec<String> {
    if length(text) <= width {
        return vec![text.to_owned()];
    }
    let options = Options::new(width)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace);
    wrap(text, options)
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Column as Named, Table};

    fn drawn(width: Option<u16>) -> String {
        let columns = vec![
            Named::plain("algorithm", "Algorithm"),
            Named::number("failure_rate", "Failure rate of all requests", 3),
            Named::number("wait", "Mean wait of local jobs (s)", 0),
            Named::number("messages", "Messages", 1),
        ];
        let rows = [("a2", 0.5), ("comprehensive-overbooking", 123_456.0)].map(|(name, value)| {
            let number = Cell::Number(value);
            let name = Cell::Text(name.to_owned());
            vec![name, number.clone(), number.clone(), number]
        });
        let table = Table {
            title: "Which algorithm".to_owned(),
            columns,
            rows: rows.to_vec(),
            name: "best".to_owned(),
            note: String::new(),
            sql: String::new(),
        };
        let mut text = Vec::new();
        Terminal { width }.write(&table, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_table_fits_any_screen_and_breaks_neither_words_nor_numbers() {
        for width in [40, 50, 60, 80, 100] {
            let text = drawn(Some(width));
            for line in text.lines() {
                assert!(length(line) <= usize::from(width), "{width}:\n{text}");
            }
            for whole in ["a2 ", "comprehensive-overbooking", "Messages", "123,456"] {
                assert!(text.contains(whole), "{width}: no `{whole}` in\n{text}");
            }
        }
    }

    #[test]
    fn a_table_that_is_too_wide_goes_on_below_with_the_names_of_its_rows() {
        let text = drawn(Some(40));
        assert!(
            text.matches("comprehensive-overbooking").count() > 1,
            "{text}"
        );
        let wide = drawn(None);
        assert_eq!(wide.lines().count(), 5, "{wide}");
    }
}
