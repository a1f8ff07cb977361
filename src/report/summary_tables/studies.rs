//! The measures of studies as columns of tables.

use std::collections::{BTreeMap, HashSet};

use super::{axis_column, replications};
use crate::analysis::{Analysis, BesideMeasures, Combination};
use crate::plots::lines::free_axes;
use crate::sql;
use crate::statistics::{Estimate, INTERVALS};
use crate::table::{Cell, Column, Table};
use bookahead_core::scheduling::measures::Topic;
use bookahead_lab::store::{METRICS, PointColumns, RunSummary};

/// What a reader of a study must know.
pub(super) fn note() -> String {
    format!("Means over replications. {INTERVALS}")
}

/// Indices of the measures that a table shows, with details or without; what is earned, or what the
/// experiment is about, comes first.
pub(super) fn shown(analysis: &Analysis, details: bool) -> Vec<usize> {
    let is_first =
        |index: &usize| analysis.first_measure() == Some(analysis.measures[*index].name.as_str());
    let is_shown = |index: &usize| {
        details || analysis.measures[*index].topic != Topic::Detail || is_first(index)
    };
    let mut shown: Vec<usize> = (0..analysis.measures.len()).filter(is_shown).collect();
    if analysis.first_measure().is_some() {
        shown.sort_by_key(|index| !is_first(index));
    }
    shown
}

/// Their columns.
pub(super) fn columns<'a>(
    analysis: &'a Analysis,
    measures: &'a [usize],
) -> impl Iterator<Item = Column> + 'a {
    measures.iter().map(|index| {
        let measure = &analysis.measures[*index];
        Column::estimate(&measure.name, &measure.title, measure.decimals)
    })
}

/// Their cells in the row of a combination.
pub(super) fn cells<'a>(
    combination: &'a Combination,
    measures: &'a [usize],
) -> impl Iterator<Item = Cell> + 'a {
    measures
        .iter()
        .map(|index| Cell::from(combination.measured[*index]))
}

/// What came out of a study: every combination with what is worth looking at first. Nothing is
/// chosen, as it sells nothing.
pub(super) fn best_table(analysis: &Analysis, run: &RunSummary) -> Table {
    let axes: Vec<usize> = (0..analysis.axes.len())
        .filter(|axis| analysis.axes[*axis].key != super::STRATEGY_AXIS)
        .collect();
    let several = analysis
        .combinations
        .iter()
        .any(|combination| combination.strategy != analysis.combinations[0].strategy);
    let metrics = analysis.metrics_beside_measures();
    let beside: Vec<(usize, BesideMeasures)> = metrics
        .iter()
        .map(|index| (*index, BesideMeasures::from(&METRICS[*index])))
        .collect();
    let (zero, measures): (Vec<usize>, Vec<usize>) = shown(analysis, false)
        .into_iter()
        .partition(|measure| is_zero_throughout(analysis, *measure));
    let mut table_columns: Vec<Column> = axes
        .iter()
        .map(|axis| axis_column(analysis, *axis))
        .collect();
    if several {
        table_columns.push(Column::plain("strategy", "Strategy"));
    }
    table_columns.extend(
        beside
            .iter()
            .map(|(_, metric)| Column::estimate(metric.key, &metric.title, metric.decimals)),
    );
    table_columns.extend(columns(analysis, &measures));
    table_columns.push(Column::plain("replications", "n"));
    let rows = analysis
        .combinations
        .iter()
        .map(|combination| {
            let mut row: Vec<Cell> = axes
                .iter()
                .map(|axis| analysis.value(combination, *axis).into())
                .collect();
            if several {
                row.push(Cell::Text(combination.strategy.clone()));
            }
            row.extend(beside.iter().map(|(index, metric)| {
                let estimate = combination.estimates[*index];
                Cell::from(estimate.map(|estimate| estimate.scaled(metric.factor)))
            }));
            row.extend(cells(combination, &measures));
            row.push(replications(combination));
            row
        })
        .collect();
    Table {
        name: "best".to_owned(),
        title: "What was measured".to_owned(),
        columns: table_columns,
        rows,
        note: format!(
            "{} The table of every combination has the details.{}",
            note(),
            left_out(analysis, &zero)
        ),
        sql: sql::measures(&run.configuration_hash, &metrics),
    }
}

/// Fewer axes than this are covered by the table of every combination.
const FEWEST_AXES: usize = 3;

