//! Curves of the mean gain over a numeric axis with 95 % bands, as SVG written by hand: no font, script or network needed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::analysis::{Analysis, Combination, STRATEGY_AXIS, strategy_rank};
use super::table::{grouped, value_text};
use super::tables::short;
use crate::sweep::AxisValue;

/// Axes with fewer values make no curve.
const FEWEST_VALUES: usize = 3;
/// More situations than this an axis are left to the CSV files.
const MOST_PANELS: usize = 24;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 104.0;
const LEGEND_LEFT: f64 = 30.0;

/// Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
const COLOURS: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
];

/// One picture.
pub(super) struct Plot {
    /// Name of its file, without extension.
    pub(super) name: String,
    /// Its heading.
    pub(super) title: String,
    /// The whole file.
    pub(super) svg: String,
}

/// One picture for every numeric axis and every combination of the other axes, one curve for every strategy.
pub(super) fn gain_plots(analysis: &Analysis) -> Vec<Plot> {
    (0..analysis.axes.len())
        .filter(|axis| is_numeric(&analysis.axes[*axis].values))
        .flat_map(|axis| axis_plots(analysis, axis))
        .collect()
}

fn is_numeric(values: &[AxisValue]) -> bool {
    values.len() >= FEWEST_VALUES && values.iter().all(|value| number(value).is_some())
}

fn number(value: &AxisValue) -> Option<f64> {
    match value {
        AxisValue::Integer(value) => Some(*value as f64),
        AxisValue::Real(value) if value.is_finite() => Some(*value),
        _ => None,
    }
}

type Panels<'a> = BTreeMap<Vec<Option<u32>>, BTreeMap<(usize, &'a str), Vec<Mark>>>;

/// A point of a curve: abscissa, mean and the ends of its interval.
#[derive(Clone, Copy)]
struct Mark {
    x: f64,
    mean: f64,
    low: f64,
    high: f64,
}

fn axis_plots(analysis: &Analysis, axis: usize) -> Vec<Plot> {
    let others: Vec<usize> = (0..analysis.axes.len())
        .filter(|other| *other != axis && analysis.axes[*other].key != STRATEGY_AXIS)
        .collect();
    let mut panels: Panels<'_> = BTreeMap::new();
    for combination in &analysis.combinations {
        let Some(mark) = mark(analysis, combination, axis) else {
            continue;
        };
        let panel = others
            .iter()
            .map(|other| combination.places[*other])
            .collect();
        let strategy = combination.strategy.as_str();
        panels
            .entry(panel)
            .or_default()
            .entry((strategy_rank(strategy), strategy))
            .or_default()
            .push(mark);
    }
    let key = &analysis.axes[axis].key;
    let file: String = key
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    let alone = panels.len() == 1;
    panels
        .into_iter()
        .take(MOST_PANELS)
        .enumerate()
        .map(|(index, (panel, mut curves))| {
            for marks in curves.values_mut() {
                marks.sort_by(|mark, other| mark.x.total_cmp(&other.x));
            }
            let situation: Vec<String> = others
                .iter()
                .zip(&panel)
                .filter_map(|(other, place)| {
                    let value = analysis.axes[*other].values.get((*place)? as usize)?;
                    Some(format!(
                        "{} {}",
                        short(&analysis.axes[*other].key),
                        value_text(value)
                    ))
                })
                .collect();
            let title = if situation.is_empty() {
                format!("Mean gain by {}", short(key))
            } else {
                format!("Mean gain by {} ({})", short(key), situation.join(", "))
            };
            Plot {
                name: if alone {
                    format!("gain-by-{file}")
                } else {
                    format!("gain-by-{file}-{}", index + 1)
                },
                svg: draw(&title, key, &curves),
                title,
            }
        })
        .collect()
}

fn mark(analysis: &Analysis, combination: &Combination, axis: usize) -> Option<Mark> {
    let gain = combination.estimates[0]?;
    Some(Mark {
        x: number(analysis.value(combination, axis)?)?,
        mean: gain.mean,
        low: gain.low().unwrap_or(gain.mean),
        high: gain.high().unwrap_or(gain.mean),
    })
}

/// A linear scale from data to the picture.
struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }
}

/// Round steps of 1, 2 or 5 times a power of ten that cover the range in about `count` steps.
fn ticks(from: f64, to: f64, count: f64) -> (Vec<f64>, usize) {
    let raw = (to - from) / count;
    let power = 10f64.powi(raw.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= raw * 0.999)
        .unwrap_or(raw);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let first = (from / step).floor() as i64;
    let last = (to / step).ceil() as i64;
    (
        (first..=last).map(|index| index as f64 * step).collect(),
        decimals,
    )
}

