//! Whether the machine of a machine file matches that of the log: simulated waits beside recorded
//! ones.

use std::collections::{BTreeMap, HashMap};

use super::samples::{Quantity, Settings, WEEK, number, rows};
use super::{AdviceSource, Section, changed, said};
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::{SqlValue, Store};
use bookahead_report::section::ReportError;
use bookahead_report::sql::this_run;
use bookahead_report::table::{Cell, Column, Table, grouped};

// Places in QUANTITIES.
const RECORDED: usize = 0;
const SIMULATED: usize = 1;
const APART: usize = 2;
const MORE: usize = 3;

/// Of the sums of a week: jobs, recorded minutes, simulated minutes, minutes apart, and by how much
/// simulated waits are longer.
const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "recorded wait",
        part: 1,
        whole: 0,
        kind: QuantityKind::Mean,
    },
    Quantity {
        name: "simulated wait",
        part: 2,
        whole: 0,
        kind: QuantityKind::Mean,
    },
    Quantity {
        name: "apart",
        part: 3,
        whole: 0,
        kind: QuantityKind::Mean,
    },
    Quantity {
        name: "simulated less recorded",
        part: 4,
        whole: 0,
        kind: QuantityKind::Signed,
    },
];

/// Of the whole log with the users' requests, which are the first of the experiment.
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
        "SELECT{}\nFROM v_measure WHERE run = {} AND place = 0",
        columns.join(","),
        this_run(configuration_hash)
    )
}

// Columns of this query.
const RANK: usize = 3;
const REFUSED: usize = 4;
const WITHOUT_PLACE: usize = 5;

fn waits_query(configuration_hash: &str) -> String {
    format!(
        "SELECT trace_number, submit / {WEEK} AS week, waiting FROM v_all_jobs
WHERE run = {} AND place = 0 AND waiting IS NOT NULL ORDER BY job",
        this_run(configuration_hash)
    )
}

/// Sums by week over the jobs that have both waits.
fn by_week(jobs: &[Vec<SqlValue>], recorded: &HashMap<i64, i64>) -> Vec<Vec<SqlValue>> {
    let mut weeks: BTreeMap<i64, (i64, [f64; 4])> = BTreeMap::new();
    for job in jobs {
        let [
            SqlValue::Integer(number),
            SqlValue::Integer(week),
            SqlValue::Integer(waiting),
        ] = job[..]
        else {
            continue;
        };
        let Some(recorded) = recorded.get(&number) else {
            continue;
        };
        let (jobs, sums) = weeks.entry(week).or_default();
        *jobs += 1;
        let more = waiting - recorded;
        for (sum, seconds) in sums.iter_mut().zip([*recorded, waiting, more.abs(), more]) {
            *sum += seconds as f64 / 60.0;
        }
    }
    let row = |(week, (jobs, sums)): (i64, (i64, [f64; 4]))| {
        let mut row = vec![SqlValue::Integer(week), SqlValue::Integer(jobs)];
        row.extend(sums.map(SqlValue::Real));
        row
    };
    weeks.into_iter().map(row).collect()
}

/// How far the waits that the machine file leads to are those of the log; nothing without a
/// machine.
pub(super) fn section<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
) -> Result<Option<Section<'s>>, ReportError> {
    let Some(machine) = &source.machine else {
        return Ok(None);
    };
    let hash = &source.queue.configuration_hash;
    let (sql, waits_sql) = (query(hash), waits_query(hash));
    let measures = rows(store, &sql)?;
    let measure = |column: usize| number(measures.first()?.get(column)?);
    let weeks = by_week(&rows(store, &waits_sql)?, source.recorded);
    let found = Settings::of(&weeks, 0, QUANTITIES);
    let waits = found.groups.first();
    let value = |quantity| found.value(waits?, quantity);
    let answer = match (value(RECORDED), value(SIMULATED)) {
        (Some(recorded), Some(simulated)) => {
            let (closely, caution) = verdict(recorded.mean, simulated.mean, measure(RANK));
            format!(
                "{closely}: the log recorded a mean wait of {} min, and on the machine of the file the same jobs wait {} min, which is {}; job by job they are {} min apart, and \
                 the rank correlation of the waits is {}.{caution}{}",
                said(Some(recorded), 0),
                said(Some(simulated), 0),
                changed(value(MORE), 0, "min"),
                said(value(APART), 0),
                measure(RANK).map_or_else(|| "–".to_owned(), |rank| grouped(rank, 2)),
                found.caution(MORE)
            )
        }
        _ => "The log records no waits, so nothing can be said.".to_owned(),
    };
    let row = [RECORDED, SIMULATED, MORE, APART].map(|quantity| Cell::from(value(quantity)));
    let alone = [RANK, REFUSED, WITHOUT_PLACE]
        .map(|column| measure(column).map_or(Cell::Missing, Cell::Number));
    let table = Table {
        name: "machine-waits".to_owned(),
        title: format!("Recorded and simulated waits on the machine {}", machine.name),
        columns: vec![
            Column::estimate("recorded_minutes", "recorded wait (min)", 1),
            Column::estimate("simulated_minutes", "simulated wait (min)", 1),
            Column::estimate("more_minutes", "simulated less recorded", 1),
            Column::estimate("apart_minutes", "apart (min)", 1),
            Column::number("rank_correlation", "rank correlation", 2),
            Column::number("refused_percent", "refused (%)", 2),
            Column::number("without_place_percent", "without a partition (%)", 2),
        ],
        rows: vec![row.into_iter().chain(alone).collect()],
        note: "Waits are those of jobs that have both. The whole log was simulated once with the users' requests; 95 % intervals are over weeks of submission (ratio estimator). \
               The rank correlation and the last two columns are of the whole log and have none. Recorded waits of single jobs stand in the log and not in the store."
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
        tables: vec![table, found.table("machine-weeks", &waits_sql)],
        figures: Vec::new(),
        run: Some(&source.queue),
        command: source.shows(&source.queue),
    }))
}

/// Below this rank correlation, or further than this factor from the recorded mean, waits are
/// called unlike.
const WEAK_RANK: f64 = 0.5;
const FAR: f64 = 1.5;

/// Whether the two are alike, and what to make of it where they are not.
fn verdict(recorded: f64, simulated: f64, rank: Option<f64>) -> (&'static str, &'static str) {
    let is_weak = rank.is_none_or(|rank| rank < WEAK_RANK);
    let is_far = simulated > FAR * recorded || recorded > FAR * simulated;
    if is_weak || is_far {
        (
            "Not closely",
            " What follows holds for the machine of the file, and only as far as yours is like it.",
        )
    } else {
        ("Roughly", "")
    }
}
