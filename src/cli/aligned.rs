//! Rows in aligned columns, streamed: the first rows decide the widths, the others are printed
//! without being stored. The same rows as tab-separated values, where these are asked for.

mod form;

use std::io::{self, Write};

pub(super) use form::{Form, ask, form, is_tsv, is_wide, refused, tsv_line, tsv_of_json};

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
    /// Where a row does not fit the screen, columns are left out, the highest number first; 0 is
    /// never left out.
    dispensable: u8,
    /// Whether what does not fit goes on in the next line instead of being cut.
    wraps: bool,
}

impl Heading {
    pub(super) fn new(title: impl Into<String>, right: bool) -> Self {
        Self {
            title: title.into(),
            right,
            dispensable: 0,
            wraps: false,
        }
    }

    /// The same column, whose cells go on in the next line where there is no room: for names that
    /// must be read as a whole.
    pub(super) fn wrapped(self) -> Self {
        Self {
            wraps: true,
            ..self
        }
    }

    /// The same column, left out where there is no room: before those with lower numbers.
    pub(super) fn dispensable(self, dispensable: u8) -> Self {
        Self {
            dispensable,
            ..self
        }
    }
}

/// An aligned table under way.
///
/// On a screen dispensable columns are left out, then the widest columns of text are cut, with `…`
/// at the end of a cut cell, or wrapped, until a row fits. Numbers are never cut: where even that
/// does not fit, every cell gets a line of its own. Elsewhere nothing is cut. As tab-separated
/// values a table has all its columns, and a cell of nothing but `–` is empty.
pub(super) struct Aligned<'a> {
    target: &'a mut dyn Write,
    headings: Vec<Heading>,
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    screen: Option<usize>,
    is_tsv: bool,
    cut: bool,
    /// Which columns are shown.
    kept: Vec<bool>,
    /// So wide that every cell gets a line of its own: how many rows were written like that.
    unfolded: Option<usize>,
}

impl<'a> Aligned<'a> {
    /// Begins a table of this form.
    pub(super) fn new(target: &'a mut dyn Write, headings: Vec<Heading>, form: Form) -> Self {
        Self {
            target,
            kept: vec![true; headings.len()],
            headings,
            waiting: Vec::new(),
            widths: None,
            screen: match form {
                Form::Screen(columns) => Some(columns),
                Form::Whole | Form::Tsv => None,
            },
            is_tsv: form == Form::Tsv,
            cut: false,
            unfolded: None,
        }
    }

