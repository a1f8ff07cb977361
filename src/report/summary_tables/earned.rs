//! Every policy of a study that sells something at its best, in each situation.

use super::{axis_column, chosen, replications, studies, tuned_cells, tuned_columns};
use crate::analysis::{Analysis, Combination, ReportedMeasure};
use crate::plots::drawn::Drawn;
use crate::plots::paired::Pairs;
use crate::sql;
use crate::statistics::INTERVALS;
use crate::table::{Cell, Column, Table};
use bookahead_lab::store::RunSummary;

/// What each policy earns at the best of the values that a provider chooses, beside its baseline
/// at the best of its own.
pub(super) fn best_table(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    run: &RunSummary,
    earned: &ReportedMeasure,
) -> Table {
    let (given, tuned) = (analysis.given_axes(), analysis.tuned_axes());
    let column = |axis: &usize| axis_column(analysis, *axis);
    let mut columns: Vec<Column> = given.iter().map(column).collect();
    columns.extend([
        Column::plain("policy", "Policy"),
        Column::estimate("earned", &earned.title, earned.decimals),
        Column::estimate("surplus", "Surplus (VC)", earned.decimals),
    ]);
    columns.extend(tuned_columns(analysis, &tuned));
    let mut measures = studies::shown(analysis, false);
    measures.retain(|index| analysis.measures[*index].name != earned.name);
    columns.extend(studies::columns(analysis, &measures));
    columns.push(Column::plain("replications", "n"));
    let best = analysis.best();
    let quantity = (analysis
        .measures
        .iter()
        .position(|it| it.name == earned.name))
    .map(|index| Drawn::measure(analysis, index, &run.configuration_hash));
    let rows = best.iter().map(|combination| {
        let mut row: Vec<Cell> = (given.iter())
            .map(|axis| analysis.value(combination, *axis).into())
            .collect();
        row.push(Cell::Text(analysis.policy(combination).to_owned()));
        row.push(analysis.earned(combination).into());
        let baseline = baseline(analysis, &given, &best, combination);
        let surplus = baseline
            .zip(quantity.as_ref())
            .and_then(|(below, quantity)| {
                Some(pairs.difference(quantity, combination, below)?.estimate)
            });
        row.push(surplus.into());
        row.extend(tuned_cells(analysis, combination, &tuned));
        row.extend(studies::cells(combination, &measures));
        row.push(replications(combination));
        row
    });
    let rows = rows.collect();
    let names: Vec<&str> = (tuned.iter())
        .map(|axis| analysis.axes[*axis].key.as_str())
        .collect();
    Table {
        name: "best".to_owned(),
        title: "Earned by policy".to_owned(),
        columns,
        rows,
        note: format!(
            "Means over replications. {INTERVALS} Surplus: what the policy earned at its best minus what its baseline \
             did at its own, paired by replication.{}",
            chosen(analysis, &tuned)
        ),
        sql: sql::best_earned(&run.configuration_hash, &earned.name, &names),
    }
}

/// The best of the policy that this one is compared with, in the same situation.
fn baseline<'a>(
    analysis: &Analysis,
    given: &[usize],
    best: &[&'a Combination],
    combination: &Combination,
) -> Option<&'a Combination> {
    let name = analysis.studies.baseline(analysis.policy(combination))?;
    let is_beside = |other: &&&Combination| {
        analysis.policy(other) == name
            && (given.iter()).all(|axis| other.places[*axis] == combination.places[*axis])
    };
    best.iter().find(is_beside).copied()
}
