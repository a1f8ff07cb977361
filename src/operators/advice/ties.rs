//! The influence of the seconds of submission: the queue once more, with every submission moved a
//! little.
//!
//! This is not an interval of anything: other months differ by far more.

use super::AdviceSource;
use super::queue::Subject;
use super::samples::{number, rows};
use bookahead_lab::store::Store;
use bookahead_report::section::ReportError;
use bookahead_report::sql::this_run;
use bookahead_report::table::{Cell, Column, Table, grouped};

/// What the seconds of submission decide.
pub(super) struct Ties {
    /// For the section.
    pub(super) sentence: String,
    /// For a recommendation.
    pub(super) in_short: String,
    pub(super) table: Table,
}

/// The sentences and the table; nothing where the runs were not asked for.
pub(super) fn answer(
    store: &Store,
    source: &AdviceSource<'_>,
    subject: &Subject,
) -> Result<Option<Ties>, ReportError> {
    let Some(run) = &source.ties else {
        return Ok(None);
    };
    let sql = format!(
        "SELECT json_extract(axes, '$.\"{}\"') AS predictor, count(*) AS runs, avg(value) AS mean, min(value) AS least, max(value) AS most
FROM v_measure WHERE measure = 'queue_wait_minutes' AND run = {} GROUP BY predictor ORDER BY min(place)",
        subject.axis,
        this_run(&run.configuration_hash)
    );
    let found = rows(store, &sql)?;
    let value = |row: &[_], column: usize| row.get(column).and_then(number);
    let Some(first) = found.first() else {
        return Ok(None);
    };
    let minutes = |column| grouped(value(first, column).unwrap_or(f64::NAN), 1);
    let sentence = format!(
        " Sensitivity to ties: with every submission moved by up to a minute, the mean wait with requested times is {} to {} min in {} runs; other months differ by more.",
        minutes(3),
        minutes(4),
        grouped(value(first, 1).unwrap_or(0.0), 0)
    );
    let in_short = format!(
        " Moving every submission by up to a minute makes the wait with requests {} to {} min.",
        minutes(3),
        minutes(4)
    );
    let cells = found.iter().map(|row| {
        let number = |column| value(row, column).map_or(Cell::Missing, Cell::Number);
        let name = row.first().map(ToString::to_string).unwrap_or_default();
        let mut cells = vec![Cell::Text(subject.words(&name).to_owned())];
        cells.extend((1..=4).map(number));
        cells
    });
    let table = Table {
        name: "ties".to_owned(),
        title: "Sensitivity to ties: mean wait with submissions moved by up to a minute".to_owned(),
        columns: vec![
            Column::plain("predictor", "plans with"),
            Column::number("runs", "runs", 0),
            Column::number("mean_minutes", "mean (min)", 1),
            Column::number("least_minutes", "least (min)", 1),
            Column::number("most_minutes", "most (min)", 1),
        ],
        rows: cells.collect(),
        note: format!(
            "Each run moves submissions by others. What the seconds decide is no interval of the machine. Experiment `{}`, file `{}`.",
            run.name, run.file
        ),
        sql,
    };
    Ok(Some(Ties {
        sentence,
        in_short,
        table,
    }))
}
