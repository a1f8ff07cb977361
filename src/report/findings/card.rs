//! Score cards of findings, for people (Markdown, terminal, the page of a report) and programs (JSON).

use std::fmt::Write as _;

use serde::Serialize;

use super::{Check, Explanation, FindingResult, Judged, Provenance, Tally, Verdict, explain};
use crate::report::html::ClaimsSection;
use crate::report::table::{Cell, Column, Table};

/// No line of [`FindingsCard::terminal`] is wider.
const WIDTH: usize = 120;

/// Measured curves beside what a paper says about them.
#[derive(Clone, Debug)]
pub struct FindingsCard {
    /// The paper's name.
    pub paper: String,
    /// Author, title, place and year.
    pub title: String,
    /// The trace that was chosen, as `reproduce --trace` names it; `None` where all were.
    pub trace: Option<String>,
    /// What was simulated, for people, such as `CTC SP2, 430 processors`.
    pub subject: String,
    /// The command that made it.
    pub command: String,
    /// What a reader must know first: that a workload is a model, that points failed.
    pub remarks: Vec<String>,
    /// Every finding with its verdict, in the order of the file.
    pub results: Vec<FindingResult>,
    /// Why findings were missed.
    pub explanations: Vec<Explanation>,
}

/// One finding as programs read it (`reproduce --json`).
#[derive(Clone, Debug, Serialize)]
pub struct Record<'a> {
    id: &'a str,
    trace: Option<&'a str>,
    section: &'a str,
    statement: &'a str,
    provenance: Provenance,
    unit: Option<&'a str>,
    held_out: bool,
    check: &'a Check,
    /// What must hold, in words.
    expected: String,
    measured: &'a str,
    /// `None` where it was not tested.
    held: Option<bool>,
    verdict: &'static str,
    detail: Option<&'a str>,
    cells: usize,
    failed_cells: usize,
    missing_cells: usize,
    worst: Option<&'a Judged>,
    each: &'a [Judged],
    note: Option<&'a str>,
    /// Why it was missed, where it was.
    explanation: Option<String>,
}

impl FindingsCard {
    /// How many findings held.
    #[must_use]
    pub fn tally(&self) -> Tally {
        tally(&self.results)
    }

