//! Score cards: what one trace measured beside what a paper published, for people (Markdown, terminal) and programs (JSON).
//!
//! A score card computes nothing about the simulation: it arranges the comparisons of [`super::claims`].

mod cells;
mod judgements;
mod measured;
mod record;
mod side_by_side;
mod tally;

pub use measured::{MeasuredTable, measured_tables};
pub use record::Record;
pub use side_by_side::SideBySide;
pub use tally::{Tallies, Tally};

use super::claims::{Comparison, Expected, Explanation, Reading, ToleranceRule, Verdict, explain};
use super::html::ClaimsSection;
use super::table::{Cell, Column};
use cells::{
    cells, footnote, line, link, markdown_table, order_lines, second, table_title, terminal_table,
    tolerance,
};
use judgements::two_judgements;

/// Measured beside published, for one trace of one paper.
#[derive(Clone, Debug)]
pub struct ScoreCard {
    /// The paper's name.
    pub paper: String,
    /// Author, title, place and year.
    pub title: String,
    /// The trace, as `reproduce --trace` names it.
    pub trace: String,
    /// The reading of the paper that was run, where the paper has several.
    pub reading: Option<Reading>,
    /// What the trace is, for people, such as `CTC SP2, 430 processors`.
    pub subject: String,
    /// What a reader must know first: that the workload is a model, that points failed, that nothing was published.
    pub remarks: Vec<String>,
    /// Every comparison, in the order of the claims.
    pub comparisons: Vec<Comparison>,
    /// All strategies as measured, in the form of the paper's tables.
    pub measured: Vec<MeasuredTable>,
    /// The tolerances and their reasons.
    pub tolerances: Vec<ToleranceRule>,
    /// Why claims were missed.
    pub explanations: Vec<Explanation>,
    /// The command that made it.
    pub command: String,
}

