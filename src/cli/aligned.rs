//! Rows in aligned columns, streamed: the first rows decide the widths, the others follow without being held.

use std::io::{self, Write};

use bookahead_engine::printable::printable;

/// Rows that are looked at before the widths are decided.
const SAMPLE: usize = 500;

/// Between two columns.
const GAP: &str = "  ";

/// No column is cut to less than this.
const NARROWEST: usize = 6;

/// A column: heading, and whether it reads from the right.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    pub(super) title: String,
    pub(super) right: bool,
}

impl Heading {
    pub(super) fn new(title: impl Into<String>, right: bool) -> Self {
        Self {
            title: title.into(),
            right,
        }
    }
}

/// An aligned table under way.
///
/// On a screen the widest columns of text are cut, with `…` at the end of a cut cell, until a row fits. Numbers are never
/// cut: where even that does not fit, every cell gets a line of its own. Elsewhere nothing is cut.
pub(super) struct Aligned<'a> {
    target: &'a mut dyn Write,
    headings: Vec<Heading>,
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    screen: Option<usize>,
    cut: bool,
    /// So wide that every cell gets a line of its own: how many rows were written like that.
    unfolded: Option<usize>,
}

impl<'a> Aligned<'a> {
    /// Begins a table for a screen of so many columns, or for no screen.
    pub(super) fn new(
        target: &'a mut dyn Write,
        headings: Vec<Heading>,
        screen: Option<usize>,
    ) -> Self {
        Self {
            target,
            headings,
            waiting: Vec::new(),
            widths: None,
            screen,
            cut: false,
            unfolded: None,
        }
    }

    /// Adds a row: as many cells as there are headings.
    pub(super) fn push(&mut self, row: Vec<String>) -> io::Result<()> {
        let row: Vec<String> = row.into_iter().map(one_line).collect();
        if self.unfolded.is_some() {
            return self.unfold(&row);
        }
        match &self.widths {
            Some(widths) => {
                let line = self.line(&row, widths);
                self.cut |= self.screen.is_some() && is_cut(&row, widths);
                writeln!(self.target, "{line}")
            }
            None => {
                self.waiting.push(row);
                if self.waiting.len() == SAMPLE {
                    self.begin()?;
                }
                Ok(())
            }
        }
    }

    /// Ends the table; returns whether a cell was cut.
    pub(super) fn finish(mut self) -> io::Result<bool> {
        if self.widths.is_none() && self.unfolded.is_none() {
            self.begin()?;
        }
        self.target.flush()?;
        Ok(self.cut)
    }

