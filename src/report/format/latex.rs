//! LaTeX: rounded as in Markdown, for papers, with the query in a comment above.

use std::io;
use std::rc::Rc;

use super::TableFormat;
use super::tex::{comment, number, sentence, text};
use crate::figure::Figure;
use crate::svg::FigureWidth;
use crate::{Cell, Table};

/// A table of the package `booktabs`: a float with caption, label and note, or where that would be
/// longer than a page, one of the package `longtable`.
///
/// Where its columns do not fit a page, those of numbers go on below, behind the names of the rows;
/// what is wider than a narrow column of a paper is made smaller (`graphicx`).
#[derive(Clone, Copy, Debug)]
pub struct Latex {
    /// Tables with more lines of headings and rows go over several pages.
    pub most_lines_of_a_page: usize,
}

/// The box with a table, no wider than the page.
const FITTED: &str = r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi";

/// Letters of a line of a heading: a column is to be about as wide as its numbers.
const HEADING_LETTERS: usize = 14;

/// Letters of a line of a page in one column, of 345 points, of which a small digit has 4.5, where
/// tables may be a tenth smaller than that.
const LETTERS: usize = 80;

/// Letters in the room between two columns, of 12 points.
const GAP: usize = 2;

impl Default for Latex {
    fn default() -> Self {
        Self {
            most_lines_of_a_page: 45,
        }
    }
}

impl TableFormat for Latex {
    fn extension(&self) -> &'static str {
        "tex"
    }

    fn write(&self, table: &Table, target: &mut dyn io::Write) -> io::Result<()> {
        let parts = parts(table);
        let lines: usize = parts.iter().map(|part| part.lines()).sum();
        let is_long = lines > self.most_lines_of_a_page;
        let package = if is_long { "longtable" } else { "graphicx" };
        writeln!(target, "% \\usepackage{{booktabs, {package}}}")?;
        if !table.sql.is_empty() {
            write!(target, "%\n{}", comment(table.sql.trim()))?;
        }
        let caption = format!(
            "\\caption{{{}}}\n\\label{{tab:{}}}",
            text(&table.title),
            label(&table.name)
        );
        if !is_long {
            writeln!(target, "\\begin{{table}}\n\\centering\n{caption}\n\\small")?;
        } else {
            writeln!(target, "\\begingroup\\footnotesize")?;
        }
        for (number, part) in parts.iter().enumerate() {
            let (kinds, head) = (part.kinds(), part.head());
            if is_long {
                let caption = match number {
                    0 => format!("{caption} \\\\\n"),
                    _ => String::new(),
                };
                writeln!(target, "\\begin{{longtable}}{{{kinds}}}\n{caption}{head}")?;
                writeln!(target, "\\endfirsthead\n{head}\n\\endhead")?;
                writeln!(target, "\\bottomrule\n\\endfoot")?;
                part.write_rows(target)?;
                writeln!(target, "\\end{{longtable}}")?;
            } else {
                let below = if number == 0 { "" } else { "\\par\\medskip\n" };
                writeln!(target, "{below}\\sbox0{{%\n\\begin{{tabular}}{{{kinds}}}")?;
                writeln!(target, "{head}")?;
                part.write_rows(target)?;
                writeln!(target, "\\bottomrule\n\\end{{tabular}}}}%\n{FITTED}")?;
            }
        }
        write_note(&table.note, target)?;
        writeln!(
            target,
            "{}",
            if is_long {
                "\\endgroup"
            } else {
                "\\end{table}"
            }
        )
    }
}

/// A column as it is written.
struct Column {
    is_numeric: bool,
    /// Lines of the heading.
    heading: Vec<String>,
    cells: Vec<String>,
    /// Letters of its widest line.
    width: usize,
}

impl Column {
    fn all(table: &Table) -> Vec<Self> {
        let texts: Vec<Vec<String>> = table.texts().collect();
        let columns = table.columns.iter().enumerate();
        columns
            .map(|(at, column)| {
                let is_number = |row: &Vec<Cell>| row[at].is_numeric();
                let heading = textwrap::wrap(&column.title, HEADING_LETTERS);
                let shown = || texts.iter().map(|row| row[at].as_str());
                let lines = heading.iter().map(AsRef::as_ref).chain(shown());
                let cells = table.rows.iter().zip(shown());
                Self {
                    is_numeric: table.rows.iter().any(is_number),
                    width: lines.map(|line| line.chars().count()).max().unwrap_or(0),
                    heading: heading.iter().map(|line| text(line)).collect(),
                    cells: cells
                        .map(|(row, shown)| match is_number(row) {
                            true => number(shown),
                            false => text(shown),
                        })
                        .collect(),
                }
            })
            .collect()
    }

