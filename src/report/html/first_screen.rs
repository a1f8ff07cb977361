//! What a reader meets first: what came out, the first figure, whether it can be trusted, one table
//! and what was run.

use maud::{Markup, html};

use super::plain_table;
use super::way_back;
use crate::content::{Content, shortfall};
use crate::plots::words;
use crate::statistics::EXPLAINED;
use crate::summary_tables::brief;
use crate::table::{short, value_text};

/// Rows of the table.
const MOST_OUTCOMES: usize = 8;

impl Content<'_> {
    pub(super) fn head(&self) -> Markup {
        let run = &self.run;
        html! {
            header { "\n"
                (way_back(self.served))
                div.bar {
                    h1 { (run.name) }
                    button id="theme" type="button" { "Dark mode" }
                } "\n"
                @if !run.description.trim().is_empty() {
                    p.lead { (run.description.trim()) } "\n"
                }
                @if let Some(banner) = shortfall(run) {
                    p.banner role="alert" { (banner) } "\n"
                }
                div id="answer" { "\n"
                    section.card id="said" {
                        h2 { "What came out" }
                        dl { "\n"
                            @for statement in &self.statements {
                                dt { (statement.question) } dd { (statement.answer) } "\n"
                            }
                        }
                        (self.situations())
                    } "\n"
                    @if let Some(headline) = self.panels().first() {
                        section id="headline" { (headline.html(!self.analysis.is_study())) } "\n"
                    }
                    section.card id="trust" {
                        h2 { "Can I trust it?" } "\n"
                        ul { "\n"
                            @for (mark, sentence) in crate::trust::of(self) {
                                li class=(mark.class()) { (sentence) } "\n"
                            }
                        }
                        "\n" p.note { (EXPLAINED) } "\n"
                    } "\n"
                } "\n"
                (self.cards())
            } "\n"
        }
    }

    fn cards(&self) -> Markup {
        let best = brief(&self.best, &self.analysis);
        let (outcome, most) = match &self.each_axis {
            Some(table) => (table, 2 * MOST_OUTCOMES),
            None => (&best, MOST_OUTCOMES),
        };
        let keys: Vec<&str> = best
            .columns
            .iter()
            .map(|column| column.key.as_str())
            .collect();
        let more = self.best.columns.len() - keys.len();
        let rows = outcome.rows.len();
        html! {
            div.cards { "\n"
                section class="card wide" id="outcome" {
                    h2 { (outcome.title) } "\n"
                    div id="of-situation" data-of=(best.name) data-columns=(keys.join(" ")) hidden {} "\n"
                    (plain_table(outcome, most))
                    @if rows > most {
                        p.note {
                            "The first " (most) " of " (rows) " rows; " a href={ "#" (outcome.name) } { "all of them" } "."
                        } "\n"
                    } @else if outcome.name != best.name {
                        p.note { "Each axis alone, in the mean over the others. " a href="#best" { "Every combination" } "." } "\n"
                    } @else if more > 0 {
                        p.note { a href="#best" { (more) " more " (if more == 1 { "column" } else { "columns" }) } "." } "\n"
                    }
                } "\n"
                section class="card wide" id="what" {
                    h2 { "What was run" }
                    dl { "\n" @for (key, value) in self.facts() { dt { (key) } dd { (value) } "\n" } } "\n"
                    @if !self.what.note.is_empty() { p.note { (self.what.note) } "\n" }
                    p.note { "When, where and how long: " code { "run.md" } " in the report's folder." } "\n"
                } "\n"
            } "\n"
        }
    }

    /// What came out in each situation: the script shows that which the reader chooses.
    fn situations(&self) -> Markup {
        html! {
            @for answer in &self.situation_answers {
                div.situation hidden data-given=(given_json(&answer.given)) { "\n"
                    h3 { "At " (words(&answer.given)) } "\n"
                    dl { "\n"
                        @for statement in &answer.statements {
                            dt { (statement.question) } dd { (statement.answer) } "\n"
                        }
                    }
                } "\n"
            }
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let (run, analysis) = (&self.run, &self.analysis);
        let mut facts = vec![
            (
                "points".to_owned(),
                format!("{} of {} done", run.points_done, run.points),
            ),
            (
                "replications".to_owned(),
                format!("{}, seed {}", run.replications_in_words(), run.seed),
            ),
        ];
        for axis in &analysis.axes {
            let values: Vec<String> = axis.values.iter().map(value_text).collect();
            let shown = if values.len() > 8 {
                format!(
                    "{} … {} ({} values)",
                    values[..3].join(", "),
                    values[values.len() - 1],
                    values.len()
                )
            } else {
                values.join(", ")
            };
            facts.push((short(&axis.key).to_owned(), shown));
        }
        facts.push((
            "configuration".to_owned(),
            run.configuration_hash.chars().take(12).collect(),
        ));
        facts
    }
}

/// The values of axes as the script reads them.
pub(super) fn given_json(given: &[(String, String)]) -> serde_json::Value {
    let pairs = given.iter();
    let pairs = pairs.map(|(key, value)| (key.clone(), serde_json::Value::from(value.as_str())));
    serde_json::Value::Object(pairs.collect())
}
