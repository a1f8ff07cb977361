//! What policies earn more than their baselines where both saw the same, over the axes of a run.

use std::collections::{BTreeMap, HashMap};

use super::drawn::drawn;
use super::paired::Pairs;
use super::{
    MOST_FURTHER_PANELS, MOST_PANELS, axis_scale, condition, file_name, given, horizontal,
    is_numeric, mark, number, titled,
};
use crate::analysis::{Analysis, Combination, STRATEGY_AXIS};
use crate::figure::{Figure, Mark, Marks, Scale, Section, Series};
use crate::sql;
use crate::statistics::Estimate;
use crate::table::short;

/// Marks of each policy, by its rank and name.
type Lines<'a> = BTreeMap<(usize, &'a str), Vec<Mark>>;

/// The surplus of every policy that has a baseline over the axis with the most numbers, and over
/// further axes where that gives few situations; none where nothing is earned.
pub(crate) fn surplus(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    configuration_hash: &str,
) -> Vec<Figure> {
    if !analysis.is_earning() {
        return Vec::new();
    }
    let found = surpluses(analysis, pairs, configuration_hash);
    let competing = competing_axis(analysis);
    let free: Vec<usize> = (0..analysis.axes.len())
        .filter(|axis| Some(*axis) != competing && analysis.axes[*axis].values.len() > 1)
        .collect();
    let mut over = horizontal(analysis, &free);
    let further = free.iter().filter(|axis| !over.contains(axis));
    over.extend(further.copied().collect::<Vec<_>>());
    let mut figures = Vec::new();
    for (rank, axis) in over.into_iter().enumerate() {
        let others: Vec<usize> = (0..analysis.axes.len())
            .filter(|other| *other != axis && Some(*other) != competing)
            .collect();
        let panels = panels(analysis, &found, axis, &others);
        if rank > 0 && panels.len() > MOST_FURTHER_PANELS {
            continue;
        }
        let is_alone = panels.len() == 1;
        for (number, (places, lines)) in panels.into_iter().take(MOST_PANELS).enumerate() {
            let key = &analysis.axes[axis].key;
            let given = given(analysis, &others, &places);
            let fixed = condition(&given).replacen("\n    AND", "\nWHERE", 1);
            let suffix = match is_alone {
                true => String::new(),
                false => format!("-{}", number + 1),
            };
            figures.push(Figure {
                name: format!("surplus-by-{}{suffix}", file_name(key)),
                section: Section::Money,
                title: titled(
                    &format!("Surplus over the baseline by {}", short(key)),
                    &given,
                ),
                x: axis_scale(analysis, axis),
                y: Scale::linear("Surplus (VC)"),
                series: series(analysis, axis, lines),
                note: "Mean differences from the baseline of each policy, paired by replication, \
                       with 95 % intervals of the difference: where one does not hold 0, it is \
                       significant."
                    .to_owned(),
                sql: sql::surplus(configuration_hash, analysis, key, &fixed),
                given,
            });
        }
    }
    figures
}

/// The axis whose values compete.
pub(super) fn competing_axis(analysis: &Analysis) -> Option<usize> {
    let strategies = || {
        let mut axes = analysis.axes.iter();
        axes.position(|axis| axis.key == STRATEGY_AXIS)
    };
    analysis.competitors().or_else(strategies)
}

/// What each combination earns more than its baseline, in the order of the combinations; `None`
/// where there is none beside it.
pub(super) fn surpluses(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    configuration_hash: &str,
) -> Vec<Option<Estimate>> {
    let combinations = analysis.combinations.iter();
    let Some(competing) = analysis.competitors() else {
        return combinations
            .map(|combination| Some(combination.additional?.difference))
            .collect();
    };
    let Some(earned) = drawn(analysis, configuration_hash).into_iter().next() else {
        return vec![None; analysis.combinations.len()];
    };
    let elsewhere = |combination: &Combination| -> Vec<Option<u32>> {
        let places = combination.places.iter().enumerate();
        let others = places.filter(|(axis, _)| *axis != competing);
        others.map(|(_, place)| *place).collect()
    };
    let by_policy: HashMap<(&str, Vec<Option<u32>>), &Combination> = combinations
        .clone()
        .map(|combination| {
            let policy = analysis.policy(combination);
            ((policy, elsewhere(combination)), combination)
        })
        .collect();
    combinations
        .map(|combination| {
            let baseline = analysis.studies.baseline(analysis.policy(combination))?;
            let beside = by_policy.get(&(baseline, elsewhere(combination)))?;
            let difference = pairs.difference(&earned, combination, beside)?;
            Some(difference.estimate)
        })
        .collect()
}

/// The lines of each situation over an axis; without those that have one place alone.
fn panels<'a>(
    analysis: &'a Analysis,
    surpluses: &[Option<Estimate>],
    axis: usize,
    others: &[usize],
) -> BTreeMap<Vec<Option<u32>>, Lines<'a>> {
    let is_numeric = is_numeric(analysis, axis);
    let mut panels: BTreeMap<Vec<Option<u32>>, Lines<'a>> = BTreeMap::new();
    for (combination, difference) in analysis.combinations.iter().zip(surpluses) {
        let (Some(difference), Some(value), Some(place)) = (
            difference,
            analysis.value(combination, axis),
            combination.places[axis],
        ) else {
            continue;
        };
        let x = number(value).filter(|_| is_numeric);
        let policy = analysis.policy(combination);
        let situation = others.iter().map(|other| combination.places[*other]);
        panels
            .entry(situation.collect())
            .or_default()
            .entry((analysis.studies.rank(policy), policy))
            .or_default()
            .push(mark(x.unwrap_or(f64::from(place)), difference));
    }
    panels.retain(|_, lines| lines.values().any(|marks| marks.len() > 1));
    for marks in panels.values_mut().flat_map(BTreeMap::values_mut) {
        marks.sort_by(|mark, other| mark.x.total_cmp(&other.x));
    }
    panels
}

fn series(analysis: &Analysis, axis: usize, lines: Lines<'_>) -> Vec<Series> {
    let is_numeric = is_numeric(analysis, axis);
    let lines = lines.into_iter();
    lines
        .map(|((rank, policy), marks)| {
            let marks = match is_numeric {
                true => Marks::Curve(marks),
                false => Marks::Bars(marks),
            };
            Series::new(policy, rank, marks)
        })
        .collect()
}
