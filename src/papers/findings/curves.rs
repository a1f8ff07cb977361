//! Measured curves: the interface that provides them, and the part of a curve that a check needs.

use bookahead_report::{real, same};
use std::collections::{BTreeMap, BTreeSet};

use super::Fixed;
use super::words::Place;
use bookahead_lab::sweep::{Axis, AxisValue, Seen};
use bookahead_report::AxisFilter;
use bookahead_report::statistics::Estimate;
use bookahead_report::table::value_text;

/// Measured values, for judging findings.
pub trait MeasuredCurves {
    /// The axes of a run, by the stem of its configuration; `None` where it was not made.
    fn axes(&self, run: &str) -> Option<&[Axis]>;

    /// How many replications a complete cell of a run has; 0 where that is not known.
    fn replications(&self, _run: &str) -> u32 {
        0
    }

    /// Every combination of axis values of a run that has a value of a measure, in any order; empty
    /// where there is none.
    fn cells(&self, run: &str, measure: &str) -> Vec<CurveCell>;
}

/// A measure at one combination of axis values.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveCell {
    /// The value on every axis, by the axis's dotted key.
    pub values: BTreeMap<String, AxisValue>,
    /// All replications folded.
    pub estimate: Estimate,
    /// The value of each replication, for paired comparisons; empty where they are not known.
    pub samples: Vec<(u32, f64)>,
    /// What each replication saw; empty where all saw the same.
    pub seen: BTreeMap<u32, Seen>,
}

impl CurveCell {
    /// A cell of these replications and values; `None` where there are none.
    #[must_use]
    pub fn new(values: BTreeMap<String, AxisValue>, samples: Vec<(u32, f64)>) -> Option<Self> {
        let measured: Vec<f64> = samples.iter().map(|(_, value)| *value).collect();
        Some(Self {
            values,
            estimate: Estimate::of(&measured)?,
            samples,
            seen: BTreeMap::new(),
        })
    }

    /// The same where it is known what the replications saw.
    #[must_use]
    pub fn that_saw(self, seen: BTreeMap<u32, Seen>) -> Self {
        Self { seen, ..self }
    }

    /// The replications that both cells have and that saw the same jobs and failures in both, with
    /// both values.
    pub(super) fn pairs(&self, other: &Self) -> Vec<(u32, f64, f64)> {
        let mut pairs = paired(&self.samples, &other.samples);
        pairs.retain(|(replication, ..)| self.saw_the_same(other, *replication));
        pairs
    }

    fn saw_the_same(&self, other: &Self, replication: u32) -> bool {
        match (self.seen.get(&replication), other.seen.get(&replication)) {
            (Some(own), Some(theirs)) => own.is_same(theirs),
            (None, None) => true,
            _ => false,
        }
    }
}

/// The part of a run that a check looks at: for every axis the values that are wanted, and the
/// cells at their combinations.
pub(super) struct Field<'c> {
    pub(super) axes: Vec<Part>,
    cells: BTreeMap<Vec<usize>, &'c CurveCell>,
}

/// An axis and those of its values that are looked at.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) key: String,
    pub(super) values: Vec<AxisValue>,
    /// A check fixed it with `at`, so it is no axis to quantify over.
    pub(super) is_fixed: bool,
}

impl<'c> Field<'c> {
    /// Selects from a run; what cannot be selected is said in a sentence.
    pub(super) fn new(
        curves: &dyn MeasuredCurves,
        (run, measure): (&str, &str),
        cells: &'c [CurveCell],
        at: &Fixed,
        filter: &AxisFilter,
    ) -> Result<Self, String> {
        let axes = curves
            .axes(run)
            .ok_or_else(|| format!("run `{run}` was not made"))?;
        if let Some(key) = at
            .keys()
            .chain(filter.keys())
            .find(|key| axes.iter().all(|axis| axis.key != **key))
        {
            let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
            return Err(format!(
                "run `{run}` has no axis `{key}`, it has: {}",
                if keys.is_empty() {
                    "none".to_owned()
                } else {
                    keys.join(", ")
                }
            ));
        }
        if cells.is_empty() {
            return Err(format!("run `{run}` has no value of `{measure}`"));
        }
        let parts: Vec<Part> = axes
            .iter()
            .map(|axis| Part::new(run, axis, at.get(&axis.key), filter.get(&axis.key)))
            .collect::<Result<_, _>>()?;
        let mut found = BTreeMap::new();
        for cell in cells {
            let index: Option<Vec<usize>> = parts
                .iter()
                .map(|part| part.position(cell.values.get(&part.key)?))
                .collect();
            if let Some(index) = index
                && found.insert(index, cell).is_some()
            {
                return Err(format!(
                    "run `{run}` has several cells of `{measure}` with the same axis values"
                ));
            }
        }
        Ok(Self {
            axes: parts,
            cells: found,
        })
    }

    pub(super) fn cell(&self, index: &[usize]) -> Option<&'c CurveCell> {
        self.cells.get(index).copied()
    }

    /// How many values of each axis are looked at.
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.axes.iter().map(|part| part.values.len()).collect()
    }

    /// The values at a combination on the axes that leave a choice.
    pub(super) fn place(&self, index: &[usize]) -> Place {
        Place(
            self.axes
                .iter()
                .zip(index)
                .filter(|(part, _)| part.values.len() > 1)
                .map(|(part, index)| (part.key.clone(), part.values[*index].clone()))
                .collect(),
        )
    }
}

