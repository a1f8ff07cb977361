//! Whether the waits of the log can be explained: simulated ones beside recorded ones, on the
//! machine of a machine file, or in a plain queue.

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

/// How far the waits that the machine file, or a queue of nodes that are alike, leads to are those
/// of the log.
pub(super) fn section<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
) -> Result<Section<'s>, ReportError> {
    let machine = source.machine.as_ref();
    let place = match machine {
        Some(_) => "on the machine of the file",
        None => "in an EASY queue of nodes that are alike",
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
            let rank = machine.map(|_| measure(RANK));
            let is_alike = is_alike(recorded.mean, simulated.mean, rank);
            let closely = if is_alike { "Roughly" } else { "Not closely" };
            let caution = match (is_alike, machine) {
                (true, _) => "",
                (false, Some(_)) => {
                    " What follows holds for the machine of the file, and only as far as yours is like it."
                }
                (false, None) => {
                    " What follows holds for such a queue; `--machine FILE` describes partitions, priorities and limits."
                }
            };
            let rank = rank.map_or_else(String::new, |rank| {
                let rank = rank.map_or_else(|| "–".to_owned(), |rank| grouped(rank, 2));
                format!(", and the rank correlation of the waits is {rank}")
            });
            format!(
                "{closely}: the log recorded a mean wait of {} min, and {place} the same jobs wait {} min, which is {}; job by job they are {} min apart{rank}.{caution}{}",
                said(Some(recorded), 0),
                said(Some(simulated), 0),
                changed(value(MORE), 0, "min"),
                said(value(APART), 0),
                found.caution(MORE).in_full()
            )
        }
        _ => "The log records no waits, so nothing can be said.".to_owned(),
    };
    let row = [RECORDED, SIMULATED, MORE, APART].map(|quantity| Cell::from(value(quantity)));
    let alone = [RANK, REFUSED, WITHOUT_PLACE]
        .map(|column| measure(column).map_or(Cell::Missing, Cell::Number));
    let alone = alone
        .into_iter()
        .take(if machine.is_some() { 3 } else { 0 });
    let mut columns = vec![
        Column::estimate("recorded_minutes", "recorded wait (min)", 1),
        Column::estimate("simulated_minutes", "simulated wait (min)", 1),
        Column::estimate("more_minutes", "simulated less recorded", 1),
        Column::estimate("apart_minutes", "apart (min)", 1),
    ];
    if machine.is_some() {
        columns.extend([
            Column::number("rank_correlation", "rank correlation", 2),
            Column::number("refused_percent", "refused (%)", 2),
            Column::number("without_place_percent", "without a partition (%)", 2),
        ]);
    }
    let table = Table {
        name: "machine-waits".to_owned(),
        title: machine.map_or_else(
            || "Recorded waits, and those in an EASY queue".to_owned(),
            |machine| {
                format!(
                    "Recorded and simulated waits on the machine {}",
                    machine.name
                )
            },
        ),
        columns,
        rows: vec![row.into_iter().chain(alone).collect()],
        note: format!(
            "Waits are those of jobs that have both. The whole log was simulated once with the users' requests; 95 % intervals are over weeks of submission (ratio estimator). \
             {}Recorded waits of single jobs stand in the log and not in the store.",
            match machine {
                Some(_) =>
                    "The rank correlation and the last two columns are of the whole log and have none. ",
                None => "",
            }
        ),
        // Of a queue only the jobs are read.
        sql: if machine.is_some() {
            sql
        } else {
            waits_sql.clone()
        },
    };
    let compares = machine.map_or_else(
        || "`--machine FILE` simulates the machine as it is configured.".to_owned(),
        |machine| {
            format!(
                "`bookahead simulate {} --machine {}` compares them by partition, queue, width and request.",
                source.file, machine.file
            )
        },
    );
    Ok(Section {
        id: "machine",
        question: match machine {
            Some(_) => "Does the machine file explain the waits of the log?",
            None => "Does a plain queue explain the waits of the log?",
        }
        .to_owned(),
        answer,
        method: format!(
            "Waits depend on much that no log holds: nodes that were down or kept for somebody, jobs that depend on others, priorities that were changed by hand. {compares}"
        ),
        tables: vec![table, found.table("machine-weeks", &waits_sql)],
        figures: Vec::new(),
        recommendations: Vec::new(),
        run: Some(&source.queue),
        command: source.shows(&source.queue),
    })
}

/// Below this rank correlation, or further than this factor from the recorded mean, waits are
/// called unlike.
const WEAK_RANK: f64 = 0.5;
const FAR: f64 = 1.5;

/// Whether recorded and simulated waits are alike, in the mean and, where it is known, by rank.
fn is_alike(recorded: f64, simulated: f64, rank: Option<Option<f64>>) -> bool {
    let is_weak = rank.is_some_and(|rank| rank.is_none_or(|rank| rank < WEAK_RANK));
    let is_far = simulated > FAR * recorded || recorded > FAR * simulated;
    !is_weak && !is_far
}
