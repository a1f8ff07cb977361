//! The tables of a report.

mod earned;
mod studies;

use super::analysis::{Analysis, Combination, STRATEGY_AXIS};
use super::plots::paired::Pairs;
use super::sql;
use super::statistics::INTERVALS;
use super::table::{Cell, Column, Table, short, value_text};
use bookahead_lab::store::{FailedPoint, METRICS, MissingPoint, RunSummary};

pub(super) use studies::{brief, each_axis_table};

/// Every strategy at its best threshold beside its baseline: the shape of Tables 6.1 and 6.2 of the
/// dissertation.
#[must_use]
pub fn best_table(analysis: &Analysis, pairs: &Pairs<'_>, run: &RunSummary) -> Table {
    if let (true, Some(measure)) = (analysis.is_earning(), analysis.earned_measure()) {
        return earned::best_table(analysis, pairs, run, measure);
    }
    if analysis.is_study() {
        return studies::best_table(analysis, run);
    }
    let (given, tuned) = (analysis.given_axes(), analysis.tuned_axes());
    let mut columns: Vec<Column> = given
        .iter()
        .map(|axis| axis_column(analysis, *axis))
        .collect();
    columns.extend([
        Column::plain("strategy", "Strategy"),
        Column::estimate(
            "gain",
            if tuned.is_empty() {
                "Gain (VC)"
            } else {
                "Best gain (VC)"
            },
            0,
        ),
        Column::estimate("surplus", "Surplus (VC)", 0),
        Column::number("surplus_percent", "Surplus (%)", 1),
        Column::number("baseline_gain", "Baseline (VC)", 0),
    ]);
    columns.extend(tuned_columns(analysis, &tuned));
    let measures = studies::shown(analysis, false);
    columns.extend(studies::columns(analysis, &measures));
    columns.push(Column::plain("replications", "n"));
    let rows = analysis
        .best()
        .into_iter()
        .map(|combination| {
            let mut row: Vec<Cell> = given
                .iter()
                .map(|axis| analysis.value(combination, *axis).into())
                .collect();
            row.push(Cell::Text(combination.strategy.clone()));
            row.push(combination.estimates[0].into());
            match combination.additional {
                Some(additional) => row.extend([
                    Cell::Estimate(additional.difference),
                    additional.percent.map_or(Cell::Undefined, Cell::Number),
                    Cell::Number(additional.baseline),
                ]),
                None => row.extend([Cell::Missing, Cell::Missing, Cell::Missing]),
            }
            row.extend(tuned_cells(analysis, combination, &tuned));
            row.extend(studies::cells(combination, &measures));
            row.push(replications(combination));
            row
        })
        .collect();
    let mut note = format!(
        "Means over replications. {INTERVALS} Surplus: gain minus the gain of the strategy's baseline in the same \
         replication; in percent of the baseline's mean, undefined where that is not positive."
    );
    note.push_str(&chosen(analysis, &tuned));
    if !analysis.relaxed_axes.is_empty() {
        note.push_str(&format!(
            " The run has the baselines only once for all values of {}, which they do not read.",
            analysis.relaxed_axes.join(" and ")
        ));
    }
    Table {
        name: "best".to_owned(),
        title: if tuned.is_empty() {
            "Gain by strategy".to_owned()
        } else {
            "Best gain by strategy".to_owned()
        },
        columns,
        rows,
        note,
        sql: with_measures(sql::best(&run.configuration_hash, analysis), analysis, run),
    }
}

/// The columns of the values at which something is best.
fn tuned_columns(analysis: &Analysis, tuned: &[usize]) -> impl Iterator<Item = Column> {
    tuned.iter().map(|axis| {
        let key = &analysis.axes[*axis].key;
        Column::plain(format!("at_{key}"), format!("At {}", short(key)))
    })
}

/// Their cells; a threshold says nothing about a policy that does not look at it.
fn tuned_cells(
    analysis: &Analysis,
    combination: &Combination,
    tuned: &[usize],
) -> impl Iterator<Item = Cell> {
    let overbooks = analysis.studies.overbooks(analysis.policy(combination));
    tuned.iter().map(move |axis| {
        let value = analysis.value(combination, *axis).filter(|_| overbooks);
        value.into()
    })
}

/// Says what was chosen, where something was.
fn chosen(analysis: &Analysis, tuned: &[usize]) -> String {
    if tuned.is_empty() {
        return String::new();
    }
    let names = tuned.iter().map(|axis| analysis.axes[*axis].key.as_str());
    format!(
        " Of every strategy the value of {} with the highest mean gain is shown: chosen on the replications that it is shown with, so its gain is somewhat too \
         high, and the interval does not contain the choice; {BY_HOW_MUCH}",
        names.collect::<Vec<_>>().join(" and ")
    )
}

