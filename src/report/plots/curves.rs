//! Every reported quantity over every axis, per strategy, with 95 % bands.

use std::collections::BTreeMap;

use super::drawn::{Drawn, drawn};
use super::paired::{Line, Pairs};
use super::{
    MOST_FIRST_PANELS, MOST_FURTHER_PANELS, MOST_PANELS, axis_scale, condition, file_name, given,
    horizontal, is_numeric, mark, number, titled,
};
use crate::analysis::{Analysis, Combination};
use crate::figure::{Figure, Mark, Marks, Scale, ScaleKind, Series};
use crate::statistics::Estimate;
use crate::table::short;

/// Lines by rank and name of their policies.
pub(super) type Curves<'a> = BTreeMap<(usize, &'a str), Line<'a>>;

/// For every quantity a figure over the axis with the most numbers in every situation, and over
/// further axes where that gives few; and how many were left out.
pub(crate) fn curves(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    configuration_hash: &str,
) -> (Vec<Figure>, usize) {
    let mut figures = Vec::new();
    let mut left_out = 0;
    let is_over_none = axes_to_draw_over(analysis).is_empty();
    let quantities = pairs.in_order(drawn(analysis, configuration_hash));
    for (place, quantity) in quantities.iter().enumerate() {
        if is_over_none {
            figures.extend(by_strategy(analysis, quantity));
            continue;
        }
        let estimate = |combination: &Combination| quantity.estimate(combination);
        let most = if place == 0 {
            MOST_FIRST_PANELS
        } else {
            MOST_PANELS
        };
        let (drawn, others) = over_axes(analysis, most, &estimate, |axis, places, curves| {
            figure(analysis, axis, places, curves, (quantity, pairs))
        });
        figures.extend(drawn);
        left_out += others;
    }
    (figures, left_out)
}

/// The axes with several values on which nobody competes, in the order in which they are drawn
/// over.
fn axes_to_draw_over(analysis: &Analysis) -> Vec<usize> {
    let competing = analysis.competing_axis();
    let free: Vec<usize> = (0..analysis.axes.len())
        .filter(|axis| Some(*axis) != competing && analysis.axes[*axis].values.len() > 1)
        .collect();
    let mut over = horizontal(analysis, &free);
    let further = free.iter().filter(|axis| !over.contains(axis));
    over.extend(further.copied().collect::<Vec<_>>());
    over
}

/// The axes but one on which nobody competes: what describes a situation of a figure over that one.
pub(super) fn others(analysis: &Analysis, axis: usize) -> Vec<usize> {
    let competing = analysis.competing_axis();
    (0..analysis.axes.len())
        .filter(|other| *other != axis && Some(*other) != competing)
        .collect()
}

/// Draws an estimate over each axis, with the axis, the places on the others and the lines there,
/// in at most so many situations over the first; numbered where there are several. And how many
/// figures were left out.
pub(super) fn over_axes<'a, Draw>(
    analysis: &'a Analysis,
    most: usize,
    estimate: &dyn Fn(&Combination) -> Option<Estimate>,
    draw: Draw,
) -> (Vec<Figure>, usize)
where
    Draw: Fn(usize, &[Option<u32>], &Curves<'a>) -> Figure,
{
    let (mut figures, mut left_out) = (Vec::new(), 0);
    for (rank, axis) in axes_to_draw_over(analysis).into_iter().enumerate() {
        let mut panels = panels(analysis, axis, estimate);
        // Axes that were swept together leave one value of this axis in every situation.
        panels.retain(|_, curves| curves.values().any(|marks| marks.len() > 1));
        // Further axes are drawn completely or not at all: three of eleven situations would be an
        // accident.
        if rank > 0 && panels.len() > MOST_FURTHER_PANELS {
            left_out += panels.len();
            continue;
        }
        left_out += panels.len().saturating_sub(most);
        let is_alone = panels.len() == 1;
        for (number, (places, curves)) in panels.into_iter().take(most).enumerate() {
            let mut figure = draw(axis, &places, &curves);
            if !is_alone {
                figure.name = format!("{}-{}", figure.name, number + 1);
            }
            figures.push(figure);
        }
    }
    (figures, left_out)
}

fn panels<'a>(
    analysis: &'a Analysis,
    axis: usize,
    estimate: &dyn Fn(&Combination) -> Option<Estimate>,
) -> BTreeMap<Vec<Option<u32>>, Curves<'a>> {
    let others = others(analysis, axis);
    let numeric = is_numeric(analysis, axis);
    let mut panels: BTreeMap<Vec<Option<u32>>, Curves<'a>> = BTreeMap::new();
    for combination in &analysis.combinations {
        let (Some(estimate), Some(value), Some(place)) = (
            estimate(combination),
            analysis.value(combination, axis),
            combination.places[axis],
        ) else {
            continue;
        };
        let x = number(value)
            .filter(|_| numeric)
            .unwrap_or(f64::from(place));
        let key = others
            .iter()
            .map(|other| combination.places[*other])
            .collect();
        let policy = analysis.policy(combination);
        panels
            .entry(key)
            .or_default()
            .entry((analysis.studies.rank(policy), policy))
            .or_default()
            .push((mark(x, &estimate), combination));
    }
    for line in panels.values_mut().flat_map(BTreeMap::values_mut) {
        line.sort_by(|(mark, _), (other, _)| mark.x.total_cmp(&other.x));
    }
    panels
}

