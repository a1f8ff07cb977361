//! Every reported quantity over every axis, per strategy, with 95 % bands.

use std::collections::BTreeMap;

use super::drawn::{Drawn, drawn};
use super::{
    MOST_PANELS, axis_scale, condition, file_name, given, is_numeric, mark, number, titled,
};
use crate::report::analysis::{Analysis, STRATEGY_AXIS, strategy_rank};
use crate::report::figure::{Figure, Mark, Marks, Scale, ScaleKind, Series};
use crate::report::tables::short;

type Panels<'a> = BTreeMap<Vec<Option<u32>>, BTreeMap<(usize, &'a str), Vec<Mark>>>;

/// One figure for every quantity, axis and combination of the other axes, as many as are worth looking at; and how many were
/// left out.
pub(in crate::report) fn curves(
    analysis: &Analysis,
    configuration_hash: &str,
) -> (Vec<Figure>, usize) {
    let mut figures = Vec::new();
    let mut left_out = 0;
    let strategies = analysis
        .axes
        .iter()
        .filter(|axis| axis.key != STRATEGY_AXIS && axis.values.len() > 1)
        .count();
    for quantity in &drawn(analysis, configuration_hash) {
        if strategies == 0 {
            figures.extend(by_strategy(analysis, quantity));
            continue;
        }
        for axis in 0..analysis.axes.len() {
            if analysis.axes[axis].key == STRATEGY_AXIS || analysis.axes[axis].values.len() < 2 {
                continue;
            }
            let panels = panels(analysis, axis, quantity);
            // Axes that were swept together leave one value of this axis in every situation.
            let panels: Panels<'_> = panels
                .into_iter()
                .filter(|(_, curves)| curves.values().any(|marks| marks.len() > 1))
                .collect();
            left_out += panels.len().saturating_sub(MOST_PANELS);
            let alone = panels.len() == 1;
            for (number, (places, curves)) in panels.into_iter().take(MOST_PANELS).enumerate() {
                let mut figure = figure(analysis, axis, &places, curves, quantity);
                if !alone {
                    figure.name = format!("{}-{}", figure.name, number + 1);
                }
                figures.push(figure);
            }
        }
    }
    (figures, left_out)
}

fn others(analysis: &Analysis, axis: usize) -> Vec<usize> {
    (0..analysis.axes.len())
        .filter(|other| *other != axis && analysis.axes[*other].key != STRATEGY_AXIS)
        .collect()
}

fn panels<'a>(analysis: &'a Analysis, axis: usize, quantity: &Drawn) -> Panels<'a> {
    let others = others(analysis, axis);
    let numeric = is_numeric(analysis, axis);
    let mut panels: Panels<'a> = BTreeMap::new();
    for combination in &analysis.combinations {
        let (Some(estimate), Some(value), Some(place)) = (
            quantity.estimate(combination),
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
        let strategy = combination.strategy.as_str();
        panels
            .entry(key)
            .or_default()
            .entry((strategy_rank(strategy), strategy))
            .or_default()
            .push(mark(x, &estimate));
    }
    panels
}

fn figure(
    analysis: &Analysis,
    axis: usize,
    places: &[Option<u32>],
    curves: BTreeMap<(usize, &str), Vec<Mark>>,
    quantity: &Drawn,
) -> Figure {
    let key = &analysis.axes[axis].key;
    let given = given(analysis, &others(analysis, axis), places);
    let numeric = is_numeric(analysis, axis);
    let series = curves
        .into_iter()
        .map(|((rank, strategy), mut marks)| {
            marks.sort_by(|mark, other| mark.x.total_cmp(&other.x));
            Series::new(
                strategy,
                rank,
                if numeric {
                    Marks::Curve(marks)
                } else {
                    Marks::Bars(marks)
                },
            )
        })
        .collect();
    Figure {
        name: format!("{}-by-{}", file_name(&quantity.key), file_name(key)),
        section: quantity.section,
        title: titled(&format!("{} by {}", quantity.title, short(key)), &given),
        x: axis_scale(analysis, axis),
        y: quantity.scale(),
        series,
        note: "Means over replications with 95 % intervals (Student's t).".to_owned(),
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
        note: "Means over replications with 95 % intervals (Student's t).".to_owned(),
        sql: format!(
            "SELECT strategy, count(*) AS n, avg({}) AS mean\nFROM {}\nGROUP BY strategy ORDER BY strategy;",
            quantity.key, quantity.from
        ),
    })
}
