//! What came out of a run with several axes, and of one situation of it.

use super::LookError;
use crate::store::{RunSelector, RunSummary, Store};
use bookahead_report::situation::{Fixed, ScreenAnswer, SituationError};
use bookahead_report::{TableFormat as _, Terminal};

/// The sentences and the table of a situation.
pub(super) fn at(store: &Store, run: &RunSummary, fixed: &[Fixed]) -> Result<String, LookError> {
    let answer = read(store, run, fixed)?;
    let at: Vec<String> = fixed.iter().map(Fixed::to_string).collect();
    let mut text = format!("run {} {}, at {}\n", run.id.0, run.name, at.join(", ")).into_bytes();
    text.extend(sentences(&answer)?);
    text.push(b'\n');
    Terminal::default().write(&answer.table, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
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