impl Part {
    fn new(
        run: &str,
        axis: &Axis,
        at: Option<&AxisValue>,
        among: Option<&Vec<AxisValue>>,
    ) -> Result<Self, String> {
        let wanted: Vec<&AxisValue> = at.into_iter().chain(among.into_iter().flatten()).collect();
        if let Some(unknown) = wanted
            .iter()
            .find(|wanted| !axis.values.iter().any(|value| same(value, wanted)))
        {
            let values: Vec<String> = axis.values.iter().map(value_text).collect();
            return Err(format!(
                "{} is no value of the axis `{}` of run `{run}`: {}",
                value_text(unknown),
                axis.key,
                values.join(", ")
            ));
        }
        Ok(Self {
            key: axis.key.clone(),
            values: axis
                .values
                .iter()
                .filter(|value| wanted.is_empty() || wanted.iter().any(|known| same(known, value)))
                .cloned()
                .collect(),
            is_fixed: at.is_some(),
        })
    }

    /// The place of a value among those that are looked at.
    pub(super) fn position(&self, value: &AxisValue) -> Option<usize> {
        self.values.iter().position(|known| same(known, value))
    }

    /// The places of its values in the order of a curve: numbers ascending, names as in the file.
    pub(super) fn ascending(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        let numbers: Option<Vec<f64>> = self.values.iter().map(real).collect();
        if let Some(numbers) = numbers {
            order.sort_by(|left, right| numbers[*left].total_cmp(&numbers[*right]));
        }
        order
    }
}

/// Every combination of indices below `sizes`, the last index fastest. One, the empty one, where
/// there are no sizes.
pub(super) fn combinations(sizes: &[usize]) -> Vec<Vec<usize>> {
    sizes.iter().fold(vec![Vec::new()], |known, size| {
        known
            .iter()
            .flat_map(|prefix| {
                (0..*size).map(|index| {
                    let mut longer = prefix.clone();
                    longer.push(index);
                    longer
                })
            })
            .collect()
    })
}

/// Two cells side by side: over the replications that both have and that saw the same in both, else
/// by their means alone.
pub(super) struct Pair {
    /// Mean of the left one.
    pub(super) left: f64,
    /// Mean of the right one.
    pub(super) right: f64,
    /// Both values of each replication that both have.
    samples: Vec<(f64, f64)>,
    /// Replications of the side that has more of them.
    replications: u32,
}

impl Pair {
    pub(super) fn new(left: &CurveCell, right: &CurveCell) -> Self {
        let samples: Vec<(f64, f64)> = (left.pairs(right).into_iter())
            .map(|(_, one, two)| (one, two))
            .collect();
        let mean = |side: fn(&(f64, f64)) -> f64, alone: &CurveCell| {
            let values: Vec<f64> = samples.iter().map(side).collect();
            Estimate::of(&values).unwrap_or(alone.estimate).mean
        };
        Self {
            left: mean(|pair| pair.0, left),
            right: mean(|pair| pair.1, right),
            replications: left.estimate.count.max(right.estimate.count),
            samples,
        }
    }

    /// What a reader must know about the pairing: nothing where every replication has its partner.
    pub(super) fn remark(&self) -> String {
        match self.count() {
            0 => ", not paired".to_owned(),
            count if count < self.replications => {
                format!(", {count} of {} replications paired", self.replications)
            }
            _ => String::new(),
        }
    }

    /// Replications that both have; 0 where they could not be paired.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.samples.len()).unwrap_or(u32::MAX)
    }

    /// In how many of the replications that both have something holds, and how many these are.
    pub(super) fn replications(&self, holds: impl Fn(&(f64, f64)) -> bool) -> (usize, usize) {
        let kept = self.samples.iter().filter(|pair| holds(pair)).count();
        (kept, self.samples.len())
    }

    /// left − right: the mean, and half of its 95 % interval over pairs.
    pub(super) fn difference(&self) -> (f64, Option<f64>) {
        let half = half_width(self.samples.iter().map(|(left, right)| left - right));
        (self.left - self.right, half)
    }

    /// left ÷ right, of the means, and half of its 95 % interval: that of the mean of left − ratio
    /// · right over pairs, divided by the mean of the right ones (the usual linearisation of a
    /// ratio estimator).
    pub(super) fn ratio(&self) -> (f64, Option<f64>) {
        if self.right == 0.0 {
            let ratio = if self.left > 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            };
            return (ratio, None);
        }
        let ratio = self.left / self.right;
        let half = half_width(
            self.samples
                .iter()
                .map(|(left, right)| (left - ratio * right) / self.right),
        );
        (ratio, half)
    }

    /// The size of the numbers behind a difference, against which rounding is measured.
    pub(super) fn scale(&self) -> f64 {
        self.left.abs().max(self.right.abs())
    }
}

/// The replications that both have, with both values.
pub(super) fn paired(left: &[(u32, f64)], right: &[(u32, f64)]) -> Vec<(u32, f64, f64)> {
    let once = |samples: &[(u32, f64)]| {
        let replications: BTreeSet<u32> = samples.iter().map(|(known, _)| *known).collect();
        replications.len() == samples.len()
    };
    // A replication that appears twice has no partner.
    if !once(left) || !once(right) {
        return Vec::new();
    }
    let known: BTreeMap<u32, f64> = right.iter().copied().collect();
    left.iter()
        .filter_map(|(replication, value)| Some((*replication, *value, *known.get(replication)?)))
        .collect()
}

fn half_width(values: impl Iterator<Item = f64>) -> Option<f64> {
    Estimate::of(&values.collect::<Vec<_>>())?.half_width()
}
