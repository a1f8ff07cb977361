//! Distributions of waits and slowdowns, read off the counts that were kept with every simulation.

use super::situations::{Situation, situations};
use super::{condition, file_name, titled};
use crate::analysis::{Analysis, STRATEGY_AXIS};
use crate::figure::{BoxMark, Figure, Marks, Scale, ScaleKind, Section, Series};
use crate::sql::this_run;
use crate::table::value_text;
use bookahead_lab::store::{Bin, PointColumns, Quantity, Store, StoreError};

/// More situations than this are left to SQL.
const MOST_SITUATIONS: usize = 12;
const NOTE: &str = "Read off counts in bins of a sixteenth of a decade: values are the upper edges of bins, at most 15.5 % \
                    above the true ones. All replications together.";

/// For every situation (a combination of the axes that are neither strategy nor tuned): the shares
/// of jobs by wait and by slowdown of every strategy at its best value, and boxes over the tuned
/// axis.
///
/// # Errors
///
/// When the store cannot be read.
pub(crate) fn distributions(
    store: &Store,
    points: &PointColumns,
    analysis: &Analysis,
    configuration_hash: &str,
) -> Result<Vec<Figure>, StoreError> {
    let mut figures = Vec::new();
    let situations = situations(analysis, MOST_SITUATIONS);
    for quantity in [Quantity::Wait, Quantity::Slowdown] {
        for Situation {
            given,
            suffix,
            members,
        } in &situations
        {
            let mut series = Vec::new();
            for member in members {
                let bins = store.histogram(&member.combination.simulations(points), quantity)?;
                let steps = shares(&bins, 1.0);
                if !steps.is_empty() {
                    series.push(Series::new(
                        member.label.clone(),
                        member.rank,
                        Marks::Steps(steps),
                    ));
                }
            }
            if series.is_empty() {
                continue;
            }
            let (name, title, unit) = words(quantity);
            figures.push(Figure {
                name: format!("{name}-distribution{suffix}"),
                section: Section::Distributions,
                title: titled(
                    &if analysis.is_study() {
                        format!("Jobs by {title}")
                    } else {
                        format!("Jobs by {title}, every strategy at its best value")
                    },
                    given,
                ),
                x: Scale::logarithmic(format!("{title}{unit}")),
                y: Scale::linear("share of jobs at or below"),
                series,
                note: NOTE.to_owned(),
                sql: sql(name, configuration_hash, given),
                given: given.clone(),
            });
        }
        for axis in analysis.tuned_axes() {
            figures.extend(boxes(
                store,
                points,
                analysis,
                axis,
                quantity,
                configuration_hash,
            )?);
        }
    }
    Ok(figures)
}

fn words(quantity: Quantity) -> (&'static str, &'static str, &'static str) {
    match quantity {
        Quantity::Wait => ("wait", "wait", " (s)"),
        Quantity::Slowdown => ("slowdown", "slowdown", ""),
    }
}

fn sql(name: &str, configuration_hash: &str, given: &[(String, String)]) -> String {
    format!(
        "SELECT p.strategy, p.axes, h.low, h.high, sum(h.count) AS jobs
FROM (SELECT DISTINCT strategy, axes, simulation FROM v_point
      WHERE state = 'done' AND run = {}{}) p
JOIN v_histogram h ON h.simulation = p.simulation AND h.quantity = '{name}'
GROUP BY p.strategy, p.axes, h.bin
ORDER BY p.strategy, p.axes, h.bin;",
        this_run(configuration_hash),
        condition(given)
    )
}

