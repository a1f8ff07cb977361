//! The figures of a report: one file for each kind of figure, made from readers of the store or
//! from the folded points.

pub mod bars;
mod course;
mod curves;
pub mod distributions;
pub mod drawn;
mod heat;
pub mod lines;
pub mod paired;
mod simulator;
pub mod situations;
pub mod studies;
mod surplus;

pub(super) use curves::curves;
pub(super) use distributions::distributions;
pub(super) use heat::heat_maps;
pub(super) use simulator::simulator;
pub(super) use studies::studies;
pub(super) use surplus::surplus;

use super::analysis::{Analysis, Combination};
use super::figure::{Mark, Scale};
use super::statistics::Estimate;
use super::table::value_text;
use bookahead_lab::sweep::AxisValue;

/// A number on an axis.
pub fn number(value: &AxisValue) -> Option<f64> {
    match value {
        AxisValue::Integer(value) => Some(*value as f64),
        AxisValue::Real(value) if value.is_finite() => Some(*value),
        _ => None,
    }
}

/// A numeric axis with fewer values makes no curve, only bars.
const FEWEST_VALUES: usize = 3;
/// Of the first quantity more situations than this over an axis are left to the tables: what a
/// reader of the first screen can choose.
const MOST_FIRST_PANELS: usize = 96;
/// And of the others.
const MOST_PANELS: usize = 24;
/// Over the other axes fewer are worth looking at.
const MOST_FURTHER_PANELS: usize = 3;

/// Whether the values of an axis are numbers.
fn is_ordered(analysis: &Analysis, axis: usize) -> bool {
    let mut values = analysis.axes[axis].values.iter();
    values.all(|value| number(value).is_some())
}

/// Whether curves are drawn over an axis.
fn is_numeric(analysis: &Analysis, axis: usize) -> bool {
    analysis.axes[axis].values.len() >= FEWEST_VALUES && is_ordered(analysis, axis)
}

/// The axes that curves are drawn over, the main one first.
fn horizontal(analysis: &Analysis, free: &[usize]) -> Vec<usize> {
    let mut numeric: Vec<usize> = free
        .iter()
        .copied()
        .filter(|axis| is_numeric(analysis, *axis))
        .collect();
    // The last of the longest: files list what varies fastest last.
    numeric.reverse();
    numeric.sort_by_key(|axis| std::cmp::Reverse(analysis.axes[*axis].values.len()));
    if numeric.is_empty() {
        let longest = free
            .iter()
            .copied()
            .rev()
            .max_by_key(|axis| analysis.axes[*axis].values.len());
        numeric.extend(longest);
    }
    numeric
}

/// The scale of an axis of the sweep.
fn axis_scale(analysis: &Analysis, axis: usize) -> Scale {
    let key = analysis.axes[axis].key.as_str();
    if is_numeric(analysis, axis) {
        Scale::linear(key)
    } else {
        Scale::categories(key, analysis.axes[axis].values.iter().map(value_text))
    }
}

/// A mean with its interval at a place.
pub fn mark(x: f64, estimate: &Estimate) -> Mark {
    Mark {
        x,
        mean: estimate.mean,
        low: estimate.low().unwrap_or(estimate.mean),
        high: estimate.high().unwrap_or(estimate.mean),
        interval: None,
        count: u64::from(estimate.count),
        paired: None,
    }
}

/// One value, of one simulation.
pub fn single(x: f64, value: f64) -> Mark {
    Mark::value(x, value, 1)
}

/// A mean with one standard deviation at a place.
fn spread(x: f64, estimate: &Estimate) -> Mark {
    let deviation = estimate.deviation.unwrap_or(0.0);
    let mark = mark(x, estimate);
    Mark {
        low: estimate.mean - deviation,
        high: estimate.mean + deviation,
        interval: Some(mark.interval()),
        ..mark
    }
}

/// `(key, value)` of the axes in `others` at these places.
pub(super) fn given(
    analysis: &Analysis,
    others: &[usize],
    places: &[Option<u32>],
) -> Vec<(String, String)> {
    others
        .iter()
        .zip(places)
        .filter_map(|(other, place)| {
            let axis = &analysis.axes[*other];
            let value = axis.values.get((*place)? as usize)?;
            Some((axis.key.clone(), value_text(value)))
        })
        .collect()
}

/// `(key, value)` of a combination on the axes that differ between combinations.
pub fn varying(analysis: &Analysis, combination: &Combination) -> Vec<(String, String)> {
    let axes: Vec<usize> = (0..analysis.axes.len())
        .filter(|axis| analysis.axes[*axis].values.len() > 1)
        .collect();
    let places: Vec<Option<u32>> = axes.iter().map(|axis| combination.places[*axis]).collect();
    given(analysis, &axes, &places)
}

/// `laxity 2, nodes 64`.
pub fn words(given: &[(String, String)]) -> String {
    let words: Vec<String> = given
        .iter()
        .map(|(key, value)| format!("{} {value}", super::table::short(key)))
        .collect();
    words.join(", ")
}

/// `title (laxity 2, nodes 64)`.
pub fn titled(title: &str, given: &[(String, String)]) -> String {
    if given.is_empty() {
        return title.to_owned();
    }
    format!("{title} ({})", words(given))
}

/// The condition of a query that fixes axes.
pub fn condition(given: &[(String, String)]) -> String {
    given
        .iter()
        .map(|(key, value)| {
            let value = match value.parse::<f64>() {
                Ok(_) => value.clone(),
                Err(_) if value == "true" => "1".to_owned(),
                Err(_) if value == "false" => "0".to_owned(),
                Err(_) => format!("'{}'", value.replace('\'', "''")),
            };
            format!("\n    AND axes ->> '$.\"{key}\"' = {value}")
        })
        .collect()
}

/// Letters, digits and hyphens only.
pub fn file_name(text: &str) -> String {
    text.chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect()
}
