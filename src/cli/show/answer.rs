//! What came out of a run with several axes, and of one situation of it.

use super::LookError;
use crate::cli::screen::print_table;
use crate::store::{RunSelector, RunSummary, Store};
use bookahead_report::Terminal;
use bookahead_report::situation::{Fixed, ScreenAnswer, SituationError};

/// Prints the sentences and the table of a situation.
pub(super) fn at(store: &Store, run: &RunSummary, fixed: &[Fixed]) -> Result<(), LookError> {
    let answer = read(store, run, fixed)?;
    let at: Vec<String> = fixed.iter().map(Fixed::to_string).collect();
    let mut text = format!("run {} {}, at {}\n", run.id.0, run.name, at.join(", ")).into_bytes();
    text.extend(sentences(&answer)?);
    text.push(b'\n');
    crate::cli::print(&String::from_utf8_lossy(&text))?;
    Ok(print_table(&answer.table)?)
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