    /// Adds a row: as many cells as there are headings.
    pub(super) fn push(&mut self, row: Vec<String>) -> io::Result<()> {
        if self.is_tsv {
            self.begin_tsv()?;
            let cells = row.iter().map(|cell| match cell.as_str() {
                "–" => "",
                cell => cell,
            });
            return self.target.write_all(tsv_line(cells).as_bytes());
        }
        let mut row: Vec<String> = row.into_iter().map(one_line).collect();
        if self.widths.is_some() {
            retain(&mut row, &self.kept);
        }
        if self.unfolded.is_some() {
            return self.unfold(&row);
        }
        match &self.widths {
            Some(widths) => {
                let lines = self.lines(&row, widths);
                self.cut |= self.screen.is_some() && self.is_cut(&row, widths);
                writeln!(self.target, "{lines}")
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
        if self.is_tsv {
            self.begin_tsv()?;
        } else if self.widths.is_none() && self.unfolded.is_none() {
            self.begin()?;
        }
        self.target.flush()?;
        Ok(self.cut)
    }

    /// Writes the header of tab-separated values, once.
    fn begin_tsv(&mut self) -> io::Result<()> {
        if self.widths.is_some() {
            return Ok(());
        }
        self.widths = Some(Vec::new());
        let titles = self.headings.iter().map(|heading| &heading.title);
        self.target.write_all(tsv_line(titles).as_bytes())
    }

    fn begin(&mut self) -> io::Result<()> {
        let mut rows = std::mem::take(&mut self.waiting);
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
            self.leave_out(&mut widths, screen);
            for row in &mut rows {
                retain(row, &self.kept);
            }
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
        let lines = self.lines(&titles, &widths);
        writeln!(self.target, "{lines}")?;
        let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        writeln!(self.target, "{}", rules.join(GAP))?;
        for row in &rows {
            let lines = self.lines(row, &widths);
            writeln!(self.target, "{lines}")?;
            self.cut |= self.screen.is_some() && self.is_cut(row, &widths);
        }
        self.widths = Some(widths);
        self.target.flush()
    }

    fn is_cut(&self, row: &[String], widths: &[usize]) -> bool {
        (row.iter().zip(widths).zip(&self.headings))
            .any(|((text, width), heading)| !heading.wraps && length(text) > *width)
    }

    /// Leaves dispensable columns out until the others fit, or none is left.
    fn leave_out(&mut self, widths: &mut Vec<usize>, screen: usize) {
        let shown = |kept: &[bool], widths: &[usize]| {
            let shown: Vec<usize> = widths
                .iter()
                .zip(kept)
                .filter_map(|(width, kept)| kept.then_some(*width))
                .collect();
            shown.iter().sum::<usize>() + GAP.len() * shown.len().saturating_sub(1)
        };
        while shown(&self.kept, widths) > screen {
            let next = (0..widths.len())
                .filter(|at| self.kept[*at] && self.headings[*at].dispensable > 0)
                .max_by_key(|at| self.headings[*at].dispensable);
            let Some(next) = next else {
                break;
            };
            self.kept[next] = false;
        }
        retain(widths, &self.kept);
        retain(&mut self.headings, &self.kept);
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
            let first = format!("{title}{room}{GAP}");
            let screen = self.screen.unwrap_or(usize::MAX);
            if length(&first) + length(text) <= screen {
                writeln!(self.target, "{first}{text}")?;
                continue;
            }
            let below = " ".repeat(length(&first));
            let options = textwrap::Options::new(screen)
                .break_words(false)
                .word_splitter(textwrap::WordSplitter::NoHyphenation)
                .initial_indent(&first)
                .subsequent_indent(&below);
            for line in textwrap::wrap(text, options) {
                writeln!(self.target, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }

    /// A row: one line, or several where a cell is wrapped.
    fn lines(&self, row: &[String], widths: &[usize]) -> String {
        let mut rest: Vec<String> = row.to_vec();
        let mut lines = Vec::new();
        loop {
            let mut line = rest.clone();
            let mut goes_on = false;
            for ((text, rest), (width, heading)) in
                (line.iter_mut().zip(&mut rest)).zip(widths.iter().zip(&self.headings))
            {
                let wraps = heading.wraps && self.screen.is_some();
                let end = if wraps && length(text) > *width {
                    wrap_at(text, *width)
                } else {
                    text.len()
                };
                *rest = text.split_off(end);
                goes_on |= !rest.is_empty();
            }
            lines.push(self.line(&line, widths));
            if !goes_on {
                return lines.join("\n");
            }
        }
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

/// Keeps what is shown of a row.
fn retain<T>(row: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    row.retain(|_| kept.next().is_none_or(|kept| *kept));
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

/// Where a text that is too long is broken: behind the last `-`, `_`, dot or space that fits, else
/// where there is no more room.
fn wrap_at(text: &str, width: usize) -> usize {
    let room = text
        .char_indices()
        .nth(width.max(1))
        .map_or(text.len(), |(end, _)| end);
    text[..room]
        .rfind(['-', '_', '.', ' '])
        .map_or(room, |last| last + 1)
}

fn shortened(text: &str, width: usize) -> String {
    let mut text: String = text.chars().take(width.saturating_sub(1)).collect();
    text.push('…');
    text
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Line ends would tear the table.
fn one_line(text: String) -> String {
    bookahead_core::printable::one_line(&text).into_owned()
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
        let form = screen.map_or(Form::Whole, Form::Screen);
        let mut table = Aligned::new(&mut out, headings, form);
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
    fn names_that_must_be_read_as_a_whole_go_on_in_the_next_line() {
        let mut out = Vec::new();
        let headings = vec![
            Heading::new("measure", false).wrapped(),
            Heading::new("n", true),
        ];
        let mut table = Aligned::new(&mut out, headings, Form::Screen(20));
        for name in ["gain", "promise_late_percent"] {
            table.push(vec![name.to_owned(), "192".to_owned()]).unwrap();
        }
        assert!(!table.finish().unwrap());
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "measure            n\n───────────────  ───\ngain             192\npromise_late_    192\npercent\n"
        );
    }

    #[test]
    fn numbers_are_never_cut_but_get_a_line_of_their_own() {
        let (text, cut) = drawn(Some(12), &[["abcdefgh", "1234567890"]]);
        assert_eq!(text, "── row 1\nname  abcdefgh\nn     1234567890\n");
        assert!(!cut);
    }

    #[test]
    fn what_is_dispensable_is_left_out_before_anything_is_cut() {
        let mut out = Vec::new();
        let headings = vec![
            Heading::new("name", false),
            Heading::new("hash", false).dispensable(2),
            Heading::new("took", true).dispensable(1),
        ];
        let mut table = Aligned::new(&mut out, headings, Form::Screen(16));
        for _ in 0..2 {
            let row = ["experiment", "941fea7a", "0.2"];
            table.push(row.map(str::to_owned).to_vec()).unwrap();
        }
        assert!(!table.finish().unwrap());
        let text = String::from_utf8(out).unwrap();
        let rows = "experiment   0.2\n".repeat(2);
        assert_eq!(text, format!("name        took\n──────────  ────\n{rows}"));
    }

    #[test]
    fn an_escape_sequence_is_seen_in_a_table() {
        let (text, _) = drawn(None, &[["a\u{1b}[2J", "1"]]);
        assert!(text.contains("a?[2J"), "{text}");
    }

    #[test]
    fn a_line_end_in_a_cell_does_not_tear_the_table() {
        let (text, _) = drawn(None, &[["a\nb", "1"]]);
        assert!(text.contains("a b"), "{text}");
    }

    /// A table of eleven columns, 131 wide, of which four are dispensable.
    fn eleven(form: Form) -> String {
        let mut out = Vec::new();
        let headings = (1..=11)
            .map(|at: u8| {
                let heading = Heading::new(format!("column {at:02}"), false);
                heading.dispensable(at.saturating_sub(7))
            })
            .collect();
        let mut table = Aligned::new(&mut out, headings, form);
        for row in ["a", "b"] {
            let cells = (1..=11).map(|at| match at {
                1 => format!("{row}\tx\ny"),
                2 => "–".to_owned(),
                at => format!("cell {row}{at:05}"),
            });
            table.push(cells.collect()).unwrap();
        }
        table.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn eleven_columns_are_too_many_for_eighty_and_all_there_with_wide() {
        let narrow = eleven(Form::Screen(80));
        assert!(narrow.lines().all(|line| length(line) <= 80), "{narrow}");
        assert!(narrow.contains("column 07") && !narrow.contains("column 08"));
        let wide = eleven(Form::Whole);
        assert!(wide.lines().any(|line| length(line) > 80), "{wide}");
        for at in 1..=11 {
            assert!(wide.contains(&format!("column {at:02}")), "{at}:\n{wide}");
        }
    }

    #[test]
    fn tab_separated_values_are_a_header_and_a_line_for_each_row_without_padding() {
        let text = eleven(Form::Tsv);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split('\t').collect())
            .collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines.iter().all(|cells| cells.len() == 11), "{text}");
        assert_eq!(lines[0][..2], ["column 01", "column 02"]);
        assert_eq!(lines[2][..3], ["b\\tx\\ny", "", "cell b00003"]);
        let mut out = Vec::new();
        let table = Aligned::new(&mut out, vec![Heading::new("n", true)], Form::Tsv);
        assert!(!table.finish().unwrap());
        assert_eq!(out, b"n\n");
    }
}