fn draw(title: &str, axis: &str, curves: &BTreeMap<(usize, &str), Vec<Mark>>) -> String {
    let marks = || curves.values().flatten();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (from, to) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| {
            (from.min(value), to.max(value))
        });
        if to > from {
            (from, to)
        } else {
            (from - 1.0, from + 1.0)
        }
    };
    let (x_from, x_to) = range(&mut marks().map(|mark| mark.x));
    let (low, high) = range(&mut marks().flat_map(|mark| [mark.low, mark.high]));
    let (x_ticks, x_decimals) = ticks(x_from, x_to, 10.0);
    let (y_ticks, y_decimals) = ticks(low, high, 6.0);
    let ends = |ticks: &[f64]| (ticks[0], ticks[ticks.len() - 1]);
    let (from, to) = ends(&y_ticks);
    let x = Scale {
        from: x_from,
        to: x_to,
        start: LEFT,
        end: WIDTH - RIGHT,
    };
    let y = Scale {
        from,
        to,
        start: HEIGHT - BOTTOM,
        end: TOP,
    };

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{0}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{0}</text>\n",
        escape(title)
    );
    for tick in &y_ticks {
        let place = y.at(*tick);
        line(&mut svg, (LEFT, place), (WIDTH - RIGHT, place), "#dddddd");
        text(
            &mut svg,
            (LEFT - 8.0, place + 4.0),
            "end",
            &grouped(*tick, y_decimals),
        );
    }
    for tick in x_ticks
        .iter()
        .filter(|tick| **tick >= x_from - 1e-9 && **tick <= x_to + 1e-9)
    {
        let place = x.at(*tick);
        line(
            &mut svg,
            (place, HEIGHT - BOTTOM),
            (place, HEIGHT - BOTTOM + 5.0),
            "#444444",
        );
        text(
            &mut svg,
            (place, HEIGHT - BOTTOM + 19.0),
            "middle",
            &grouped(*tick, x_decimals),
        );
    }
    line(
        &mut svg,
        (LEFT, HEIGHT - BOTTOM),
        (WIDTH - RIGHT, HEIGHT - BOTTOM),
        "#444444",
    );
    text(
        &mut svg,
        (f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - BOTTOM + 38.0),
        "middle",
        axis,
    );
    let _ = writeln!(
        svg,
        "<text transform=\"translate(18 {:.1}) rotate(-90)\" text-anchor=\"middle\">mean gain (VC), 95 % band</text>",
        f64::midpoint(TOP, HEIGHT - BOTTOM)
    );
    let (mut left, mut top) = (LEGEND_LEFT, HEIGHT - BOTTOM + 62.0);
    for (index, ((rank, strategy), marks)) in curves.iter().enumerate() {
        // A strategy has the same colour in every picture.
        let colour = COLOURS[(*rank).min(index + COLOURS.len()) % COLOURS.len()];
        let upper = marks.iter().map(|mark| (x.at(mark.x), y.at(mark.high)));
        let lower = marks
            .iter()
            .rev()
            .map(|mark| (x.at(mark.x), y.at(mark.low)));
        let _ = writeln!(
            svg,
            "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.18\"/>",
            path(upper.chain(lower))
        );
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path(marks.iter().map(|mark| (x.at(mark.x), y.at(mark.mean))))
        );
        for mark in marks {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{colour}\"><title>{}: {} [{}, {}]</title></circle>",
                x.at(mark.x),
                y.at(mark.mean),
                escape(strategy),
                grouped(mark.mean, 0),
                grouped(mark.low, 0),
                grouped(mark.high, 0)
            );
        }
        // Sans-serif letters of this size are about 6.7 wide on average.
        let width = 40.0 + 6.7 * strategy.chars().count() as f64;
        if left + width > WIDTH && left > LEGEND_LEFT {
            left = LEGEND_LEFT;
            top += 17.0;
        }
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"14\" height=\"5\" fill=\"{colour}\"/>",
            top - 7.0
        );
        text(&mut svg, (left + 19.0, top), "start", strategy);
        left += width;
    }
    svg.push_str("</svg>\n");
    svg
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let pairs: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    pairs.join(" ")
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, content: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
        at.0,
        at.1,
        escape(content)
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        assert_eq!(
            ticks(9_100.0, 28_700.0, 6.0).0,
            [5_000.0, 10_000.0, 15_000.0, 20_000.0, 25_000.0, 30_000.0]
        );
        let (steps, decimals) = ticks(0.05, 1.0, 10.0);
        assert_eq!((steps[0], steps.len(), decimals), (0.0, 11, 1));
    }
}