    fn begin(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let mut widths: Vec<usize> = self
            .headings
            .iter()
            .enumerate()
            .map(|(at, heading)| {
                rows.iter()
                    .map(|row| length(&row[at]))
                    .chain([length(&heading.title)])
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        if let Some(screen) = self.screen {
            let right: Vec<bool> = self.headings.iter().map(|heading| heading.right).collect();
            if !fit(&mut widths, &right, screen) && !rows.is_empty() {
                self.unfolded = Some(0);
                return rows.iter().try_for_each(|row| self.unfold(row));
            }
        }
        let titles: Vec<String> = self
            .headings
            .iter()
            .map(|heading| one_line(heading.title.clone()))
            .collect();
        let line = self.line(&titles, &widths);
        writeln!(self.target, "{line}")?;
        let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        writeln!(self.target, "{}", rules.join(GAP))?;
        for row in &rows {
            let line = self.line(row, &widths);
            writeln!(self.target, "{line}")?;
            self.cut |= self.screen.is_some() && is_cut(row, &widths);
        }
        self.widths = Some(widths);
        self.target.flush()
    }

    /// A row with a line for each cell.
    fn unfold(&mut self, row: &[String]) -> io::Result<()> {
        let number = self.unfolded.unwrap_or(0) + 1;
        self.unfolded = Some(number);
        let widest = self
            .headings
            .iter()
            .map(|heading| length(&heading.title))
            .max()
            .unwrap_or(0);
        writeln!(self.target, "── row {number}")?;
        for (heading, text) in self.headings.iter().zip(row) {
            let title = one_line(heading.title.clone());
            let room = " ".repeat(widest.saturating_sub(length(&title)));
            writeln!(self.target, "{title}{room}{GAP}{text}")?;
        }
        Ok(())
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .zip(&self.headings)
            .map(|((text, width), heading)| {
                let text = match self.screen {
                    Some(_) if length(text) > *width => shortened(text, *width),
                    _ => text.clone(),
                };
                let room = " ".repeat(width.saturating_sub(length(&text)));
                if heading.right {
                    room + &text
                } else {
                    text + &room
                }
            })
            .collect();
        cells.join(GAP).trim_end().to_owned()
    }
}

/// Takes from the widest columns of text until all columns fit; `false` where that is not enough.
fn fit(widths: &mut [usize], right: &[bool], screen: usize) -> bool {
    let gaps = GAP.len() * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > screen {
        let texts = widths.iter_mut().zip(right).filter(|(_, right)| !**right);
        match texts.map(|(width, _)| width).max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => return false,
        }
    }
    true
}

fn is_cut(row: &[String], widths: &[usize]) -> bool {
    row.iter()
        .zip(widths)
        .any(|(text, width)| length(text) > *width)
}

fn shortened(text: &str, width: usize) -> String {
    let mut text: String = text.chars().take(width.saturating_sub(1)).collect();
    text.push('…');
    text
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Line ends would tear the table, and other control characters the screen: those become question marks.
fn one_line(text: String) -> String {
    if text.chars().any(char::is_control) {
        printable(&text).replace(['\n', '\r', '\t'], " ")
    } else {
        text
    }
}

/// A field as a terminal may have it; files and pipes get what the store has.
pub(super) fn for_terminal(text: String, is_terminal: bool) -> String {
    if is_terminal {
        printable(&text).into_owned()
    } else {
        text
    }
}

/// Columns of the screen behind standard output, if it is one.
pub(super) fn screen() -> Option<usize> {
    comfy_table::Table::new().width().map(usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(screen: Option<usize>, rows: &[[&str; 2]]) -> (String, bool) {
        let mut out = Vec::new();
        let headings = vec![Heading::new("name", false), Heading::new("n", true)];
        let mut table = Aligned::new(&mut out, headings, screen);
        for row in rows {
            table.push(row.map(str::to_owned).to_vec()).unwrap();
        }
        let cut = table.finish().unwrap();
        (String::from_utf8(out).unwrap(), cut)
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let (text, cut) = drawn(None, &[["a", "1"], ["bcdefg", "1000"]]);
        assert_eq!(
            text,
            "name       n\n──────  ────\na          1\nbcdefg  1000\n"
        );
        assert!(!cut);
    }

    #[test]
    fn on_a_screen_the_widest_column_is_cut_and_in_a_pipe_it_is_not() {
        let long = "a very long name indeed";
        let (text, cut) = drawn(Some(15), &[[long, "1"]]);
        assert!(cut && text.contains("a very long…  1"), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 15),
            "{text}"
        );
        let (text, cut) = drawn(None, &[[long, "1"]]);
        assert!(!cut && text.contains(long));
    }

    #[test]
    fn numbers_are_never_cut_but_get_a_line_of_their_own() {
        let (text, cut) = drawn(Some(12), &[["abcdefgh", "1234567890"]]);
        assert_eq!(text, "── row 1\nname  abcdefgh\nn     1234567890\n");
        assert!(!cut);
    }

    #[test]
    fn an_escape_sequence_is_seen_on_a_terminal_and_kept_in_a_file() {
        let (text, _) = drawn(None, &[["a\u{1b}[2J", "1"]]);
        assert!(text.contains("a?[2J"), "{text}");
        let field = "a\u{9b}2J".to_owned();
        assert_eq!(for_terminal(field.clone(), true), "a??2J");
        assert_eq!(for_terminal(field.clone(), false), field);
    }

    #[test]
    fn a_line_end_in_a_cell_does_not_tear_the_table() {
        let (text, _) = drawn(None, &[["a\nb", "1"]]);
        assert!(text.contains("a b"), "{text}");
    }
}
