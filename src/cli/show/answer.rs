//! What came out of a run with several axes, and of one situation of it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::LookError;
use crate::cli::aligned::is_tsv;
use crate::cli::screen::{axes_json, print_table, terminal};
use crate::store::{DecisionTiming, RunSelector, RunSummary, Store};
use bookahead_report::situation::{Fixed, ScreenAnswer, SituationError};
use bookahead_report::{RuleAnswer, Table, Terminal};

/// Prints the sentences and the table of a situation.
pub(super) fn at(store: &Store, run: &RunSummary, fixed: &[Fixed]) -> Result<(), LookError> {
    let answer = read(store, run, fixed)?;
    let at: Vec<String> = fixed.iter().map(Fixed::to_string).collect();
    let mut text = format!("run {} {}, at {}\n", run.id.0, run.name, at.join(", ")).into_bytes();
    text.extend(sentences(&answer)?);
    text.push(b'\n');
    crate::cli::print(&String::from_utf8_lossy(&text))?;
    // Programs get every row.
    let table = match is_tsv() {
        true => answer.table,
        false => answer.table_on(&terminal()),
    };
    Ok(print_table(&table)?)
}

/// Where the answer of a whole run changes.
pub(super) fn of_all(store: &Store, run: &RunSummary) -> Result<String, LookError> {
    let text = sentences(&read(store, run, &[])?)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn read(store: &Store, run: &RunSummary, fixed: &[Fixed]) -> Result<ScreenAnswer, LookError> {
    ScreenAnswer::read(store, &RunSelector::Id(run.id.0), fixed).map_err(|error| match error {
        SituationError::Report(error) => LookError::Report(error),
        other => LookError::Use(other.to_string()),
    })
}

fn sentences(answer: &ScreenAnswer) -> Result<Vec<u8>, LookError> {
    let mut text = Vec::new();
    for sentence in &answer.sentences {
        Terminal::default().write_sentence(sentence, &mut text)?;
    }
    Ok(text)
}

/// What a rule decided, in words and as tables; nothing where the run has none.
pub(super) fn of_rule(
    store: &Store,
    run: &RunSummary,
    text: &mut String,
) -> Result<Vec<Table>, LookError> {
    let points = store.points(run.id)?;
    let Some(rule) = RuleAnswer::read(store, run, &points)? else {
        return Ok(Vec::new());
    };
    // With several axes it stands in the answer of the whole run.
    if points.axes.len() < 2 {
        let (question, answer) = rule.in_sentences();
        let _ = write!(text, "\n{question} {answer}\n");
    }
    Ok(rule.tables())
}

/// What a rule decided, for scripts.
pub(super) fn decisions_json(store: &Store, run: &RunSummary) -> Result<Value, LookError> {
    let decisions = store.decisions(run.id)?.into_iter().map(|stored| {
        let decision = stored.decision;
        json!({
            "number": stored.number,
            "rung": decision.rung,
            "axes": axes_json(&stored.axes),
            "quantity": decision.quantity,
            "replications": decision.replications,
            "mean": decision.mean,
            "statistic": decision.statistic,
            "bound": decision.bound,
            "verdict": decision.verdict.name(),
        })
    });
    Ok(decisions.collect())
}

/// How long decisions took, in words.
pub(super) fn decided_within(timing: &DecisionTiming) -> String {
    let shown = |seconds: f64| match seconds {
        0.0..1e-3 => format!("{:.1} µs", seconds * 1e6),
        1e-3..1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    };
    let mut text = format!(
        "{} decisions: half within {}, 99 % within {}, the longest {}",
        timing.decisions,
        shown(timing.p50_seconds),
        shown(timing.p99_seconds),
        shown(timing.longest_seconds)
    );
    if timing.longest_seconds > 1.0
        && let [Some(one), Some(two), Some(five)] = timing.over_percent()
    {
        let _ = write!(
            text,
            "; {one:.2} % over 1 s, {two:.2} % over 2 s, {five:.2} % over 5 s"
        );
    }
    text
}