/// Where a reader finds what the choice of the best is worth…
const BY_HOW_MUCH: &str =
    "the table \"What the choice of the best setting is worth\" says by how much.";

/// …and where a rule selected.
const ON_OTHERS: &str =
    "the table of selected values has those that the rule selected, on replications that did not.";

/// The table of a run whose best values a rule selected, and others confirmed.
pub(super) fn confirmed_elsewhere(best: &mut Table) {
    best.note = best.note.replace(BY_HOW_MUCH, ON_OTHERS);
}

/// Every combination of axis values with every metric.
#[must_use]
pub fn summary_table(analysis: &Analysis, run: &RunSummary) -> Table {
    let (is_study, metrics) = (analysis.is_study(), analysis.shown_metrics());
    let shown: Vec<usize> = (0..analysis.axes.len())
        .filter(|axis| analysis.axes[*axis].key != STRATEGY_AXIS)
        .collect();
    let mut columns: Vec<Column> = shown
        .iter()
        .map(|axis| axis_column(analysis, *axis))
        .collect();
    columns.extend([
        Column::plain("strategy", "Strategy"),
        Column::plain("replications", "n"),
    ]);
    columns.extend(
        metrics
            .iter()
            .map(|index| &METRICS[*index])
            .map(|metric| Column::estimate(metric.name, metric.title, metric.decimals)),
    );
    if !is_study {
        columns.extend([
            Column::estimate("surplus", "Surplus (VC)", 0),
            Column::number("surplus_percent", "Surplus (%)", 1),
            Column::number("baseline_gain", "Baseline (VC)", 0),
        ]);
    }
    let measures = studies::shown(analysis, true);
    columns.extend(studies::columns(analysis, &measures));
    let rows = analysis
        .combinations
        .iter()
        .map(|combination| {
            let mut row: Vec<Cell> = shown
                .iter()
                .map(|axis| analysis.value(combination, *axis).into())
                .collect();
            row.push(Cell::Text(combination.strategy.clone()));
            row.push(replications(combination));
            row.extend(
                metrics
                    .iter()
                    .map(|index| Cell::from(combination.estimates[*index])),
            );
            match combination.additional {
                _ if is_study => {}
                Some(additional) => row.extend([
                    Cell::Estimate(additional.difference),
                    additional.percent.map_or(Cell::Undefined, Cell::Number),
                    Cell::Number(additional.baseline),
                ]),
                None => row.extend([Cell::Missing, Cell::Missing, Cell::Missing]),
            }
            row.extend(studies::cells(combination, &measures));
            row
        })
        .collect();
    Table {
        name: "summary".to_owned(),
        title: "Every combination".to_owned(),
        columns,
        rows,
        note: if is_study {
            studies::note()
        } else {
            format!(
                "Means over replications. {INTERVALS} One virtual coin (VC) is one booked node-hour. Utilisation is busy \
                 node-time by capacity, the mean wait is last start − release over started jobs, the slowdown is \
                 Σ n·response / Σ n·run over successful jobs."
            )
        },
        sql: if is_study {
            sql::measures(&run.configuration_hash, &metrics)
        } else {
            with_measures(sql::summary(&run.configuration_hash), analysis, run)
        },
    }
}

/// The query of a table, and that of its measures behind it.
fn with_measures(query: String, analysis: &Analysis, run: &RunSummary) -> String {
    if analysis.measures.is_empty() {
        return query;
    }
    format!("{query}\n\n{}", sql::measures(&run.configuration_hash, &[]))
}

/// What was run; only what is the same on every machine.
#[must_use]
pub fn run_table(run: &RunSummary, analysis: &Analysis) -> Table {
    let text = |key: &str, value: String| vec![Cell::Text(key.to_owned()), Cell::Text(value)];
    let mut rows = vec![
        text("experiment", run.name.clone()),
        text("configuration (SHA-256)", run.configuration_hash.clone()),
        text("seed", run.seed.to_string()),
        text("replications", run.replications_in_words()),
        text("program version", run.program_version.clone()),
        text("result format", run.result_format.to_string()),
        text("points", run.points.to_string()),
        text("points done", run.points_done.to_string()),
        text("points failed", run.points_failed.to_string()),
        text("points missing", missing(run).to_string()),
    ];
    for axis in &analysis.axes {
        let values: Vec<String> = axis.values.iter().map(value_text).collect();
        rows.push(text(&format!("axis {}", axis.key), values.join(", ")));
    }
    Table {
        name: "run".to_owned(),
        title: "What was run".to_owned(),
        columns: vec![
            Column::plain("what", "What"),
            Column::plain("value", "Value"),
        ],
        rows,
        note: which_load(run, analysis),
        sql: sql::run(&run.configuration_hash),
    }
}