    fn kind(&self) -> char {
        if self.is_numeric { 'r' } else { 'l' }
    }

    /// The heading, whose lines end where those of the others do.
    fn head(&self) -> String {
        match &self.heading[..] {
            [_, _, ..] => format!(
                "\\begin{{tabular}}[b]{{@{{}}{}@{{}}}}{}\\end{{tabular}}",
                self.kind(),
                self.heading.join(r"\\")
            ),
            _ => self.heading.concat(),
        }
    }
}

/// Columns that stand side by side.
struct Part(Vec<Rc<Column>>);

/// All columns where they fit a page, else the columns of numbers in several parts below each
/// other, each behind the columns that name rows.
fn parts(table: &Table) -> Vec<Part> {
    let columns: Vec<_> = Column::all(table).into_iter().map(Rc::new).collect();
    let named = columns.iter().take_while(|column| !column.is_numeric);
    let (names, others) = columns.split_at(named.count().clamp(1, columns.len().max(1)));
    let mut parts = vec![Part(names.to_vec())];
    for column in others {
        let last = parts.len() - 1;
        if parts[last].0.len() > names.len() && parts[last].width() + GAP + column.width > LETTERS {
            parts.push(Part(names.to_vec()));
        }
        if let Some(part) = parts.last_mut() {
            part.0.push(column.clone());
        }
    }
    parts
}

impl Part {
    fn width(&self) -> usize {
        let widths = self.0.iter().map(|column| column.width + GAP);
        widths.sum::<usize>().saturating_sub(GAP)
    }

    fn lines(&self) -> usize {
        let rows = self.0.first().map_or(0, |column| column.cells.len());
        let headings = self.0.iter().map(|column| column.heading.len());
        rows + headings.max().unwrap_or(0)
    }

    fn kinds(&self) -> String {
        self.0.iter().map(|column| column.kind()).collect()
    }

    fn head(&self) -> String {
        let heads: Vec<String> = self.0.iter().map(|column| column.head()).collect();
        format!("\\toprule\n{} \\\\\n\\midrule", heads.join(" & "))
    }

    fn write_rows(&self, target: &mut dyn io::Write) -> io::Result<()> {
        let rows = self.0.first().map_or(0, |column| column.cells.len());
        for row in 0..rows {
            let cells = self.0.iter().map(|column| column.cells[row].as_str());
            writeln!(target, "{} \\\\", cells.collect::<Vec<_>>().join(" & "))?;
        }
        Ok(())
    }
}

/// A float around the PDF of a figure, which LaTeX looks for where `\\graphicspath` says: over both
/// columns of a paper where the figure is as wide as them.
pub(crate) fn write_float(
    figure: &Figure,
    width: FigureWidth,
    target: &mut dyn io::Write,
) -> io::Result<()> {
    let float = match width {
        FigureWidth::Screen | FigureWidth::OneColumn => "figure",
        FigureWidth::TwoColumns => "figure*",
    };
    writeln!(target, "% \\usepackage{{graphicx}}")?;
    if !figure.sql.is_empty() {
        write!(target, "%\n{}", comment(figure.sql.trim()))?;
    }
    writeln!(target, "\\begin{{{float}}}\n\\centering")?;
    let name = &figure.name;
    writeln!(target, "\\includegraphics[width=\\linewidth]{{{name}.pdf}}")?;
    let (title, label) = (text(&figure.title), label(name));
    writeln!(target, "\\caption{{{title}}}\n\\label{{fig:{label}}}")?;
    write_note(&figure.note, target)?;
    writeln!(target, "\\end{{{float}}}")
}

fn write_note(note: &str, target: &mut dyn io::Write) -> io::Result<()> {
    if note.is_empty() {
        return Ok(());
    }
    let note = sentence(note);
    writeln!(
        target,
        "\\par\\medskip\\noindent\\parbox{{\\linewidth}}{{\\footnotesize {note}}}"
    )
}