/// Every value of every axis with the means over all values of the other axes: what each axis does
/// alone. `None` where there are few axes, or where some combinations of their values are left out,
/// so that means over them could not be compared.
pub(crate) fn each_axis_table(
    analysis: &Analysis,
    points: &PointColumns,
    run: &RunSummary,
) -> Option<Table> {
    let axes = free_axes(analysis);
    let every: usize = axes
        .iter()
        .map(|axis| analysis.axes[*axis].values.len())
        .product();
    let complete = analysis.combinations.len() == every && run.points_done == run.points;
    if !analysis.is_study() || axes.len() < FEWEST_AXES || !complete {
        return None;
    }
    let (zero, measures): (Vec<usize>, Vec<usize>) = shown(analysis, false)
        .into_iter()
        .partition(|measure| is_zero_throughout(analysis, *measure));
    let mut table_columns = vec![
        Column::plain("axis", "Axis"),
        Column::plain("value", "Value"),
    ];
    table_columns.extend(columns(analysis, &measures));
    let mut rows = Vec::new();
    for axis in axes {
        for (place, value) in (0_u32..).zip(&analysis.axes[axis].values) {
            let at_value: Vec<usize> = (0..points.len())
                .filter(|point| points.axes[axis].positions[*point] == Some(place))
                .collect();
            let name = crate::table::short(&analysis.axes[axis].key).to_owned();
            let mut row = vec![Cell::Text(name), Some(value).into()];
            row.extend(measures.iter().map(|measure| {
                let mut replications: BTreeMap<u32, (Vec<usize>, Vec<f64>)> = BTreeMap::new();
                for point in &at_value {
                    let value = points.measures[*measure].values[*point];
                    let of = replications.entry(points.replication[*point]).or_default();
                    of.0.push(points.original[*point]);
                    of.1.extend(value);
                }
                // A replication all of whose results repeat another one's is that one.
                let mut known = HashSet::new();
                let means: Vec<f64> = replications
                    .values()
                    .filter(|(results, values)| !values.is_empty() && known.insert(results))
                    .map(|(_, values)| values.iter().sum::<f64>() / values.len() as f64)
                    .collect();
                let kind = analysis.measures[*measure].kind;
                Cell::from(Estimate::of_kind(&means, kind))
            }));
            rows.push(row);
        }
    }
    Some(Table {
        name: "each-axis".to_owned(),
        title: "Each axis alone".to_owned(),
        columns: table_columns,
        rows,
        note: format!(
            "Means over all values of the other axes within a replication, then over replications. {INTERVALS}{}",
            left_out(analysis, &zero)
        ),
        sql: sql::each_axis(&run.configuration_hash),
    })
}

/// Of a table what a card or a screen has room for: the first measure of each topic.
pub(crate) fn brief(table: &Table, analysis: &Analysis) -> Table {
    let mut topics = Vec::new();
    let mut is_kept = |column: &Column| {
        let mut measures = analysis.measures.iter();
        let Some(measure) = measures.find(|measure| measure.name == column.key) else {
            return true;
        };
        let is_first = !topics.contains(&measure.topic);
        topics.push(measure.topic);
        is_first
    };
    let kept: Vec<bool> = table.columns.iter().map(&mut is_kept).collect();
    fn chosen<T: Clone>(all: &[T], kept: &[bool]) -> Vec<T> {
        let pairs = all.iter().zip(kept);
        pairs
            .filter(|(_, kept)| **kept)
            .map(|(one, _)| one.clone())
            .collect()
    }
    Table {
        columns: chosen(&table.columns, &kept),
        rows: table.rows.iter().map(|row| chosen(row, &kept)).collect(),
        ..table.clone()
    }
}

/// Whether a measure is 0 in every combination.
fn is_zero_throughout(analysis: &Analysis, measure: usize) -> bool {
    analysis.combinations.iter().all(|combination| {
        combination.measured[measure].is_some_and(|estimate| {
            estimate.mean == 0.0 && estimate.deviation.unwrap_or(0.0) == 0.0
        })
    })
}

/// Says which measures have no column.
fn left_out(analysis: &Analysis, zero: &[usize]) -> String {
    if zero.is_empty() {
        return String::new();
    }
    let titles: Vec<&str> = zero
        .iter()
        .map(|measure| analysis.measures[*measure].title.as_str())
        .collect();
    format!(
        " 0 throughout, and without a column: {}.",
        titles.join("; ")
    )
}