/// What a load by estimates is, and why a machine is used less than it is asked for.
const BY_ESTIMATES: &str = "The load is one by estimates: the work that users ask for, over the time from the first to the last submission, in parts \
    of what the machine can do. Jobs use less than they ask for, and others are rejected or wait beyond that time, so a machine that \
    is asked for twice its capacity may be used to a third. `load.by = \"runtimes\"` counts what jobs compute.";

/// What a load by run times is, and why a machine may have to reject jobs below its capacity.
const BY_RUNTIMES: &str = "The load is one by run times: the work that jobs compute, over the time from the first to the last submission, in parts \
    of what the machine can do. Their users ask for more, so a machine that plans by estimates is full before that load is.";

/// The sentences about the loads that were given, in the file or on an axis; none without one.
fn which_load(run: &RunSummary, analysis: &Analysis) -> String {
    let document: serde_json::Value = toml::from_str(&run.configuration).unwrap_or_default();
    let workload = &document["workload"];
    let on_axis = |key: &str| analysis.axes.iter().find(|axis| axis.key == key);
    // Stored files have the keys by the names of their day.
    let is_given = |key: &str| !workload["load"][key].is_null();
    let is_former = |key: &str| !workload[key].is_null();
    let keys = ["value", "each_battery"];
    let on_axes = keys.map(|key| on_axis(&format!("workload.load.{key}")).is_some());
    let has_load = keys.into_iter().any(is_given)
        || on_axes.contains(&true)
        || ["target_load", "battery_load"].into_iter().any(is_former);
    if !has_load {
        return String::new();
    }
    let times = match on_axis("workload.load.by") {
        Some(axis) => axis.values.iter().map(value_text).collect(),
        None => vec![
            workload["load"]["by"]
                .as_str()
                .unwrap_or("estimates")
                .to_owned(),
        ],
    };
    let sentences = [("estimates", BY_ESTIMATES), ("runtimes", BY_RUNTIMES)];
    let said = sentences
        .into_iter()
        .filter(|(time, _)| times.iter().any(|given| given == time));
    said.map(|(_, sentence)| sentence)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The points that have no result, and why.
#[must_use]
pub fn failed_table(failed: &[FailedPoint], run: &RunSummary) -> Table {
    Table {
        name: "failed".to_owned(),
        title: "Points that failed".to_owned(),
        columns: vec![
            Column::plain("strategy", "Strategy"),
            Column::plain("axes", "Axes"),
            Column::plain("replication", "Replication"),
            Column::plain("error", "Error"),
        ],
        rows: failed
            .iter()
            .map(|point| {
                vec![
                    Cell::Text(point.strategy.clone()),
                    Cell::Text(point.axes.clone()),
                    Cell::Integer(i64::from(point.replication)),
                    Cell::Text(point.error.clone()),
                ]
            })
            .collect(),
        note: String::new(),
        sql: sql::failures(&run.configuration_hash),
    }
}

/// The points that were not run, or are under way.
#[must_use]
pub fn missing_table(points: &[MissingPoint], run: &RunSummary) -> Table {
    Table {
        name: "missing".to_owned(),
        title: "Points that are missing".to_owned(),
        columns: vec![
            Column::plain("place", "Place"),
            Column::plain("strategy", "Strategy"),
            Column::plain("axes", "Axes"),
            Column::plain("replication", "Replication"),
            Column::plain("state", "State"),
        ],
        rows: points
            .iter()
            .map(|point| {
                vec![
                    Cell::Integer(i64::from(point.place)),
                    Cell::Text(point.strategy.clone()),
                    Cell::Text(point.axes.clone()),
                    Cell::Integer(i64::from(point.replication)),
                    Cell::Text(point.state.clone()),
                ]
            })
            .collect(),
        note:
            "The same `bookahead run` command runs them and nothing else. At most 1,000 are listed."
                .to_owned(),
        sql: sql::missing(&run.configuration_hash),
    }
}

/// Points that were neither done nor failed.
pub(super) fn missing(run: &RunSummary) -> u64 {
    run.points
        .saturating_sub(run.points_done + run.points_failed)
}

/// The column of an axis, by its place among the axes of the run.
pub fn axis_column(analysis: &Analysis, axis: usize) -> Column {
    let key = &analysis.axes[axis].key;
    Column::plain(key.clone(), short(key))
}

fn replications(combination: &Combination) -> Cell {
    combination.estimates[0].map_or(Cell::Integer(0), |gain| {
        Cell::Integer(i64::from(gain.count))
    })
}
