//! A second judgement beside the first one: the values that a published number could have on
//! another alignment of the failure clock, and the flatness of a curve around its peak.
//!
//! Both cover chance that the interval over the batteries of one experiment does not contain, or
//! that a tolerance in steps of the grid ignores. The first verdict does not change, and no
//! tolerance is widened.
//!
//! * *Over alignments*: the share of booked coins that is lost, penalties, and gains at ratio 2 and
//!   more depend on a handful of outages. All batteries see the same outages, and the paper does
//!   not say at which time of the failure clock a battery begins. Such a number holds over
//!   alignments if it lies in the union of the 95 % intervals measured with the clock moved by no
//!   more than the file says. It is the union, not its hull: a number in a gap between two
//!   intervals does not hold. The tolerance plays no part, so this verdict may also be the stricter
//!   one.
//! * *Best threshold*: also holds if the mean at the published threshold lies within the 95 %
//!   interval of the measured best. The same applies to the threshold of the highest surplus, as a
//!   baseline does not depend on thresholds. That interval is of the best's own mean, and the best
//!   was chosen on the same batteries, so this judgement is generous; the interval of the paired
//!   difference, which is narrower, stands beside it. Thresholds at which counts of jobs peak are
//!   not judged twice.

use serde::{Deserialize, Serialize};

use super::evaluate::{Found, Reader};
use super::measured::{Samples, slices};
use super::{AlignmentRule, CellCheck, Expected, JudgedQuantities, Layout, Quantity, run};
use crate::findings::MeasuredCurves;
use crate::findings::verdict::{Verdict, compact};

/// What one trace measured with the failure clock moved.
pub(super) struct Alignment {
    /// By how much, in hours.
    pub(super) offset_hours: f64,
    /// What was measured.
    pub(super) measured: Samples,
}

impl Alignment {
    /// Those of a trace within the hours that count, ascending; `None` where there was no such run.
    pub(super) fn read(
        layout: &Layout,
        curves: &dyn MeasuredCurves,
        trace: &str,
    ) -> Option<Vec<Self>> {
        let rule = layout.alignment.as_ref()?;
        let run = run(trace, &rule.name);
        curves.axes(&run)?;
        let experiment = layout.experiment(&rule.experiment)?;
        let found = slices(layout, curves, (experiment, &run), Some(&rule.along));
        let alignments = found.into_iter().map(|(millionths, measured)| Self {
            offset_hours: millionths as f64 / 1e6,
            measured,
        });
        Some(alignments.collect())
    }
}

/// A second verdict on a finding, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// Whether the finding held.
    pub verdict: Verdict,
    /// What was measured for it; `None` where it could not be tested.
    pub ground: Option<Ground>,
}

/// What a second verdict rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Ground {
    /// The intervals at several offsets of the failure clock.
    Alignments {
        /// The offsets in hours, ascending.
        offsets_hours: Vec<f64>,
        /// The union of the 95 % intervals, as intervals that do not touch, ascending.
        union: Vec<[f64; 2]>,
        /// Batteries behind each interval.
        batteries: u64,
    },
    /// How far below the peak of a curve its value at the published threshold lies.
    Peak {
        /// The mean at the published threshold, in the unit of the curve.
        at_published: f64,
        /// The 95 % interval of the measured best: of its own mean over batteries.
        interval_of_best: [f64; 2],
        /// The 95 % interval of the gain at the best minus that at the published threshold, battery
        /// by battery: what tells the two apart. `None` for surpluses, and in score cards of
        /// before.
        best_above: Option<[f64; 2]>,
        /// Batteries behind both.
        batteries: u64,
    },
}

impl AlignmentRule {
    /// Whether a finding is judged over alignments: where a few outages decide the number.
    #[must_use]
    pub fn asks_for(&self, check: &CellCheck) -> bool {
        let is_bound = matches!(
            check.expected,
            Expected::AtLeast { .. } | Expected::Order(_)
        );
        let asks = |judges: &JudgedQuantities| {
            let is_there = |from: f64| {
                check.experiment == self.experiment && check.at.is_some_and(|at| at >= from)
            };
            judges.quantities.contains(&check.quantity) && judges.from.is_none_or(is_there)
        };
        !is_bound && self.judges.iter().any(asks)
    }
}

