//! A second judgement beside the first one: what a published number could be on another alignment of the failure clock, and
//! how flat a curve is about its peak.
//!
//! Both are about chance that the interval over batteries of one experiment does not contain, or that a tolerance in steps of
//! the grid does not know. The first verdict stays as it is; nothing here widens a tolerance.
//!
//! * *Over alignments*: the share of booked coins that is lost, penalties, and gains at ratio 2 and more are decided by a
//!   handful of outages. All batteries see the same ones, and the paper does not say at which time of the failure clock a
//!   battery begins. Such a number holds over alignments when it lies in the union of the 95 % intervals that were
//!   measured with the clock moved by up to [`ALIGNMENT_HOURS`]. It is the union and not its hull: a number in a gap
//!   between two intervals does not hold. The tolerance plays no part, so this verdict may be the stricter one, too.
//! * *Best threshold*: also holds when the mean at the published threshold lies within the 95 % interval of the measured
//!   best. The threshold of the highest surplus is the same question (a baseline does not depend on thresholds).
//!   Thresholds at which counts of jobs peak are not judged twice.

use serde::Serialize;

use super::evaluate::{Found, find, measure};
use super::verdict::{Verdict, compact};
use super::{Claim, Comparison, Expected, Experiment, Measured, Published, Quantity};

/// How far the failure clock may have been moved either way, hours.
pub const ALIGNMENT_HOURS: f64 = 6.0;

/// What one trace measured with the failure clock moved.
pub struct Alignment {
    /// By how much, in hours.
    pub offset_hours: f64,
    /// What was measured.
    pub measured: Box<dyn Measured>,
}

/// A second verdict on a claim, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// Whether the claim held.
    pub verdict: Verdict,
    /// What was measured for it; `None` where it could not be tested.
    pub ground: Option<Ground>,
}

/// What a second verdict rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
        /// The 95 % interval of the measured best.
        interval_of_best: [f64; 2],
        /// Batteries behind both.
        batteries: u64,
    },
}

/// Whether a claim is judged over alignments: where a few outages decide the number.
#[must_use]
pub fn depends_on_alignment(claim: &Claim) -> bool {
    match claim.quantity {
        Quantity::LostShare | Quantity::Penalties => true,
        Quantity::Gain => {
            claim.experiment == Experiment::Risk && claim.at.is_some_and(|ratio| ratio >= 2.0)
        }
        _ => false,
    }
}

/// Gives each comparison its second verdict, where it has one of its own. `alignments` is `None` where the paper has no
/// experiment with the failure clock moved.
pub fn judge_again(
    published: &Published,
    comparisons: &mut [Comparison],
    measured: &dyn Measured,
    alignments: Option<&[Alignment]>,
) {
    for comparison in comparisons {
        let claim = &comparison.claim;
        comparison.second = match (&claim.expected, alignments) {
            (Expected::AtLeast { .. } | Expected::Order(_), _) => None,
            (expected, Some(alignments)) if depends_on_alignment(claim) => {
                Some(match over_alignments(published, claim, alignments) {
                    Ok(union) => judge_union(expected, union),
                    Err(why) => Second {
                        verdict: Verdict::NotTested(why),
                        ground: None,
                    },
                })
            }
            (Expected::Value(expected), _) => {
                about_the_peak(published, comparison, *expected, measured)
            }
            (Expected::HeldOut(_), _) => None,
        };
    }
}

/// The intervals of what a claim is about at every offset; or why they cannot be had.
fn over_alignments(
    published: &Published,
    claim: &Claim,
    alignments: &[Alignment],
) -> Result<Union, String> {
    let mut near: Vec<&Alignment> = alignments
        .iter()
        .filter(|alignment| alignment.offset_hours.abs() <= ALIGNMENT_HOURS)
        .collect();
    near.sort_by(|left, right| left.offset_hours.total_cmp(&right.offset_hours));
    let mut intervals = Vec::with_capacity(near.len());
    let mut fewest = u64::MAX;
    for alignment in &near {
        let offset = alignment.offset_hours;
        match find(published, &*alignment.measured, claim) {
            Ok(Found::Value {
                interval: Some(interval),
                batteries,
                ..
            }) => {
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
        offsets_hours: near
            .iter()
            .map(|alignment| alignment.offset_hours)
            .collect(),
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

/// The second verdict on a best threshold; `None` for other claims, and where the first one held or could not be tested.
fn about_the_peak(
    published: &Published,
    comparison: &Comparison,
    expected: f64,
    measured: &dyn Measured,
) -> Option<Second> {
    let claim = &comparison.claim;
    let (height, best) = match claim.quantity {
        Quantity::BestThreshold => (Quantity::Gain, Quantity::MaxGain),
        Quantity::BestSurplusThreshold => (Quantity::Surplus, Quantity::BestSurplus),
        _ => return None,
    };
    if !matches!(comparison.verdict, Verdict::Missed(_)) {
        return None;
    }
    let subject = (
        claim.experiment,
        claim.family.as_deref()?,
        claim.strategy.as_deref()?,
    );
    let at_published = measure(published, measured, subject, height, Some(expected)).ok()?;
    let best = measure(published, measured, subject, best, None).ok()?;
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
            batteries,
        }),
    })
}

#[cfg(test)]
#[path = "second_tests.rs"]
mod tests;