    /// Every finding as programs read it.
    #[must_use]
    pub fn records(&self) -> Vec<Record<'_>> {
        self.results
            .iter()
            .map(|result| {
                let finding = &result.finding;
                let (held, detail) = match &result.verdict {
                    Verdict::Held => (Some(true), None),
                    Verdict::Missed(how) => (Some(false), Some(how.as_str())),
                    Verdict::NotTested(why) => (None, Some(why.as_str())),
                };
                Record {
                    id: &finding.id,
                    trace: finding.trace.as_deref().or(self.trace.as_deref()),
                    section: &finding.section,
                    statement: &finding.statement,
                    provenance: finding.provenance,
                    unit: finding.unit.as_deref(),
                    held_out: finding.held_out,
                    check: &finding.check,
                    expected: finding.expected(),
                    measured: &result.measured,
                    held,
                    verdict: match held {
                        Some(true) => "held",
                        Some(false) => "missed",
                        None => "not-tested",
                    },
                    detail,
                    cells: result.cells,
                    failed_cells: result.failed_cells,
                    missing_cells: result.missing_cells,
                    worst: result.worst.as_ref(),
                    each: &result.judged,
                    note: finding.note.as_deref(),
                    explanation: explain(&self.explanations, result).map(Explanation::line),
                }
            })
            .collect()
    }

    /// The card as a section of the page of a report.
    #[must_use]
    pub fn section(&self) -> ClaimsSection {
        let columns = [
            ("claim", "Finding"),
            ("verdict", "Verdict"),
            ("statement", "What is claimed"),
            ("measured", "Measured"),
            ("why", "Why"),
            ("published", "Published"),
            ("provenance", "From"),
        ];
        let rows = self
            .results
            .iter()
            .map(|result| {
                let finding = &result.finding;
                let why = match &result.verdict {
                    Verdict::Held => String::new(),
                    Verdict::Missed(how) => match explain(&self.explanations, result) {
                        Some(known) => format!("{how}. {}", known.line()),
                        None => how.clone(),
                    },
                    Verdict::NotTested(why) => why.clone(),
                };
                [
                    finding.id.clone(),
                    word(&result.verdict).to_owned(),
                    finding.statement.clone(),
                    result.measured.clone(),
                    why,
                    finding.expected(),
                    finding.provenance.name().to_owned(),
                ]
                .map(Cell::Text)
                .to_vec()
            })
            .collect();
        ClaimsSection {
            title: format!("{}. {}.", self.title.trim_end_matches('.'), self.subject),
            tally: self.tally().sentence(),
            missed: self.tally().missed,
            table: Table {
                name: "claims".to_owned(),
                title: "Which findings held".to_owned(),
                columns: columns
                    .into_iter()
                    .map(|(key, title)| Column::plain(key, title))
                    .collect(),
                rows,
                note: format!("Made by `{}`.", self.command),
                sql: String::new(),
            },
        }
    }

    /// The card as a page of Markdown: `score-card.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = format!(
            "<!-- made by: {} -->\n\n# {}: {}\n\n{}. Made by `{0}`.\n\n",
            self.command,
            self.paper,
            self.subject,
            self.title.trim_end_matches('.')
        );
        for remark in &self.remarks {
            line(&mut page, &format!("> {remark}\n"));
        }
        line(&mut page, &format!("**{}.**\n", self.tally().sentence()));
        for (section, results) in self.sections() {
            line(
                &mut page,
                &format!(
                    "## Specification, section {section}\n\n{}.\n",
                    tally(results.iter().copied()).sentence()
                ),
            );
            line(
                &mut page,
                "| finding | what is claimed | published | from | measured | held |",
            );
            line(&mut page, "|---|---|---|---|---|---|");
            for result in &results {
                let finding = &result.finding;
                let held = match &result.verdict {
                    Verdict::Held => "yes".to_owned(),
                    Verdict::Missed(_) => format!("[no]({})", anchor(result)),
                    Verdict::NotTested(why) => format!("not tested: {why}"),
                };
                let cells = [
                    &finding.id,
                    &finding.statement,
                    &code(&finding.expected()),
                    finding.provenance.name(),
                    &result.measured,
                    &held,
                ]
                .map(|cell: &str| cell.replace('|', "\\|").replace('\n', " "));
                line(&mut page, &format!("| {} |", cells.join(" | ")));
            }
            page.push('\n');
            let mut noted = false;
            for result in results {
                if let Some(note) = &result.finding.note {
                    line(
                        &mut page,
                        &format!("- `{}`: {}", result.finding.id, note.trim()),
                    );
                    noted = true;
                }
            }
            if noted {
                page.push('\n');
            }
        }
        let missed = self.missed();
        if !missed.is_empty() {
            line(&mut page, "## What was missed\n");
            for (result, how) in missed {
                line(
                    &mut page,
                    &format!(
                        "### {}\n\n{}\n\n- published: {}\n- measured: {how}\n- why: {}\n",
                        result.finding.id,
                        result.finding.statement,
                        code(&result.finding.expected()),
                        explain(&self.explanations, result)
                            .map_or_else(|| "not explained".to_owned(), Explanation::line)
                    ),
                );
            }
        }
        let length = page.trim_end().len();
        page.truncate(length);
        page.push('\n');
        page
    }

    /// The card for a terminal of 120 columns: id and verdict, then what is claimed and what was measured.
    #[must_use]
    pub fn terminal(&self) -> String {
        let mut page = String::new();
        wrap(
            &mut page,
            "",
            "",
            &format!("{}: {}", self.paper, self.subject),
        );
        for remark in &self.remarks {
            wrap(&mut page, "  ", "  ", remark);
        }
        /// Long ids do not push everything else off the screen.
        const LONGEST: usize = 24;
        let width = self
            .results
            .iter()
            .map(|result| result.finding.id.chars().count())
            .max()
            .unwrap_or(0)
            .min(LONGEST);
        for (section, results) in self.sections() {
            wrap(
                &mut page,
                "",
                "",
                &format!(
                    "\nSpecification, section {section}: {}",
                    tally(results.iter().copied()).sentence()
                ),
            );
            for result in results {
                let finding = &result.finding;
                let head = format!("{:width$}  {:10}  ", finding.id, word(&result.verdict));
                let margin = " ".repeat(width + 14);
                let (first, rest) = if head.chars().count() > margin.len() {
                    wrap(&mut page, "", "", &head);
                    (margin.as_str(), margin.as_str())
                } else {
                    (head.as_str(), margin.as_str())
                };
                wrap(&mut page, first, rest, &finding.statement);
                let deeper = format!("{margin}  ");
                let mut say = |label: &str, text: &str| {
                    wrap(&mut page, &format!("{margin}{label}: "), &deeper, text);
                };
                match &result.verdict {
                    Verdict::Held => say("measured", &result.measured),
                    Verdict::Missed(how) => {
                        say("published", &finding.expected());
                        say("measured", how);
                        if let Some(known) = explain(&self.explanations, result) {
                            say("why", &known.line());
                        }
                    }
                    Verdict::NotTested(why) => {
                        if result.cells > 0 {
                            say("measured", &result.measured);
                        }
                        say("not tested", why);
                    }
                }
            }
        }
        let name = self.trace.as_ref().unwrap_or(&self.paper);
        wrap(
            &mut page,
            "",
            "",
            &format!("\n{name}: {}", self.tally().sentence()),
        );
        page
    }

    /// The findings of each section, in the order of the file.
    fn sections(&self) -> Vec<(&str, Vec<&FindingResult>)> {
        let mut sections: Vec<(&str, Vec<&FindingResult>)> = Vec::new();
        for result in &self.results {
            let section = result.finding.section.as_str();
            match sections.iter_mut().find(|(known, _)| *known == section) {
                Some((_, results)) => results.push(result),
                None => sections.push((section, vec![result])),
            }
        }
        sections
    }

    /// The findings that were missed, with where and by how much.
    fn missed(&self) -> Vec<(&FindingResult, &str)> {
        self.results
            .iter()
            .filter_map(|result| match &result.verdict {
                Verdict::Missed(how) => Some((result, how.as_str())),
                Verdict::Held | Verdict::NotTested(_) => None,
            })
            .collect()
    }
}

