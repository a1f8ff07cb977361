//! Results about curves on a score card: statements by the places in the work that the file of
//! findings gives them.

use super::cells::line;
use super::{FindingResult, Rows, ScoreCard, Tally, grouped};
use crate::findings::Verdict;
use bookahead_report::format::inline;

/// No line of a terminal is wider.
const WIDTH: usize = 120;

impl ScoreCard {
    /// Keys, titles and rows for the page of a report.
    pub(super) fn rows_of_sections(&self) -> Rows {
        let columns = vec![
            ("claim", "Finding"),
            ("verdict", "Verdict"),
            ("statement", "What is claimed"),
            ("measured", "Measured"),
            ("why", "Why"),
            ("published", "Published"),
            ("provenance", "From"),
        ];
        let row = |result: &FindingResult| {
            let finding = &result.finding;
            let why = match &result.verdict {
                Verdict::Held => String::new(),
                Verdict::Missed(how) => match self.why(result) {
                    Some(known) => format!("{how}. {}", known.line()),
                    None => how.clone(),
                },
                Verdict::NotTested(why) => why.clone(),
            };
            vec![
                finding.id.clone(),
                result.verdict.word().to_owned(),
                finding.statement.clone(),
                result.measured.clone(),
                why,
                finding.expected(),
                finding.provenance.name().to_owned(),
            ]
        };
        (columns, self.results.iter().map(row).collect())
    }

    pub(super) fn sections_in_markdown(&self, page: &mut String) {
        line(
            page,
            &format!("**{}.**\n", self.tally_of_curves().sentence()),
        );
        for (section, results) in self.sections() {
            line(
                page,
                &format!(
                    "## {}\n\n{}.\n",
                    inline::sentence(&section),
                    Tally::of(results.iter().copied()).sentence()
                ),
            );
            line(
                page,
                "| finding | what is claimed | published | from | measured | held |",
            );
            line(page, "|---|---|---|---|---|---|");
            for result in &results {
                let finding = &result.finding;
                let held = match &result.verdict {
                    Verdict::Held => "yes".to_owned(),
                    Verdict::Missed(_) => format!("[no]({})", anchor(result)),
                    Verdict::NotTested(why) => format!("not tested: {}", inline::cell(why)),
                };
                let cells = [
                    inline::cell(&finding.id),
                    inline::cell(&finding.statement),
                    code(&finding.expected(), inline::code_in_cell),
                    finding.provenance.name().to_owned(),
                    inline::cell(&result.measured),
                    held,
                ];
                line(page, &format!("| {} |", cells.join(" | ")));
            }
            page.push('\n');
            for result in results.iter().filter(|result| result.scatter.is_some()) {
                if let Some(name) = super::drawing(&result.finding) {
                    line(
                        page,
                        &format!("![{}]({name})\n", inline::label(&result.finding.statement)),
                    );
                }
            }
            let mut noted = false;
            for result in results {
                if let Some(note) = &result.finding.note {
                    line(
                        page,
                        &format!(
                            "- {}: {}",
                            inline::code(&result.finding.id),
                            inline::sentence(note.trim())
                        ),
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
            line(page, "## What was missed\n");
            for (result, how) in missed {
                line(
                    page,
                    &format!(
                        "### {}\n\n{}\n\n- published: {}\n- measured: {how}\n- why: {}\n",
                        inline::sentence(&result.finding.id),
                        inline::sentence(&result.finding.statement),
                        code(&result.finding.expected(), inline::code),
                        self.why(result).map_or_else(
                            || "not explained".to_owned(),
                            |known| inline::sentence(&known.line())
                        ),
                        how = inline::sentence(how),
                    ),
                );
            }
        }
        let length = page.trim_end().len();
        page.truncate(length);
        page.push('\n');
    }

    pub(super) fn sections_in_terminal(&self, page: &mut String) {
        /// Long ids do not push everything else off the screen.
        const LONGEST: usize = 24;
        let width = self
            .curves()
            .map(|result| result.finding.id.chars().count())
            .max()
            .unwrap_or(0)
            .min(LONGEST);
        for (section, results) in self.sections() {
            wrap(
                page,
                "",
                "",
                &format!(
                    "\n{section}: {}",
                    Tally::of(results.iter().copied()).sentence()
                ),
            );
            for result in results {
                let finding = &result.finding;
                let head = format!("{:width$}  {:10}  ", finding.id, result.verdict.word());
                let margin = " ".repeat(width + 14);
                let (first, rest) = if head.chars().count() > margin.len() {
                    wrap(page, "", "", &head);
                    (margin.as_str(), margin.as_str())
                } else {
                    (head.as_str(), margin.as_str())
                };
                wrap(page, first, rest, &finding.statement);
                let deeper = format!("{margin}  ");
                let mut say = |label: &str, text: &str| {
                    wrap(page, &format!("{margin}{label}: "), &deeper, text);
                };
                match &result.verdict {
                    Verdict::Held => say("measured", &result.measured),
                    Verdict::Missed(how) => {
                        say("published", &finding.expected());
                        say("measured", how);
                        if let Some(known) = self.why(result) {
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
        let tally = self.tally_of_curves().sentence();
        wrap(page, "", "", &format!("\n{}: {tally}", self.label()));
    }

    /// The results of each place in the work, in the order of the file.
    fn sections(&self) -> Vec<(String, Vec<&FindingResult>)> {
        grouped(self.curves(), |finding| finding.section.clone())
    }

    fn tally_of_curves(&self) -> Tally {
        Tally::of(self.curves())
    }

    /// The findings that were missed, with where and by how much.
    fn missed(&self) -> Vec<(&FindingResult, &str)> {
        self.curves()
            .filter_map(|result| match &result.verdict {
                Verdict::Missed(how) => Some((result, how.as_str())),
                Verdict::Held | Verdict::NotTested(_) => None,
            })
            .collect()
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

/// Relations and measures with underscores, which must not be read as markup.
fn code(text: &str, shown: impl Fn(&str) -> String) -> String {
    if text.is_empty() {
        String::new()
    } else {
        shown(text)
    }
}

/// Text in lines of at most [`WIDTH`] columns, broken between words and, where a word is longer,
/// inside it.
pub(super) fn wrap(page: &mut String, first: &str, rest: &str, text: &str) {
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