/// The name of a table or figure as what a reference to it can name.
fn label(name: &str) -> String {
    let letters = name.chars();
    letters
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::TableFormat as _;
    use super::{Latex, write_float};
    use crate::figure::{Figure, Scale, ScaleKind, Section};
    use crate::svg::FigureWidth;
    use crate::{Cell, Column, Estimate, Table};

    fn table(rows: usize) -> Table {
        let row = |at: usize| {
            vec![
                Cell::Text("pof_max & more".to_owned()),
                Cell::Estimate(Estimate::of(&[1_000.0, 1_200.0, 1_400.0 + at as f64]).unwrap()),
                Cell::Missing,
                Cell::Integer(-3),
            ]
        };
        Table {
            name: "best_of".to_owned(),
            title: "Gain at ρ ≤ 5 %".to_owned(),
            columns: vec![
                Column::plain("strategy", "Strategy"),
                Column::estimate("gain", "Gain (coins)", 0),
                Column::plain("share", "Share (%)"),
                Column::plain("change", "Change against the baseline"),
            ],
            rows: (0..rows).map(row).collect(),
            note: "Over `3_000` jobs.".to_owned(),
            sql: "SELECT 1\nFROM v_point".to_owned(),
        }
    }

    fn written(table: &Table) -> String {
        let mut text = Vec::new();
        Latex::default().write(table, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_table_is_a_float_with_rules_caption_label_note_and_its_query_above() {
        assert_eq!(
            written(&table(1)),
            r"% \usepackage{booktabs, graphicx}
%
% SELECT 1
% FROM v_point
\begin{table}
\centering
\caption{Gain at \ensuremath{\rho} \ensuremath{\leq} 5 \%}
\label{tab:best-of}
\small
\sbox0{%
\begin{tabular}{lrlr}
\toprule
Strategy & Gain (coins) & Share (\%) & \begin{tabular}[b]{@{}r@{}}Change against\\the baseline\end{tabular} \\
\midrule
pof\_max \& more & $1{,}200 \pm 497$ & \textendash{} & $-3$ \\
\bottomrule
\end{tabular}}%
\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi
\par\medskip\noindent\parbox{\linewidth}{\footnotesize Over \texttt{3\_000} jobs.}
\end{table}
"
        );
    }

    #[test]
    fn a_table_longer_than_a_page_repeats_its_headings() {
        let text = written(&table(45));
        assert!(text.starts_with("% \\usepackage{booktabs, longtable}\n"));
        assert!(text.contains("\\begin{longtable}{lrlr}\n\\caption{"));
        assert!(!text.contains("\\begin{table}") && !text.contains("\\begin{tabular}{"));
        assert_eq!(text.matches("\\midrule").count(), 2);
        assert_eq!(text.matches("\\bottomrule").count(), 1);
    }

    #[test]
    fn columns_that_do_not_fit_a_page_go_on_below_behind_the_names_of_the_rows() {
        let mut wide = table(2);
        for row in &mut wide.rows {
            row.extend(vec![Cell::Number(1.5); 6]);
        }
        let more = (0..6).map(|at| Column::number(format!("c{at}"), "another measure", 1));
        wide.columns.extend(more);
        let text = written(&wide);
        let kinds: Vec<&str> = (text.lines())
            .filter_map(|line| line.strip_prefix("\\begin{tabular}{"))
            .collect();
        // 14 + 12 + 9 + 14 + 2 · 7 letters with their gaps are 73, and one more column 82.
        assert_eq!(kinds, ["lrlrrr}", "lrrrr}"]);
        assert_eq!(text.matches("pof\\_max \\& more & ").count(), 4);
        assert_eq!(text.matches("\\caption{").count(), 1);
    }

    #[test]
    fn a_figure_is_a_float_around_its_pdf_with_caption_label_note_and_query() {
        let figure = Figure {
            name: "gain-by-pof_max".to_owned(),
            section: Section::Money,
            title: "Gain by α".to_owned(),
            given: Vec::new(),
            x: Scale {
                title: "x".to_owned(),
                kind: ScaleKind::Linear,
            },
            y: Scale {
                title: "y".to_owned(),
                kind: ScaleKind::Linear,
            },
            series: Vec::new(),
            note: "Bands are 95 % intervals.".to_owned(),
            sql: "SELECT 1".to_owned(),
        };
        let written = |width| {
            let mut text = Vec::new();
            write_float(&figure, width, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert_eq!(
            written(FigureWidth::OneColumn),
            r"% \usepackage{graphicx}
%
% SELECT 1
\begin{figure}
\centering
\includegraphics[width=\linewidth]{gain-by-pof_max.pdf}
\caption{Gain by \ensuremath{\alpha}}
\label{fig:gain-by-pof-max}
\par\medskip\noindent\parbox{\linewidth}{\footnotesize Bands are 95 \% intervals.}
\end{figure}
"
        );
        let both = written(FigureWidth::TwoColumns);
        assert!(both.contains("\\begin{figure*}\n") && both.ends_with("\\end{figure*}\n"));
    }
}
