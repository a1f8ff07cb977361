//! Shared by the commands that show a store: tables, JSON, ages in words, whole files, and errors.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::aligned::{Aligned, Heading, form, is_tsv, is_wide, tsv_line};
use super::output::people;
pub(super) use super::output::{are_records, print_json};
use crate::output::OutputFile;
use crate::store::{QueryError, RunSummary, SqlValue, StoreError};
use crate::sweep::AxisValue;
pub(super) use bookahead_report::axes_text;
use bookahead_report::{Cell, Csv, Table, TableFormat as _, Terminal, moment};

/// Why a command that looks at a store ends without an answer.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The store cannot be read, or has no such run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The question.
    #[error("{0}")]
    Query(#[from] QueryError),
    /// Standard output.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    /// A file that was to be written.
    #[error("{}", unwritten(.path, .source))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A run cannot be folded.
    #[error(transparent)]
    Report(#[from] bookahead_report::ReportError),
    /// Options that do not go together, or name nothing.
    #[error("{0}")]
    Use(String),
}

impl LookError {
    /// Whether nobody reads any more, which is no error.
    pub(super) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) | Self::Query(QueryError::Output(error))
            if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether it was Ctrl-C.
    pub(super) fn is_interrupted(&self) -> bool {
        matches!(self, Self::Query(QueryError::Interrupted))
    }
}

fn unwritten(path: &Path, source: &io::Error) -> String {
    let path = path.display();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!(
            "the disk of `{path}` is full: nothing was left there; make room, or name another place with --out"
        ),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            format!("cannot write `{path}`: {source}")
        }
        _ => format!(
            "cannot write `{path}`: {source}; check the folder, or name another place with --out"
        ),
    }
}

/// Prints a table to standard output.
pub(super) fn print_table(table: &Table) -> io::Result<()> {
    let mut text = Vec::new();
    match is_tsv() {
        true => write_tsv(table, &mut text)?,
        false => terminal().write(table, &mut text)?,
    }
    people().write_all(&text)
}

/// Prints rows of text below these titles.
pub(super) fn print_rows<const N: usize>(
    titles: [&str; N],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut out = people();
    let headings = titles.map(|title| Heading::new(title, false));
    let mut table = Aligned::new(&mut out, headings.into(), form());
    for row in rows {
        table.push(row)?;
    }
    table.finish().map(drop)
}

/// The terminal for tables that are no stream: as wide as the screen, or as wide as they are.
pub(super) fn terminal() -> Terminal {
    Terminal {
        width: is_wide().then_some(u16::MAX),
    }
}

/// The columns and unrounded numbers of a table's CSV, as tab-separated values.
fn write_tsv(table: &Table, target: &mut Vec<u8>) -> io::Result<()> {
    let mut text = Vec::new();
    Csv.write(table, &mut text)?;
    let mut lines = csv::ReaderBuilder::new();
    for line in lines.has_headers(false).from_reader(&*text).records() {
        target.extend(tsv_line(&line.map_err(csv_error)?).into_bytes());
    }
    Ok(())
}

/// The error below one of CSV: the crate's own conversion forgets that a pipe is closed or a disk
/// is full.
pub(super) fn csv_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// A value as JSON; numbers that JSON does not have become null.
pub(super) fn json(value: &SqlValue) -> Value {
    match value {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(value) => (*value).into(),
        SqlValue::Real(value) => (*value).into(),
        SqlValue::Text(_) | SqlValue::Blob(_) => value.to_string().into(),
    }
}

/// Milliseconds from begin to end, or to now for a run under way; `None` for one that died at an
/// unknown moment.
pub(super) fn took(run: &RunSummary, now: i64) -> Option<i64> {
    match run.ended {
        Some(ended) => Some(ended - run.started),
        None if run.state == "running" => Some(now - run.started),
        None => None,
    }
}

/// A run as JSON.
pub(super) fn run_json(run: &RunSummary, now: i64) -> serde_json::Value {
    serde_json::json!({
        "run": run.id.0,
        "name": run.name,
        "description": run.description,
        "state": run.state,
        "points": run.points,
        "points_done": run.points_done,
        "points_failed": run.points_failed,
        "points_missing": run.points.saturating_sub(run.points_done + run.points_failed),
        "replications": run.replications,
        "seed": run.seed,
        "source": run.source,
        "configuration_hash": run.configuration_hash,
        "program_version": run.program_version,
        "program_commit": run.program_commit,
        "result_format": run.result_format,
        "machine_cores": run.machine_cores,
        "machine_os": run.machine_os,
        "started_utc": moment(run.started),
        "ended_utc": run.ended.map(moment),
        "duration_seconds": took(run, now).map(|took| took as f64 / 1_000.0),
        "simulation_seconds": run.simulation_seconds,
        "tags": run.labels.tags,
        "note": run.labels.note,
        "interrupted_at": run.interruption.as_ref().map(|end| end.points_done),
        "continued_by": run.interruption.as_ref().map(|end| end.continued_by.iter().map(|run| run.0).collect::<Vec<_>>()),
    })
}