/// The second verdict on a finding, where it has one of its own. `alignments` is `None` where the
/// paper has no experiment with the failure clock moved.
pub(super) fn judge(
    reader: &Reader<'_>,
    check: &CellCheck,
    first: &Verdict,
    alignments: Option<&[Alignment]>,
) -> Option<Second> {
    let rule = reader.layout.alignment.as_ref().zip(alignments);
    match (&check.expected, rule) {
        (expected, Some((rule, alignments))) if rule.asks_for(check) => {
            Some(match over_alignments(reader, rule, check, alignments) {
                Ok(union) => judge_union(expected, union),
                Err(why) => Second {
                    verdict: Verdict::NotTested(why),
                    ground: None,
                },
            })
        }
        (Expected::Value(expected), _) if matches!(first, Verdict::Missed(_)) => {
            about_the_peak(reader, check, *expected)
        }
        _ => None,
    }
}

/// The intervals of what a finding is about at every offset; or why they cannot be had.
fn over_alignments(
    reader: &Reader<'_>,
    rule: &AlignmentRule,
    check: &CellCheck,
    alignments: &[Alignment],
) -> Result<Union, String> {
    let mut offsets_hours = Vec::new();
    let mut intervals = Vec::new();
    let mut fewest = u64::MAX;
    let is_near = |alignment: &&Alignment| alignment.offset_hours.abs() <= rule.within;
    for alignment in alignments.iter().filter(is_near) {
        let offset = alignment.offset_hours;
        match reader.find_in(&alignment.measured, check) {
            Ok(Found::Value {
                interval: Some(interval),
                batteries,
                ..
            }) => {
                offsets_hours.push(offset);
                intervals.push(interval);
                fewest = fewest.min(batteries);
            }
            // One battery alone has no interval: it would hold everything.
            Ok(_) => return Err(format!("no interval at an offset of {offset} h")),
            Err(why) => return Err(format!("at an offset of {offset} h: {why}")),
        }
    }
    if intervals.is_empty() {
        return Err("no offset of the failure clock was measured".to_owned());
    }
    Ok(Union {
        offsets_hours,
        intervals: union(intervals),
        batteries: fewest,
    })
}

/// The union of the intervals at several offsets.
struct Union {
    offsets_hours: Vec<f64>,
    intervals: Vec<[f64; 2]>,
    batteries: u64,
}

/// Whether the published number lies in the union. What is held out is shown and not judged.
fn judge_union(expected: &Expected, measured: Union) -> Second {
    let verdict = match expected {
        Expected::Value(expected) => {
            let away = measured
                .intervals
                .iter()
                .map(|[low, high]| (low - expected).max(expected - high).max(0.0))
                .fold(f64::INFINITY, f64::min);
            // Published numbers are decimals and bounds are not: the last bit decides nothing.
            if away <= 1e-9 {
                Verdict::Held
            } else {
                Verdict::Missed(format!("{} from the nearest interval", compact(away)))
            }
        }
        _ => Verdict::NotTested("the published value is held out".to_owned()),
    };
    Second {
        verdict,
        ground: Some(Ground::Alignments {
            offsets_hours: measured.offsets_hours,
            union: measured.intervals,
            batteries: measured.batteries,
        }),
    }
}

/// The union of intervals, as intervals that do not touch, ascending.
fn union(mut intervals: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    intervals.sort_by(|left, right| left[0].total_cmp(&right[0]));
    let mut union: Vec<[f64; 2]> = Vec::new();
    for [low, high] in intervals {
        match union.last_mut() {
            Some(last) if low <= last[1] => last[1] = last[1].max(high),
            _ => union.push([low, high]),
        }
    }
    union
}

/// The second verdict on a best threshold that missed its tolerance; `None` for other quantities.
fn about_the_peak(reader: &Reader<'_>, check: &CellCheck, expected: f64) -> Option<Second> {
    let (height, best) = match check.quantity {
        Quantity::BestThreshold => (Quantity::Gain, Quantity::MaxGain),
        Quantity::BestSurplusThreshold => (Quantity::Surplus, Quantity::BestSurplus),
        _ => return None,
    };
    let at_published = reader.beside(check, height, Some(expected))?;
    let best = reader.beside(check, best, None)?;
    let (
        Found::Value { value, .. },
        Found::Value {
            interval: Some(interval),
            batteries,
            ..
        },
    ) = (at_published, best)
    else {
        return None;
    };
    let [low, high] = interval;
    let verdict = if (low..=high).contains(&value) {
        Verdict::Held
    } else {
        Verdict::Missed(format!(
            "{} there, {} to {} at the best",
            compact(value),
            compact(low),
            compact(high)
        ))
    };
    Some(Second {
        verdict,
        ground: Some(Ground::Peak {
            at_published: value,
            interval_of_best: interval,
            best_above: (height == Quantity::Gain)
                .then(|| reader.best_above(check, expected))
                .flatten(),
            batteries,
        }),
    })
}

#[cfg(test)]
mod tests;