/// Marks as they are drawn over an axis: joined where its values are numbers.
pub(super) fn over(analysis: &Analysis, axis: usize, marks: Vec<Mark>) -> Marks {
    match is_numeric(analysis, axis) {
        true => Marks::Curve(marks),
        false => Marks::Bars(marks),
    }
}

fn figure(
    analysis: &Analysis,
    axis: usize,
    places: &[Option<u32>],
    curves: &Curves<'_>,
    (quantity, pairs): (&Drawn, &Pairs<'_>),
) -> Figure {
    let key = &analysis.axes[axis].key;
    let given = given(analysis, &others(analysis, axis), places);
    let series = curves
        .iter()
        .map(|((rank, strategy), line)| {
            let baseline = analysis.studies.baseline(strategy);
            let beside = baseline.and_then(|name| curves.get(&(analysis.studies.rank(name), name)));
            let marks = pairs.marks(quantity, line, beside.map_or(&[], Vec::as_slice));
            let marks = over(analysis, axis, marks);
            Series {
                reference: baseline.map(str::to_owned),
                published: pairs.published(quantity, analysis, line),
                ..Series::new(*strategy, *rank, marks)
            }
        })
        .collect();
    Figure {
        name: format!("{}-by-{}", file_name(&quantity.key), file_name(key)),
        section: quantity.section,
        title: titled(&format!("{} by {}", quantity.title, short(key)), &given),
        x: axis_scale(analysis, axis),
        y: quantity.scale(),
        series,
        note: "Means over replications with 95 % intervals.".to_owned(),
        sql: format!(
            "SELECT strategy, axes ->> '$.\"{key}\"' AS value, count(*) AS n, avg({0}) AS mean,
    sum(({0} - centre) * ({0} - centre)) / (count({0}) - 1) AS variance
FROM (SELECT *, avg({0}) OVER (PARTITION BY axes, strategy) AS centre
      FROM {1}){2}
GROUP BY strategy, axes
ORDER BY strategy, value;",
            quantity.key,
            quantity.from,
            condition(&given).replacen("\n    AND", "\nWHERE", 1)
        ),
        given,
    }
}

/// Without any other axis, the strategies beside each other.
fn by_strategy(analysis: &Analysis, quantity: &Drawn) -> Option<Figure> {
    let mut names = Vec::new();
    let mut marks = Vec::new();
    for combination in &analysis.combinations {
        if let Some(estimate) = quantity.estimate(combination) {
            marks.push(mark(names.len() as f64, &estimate));
            names.push(combination.strategy.clone());
        }
    }
    (!names.is_empty()).then(|| Figure {
        name: format!("{}-by-strategy", file_name(&quantity.key)),
        section: quantity.section,
        title: format!("{} by strategy", quantity.title),
        given: Vec::new(),
        x: Scale {
            title: "strategy".to_owned(),
            kind: ScaleKind::Categories(names),
        },
        y: quantity.scale(),
        series: vec![Series::new(quantity.title.as_str(), 0, Marks::Bars(marks))],
        note: "Means over replications with 95 % intervals.".to_owned(),
        sql: format!(
            "SELECT strategy, count(*) AS n, avg({}) AS mean\nFROM {}\nGROUP BY strategy ORDER BY strategy;",
            quantity.key, quantity.from
        ),
    })
}