/// Boxes over a tuned axis, where it has few enough values to stand beside each other and one
/// situation.
fn boxes(
    store: &Store,
    points: &PointColumns,
    analysis: &Analysis,
    axis: usize,
    quantity: Quantity,
    configuration_hash: &str,
) -> Result<Option<Figure>, StoreError> {
    let values = &analysis.axes[axis].values;
    let alone = (0..analysis.axes.len()).all(|other| {
        other == axis
            || analysis.axes[other].key == STRATEGY_AXIS
            || analysis.axes[other].values.len() == 1
    });
    if !alone || values.len() > 24 {
        return Ok(None);
    }
    let mut series: Vec<Series> = Vec::new();
    for combination in &analysis.combinations {
        let Some(place) = combination.places[axis] else {
            continue;
        };
        let bins = store.histogram(&combination.simulations(points), quantity)?;
        let Some(mark) = box_mark(&bins, f64::from(place)) else {
            continue;
        };
        match series
            .iter_mut()
            .find(|series| series.label == combination.strategy)
        {
            Some(series) => {
                if let Marks::Boxes(boxes) = &mut series.marks {
                    boxes.push(mark);
                }
            }
            None => series.push(Series::new(
                combination.strategy.clone(),
                analysis.studies.rank(&combination.strategy),
                Marks::Boxes(vec![mark]),
            )),
        }
    }
    series.sort_by_key(|series| (series.rank, series.label.clone()));
    let (name, title, unit) = words(quantity);
    let key = &analysis.axes[axis].key;
    Ok((!series.is_empty()).then(|| Figure {
        name: format!("{name}-boxes-by-{}", file_name(key)),
        section: Section::Distributions,
        title: format!("Jobs by {title} over {}", crate::table::short(key)),
        given: Vec::new(),
        x: Scale {
            title: key.clone(),
            kind: ScaleKind::Categories(values.iter().map(value_text).collect()),
        },
        y: Scale::logarithmic(format!("{title}{unit}")),
        series,
        note: format!("Boxes hold the middle half, whiskers reach from 5 to 95 %; what is below 1 stands at the lower end of the scale. {NOTE}"),
        sql: sql(name, configuration_hash, &[]),
    }))
}

/// `(upper edge, share at or below)` of every bin that has jobs; those of the first bin stand at
/// its upper edge, `least`.
pub fn shares(bins: &[Bin], least: f64) -> Vec<(f64, f64)> {
    let total: u64 = bins.iter().map(|bin| bin.count).sum();
    let mut below = 0;
    bins.iter()
        .filter(|bin| bin.count > 0)
        .map(|bin| {
            below += bin.count;
            (bin.high.max(least), below as f64 / total as f64)
        })
        .collect()
}

fn box_mark(bins: &[Bin], x: f64) -> Option<BoxMark> {
    let count: u64 = bins.iter().map(|bin| bin.count).sum();
    if count == 0 {
        return None;
    }
    let quantile = |share: f64| {
        let wanted = (share * count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        bins.iter()
            .find(|bin| {
                below += bin.count;
                below >= wanted
            })
            .map_or(f64::NAN, |bin| bin.high)
    };
    let middle = |bin: &Bin| (bin.low * bin.high).sqrt();
    let sum: f64 = bins.iter().map(|bin| middle(bin) * bin.count as f64).sum();
    Some(BoxMark {
        x,
        quantiles: [0.05, 0.25, 0.5, 0.75, 0.95].map(quantile),
        mean: sum / count as f64,
        count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_upper_edges_of_the_bins_that_hold_them() {
        let bins = [
            Bin {
                low: 0.0,
                high: 0.0,
                count: 2,
            },
            Bin {
                low: 1.0,
                high: 10.0,
                count: 0,
            },
            Bin {
                low: 10.0,
                high: 100.0,
                count: 6,
            },
            Bin {
                low: 100.0,
                high: 1000.0,
                count: 2,
            },
        ];
        let mark = box_mark(&bins, 3.0).unwrap();
        assert_eq!(mark.quantiles, [0.0, 100.0, 100.0, 100.0, 1000.0]);
        assert_eq!((mark.count, mark.x), (10, 3.0));
        assert_eq!(
            shares(&bins, 1.0),
            [(1.0, 0.2), (100.0, 0.8), (1000.0, 1.0)]
        );
        assert_eq!(box_mark(&[], 0.0), None);
    }
}