fn tally<'r>(results: impl IntoIterator<Item = &'r FindingResult>) -> Tally {
    let mut tally = Tally::default();
    for result in results {
        match result.verdict {
            Verdict::Held => tally.held += 1,
            Verdict::Missed(_) => tally.missed += 1,
            Verdict::NotTested(_) => tally.not_tested += 1,
        }
    }
    tally
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Missed(_) => "missed",
        Verdict::NotTested(_) => "not tested",
    }
}

/// Where Markdown puts the heading of a finding.
fn anchor(result: &FindingResult) -> String {
    let id: String = result
        .finding
        .id
        .chars()
        .filter(|character| !matches!(character, '.' | '/'))
        .collect();
    format!("#{}", id.to_lowercase())
}

/// Relations and measures with underscores, not to be taken for markup.
fn code(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("`{text}`")
    }
}

fn line(page: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{text}");
}

/// Text in lines of at most [`WIDTH`] columns, broken between words and, where a word is longer, inside it.
fn wrap(page: &mut String, first: &str, rest: &str, text: &str) {
    let text = match text.strip_prefix('\n') {
        Some(text) => {
            page.push('\n');
            text
        }
        None => text,
    };
    let mut current = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let used = current.chars().count() + usize::from(!is_empty);
            if used + word.len() <= WIDTH {
                if !is_empty {
                    current.push(' ');
                }
                current.extend(word);
                is_empty = false;
                break;
            }
            if is_empty {
                // At least one letter a line, or there would be no end.
                let room = WIDTH.saturating_sub(used).max(1).min(word.len());
                current.extend(word.drain(..room));
                if word.is_empty() {
                    is_empty = false;
                    break;
                }
            }
            line(page, current.trim_end());
            current = rest.to_owned();
            is_empty = true;
        }
    }
    line(page, current.trim_end());
}

#[cfg(test)]
mod tests;
