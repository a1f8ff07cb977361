//! The readings of a paper side by side: for every trace and table the published numbers, and the
//! measured ones of each reading.
//!
//! Like a score card it computes nothing: it arranges score cards of several readings, whose
//! numbers come from the store.

mod html;

pub(super) use html::THEME;

use super::cells::{chosen, label, line, markdown_table, published, title};
use super::judgements::two_judgements;
use super::{FindingResult, ScoreCard, Tallies};
use crate::findings::{Reading, Verdict};
use bookahead_report::format::inline::{self, sentence};

/// Strategies in orders, whose names side by side would be wider than any screen.
const SHORT: [(&str, &str); 4] = [
    ("conservative-backfilling", "CB"),
    ("heuristic-planning", "HP"),
    ("comprehensive-overbooking", "CO"),
    ("heuristic-overbooking", "HO"),
];

/// A cell with the short names of strategies.
fn short(cell: &str) -> String {
    SHORT.iter().fold(cell.to_owned(), |cell, (name, short)| {
        cell.replace(name, short)
    })
}

/// Several readings of one paper.
#[derive(Debug)]
pub struct SideBySide<'c> {
    paper: &'c str,
    title: &'c str,
    command: String,
    readings: Vec<&'c Reading>,
    logs: Vec<Log<'c>>,
}

/// One trace under every reading.
#[derive(Debug)]
struct Log<'c> {
    /// Its score cards, one a reading.
    cards: Vec<&'c ScoreCard>,
    /// Its tables by title.
    tables: Vec<(String, Vec<Row<'c>>)>,
}

/// One finding: its results, one a reading.
type Row<'c> = Vec<&'c FindingResult>;

impl<'c> SideBySide<'c> {
    /// Arranges the score cards of one paper. `None` where they are of fewer than two readings.
    #[must_use]
    pub fn of(command: String, cards: &'c [ScoreCard]) -> Option<Self> {
        let first = cards.first()?;
        let mut readings: Vec<&Reading> = Vec::new();
        for reading in cards.iter().filter_map(|card| card.reading.as_ref()) {
            if !readings.iter().any(|known| known.name == reading.name) {
                readings.push(reading);
            }
        }
        if readings.len() < 2 {
            return None;
        }
        let mut logs: Vec<Log<'_>> = Vec::new();
        for card in cards {
            match logs.iter_mut().find(|log| log.cards[0].trace == card.trace) {
                Some(log) => log.cards.push(card),
                None => logs.push(Log {
                    cards: vec![card],
                    tables: Vec::new(),
                }),
            }
        }
        for log in &mut logs {
            log.tables = tables(&log.cards);
        }
        Some(Self {
            paper: &first.paper,
            title: &first.title,
            command,
            readings,
            logs,
        })
    }

    /// What the marks and short names mean, and how the second judgement is made: a paragraph each.
    fn legend(&self) -> Vec<String> {
        let cards: Vec<&ScoreCard> = self
            .logs
            .iter()
            .flat_map(|log| log.cards.iter().copied())
            .collect();
        let second = two_judgements(&cards, "the tolerances of the paper's claims");
        let marks = if second.is_some() {
            "✓ held, ✗ missed, · not tested; where two marks stand, the second is the verdict over alignments."
        } else {
            "✓ held, ✗ missed, · not tested."
        };
        let names: Vec<String> = SHORT
            .iter()
            .map(|(name, short)| format!("{short} {name}"))
            .collect();
        let mut paragraphs = vec![format!(
            "{marks} In orders: {}. The default reading was chosen by the paper's text, not by these counts; the best of several readings on every claim is no result.",
            names.join(", ")
        )];
        paragraphs.extend(second);
        let results = cards.iter().flat_map(|card| &card.results);
        let marked = chosen(results).map(|text| {
            text.replacen(
                "† The setting",
                "Of best thresholds, highest gains, and surpluses without a setting: the setting",
                1,
            )
        });
        paragraphs.extend(marked);
        paragraphs
    }

    /// The readings' tallies over all traces.
    fn totals(&self) -> Vec<Tallies> {
        (0..self.readings.len())
            .map(|place| {
                let cards = self.logs.iter().filter_map(|log| log.cards.get(place));
                Tallies::of(cards.flat_map(|card| &card.results))
            })
            .collect()
    }

