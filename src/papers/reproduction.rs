//! Score cards: the measured results of one trace beside those of a paper, for people (Markdown,
//! terminal, the page of a report) and programs (JSON).
//!
//! A score card computes nothing about the simulation: it arranges the results of
//! [`crate::findings`]. Numbers of tables are shown in tables (`tables`), statements about curves
//! by the sections that the file of findings gives them (`sections`).

mod cells;
mod judgements;
mod paper_page;
mod read_card;
mod record;
mod scatter;
mod sections;
mod side_by_side;
mod standing;
mod tables;
mod tally;

pub use paper_page::{Dimension, PaperInBrief, PaperPage, PapersPage, SummaryFigure, TraceOnPage};
pub use read_card::recorded;
pub use record::Record;
pub use scatter::drawing;
pub use side_by_side::SideBySide;
pub use tally::{Tallies, Tally};

use crate::findings::tables::{MeasuredTable, ToleranceRule};
use crate::findings::{Explanation, FindingResult, Reading, explain};
use bookahead_report::format::inline;
use bookahead_report::section::ClaimsSection;
use bookahead_report::table::{Cell, Column, Table};
use cells::{chosen, line, title};

/// Measured beside published, for one trace of one paper.
#[derive(Clone, Debug)]
pub struct ScoreCard {
    /// The paper's name.
    pub paper: String,
    /// Author, title, place and year.
    pub title: String,
    /// The trace, as `reproduce --trace` names it, or the name of the card that compares traces.
    pub trace: String,
    /// The reading of the paper that was run, where the paper has several.
    pub reading: Option<Reading>,
    /// What was simulated, for people, such as `CTC SP2, 430 processors`.
    pub subject: String,
    /// What a reader must know first: that a workload is a model, that points failed, that nothing
    /// was published.
    pub remarks: Vec<String>,
    /// Every finding with its verdict, in the order of the file.
    pub results: Vec<FindingResult>,
    /// All strategies as measured, in the form of the paper's tables.
    pub measured: Vec<MeasuredTable>,
    /// The tolerances of tables and their reasons.
    pub tolerances: Vec<ToleranceRule>,
    /// Why findings were missed.
    pub explanations: Vec<Explanation>,
    /// The command that made it.
    pub command: String,
}

