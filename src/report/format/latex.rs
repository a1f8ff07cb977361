//! LaTeX: rounded as in Markdown, for papers, with the query in a comment above.

use std::io;

use super::TableFormat;
use super::tex::{comment, number, sentence, text};
use crate::{Cell, Table};

/// A table of the package `booktabs`: a float with caption, label and note, or where that would be
/// longer than a page, one of the package `longtable`.
#[derive(Clone, Copy, Debug)]
pub struct Latex {
    /// Tables with more rows go over several pages.
    pub most_rows_of_a_page: usize,
}

impl Default for Latex {
    fn default() -> Self {
        Self {
            most_rows_of_a_page: 40,
        }
    }
}

impl TableFormat for Latex {
    fn extension(&self) -> &'static str {
        "tex"
    }

    fn write(&self, table: &Table, target: &mut dyn io::Write) -> io::Result<()> {
        let is_long = table.rows.len() > self.most_rows_of_a_page;
        let package = if is_long { ", longtable" } else { "" };
        writeln!(target, "% \\usepackage{{booktabs{package}}}")?;
        if !table.sql.is_empty() {
            write!(target, "%\n{}", comment(table.sql.trim()))?;
        }
        let kinds: String = (0..table.columns.len())
            .map(
                |column| match table.rows.iter().any(|row| row[column].is_numeric()) {
                    true => 'r',
                    false => 'l',
                },
            )
            .collect();
        let caption = format!(
            "\\caption{{{}}}\n\\label{{tab:{}}}",
            text(&table.title),
            label(&table.name)
        );
        let titles = table.columns.iter().map(|column| text(&column.title));
        let head = format!(
            "\\toprule\n{} \\\\\n\\midrule",
            titles.collect::<Vec<_>>().join(" & ")
        );
        if is_long {
            writeln!(target, "\\begin{{longtable}}{{{kinds}}}\n{caption} \\\\")?;
            writeln!(target, "{head}\n\\endfirsthead\n{head}\n\\endhead")?;
            writeln!(target, "\\bottomrule\n\\endfoot")?;
            write_rows(table, target)?;
            writeln!(target, "\\end{{longtable}}")?;
        } else {
            writeln!(target, "\\begin{{table}}\n\\centering\n{caption}")?;
            writeln!(target, "\\begin{{tabular}}{{{kinds}}}\n{head}")?;
            write_rows(table, target)?;
            writeln!(target, "\\bottomrule\n\\end{{tabular}}")?;
        }
        if !table.note.is_empty() {
            let note = sentence(&table.note);
            writeln!(
                target,
                "\\par\\medskip\\parbox{{\\linewidth}}{{\\footnotesize {note}}}"
            )?;
        }
        if !is_long {
            writeln!(target, "\\end{{table}}")?;
        }
        Ok(())
    }
}

fn write_rows(table: &Table, target: &mut dyn io::Write) -> io::Result<()> {
    for (row, shown) in table.rows.iter().zip(table.texts()) {
        let cell = |(cell, shown): (&Cell, String)| match cell.is_numeric() {
            true => number(&shown),
            false => text(&shown),
        };
        let cells: Vec<String> = row.iter().zip(shown).map(cell).collect();
        writeln!(target, "{} \\\\", cells.join(" & "))?;
    }
    Ok(())
}

/// The name of a table as what a reference to it can name.
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
    use super::*;
    use crate::{Column, Estimate};

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
                Column::plain("change", "Change"),
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
            r"% \usepackage{booktabs}
%
% SELECT 1
% FROM v_point
\begin{table}
\centering
\caption{Gain at \ensuremath{\rho} \ensuremath{\leq} 5 \%}
\label{tab:best-of}
\begin{tabular}{lrlr}
\toprule
Strategy & Gain (coins) & Share (\%) & Change \\
\midrule
pof\_max \& more & $1{,}200 \pm 497$ & \textendash{} & $-3$ \\
\bottomrule
\end{tabular}
\par\medskip\parbox{\linewidth}{\footnotesize Over \texttt{3\_000} jobs.}
\end{table}
"
        );
    }

    #[test]
    fn a_table_longer_than_a_page_repeats_its_headings() {
        let text = written(&table(41));
        assert!(text.starts_with("% \\usepackage{booktabs, longtable}\n"));
        assert!(text.contains("\\begin{longtable}{lrlr}\n\\caption{"));
        assert!(!text.contains("\\begin{table}") && !text.contains("tabular}"));
        assert_eq!(text.matches("\\midrule").count(), 2);
        assert_eq!(text.matches("\\bottomrule").count(), 1);
    }
}
