//! Results of tables on a score card.

use super::cells::{
    cells, chosen, footnote, line, link, markdown_table, order_lines, second, terminal_table,
    title, tolerance,
};
use super::judgements::two_judgements;
use super::{Explanation, FindingResult, Rows, ScoreCard, Tallies, grouped};
use crate::findings::Verdict;
use bookahead_report::format::inline::{cell, code, sentence};

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
    /// The columns of its tables: the second judgement only where something was judged twice.
    fn header(&self) -> Vec<&'static str> {
        let mut header = HEADER.to_vec();
        if self.tallies().judged_twice > 0 {
            header.push("over alignments");
        }
        header.push("why");
        header
    }

    /// The explanations of this card's misses with how many each is for, in the order of the file.
    fn used_explanations(&self) -> Vec<(&Explanation, usize)> {
        self.explanations
            .iter()
            .filter_map(|known| {
                let is_it = |result: &&FindingResult| self.why(result) == Some(known);
                let misses = self.cells().filter(is_it).count();
                (misses > 0).then_some((known, misses))
            })
            .collect()
    }

    /// Keys, titles and rows for the page of a report.
    pub(super) fn rows_of_tables(&self) -> Rows {
        let columns = if self.tallies().judged_twice > 0 {
            10
        } else {
            9
        };
        let rows = self
            .cells()
            .map(|result| {
                let [
                    _,
                    published,
                    measured,
                    interval,
                    difference,
                    tolerance,
                    held,
                ] = cells(result);
                let why = match &result.verdict {
                    Verdict::Held => String::new(),
                    Verdict::Missed(_) => self.why(result).map_or_else(String::new, |found| {
                        format!("{}: {}", found.name(), found.text.trim())
                    }),
                    Verdict::NotTested(_) => held,
                };
                [
                    result.finding.id.clone(),
                    result.finding.statement.clone(),
                    published,
                    measured,
                    interval,
                    difference,
                    tolerance,
                    result.verdict.word().to_owned(),
                    why,
                    second(result),
                ][..columns]
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
        (titles.into_iter().take(columns).collect(), rows)
    }

    /// The cells of a result but the last one, which names its explanation.
    fn row(&self, result: &FindingResult) -> Vec<String> {
        let mut row = cells(result).to_vec();
        if self.tallies().judged_twice > 0 {
            row.push(second(result));
        }
        row
    }

    /// What the explanation of a result is called, or nothing.
    fn why_named(&self, result: &FindingResult, shown: impl Fn(&str) -> String) -> String {
        let why = self.why(result);
        why.map_or_else(String::new, |found| shown(found.name()))
    }

    fn row_in_markdown(&self, result: &FindingResult) -> Vec<String> {
        let row = self.row(result).into_iter();
        row.map(|text| cell(&text))
            .chain([self.why_named(result, link)])
            .collect()
    }

    fn row_in_terminal(&self, result: &FindingResult) -> Vec<String> {
        let mut row = self.row(result);
        row.push(self.why_named(result, str::to_owned));
        row
    }

    /// The results of each published table, in the order of the findings. Orders stand apart: see
    /// [`Self::orders`].
    fn tables(&self) -> Vec<(String, Vec<&FindingResult>)> {
        grouped(self.cells().filter(|result| !is_order(result)), title)
    }

    /// The orders of strategies and families, which a reader looks at first.
    fn orders(&self) -> impl Iterator<Item = &FindingResult> {
        self.cells().filter(|result| is_order(result))
    }

    pub(super) fn tables_in_markdown(&self, page: &mut String) {
        if self.cells().next().is_some() {
            line(page, &format!("**{}.**\n", self.tallies().sentence()));
            if let Some(text) = two_judgements(&[self], "the tolerances below") {
                line(page, &format!("{text}\n"));
            }
            if let Some(text) = chosen(self.cells()) {
                line(page, &format!("{text}\n"));
            }
            line(page, "## Order of the strategies\n");
            for result in self.orders() {
                let [subject, published, measured] =
                    order_lines(result).map(|part| sentence(&part));
                line(
                    page,
                    &format!("- {subject}\n  - published: {published}\n  - measured: {measured}"),
                );
                if let Some(note) = footnote(result) {
                    line(page, &format!("  - {}", sentence(&note)));
                }
                if let Some(found) = self.why(result) {
                    line(page, &format!("  - why: {}", link(found.name())));
                }
            }
            page.push('\n');
        }
        for (title, rows) in self.tables() {
            let tallies = Tallies::of(rows.iter().copied());
            let title = sentence(&title);
            line(page, &format!("## {title}\n\n{}.\n", tallies.sentence()));
            markdown_table(
                page,
                &self.header(),
                rows.iter().map(|row| self.row_in_markdown(row)),
            );
            for result in rows {
                if let Some(note) = footnote(result) {
                    let id = code(&result.finding.id);
                    line(page, &format!("- {id}: {}", sentence(&note)));
                }
            }
            page.push('\n');
        }
        for table in &self.measured {
            line(page, &format!("## {}\n", sentence(&table.title)));
            let cells = |row: &Vec<String>| row.iter().map(|text| cell(text)).collect::<Vec<_>>();
            let header = cells(&table.header);
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            markdown_table(page, &header, table.rows.iter().map(cells));
            page.push('\n');
        }
        let used = self.used_explanations();
        if !used.is_empty() {
            line(page, "## Why\n");
            for (found, misses) in used {
                let (name, text) = (sentence(found.name()), sentence(found.text.trim()));
                let looked_at = sentence(&found.looked_at());
                line(
                    page,
                    &format!("### {name}\n\n{misses} claims. {text}{looked_at}\n"),
                );
            }
        }
        if self.cells().next().is_some() {
            line(
                page,
                "## Tolerances\n\nDecided before anything was measured.\n",
            );
            for rule in &self.tolerances {
                let quantities: Vec<&str> =
                    rule.quantities.iter().map(|known| known.name()).collect();
                line(
                    page,
                    &format!(
                        "- {}: {}. {}",
                        quantities.join(", "),
                        tolerance(rule.tolerance),
                        sentence(rule.reason.trim())
                    ),
                );
            }
        }
    }

    pub(super) fn tables_in_terminal(&self, page: &mut String) {
        for (title, rows) in self.tables() {
            line(page, &format!("\n{title}"));
            line(
                page,
                &terminal_table(
                    self.header().into_iter().map(str::to_owned).collect(),
                    rows.iter().map(|row| self.row_in_terminal(row)),
                ),
            );
        }
        if self.cells().all(|result| result.finding.held_out) {
            for table in &self.measured {
                line(page, &format!("\n{}", table.title));
                line(
                    page,
                    &terminal_table(table.header.clone(), table.rows.iter().cloned()),
                );
            }
        }
        if self.cells().next().is_some() {
            page.push('\n');
            for result in self.orders() {
                let [subject, published, measured] = order_lines(result);
                line(
                    page,
                    &format!("{subject}\n    published  {published}\n    measured   {measured}"),
                );
            }
            line(
                page,
                &format!("{}: {}", self.label(), self.tallies().sentence()),
            );
        }
    }
}

fn is_order(result: &FindingResult) -> bool {
    result.cell().is_some_and(|check| check.quantity.is_order())
}