/// An axis value as JSON in its own type.
pub(super) fn axis_json(value: &AxisValue) -> Value {
    match value {
        AxisValue::Integer(value) => (*value).into(),
        AxisValue::Real(value) => (*value).into(),
        AxisValue::Text(value) => value.clone().into(),
        AxisValue::Flag(value) => (*value).into(),
    }
}

/// Axes as a JSON object.
pub(super) fn axes_json(axes: &[(String, AxisValue)]) -> Value {
    axes.iter()
        .map(|(key, value)| (key.clone(), axis_json(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A value as a cell for people.
pub(super) fn cell(value: &SqlValue) -> Cell {
    match value {
        SqlValue::Null => Cell::Missing,
        SqlValue::Integer(value) => Cell::Integer(*value),
        SqlValue::Real(value) => Cell::Number(*value),
        SqlValue::Text(_) | SqlValue::Blob(_) => Cell::Text(value.to_string()),
    }
}

/// Milliseconds since 1970 (UTC).
pub(super) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0))
}

/// A span in words, from milliseconds: `0.3 s`, `4 min 05 s`, `2 h 07 min`, `3 days`.
pub(super) fn span(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1_000;
    let minutes = seconds / 60;
    match seconds {
        0..10 => format!("{:.1} s", milliseconds.max(0) as f64 / 1_000.0),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{minutes} min {:02} s", seconds % 60),
        3_600..172_800 => format!("{} h {:02} min", minutes / 60, minutes % 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

/// How long ago, in words.
pub(super) fn age(milliseconds: i64) -> String {
    let minutes = milliseconds.max(0) / 60_000;
    let several = |number: i64, unit: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{number} {unit}{plural} ago")
    };
    match minutes {
        0 => "just now".to_owned(),
        1..60 => several(minutes, "minute"),
        60..1_440 => several(minutes / 60, "hour"),
        1_440..43_200 => several(minutes / 1_440, "day"),
        43_200..525_600 => several(minutes / 43_200, "month"),
        _ => several(minutes / 525_600, "year"),
    }
}

/// Places as ranges: `3, 5–9`; after twenty of them the rest is only counted.
pub(super) fn ranges(places: &[i64]) -> String {
    let mut parts: Vec<(i64, i64)> = Vec::new();
    for place in places {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *place => *last = *place,
            _ => parts.push((*place, *place)),
        }
    }
    let mut text: Vec<String> = parts
        .iter()
        .take(20)
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}–{last}"),
        })
        .collect();
    if parts.len() > 20 {
        text.push(format!("and {} ranges more", parts.len() - 20));
    }
    text.join(", ")
}

/// Writes a file with `work`; it appears at its place when it is whole, and after an error nothing
/// is left of it.
pub(super) fn write_whole<T>(
    path: &Path,
    work: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, LookError>,
) -> Result<T, LookError> {
    let result = (|| fill(OutputFile::create(path)?, work))();
    about(path, result)
}

/// Fills a file that was begun, and finishes it.
pub(super) fn fill<T>(
    file: OutputFile,
    work: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, LookError>,
) -> Result<T, LookError> {
    let mut buffered = io::BufWriter::with_capacity(1 << 18, file);
    let result = work(&mut buffered)?;
    buffered
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .finish()?;
    Ok(result)
}

/// What fails while a file is written is about this file, whoever passed the error on.
pub(super) fn about<T>(path: &Path, result: Result<T, LookError>) -> Result<T, LookError> {
    result.map_err(|error| match error {
        LookError::Output(source) | LookError::Query(QueryError::Output(source)) => {
            let path = path.to_owned();
            LookError::File { path, source }
        }
        error => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_ages_are_words() {
        assert_eq!(span(269), "0.3 s");
        assert_eq!(span(245_000), "4 min 05 s");
        assert_eq!(span(7_620_000), "2 h 07 min");
        assert_eq!(age(59_000), "just now");
        assert_eq!(age(60_000), "1 minute ago");
        assert_eq!(age(3 * 86_400_000), "3 days ago");
        assert_eq!(age(366 * 86_400_000), "1 year ago");
    }

    #[test]
    fn neighbouring_places_are_ranges() {
        assert_eq!(ranges(&[3, 5, 6, 7, 9]), "3, 5–7, 9");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn a_file_that_fails_leaves_nothing_and_the_old_one_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        std::fs::write(&path, "old").unwrap();
        let error = write_whole(&path, |file| -> Result<(), LookError> {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull).into())
        })
        .unwrap_err();
        assert!(error.to_string().contains("is full"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