    /// The page as Markdown: `readings.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = format!(
            "<!-- made by: {} -->\n\n# {}: readings side by side\n\n{}. Made by {}.\n\n",
            inline::comment(&self.command),
            sentence(self.paper),
            sentence(self.title),
            inline::code(&self.command),
        );
        for reading in &self.readings {
            let reason = sentence(reading.reason.trim());
            line(
                &mut page,
                &format!("* {} {reason}", sentence(&reading.sentence())),
            );
        }
        line(&mut page, &format!("\n{}\n", self.legend().join("\n\n")));
        line(&mut page, "## How many claims held\n");
        let mut header = vec!["trace"];
        header.extend(self.readings.iter().map(|reading| reading.name.as_str()));
        let logs = self.logs.iter().map(|log| {
            let own = log.cards.iter().map(|card| card.tallies().sentence());
            std::iter::once(inline::cell(&log.cards[0].subject))
                .chain(own)
                .collect()
        });
        let all = std::iter::once("all".to_owned())
            .chain(self.totals().into_iter().map(Tallies::sentence))
            .collect();
        markdown_table(&mut page, &header, logs.chain([all]));
        let mut header = vec!["claim", "published"];
        header.extend(self.readings.iter().map(|reading| reading.name.as_str()));
        for log in &self.logs {
            line(
                &mut page,
                &format!("\n## {}", sentence(&log.cards[0].subject)),
            );
            if log.tables.is_empty() {
                line(&mut page, "\nNot tested.");
            }
            for (title, rows) in &log.tables {
                line(&mut page, &format!("\n### {}\n", sentence(title)));
                let counts: Vec<String> = self
                    .readings
                    .iter()
                    .zip(columns(rows))
                    .map(|(reading, column)| {
                        format!("{}: {}", reading.name, Tallies::of(column).sentence())
                    })
                    .collect();
                line(&mut page, &format!("{}.\n", counts.join("; ")));
                markdown_table(
                    &mut page,
                    &header,
                    rows.iter().map(|row| {
                        let finding = &row[0].finding;
                        let mut cells = vec![label(finding).to_owned(), short(&published(finding))];
                        cells.extend(row.iter().map(|result| {
                            let marks: Vec<&str> =
                                marks(result).iter().map(|mark| mark.glyph).collect();
                            format!("{} {}", short(&result.measured), marks.join(" "))
                                .trim_end()
                                .to_owned()
                        }));
                        cells.iter().map(|text| inline::cell(text)).collect()
                    }),
                );
            }
        }
        page
    }
}

/// The tables of a trace with the results of every reading, in the order of the findings; none
/// where nothing was measured.
fn tables<'c>(cards: &[&'c ScoreCard]) -> Vec<(String, Vec<Row<'c>>)> {
    let mut tables: Vec<(String, Vec<Row<'c>>)> = Vec::new();
    let Some((first, others)) = cards.split_first() else {
        return tables;
    };
    let nothing = |card: &&ScoreCard| card.results.iter().all(|known| known.measured == "–");
    if cards.iter().all(nothing) {
        return tables;
    }
    for result in &first.results {
        let of = |card: &&'c ScoreCard| {
            card.results
                .iter()
                .find(|other| other.finding.id == result.finding.id)
        };
        // Every reading judges every finding of its trace, so no row is ever short.
        let mut row: Row<'c> = vec![result];
        row.extend(others.iter().filter_map(of));
        let title = title(&result.finding);
        match tables.iter_mut().find(|(known, _)| *known == title) {
            Some((_, rows)) => rows.push(row),
            None => tables.push((title, vec![row])),
        }
    }
    tables
}

/// The results of each reading.
fn columns<'r, 'c>(
    rows: &'r [Row<'c>],
) -> impl Iterator<Item = impl Iterator<Item = &'c FindingResult> + 'r> {
    let width = rows.iter().map(Vec::len).min().unwrap_or(0);
    (0..width).map(move |place| rows.iter().map(move |row| row[place]))
}

/// How a verdict is shown.
struct Mark {
    glyph: &'static str,
    word: &'static str,
    /// Its class in the page's style.
    class: &'static str,
}

/// The marks of a result: the first verdict, and the second where it differs. None where the
/// published value is held out.
fn marks(result: &FindingResult) -> Vec<Mark> {
    if result.finding.held_out {
        return Vec::new();
    }
    let (first, second) = (mark(&result.verdict), mark(result.second_verdict()));
    if first.glyph == second.glyph {
        vec![first]
    } else {
        vec![first, second]
    }
}

fn mark(verdict: &Verdict) -> Mark {
    let (glyph, word, class) = match verdict {
        Verdict::Held => ("✓", "held", "held"),
        Verdict::Missed(_) => ("✗", "missed", "missed"),
        Verdict::NotTested(_) => ("·", "not tested", "open"),
    };
    Mark { glyph, word, class }
}
