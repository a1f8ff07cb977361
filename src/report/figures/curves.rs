//! Every reported quantity over every axis, per strategy, with 95 % bands.

use std::collections::BTreeMap;

use super::{condition, file_name, given, number, titled};
use crate::report::analysis::{Analysis, METRICS, Metric, STRATEGY_AXIS, strategy_rank};
use crate::report::figure::{Figure, Mark, Marks, Scale, ScaleKind, Section, Series};
use crate::report::sql::this_run;
use crate::report::table::value_text;
use crate::report::tables::short;

/// A numeric axis with fewer values makes no curve, only bars.
const FEWEST_VALUES: usize = 3;
/// More situations than this an axis are left to the tables.
const MOST_PANELS: usize = 24;
/// Quantities that are drawn, each in its section; the others stand in the tables.
const DRAWN: [(&str, Section); 10] = [
    ("gain", Section::Money),
    ("fees", Section::Money),
    ("penalties", Section::Money),
    ("successful", Section::Jobs),
    ("failed", Section::Jobs),
    ("rejection_rate", Section::Jobs),
    ("overbooked", Section::Jobs),
    ("utilisation", Section::Machine),
    ("mean_wait", Section::Waits),
    ("slowdown", Section::Waits),
];

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
    for (index, metric) in METRICS.iter().enumerate() {
        let Some((_, section)) = DRAWN.iter().find(|(key, _)| *key == metric.key) else {
            continue;
        };
        if strategies == 0 {
            figures.extend(by_strategy(
                analysis,
                index,
                metric,
                *section,
                configuration_hash,
            ));
            continue;
        }
        for axis in 0..analysis.axes.len() {
            if analysis.axes[axis].key == STRATEGY_AXIS || analysis.axes[axis].values.len() < 2 {
                continue;
            }
            let panels = panels(analysis, axis, index);
            // Axes that were swept together leave one value of this axis in every situation.
            let panels: Panels<'_> = panels
                .into_iter()
                .filter(|(_, curves)| curves.values().any(|marks| marks.len() > 1))
                .collect();
            left_out += panels.len().saturating_sub(MOST_PANELS);
            let alone = panels.len() == 1;
            for (number, (places, curves)) in panels.into_iter().take(MOST_PANELS).enumerate() {
                let mut figure = figure(
                    analysis,
                    axis,
                    &places,
                    curves,
                    metric,
                    *section,
                    configuration_hash,
                );
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

fn is_numeric(analysis: &Analysis, axis: usize) -> bool {
    let values = &analysis.axes[axis].values;
    values.len() >= FEWEST_VALUES && values.iter().all(|value| number(value).is_some())
}

fn panels<'a>(analysis: &'a Analysis, axis: usize, metric: usize) -> Panels<'a> {
    let others = others(analysis, axis);
    let numeric = is_numeric(analysis, axis);
    let mut panels: Panels<'a> = BTreeMap::new();
    for combination in &analysis.combinations {
        let (Some(estimate), Some(value), Some(place)) = (
            combination.estimates[metric],
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
            .push(Mark {
                x,
                mean: estimate.mean,
                low: estimate.low().unwrap_or(estimate.mean),
                high: estimate.high().unwrap_or(estimate.mean),
                count: u64::from(estimate.count),
            });
    }
    panels
}

fn figure(
    analysis: &Analysis,
    axis: usize,
    places: &[Option<u32>],
    curves: BTreeMap<(usize, &str), Vec<Mark>>,
    metric: &Metric,
    section: Section,
    configuration_hash: &str,
) -> Figure {
    let key = &analysis.axes[axis].key;
    let given = given(analysis, &others(analysis, axis), places);
    let numeric = is_numeric(analysis, axis);
    let series = curves
        .into_iter()
        .map(|((rank, strategy), mut marks)| {
            marks.sort_by(|mark, other| mark.x.total_cmp(&other.x));
            Series {
                label: strategy.to_owned(),
                rank,
                marks: if numeric {
                    Marks::Curve(marks)
                } else {
                    Marks::Bars(marks)
                },
            }
        })
        .collect();
    let kind = if numeric {
        ScaleKind::Linear
    } else {
        let names = analysis.axes[axis].values.iter().map(value_text).collect();
        ScaleKind::Categories(names)
    };
    Figure {
        name: format!("{}-by-{}", file_name(metric.key), file_name(key)),
        section,
        title: titled(&format!("{} by {}", metric.title, short(key)), &given),
        x: Scale {
            title: key.clone(),
            kind,
        },
        y: scale_of(metric),
        series,
        note: "Means over replications with 95 % intervals (Student's t).".to_owned(),
        sql: format!(
            "SELECT strategy, axes ->> '$.\"{key}\"' AS value, count(*) AS n, avg({0}) AS mean,
    sum(({0} - centre) * ({0} - centre)) / (count({0}) - 1) AS variance
FROM (SELECT *, avg({0}) OVER (PARTITION BY axes, strategy) AS centre
      FROM v_point WHERE state = 'done' AND run = {1}){2}
GROUP BY strategy, axes
ORDER BY strategy, value;",
            metric.key,
            this_run(configuration_hash),
            condition(&given).replacen("\n    AND", "\nWHERE", 1)
        ),
        given,
    }
}

/// Without any other axis, the strategies beside each other.
fn by_strategy(
    analysis: &Analysis,
    index: usize,
    metric: &Metric,
    section: Section,
    configuration_hash: &str,
) -> Option<Figure> {
    let mut names = Vec::new();
    let mut marks = Vec::new();
    for combination in &analysis.combinations {
        if let Some(estimate) = combination.estimates[index] {
            marks.push(Mark {
                x: names.len() as f64,
                mean: estimate.mean,
                low: estimate.low().unwrap_or(estimate.mean),
                high: estimate.high().unwrap_or(estimate.mean),
                count: u64::from(estimate.count),
            });
            names.push(combination.strategy.clone());
        }
    }
    (!names.is_empty()).then(|| Figure {
        name: format!("{}-by-strategy", file_name(metric.key)),
        section,
        title: format!("{} by strategy", metric.title),
        given: Vec::new(),
        x: Scale {
            title: "strategy".to_owned(),
            kind: ScaleKind::Categories(names),
        },
        y: scale_of(metric),
        series: vec![Series {
            label: metric.title.to_owned(),
            rank: 0,
            marks: Marks::Bars(marks),
        }],
        note: "Means over replications with 95 % intervals (Student's t).".to_owned(),
        sql: format!(
            "SELECT strategy, count(*) AS n, avg({}) AS mean\nFROM v_point WHERE state = 'done' AND run = {}\nGROUP BY strategy ORDER BY strategy;",
            metric.key,
            this_run(configuration_hash)
        ),
    })
}

fn scale_of(metric: &Metric) -> Scale {
    Scale {
        title: metric.title.to_owned(),
        kind: ScaleKind::Linear,
    }
}
