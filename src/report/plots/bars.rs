//! Bars of related measures: the combinations of one figure, and its query.

use std::collections::BTreeMap;

use super::{condition, given};
use crate::analysis::{Analysis, Combination};
use crate::sql::this_run;

/// More situations than this are left to the tables.
const MOST_SITUATIONS: usize = 12;
/// What a reader of the bars must know.
pub const NOTE: &str = "Means over replications with 95 % intervals.";

pub(crate) type Panel<'a> = (Vec<(String, String)>, String, Vec<&'a Combination>);

/// Combinations by their values on the axes that a figure does not show, with what tells the
/// figures apart.
pub fn panels<'a>(
    analysis: &'a Analysis,
    free: &[usize],
    shown: &[usize],
    measures: &[usize],
) -> impl Iterator<Item = Panel<'a>> {
    let others: Vec<usize> = free
        .iter()
        .copied()
        .filter(|axis| !shown.contains(axis))
        .collect();
    let mut panels: BTreeMap<Vec<Option<u32>>, Vec<&'a Combination>> = BTreeMap::new();
    // A run may have points of other machines, which measure other things.
    let measured = analysis.combinations.iter().filter(|combination| {
        measures
            .iter()
            .any(|index| combination.measured[*index].is_some())
    });
    for combination in measured {
        let key = others
            .iter()
            .map(|axis| combination.places[*axis])
            .collect();
        panels.entry(key).or_default().push(combination);
    }
    let alone = panels.len() == 1;
    panels
        .into_iter()
        .take(MOST_SITUATIONS)
        .enumerate()
        .map(move |(number, (places, members))| {
            let suffix = if alone {
                String::new()
            } else {
                format!("-{}", number + 1)
            };
            (given(analysis, &others, &places), suffix, members)
        })
}

/// Means and variances of the measures.
pub fn sql(measures: &[&str], given: &[(String, String)], configuration_hash: &str) -> String {
    let names: Vec<String> = measures
        .iter()
        .map(|measure| format!("'{measure}'"))
        .collect();
    format!(
        "SELECT axes, strategy, measure, count(*) AS n, avg(value) AS mean,
    sum((value - centre) * (value - centre)) / (count(*) - 1) AS variance
FROM (SELECT *, avg(value) OVER (PARTITION BY axes, strategy, measure) AS centre
      FROM v_measure WHERE run = {}{}
    AND measure IN ({}))
GROUP BY axes, strategy, measure
ORDER BY axes, strategy, measure;",
        this_run(configuration_hash),
        condition(given),
        names.join(", ")
    )
}
