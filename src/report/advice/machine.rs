//! Whether the machine of a machine file is the one that the log comes from: simulated waits beside recorded ones.

use super::samples::{Group, groups, rows};
use super::{AdviceSource, Section, said};
use crate::report::section::ReportError;
use crate::report::sql::this_run;
use crate::report::table::{Cell, Column, Table, grouped};
use crate::store::Store;

// Columns of the query behind its key and the replication.
const RECORDED: usize = 0;
const SIMULATED: usize = 1;
const APART: usize = 2;
const RANK: usize = 3;
const REFUSED: usize = 4;
const WITHOUT_PLACE: usize = 5;

fn query(configuration_hash: &str) -> String {
    let columns = [
        ("recorded_wait_minutes", "recorded_minutes"),
        ("compared_wait_minutes", "simulated_minutes"),
        ("wait_difference_minutes", "apart_minutes"),
        ("wait_rank_correlation", "rank_correlation"),
        ("refused_percent", "refused_percent"),
        ("without_place_percent", "without_place_percent"),
    ];
    let columns = columns.map(|(measure, column)| {
        format!("\n    max(value) FILTER (WHERE measure = '{measure}') AS {column}")
    });
    format!(
        "SELECT json_extract(axes, '$.\"workload.exact_estimates\"') AS exact, replication,{}
FROM v_measure WHERE run = {} GROUP BY place ORDER BY place",
        columns.join(","),
        this_run(configuration_hash)
    )
}

/// How far the waits that the machine file leads to are those of the log; nothing without a machine.
pub(super) fn section<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
) -> Result<Option<Section<'s>>, ReportError> {
    let Some(machine) = &source.machine else {
        return Ok(None);
    };
    let sql = query(&source.queue.configuration_hash);
    let found = groups(&rows(store, &sql)?, 1);
    let Some(requested) = found.first() else {
        return Ok(None);
    };
    let answer = match requested.mean(RECORDED) {
        None => "The log records no waits, so nothing can be said.".to_owned(),
        Some(recorded) => {
            let (closely, caution) = verdict(requested);
            format!(
                "{closely}: the log recorded a mean wait of {} min, and on the machine of the file the same jobs wait {} min; job by job they are {} min apart, and \
                 the rank correlation of the waits is {}.{caution}",
                // The same in every run.
                grouped(recorded.mean, 0),
                said(requested.mean(SIMULATED), 0),
                said(requested.mean(APART), 0),
                said(requested.signed_mean(RANK), 2),
            )
        }
    };
    let row = |group: &Group, requests: &str| {
        let mut row = vec![Cell::Text(requests.to_owned())];
        let columns = [RECORDED, SIMULATED, APART, RANK, REFUSED, WITHOUT_PLACE];
        row.extend(columns.map(|column| match column {
            RANK => Cell::from(group.signed_mean(column)),
            _ => Cell::from(group.mean(column)),
        }));
        row
    };
    let table = Table {
        name: "machine-waits".to_owned(),
        title: format!("Recorded and simulated waits on the machine {}", machine.name),
        columns: vec![
            Column::plain("requests", "requests"),
            Column::estimate("recorded_minutes", "recorded wait (min)", 1),
            Column::estimate("simulated_minutes", "simulated wait (min)", 1),
            Column::estimate("apart_minutes", "apart (min)", 1),
            Column::estimate("rank_correlation", "rank correlation", 2),
            Column::estimate("refused_percent", "refused (%)", 2),
            Column::estimate("without_place_percent", "without a partition (%)", 2),
        ],
        rows: vec![row(requested, "users'")],
        note: "Waits are those of jobs that have both. Means over runs of the whole log whose submissions are moved by up to a minute, ± half of a 95 % interval (Student's t)."
            .to_owned(),
        sql,
    };
    Ok(Some(Section {
        id: "machine",
        question: "Does the machine file explain the waits of the log?".to_owned(),
        answer,
        method: format!(
            "Waits depend on much that no log holds: nodes that were down or kept for somebody, jobs that depend on others, priorities that were changed by hand. \
             `bookahead simulate {} --machine {}` compares them by partition, queue, width and request.",
            source.file, machine.file
        ),
        tables: vec![table],
        figures: Vec::new(),
        run: Some(&source.queue),
        command: source.shows(&source.queue),
    }))
}

/// Below this rank correlation, or further than this factor from the recorded mean, waits are called unlike.
const WEAK_RANK: f64 = 0.5;
const FAR: f64 = 1.5;

/// Whether the two are alike, and what to make of it where they are not.
fn verdict(group: &Group) -> (&'static str, &'static str) {
    let mean = |column| group.signed_mean(column).map(|estimate| estimate.mean);
    let is_weak = mean(RANK).is_none_or(|rank| rank < WEAK_RANK);
    let ratio = mean(SIMULATED).zip(mean(RECORDED));
    let is_far = ratio.is_none_or(|(simulated, recorded)| {
        simulated > FAR * recorded || recorded > FAR * simulated
    });
    if is_weak || is_far {
        (
            "Not closely",
            " What follows holds for the machine of the file, and only as far as yours is like it.",
        )
    } else {
        ("Roughly", "")
    }
}