const HEADER: [&str; 7] = [
    "claim",
    "published",
    "measured",
    "95 % interval",
    "difference",
    "tolerance",
    "held",
];

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

    /// How many claims held.
    #[must_use]
    pub fn tallies(&self) -> Tallies {
        Tallies::of(&self.comparisons)
    }

    /// The columns of its tables: the second judgement only where something was judged twice.
    fn header(&self) -> Vec<&'static str> {
        let mut header = HEADER.to_vec();
        if self.tallies().judged_twice > 0 {
            header.push("over alignments");
        }
        header.push("why");
        header
    }

    /// Every comparison as programs read it.
    #[must_use]
    pub fn records(&self) -> Vec<Record<'_>> {
        self.comparisons
            .iter()
            .map(|comparison| {
                let mut record = Record::from(comparison);
                record.reading = self.reading.as_ref().map(|reading| reading.name.as_str());
                record.explanation =
                    explain(&self.explanations, comparison).map(|found| found.text.trim());
                record
            })
            .collect()
    }

    /// The explanations of this card's misses with how many each is for, in the order of the file.
    fn used_explanations(&self) -> Vec<(&Explanation, usize)> {
        self.explanations
            .iter()
            .filter_map(|known| {
                let misses = self
                    .comparisons
                    .iter()
                    .filter(|comparison| {
                        explain(&self.explanations, comparison)
                            .is_some_and(|found| found.id == known.id)
                    })
                    .count();
                (misses > 0).then_some((known, misses))
            })
            .collect()
    }

    /// The claims that were missed and that no explanation is for.
    #[must_use]
    pub fn unexplained(&self) -> Vec<&str> {
        self.comparisons
            .iter()
            .filter(|comparison| {
                matches!(comparison.verdict, Verdict::Missed(_))
                    && explain(&self.explanations, comparison).is_none()
            })
            .map(|comparison| comparison.claim.id.as_str())
            .collect()
    }

    /// The card as a section of the page of a report.
    #[must_use]
    pub fn section(&self) -> ClaimsSection {
        let tallies = self.tallies();
        let columns = if tallies.judged_twice > 0 { 10 } else { 9 };
        let rows = self
            .comparisons
            .iter()
            .map(|comparison| {
                let [
                    _,
                    published,
                    measured,
                    interval,
                    difference,
                    tolerance,
                    held,
                ] = cells(comparison);
                let verdict = match &comparison.verdict {
                    Verdict::Held => "held",
                    Verdict::Missed(_) => "missed",
                    Verdict::NotTested(_) => "not tested",
                };
                let why = match &comparison.verdict {
                    Verdict::Held => String::new(),
                    Verdict::Missed(_) => explain(&self.explanations, comparison)
                        .map_or_else(String::new, |found| {
                            format!("{}: {}", found.id, found.text.trim())
                        }),
                    Verdict::NotTested(_) => held,
                };
                [
                    comparison.claim.id.clone(),
                    comparison.claim.statement(),
                    published,
                    measured,
                    interval,
                    difference,
                    tolerance,
                    verdict.to_owned(),
                    why,
                    second(comparison),
                ]
                .map(Cell::Text)[..columns]
                    .to_vec()
            })
            .collect();
        let titles = [
            ("claim", "Claim"),
            ("statement", "What is claimed"),
            ("published", "Published"),
            ("measured", "Measured"),
            ("interval", "95 % interval"),
            ("difference", "Difference"),
            ("tolerance", "Tolerance"),
            ("verdict", "Verdict"),
            ("why", "Why"),
            ("over_alignments", "Over alignments"),
        ];
        ClaimsSection {
            title: format!("{}. {}.", self.title, self.about()),
            tally: tallies.sentence(),
            missed: tallies.first.missed,
            table: super::Table {
                name: "claims".to_owned(),
                title: "Which findings held".to_owned(),
                columns: titles
                    .into_iter()
                    .take(columns)
                    .map(|(key, title)| Column::plain(key, title))
                    .collect(),
                rows,
                note: format!("Made by `{}`.", self.command),
                sql: String::new(),
            },
        }
    }

    fn cells(&self, comparison: &Comparison, shown: impl Fn(&str) -> String) -> Vec<String> {
        let mut row = cells(comparison).to_vec();
        if self.tallies().judged_twice > 0 {
            row.push(second(comparison));
        }
        row.push(
            explain(&self.explanations, comparison)
                .map_or_else(String::new, |found| shown(&found.id)),
        );
        row
    }

    /// The comparisons of each published table, in the order of the claims. Orders stand apart: see [`Self::orders`].
    fn tables(&self) -> Vec<(String, Vec<&Comparison>)> {
        let mut tables: Vec<(String, Vec<&Comparison>)> = Vec::new();
        let numbers = self
            .comparisons
            .iter()
            .filter(|comparison| !comparison.claim.quantity.is_order());
        for comparison in numbers {
            let title = table_title(&comparison.claim);
            match tables.iter_mut().find(|(known, _)| *known == title) {
                Some((_, rows)) => rows.push(comparison),
                None => tables.push((title, vec![comparison])),
            }
        }
        tables
    }

    /// How many claims some cards hold by published table: tables by number, then what stands in the text or was derived.
    #[must_use]
    pub fn tallies_by_table(cards: &[Self]) -> Vec<(String, Tallies)> {
        let mut tables: Vec<(String, Vec<&Comparison>)> = Vec::new();
        for comparison in cards.iter().flat_map(|card| &card.comparisons) {
            let title = table_title(&comparison.claim);
            match tables.iter_mut().find(|(known, _)| *known == title) {
                Some((_, rows)) => rows.push(comparison),
                None => tables.push((title, vec![comparison])),
            }
        }
        tables.sort_by_key(|(_, rows)| {
            let number = rows.first().and_then(|row| row.claim.table.as_deref());
            let parts = number.map(|number| {
                let parts = number.split('.').map(|part| part.parse::<u32>().ok());
                parts.collect::<Vec<_>>()
            });
            (parts.is_none(), parts)
        });
        tables
            .into_iter()
            .map(|(title, rows)| (title, Tallies::of(rows)))
            .collect()
    }

    /// The orders of strategies and families, which a reader looks at first.
    fn orders(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons
            .iter()
            .filter(|comparison| comparison.claim.quantity.is_order())
    }

    /// The score card as a page of Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = format!(
            "<!-- made by: {} -->\n\n# {}: {}\n\n{}. Made by `{0}`.\n\n",
            self.command,
            self.paper,
            self.about(),
            self.title
        );
        for remark in &self.remarks {
            line(&mut page, &format!("> {remark}\n"));
        }
        if !self.comparisons.is_empty() {
            line(&mut page, &format!("**{}.**\n", self.tallies().sentence()));
            if let Some(text) = two_judgements(&[self], "the tolerances below") {
                line(&mut page, &format!("{text}\n"));
            }
            line(&mut page, "## Order of the strategies\n");
            for comparison in self.orders() {
                let [subject, published, measured] = order_lines(comparison);
                line(
                    &mut page,
                    &format!("- {subject}\n  - published: {published}\n  - measured: {measured}"),
                );
                if let Some(note) = footnote(comparison) {
                    line(&mut page, &format!("  - {note}"));
                }
                if let Some(found) = explain(&self.explanations, comparison) {
                    line(&mut page, &format!("  - why: {}", link(&found.id)));
                }
            }
            page.push('\n');
        }
        for (title, rows) in self.tables() {
            let tallies = Tallies::of(rows.iter().copied());
            line(
                &mut page,
                &format!("## {title}\n\n{}.\n", tallies.sentence()),
            );
            markdown_table(
                &mut page,
                &self.header(),
                rows.iter().map(|row| self.cells(row, link)),
            );
            for comparison in rows {
                if let Some(note) = footnote(comparison) {
                    line(&mut page, &format!("- `{}`: {note}", comparison.claim.id));
                }
            }
            page.push('\n');
        }
        for table in &self.measured {
            line(&mut page, &format!("## {}\n", table.title));
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            markdown_table(&mut page, &header, table.rows.iter().cloned());
            page.push('\n');
        }
        let used = self.used_explanations();
        if !used.is_empty() {
            line(&mut page, "## Why\n");
            for (found, misses) in used {
                let evidence = if found.evidence.is_empty() {
                    String::new()
                } else {
                    format!(" Looked at: {}.", found.evidence.join(", "))
                };
                line(
                    &mut page,
                    &format!(
                        "### {}\n\n{misses} claims. {}{evidence}\n",
                        found.id,
                        found.text.trim().replace('\n', " ")
                    ),
                );
            }
        }
        if !self.comparisons.is_empty() {
            line(
                &mut page,
                "## Tolerances\n\nDecided before anything was measured.\n",
            );
            for rule in &self.tolerances {
                let quantities: Vec<&str> =
                    rule.quantities.iter().map(|known| known.name()).collect();
                line(
                    &mut page,
                    &format!(
                        "- {}: {}. {}",
                        quantities.join(", "),
                        tolerance(rule.tolerance),
                        rule.reason.trim()
                    ),
                );
            }
        }
        page
    }

    /// The score card for a terminal: one table a published table, and the orders.
    #[must_use]
    pub fn terminal(&self) -> String {
        let mut page = format!("{}: {}\n", self.paper, self.about());
        for remark in &self.remarks {
            line(&mut page, &format!("  {remark}"));
        }
        for (title, rows) in self.tables() {
            line(&mut page, &format!("\n{title}"));
            line(
                &mut page,
                &terminal_table(
                    self.header().into_iter().map(str::to_owned).collect(),
                    rows.iter().map(|row| self.cells(row, str::to_owned)),
                ),
            );
        }
        let nothing_judged = self
            .comparisons
            .iter()
            .all(|comparison| matches!(comparison.claim.expected, Expected::HeldOut(_)));
        if nothing_judged {
            for table in &self.measured {
                line(&mut page, &format!("\n{}", table.title));
                line(
                    &mut page,
                    &terminal_table(table.header.clone(), table.rows.iter().cloned()),
                );
            }
        }
        if !self.comparisons.is_empty() {
            page.push('\n');
            for comparison in self.orders() {
                let [subject, published, measured] = order_lines(comparison);
                line(
                    &mut page,
                    &format!("{subject}\n    published  {published}\n    measured   {measured}"),
                );
            }
            line(
                &mut page,
                &format!("{}: {}", self.label(), self.tallies().sentence()),
            );
        }
        page
    }
}

#[cfg(test)]
mod tests;