impl ScoreCard {
    /// The trace, and the reading where that is not the default: `ctc`, `ctc@blind`.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.reading {
            Some(reading) => reading.of(&self.trace),
            None => self.trace.clone(),
        }
    }

    /// What the card is about: the trace, and the reading where that is not the default.
    fn about(&self) -> String {
        match &self.reading {
            Some(reading) if !reading.is_default => {
                format!("{}, reading {}", self.subject, reading.name)
            }
            _ => self.subject.clone(),
        }
    }

    /// The results of tables.
    fn cells(&self) -> impl Iterator<Item = &FindingResult> {
        self.results.iter().filter(|result| result.cell().is_some())
    }

    /// The results of curves.
    fn curves(&self) -> impl Iterator<Item = &FindingResult> {
        self.results.iter().filter(|result| result.cell().is_none())
    }

    /// Whether it shows tables, sections of statements, or both.
    fn parts(&self) -> (bool, bool) {
        let has_tables = !self.measured.is_empty() || self.cells().next().is_some();
        (has_tables, !has_tables || self.curves().next().is_some())
    }

    /// How many findings held.
    #[must_use]
    pub fn tallies(&self) -> Tallies {
        Tallies::of(&self.results)
    }

    /// The explanation of a missed finding, if there is one.
    fn why(&self, result: &FindingResult) -> Option<&Explanation> {
        explain(&self.explanations, result)
    }

    /// Every finding as programs read it.
    #[must_use]
    pub fn records(&self) -> Vec<Record<'_>> {
        self.results
            .iter()
            .map(|result| Record::new(self, result))
            .collect()
    }

    /// How many findings some cards hold by published table or section: tables by number, then the
    /// others.
    #[must_use]
    pub fn tallies_by_title(cards: &[Self]) -> Vec<(String, Tallies)> {
        let mut groups = grouped(cards.iter().flat_map(|card| &card.results), title);
        groups.sort_by_key(|(_, rows)| rows.first().map(|row| title_order(&row.finding)));
        groups
            .into_iter()
            .map(|(title, rows)| (title, Tallies::of(rows)))
            .collect()
    }

    /// The card as a section of the page of a report.
    #[must_use]
    pub fn section(&self) -> ClaimsSection {
        let tallies = self.tallies();
        let is_of_tables = !self.parts().1;
        let (columns, rows) = if is_of_tables {
            self.rows_of_tables()
        } else {
            self.rows_of_sections()
        };
        ClaimsSection {
            title: format!("{}. {}.", self.title.trim_end_matches('.'), self.about()),
            tally: if is_of_tables {
                tallies.sentence()
            } else {
                tallies.first.sentence()
            },
            missed: tallies.first.missed,
            table: Table {
                name: "claims".to_owned(),
                title: "Which findings held".to_owned(),
                columns: columns
                    .into_iter()
                    .map(|(key, title)| Column::plain(key, title))
                    .collect(),
                rows: rows
                    .into_iter()
                    .map(|row| row.into_iter().map(Cell::Text).collect())
                    .collect(),
                note: match chosen(self.cells()).filter(|_| is_of_tables) {
                    Some(text) => format!("Made by `{}`. {text}", self.command),
                    None => format!("Made by `{}`.", self.command),
                },
                sql: String::new(),
            },
        }
    }

    /// The score card as a page of Markdown: `score-card.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = format!(
            "<!-- made by: {} -->\n\n# {}: {}\n\n{}. Made by {}.\n\n",
            inline::comment(&self.command),
            inline::sentence(&self.paper),
            inline::sentence(&self.about()),
            inline::sentence(self.title.trim_end_matches('.')),
            inline::code(&self.command),
        );
        for remark in &self.remarks {
            line(&mut page, &format!("> {}\n", inline::sentence(remark)));
        }
        let (has_tables, has_sections) = self.parts();
        if has_tables {
            self.tables_in_markdown(&mut page);
        }
        if has_tables && has_sections {
            page.push('\n');
        }
        if has_sections {
            self.sections_in_markdown(&mut page);
        }
        page
    }

    /// The score card for a terminal: a table a published table, or blocks of at most 120 columns.
    #[must_use]
    pub fn terminal(&self) -> String {
        let mut page = String::new();
        let head = format!("{}: {}", self.paper, self.about());
        sections::wrap(&mut page, "", "", &head);
        for remark in &self.remarks {
            sections::wrap(&mut page, "  ", "  ", remark);
        }
        let (has_tables, has_sections) = self.parts();
        if has_tables {
            self.tables_in_terminal(&mut page);
        }
        if has_sections {
            self.sections_in_terminal(&mut page);
        }
        page
    }
}

/// The order of titles: tables by number, then the others as they come.
fn title_order(finding: &crate::findings::Finding) -> (bool, Vec<Option<u32>>) {
    let number = match &finding.check {
        crate::findings::Check::Cell(check) => check.table.as_deref(),
        _ => None,
    };
    let parts = number.map(|number| {
        let parts = number.split('.').map(|part| part.parse::<u32>().ok());
        parts.collect::<Vec<_>>()
    });
    (parts.is_none(), parts.unwrap_or_default())
}

/// The keys and titles of a table, and its rows.
type Rows = (Vec<(&'static str, &'static str)>, Vec<Vec<String>>);

/// Results by a name, in the order in which the names come.
fn grouped<'r>(
    results: impl Iterator<Item = &'r FindingResult>,
    name: impl Fn(&crate::findings::Finding) -> String,
) -> Vec<(String, Vec<&'r FindingResult>)> {
    let mut groups: Vec<(String, Vec<&FindingResult>)> = Vec::new();
    for result in results {
        let name = name(&result.finding);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(result),
            None => groups.push((name, vec![result])),
        }
    }
    groups
}

#[cfg(test)]
mod tests;
